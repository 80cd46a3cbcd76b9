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
bool path_find(path_steps *out, const situ_plan *plan, const situ_problem *problem, arena *a, arena *scratch);

#endif
