/* The exact search of a window: over a whole small graph it is brute force over devices and orders. */
#include "../../../lab/brute.h"
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "../../../lab/tier.h"
#include "solve/stream/window.h"

static int64_t keep_least(void *context, const window_schedule *found, int64_t upper_ns) {
  assert_true(found->value_ns < upper_ns);
  *(window_schedule *)context = *found;
  return found->value_ns;
}

static lab draw(uint64_t seed) {
  lab_options o = {.seed = seed,
                   .n_operators = 4 + (int32_t)(seed % 2),
                   .n_devices = 2 + (int32_t)(seed % 2),
                   .density = 0.15 + 0.1 * (double)(seed % 6),
                   .n_colocations = (int32_t)(seed % 2),
                   .pinned = seed % 3 == 0,
                   .unsupported = seed % 5 == 0,
                   .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE}};
  return lab_random(&o);
}

TEST(a_window_of_everything_is_solved_as_by_brute_force) {
  int32_t solved = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(2000); seed++) {
    OWN(lab) l = draw(seed);
    const situ_problem *p = l.problem;
    OWN(arena) *a = arena_new();
    strand_graph g;
    window *w = ARENA_NEW(a, window, 1);
    int32_t strand[8];
    for (int32_t u = 0; u < 8; u++) strand[u] = u;
    assert_true(strand_graph_find(&g, p, STRANDS_FINE, a));
    assert_true(window_take(w, p, &g, strand, g.n));
    window_schedule best = {.value_ns = SITU_NEVER_NS};
    int64_t nodes, optimum = brute_force(p, NULL);
    assert_true(window_search(w, WINDOW_FAR_NS, INT64_MAX, keep_least, &best, &nodes, a));
    if (g.n == p->n_operators) { /* strands of one operator: no chain was fused */
      if (best.value_ns != optimum)
        fail_msg("seed %d: the optimum is %lld, found %lld", (int)seed, (long long)optimum, (long long)best.value_ns);
      solved++;
    }
    assert_true(best.value_ns >= optimum);
    if (best.value_ns < SITU_NEVER_NS) { /* the schedule is what it says */
      simulator *s = simulator_new(p, a);
      int32_t device[8], order[8], n = 0;
      for (int32_t i = 0; i < g.n; i++)
        for (int32_t k = g.member_start[best.sequence[i]]; k < g.member_start[best.sequence[i] + 1]; k++) {
          order[n++] = g.member[k];
          device[g.member[k]] = best.device[best.sequence[i]];
        }
      assert_int_equal(simulator_run(s, &(placement){.device = device, .order = order}, false).value_ns, best.value_ns);
    }
  }
  assert_true(solved > rounds_of(1000));
}

/* Device 0 is busy to 10, device 1 to 0; the strand takes 4 on either; from its end it takes 9 on 0 and 17 on 1. */
TEST(a_context_moves_the_choice) {
  OWN(lab) l = draw(2);
  window w = {.problem = l.problem, .n = 1, .n_devices = 2, .group = {-1}};
  w.time_ns[0][0] = w.time_ns[0][1] = 4;
  w.free_ns[0] = 10;
  w.leave_ns[0][0] = 9;
  w.leave_ns[0][1] = 17;
  for (int32_t m = 0; m < WINDOW_DEVICES; m++) w.room_bytes[m] = INT64_MAX;
  OWN(arena) *a = arena_new();
  window_schedule best;
  int64_t nodes;
  assert_true(window_search(&w, WINDOW_FAR_NS, INT64_MAX, keep_least, &best, &nodes, a));
  assert_int_equal(best.value_ns, 21); /* 0 + 4 + 17, not 10 + 4 + 9 */
  assert_int_equal(best.device[0], 1);
  w.after_ns[1] = 30; /* device 1 has a lot to do afterwards: 4 + 30 against 10 + 4 + 9, 0 + 30 */
  assert_true(window_search(&w, WINDOW_FAR_NS, INT64_MAX, keep_least, &best, &nodes, a));
  assert_int_equal(best.device[0], 0);
  assert_int_equal(best.value_ns, 30);
  w.weight_bytes[0] = 5;
  w.room_bytes[l.problem->memory_of[0]] = 4;
  best.device[0] = -1;
  assert_true(window_search(&w, WINDOW_FAR_NS, INT64_MAX, keep_least, &best, &nodes, a));
  assert_int_equal(best.device[0], l.problem->memory_of[0] == l.problem->memory_of[1] ? -1 : 1);
}

/* The same window later in time, with a longer way to the end, has the same signature. */
TEST(windows_that_differ_by_a_shift_are_alike) {
  OWN(lab) l = draw(4);
  window w = {.problem = l.problem, .n = 1, .n_devices = 2, .group = {-1}};
  static uint8_t one[WINDOW_SIGNATURE], other[WINDOW_SIGNATURE];
  for (int32_t d = 0; d < 2; d++) {
    w.time_ns[0][d] = 3 + d;
    w.arrive_ns[0][d] = 5 + d;
    w.leave_ns[0][d] = 7 * d;
  }
  size_t n = window_signature(&w, one);
  w.free_ns[0] = 2; /* before any input is there */
  for (int32_t d = 0; d < 2; d++) {
    w.arrive_ns[0][d] += 100;
    w.leave_ns[0][d] += 50;
  }
  assert_int_equal(window_signature(&w, other), n);
  assert_memory_equal(one, other, n);
  w.leave_ns[0][1]++;
  window_signature(&w, other);
  assert_true(memcmp(one, other, n) != 0);
}

TEST_MAIN
