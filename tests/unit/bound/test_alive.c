/* Tensors that are certain to be in memory: by hand, and by a second implementation from docs/theory/bounds/alive.md.
 */
#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "bound/alive.h"
#include "bound/bound.h"
#include "view/footprint.h"

/* a -> b -> c, and backward x of c, y of b, z of a; b and y are one group. Tensors, bytes in brackets: a makes p [40]
 * for b and y, b makes q [7] for c, c makes r [5] for x, x makes s [3] for y, y makes t [2] for z. Each takes 10 ns.
 * While c runs, the group {b, y} has read p and has yet to read it: 40 bytes. q is on its way, and c holds it while it
 * runs: c has it before (it is c itself) and behind, so 7 bytes with c. r is made by c and read by x, another unit: not
 * certain. */
static lab posed_step(int64_t bytes, int64_t weights_of_c, const situ_problem_options *options) {
  lab s = lab_mesh(2, bytes);
  const char *names[] = {"a", "b", "c", "x", "y", "z"};
  for (int32_t v = 0; v < 6; v++)
    lab_add(&s,
            (situ_operator){.name = names[v],
                            .source_id = -1,
                            .colocation = v == 1 || v == 4 ? 0 : -1,
                            .weight_bytes = v == 1   ? 4
                                            : v == 2 ? weights_of_c
                                                     : 0},
            10);
  lab_tensor(&s, 0, 40, 1, 4, -1);
  lab_tensor(&s, 1, 7, 2, -1);
  lab_tensor(&s, 2, 5, 3, -1);
  lab_tensor(&s, 3, 3, 4, -1);
  lab_tensor(&s, 4, 2, 5, -1);
  lab_pose(&s, options);
  return s;
}

static lab step(int64_t bytes) { return posed_step(bytes, 0, NULL); }

TEST(what_a_unit_has_read_and_will_read_again_is_certain) {
  OWN(lab) s = step(1000);
  const situ_problem *p = s.problem;
  int64_t bytes[6];
  assert_int_equal(p->units.n, 5);
  assert_true(alive_bytes(bytes, p, 2, s.arena));
  for (int32_t u = 0; u < 5; u++) assert_int_equal(bytes[u], u == p->units.of[1] ? 40 : u == p->units.of[2] ? 7 : 0);
  /* While y runs: p, which b has read and y reads, and s, which y reads: 43. t is made by y for another unit. */
  assert_true(alive_bytes(bytes, p, 4, s.arena));
  for (int32_t u = 0; u < 5; u++) assert_int_equal(bytes[u], u == p->units.of[1] ? 43 : 0);
}

/* The group needs 4 + 40 bytes while c runs; 4 + 40 + 7 while b does, and 4 + 40 + 3 + 2 while y does: b needs the
 * most. */
TEST(a_unit_has_no_room_where_that_is_too_much) {
  for (int64_t room = 50; room <= 51; room++) {
    OWN(lab) s = step(room);
    bool may[12], fewer;
    assert_true(alive_rooms(may, &fewer, s.problem, 2, s.arena));
    assert_int_equal(fewer, room < 51);
    for (int32_t i = 0; i < 12; i++) assert_int_equal(may[i], room >= 51 || (i / 2 != 1 && i / 2 != 4));
  }
}

/* With 50 bytes the group is nowhere, and critical_path says so: its certificate names an instant. With 51 six
 * operators of 10 ns follow one another. */
TEST(without_room_there_is_no_plan) {
  for (int64_t room = 50; room <= 51; room++) {
    OWN(lab) s = step(room);
    certificate proof;
    int64_t lower = proved_bound(&proof, &critical_path_bound, s.problem, s.arena);
    assert_int_equal(lower, room < 51 ? SITU_NEVER_NS : 60);
    assert_int_equal(certificate_size(&proof, "instant"), room < 51);
  }
}

/* An operator that may take no time has no instant inside. */
TEST(an_instant_lies_within_an_operator) {
  OWN(lab) s = step(1000);
  int64_t bytes[6];
  s.costs->time_ns[2 * s.costs->n_classes] = 0;
  assert_true(alive_bytes(bytes, s.problem, 2, s.arena));
  for (int32_t u = 0; u < 5; u++) assert_int_equal(bytes[u], 0);
}

/* Ten forward operators, each with its backward one in a group, which reads 7 bytes of it: 100 ns each on a host
 * without limit, 1 on a device with 21 bytes. With one input in flight that has room for three of ten groups, so the
 * host works at least 7 * 200 ns; with two, for one and a half, 10 * 200 - 1.5 * 200 = 1700. */
