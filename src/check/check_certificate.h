/* check/check_certificate.h - the judges of certificates. Each kind is one file with one const struct, listed in
 * check/check_certificate.c. They include nothing of the bounds: what a certificate proves is worked out from the
 * problem and its numbers alone, in whole numbers, whatever the numbers are. docs/theory/bounds/certificates.md. */
#ifndef SITU_CHECK_CHECK_CERTIFICATE_H
#define SITU_CHECK_CHECK_CERTIFICATE_H

#include "check/judge.h"

/* Works out what the certificate of the lower bound proves, and notes what it claims beyond that. */
situ_status check_certificate(judge *j, situ_error *error);

typedef struct certificate_rule {
  const char *kind;
  const char *lists; /* what a certificate of the kind has to hold, for messages */
  unsigned models;   /* the execution models it proves something of: MODEL_... */
  /* *proved_ns: no plan of the problem is better (SITU_NEVER_NS: there is none); 0 where the numbers prove nothing,
   * -1 where lists are missing or of wrong length, -2 where checking would take too long. NO_MEMORY or OK. */
  situ_status (*prove)(int64_t *proved_ns, judge *j, const certificate *c, situ_error *error);
} certificate_rule;

/* The table of kinds. A kind is one file that exports one const struct called NAME_rule, and one line here. */
#define CERTIFICATE_ROWS(ROW) \
  ROW(area_price)             \
  ROW(critical_path)          \
  ROW(cut_vertex)             \
  ROW(destructive)            \
  ROW(join)                   \
  ROW(largest_operator)       \
  ROW(linear_relaxation)      \
  ROW(memory_cut)             \
  ROW(packing)                \
  ROW(unit_chain)             \
  ROW(visits)
#define CERTIFICATE_DECLARE(NAME) extern const certificate_rule NAME##_rule;
CERTIFICATE_ROWS(CERTIFICATE_DECLARE)

enum { CERTIFICATE_MALFORMED = -1, CERTIFICATE_TOO_LONG = -2 };

/* ---- what several kinds stand on ---- */

/* Operators that no allowed plan parts. */
typedef struct check_items {
  int32_t n;
  int32_t *of;             /* [operator] its item */
  int32_t *start, *member; /* operators of item i: member[start[i] .. start[i+1]) */
} check_items;
bool check_items_find(check_items *out, const judge *j);
/* Time of all operators of an item on a device, SITU_NEVER_NS where one may not run. */
int64_t check_item_time(const check_items *items, const judge *j, int32_t item, int32_t d);
/* Whether support, pins and unused devices let the operator run there. */
bool check_may_run(const judge *j, int32_t v, int32_t d);

/* Earliest ends and least tails along chains of tensors: head[v * n_devices + d] comes filled with a time before which
 * v does not start on d, and becomes the least time at which it can have ended there; tail comes with a least time from
 * then to the end of everything, and becomes more where chains say so; SITU_NEVER_NS where may[...] is false.
 * Stream and calls; times of operators and transfers alone, as in docs/theory/bounds/critical_path.md. */
bool check_chains(int64_t *head, int64_t *tail, const bool *may, const judge *j);

/* The same for streams, found from nothing, where those before an operator (and those behind it), `window` of them,
 * share its device one after the other or pay transfers: docs/theory/bounds/joins.md. At least what chains say. */
bool check_joins(int64_t *head, int64_t *tail, const bool *may, int32_t window, const judge *j);
/* Whether that takes no longer than a judge takes, for 0 <= window <= CHECK_JOINS_WINDOW. */
enum { CHECK_JOINS_WINDOW = 256 };
bool check_joins_are_short(int64_t window, const judge *j);

#endif
