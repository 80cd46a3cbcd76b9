/* Parted hypergraphs against the simulator, move by move, and what coarsening keeps. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "base/rng.h"
#include "sim/simulate.h"
#include "solve/pipeline/coarsen.h"
#include "solve/pipeline/partition.h"

static lab draw_lab_of(uint64_t seed, rng *r, int32_t max_devices, situ_communication communication) {
  lab_options o = {.seed = seed,
                   .n_operators = (int32_t)(2 + rng_below(r, 20)),
                   .n_devices = (int32_t)(2 + rng_below(r, max_devices - 1)),
                   .density = 0.1 + 0.5 * rng_unit(r),
                   .n_colocations = (int32_t)rng_below(r, 4),
                   .training = rng_below(r, 3) == 0,
                   .pinned = rng_below(r, 4) == 0,
                   .unsupported = rng_below(r, 3) == 0,
                   .memory = rng_below(r, 2) ? 0.1 + 0.6 * rng_unit(r) : 0,
                   .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                               .communication = communication,
                               .free = true,
                               .async_copies = rng_below(r, 3) == 0,
                               .in_flight = (int32_t)rng_below(r, 3)}};
  return lab_random(&o);
}

static lab draw_lab(uint64_t seed, rng *r) { return draw_lab_of(seed, r, 6, SITU_COMMUNICATION_HOST_STAGED); }

static bool draw_devices(const hypergraph *h, rng *r, int32_t *device) {
  for (int32_t u = 0; u < h->n_units; u++) {
    device[u] = (int32_t)rng_below(r, h->n_devices);
    for (int32_t k = 0; k < h->n_devices && !partition_allows(h, u, device[u]); k++)
      device[u] = (device[u] + 1) % h->n_devices;
    if (!partition_allows(h, u, device[u])) return false;
  }
  return true;
}

static void expect_as_simulated(const partition *s, simulator *judge, int32_t *device, uint64_t seed) {
  const situ_problem *p = s->h->problem;
  for (int32_t v = 0; v < p->n_operators; v++) device[v] = s->device[s->h->unit_of[v]];
  simulation found = simulator_run(judge, &(placement){.device = device}, true);
  if (found.value_ns != partition_period(s)) fail_msg("seed %d: period", (int)seed);
  int64_t excess_bytes = 0;
  for (int32_t d = 0; d < p->n_devices; d++) excess_bytes += partition_excess(s, d, &s->sums[d]);
  if (found.excess_bytes != excess_bytes) fail_msg("seed %d: excess", (int)seed);
  for (int32_t d = 0; d < p->n_devices; d++)
    if (found.load_ns[d] != partition_load(s, &s->sums[d])) fail_msg("seed %d: load of device %d", (int)seed, (int)d);
}

/* A weighed move must make of its devices what a simulation finds; then it is made. */
static int walk(const hypergraph *h, simulator *judge, rng *r, arena *a, uint64_t seed) {
  enum { MOVES = 40 };
  partition s;
  int32_t *device = ARENA_NEW(a, int32_t, h->problem->n_operators), *start = ARENA_NEW(a, int32_t, h->n_units);
  int n_moves = 0;
  assert_true(partition_init(&s, h, a));
  if (!draw_devices(h, r, start)) return 0;
  partition_set(&s, start);
  expect_as_simulated(&s, judge, device, seed);
  for (int k = 0; k < MOVES; k++) {
    int32_t u = (int32_t)rng_below(r, h->n_units), to = (int32_t)rng_below(r, h->n_devices), from = s.device[u];
    if (to == from || !partition_allows(h, u, to)) continue;
    partition_change change;
    partition_weigh(&s, u, to, &change);
    partition_move(&s, u, to, &change);
    expect_as_simulated(&s, judge, device, seed);
    n_moves++;
  }
  return n_moves;
}

TEST(moves_change_loads_and_memory_as_the_simulator_says) {
  int n_moves = 0;
  for (uint64_t seed = 1; seed <= 3000; seed++) {
    rng r = rng_new(seed);
    OWN(lab) l = draw_lab(seed, &r);
    if (hypergraph_serves(l.problem) && !l.problem->conflict) {
      OWN(arena) *a = arena_new();
      hypergraph h;
      assert_true(hypergraph_find(&h, l.problem, seed % 2, a)); /* whether equal edges are merged changes no load */
      assert_true(hypergraph_fits(&h));
      n_moves += walk(&h, simulator_new(l.problem, a), &r, a, seed);
    }
  }
  print_message("%d moves\n", n_moves);
  assert_true(n_moves > 10000);
}

