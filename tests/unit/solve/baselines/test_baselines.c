/* The baselines of the literature: PipeDream's merging by hand, the libraries' parts repaired. */
#include "../../../lab/brute.h"
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "../../../lab/tier.h"
#include "base/rng.h"
#include "situ/solve.h"
#include "solve/baselines/parts.h"
#include "solve/select.h"
#include "solve/solve.h"

static const char *const names[] = {"pipedream", "scotch", "metis", "steepest_descent"};
enum { N_NAMES = 4 };

/* Pipelines of all kinds and streams, small enough to try every placement. */
static lab draw(uint64_t seed, bool small) {
  rng r = rng_new(seed ^ 0xba5e);
  lab_options o = {
      .seed = seed,
      .n_operators = small ? 1 + (int32_t)rng_below(&r, 5) : 10 + (int32_t)rng_below(&r, 60),
      .n_devices = 2 + (int32_t)rng_below(&r, small ? 2 : 5),
      .density = rng_unit(&r) * (small ? 1 : 0.2),
      .n_colocations = (int32_t)rng_below(&r, 3),
      .training = rng_below(&r, 3) == 0,
      .pinned = rng_below(&r, 3) == 0,
      .unsupported = rng_below(&r, 2),
      .memory = rng_below(&r, 2) ? 0.5 : 0,
      .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                  .communication = rng_below(&r, 3) ? SITU_COMMUNICATION_HOST_STAGED : SITU_COMMUNICATION_LINK,
                  .free = rng_below(&r, 2),
                  .async_copies = rng_below(&r, 2),
                  .in_flight = 1 + (int32_t)rng_below(&r, 2)}};
  if (rng_below(&r, 3) == 0)
    o.options = (situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM};
  if (small && o.training && o.n_operators > 3) o.n_operators = 3; /* training adds as many again */
  return lab_random(&o);
}

/* The value, SITU_NEVER_NS without a plan. situ_solve has situ_check judge every plan, and fails on a broken rule. */
static int64_t solve(const situ_problem *p, const char *name, uint64_t seed) {
  OWN(situ_plan) *plan = NULL;
  situ_error error = {0};
  situ_solve_options o = {.size = sizeof(situ_solve_options), .solvers = name, .seed = seed};
  situ_status status = situ_solve(&plan, p, &o, &error);
  if (status != SITU_STATUS_OK) fail_msg("%s on seed %d: %s", name, (int)seed, error.text);
  int64_t value = plan->value_ns;
  return value;
}

TEST(plans_keep_all_rules_and_repeat) {
  int32_t n_plans[N_NAMES] = {0}, n_ran[N_NAMES] = {0};
  for (uint64_t seed = 0; seed < (uint64_t)few_rounds_of(400); seed++) {
    OWN(lab) l = draw(seed, false);
    for (int32_t k = 0; k < N_NAMES; k++) {
      if (!situ_solver_serves(names[k], l.problem)) continue;
      int64_t value = solve(l.problem, names[k], seed);
      assert_true(value == solve(l.problem, names[k], seed));
      n_ran[k]++;
      n_plans[k] += value < SITU_NEVER_NS;
    }
  }
  for (int32_t k = 0; k < N_NAMES; k++)
    assert_true(n_plans[k] * 2 >= n_ran[k]); /* the others find no plan, and say so */
}

TEST(no_plan_beats_the_optimum) {
  for (uint64_t seed = 0; seed < (uint64_t)rounds_of(300); seed++) {
    OWN(lab) l = draw(seed, true);
    int64_t optimum = brute_force(l.problem, NULL);
    for (int32_t k = 0; k < N_NAMES; k++)
      if (situ_solver_serves(names[k], l.problem)) assert_true(solve(l.problem, names[k], seed) >= optimum);
  }
}

