/* api/variants.h - an instance in several variants, each of which is placed: groups of devices of several sizes, more
 * or fewer layers that are recomputed. The best plan is the answer. */
#ifndef SITU_API_VARIANTS_H
#define SITU_API_VARIANTS_H

#include "api/instance.h"
#include "base/text.h"

typedef struct variant {
  char name[INSTANCE_SHARES_BYTES]; /* for people; "": left out */
  int32_t number;                   /* what makes it a variant */
  char left_out[200];               /* devices that nothing is on beside groups, by instance_leave_smaller; "": none */
  int64_t value_ns, bound_ns;       /* SITU_NEVER_NS: there is no plan; the bound is that of plans of this variant */
  int64_t verified_ns;              /* of the bound; SITU_NEVER_NS: it is proved that there is no plan; 0: nothing */
  int64_t split_ns;      /* of a plan that splits nothing, although it could: all of it on one group; else 0 */
  int64_t collective_ns; /* of that, or of value_ns: what groups of devices spend putting results together */
} variant;

/* "HEAD: none 51.5 ms (at least 51.4 ms), 2 ...; TAIL less than 40 ms". */
void variants_describe(text_buffer *t, const variant *rows, int32_t n, const char *head, const char *tail);
/* Takes a plan and its instance, of which `row` becomes what they give, and keeps them if they are the best so far. */
void variants_keep_best(situ_plan **best, situ_instance **its, situ_plan *plan, situ_instance *instance, variant *row);

#endif