TEST(coarse_partitions_are_worth_what_fine_ones_are) {
  int n_moves = 0;
  for (uint64_t seed = 1; seed <= 1000; seed++) {
    rng r = rng_new(seed);
    OWN(lab) l = draw_lab(seed, &r);
    OWN(arena) *a = arena_new();
    hypergraph fine, coarse;
    if (hypergraph_serves(l.problem) && !l.problem->conflict) {
      assert_true(hypergraph_find(&fine, l.problem, true, a));
      int32_t *into = ARENA_NEW(a, int32_t, fine.n_units), *label = ARENA_NEW(a, int32_t, fine.n_units);
      for (int32_t u = 0; u < fine.n_units; u++) label[u] = (int32_t)rng_below(&r, 2);
      coarsen_rules rules = {
          .n_wanted = fine.n_units / 2, .max_time_ns = 1e9, .label = rng_below(&r, 2) ? label : NULL};
      int32_t n = coarsen_units(into, &fine, &rules, &r, a);
      assert_in_range(n, 1, fine.n_units);
      for (int32_t u = 0; u < fine.n_units; u++)
        for (int32_t w = 0; w < u && rules.label; w++)
          if (into[u] == into[w]) assert_int_equal(label[u], label[w]);
      assert_true(hypergraph_merge(&coarse, &fine, into, n, a));
      n_moves += walk(&coarse, simulator_new(l.problem, a), &r, a, seed);
    }
  }
  assert_true(n_moves > 3000);
}

/* Every cluster must have a device on which all its members may run. */
TEST(clusters_can_be_placed) {
  for (uint64_t seed = 1; seed <= 1000; seed++) {
    rng r = rng_new(seed);
    OWN(lab) l = draw_lab(seed, &r);
    OWN(arena) *a = arena_new();
    hypergraph fine, coarse;
    if (hypergraph_serves(l.problem) && !l.problem->conflict) {
      assert_true(hypergraph_find(&fine, l.problem, true, a));
      int32_t *into = ARENA_NEW(a, int32_t, fine.n_units), *device = ARENA_NEW(a, int32_t, fine.n_units);
      int32_t n = coarsen_units(into, &fine, &(coarsen_rules){.n_wanted = 1, .max_time_ns = 1e9}, &r, a);
      assert_true(hypergraph_merge(&coarse, &fine, into, n, a));
      if (draw_devices(&fine, &r, device)) assert_true(draw_devices(&coarse, &r, device));
    }
  }
}

/* A device pays what the slowest channel that all its ways cross takes; channels may have more to do, by ways of
 * others. Between two memories there are no others: where each direction has channels of its own nothing is left out.
 */
TEST(loads_by_links_are_those_of_the_simulator_or_less) {
  int n_seen = 0, n_two = 0, n_equal = 0;
  for (uint64_t seed = 1; seed <= 3000; seed++) {
    rng r = rng_new(seed);
    OWN(lab) l = draw_lab_of(seed, &r, seed % 2 ? 2 : 6, SITU_COMMUNICATION_LINK);
    const situ_problem *p = l.problem;
    if (hypergraph_serves_links(p) && !p->conflict) {
      OWN(arena) *a = arena_new();
      hypergraph h;
      partition s;
      assert_true(hypergraph_find(&h, p, seed % 4 < 2, a) && partition_init(&s, &h, a));
      int32_t *device = ARENA_NEW(a, int32_t, p->n_operators), *start = ARENA_NEW(a, int32_t, h.n_units);
      if (draw_devices(&h, &r, start)) {
        partition_set(&s, start);
        for (int32_t v = 0; v < p->n_operators; v++) device[v] = start[h.unit_of[v]];
        simulation found = simulator_run(simulator_new(p, a), &(placement){.device = device}, true);
        if (partition_period(&s) > found.value_ns) fail_msg("seed %d: period", (int)seed);
        int64_t excess_bytes = 0;
        for (int32_t d = 0; d < p->n_devices; d++) excess_bytes += partition_excess(&s, d, &s.sums[d]);
        if (found.excess_bytes != excess_bytes) fail_msg("seed %d: excess", (int)seed);
        n_seen++;
        n_two += p->n_devices == 2;
        n_equal += p->n_devices == 2 && partition_period(&s) == found.value_ns;
      }
    }
  }
  print_message("%d by links, %d of two devices, %d of these exact\n", n_seen, n_two, n_equal);
  assert_true(n_seen > 500 && n_two > 200);
  assert_int_equal(n_equal, n_two);
}

TEST_MAIN
