/* ideal_dp against brute force: every placement of small random problems is simulated; the least value that keeps all
 * constraints must be the one that ideal_dp finds and proves. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "base/rng.h"
#include "situ/solve.h"

/* Most operators get no time on any class, so that the fusing of idle classes has much to do. */
static void make_idle(lab *l, rng *random) {
  for (int32_t v = 0; v < l->costs->n_operators; v++) {
    if (rng_below(random, 3) == 0) continue;
    for (int32_t c = 0; c < l->costs->n_classes; c++) l->costs->time_ns[(int64_t)v * l->costs->n_classes + c] = 0;
  }
}

/* Whether some device runs the part of another. */
static bool has_replicas(const lab *l, const situ_plan *plan) {
  for (int32_t d = 0; d < l->problem->n_devices; d++)
    if (plan_use(plan, d).replica_of >= 0) return true;
  return false;
}

static void compare(const lab *l, uint64_t seed, int *n_optimal, int *n_infeasible, int *n_replicated) {
  OWN(situ_plan) *plan = NULL;
  situ_error error = {0};
  situ_solve_options effort = {.size = sizeof(situ_solve_options), .solvers = "ideal_dp"};
  if (situ_solve(&plan, l->problem, &effort, &error) != SITU_STATUS_OK)
    fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
  int64_t expected_ns = brute_force(l->problem, NULL);
  if (plan->value_ns != expected_ns)
    fail_msg("seed %llu: ideal_dp found %lld, brute force %lld", (unsigned long long)seed, (long long)plan->value_ns,
             (long long)expected_ns);
  bool possible = expected_ns != SITU_NEVER_NS;
  assert_int_equal(plan->outcome, possible ? SITU_OUTCOME_OPTIMAL : SITU_OUTCOME_INFEASIBLE);
  if (possible) assert_int_equal(plan->lower_bound_ns, expected_ns);
  *n_replicated += has_replicas(l, plan);
  ++*(possible ? n_optimal : n_infeasible);
}

static void run_seeds(bool idle, situ_schedule schedule, bool replicate, uint64_t n_seeds, int32_t max_operators,
                      int32_t max_devices) {
  int n_optimal = 0, n_infeasible = 0, n_unserved = 0, n_replicated = 0;
  n_seeds = (uint64_t)rounds_of((int32_t)n_seeds);
  for (uint64_t seed = 1; seed <= n_seeds; seed++) {
    rng random = rng_new(seed);
    lab_options options = {.seed = seed,
                           .n_operators = (int32_t)(2 + rng_below(&random, max_operators - 1)),
                           .n_devices = (int32_t)(2 + rng_below(&random, max_devices - 1)),
                           .density = 0.2 + 0.6 * rng_unit(&random),
                           .n_colocations = (int32_t)rng_below(&random, 3),
                           .training = rng_below(&random, 3) == 0 || schedule == SITU_SCHEDULE_GPIPE,
                           .pinned = rng_below(&random, 4) == 0,
                           .n_hosts = seed % 8 == 0 ? 2 : 1,
                           .equal = replicate && rng_below(&random, 4) > 0,
                           .unsupported = !idle && rng_below(&random, 3) == 0,
                           .memory = !idle && rng_below(&random, 2) ? 0.4 + rng_unit(&random) : 0,
                           .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                                       .communication = SITU_COMMUNICATION_HOST_STAGED,
                                       .async_copies = rng_below(&random, 3) == 0,
                                       .schedule = schedule,
                                       .replicate = replicate,
                                       .in_flight = (int32_t)rng_below(&random, 3)}};
    lab l = lab_random(&options);
    if (idle) make_idle(&l, &random);
    if (situ_solver_serves("ideal_dp", l.problem) && !l.problem->conflict)
      compare(&l, seed, &n_optimal, &n_infeasible, &n_replicated);
    else
      n_unserved++;
    lab_free(&l);
  }
  print_message("%d optimal, %d of them with replicas, %d infeasible, %d not served\n", n_optimal, n_replicated,
                n_infeasible, n_unserved);
  assert_true(replicate ? n_replicated > (int)n_seeds / 10 : n_replicated == 0);
  assert_true(n_optimal > (int)n_seeds / 3);
}

TEST(equals_brute_force) { run_seeds(false, SITU_SCHEDULE_1F1B, false, 10000, 6, 4); }

TEST(equals_brute_force_on_idle_operators) { run_seeds(true, SITU_SCHEDULE_1F1B, false, 4000, 9, 3); }

TEST(equals_brute_force_where_forward_and_backward_loads_are_two_numbers) {
  run_seeds(false, SITU_SCHEDULE_GPIPE, false, 4000, 6, 4);
  run_seeds(true, SITU_SCHEDULE_GPIPE, false, 2000, 8, 3);
}

/* With links the program solves a relaxation: its bound is never above the optimum, its plan never below, and where it
 * says optimal the two meet. */
TEST(holds_against_brute_force_with_links) {
  int n_optimal = 0, n_feasible = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(3000); seed++) {
    rng random = rng_new(seed);
    lab_options options = {.seed = seed,
                           .n_operators = (int32_t)(2 + rng_below(&random, 5)),
                           .n_devices = (int32_t)(2 + rng_below(&random, 3)),
                           .n_hosts = seed % 8 == 0 ? 2 : 1,
                           .density = 0.2 + 0.6 * rng_unit(&random),
                           .n_colocations = (int32_t)rng_below(&random, 3),
                           .training = rng_below(&random, 3) == 0,
                           .pinned = rng_below(&random, 4) == 0,
                           .equal = rng_below(&random, 2),
                           .memory = rng_below(&random, 2) ? 0.4 + rng_unit(&random) : 0,
                           .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                                       .communication = SITU_COMMUNICATION_LINK,
                                       .schedule = seed % 3 == 0 ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B,
                                       .replicate = seed % 4 == 0}};
    OWN(lab) l = lab_random(&options);
    situ_plan *plan;
    situ_solve_options effort = {.size = sizeof(situ_solve_options), .solvers = "ideal_dp"};
    if (situ_solver_serves("ideal_dp", l.problem) && !l.problem->conflict) {
      assert_int_equal(situ_solve(&plan, l.problem, &effort, NULL), SITU_STATUS_OK);
      int64_t expected_ns = brute_force(l.problem, NULL), lower_ns = plan->lower_bound_ns;
      if (lower_ns > expected_ns || plan->value_ns < expected_ns)
        fail_msg("seed %d: bound %lld, optimum %lld, plan %lld", (int)seed, (long long)lower_ns, (long long)expected_ns,
                 (long long)plan->value_ns);
      assert_true((plan->outcome == SITU_OUTCOME_INFEASIBLE) == (expected_ns == SITU_NEVER_NS));
      ++*(lower_ns == expected_ns ? &n_optimal : &n_feasible);
      situ_plan_free(plan);
    }
  }
  print_message("%d bounds are the optimum, %d are below it\n", n_optimal, n_feasible);
  assert_true(n_optimal > rounds_of(1000));
}

TEST(equals_brute_force_with_replicas) {
  run_seeds(false, SITU_SCHEDULE_1F1B, true, 3000, 5, 5);
  run_seeds(true, SITU_SCHEDULE_1F1B, true, 1000, 7, 4);
  run_seeds(false, SITU_SCHEDULE_GPIPE, true, 2000, 5, 5);
}

TEST_MAIN
