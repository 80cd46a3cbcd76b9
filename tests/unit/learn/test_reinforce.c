/* The policies that learn by REINFORCE, in double precision: the gradient of each whole network against differences,
 * and what they draw. */
#include <math.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "learn/reinforce.h"

typedef struct policy_case {
  const char *name;
  reinforce_make *make;
} policy_case;

static const policy_case cases[] = {{"hdp", hdp_make}, {"placeto", placeto_make}, {"rnn_placer", rnn_placer_make}};
enum { N_CASES = sizeof cases / sizeof *cases, N_PROBLEMS = 6, NUMBERS_OF_EACH = 5 };

static lab draw_lab(uint64_t seed) {
  lab_options o = {.seed = seed,
                   .n_operators = 4 + (int32_t)(seed % 7),
                   .n_devices = 2 + (int32_t)(seed % 3),
                   .density = 0.3,
                   .n_colocations = (int32_t)(seed % 2),
                   .pinned = seed % 2,
                   .unsupported = seed % 3 == 0};
  o.options.objective = SITU_OBJECTIVE_LATENCY;
  return lab_random(&o);
}

/* A whole episode from one seed: sum over decisions of (k + 1) log(chance) / n + 0.3 entropy. `drawn` hashes what was
 * drawn, step by step. */
static nn_var episode(const reinforce_policy *p, tape *t, uint64_t *drawn) {
  rng random = rng_new(17);
  nn_var loss = NN_NONE;
  tape_reset(t);
  *drawn = 0;
  if (p->start) p->start(p->self);
  for (int32_t k = 0; k < p->n_decisions; k++) {
    decision made = p->decide(p->self, t, &random, k);
    nn_var part = nn_add(t, nn_scale(t, made.log_chance, (k + 1.0) / p->n_decisions), nn_scale(t, made.entropy, 0.3));
    loss = k == 0 ? part : nn_add(t, loss, part);
    for (int32_t u = 0; u < p->env->n_units; u++) *drawn = *drawn * 31 + (uint64_t)p->device[u];
  }
  return loss;
}

/* Nothing is 0 or alike any more, so that every number matters. */
static void stir(params *p, uint64_t seed) {
  rng random = rng_new(seed);
  for (int32_t k = 0; k < params_count(p); k++) {
    nn_matrix x = params_at(p, k);
    for (int64_t i = 0; i < (int64_t)x.rows * x.cols; i++) x.value[i] += 0.3 * (2 * rng_unit(&random) - 1);
  }
}

/* Returns how many numbers were compared: those whose change does not change a draw. */
static int32_t hold_gradient(const policy_case *c, const reinforce_policy *p, tape *t, uint64_t seed) {
  const double step = 1e-6;
  rng random = rng_new(seed);
  int32_t n = 0;
  uint64_t drawn, other;
  params_clear_gradients(p->params);
  assert_true(tape_backward(t, episode(p, t, &drawn)));
  for (int32_t k = 0; k < params_count(p->params); k++)
    for (int32_t times = 0; times < NUMBERS_OF_EACH; times++) {
      nn_matrix x = params_at(p->params, k);
      int64_t i = rng_below(&random, (int64_t)x.rows * x.cols);
      double kept = x.value[i], side[2];
      bool alike = true;
      for (int by = 0; by < 2; by++) {
        x.value[i] = kept + (by ? step : -step);
        side[by] = tape_number(t, episode(p, t, &other));
        alike &= other == drawn;
      }
      x.value[i] = kept;
      double expected = (side[1] - side[0]) / (2 * step);
      if (alike && fabs(x.grad[i] - expected) > 1e-6 * (1 + fabs(expected)))
        fail_msg("%s, seed %d: gradient by parameter %d, number %d is %.12g; differences say %.12g", c->name, (int)seed,
                 (int)k, (int)i, x.grad[i], expected);
      n += alike;
    }
  return n;
}

TEST(the_gradient_of_each_policy_is_that_of_differences) {
  tape *t = tape_new();
  for (int i = 0; i < N_CASES; i++)
    for (uint64_t seed = 1; seed <= N_PROBLEMS; seed++) {
      OWN(lab) l = draw_lab(seed);
      OWN(arena) *a = arena_new();
      environment env;
      reinforce_policy p;
      assert_true(environment_init(&env, l.problem, a));
      if (!l.problem->conflict) {
        assert_true(cases[i].make(&p, &env, seed, a));
        stir(p.params, seed);
        assert_true(hold_gradient(&cases[i], &p, t, seed) > NUMBERS_OF_EACH * params_count(p.params) * 9 / 10);
      }
    }
  tape_free(t);
}

TEST(a_decision_keeps_support_pins_and_colocation) {
  tape *t = tape_new();
  for (int i = 0; i < N_CASES; i++)
    for (uint64_t seed = 1; seed <= 60; seed++) {
      OWN(lab) l = draw_lab(seed);
      OWN(arena) *a = arena_new();
      environment env;
      reinforce_policy p;
      rng random = rng_new(seed);
      assert_true(environment_init(&env, l.problem, a));
      assert_true(cases[i].make(&p, &env, seed, a));
      if (p.start) p.start(p.self);
      for (int32_t k = 0; k < p.n_decisions && !l.problem->conflict; k++) {
        decision made = p.decide(p.self, t, &random, k);
        assert_true(tape_number(t, made.log_chance) <= 1e-12);
        assert_true(tape_number(t, made.entropy) >= -1e-12);
        environment_try(&env, p.device);
        assert_true(solve_allows(l.problem, env.device));
        tape_reset(t);
      }
    }
  tape_free(t);
}

TEST(an_episode_after_the_first_ones_allocates_nothing) {
  OWN(lab) l = lab_topcuoglu();
  for (int i = 0; i < N_CASES; i++) {
    tape *t = tape_new();
    OWN(arena) *a = arena_new();
    environment env;
    reinforce_policy p;
    uint64_t drawn;
    assert_true(environment_init(&env, l.problem, a) && cases[i].make(&p, &env, 1, a));
    size_t held = 0, own = arena_held_bytes(a);
    for (int32_t k = 0; k < 20; k++) {
      assert_true(tape_backward(t, episode(&p, t, &drawn)));
      if (k > 0) assert_int_equal(tape_held_bytes(t), held);
      held = tape_held_bytes(t);
    }
    assert_int_equal(arena_held_bytes(a), own);
    tape_free(t);
  }
}

TEST_MAIN
