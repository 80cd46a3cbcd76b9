/* Thin graphs and blocks, written a second time from what their headers say: cuts by all paths, ways over deleted
 * operators and tails by recursion. Every number has to be equal. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/rng.h"
#include "exact/block.h"
#include "view/unit.h"

enum { MAX_SIZE = 16 };

static lab draw(uint64_t seed) {
  lab_options o = {.seed = seed + 300,
                   .n_operators = 5 + (int32_t)(seed % (MAX_SIZE - 4)),
                   .n_devices = 2 + (int32_t)(seed % 3),
                   .density = 0.1 + 0.1 * (double)(seed % 4),
                   .n_colocations = (int32_t)(seed % 3),
                   .ways_differ = seed % 2,
                   .host_last = seed % 5 == 0,
                   .pinned = seed % 4 == 0,
                   .unsupported = seed % 3 == 0,
                   .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE}};
  return lab_random(&o);
}

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most_of(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t time_of(const situ_problem *p, int32_t v, int32_t d) {
  return problem_allows(p, v, d) ? least_of(problem_time_ns(p, v, d), THIN_FAR_NS) : THIN_FAR_NS;
}

static int64_t transfer_of(const situ_problem *p, int32_t t, int32_t m, int32_t w) {
  return m == w ? 0 : least_of(p->transfer_ns[t][p->costs->pair_kind[m * p->n_memories + w]], THIN_FAR_NS);
}

static bool uses(const situ_graph *g, int32_t x, int32_t t) {
  bool found = false;
  for (int64_t i = g->in_start[x]; i < g->in_start[x + 1]; i++) found |= g->in[i] == t;
  return found;
}

/* Whether there is a path from u to x; over those of `over` alone unless it is NULL. */
static bool leads(const situ_graph *g, int32_t u, int32_t x, const bool *over) {
  for (int64_t i = g->in_start[x]; i < g->in_start[x + 1]; i++) {
    int32_t y = g->producer[g->in[i]];
    if (y == u || ((!over || over[y]) && leads(g, u, y, over))) return true;
  }
  return false;
}

/* When tensor t, or what y hands to x as one unit, is in memory m; y ends at end_ns[memory]. */
static int64_t arrives(const situ_problem *p, int32_t t, int32_t x, int32_t m, const int64_t *end_ns) {
  int64_t least = THIN_FAR_NS;
  if (unit_joins(p, p->graph->producer[t], x)) return end_ns[m];
  for (int32_t k = 0; k < p->n_memories; k++) least = least_of(least, end_ns[k] + transfer_of(p, t, k, m));
  return least;
}

/* When all that comes to x from v, which ended at 0 in memory `from`, over deleted operators is in memory m; straight
 * from v as well unless `over`. */
static int64_t way_to(const situ_problem *p, const bool *deleted, int32_t v, int32_t from, int32_t x, int32_t m,
                      bool over) {
  const situ_graph *g = p->graph;
  int64_t latest = 0;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t y = g->producer[t];
    int64_t end_ns[8];
    if (!uses(g, x, t) || (y == v ? over : !deleted[y] || !leads(g, v, y, deleted))) continue;
    for (int32_t k = 0; k < p->n_memories; k++) {
      int64_t work = THIN_FAR_NS;
      for (int32_t d = 0; d < p->n_devices; d++)
        if (p->memory_of[d] == k) work = least_of(work, time_of(p, y, d));
      end_ns[k] = y == v ? (k == from ? 0 : THIN_FAR_NS)
                         : least_of(way_to(p, deleted, v, from, y, k, false) + work, THIN_FAR_NS);
    }
    latest = most_of(latest, arrives(p, t, x, m, end_ns));
  }
  return latest;
}

static void hold_ways(const thin_graph *g, const bool *deleted) {
  const situ_problem *p = g->problem;
  int32_t n_ways = 0, expected = 0;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    if (!g->transfer_ns[t]) continue;
    int32_t v = g->operator_of[g->producer[t]], x = g->operator_of[g->use[g->use_start[t]]];
    n_ways++;
    assert_int_equal(g->use_start[t + 1] - g->use_start[t], 1);
    for (int32_t m = 0; m < p->n_memories; m++)
      for (int32_t w = 0; w < p->n_memories; w++)
        assert_int_equal(g->transfer_ns[t][m * p->n_memories + w], way_to(p, deleted, v, m, x, w, true));
  }
  for (int32_t x = 0; x < p->n_operators; x++)
    for (int32_t v = 0; v < p->n_operators && !deleted[x]; v++) {
      bool over = false;
      for (int64_t i = p->graph->in_start[x]; i < p->graph->in_start[x + 1]; i++) {
        int32_t y = p->graph->producer[p->graph->in[i]];
        over |= deleted[y] && leads(p->graph, v, y, deleted);
      }
      expected += over && !deleted[v];
    }
  assert_int_equal(n_ways, expected);
}

