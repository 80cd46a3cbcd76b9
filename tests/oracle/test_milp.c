/* The programs of milp against brute force: on small problems, run to its end, the engine must find the optimum. What it
 * says of its end is not believed in earnest; here it shows that the programs say what the models say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../lab/brute.h"
#include "../lab/lab.h"
#include "base/rng.h"
#include "situ/plan.h"
#include "situ/solve.h"

static int64_t statistic(const situ_plan *plan, const char *name) {
  for (int32_t i = 0; i < situ_plan_n_statistics(plan); i++)
    if (strcmp(situ_plan_statistic(plan, i).name, name) == 0) return situ_plan_statistic(plan, i).value;
  return 0;
}

static void expect_no_violation(const situ_problem *problem, const situ_plan *plan, uint64_t seed) {
  situ_verdict *verdict = NULL;
  situ_error error = {0};
  assert_int_equal(situ_check(&verdict, problem, plan, &error), SITU_STATUS_OK);
  if (situ_verdict_n_found(verdict) > 0)
    fail_msg("seed %llu: %s", (unsigned long long)seed, situ_verdict_violation(verdict, 0).text);
  situ_verdict_free(verdict);
}

/* Whether the engine ended by itself; then its plan is the best there is. */
static bool expect_optimum(const situ_problem *p, uint64_t seed) {
  situ_plan *plan = NULL;
  situ_error error = {0};
  situ_solve_options effort = {.solvers = "milp", .time_limit_s = 20, .seed = seed};
  int64_t expected = brute_force(p, NULL);
  if (situ_solve(&plan, p, &effort, &error) != SITU_STATUS_OK)
    fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
  int64_t value = situ_plan_exists(plan) ? situ_plan_value_ns(plan) : SITU_NEVER_NS;
  if (situ_plan_exists(plan)) expect_no_violation(p, plan, seed);
  if (situ_plan_lower_bound_ns(plan) > expected || value < expected)
    fail_msg("seed %llu: %lld, bound %lld, and the optimum is %lld", (unsigned long long)seed, (long long)value,
             (long long)situ_plan_lower_bound_ns(plan), (long long)expected);
  bool ended = statistic(plan, "milp.ended") > 0;
  if (ended && value != expected)
    fail_msg("seed %llu: ended with %lld, and the optimum is %lld", (unsigned long long)seed, (long long)value,
             (long long)expected);
  bool solved = ended || value == situ_plan_lower_bound_ns(plan);
  situ_plan_free(plan);
  return solved;
}

static lab draw_pipeline(uint64_t seed) {
  rng r = rng_new(seed);
  lab_options o = {.seed = seed,
                   .n_operators = (int32_t)(2 + rng_below(&r, 6)),
                   .n_devices = (int32_t)(2 + rng_below(&r, 3)),
                   .density = 0.2 + 0.6 * rng_unit(&r),
                   .n_colocations = (int32_t)rng_below(&r, 3),
                   .training = rng_below(&r, 3) == 0,
                   .pinned = rng_below(&r, 4) == 0,
                   .unsupported = rng_below(&r, 3) == 0,
                   .memory = rng_below(&r, 2) ? 0.2 + rng_unit(&r) : 0,
                   .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                               .communication = SITU_COMMUNICATION_HOST_STAGED,
                               .free = true,
                               .overlap = rng_below(&r, 3) == 0,
                               .in_flight = (int32_t)rng_below(&r, 3)}};
  return lab_random(&o);
}

/* Without contention and memory the program of streams is the model. */
static lab draw_stream(uint64_t seed) {
  rng r = rng_new(seed);
  lab_options o = {.seed = seed,
                   .n_operators = (int32_t)(2 + rng_below(&r, 5)),
                   .n_devices = (int32_t)(2 + rng_below(&r, 2)),
                   .density = 0.1 + 0.6 * rng_unit(&r),
                   .n_colocations = (int32_t)rng_below(&r, 3),
                   .pinned = rng_below(&r, 4) == 0,
                   .unsupported = rng_below(&r, 3) == 0,
                   .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE}};
  return lab_random(&o);
}

static void try_seeds(lab (*draw)(uint64_t), uint64_t seeds) {
  int n_served = 0, n_solved = 0;
  for (uint64_t seed = 1; seed <= seeds; seed++) {
    lab l = draw(seed);
    if (situ_solver_serves("milp", l.problem) && !situ_problem_conflict(l.problem)) {
      n_served++;
      n_solved += expect_optimum(l.problem, seed);
    }
    lab_free(&l);
  }
  print_message("%d served, %d of them to the end\n", n_served, n_solved);
  if (n_served == 0) skip(); /* a build without an engine */
  assert_true(n_solved >= n_served * 99 / 100);
}

static void free_pipelines_are_solved(void **state) {
  (void)state;
  try_seeds(draw_pipeline, 1500);
}

static void streams_are_solved(void **state) {
  (void)state;
  try_seeds(draw_stream, 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(free_pipelines_are_solved),
                                     cmocka_unit_test(streams_are_solved)};
  return cmocka_run_group_tests_name("milp", tests, NULL, NULL);
}
