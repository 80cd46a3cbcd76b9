/* Strands, communities and modules: what a division must keep, on random graphs, and one whose communities are known.
 */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "solve/stream/modules.h"

static lab draw(uint64_t seed, int32_t n) {
  lab_options o = {.seed = seed,
                   .n_operators = n,
                   .n_devices = 2 + (int32_t)(seed % 3),
                   .density = 0.02 + 0.02 * (double)(seed % 7),
                   .n_colocations = (int32_t)(seed % 4),
                   .pinned = seed % 3 == 0,
                   .unsupported = seed % 2,
                   .options = {.execution = SITU_EXECUTION_STREAM}};
  return lab_random(&o);
}

TEST(strands_are_chains_and_numbered_upwards) {
  for (uint64_t seed = 1; seed <= 200; seed++) {
    OWN(lab) l = draw(seed, 60);
    OWN(arena) *a = arena_new();
    for (int32_t grain = 0; grain < 2; grain++) {
      strand_graph u;
      assert_true(strand_graph_find(&u, l.problem, (strand_grain)grain, a));
      int32_t inner = 0;
      for (int32_t v = 0; v < l.graph->n_operators; v++)
        for (int64_t i = l.graph->in_start[v]; i < l.graph->in_start[v + 1]; i++) {
          int32_t from = l.graph->producer[l.graph->in[i]];
          assert_true(u.strand_of[from] <= u.strand_of[v]);
          if (u.strand_of[from] == u.strand_of[v])
            inner++;
          else
            assert_int_equal(v, u.member[u.member_start[u.strand_of[v]]]); /* only the first takes from outside */
        }
      for (int32_t x = 0; x < u.n; x++) {
        assert_true(u.member_start[x] < u.member_start[x + 1]);
        for (int32_t d = 0; d < l.problem->n_devices; d++)
          for (int32_t k = u.member_start[x]; k < u.member_start[x + 1]; k++)
            assert_int_equal(problem_allows(l.problem, u.member[k], d),
                             problem_allows(l.problem, u.member[u.member_start[x]], d));
      }
      assert_true(grain == STRANDS_COARSE || inner <= l.graph->n_uses);
    }
  }
}

/* Two diamonds joined by one edge, all weights 1: igraph's fast-greedy, Louvain and optimal modularity find the two. */
TEST(a_double_diamond_has_two_communities) {
  static const int32_t edges[9][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {3, 4}, {4, 5}, {4, 6}, {5, 7}, {6, 7}};
  int32_t start[9] = {0}, near[18], at = 0, next_start[9] = {0}, next[9];
  double weight[18], strength[8] = {0};
  for (int32_t u = 0; u < 8; u++) {
    for (int32_t e = 0; e < 9; e++)
      if (edges[e][0] == u || edges[e][1] == u) {
        near[at] = edges[e][0] == u ? edges[e][1] : edges[e][0];
        weight[at++] = 1;
        strength[u]++;
      }
    start[u + 1] = at;
  }
  for (int32_t e = 0; e < 9; e++) {
    next[e] = edges[e][1];
    for (int32_t u = edges[e][0]; u < 8; u++) next_start[u + 1]++;
  }
  strand_graph g = {.n = 8,
                    .near_start = start,
                    .near = near,
                    .weight = weight,
                    .strength = strength,
                    .total = 18,
                    .next_start = next_start,
                    .next = next};
  OWN(arena) *a = arena_new();
  int32_t label[8];
  static const int32_t expected[8] = {0, 0, 0, 0, 1, 1, 1, 1};
  assert_int_equal(modules_communities(label, &g, 1, 8, a), 2);
  assert_memory_equal(label, expected, sizeof label);
  static const int32_t order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  for (module_way way = MODULES_MERGED; way <= MODULES_ORDERED; way++) {
    modules m;
    module_rules rules = {.way = way, .max_size = way == MODULES_GROWN ? 4 : 8, .resolution = 1, .order = order};
    assert_true(modules_find(&m, &g, &rules, a));
    assert_int_equal(m.n, 2);
    assert_memory_equal(m.of, expected, sizeof expected);
  }
}

/* Numbers that never fall along an edge make the quotient acyclic, and each module convex. */
static void hold(const modules *m, const strand_graph *g, int32_t most, uint64_t seed) {
  int32_t size[256] = {0};
  for (int32_t u = 0; u < g->n; u++) {
    assert_in_range(m->of[u], 0, m->n - 1);
    size[m->of[u]]++;
    for (int32_t i = g->next_start[u]; i < g->next_start[u + 1]; i++)
      if (m->of[g->next[i]] < m->of[u]) fail_msg("seed %d: edge %d -> %d goes down", (int)seed, u, g->next[i]);
  }
  for (int32_t k = 0; k < m->n; k++) {
    assert_in_range(size[k], 1, most);
    assert_int_equal(m->start[k + 1] - m->start[k], size[k]);
    for (int32_t i = m->start[k]; i < m->start[k + 1]; i++) assert_int_equal(m->of[m->strand[i]], k);
  }
}

TEST(modules_are_convex_and_not_too_large) {
  for (uint64_t seed = 1; seed <= 600; seed++) {
    OWN(lab) l = draw(seed, 20 + (int32_t)(seed % 120));
    OWN(arena) *a = arena_new();
    strand_graph g;
    assert_true(strand_graph_find(&g, l.problem, seed % 2 ? STRANDS_FINE : STRANDS_COARSE, a));
    int32_t *order = ARENA_NEW(a, int32_t, g.n);
    for (int32_t u = 0; u < g.n; u++) order[u] = u;
    for (module_way way = MODULES_MERGED; way <= MODULES_ORDERED; way++) {
      modules m;
      module_rules rules = {
          .way = way, .max_size = 1 + (int32_t)(seed % 12), .resolution = 0.3 * (double)(seed % 6), .order = order};
      assert_true(modules_find(&m, &g, &rules, a));
      hold(&m, &g, rules.max_size, seed);
    }
  }
}

TEST_MAIN