TEST(the_stash_of_a_pipeline_counts_with_its_weights) {
  for (int32_t in_flight = 1; in_flight <= 2; in_flight++) {
    OWN(lab) s = lab_new();
    lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
    lab_device(&s, 21, -1, false);
    lab_star(&s);
    for (int32_t v = 0; v < 20; v++) {
      lab_of_phase(&s, "", 100, v % 2 ? SITU_PHASE_BACKWARD : SITU_PHASE_FORWARD, v / 2);
      s.time_ns[v][1] = 1;
      if (v % 2) lab_tensor(&s, v - 1, 7, v, -1);
    }
    lab_pose(&s,
             &(situ_problem_options){
                 .execution = SITU_EXECUTION_PIPELINE, .objective = SITU_OBJECTIVE_THROUGHPUT, .in_flight = in_flight});
    certificate proof;
    int64_t lower = proved_bound(&proof, &area_bound, s.problem, s.arena), most = in_flight == 1 ? 1400 : 1700;
    assert_in_range(lower, most - 20, most);
    assert_true(proved_by(s.problem, &proof) == lower);
  }
}

/* ---- a second implementation ---- */

static bool leads(const situ_graph *g, int32_t u, int32_t x) {
  for (int64_t i = g->in_start[x]; i < g->in_start[x + 1]; i++)
    if (g->producer[g->in[i]] == u || leads(g, u, g->producer[g->in[i]])) return true;
  return false;
}

static bool is_before(const situ_graph *g, int32_t v, int32_t at) { return v == at || leads(g, v, at); }

static bool has_instant(const situ_problem *p, int32_t at) {
  for (int32_t d = 0; d < p->n_devices; d++)
    if (problem_allows(p, at, d) && problem_time_ns(p, at, d) == 0) return false;
  return true;
}

/* The first reader of t, of unit u, that is behind `at`, where the unit is certain to hold t; -1. */
static int32_t first_behind(const situ_problem *p, int32_t at, int32_t t, int32_t u) {
  const situ_graph *g = p->graph;
  int32_t made = g->producer[t], first = -1;
  bool had = p->units.of[made] == u && is_before(g, made, at);
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    if (p->units.of[g->use[i]] != u) continue;
    had |= is_before(g, g->use[i], at);
    if (is_before(g, at, g->use[i]) && (first < 0 || g->use[i] < first)) first = g->use[i];
  }
  return had ? first : -1;
}

/* With `once` each tensor counts with one unit. */
static int64_t bytes_of(const situ_problem *p, int32_t at, int32_t u, bool once) {
  const situ_graph *g = p->graph;
  int64_t sum = 0;
  for (int32_t t = 0; t < g->n_tensors && has_instant(p, at); t++) {
    int32_t own = first_behind(p, at, t, u), made = g->producer[t];
    if (g->use_start[t] == g->use_start[t + 1] && p->units.of[made] == u && is_before(g, made, at))
      sum += g->size_bytes[t];
    for (int32_t other = 0; once && own >= 0 && other < p->units.n; other++) {
      int32_t theirs = first_behind(p, at, t, other);
      if (theirs >= 0 && theirs < own) own = -1;
    }
    if (own >= 0) sum += g->size_bytes[t];
  }
  return sum;
}

static bool has_room(const situ_problem *p, int32_t at, int32_t u, int32_t d) {
  const situ_graph *g = p->graph;
  int64_t weights = 0, running = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    if (p->units.of[v] != u) continue;
    weights += g->weight_bytes[v];
    if (problem_time_ns(p, v, d) > 0 && footprint_bytes(g, v) > running) running = footprint_bytes(g, v);
  }
  int64_t certain = bytes_of(p, at, u, false), capacity = p->platform->memory_bytes[p->memory_of[d]];
  return weights + certain <= capacity && weights + running <= capacity;
}

static void judge_instant(const situ_problem *p, int32_t at, uint64_t seed, arena *a) {
  int64_t *bytes = arena_zero(a, p->units.n, sizeof *bytes);
  bool *may = arena_zero(a, (int64_t)p->n_operators * p->n_devices, sizeof *may), fewer, lost = false;
  assert_true(alive_bytes(bytes, p, at, a) && alive_rooms(may, &fewer, p, at, a));
  for (int32_t u = 0; u < p->units.n; u++)
    if (bytes[u] != bytes_of(p, at, u, true)) fail_msg("seed %d: unit %d while %d runs", (int)seed, (int)u, (int)at);
  for (int32_t v = 0; v < p->n_operators; v++)
    for (int32_t d = 0; d < p->n_devices; d++) {
      bool fits = has_room(p, at, p->units.of[v], d), allowed = problem_allows(p, v, d);
      lost |= allowed && !fits;
      if (may[v * p->n_devices + d] != (allowed && fits))
        fail_msg("seed %d: operator %d on device %d while %d runs", (int)seed, (int)v, (int)d, (int)at);
    }
  assert_int_equal(fewer, lost);
}

