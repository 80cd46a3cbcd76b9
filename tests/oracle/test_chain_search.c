/* chain_search against brute force: every kind of communication and schedule, shared memories and channels included. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/test.h"
#include "base/rng.h"
#include "situ/solve.h"

static lab draw(uint64_t seed, situ_communication communication) {
  rng r = rng_new(seed);
  lab_options o = {.seed = seed,
                   .n_operators = 2 + (int32_t)rng_below(&r, 5),
                   .n_devices = 2 + (int32_t)rng_below(&r, 3),
                   .n_hosts = seed % 8 == 0 ? 2 : 1,
                   .density = 0.2 + 0.6 * rng_unit(&r),
                   .n_colocations = (int32_t)rng_below(&r, 3),
                   .training = rng_below(&r, 2),
                   .pinned = rng_below(&r, 4) == 0,
                   .unsupported = rng_below(&r, 3) == 0,
                   .equal = rng_below(&r, 2),
                   .memory = rng_below(&r, 2) ? 0.4 + rng_unit(&r) : 0,
                   .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                               .communication = communication,
                               .async_copies = rng_below(&r, 3) == 0,
                               .schedule = rng_below(&r, 2) ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B,
                               .in_flight = (int32_t)rng_below(&r, 3)}};
  return lab_random(&o);
}

static void compare(situ_communication communication, uint64_t n_seeds) {
  int n_optimal = 0, n_infeasible = 0;
  for (uint64_t seed = 1; seed <= n_seeds; seed++) {
    lab l = draw(seed, communication);
    OWN(situ_plan) *plan = NULL;
    situ_error error = {0};
    situ_solve_options effort = {.size = sizeof(situ_solve_options), .solvers = "chain_search"};
    if (l.problem->conflict) {
      lab_free(&l);
      continue;
    }
    if (situ_solve(&plan, l.problem, &effort, &error) != SITU_STATUS_OK)
      fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
    int64_t expected_ns = brute_force(l.problem, NULL);
    if (plan->value_ns != expected_ns || plan->lower_bound_ns != expected_ns)
      fail_msg("seed %llu: found %lld, bound %lld, brute force %lld", (unsigned long long)seed,
               (long long)plan->value_ns, (long long)plan->lower_bound_ns, (long long)expected_ns);
    ++*(expected_ns == SITU_NEVER_NS ? &n_infeasible : &n_optimal);
    lab_free(&l);
  }
  print_message("%d optimal, %d infeasible\n", n_optimal, n_infeasible);
  assert_true(n_optimal > (int)n_seeds / 2);
}

TEST(equals_brute_force_with_links) { compare(SITU_COMMUNICATION_LINK, 6000); }

TEST(equals_brute_force_staged_through_the_host) { compare(SITU_COMMUNICATION_HOST_STAGED, 3000); }

TEST_MAIN
