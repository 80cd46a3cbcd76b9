/* plan/waited_for.h - the chain of operators and transfers that a stream plan waits for. */
#ifndef SITU_PLAN_WAITED_FOR_H
#define SITU_PLAN_WAITED_FOR_H

#include "plan/plan.h"
#include "situ/explain.h"

/* Steps from time 0 to the end of the plan, as situ_explanation_step gives them; none without times. */
typedef struct path_steps {
  int32_t n;
  situ_path_step *step;
} path_steps;

/* Steps in the arena a. O(V + E), and the sorting of transfers. False without memory. */
bool path_find(path_steps *out, const situ_plan *plan, arena *a, arena *scratch);

/* For each operator ([operator]) and each transfer ([transfer]) the one that it waited for: an operator by its number,
 * transfer i as -2 - i, -1 for nothing. Arrays in the arena; NULL as in path_find without times. False without memory.
 */
typedef struct path_waits {
  int32_t *of_op, *of_transfer;
} path_waits;
bool path_find_waits(path_waits *out, const situ_plan *plan, arena *a, arena *scratch);

#endif