TEST(what_is_certain_follows_from_its_definition) {
  int32_t rounds = rounds_of(1000);
  for (uint64_t seed = 0; seed < (uint64_t)rounds; seed++) {
    OWN(arena) *a = arena_new();
    OWN(lab)
    l = lab_random(&(lab_options){.seed = seed + 900,
                                  .n_operators = 3 + (int32_t)(seed % 9),
                                  .n_devices = 2 + (int32_t)(seed % 3),
                                  .density = 0.15 + 0.1 * (double)(seed % 4),
                                  .n_colocations = (int32_t)(seed % 4),
                                  .training = seed % 5 == 0,
                                  .pinned = seed % 7 == 0,
                                  .unsupported = seed % 6 == 0,
                                  .memory = 0.2 + 0.1 * (double)(seed % 5),
                                  .host_memory = seed % 2 ? 0.6 : 0,
                                  .options = {.execution = SITU_EXECUTION_STREAM}});
    for (int32_t at = 0; at < l.problem->n_operators; at++) judge_instant(l.problem, at, seed, a);
  }
}

/* A training step: operators in a row, then backward ones, each of which reads tensors of forward ones of its group,
 * the last ones first. What is certain to be in memory grows up to the last forward operator and falls from the first
 * backward one on, so closer and closer probes find the most. Some operators take no time and are no instants. */
TEST(the_fullest_instant_of_a_step_is_found) {
  for (uint64_t seed = 0; seed < 60; seed++) {
    rng r = rng_new(seed);
    bool many_forward = seed % 2;
    int32_t n = 1 + (int32_t)(seed % 12), each = 1 + (int32_t)rng_below(&r, 4), n_forward = many_forward ? n * each : n;
    int32_t all = n + n * each;
    OWN(lab) s = lab_mesh(2, 1);
    for (int32_t v = 0; v < all; v++) {
      int32_t forward = v < n_forward, from_peak = forward ? n_forward - 1 - v : v - n_forward;
      int32_t group = from_peak / (forward == many_forward ? each : 1);
      lab_of_phase(&s, "", from_peak > 1 && rng_below(&r, 4) == 0 ? 0 : 10,
                   forward ? SITU_PHASE_FORWARD : SITU_PHASE_BACKWARD, group);
    }
    for (int32_t v = 0; v + 1 < all; v++) lab_tensor(&s, v, 0, v + 1, -1);
    for (int32_t k = 0; k < n * each; k++) {
      int32_t f = n_forward - 1 - (many_forward ? k : k / each), b = n_forward + (many_forward ? k / each : k);
      lab_tensor(&s, f, 2 + rng_below(&r, 9), b, -1);
    }
    lab_pose(&s, NULL);
    int64_t most = 0, found = 0;
    int32_t at;
    for (int32_t v = 0; v < all; v++) {
      int64_t sum = 0;
      for (int32_t u = 0; u < s.problem->units.n; u++) sum += bytes_of(s.problem, v, u, true);
      if (sum > most) most = sum;
    }
    assert_true(alive_find(&at, s.problem, s.arena));
    for (int32_t u = 0; u < s.problem->units.n; u++) found += bytes_of(s.problem, at, u, true);
    if (found != most)
      fail_msg("seed %d: %lld bytes at %d, not %lld", (int)seed, (long long)found, (int)at, (long long)most);
  }
}

/* The judge adds up the same. b and c are pinned to the first device, c with 10 bytes of weights: while c runs there
 * are 4 + 40 and 10 + 7 = 61 bytes for sure, though no operator alone needs more than 51. */
TEST(the_judge_counts_what_a_unit_has_read) {
  const int32_t pins[] = {-1, 0, 0, -1, -1, -1};
  const situ_problem_options pinned = {.size = sizeof pinned, .pins = pins};
  for (int64_t room = 60; room <= 61; room++) {
    OWN(lab) s = posed_step(room, 10, &pinned);
    certificate c = proved_lists("area_price", "time_prices 0 0; byte_prices 1 0; instant 2", s.arena);
    assert_true(proved_by(s.problem, &c) == (room < 61 ? SITU_NEVER_NS : 0));
  }
}

/* b has room nowhere in 50 bytes: then there is no plan, whatever the prices are. */
TEST(the_judge_sees_that_a_unit_has_no_room) {
  for (int64_t room = 50; room <= 51; room++) {
    OWN(lab) s = step(room);
    certificate c = proved_lists("area_price", "time_prices 0 0; byte_prices 0 0; instant 2", s.arena);
    assert_true(proved_by(s.problem, &c) == (room < 51 ? SITU_NEVER_NS : 0));
  }
}

TEST_MAIN
