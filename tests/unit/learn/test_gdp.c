/* The policy gdp in double precision: its whole gradient against differences, its loss by its definition; what it sees
 * of a graph, and that names and sizes do not matter to it. */
#include <math.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "learn/gdp_net.h"
#include "learn/ppo.h"
#include "learn/softmax_draw.h"
#include "learn/trial_window.h"

enum { DRAWS = 3, SHOWN = 1, ALL = DRAWS + SHOWN };

/* A policy before a small environment, and a batch of placements in it. */
typedef struct bench {
  lab lab;
  arena *arena;
  environment env;
  gdp_view *view;
  params *params;
  gdp_net *net;
  tape *tape;
  nn_real *latent;
  ppo_batch batch;
} bench;

static lab draw_lab(uint64_t seed, int32_t n_operators) {
  lab_options o = {.seed = seed,
                   .n_operators = n_operators,
                   .n_devices = 2 + (int32_t)(seed % 3),
                   .density = 0.3,
                   .n_colocations = (int32_t)(seed % 3),
                   .pinned = seed % 4 == 1,
                   .unsupported = seed % 3 == 1,
                   .equal = seed % 2 == 0};
  o.options.objective = SITU_OBJECTIVE_LATENCY;
  return lab_random(&o);
}

static nn_var scores_of(bench *b) {
  tape_reset(b->tape);
  return gdp_net_scores(b->net, b->params, b->tape, b->view, b->latent, NULL, ALL);
}

static bool open_bench(bench *b, uint64_t seed, int32_t n_operators) {
  *b = (bench){.lab = draw_lab(seed, n_operators), .arena = arena_new(), .tape = tape_new()};
  arena *a = b->arena;
  rng random = rng_new(seed);
  assert_true(environment_init(&b->env, b->lab.problem, a));
  b->view = gdp_look(&b->env, a);
  b->params = params_new(a);
  b->net = gdp_net_make(b->params, &random, a);
  int64_t units = b->env.n_units, devices = b->env.n_devices;
  b->latent = ARENA_NEW(a, nn_real, ALL * devices * GDP_LATENT);
  for (int64_t i = 0; i < ALL * devices * GDP_LATENT; i++) b->latent[i] = 2 * rng_unit(&random) - 1;
  int32_t *device = ARENA_NEW(a, int32_t, ALL * units);
  bool *open = ARENA_NEW(a, bool, ALL *units *devices);
  nn_real *advantage = ARENA_NEW(a, nn_real, ALL), *score = ARENA_NEW(a, nn_real, units * devices);
  b->batch = (ppo_batch){.n_units = (int32_t)units,
                         .n_devices = (int32_t)devices,
                         .n_draws = DRAWS,
                         .n_shown = SHOWN,
                         .device = device,
                         .open = open,
                         .advantage = advantage,
                         .chance = ARENA_NEW(a, nn_real, ALL * units),
                         .clip = 0.2,
                         .entropy = 0.3};
  nn_matrix all = tape_at(b->tape, scores_of(b));
  for (int32_t k = 0; k < ALL; k++) {
    for (int32_t u = 0; u < units; u++)
      memcpy(score + u * devices, all.value + (u * ALL + k) * devices, (size_t)devices * sizeof *score);
    softmax_draw(&b->env, score, &random, device + k * units, open + k * units * devices);
    advantage[k] = 4 * rng_unit(&random) - 2;
  }
  ppo_remember(&b->batch, all.value);
  /* as if the policy had moved since: some ratios are within the clip, some outside */
  for (int64_t i = 0; i < ALL * units; i++) b->batch.chance[i] += 0.8 * rng_unit(&random) - 0.4;
  return b->lab.problem->conflict == NULL;
}

static void close_bench(bench *b) {
  tape_free(b->tape);
  arena_free(b->arena);
  lab_free(&b->lab);
}

static double loss_of(bench *b) { return (double)tape_number(b->tape, ppo_loss(b->tape, scores_of(b), &b->batch)); }

typedef struct differences {
  int32_t judged, kinks;
} differences;

/* A few numbers of every parameter: d(loss)/d(number) by reverse mode and by central differences. Where the two sides
 * of the difference disagree the point is a kink (a greatest, a clip, a relu) within the step. */
