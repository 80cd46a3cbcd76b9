/* The stream model: schedules worked out by hand, and a naive simulator on random problems. */
#include "naive_stream.h"

static const situ_problem_options contended = {.size = sizeof(situ_problem_options),
                                               .execution = SITU_EXECUTION_STREAM};
static const situ_problem_options uncontended = {
    .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE};

static int64_t value_of(lab *s, int32_t *device, int32_t *order) {
  return simulator_run(s->simulator, &(placement){.device = device, .order = order}, false).value_ns;
}

/* A star: d1 and d2 are linked to d0; every link takes 1 ns a byte. */
static void star(lab *s, int64_t memory_bytes) {
  lab_device(s, memory_bytes, -1, true);
  lab_device(s, memory_bytes, -1, false);
  lab_device(s, memory_bytes, -1, false);
  for (int32_t d = 1; d < 3; d++) {
    lab_link(s, 0, d, 0, -1);
    lab_link(s, d, 0, 0, -1);
  }
}

/*  d0  a aa            a: 2 ns, tensor of 3 bytes for b and c on d1, sent once
 *  ->      aaa         d1 has it at 5: b 5..9, c 9..10
 *  d1         bbbb c                                                                                              */
TEST(a_tensor_is_sent_once_and_stays) {
  for (int link = 0; link < 2; link++) {
    lab s = lab_new();
    star(&s, SITU_UNLIMITED_BYTES);
    int32_t a = lab_operator(&s, "a", 2, 0, 0), b = lab_operator(&s, "b", 4, 0, 0);
    int32_t c = lab_operator(&s, "c", 1, 0, 0);
    lab_tensor(&s, a, 3, b, c, -1);
    lab_pose(&s, link ? &contended : &uncontended);
    int32_t device[] = {0, 1, 1};
    simulation found = simulator_run(s.simulator, &(placement){.device = device}, false);
    assert_int_equal(found.value_ns, 10);
    assert_int_equal(found.start_ns[1], 5);
    assert_int_equal(found.start_ns[2], 9);
    assert_int_equal(found.load_ns[0], 2);
    assert_int_equal(found.load_ns[1], 5);
    assert_int_equal(found.worst_device, 1);
    lab_free(&s);
  }
}

/* Two operators that take no time end at 0, the first of them on d1. */
TEST(the_first_of_those_that_take_no_time_ends_last) {
  lab s = lab_new();
  star(&s, SITU_UNLIMITED_BYTES);
  lab_operator(&s, "a", 0, 0, 0);
  lab_operator(&s, "b", 0, 0, 0);
  lab_pose(&s, &uncontended);
  simulation found = simulator_run(s.simulator, &(placement){.device = (int32_t[]){1, 2}}, false);
  assert_int_equal(found.value_ns, 0);
  assert_int_equal(found.worst_device, 1);
  lab_free(&s);
}

/* a on d1 (1 ns) sends 4 bytes to d2 by way of d0: 1..5, 5..9; a second tensor of 2 bytes follows on the first link
 * 5..7, waits for nothing, and leaves d0 after the first one: 9..11. b needs both: 11..12. Without contention both
 * leave at 1: 9 and 5, b 9..10. */
