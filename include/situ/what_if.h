/* situ/what_if.h - what a plan would gain or lose if the machine were another: each change is posed and solved again.
 *
 * The list is frozen: any number of threads may read it. Its texts belong to it. */
#ifndef SITU_WHAT_IF_H
#define SITU_WHAT_IF_H

#include "situ/instance.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One change and what the solvers then found. Closed: it never grows. */
typedef struct situ_what_if {
  const char *change; /* "without gpu1", "cpu - gpu0 twice as fast"; "" past the end */
  situ_outcome outcome;
  int64_t value_ns;       /* SITU_NEVER_NS without a plan */
  int64_t lower_bound_ns; /* proved for the changed machine */
  int32_t inputs;         /* that the value is for: times the present number where the batch is changed; else 1 */
} situ_what_if;

typedef struct situ_what_if_list situ_what_if_list;

/* Solves the problem of an instance again with each of these changes, one at a time:
 *
 * - without a device that the plan uses (one of each class);
 * - links that carry data twice as fast (all that are equal);
 * - twice the memory, where a memory is nearly full or no single device holds the model;
 * - an idle device 2, 4, 8 or 16 times as fast, up to the first that makes it useful (one of each class);
 * - twice the batch, where the model is built in and has one.
 *
 * Links and speeds change estimates only; what is measured stays. `solve` (may be NULL) holds for each change by
 * itself: without limits a change takes at most about a second. The plan is where each search starts, so a machine that
 * is better in one respect never has a worse value. Stops early, with what it has, when the progress callback says so.
 * BAD_ARGUMENT when the plan has no placement or is not of the instance. */
SITU_API situ_status situ_what_if_find(situ_what_if_list **out, const situ_instance *instance, const situ_plan *plan,
                                       const situ_solve_options *solve, situ_error *error);
SITU_API void situ_what_if_free(situ_what_if_list *list);
SITU_API int32_t situ_what_if_count(const situ_what_if_list *list);
SITU_API situ_what_if situ_what_if_at(const situ_what_if_list *list, int32_t index);

#ifdef __cplusplus
}
#endif
#endif
