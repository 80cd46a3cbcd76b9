/* HSDAG's networks in double precision: their size, and the gradient of the whole policy against differences. */
#include <math.h>

#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "learn/hsdag_net.h"

enum { N = 23, FEATURES = 9, DEVICES = 3 };

TEST(it_has_the_size_of_the_released_one) {
  OWN(arena) *a = arena_new();
  params *p = params_new(a);
  hsdag_net net;
  rng random = rng_new(1);
  assert_true(hsdag_net_make(&net, p, 17, 2, &random));
  assert_int_equal(params_size(p), 141076); /* counted in the public repository at 17 features and two devices */
}

/* A ring with chords, drawn features, and the loss - log of the chance of drawn devices. */
typedef struct setting {
  arena *arena;
  params *params;
  hsdag_net net;
  int32_t from[2 * N], to[2 * N], n_edges, class_of[N], device[N];
  nn_real feature[N * FEATURES], used[FEATURES], mark[DEVICES * DEVICES];
} setting;

static void set_up(setting *s, uint64_t seed) {
  rng random = rng_new(seed);
  memset(s, 0, sizeof *s);
  s->arena = arena_new();
  s->params = params_new(s->arena);
  assert_true(hsdag_net_make(&s->net, s->params, FEATURES, DEVICES, &random));
  for (int32_t k = 0; k < params_count(s->params); k++) { /* biases of 0 would hide mistakes */
    nn_matrix at = params_at(s->params, k);
    for (int32_t i = 0; i < at.cols && at.rows == 1; i++) at.value[i] += 0.2 * rng_unit(&random) - 0.1;
  }
  for (int32_t u = 0; u + 1 < N; u++) {
    s->from[s->n_edges] = u;
    s->to[s->n_edges++] = u + 1;
    if (u + 5 >= N || u % 3) continue;
    s->from[s->n_edges] = u;
    s->to[s->n_edges++] = u + 5;
  }
  for (int32_t i = 0; i < N * FEATURES; i++) s->feature[i] = 2 * rng_unit(&random) - 1;
  for (int32_t i = 0; i < FEATURES; i++) s->used[i] = i != 4;
  for (int32_t d = 0; d < DEVICES; d++) s->mark[d * DEVICES + d] = 1;
  for (int32_t i = 0; i < N; i++) s->device[i] = (int32_t)rng_below(&random, DEVICES);
}

static nn_var run(setting *s, const hsdag_pass *how, uint64_t seed, tape *t, hsdag_view *view) {
  rng random = rng_new(seed);
  tape_reset(t);
  parse_graph g = {.n = N, .n_edges = s->n_edges, .from = s->from, .to = s->to, .class_of = s->class_of};
  assert_true(parse_graph_link(&g, t));
  hsdag_pass pass = *how;
  pass.graph = &g;
  pass.feature = s->feature;
  pass.used = s->used;
  pass.mark = s->mark;
  pass.n_devices = DEVICES;
  pass.random = seed ? &random : NULL;
  assert_true(hsdag_net_run(view, &s->net, &pass, t));
  return nn_scale(t, nn_sum(t, nn_pick(t, nn_log_softmax(t, view->score, NULL), s->device)), -1);
}

static void check_gradient(setting *s, const hsdag_pass *how, uint64_t seed, tape *t) {
  const double step = 1e-6;
  hsdag_view first, view;
  rng random = rng_new(seed);
  nn_var loss = run(s, how, seed, t, &first);
  int32_t clusters = first.n_clusters;
  params_clear_gradients(s->params);
  assert_true(tape_backward(t, loss));
  assert_true(clusters < N);
  double reached = 0;
  for (int32_t k = 0; k < params_count(s->params); k++) {
    nn_matrix at = params_at(s->params, k);
    for (int32_t tries = 0; tries < rounds_of(3); tries++) {
      int64_t i = rng_below(&random, (int64_t)at.rows * at.cols);
      nn_real kept = at.value[i];
      double side[2];
      for (int by = 0; by < 2; by++) {
        at.value[i] = kept + (by ? step : -step);
        side[by] = tape_number(t, run(s, how, seed, t, &view));
        assert_int_equal(view.n_clusters, clusters); /* the step is too small to change the assignment */
      }
      at.value[i] = kept;
      double expected = (side[1] - side[0]) / (2 * step);
      if (fabs(at.grad[i] - expected) > 2e-6 * (1 + fabs(expected)))
        fail_msg("parameter %d, number %d: %.12g; differences say %.12g", (int)k, (int)i, at.grad[i], expected);
    }
    if (k == s->net.edge[1].weight)
      for (int32_t i = 0; i < at.rows; i++) reached += fabs(at.grad[i]);
  }
  assert_true(reached > 0); /* the gradient comes to the scores of edges */
}

TEST(the_gradient_of_the_whole_policy_is_that_of_differences) {
  static setting s;
  const hsdag_pass ways[] = {{.levels = 1},
                             {.levels = 2},
                             {.levels = 1, .published = true},
                             {.levels = 2, .published = true},
                             {.levels = 1, .declines = true}};
  tape *t = tape_new();
  for (uint64_t seed = 1; seed <= 2; seed++) {
    set_up(&s, seed);
    for (int32_t i = 0; i < 5; i++) {
      check_gradient(&s, &ways[i], 0, t);
      check_gradient(&s, &ways[i], seed, t); /* with dropout */
    }
    arena_free(s.arena);
  }
  tape_free(t);
}

TEST(levels_and_target_say_where_parsing_ends) {
  static setting s;
  hsdag_view view;
  tape *t = tape_new();
  set_up(&s, 7);
  run(&s, &(hsdag_pass){.levels = 1}, 0, t, &view);
  int32_t once = view.n_clusters;
  assert_true(once > 1 && once <= N / 2);
  for (int32_t v = 0; v < N; v++) assert_in_range(view.cluster_of[v], 0, once - 1);
  run(&s, &(hsdag_pass){.levels = 0}, 0, t, &view);
  assert_int_equal(view.n_clusters, 1); /* the graph is connected */
  run(&s, &(hsdag_pass){.levels = 0, .target = once}, 0, t, &view);
  assert_int_equal(view.n_clusters, once);
  run(&s, &(hsdag_pass){.levels = 0, .target = N}, 0, t, &view);
  assert_int_equal(view.n_clusters, N);
  arena_free(s.arena);
  tape_free(t);
}

TEST(a_column_that_is_not_used_stays_0) {
  static setting s;
  hsdag_view view;
  tape *t = tape_new();
  set_up(&s, 8);
  run(&s, &(hsdag_pass){.levels = 1}, 5, t, &view);
  nn_matrix out = tape_at(t, view.state);
  double sum = 0;
  for (int32_t c = 0; c < out.rows; c++) {
    assert_true(out.value[c * FEATURES + 4] == 0);
    for (int32_t i = 0; i < FEATURES; i++) sum += (double)out.value[c * FEATURES + i];
  }
  assert_true(sum > 0);
  arena_free(s.arena);
  tape_free(t);
}

TEST_MAIN