/* The repair alone, from parts drawn at random: what a partitioner gives is at worst that. */
TEST(random_parts_are_repaired) {
  int32_t n_plans = 0, n_possible = 0;
  for (uint64_t seed = 0; seed < (uint64_t)rounds_of(400); seed++) {
    OWN(lab) l = draw(seed, true);
    OWN(arena) *a = arena_new();
    budget b = budget_new(0, 0, NULL, NULL);
    incumbent best;
    assert_true(incumbent_init(&best, l.problem, a));
    solve_run run = {.problem = l.problem,
                     .simulator = simulator_new(l.problem, a),
                     .budget = &b,
                     .incumbent = &best,
                     .solver = "parts",
                     .arena = a};
    parts g;
    assert_true(parts_find(&g, &run));
    rng r = rng_new(seed);
    int32_t part[64];
    for (int32_t c = 0; c < g.classes.n_classes; c++) part[c] = (int32_t)rng_below(&r, g.n_parts);
    assert_int_equal(parts_offer(&g, part), SITU_STATUS_OK);
    int64_t optimum = brute_force(l.problem, NULL);
    assert_true(best.value_ns >= optimum);
    n_possible += optimum < SITU_NEVER_NS;
    n_plans += best.value_ns < SITU_NEVER_NS;
  }
  assert_true(n_plans * 10 >= n_possible * 8);
}

/* Numbers become 1 .. 2^30 in proportion; 3 : 1 : 0 at a sum of 2^32 is divided by 5. */
TEST(weights_fit_into_thirty_two_bits) {
  int64_t numbers[3] = {(int64_t)3 << 30, (int64_t)1 << 30, 0};
  int32_t scaled[3];
  parts_scale(scaled, numbers, 3);
  assert_int_equal(scaled[0], 644245094); /* floor(3 * 2^30 / 5) */
  assert_int_equal(scaled[1], 214748364); /* floor(2^30 / 5) */
  assert_int_equal(scaled[2], 1);
}

/* s -> a, b -> j -> e: the diamond is one component, so s, a and b (the tails of its edges) become one class and j
 * stays apart; the edge j -> e is a component with the one tail j. With times 4, 3, 2, 1, 5 on two devices and no
 * transfer times the best chain is {s, a, b} = 9 against {j, e} = 6; exact splits {s, a} = 7 against {b, j, e} = 8. */
TEST(pipedream_merges_all_of_a_diamond_but_its_join) {
  static const int64_t times[5] = {4, 3, 2, 1, 5};
  OWN(lab) s = lab_new();
  for (int32_t d = 0; d < 2; d++) lab_device(&s, SITU_UNLIMITED_BYTES, -1, false);
  lab_star(&s);
  for (int32_t v = 0; v < 5; v++) lab_operator(&s, (const char *[]){"s", "a", "b", "j", "e"}[v], times[v], 0, 0);
  lab_tensor(&s, 0, 0, 1, 2, -1);
  lab_tensor(&s, 1, 0, 3, -1);
  lab_tensor(&s, 2, 0, 3, -1);
  lab_tensor(&s, 3, 0, 4, -1);
  lab_pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options),
                                       .objective = SITU_OBJECTIVE_THROUGHPUT,
                                       .communication = SITU_COMMUNICATION_HOST_STAGED});
  assert_int_equal(solve(s.problem, "pipedream", 0), 9);
  assert_int_equal(solve(s.problem, "ideal_dp", 0), 8);
}

/* A solver whose library was not there when situ was made stays in the table, serves nothing, and says why. */
TEST(a_solver_without_its_library_says_so) {
  OWN(lab) l = draw(0, true);
  for (int32_t k = 1; k < N_NAMES; k++) {
    const solver *s = solver_find(solvers, names[k]);
    assert_non_null(s);
    assert_true((s->missing == NULL) == (s->solve != NULL));
    if (!s->missing) continue;
    assert_false(situ_solver_serves(names[k], l.problem));
    situ_plan *plan = NULL;
    situ_error error = {0};
    situ_solve_options o = {.size = sizeof(situ_solve_options), .solvers = names[k]};
    assert_int_equal(situ_solve(&plan, l.problem, &o, &error), SITU_STATUS_UNSUPPORTED);
    assert_non_null(strstr(error.text, "library"));
    assert_null(plan);
  }
}

TEST_MAIN
