/* A prior proposes: one that knows the optimum helps tabu and does lns no harm, one that knows nothing breaks no rule;
 * and where they come from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../lab/lab.h"
#include "plan/plan.h"
#include "problem/footprint.h"
#include "solve/learn/learner.h"

extern const solver tabu_solver, lns_solver;

static void draws_follow_the_chances(void **state) {
  (void)state;
  float chance[6] = {0.5F, 0.25F, 0.25F, 0, 1, 0};
  prior p = {.n_devices = 3, .chance = chance};
  rng random = rng_new(1);
  int32_t seen[3] = {0};
  for (int32_t k = 0; k < 8000; k++) {
    seen[prior_draw(&p, 0, &random)]++;
    assert_int_equal(prior_draw(&p, 1, &random), 1);
  }
  assert_true(abs(seen[0] - 4000) < 160 && abs(seen[1] - 2000) < 140); /* 3.6 standard deviations */
}

/* A run of a problem as situ_solve makes it, for `steps`. */
typedef struct bench {
  incumbent best;
  solve_watch watch;
  budget budget;
  solve_run run;
} bench;

static void bench_start(bench *b, const situ_problem *p, int64_t steps, arena *a) {
  *b = (bench){.budget = budget_new(steps, 0, NULL, NULL)};
  b->watch = (solve_watch){.incumbent = &b->best, .solver = "", .running = &b->budget};
  b->run = (solve_run){.problem = p,
                       .budget = &b->budget,
                       .incumbent = &b->best,
                       .watch = &b->watch,
                       .solver = "",
                       .seed = 3,
                       .threads = 1,
                       .roomy = footprint_fits_always(p),
                       .arena = a};
  b->run.simulator = simulator_new(p, a);
  assert_true(b->run.simulator && incumbent_init(&b->best, p, a));
}

static int64_t value_with(const situ_problem *p, const solver *s, int64_t steps, const prior *with) {
  arena *a = arena_new();
  bench b;
  bench_start(&b, p, steps, a);
  b.run.prior = with;
  if (s->start) assert_int_equal(s->start(&b.run), SITU_STATUS_OK);
  assert_int_equal(s->solve(&b.run), SITU_STATUS_OK);
  int64_t value = b.best.value_ns;
  if (b.best.best.device) assert_true(solve_allows(p, b.best.best.device));
  incumbent_free(&b.best);
  arena_free(a);
  return value;
}

static lab problem_of(uint64_t seed) {
  lab_options o = {.seed = seed,
                   .n_operators = 9 + (int32_t)(seed % 3),
                   .n_devices = 3,
                   .density = 0.1 + 0.1 * (double)(seed % 4),
                   .n_colocations = seed % 3 == 0,
                   .pinned = seed % 4 == 0,
                   .unsupported = seed % 5 == 0,
                   .options = {.execution = SITU_EXECUTION_STREAM}};
  return lab_random(&o);
}

/* 0.9 on the devices of a plan. */
static void fill(float *chance, const situ_plan *plan, int32_t n) {
  for (int32_t v = 0; v < n; v++)
    for (int32_t d = 0; d < 3; d++) chance[3 * v + d] = plan->device[v] == d ? 0.9F : 0.05F;
}

static void a_prior_that_knows_the_optimum_helps_tabu_and_does_lns_no_harm(void **state) {
  (void)state;
  const solver *const searches[] = {&tabu_solver, &lns_solver};
  for (int k = 0; k < 2; k++) {
    int64_t without = 0, with = 0;
    for (uint64_t seed = 1; seed <= 120; seed++) {
      lab l = problem_of(seed);
      situ_plan *plan;
      situ_error e;
      situ_solve_options o = {.solvers = "branch_and_bound"};
      float chance[3 * 12];
      assert_int_equal(situ_solve(&plan, l.problem, &o, &e), SITU_STATUS_OK);
      if (situ_plan_exists(plan)) {
        prior knows = {.n_devices = 3, .chance = chance};
        fill(chance, plan, l.problem->n_operators);
        int64_t one = value_with(l.problem, searches[k], 40, NULL),
                other = value_with(l.problem, searches[k], 40, &knows);
        assert_true(one >= situ_plan_value_ns(plan) && other >= situ_plan_value_ns(plan));
        without += one;
        with += other;
      }
      situ_plan_free(plan);
      lab_free(&l);
    }
    /* lns is near the optimum in every case here */
    if (k == 0 ? with >= without : with * 1000 > without * 1001)
      fail_msg("%s: %lld with the prior, %lld without", searches[k]->name, (long long)with, (long long)without);
  }
}

/* A policy drawn from a seed, and one trained for some steps: chances of all operators, alike where they are colocated.
 */
static void a_policy_gives_a_prior(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    lab l = problem_of(seed);
    arena *a = arena_new();
    bench b;
    prior p;
    bench_start(&b, l.problem, 300, a);
    b.run.tune_steps = (int64_t)(seed % 2);
    assert_int_equal(learned_prior(&p, &b.run, "none"), SITU_STATUS_OK);
    for (int32_t v = 0; v < l.problem->n_operators; v++) {
      float sum = 0;
      for (int32_t d = 0; d < p.n_devices; d++) sum += prior_chance(&p, v, d);
      assert_true(sum > 0.999F && sum < 1.001F);
    }
    assert_true(b.budget.steps > 0 && b.budget.steps <= 300);
    incumbent_free(&b.best);
    arena_free(a);
    lab_free(&l);
  }
}

static void a_prior_needs_a_stream_and_a_policy(void **state) {
  (void)state;
  lab_options o = {
      .seed = 1, .n_operators = 6, .n_devices = 3, .density = 0.2, .options = {.objective = SITU_OBJECTIVE_THROUGHPUT}};
  lab pipeline = lab_random(&o), stream = problem_of(1);
  situ_plan *plan = NULL;
  situ_error e;
  situ_solve_options with = {.solvers = "auto", .prior = "none"};
  assert_int_equal(situ_solve(&plan, pipeline.problem, &with, &e), SITU_STATUS_BAD_ARGUMENT);
  assert_non_null(strstr(e.text, "stream"));
  with.prior = "no such file.policy";
  assert_int_equal(situ_solve(&plan, stream.problem, &with, &e), SITU_STATUS_IO);
  assert_null(plan);
  lab_free(&pipeline);
  lab_free(&stream);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(draws_follow_the_chances),
      cmocka_unit_test(a_prior_that_knows_the_optimum_helps_tabu_and_does_lns_no_harm),
      cmocka_unit_test(a_policy_gives_a_prior),
      cmocka_unit_test(a_prior_needs_a_stream_and_a_policy),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
