/* The parts of a placement against walks along all paths, and one count for solvers and explanations. */
#include "view/pieces.h"

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "graph/graph.h"
#include "situ/explain.h"
#include "situ/solve.h"
#include "view/handovers.h"

enum { N = 9, DEVICES = 3 };

/* How often a path that ends at v has entered device d, at most: walks all paths backwards. */
static situ_explanation_summary summary_of(const situ_explanation *x) {
  situ_explanation_summary summary = SITU_EXPLANATION_SUMMARY_INIT;
  assert_true(situ_explanation_get_summary(x, &summary));
  return summary;
}

static int32_t max_entries(const situ_graph *g, const int32_t *device, int32_t d, int32_t v) {
  int32_t most = 0;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t u = g->producer[g->in[i]], before = max_entries(g, device, d, u);
    bool enters = device[v] == d && device[u] != d;
    if (before > 0 && before + enters > most) most = before + enters;
  }
  return device[v] == d && most == 0 ? 1 : most;
}

TEST(parts_are_the_entries_of_the_longest_way_back) {
  for (uint64_t seed = 0; seed < 3000; seed++) {
    lab_options wish = {.seed = seed, .n_operators = N, .n_devices = DEVICES, .density = 0.3, .unfused = true};
    wish.options.execution = SITU_EXECUTION_STREAM;
    OWN(lab) l = lab_random(&wish);
    const situ_graph *g = l.problem->graph;
    int32_t device[N], of[N], total = 0, n_of[DEVICES] = {0};
    for (int32_t v = 0, x = (int32_t)(seed % 19683); v < N; v++, x /= 3) device[v] = (x + v * (int32_t)(seed % 5)) % 3;
    OWN(arena) *a = arena_new();
    int32_t n = pieces_find(of, l.problem, device, a);
    for (int32_t v = 0; v < N; v++) {
      int32_t entries = max_entries(g, device, device[v], v);
      if (entries > n_of[device[v]]) n_of[device[v]] = entries;
    }
    for (int32_t d = 0; d < DEVICES; d++) total += n_of[d];
    assert_int_equal(n, total);
    for (int32_t v = 0; v < N; v++) {
      assert_in_range(of[v], 0, n - 1);
      for (int32_t w = 0; w < N; w++)
        if (of[v] == of[w]) assert_int_equal(device[v], device[w]);
    }
    handovers h;
    OWN(situ_plan) *plan = NULL;
    OWN(situ_explanation) *x = NULL;
    assert_true(handovers_find(&h, l.problem, device, a));
    assert_int_equal(h.n_parts, n);
    assert_int_equal(situ_simulate(&plan, l.problem, device, NULL, NULL), SITU_STATUS_OK);
    assert_int_equal(situ_explain(&x, plan, NULL), SITU_STATUS_OK);
    assert_int_equal(summary_of(x).n_parts, n);
  }
}

/* Whether a path from v leaves its part; then nothing of the part may follow. */
static bool comes_back(const situ_graph *g, const int32_t *of, int32_t part, int32_t v, bool out) {
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t w = g->use[i];
      if ((out && of[w] == part) || comes_back(g, of, part, w, out || of[w] != part)) return true;
    }
  return false;
}

TEST(no_path_leaves_a_part_and_enters_it_again) {
  for (uint64_t seed = 0; seed < 1000; seed++) {
    lab_options wish = {.seed = seed, .n_operators = N, .n_devices = DEVICES, .density = 0.3};
    OWN(lab) l = lab_random(&wish);
    int32_t device[N], of[N];
    for (int32_t v = 0; v < N; v++) device[v] = (int32_t)((seed >> v) + (uint64_t)v * seed % 7) % DEVICES;
    OWN(arena) *a = arena_new();
    assert_true(pieces_find(of, l.problem, device, a) > 0);
    for (int32_t v = 0; v < N; v++) assert_false(comes_back(l.problem->graph, of, of[v], v, false));
  }
}

TEST_MAIN
