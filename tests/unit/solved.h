/* What solvers make of a problem, for tests that ask for the value alone. */
#ifndef SITU_TESTS_SOLVED_H
#define SITU_TESTS_SOLVED_H

#include "../lab/test.h"
#include "situ/plan.h"
#include "situ/solve.h"

/* The value of the plan of `solvers` ("heft,tabu"), which situ_check has passed; SITU_NEVER_NS without a plan. No bound
 * ends it early: it takes its steps. It starts from the placement `device` unless that is NULL. */
static inline int64_t solved_value(const situ_problem *problem, const char *solvers, int64_t steps, uint64_t seed,
                                   const int32_t *device) {
  situ_plan *plan, *start = NULL;
  situ_error e;
  if (device && situ_simulate(&start, problem, device, NULL, &e) != SITU_STATUS_OK) fail_msg("start: %s", e.text);
  const situ_plan *starts[] = {start};
  situ_solve_options o = {.size = sizeof(situ_solve_options),
                          .solvers = solvers,
                          .max_steps = steps,
                          .seed = seed,
                          .no_bounds = true,
                          .starts = starts,
                          .n_starts = device ? 1 : 0};
  if (situ_solve(&plan, problem, &o, &e) != SITU_STATUS_OK) fail_msg("%s: %s", solvers, e.text);
  int64_t value = plan->value_ns;
  situ_plan_free(plan);
  situ_plan_free(start);
  return value;
}

#endif
