/* Maximum flows against the minimum over all cuts. */
#include "../../lab/test.h"
#include "base/checked.h"
#include "base/max_flow.h"
#include "base/rng.h"

enum { MAX_N = 10, MAX_ARCS = 60 };

typedef struct network {
  int32_t n, n_arcs, from[MAX_ARCS], to[MAX_ARCS];
  int64_t capacity[MAX_ARCS];
} network;

/* Source 0 and sink 1; some arcs are endless, but none joins the two. */
static network draw(uint64_t seed) {
  rng r = rng_new(seed);
  network x = {.n = 2 + (int32_t)rng_below(&r, MAX_N - 1), .n_arcs = (int32_t)rng_below(&r, MAX_ARCS + 1)};
  int64_t scale = rng_below(&r, 2) ? 10 : (int64_t)1 << 50;
  for (int32_t k = 0; k < x.n_arcs; k++) {
    x.from[k] = (int32_t)rng_below(&r, x.n);
    x.to[k] = (x.from[k] + 1 + (int32_t)rng_below(&r, x.n - 1)) % x.n;
    bool inner = x.from[k] > 1 && x.to[k] > 1;
    x.capacity[k] = inner && rng_below(&r, 4) == 0 ? MAX_FLOW_ENDLESS : rng_below(&r, scale);
  }
  return x;
}

static __int128 capacity_of(const network *x, uint32_t side) {
  __int128 sum = 0;
  for (int32_t k = 0; k < x->n_arcs; k++)
    if (side >> x->from[k] & 1 && !(side >> x->to[k] & 1)) sum += x->capacity[k];
  return sum;
}

/* The smallest capacity of all cuts, and what all sides of cuts of this capacity have in common. */
static int64_t min_cut(const network *x, uint32_t *common) {
  __int128 min = -1;
  for (uint32_t side = 0; side < 1u << x->n; side++) {
    if (!(side & 1) || side & 2) continue;
    __int128 sum = capacity_of(x, side);
    if (min >= 0 && sum > min) continue;
    *common = sum == min ? *common & side : side;
    min = sum;
  }
  return (int64_t)min;
}

/* What flows in less what flows out; each arc carries at most its capacity. */
static void sum_flow(const max_flow *f, const network *x, const int32_t *arc, int64_t net[MAX_N]) {
  for (int32_t u = 0; u < x->n; u++) net[u] = 0;
  for (int32_t k = 0; k < x->n_arcs; k++) {
    int64_t on = max_flow_on(f, arc[k]);
    assert_true(on <= x->capacity[k]);
    net[x->from[k]] -= on;
    net[x->to[k]] += on;
  }
}

static int64_t solve(max_flow *f, const network *x, int32_t *arc, budget *b) {
  max_flow_clear(f, x->n);
  for (int32_t k = 0; k < x->n_arcs; k++) arc[k] = max_flow_add(f, x->from[k], x->to[k], x->capacity[k]);
  return max_flow_run(f, 0, 1, b);
}

TEST(flows_are_as_large_as_the_smallest_cut) {
  OWN(arena) *a = arena_new();
  max_flow f;
  assert_true(max_flow_new(&f, MAX_N, MAX_ARCS, a));
  for (uint64_t seed = 0; seed < 5000; seed++) {
    network x = draw(seed);
    int32_t arc[MAX_ARCS];
    int64_t net[MAX_N];
    uint32_t side = 0, common = 0;
    budget b = budget_new(0, 0, NULL, NULL);
    int64_t value = solve(&f, &x, arc, &b);
    assert_true(value == min_cut(&x, &common));
    sum_flow(&f, &x, arc, net);
    for (int32_t u = 0; u < x.n; u++) {
      assert_true(net[u] == (u == 0 ? -value : u == 1 ? value : 0));
      if (max_flow_with_source(&f, u)) side |= 1u << u;
    }
    assert_int_equal(side, common); /* the smallest side */
  }
}

static bool at_once(void *context) {
  (void)context;
  return true;
}

/* Where the budget ends, what was found is a flow all the same. */
TEST(a_flow_cut_short_is_a_flow) {
  OWN(arena) *a = arena_new();
  max_flow f;
  assert_true(max_flow_new(&f, MAX_N, MAX_ARCS, a));
  for (uint64_t seed = 0; seed < 500; seed++) {
    network x = draw(seed);
    int32_t arc[MAX_ARCS];
    int64_t net[MAX_N];
    uint32_t common = 0;
    budget b = budget_new(0, 0, at_once, NULL);
    int64_t value = solve(&f, &x, arc, &b);
    assert_true(value >= 0 && value <= min_cut(&x, &common));
    sum_flow(&f, &x, arc, net);
    for (int32_t u = 2; u < x.n; u++) assert_true(net[u] == 0);
    assert_true(net[1] == value);
  }
}

TEST_MAIN
