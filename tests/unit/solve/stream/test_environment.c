/* Streams as environments: what masks keep, what a trial is worth. */
#include <math.h>

#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "solve/stream/environment.h"

enum { N_PROBLEMS = 300, N_DRAWS = 20 };

TEST(devices_that_are_open_keep_support_pins_and_colocation) {
  int32_t served = 0;
  for (uint64_t seed = 0; seed < N_PROBLEMS; seed++) {
    OWN(lab) l = lab_random_stream(seed);
    OWN(arena) *a = arena_new();
    environment env;
    assert_true(environment_init(&env, l.problem, a));
    rng random = rng_new(seed);
    int32_t *device = ARENA_NEW(a, int32_t, env.n_units);
    bool *open = ARENA_NEW(a, bool, env.n_devices);
    for (int32_t k = 0; k < N_DRAWS && !l.problem->conflict; k++) {
      environment_empty(&env);
      for (int32_t u = 0; u < env.n_units; u++) {
        environment_open(&env, u, open);
        do device[u] = (int32_t)rng_below(&random, env.n_devices);
        while (!open[device[u]]);
        environment_put(&env, u, device[u]);
      }
      int64_t time = environment_try(&env, device);
      assert_true(solve_allows(l.problem, env.device));
      assert_true(env.best_ns <= time);
      served++;
    }
  }
  assert_true(served > N_PROBLEMS);
}

/* Twice the number of trials that it saw, in ns; over after three. */
static int64_t count_trials(void *context, const placement *where) {
  environment_judge *judge = context;
  assert_non_null(where->order);
  judge->over = ++judge->scale_ns == 103;
  return 2 * (judge->scale_ns - 100);
}

TEST(a_judge_times_what_fits_and_says_when_it_is_over) {
  lab_options o = {.seed = 1, .n_operators = 4, .n_devices = 2};
  o.options.objective = SITU_OBJECTIVE_LATENCY;
  OWN(lab) l = lab_random(&o);
  OWN(arena) *a = arena_new();
  environment env;
  int32_t device[4] = {0};
  environment_judge judge = {.time = count_trials, .context = &judge, .scale_ns = 100};
  assert_true(environment_init(&env, l.problem, a));
  environment_judge_by(&env, &judge);
  assert_float_equal(environment_reward(&env, 400), -2, 1e-9); /* -sqrt(400 / 100) */
  for (int64_t k = 1; k <= 3; k++) {
    assert_false(environment_over(&env));
    assert_int_equal(environment_try(&env, device), 2 * k);
  }
  assert_true(environment_over(&env) && env.best_ns == 2);
}

TEST(everything_on_one_device_takes_the_sum_of_its_times) {
  OWN(lab) l = lab_topcuoglu();
  OWN(arena) *a = arena_new();
  environment env;
  assert_true(environment_init(&env, l.problem, a));
  int32_t device[10] = {0};
  /* the first column of table 1 of the paper: 14 13 11 13 12 13 7 5 18 21 */
  assert_int_equal(environment_try(&env, device), 127);
  assert_int_equal(env.best_ns, 127);
  assert_int_equal(env.n_trials, 1);
  /* 127 is also the least such sum (the others are 130 and 143), which rewards are measured by */
  assert_int_equal(env.scale_ns, 127);
  assert_true(fabs(environment_reward(&env, 4 * 127) + 2) < 1e-12);
  assert_true(environment_reward(&env, SITU_NEVER_NS) == -10);
}

/* Times of operators 0, 1, 2 of the paper's table 1: 14 16 9, 13 19 18, 11 13 19; a unit of all three. */
TEST(a_unit_follows_the_device_of_most_of_its_time) {
  OWN(lab) l = lab_topcuoglu();
  OWN(arena) *a = arena_new();
  environment env;
  int32_t of_unit[10];
  assert_true(environment_init(&env, l.problem, a));
  environment_join(&env, (int32_t[]){0, 0, 0, 3, 4, 5, 6, 7, 8, 9});
  assert_int_equal(env.n_units, 8);
  environment_follow(&env, (int32_t[]){1, 2, 0, 1, 2, 0, 1, 2, 0, 1}, of_unit);
  assert_int_equal(of_unit[0], 2); /* 18 there; 16 on device 1, 11 on device 0 */
  for (int32_t u = 1; u < 8; u++) assert_int_equal(of_unit[u], (u + 3) % 3);
  env.allowed[2] = false; /* of unit 0 */
  environment_follow(&env, (int32_t[]){1, 2, 0, 1, 2, 0, 1, 2, 0, 1}, of_unit);
  assert_int_equal(of_unit[0], 1);
}

TEST_MAIN