TEST(hops_follow_one_another_and_queue) {
  int64_t expected[] = {10, 12};
  for (int link = 0; link < 2; link++) {
    lab s = lab_new();
    star(&s, SITU_UNLIMITED_BYTES);
    int32_t a = lab_operator(&s, "a", 1, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
    lab_tensor(&s, a, 4, b, -1);
    lab_tensor(&s, a, 2, b, -1);
    lab_pose(&s, link ? &contended : &uncontended);
    int32_t device[] = {1, 2};
    assert_int_equal(value_of(&s, device, NULL), expected[link]);
    lab_free(&s);
  }
}

/* a on d0 and b on d1 end at 1; both links out share one channel. The tensor of a has the lower number, so it goes
 * first: a to d2 1..4, b to d2 4..9. c (needs a) 4..5, d (needs b) 9..10. */
TEST(ties_for_a_channel_go_by_tensor) {
  lab s = lab_new();
  for (int d = 0; d < 3; d++) lab_device(&s, SITU_UNLIMITED_BYTES, -1, d == 0);
  for (int32_t from = 0; from < 3; from++)
    for (int32_t to = 0; to < 3; to++)
      if (from != to) lab_link(&s, from, to, 0, 7);
  int32_t a = lab_operator(&s, "a", 1, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
  int32_t c = lab_operator(&s, "c", 1, 0, 0), d = lab_operator(&s, "d", 1, 0, 0);
  lab_tensor(&s, a, 3, c, -1);
  lab_tensor(&s, b, 5, d, -1);
  lab_pose(&s, &contended);
  int32_t device[] = {0, 1, 2, 2}, order[] = {1, 0, 2, 3};
  simulation found = simulator_run(s.simulator, &(placement){.device = device, .order = order}, false);
  assert_int_equal(found.start_ns[2], 4);
  assert_int_equal(found.start_ns[3], 9);
  assert_int_equal(found.value_ns, 10);
  lab_free(&s);
}

/* One tensor of 2 bytes for d2 and d1 on one channel: the lower memory first, whatever the order of its users. */
TEST(ties_of_one_tensor_go_by_destination) {
  lab s = lab_new();
  for (int d = 0; d < 3; d++) lab_device(&s, SITU_UNLIMITED_BYTES, -1, d == 0);
  for (int32_t d = 1; d < 3; d++) {
    lab_link(&s, 0, d, 0, 1);
    lab_link(&s, d, 0, 0, -1);
  }
  int32_t a = lab_operator(&s, "a", 0, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
  int32_t c = lab_operator(&s, "c", 1, 0, 0);
  lab_tensor(&s, a, 2, b, c, -1);
  lab_pose(&s, &contended);
  int32_t device[] = {0, 2, 1};
  simulation found = simulator_run(s.simulator, &(placement){.device = device}, false);
  assert_int_equal(found.start_ns[2], 2);
  assert_int_equal(found.start_ns[1], 4);
  lab_free(&s);
}

/* z0 -> z1 -> ... -> z9, no times, no bytes, alternating between devices, then one operator of 5 ns. An operator of
 * d0 that ends at 0 after all of them still shares the instant: its tensor of 3 bytes has the lower number than that
 * of z9, so it takes the link first. */
TEST(chains_without_duration_are_followed_to_their_end) {
  lab s = lab_new();
  star(&s, SITU_UNLIMITED_BYTES);
  int32_t early = lab_operator(&s, "early", 0, 0, 0), z[10];
  for (int i = 0; i < 10; i++) z[i] = lab_operator(&s, NULL, 0, 0, 0);
  int32_t last = lab_operator(&s, "last", 5, 0, 0), other = lab_operator(&s, "other", 1, 0, 0);
  lab_tensor(&s, early, 3, other, -1);
  for (int i = 0; i < 9; i++) lab_tensor(&s, z[i], 0, z[i + 1], -1);
  lab_tensor(&s, z[9], 2, last, -1);
  lab_pose(&s, &contended);
  int32_t device[13], order[13] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 11, 12};
  for (int i = 0; i < 13; i++) device[i] = 0;
  for (int i = 0; i < 10; i += 2) device[z[i]] = 1;
  device[last] = device[other] = 1;
  simulation found = simulator_run(s.simulator, &(placement){.device = device, .order = order}, false);
  assert_int_equal(found.start_ns[last], 5); /* 3 bytes, then 2 */
  assert_int_equal(found.value_ns, 11);
  lab_free(&s);
}

/* d0 has room for weights and all. a (weight 10, workspace 4, 2 ns) makes 3 bytes for b on d0 and c on d1.
 *   d0: weights 10 + 1 (b)   0..2  a: workspace 4, tensor 3 -> 18
 *                            2..6  b: workspace 5, tensor 3; its result of 2 bytes -> 11 + 5 + 3 + 2 = 21
 *                            6..   result 2 -> 13 (and the tensor left at 5, when its transfer ended)
 *   d1: weight 7 (c)         2..5  the tensor on its way 3 -> 10;  5..6 c: workspace 1 -> 11, no outputs           */
static lab three_operators(int link) {
  lab s = lab_new();
  star(&s, 20);
  int32_t a = lab_operator(&s, "a", 2, 10, 4), b = lab_operator(&s, "b", 4, 1, 5);
  int32_t c = lab_operator(&s, "c", 1, 7, 1);
  lab_tensor(&s, a, 3, b, c, -1);
  lab_tensor(&s, b, 2, -1);
  lab_pose(&s, link ? &contended : &uncontended);
  return s;
}

TEST(memory_is_added_up_as_by_hand) {
  for (int link = 0; link < 2; link++) {
    lab s = three_operators(link);
    int32_t device[] = {0, 0, 1};
    simulation found = simulator_run(s.simulator, &(placement){.device = device}, true);
    assert_int_equal(found.value_ns, 6);
    assert_int_equal(found.peak_bytes[0], 21);
    assert_int_equal(found.peak_bytes[1], 11);
    assert_int_equal(found.peak_bytes[2], 0);
    assert_int_equal(found.excess_bytes, 1);
    lab_free(&s);
  }
}

/* Workspaces of 1 byte at 0..1, 10 at 1..3001 and 20 at 3001..8001: 20 at most. The one that comes first has the
 * highest number, so that its times, far below the others, are noted last. */
TEST(memory_is_added_up_over_times_of_all_lengths) {
  lab s = lab_new();
  star(&s, 20);
  int32_t later = lab_operator(&s, "later", 3000, 0, 10), last = lab_operator(&s, "last", 5000, 0, 20);
  int32_t first = lab_operator(&s, "first", 1, 0, 1);
  lab_pose(&s, &contended);
  int32_t device[] = {0, 0, 0}, order[] = {first, later, last};
  simulation found = simulator_run(s.simulator, &(placement){.device = device, .order = order}, true);
  assert_int_equal(found.value_ns, 8001);
  assert_int_equal(found.peak_bytes[0], 20);
  assert_int_equal(found.excess_bytes, 0);
  lab_free(&s);
}

/* The same schedule: what each memory holds from each time on. */
TEST(memory_over_time_is_as_by_hand) {
  static const int64_t expected[2][4][2] = {{{0, 18}, {2, 21}, {6, 13}}, {{0, 7}, {2, 10}, {5, 11}, {6, 7}}};
  for (int link = 0; link < 2; link++) {
    lab s = three_operators(link);
    int32_t device[] = {0, 0, 1};
    arena *scratch = arena_new();
    memory_change *changes;
    int64_t n;
    assert_int_equal(simulator_memory(&changes, &n, s.simulator, &(placement){.device = device}, scratch, NULL), 0);
    int32_t at[3] = {0};
    for (int64_t i = 0; i < n; i++) {
      if (changes[i].memory == 2) continue; /* holds nothing */
      assert_true(changes[i].time_ns == expected[changes[i].memory][at[changes[i].memory]][0]);
      assert_true(changes[i].held_bytes == expected[changes[i].memory][at[changes[i].memory]++][1]);
    }
    assert_int_equal(at[0], 3);
    assert_int_equal(at[1], 4);
    arena_free(scratch);
    lab_free(&s);
  }
}

/* a, 4 ns, on d0 makes the first tensor, b, 1 ns, on d1 the second, both of 2 bytes for c on d2. b's goes by way of d0:
 * from 1 and from 3; a's leaves at 4, or at 5 where it has to wait for the link from d0 to d2. */
TEST(hops_of_a_plan_go_by_start) {
  for (int link = 0; link < 2; link++) {
    const int64_t expected[3][2] = {{1, 1}, {1, 3}, {0, 4 + link}}; /* tensor, start */
    lab s = lab_new();
    star(&s, SITU_UNLIMITED_BYTES);
    int32_t a = lab_operator(&s, "a", 4, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
    int32_t c = lab_operator(&s, "c", 1, 0, 0);
    lab_tensor(&s, a, 2, c, -1);
    lab_tensor(&s, b, 2, c, -1);
    lab_pose(&s, link ? &contended : &uncontended);
    int32_t device[] = {0, 1, 2};
    situ_plan *plan;
    assert_int_equal(simulator_plan(&plan, s.simulator, &(placement){.device = device}, NULL), SITU_STATUS_OK);
    assert_int_equal(plan->n_transfers, 3);
    for (int32_t i = 0; i < 3; i++) {
      assert_int_equal(plan->transfers[i].tensor, expected[i][0]);
      assert_int_equal(plan->transfers[i].start_ns, expected[i][1]);
    }
    situ_plan_free(plan);
    lab_free(&s);
  }
}

/* One tensor of 2 bytes for b on d2 and then c on d1: sent to both at once, and listed
 * by memory. */
TEST(hops_of_one_instant_go_by_memory) {
  for (int link = 0; link < 2; link++) {
    lab s = lab_new();
    star(&s, SITU_UNLIMITED_BYTES);
    int32_t a = lab_operator(&s, "a", 1, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
    int32_t c = lab_operator(&s, "c", 1, 0, 0);
    lab_tensor(&s, a, 2, b, c, -1);
    lab_pose(&s, link ? &contended : &uncontended);
    int32_t device[] = {0, 2, 1};
    situ_plan *plan;
    assert_int_equal(simulator_plan(&plan, s.simulator, &(placement){.device = device}, NULL), SITU_STATUS_OK);
    assert_int_equal(plan->n_transfers, 2);
    for (int32_t i = 0; i < 2; i++) {
      assert_int_equal(plan->transfers[i].start_ns, 1);
      assert_int_equal(plan->transfers[i].to_memory, i + 1);
    }
    situ_plan_free(plan);
    lab_free(&s);
  }
}

/* a, 2 ns, takes no room; b, 3 ns, has a workspace of 5 bytes: three memories hold nothing from 0 on, and two changes
 * follow, none at an instant with another. */
TEST(changes_of_memory_at_times_apart_are_all_told) {
  lab s = lab_new();
  star(&s, 20);
  lab_operator(&s, "a", 2, 0, 0);
  lab_operator(&s, "b", 3, 0, 5);
  lab_pose(&s, &contended);
  int32_t device[] = {0, 0};
  static const int64_t expected[5][2] = {{0, 0}, {0, 0}, {0, 0}, {2, 5}, {5, 0}};
  memory_change *changes;
  int64_t n;
  assert_int_equal(simulator_memory(&changes, &n, s.simulator, &(placement){.device = device}, s.arena, NULL), 0);
  assert_int_equal(n, 5);
  for (int32_t i = 0; i < 5; i++) {
    assert_int_equal(changes[i].time_ns, expected[i][0]);
    assert_int_equal(changes[i].held_bytes, expected[i][1]);
    assert_int_equal(changes[i].memory, i < 3 ? i : 0);
  }
  lab_free(&s);
}

TEST(an_order_against_the_data_never_ends) {
  for (int link = 0; link < 2; link++) {
    lab s = lab_new();
    star(&s, SITU_UNLIMITED_BYTES);
    int32_t a = lab_operator(&s, "a", 1, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
    lab_tensor(&s, a, 1, b, -1);
    lab_pose(&s, link ? &contended : &uncontended);
    int32_t same[] = {0, 0}, apart[] = {0, 1}, order[] = {b, a};
    assert_true(value_of(&s, same, order) == SITU_NEVER_NS);
    assert_true(value_of(&s, apart, order) == SITU_NEVER_NS);
    assert_int_equal(value_of(&s, apart, NULL), 3);
    lab_free(&s);
  }
}

TEST(an_operator_where_it_cannot_run_never_ends) {
  for (int link = 0; link < 2; link++) {
    lab s = lab_new();
    star(&s, SITU_UNLIMITED_BYTES);
    int32_t a = lab_operator(&s, "a", 1, 0, 0);
    s.time_ns[a][1] = SITU_NEVER_NS;
    lab_pose(&s, link ? &contended : &uncontended);
    int32_t there[] = {1}, here[] = {0};
    simulation found = simulator_run(s.simulator, &(placement){.device = there}, true);
    assert_true(found.value_ns == SITU_NEVER_NS);
    assert_null(found.start_ns);
    assert_int_equal(value_of(&s, here, NULL), 1);
    lab_free(&s);
  }
}

TEST(an_operator_that_cannot_run_never_ends) {
  for (int link = 0; link < 2; link++) {
    lab s = lab_new();
    star(&s, SITU_UNLIMITED_BYTES);
    int32_t a = lab_operator(&s, "a", SITU_NEVER_NS, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
    lab_tensor(&s, a, 7, b, -1);
    lab_pose(&s, link ? &contended : &uncontended);
    int32_t same[] = {0, 0}, apart[] = {0, 1};
    assert_true(value_of(&s, same, NULL) == SITU_NEVER_NS);
    assert_true(value_of(&s, apart, NULL) == SITU_NEVER_NS);
    lab_free(&s);
  }
}

static void compare(lab *s, const simulation *found, const naive *n, uint64_t seed) {
  if (found->value_ns != n->value)
    fail_msg("seed %llu: %lld, the naive simulator says %lld", (unsigned long long)seed, (long long)found->value_ns,
             (long long)n->value);
  for (int32_t v = 0; v < s->graph->n_operators; v++)
    if (found->start_ns[v] != n->start[v] || found->finish_ns[v] != n->finish[v])
      fail_msg("seed %llu: %s starts at %lld, the naive simulator says %lld", (unsigned long long)seed,
               s->graph->name[v], (long long)found->start_ns[v], (long long)n->start[v]);
  int64_t excess = 0;
  for (int32_t m = 0; m < s->platform->n_memories; m++) {
    if (found->peak_bytes[m] != n->peak[m])
      fail_msg("seed %llu: memory %d holds %lld, the naive simulator says %lld", (unsigned long long)seed, (int)m,
               (long long)found->peak_bytes[m], (long long)n->peak[m]);
    if (n->peak[m] > s->platform->memory_bytes[m]) excess += n->peak[m] - s->platform->memory_bytes[m];
  }
  assert_int_equal(found->excess_bytes, excess);
}

/* 2,000 random problems, three placements each, both contentions: every start, finish and peak agrees, and contention
 * never makes anything end earlier as a whole. The simulator is used again and again, so nothing may stay from a run.
 */
TEST(a_naive_simulator_agrees) {
  static naive n;
  int64_t contended_more = 0;
  for (uint64_t seed = 0; seed < 2000; seed++) {
    lab with = lab_random_tiny(seed, 24, &contended), without = lab_random_tiny(seed, 24, &uncontended);
    rng r = rng_new(seed * 7 + 1);
    for (int i = 0; i < 3; i++) {
      int32_t device[LAB_MAX_OPERATORS], order[LAB_MAX_OPERATORS];
      lab_random_placement(&with, &r, device, order);
      placement where = {.device = device, .order = order};
      simulation found = simulator_run(without.simulator, &where, true);
      int64_t least = found.value_ns;
      naive_run(&n, &without, device, order, false);
      compare(&without, &found, &n, seed);
      found = simulator_run(with.simulator, &where, true);
      naive_run(&n, &with, device, order, true);
      compare(&with, &found, &n, seed);
      assert_true(found.value_ns >= least);
      contended_more += found.value_ns > least;
    }
    lab_free(&with);
    lab_free(&without);
  }
  assert_true(contended_more > 500); /* or the instances are too tame */
}

TEST_MAIN