static void hold_cuts(const thin_graph *g) {
  int32_t cut[MAX_SIZE], n = 0;
  OWN(arena) *a = arena_new();
  int32_t n_cuts = thin_cuts(cut, g, a);
  for (int32_t v = 0; v < g->n; v++) {
    bool all = true;
    for (int32_t x = 0; x < g->n; x++)
      all &= x == v || leads(g->problem->graph, g->operator_of[least_of(v, x)], g->operator_of[most_of(v, x)], NULL);
    if (!all) continue;
    assert_true(n < n_cuts);
    assert_int_equal(cut[n++], v);
  }
  assert_int_equal(n, n_cuts);
}

/* From the end of node v in memory m, over tensors of the thin graph to nodes up to `last`. */
static int64_t tail_of(const block *b, const thin_graph *g, const int64_t *behind_ns, int32_t v, int32_t d);

static int64_t over_tensor(const block *b, const thin_graph *g, const int64_t *behind_ns, int32_t t, int32_t m) {
  const situ_problem *p = g->problem;
  int64_t longest = 0;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    int64_t least = THIN_FAR_NS;
    if (g->use[i] < b->first || g->use[i] >= b->first + b->n) continue;
    for (int32_t e = 0; e < p->n_devices; e++) {
      int32_t w = p->memory_of[e];
      int64_t way =
          g->transfer_ns[t] ? g->transfer_ns[t][m * p->n_memories + w] : transfer_of(p, g->tensor_of[t], m, w);
      int64_t time = time_of(p, g->operator_of[g->use[i]], e);
      if (time < THIN_FAR_NS && way < THIN_FAR_NS)
        least = least_of(least, way + time + tail_of(b, g, behind_ns, g->use[i], e));
    }
    longest = most_of(longest, least);
  }
  return longest;
}

static int64_t tail_of(const block *b, const thin_graph *g, const int64_t *behind_ns, int32_t v, int32_t d) {
  const situ_problem *p = g->problem;
  int64_t longest = behind_ns[(v - b->first) * p->n_devices + d];
  if (time_of(p, g->operator_of[v], d) == THIN_FAR_NS) return THIN_FAR_NS;
  for (int32_t t = 0; t < g->n_tensors; t++)
    if (g->producer[t] == v) longest = most_of(longest, over_tensor(b, g, behind_ns, t, p->memory_of[d]));
  return least_of(longest, THIN_FAR_NS);
}

static void hold_tails(const block *b, const thin_graph *g, const int64_t *behind_ns) {
  const situ_problem *p = g->problem;
  int64_t longest = 0;
  for (int32_t i = 0; i < b->n; i++) {
    int64_t least = THIN_FAR_NS;
    for (int32_t d = 0; d < p->n_devices; d++) {
      int64_t tail = tail_of(b, g, behind_ns, b->first + i, d);
      assert_int_equal(b->tail_ns[i * p->n_devices + d], tail);
      least = least_of(least, time_of(p, b->operator_of[i], d) + tail);
    }
    longest = most_of(longest, least);
  }
  for (int32_t u = 0; u < b->first; u++)
    for (int32_t a = 0; a < p->n_devices; a++) {
      int64_t expected = longest;
      for (int32_t t = 0; t < g->n_tensors; t++)
        if (g->producer[t] == u) expected = most_of(expected, over_tensor(b, g, behind_ns, t, p->memory_of[a]));
      assert_int_equal(block_tail_before(b, u, a), expected);
    }
}

static void hold_blocks(const thin_graph *g, rng *r, arena *a) {
  block_machine m;
  block b;
  bool fits;
  int32_t n = g->problem->n_devices;
  int64_t behind_ns[MAX_SIZE * 8], end_ns[8];
  assert_true(block_machine_init(&m, g->problem, a));
  for (int32_t round = 0; round < 4 && g->n > 0; round++) {
    int32_t first = (int32_t)rng_below(r, g->n), last = first + (int32_t)rng_below(r, g->n - first);
    assert_true(block_take(&b, &fits, &m, g, first, last, a));
    for (int32_t d = 0; d < n; d++) end_ns[d] = rng_below(r, 60);
    for (int32_t i = 0; i < b.n * n; i++) behind_ns[i] = round < 2 && i / n == b.n - 1 ? end_ns[i % n] : 0;
    block_set_tails(&b, round < 2 ? end_ns : NULL);
    assert_int_equal(b.closed, round < 2);
    hold_tails(&b, g, behind_ns);
  }
}

TEST(numbers_are_those_of_the_definition) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(1000); seed++) {
    OWN(lab) l = draw(seed);
    OWN(arena) *a = arena_new();
    rng r = rng_new(seed);
    thin_graph whole, thin;
    bool deleted[MAX_SIZE] = {false};
    assert_true(thin_whole(&whole, l.problem, a));
    hold_cuts(&whole);
    hold_ways(&whole, deleted);
    hold_blocks(&whole, &r, a);
    for (int32_t v = 0; v < l.problem->n_operators; v++) deleted[v] = rng_below(&r, 3) == 0;
    assert_true(thin_delete(&thin, &whole, deleted, a));
    hold_cuts(&thin);
    hold_ways(&thin, deleted);
    hold_blocks(&thin, &r, a);
  }
}

TEST_MAIN
