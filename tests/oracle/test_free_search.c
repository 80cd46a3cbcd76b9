/* free_search against brute force: on small pipelines without contiguity it must keep every constraint, never claim
 * what is not there, and nearly always find the optimum. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "base/rng.h"
#include "check/judge.h"
#include "situ/plan.h"
#include "situ/solve.h"

static situ_plan *search(const situ_problem *problem, uint64_t seed, int64_t steps) {
  situ_plan *plan = NULL;
  situ_error error = {0};
  situ_solve_options effort = {
      .size = sizeof(situ_solve_options), .solvers = "free_search", .max_steps = steps, .seed = seed};
  if (situ_solve(&plan, problem, &effort, &error) != SITU_STATUS_OK)
    fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
  return plan;
}

static void expect_no_violation(const situ_plan *plan, uint64_t seed) {
  OWN(situ_verdict) *verdict = NULL;
  situ_error error = {0};
  assert_int_equal(situ_check(&verdict, plan, &error), SITU_STATUS_OK);
  if (verdict->n_found > 0)
    fail_msg("seed %llu: %s", (unsigned long long)seed, situ_verdict_violation(verdict, 0).text);
}

TEST(small_problems_are_solved) {
  enum { SEEDS = 3000, STEPS = 600 };
  int n_served = 0, n_optimal = 0, n_missed = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(SEEDS); seed++) {
    OWN(lab) l = lab_random_free_pipeline(seed, 7);
    if (situ_solver_serves("free_search", l.problem) && !l.problem->conflict) {
      int64_t expected = brute_force(l.problem, NULL);
      OWN(situ_plan) *plan = search(l.problem, seed, STEPS);
      bool there = plan_exists(plan);
      int64_t value = there ? plan->value_ns : SITU_NEVER_NS;
      if (there) expect_no_violation(plan, seed);
      if (value < expected) fail_msg("seed %llu: %lld, below the optimum", (unsigned long long)seed, (long long)value);
      if (plan->lower_bound_ns > expected) fail_msg("seed %llu: bound above the optimum", (unsigned long long)seed);
      n_served++;
      n_optimal += value == expected;
      n_missed += !there && expected != SITU_NEVER_NS;
    }
  }
  print_message("%d served, %d solved to the optimum, %d without a plan where there is one\n", n_served, n_optimal,
                n_missed);
  assert_true(n_served > rounds_of(SEEDS / 3));
  assert_true(n_optimal >= n_served * 95 / 100);
  assert_int_equal(n_missed, 0);
}

/* Its loads by links are from below, so that it may end elsewhere; what it offers is valued by the simulator. */
TEST(small_problems_by_links_are_nearly_solved) {
  enum { SEEDS = 1000, STEPS = 600 };
  int n_served = 0, n_near = 0, n_missed = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(SEEDS); seed++) {
    rng r = rng_new(seed);
    lab_options o = {
        .seed = seed,
        .n_operators = (int32_t)(2 + rng_below(&r, 6)),
        .n_devices = (int32_t)(2 + rng_below(&r, 2)),
        .density = 0.1 + 0.5 * rng_unit(&r),
        .memory = rng_below(&r, 2) ? 0.3 + 0.6 * rng_unit(&r) : 0,
        .options = {.objective = SITU_OBJECTIVE_THROUGHPUT, .communication = SITU_COMMUNICATION_LINK, .free = true}};
    OWN(lab) l = lab_random(&o);
    if (situ_solver_serves("free_search", l.problem) && !l.problem->conflict) {
      int64_t expected = brute_force(l.problem, NULL);
      OWN(situ_plan) *plan = search(l.problem, seed, STEPS);
      int64_t value = plan_exists(plan) ? plan->value_ns : SITU_NEVER_NS;
      if (value != SITU_NEVER_NS) expect_no_violation(plan, seed);
      if (value < expected) fail_msg("seed %llu: %lld, below the optimum", (unsigned long long)seed, (long long)value);
      if (plan->lower_bound_ns > expected) fail_msg("seed %llu: bound above the optimum", (unsigned long long)seed);
      n_served++;
      n_near += (double)value <= 1.1 * (double)expected;
      n_missed += value == SITU_NEVER_NS && expected != SITU_NEVER_NS;
    }
  }
  print_message("%d served by links, %d within a tenth of the optimum, %d missed\n", n_served, n_near, n_missed);
  assert_true(n_served > rounds_of(SEEDS / 3));
  assert_true(n_near >= n_served * 3 / 4);
  assert_int_equal(n_missed, 0);
}

TEST(a_seed_and_a_number_of_steps_make_the_plan) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(40); seed++) {
    OWN(lab) l = lab_random_free_pipeline(seed, 40);
    if (situ_solver_serves("free_search", l.problem) && !l.problem->conflict) {
      OWN(situ_plan) *one = search(l.problem, seed, 300), *other = search(l.problem, seed, 300);
      assert_int_equal(one->steps, other->steps);
      assert_int_equal(one->value_ns, other->value_ns);
      for (int32_t v = 0; plan_exists(one) && v < l.problem->n_operators; v++)
        assert_int_equal(situ_plan_device(one, v), situ_plan_device(other, v));
    }
  }
}

TEST_MAIN
