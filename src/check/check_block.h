/* check/check_block.h - whether the operators between two cuts can be done in less than a given time: an independent
 * exhaustive search, for the judge of cut_vertex certificates. Links have no contention, memory is unlimited.
 *
 * Operators that a certificate deletes take their minimum time but occupy no device: a tensor that passes through them
 * reaches a memory no earlier than over the cheapest route. */
#ifndef SITU_CHECK_CHECK_BLOCK_H
#define SITU_CHECK_CHECK_BLOCK_H

#include "check/check_certificate.h"

enum { BLOCK_MEMORIES = 8, BLOCK_KEPT = 64 };

typedef struct check_span {
  int32_t cut;           /* the operator that ends at 0, or -1 */
  int32_t first, last;   /* the operators of the block, by number */
  bool closed;           /* `last` is a cut: it comes after all others */
  const bool *deleted;   /* [operator] */
  const int64_t *end_ns; /* [device] minimum time after the end of `last` there, when it is closed */
} check_span;

typedef struct check_work {
  int64_t done, max; /* elementary steps; the search gives up beyond */
} check_work;

typedef enum check_found { CHECK_NONE_BELOW, CHECK_SOME_BELOW, CHECK_GAVE_UP, CHECK_NO_MEMORY } check_found;

/* Whether everything can end sooner than `limit_ns` after the cut has ended on device `from`. */
check_found check_block(const judge *j, const check_span *span, int32_t from, int64_t limit_ns, check_work *work);

#endif
