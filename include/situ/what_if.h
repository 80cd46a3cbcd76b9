/* situ/what_if.h - what a plan would gain or lose on a changed machine: each change is posed and solved again.
 *
 * The list is frozen: any number of threads may read it. Its texts belong to it. */
#ifndef SITU_WHAT_IF_H
#define SITU_WHAT_IF_H

#include "situ/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One change and the result of solving with it. Closed: it never grows. */
typedef struct situ_what_if {
  const char *change; /* "without gpu1", "cpu - gpu0 twice as fast"; "" past the end */
  situ_outcome outcome;
  int64_t value_ns;       /* SITU_NEVER_NS without a plan */
  int64_t lower_bound_ns; /* proved for the changed machine */
  int32_t inputs;         /* number of inputs that the value covers, as a multiple of the current batch; 1 unless the
                             batch is changed */
} situ_what_if;

typedef struct situ_what_if_list situ_what_if_list;

/* Solves the problem of an instance again with each of these changes, one at a time:
 *
 * - without a device that the plan uses (one of each class);
 * - links of twice the bandwidth (all equal links together);
 * - direct links (peer access, or the fabric) between the members of a group, where these are faster than their route;
 * - twice the memory, if a memory is nearly full or no single device holds the model;
 * - an idle device 2, 4, 8 or 16 times as fast, up to the first that makes it useful (one of each class);
 * - twice the batch, if the model is a built-in with a batch parameter.
 *
 * Changes of links and speeds affect estimated times only; measured times stay. `solve` (may be NULL) applies to each
 * change separately; without limits a change takes at most about a second. Each search starts from the plan, so that an
 * improved machine never has a worse value. If the progress callback returns true, it stops and returns the changes
 * solved so far. BAD_ARGUMENT if the plan has no placement or does not belong to the instance. */
SITU_API situ_status situ_what_if_find(situ_what_if_list **out, const situ_instance *instance, const situ_plan *plan,
                                       const situ_solve_options *solve, situ_error *error);
SITU_API void situ_what_if_free(situ_what_if_list *list);
SITU_API int32_t situ_what_if_count(const situ_what_if_list *list);
SITU_API situ_what_if situ_what_if_at(const situ_what_if_list *list, int32_t index);

#ifdef __cplusplus
}
#endif
#endif