static void hold_gradient(bench *b, uint64_t seed, differences *found) {
  const double step = 1e-5;
  rng random = rng_new(seed + 100);
  params_clear_gradients(b->params);
  assert_true(tape_backward(b->tape, ppo_loss(b->tape, scores_of(b), &b->batch)));
  double here = loss_of(b);
  for (int32_t k = 0; k < params_count(b->params); k++) {
    nn_matrix p = params_at(b->params, k);
    for (int32_t n = 0; n < 4; n++) {
      int64_t i = rng_below(&random, (int64_t)p.rows * p.cols);
      double kept = p.value[i], side[2];
      for (int by = 0; by < 2; by++) {
        p.value[i] = kept + (by ? step : -step);
        side[by] = loss_of(b);
      }
      p.value[i] = kept;
      double expected = (side[1] - side[0]) / (2 * step), bend = fabs(side[1] - 2 * here + side[0]) / step;
      if (bend > 1e-3 * (1e-3 + fabs(expected))) {
        found->kinks++;
        continue;
      }
      found->judged++;
      if (fabs(p.grad[i] - expected) > 1e-6 + 1e-4 * fabs(expected))
        fail_msg("seed %d, parameter %d, number %d: %.10g; differences say %.10g", (int)seed, (int)k, (int)i, p.grad[i],
                 expected);
    }
  }
}

TEST(the_gradient_of_the_whole_policy_is_that_of_differences) {
  differences found = {0};
  for (uint64_t seed = 0; seed < 6; seed++) {
    bench b;
    if (open_bench(&b, seed, 9)) hold_gradient(&b, seed, &found);
    close_bench(&b);
  }
  assert_true(found.judged > 500 && found.kinks < found.judged / 4);
}

/* Of each change that cuts no gradient off, on more units than a short segment has. */
TEST(the_gradient_of_a_variant_is_that_of_differences) {
  static const gdp_change changes[] = {GDP_WITHOUT_ATTENTION, GDP_WITHOUT_GATE, GDP_SHORT_SEGMENTS};
  for (int32_t k = 0; k < rounds_of(3); k++) {
    differences found = {0};
    bench b;
    rng random = rng_new(1);
    assert_true(open_bench(&b, 2, 40));
    assert_true(b.env.n_units > 2 * GDP_SHORT_SEGMENT);
    assert_true(gdp_net_vary(b.net, b.params, &random, changes[k]));
    hold_gradient(&b, 2, &found);
    assert_true(found.judged > 80 && found.kinks < found.judged / 2);
    close_bench(&b);
  }
}

/* Memory that stands still is the same memory: scores do not change, gradients do. */
TEST(memory_that_stands_still_changes_gradients_alone) {
  bench b;
  rng random = rng_new(1);
  assert_true(open_bench(&b, 2, 40));
  assert_true(gdp_net_vary(b.net, b.params, &random, GDP_SHORT_SEGMENTS));
  double loss = loss_of(&b);
  int32_t key = b.net->attention[0].key.weight, input = b.net->unit.weight;
  double norm[2] = {0};
  for (int stopped = 0; stopped < 2; stopped++) {
    if (stopped) assert_true(gdp_net_vary(b.net, b.params, &random, GDP_STILL_MEMORY));
    assert_true(fabs(loss_of(&b) - loss) < 1e-12);
    params_clear_gradients(b.params);
    assert_true(tape_backward(b.tape, ppo_loss(b.tape, scores_of(&b), &b.batch)));
    assert_true(params_at(b.params, key).grad[0] != 0);
    nn_matrix x = params_at(b.params, input);
    for (int64_t i = 0; i < (int64_t)x.rows * x.cols; i++) norm[stopped] += x.grad[i] * x.grad[i];
  }
  assert_true(fabs(norm[1] - norm[0]) > 1e-9 * norm[0]);
  close_bench(&b);
}

