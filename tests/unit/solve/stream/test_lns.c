/* The searches of stream problems against what branch and bound proves: a window that holds the whole graph is solved
 * to the optimum on free links, and no search is worse than where it starts. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "../../../lab/tier.h"
#include "plan/plan.h"
#include "situ/solve.h"

static int64_t value_of(const situ_problem *p, const char *solvers, int64_t steps, int64_t *lower_ns) {
  situ_plan *plan;
  situ_error e;
  situ_solve_options o = {.size = sizeof(situ_solve_options), .solvers = solvers, .max_steps = steps, .seed = 3};
  if (situ_solve(&plan, p, &o, &e) != SITU_STATUS_OK) fail_msg("%s: %s", solvers, e.text);
  int64_t value = plan->value_ns;
  if (lower_ns) *lower_ns = plan->lower_bound_ns;
  situ_plan_free(plan);
  return value;
}

static lab problem_of(uint64_t seed, int32_t n, situ_contention contention) {
  lab_options o = {.seed = seed,
                   .n_operators = n,
                   .n_devices = 2 + (int32_t)(seed % 2),
                   .density = 0.1 + 0.1 * (double)(seed % 5),
                   .n_colocations = seed % 3 == 0,
                   .pinned = seed % 4 == 0,
                   .unsupported = seed % 5 == 0,
                   .options = {.execution = SITU_EXECUTION_STREAM, .contention = contention}};
  return lab_random(&o);
}

/* Groups move only with members that take no time, so these problems have none. */
TEST(a_window_that_holds_everything_is_solved_to_the_optimum) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(300); seed += 1 + (seed % 3 == 2)) {
    lab l = problem_of(seed, 7 + (int32_t)(seed % 3), SITU_CONTENTION_NONE);
    int64_t lower, best = value_of(l.problem, "branch_and_bound", 0, &lower),
                   found = value_of(l.problem, "lns", 6000, NULL);
    if (!l.problem->conflict) assert_int_equal(best, lower);
    if (found != best)
      fail_msg("seed %d: lns ends at %lld, the optimum is %lld", (int)seed, (long long)found, (long long)best);
    lab_free(&l);
  }
}

TEST(searches_improve_on_their_start_and_stay_above_the_optimum) {
  int64_t sums[3] = {0};
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(200); seed++) {
    lab l = problem_of(seed, 10, SITU_CONTENTION_LINK);
    int64_t best = value_of(l.problem, "branch_and_bound", 0, NULL),
            start = value_of(l.problem, "heft,single", 0, NULL);
    int64_t lns = value_of(l.problem, "heft,single,lns", 600, NULL);
    int64_t greedy = value_of(l.problem, "heft,single,iterated_greedy", 600, NULL);
    assert_true(best <= lns && lns <= start);
    assert_true(best <= greedy && greedy <= start);
    if (best < SITU_NEVER_NS) {
      sums[0] += best;
      sums[1] += lns;
      sums[2] += greedy;
    }
    lab_free(&l);
  }
  assert_true(sums[1] * 100 <= sums[0] * 105); /* within 5 % of the optimum in the mean, here */
  assert_true(sums[2] * 100 <= sums[0] * 105);
}

TEST_MAIN
