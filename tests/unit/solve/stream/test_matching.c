/* Heaviest matchings against all matchings. */
#include "../../../lab/test.h"
#include "base/rng.h"
#include "solve/stream/matching.h"

enum { MAX_N = 7, LARGE = 3000, LARGE_EDGES = 12000 };

static int64_t best_from(const matching_graph *g, int32_t u, uint32_t taken) {
  if (u == g->n_left) return 0;
  int64_t best = best_from(g, u + 1, taken);
  for (int64_t i = g->start[u]; i < g->start[u + 1]; i++) {
    if (taken >> g->to[i] & 1) continue;
    int64_t with = g->weight[i] + best_from(g, u + 1, taken | 1u << g->to[i]);
    if (with > best) best = with;
  }
  return best;
}

/* The weight of a matching; fails where it is none. */
static int64_t weight_of(const matching_graph *g, const int32_t *mate) {
  static int32_t holder[LARGE];
  int64_t weight = 0;
  for (int32_t v = 0; v < g->n_right; v++) holder[v] = -1;
  for (int32_t u = 0; u < g->n_left; u++) {
    if (mate[u] < 0) continue;
    int64_t heaviest = -1;
    for (int64_t i = g->start[u]; i < g->start[u + 1]; i++)
      if (g->to[i] == mate[u] && g->weight[i] > heaviest) heaviest = g->weight[i];
    assert_true(heaviest >= 0);
    assert_int_equal(holder[mate[u]], -1);
    holder[mate[u]] = u;
    weight += heaviest;
  }
  return weight;
}

TEST(it_is_the_heaviest_of_all_matchings) {
  OWN(arena) *a = arena_new();
  for (uint64_t seed = 1; seed <= 5000; seed++) {
    rng r = rng_new(seed);
    int32_t n = 1 + (int32_t)rng_below(&r, MAX_N), m = 1 + (int32_t)rng_below(&r, MAX_N), to[MAX_N * MAX_N],
            mate[MAX_N];
    int64_t start[MAX_N + 1] = {0}, weight[MAX_N * MAX_N],
                          range = seed % 3 == 0   ? 3
                                  : seed % 3 == 1 ? 20
                                                  : (int64_t)1 << 50;
    int64_t edges = 0;
    for (int32_t u = 0; u < n; u++) {
      for (int32_t v = 0; v < m; v++) {
        if (rng_below(&r, 3) == 0) continue;
        to[edges] = (int32_t)rng_below(&r, (uint64_t)m); /* an edge may come twice */
        weight[edges++] = (int64_t)rng_below(&r, (uint64_t)range);
      }
      start[u + 1] = edges;
    }
    matching_graph g = {n, m, start, to, weight};
    assert_true(matching_find(mate, &g, a));
    assert_int_equal(weight_of(&g, mate), best_from(&g, 0, 0));
  }
}

/* On a path 0 - 0 - 1 - 1 - ... of edges 2, 3, 2, 3, ... the edges of weight 3 win, and that is known from afar. */
TEST(it_turns_round_long_paths) {
  OWN(arena) *a = arena_new();
  static int32_t to[2 * LARGE], mate[LARGE];
  static int64_t start[LARGE + 1], weight[2 * LARGE];
  int64_t edges = 0;
  for (int32_t u = 0; u < LARGE; u++) {
    to[edges] = u;
    weight[edges++] = 2;
    if (u + 1 < LARGE) {
      to[edges] = u + 1;
      weight[edges++] = 3;
    }
    start[u + 1] = edges;
  }
  matching_graph g = {LARGE, LARGE, start, to, weight};
  assert_true(matching_find(mate, &g, a));
  /* LARGE - 1 edges of 3, or all LARGE of 2, or a mix with one edge less: the first is the most */
  assert_int_equal(weight_of(&g, mate), 3 * (LARGE - 1));
}

/* Where every weight is 1 the heaviest matching is a largest one: by augmenting paths without weights. */
static int32_t augments(const matching_graph *g, int32_t u, int32_t *mate_of, int32_t *seen, int32_t mark) {
  for (int64_t i = g->start[u]; i < g->start[u + 1]; i++) {
    int32_t v = g->to[i];
    if (seen[v] == mark) continue;
    seen[v] = mark;
    if (mate_of[v] >= 0 && !augments(g, mate_of[v], mate_of, seen, mark)) continue;
    mate_of[v] = u;
    return 1;
  }
  return 0;
}

TEST(with_equal_weights_it_is_a_largest_one) {
  OWN(arena) *a = arena_new();
  static int32_t to[LARGE_EDGES], mate[LARGE], mate_of[LARGE], seen[LARGE];
  static int64_t start[LARGE + 1], weight[LARGE_EDGES];
  for (uint64_t seed = 1; seed <= 5; seed++) {
    rng r = rng_new(seed);
    for (int64_t i = 0; i < LARGE_EDGES; i++) {
      to[i] = (int32_t)rng_below(&r, LARGE);
      weight[i] = 1;
    }
    for (int32_t u = 0; u <= LARGE; u++) start[u] = (int64_t)u * LARGE_EDGES / LARGE;
    matching_graph g = {LARGE, LARGE, start, to, weight};
    int64_t size = 0;
    for (int32_t v = 0; v < LARGE; v++) mate_of[v] = seen[v] = -1;
    for (int32_t u = 0; u < LARGE; u++) size += augments(&g, u, mate_of, seen, u);
    assert_true(matching_find(mate, &g, a));
    assert_int_equal(weight_of(&g, mate), size);
  }
}

TEST_MAIN
