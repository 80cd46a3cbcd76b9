/* Devices drawn from scores: of those that are open, as often as the softmax says. */
#include <math.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "learn/softmax_draw.h"

enum { N_PROBLEMS = 300, N_DRAWS = 20 };

TEST(a_draw_takes_what_is_open_and_allowed) {
  int32_t served = 0;
  for (uint64_t seed = 0; seed < N_PROBLEMS; seed++) {
    OWN(lab) l = lab_random_stream(seed);
    OWN(arena) *a = arena_new();
    environment env;
    assert_true(environment_init(&env, l.problem, a));
    rng random = rng_new(seed);
    nn_real *score = ARENA_NEW(a, nn_real, (int64_t)env.n_units * env.n_devices);
    int32_t *device = ARENA_NEW(a, int32_t, env.n_units);
    bool *open = ARENA_NEW(a, bool, (int64_t)env.n_units *env.n_devices);
    for (int32_t k = 0; k < N_DRAWS && !l.problem->conflict; k++) {
      for (int64_t i = 0; i < (int64_t)env.n_units * env.n_devices; i++)
        score[i] = (nn_real)(6 * rng_unit(&random) - 3);
      softmax_draw(&env, score, k % 4 ? &random : NULL, device, open);
      for (int32_t u = 0; u < env.n_units; u++) assert_true(open[u * env.n_devices + device[u]]);
      environment_try(&env, device);
      assert_true(solve_allows(l.problem, env.device));
      served++;
    }
  }
  assert_true(served > N_PROBLEMS);
}

TEST(devices_are_drawn_as_often_as_the_softmax_says) {
  OWN(lab) l = lab_topcuoglu();
  OWN(arena) *a = arena_new();
  environment env;
  assert_true(environment_init(&env, l.problem, a));
  assert_int_equal(env.n_units, 10);
  nn_real score[30];
  int32_t device[10], seen[3] = {0};
  rng random = rng_new(1);
  for (int32_t u = 0; u < 10; u++) /* chances 1/7, 2/7, 4/7 */
    for (int32_t d = 0; d < 3; d++) score[3 * u + d] = (nn_real)(d * log(2));
  for (int32_t k = 0; k < 7000; k++) {
    softmax_draw(&env, score, &random, device, NULL);
    seen[device[4]]++;
  }
  for (int32_t d = 0; d < 3; d++) assert_true(abs(seen[d] - (1000 << d)) < 150); /* over 3.6 standard deviations */
}

TEST_MAIN