/* Sums over units and draws, written down anew. */
TEST(the_loss_is_that_of_its_definition) {
  for (uint64_t seed = 0; seed < 30; seed++) {
    bench b;
    if (open_bench(&b, seed, 1 + (int32_t)seed)) {
      nn_var scores = scores_of(&b);
      nn_matrix s = tape_at(b.tape, scores);
      const ppo_batch *x = &b.batch;
      double expected = 0;
      for (int32_t k = 0; k < ALL; k++)
        for (int32_t u = 0; u < x->n_units; u++) {
          double sum = 0, entropy = 0;
          int64_t at = (int64_t)k * x->n_units + u;
          const nn_real *row = s.value + (int64_t)u * s.cols + (int64_t)k * x->n_devices;
          for (int32_t d = 0; d < x->n_devices; d++) sum += x->open[at * x->n_devices + d] ? exp(row[d]) : 0;
          for (int32_t d = 0; d < x->n_devices; d++) {
            double p = exp(row[d]) / sum;
            if (x->open[at * x->n_devices + d]) entropy -= p * log(p);
          }
          double p = exp(row[x->device[at]]) / sum, ratio = p / exp(x->chance[at]), a = x->advantage[k];
          double clipped = fmin(fmax(ratio, 0.8), 1.2);
          if (k < DRAWS)
            expected += (-fmin(ratio * a, clipped * a) - 0.3 * entropy) / (DRAWS * x->n_units);
          else
            expected -= a * log(p) / x->n_units;
        }
      double found = (double)tape_number(b.tape, ppo_loss(b.tape, scores, x));
      assert_true(fabs(found - expected) < 1e-9 * (1 + fabs(expected)));
    }
    close_bench(&b);
  }
}

/* Everything that the policy knows is a number of moderate size; neighbours are those of the graph. */
TEST(a_view_is_finite_and_knows_the_neighbours) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    OWN(lab) l = draw_lab(seed, 1 + (int32_t)(seed % 20));
    OWN(arena) *a = arena_new();
    environment env;
    assert_true(environment_init(&env, l.problem, a));
    const gdp_view *v = gdp_look(&env, a);
    for (int64_t i = 0; i < (int64_t)v->n_units * GDP_UNIT_FEATURES; i++) assert_true(fabs(v->unit[i]) < 20);
    for (int64_t i = 0; i < (int64_t)v->n_devices * GDP_DEVICE_FEATURES; i++) assert_true(fabs(v->device[i]) < 20);
    for (int64_t i = 0; i < (int64_t)v->n_units * v->n_devices; i++) assert_true(fabs(v->slowness[i]) < 50);
    const situ_graph *g = l.problem->graph;
    int64_t edges[2] = {v->before.start[v->n_units], v->after.start[v->n_units]}, expected = 0;
    bool *joined = ARENA_ZERO(a, bool, (int64_t)v->n_units * v->n_units);
    for (int32_t x = 0; x < g->n_operators; x++)
      for (int64_t i = g->in_start[x]; i < g->in_start[x + 1]; i++) {
        int32_t from = env.unit_of[g->producer[g->in[i]]], to = env.unit_of[x];
        expected += from != to && !joined[from * v->n_units + to];
        joined[from * v->n_units + to] |= from != to;
      }
    assert_int_equal(edges[0], expected);
    assert_int_equal(edges[1], expected);
    for (int32_t u = 0; u < v->n_units; u++) {
      double sum = 0;
      for (int64_t k = v->before.start[u]; k < v->before.start[u + 1]; k++) {
        assert_true(joined[v->before.item[k] * v->n_units + u]);
        sum += v->before.weight[k];
      }
      assert_true(v->before.start[u] == v->before.start[u + 1] || fabs(sum - 1) < 1e-12);
    }
  }
}

/* A window keeps what is allowed and leaves the rest of the best placement as it is. */
TEST(a_window_keeps_constraints) {
  for (uint64_t seed = 0; seed < 100; seed++) {
    bench b;
    if (open_bench(&b, seed, 1 + (int32_t)(seed % 20))) {
      environment *env = &b.env;
      trial_window *window = trial_window_new(b.view->n_units, &b.view->before, &b.view->after, b.arena);
      nn_real *score = ARENA_ZERO(b.arena, nn_real, (int64_t)env->n_units * env->n_devices);
      int32_t *device = ARENA_NEW(b.arena, int32_t, env->n_units);
      rng random = rng_new(seed);
      softmax_draw(env, score, &random, device, NULL);
      memcpy(env->best, device, (size_t)env->n_units * sizeof *device);
      for (int k = 0; k < 20; k++) {
        if (k < env->n_devices)
          trial_window_single(device, env, k);
        else
          trial_window_draw(window, device, env, score, &random);
        for (int32_t u = 0; u < env->n_units; u++)
          assert_true(device[u] == env->best[u] || env->allowed[(int64_t)u * env->n_devices + device[u]]);
      }
    }
    close_bench(&b);
  }
}

TEST_MAIN
