/* The bound of cut vertices, block after block: below every optimum, equal to it where all blocks are searched to the
 * end. */
#include "../../lab/brute.h"
#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/test.h"
#include "base/checked.h"
#include "bound/bound.h"
#include "exact/block_list.h"

/* What the bound says; its certificate, where there is one, must prove what it claims. */
static int64_t bound_of(const situ_problem *p) {
  OWN(arena) *a = arena_new();
  certificate proof;
  int64_t lower = proved_bound(&proof, &cut_vertex_bound, p, a);
  if (proof.kind) assert_true(proof.lower_ns <= lower && proved_claim(p, &proof));
  return lower;
}

/* a (1) feeds b and c (10 each), which feed d (1), on two devices alike. On one device that takes 1 + 20 + 1 = 22; with
 * b beside a and d beside c it is 1 + 10 + size + 1 the one way and 1 + size + 10 + 1 the other: 24 with tensors of 12
 * bytes, 14 with 2. Two such diamonds in a row take the sum, since the tensor between them stays where it is. */
TEST(diamonds_in_a_row_are_added_up) {
  for (int32_t k = 0; k < 4; k++) {
    int64_t size = k % 2 ? 2 : 12;
    int32_t n_diamonds = 1 + k / 2;
    OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
    for (int32_t v = 0; v < 4 * n_diamonds; v++) {
      char name[8];
      snprintf(name, sizeof name, "%d", (int)v);
      lab_operator(&s, name, v % 4 == 1 || v % 4 == 2 ? 10 : 1, 0, 0);
    }
    for (int32_t v = 0; v < 4 * n_diamonds; v += 4) {
      if (v > 0) lab_tensor(&s, v - 1, size, v, -1);
      lab_tensor(&s, v, size, v + 1, v + 2, -1);
      lab_tensor(&s, v + 1, size, v + 3, -1);
      lab_tensor(&s, v + 2, size, v + 3, -1);
    }
    lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE});
    assert_int_equal(bound_of(s.problem), n_diamonds * (k % 2 ? 14 : 22));
  }
}

/* In a chain one thing happens after the other, so that links are never contended for, and every block is one operator:
 * the bound is the best of all placements. */
TEST(on_chains_it_is_the_optimum) {
  for (uint64_t seed = 1; seed <= 200; seed++) {
    rng r = rng_new(seed);
    OWN(lab) s = lab_mesh(2 + (int32_t)(seed % 2), SITU_UNLIMITED_BYTES);
    int32_t n = 2 + (int32_t)rng_below(&r, 6);
    for (int32_t v = 0; v < n; v++) {
      char name[8];
      snprintf(name, sizeof name, "%d", (int)v);
      lab_operator(&s, name, 0, 0, 0);
      for (int32_t d = 0; d < s.n_devices; d++) s.time_ns[v][d] = rng_below(&r, 10);
      if (v > 0) lab_tensor(&s, v - 1, rng_below(&r, 10), v, -1);
    }
    lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
    assert_int_equal(bound_of(s.problem), brute_force(s.problem, NULL));
  }
}

/* Three operators side by side, of 3, 1 and 2 ns, and one that waits for them: each has two rivals, and goes the sooner
 * the less it takes, until no more than `largest` stand side by side. */
TEST(the_least_work_is_left_out_first) {
  static const int64_t time_ns[4] = {3, 1, 2, 5};
  static const bool expected[3][4] = {{false, true, true, false}, {false, true, false, false}, {false}};
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 4; v++) lab_operator(&s, (const char *[]){"a", "b", "c", "d"}[v], time_ns[v], 0, 0);
  for (int32_t v = 0; v < 3; v++) lab_tensor(&s, v, 1, 3, -1);
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  thin_graph g;
  assert_true(thin_whole(&g, s.problem, s.arena));
  for (int32_t largest = 1; largest <= 3; largest++) {
    bool deleted[4];
    assert_true(thin_until(deleted, &g, largest, s.arena));
    assert_memory_equal(deleted, expected[largest - 1], sizeof deleted);
  }
}

/* The same with the first of least work, and with nothing else to leave out. */
TEST(the_first_operator_may_be_left_out) {
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 3; v++) lab_operator(&s, (const char *[]){"a", "b", "c"}[v], 1 + v, 0, 0);
  lab_tensor(&s, 0, 1, 2, -1);
  lab_tensor(&s, 1, 1, 2, -1);
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  thin_graph g;
  bool deleted[3];
  assert_true(thin_whole(&g, s.problem, s.arena) && thin_until(deleted, &g, 1, s.arena));
  assert_true(deleted[0] && !deleted[1] && !deleted[2]);
}

/* Between a and z, 1 ns each, two rows of 20 operators of 10 ns, with more tensors than a block holds. Each of one row
 * has the 20 of the other as rivals, and the more it has the sooner it is left out: so one row goes after the first of
 * it has gone, and the other stays, 1 + 200 + 1. */
TEST(what_is_too_large_is_thinned) {
  enum { ROW = 20, N = 2 * ROW + 2 };
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < N; v++) {
    char name[8];
    snprintf(name, sizeof name, "%d", (int)v);
    lab_operator(&s, name, v == 0 || v == N - 1 ? 1 : 10, 0, 0);
  }
  lab_tensor(&s, 0, 1, 1, ROW + 1, -1);
  for (int32_t v = 1; v < N - 1; v++)
    for (int32_t i = 0; i < 6; i++) lab_tensor(&s, v, 1, v % ROW == 0 ? N - 1 : v + 1, -1);
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  assert_int_equal(bound_of(s.problem), 202);
}

/* On one device, a, 20 operators of 10 ns side by side and z: too many to search, and what leads over one of the 20
 * takes 12 ns, whatever is left out. */
TEST(what_is_given_up_still_takes_its_longest_way) {
  OWN(lab) s = lab_mesh(1, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 22; v++) {
    char name[8];
    snprintf(name, sizeof name, "%d", (int)v);
    lab_operator(&s, name, v == 0 || v == 21 ? 1 : 10, 0, 0);
  }
  for (int32_t v = 1; v < 21; v++) {
    lab_tensor(&s, 0, 1, v, -1);
    lab_tensor(&s, v, 1, 21, -1);
  }
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  int64_t lower = bound_of(s.problem);
  assert_true(lower >= 12 && lower <= 202);
}

/* Diamonds in a row, each with `beside` operators between its ends, on devices with times of their own. */
static lab random_diamonds(uint64_t seed, int32_t beside) {
  rng r = rng_new(seed);
  lab s = lab_mesh(2 + (int32_t)(seed % 2), SITU_UNLIMITED_BYTES);
  int32_t size = beside + 2, n = 3 * size;
  for (int32_t v = 0; v < n; v++) {
    char name[8];
    snprintf(name, sizeof name, "%d", (int)v);
    lab_operator(&s, name, 0, 0, 0);
    for (int32_t d = 0; d < s.n_devices; d++) s.time_ns[v][d] = rng_below(&r, 10);
  }
  for (int32_t v = 0; v < n; v += size) {
    if (v > 0) lab_tensor(&s, v - 1, rng_below(&r, 10), v, -1);
    for (int32_t i = 1; i <= beside; i++) {
      lab_tensor(&s, v, rng_below(&r, 10), v + i, -1);
      lab_tensor(&s, v + i, rng_below(&r, 10), v + size - 1, -1);
    }
  }
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  return s;
}

/* What a search of one schedule in a layer found is less than what one of many finds, which does not take it over. */
TEST(what_a_lesser_search_found_is_not_taken_over) {
  int32_t n_lesser = 0;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    OWN(lab) s = random_diamonds(seed, 5);
    const situ_problem *p = s.problem;
    budget unlimited = budget_new(0, 0, NULL, NULL);
    block_machine m;
    thin_graph g;
    block_list c[3];
    block_finding *shared = NULL, *fresh = NULL;
    assert_true(block_machine_init(&m, p, s.arena) && thin_first(&g, p, s.arena));
    for (int k = 0; k < 3; k++) {
      block_list_limits limits = {.first_width = k == 0 ? 1 : 256,
                                  .width = k == 0 ? 1 : 256,
                                  .max_children = INT64_MAX / 2,
                                  .upper_ns = BLOCK_FAR_NS,
                                  .budget = &unlimited,
                                  .findings = k < 2 ? &shared : &fresh};
      assert_true(block_list_find(&c[k], &m, &g, &limits, s.arena));
    }
    assert_memory_equal(c[1].rest_ns, c[2].rest_ns, (size_t)(c[2].n_blocks * p->n_devices) * sizeof *c[2].rest_ns);
    n_lesser += c[0].rest_ns[0] < c[2].rest_ns[0];
  }
  assert_true(n_lesser > 0);
}

/* Below a value only what is below counts: the rest from the start is the smaller of both, and so it stays when a later
 * search with other uppers takes results over. Rests once known are not lost to a search that may do nothing. */
TEST(rests_below_a_value_are_the_smaller_of_both_and_known_ones_stay) {
  for (uint64_t seed = 1; seed <= 40; seed++) {
    OWN(lab) s = random_diamonds(seed, 4);
    const situ_problem *p = s.problem;
    int64_t cells = (int64_t)p->n_operators * p->n_devices;
    int64_t *head_ns = ARENA_NEW(s.arena, int64_t, cells), *tail_ns = ARENA_NEW(s.arena, int64_t, cells);
    int64_t *known_ns = ARENA_ZERO(s.arena, int64_t, cells);
    budget unlimited = budget_new(0, 0, NULL, NULL);
    block_machine m;
    thin_graph g;
    block_list exact, below;
    block_finding *shared = NULL;
    block_list_limits limits = {.first_width = 64,
                                .width = 1024,
                                .max_children = INT64_MAX / 2,
                                .upper_ns = BLOCK_FAR_NS,
                                .budget = &unlimited,
                                .findings = &(block_finding *){NULL}};
    assert_true(bound_heads_tails(head_ns, tail_ns, p));
    assert_true(block_machine_init(&m, p, s.arena) && thin_first(&g, p, s.arena));
    assert_true(block_list_find(&exact, &m, &g, &limits, s.arena) && exact.exact);
    int64_t value_ns = exact.rest_ns[0];
    limits.head_ns = head_ns;
    limits.findings = &shared;
    for (int32_t more = -3; more <= 3; more++) {
      limits.upper_ns = value_ns + more;
      assert_true(block_list_find(&below, &m, &g, &limits, s.arena) && below.exact);
      assert_int_equal(below.rest_ns[0], min64(value_ns, limits.upper_ns));
      for (int64_t i = 0; i < (int64_t)below.n_blocks * p->n_devices; i++)
        assert_true(below.rest_ns[i] <= exact.rest_ns[i] || i < p->n_devices);
    }
    limits.known_ns = known_ns;
    assert_true(block_list_find(&below, &m, &g, &limits, s.arena));
    limits.max_children = 0;
    limits.findings = &(block_finding *){NULL};
    block_list idle;
    assert_true(block_list_find(&idle, &m, &g, &limits, s.arena) && !idle.solved);
    for (int64_t i = p->n_devices; i < (int64_t)idle.n_blocks * p->n_devices; i++)
      assert_true(idle.rest_ns[i] >= below.rest_ns[i]);
  }
}

/* x, y, c, p, c', p' follow one another, 1 ns each, then z beside z'; c and c' run on the first device alone, p and p'
 * on the second. p reads 10 bytes of x and 1 of c, p' both of c': a block of p has the same times and ways as one of
 * p', but x may be where p is. That takes 1 + 1 + 1 + (1 + 1) to the end of p and 1 + (10 + 1) to that of p', then 1.
 * Over each cut behind x goes one more tensor, from x to p or from c to z, so that each block is one operator. */
TEST(blocks_that_differ_in_what_comes_from_the_cut_are_told_apart) {
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 8; v++) {
    lab_operator(&s, (const char *[]){"x", "y", "c", "p", "c'", "p'", "z", "z'"}[v], 1, 0, 0);
    if (v > 1 && v < 6) s.time_ns[v][v % 2 == 0] = SITU_NEVER_NS;
  }
  lab_tensor(&s, 0, 10, 3, -1);
  lab_tensor(&s, 4, 10, 5, -1);
  for (int32_t v = 0; v < 6; v++) lab_tensor(&s, v, v == 2 || v == 4, v + 1, -1);
  lab_tensor(&s, 5, 0, 7, -1);
  lab_tensor(&s, 2, 0, 6, -1);
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE});
  assert_int_equal(bound_of(s.problem), 5 + 12 + 1);
  assert_int_equal(brute_force(s.problem, NULL), 5 + 12 + 1);
}

TEST(it_is_never_above_the_optimum) {
  int32_t n_equal = 0, n_positive = 0;
  for (uint64_t seed = 1; seed <= 400; seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 3 + (int32_t)(seed % 3),
                     .n_devices = 2 + (int32_t)(seed % 3 == 0),
                     .density = 0.2 + 0.1 * (double)(seed % 7),
                     .n_colocations = seed % 5 == 0,
                     .pinned = seed % 3 == 0,
                     .unsupported = seed % 4 == 0,
                     .equal = seed % 2,
                     .memory = seed % 6 == 1 ? 0.5 : 0,
                     .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_LINK}};
    OWN(lab) l = lab_random(&o);
    int64_t best = brute_force(l.problem, NULL), lower = bound_of(l.problem);
    if (lower > best) fail_msg("seed %d: %lld of %lld", (int)seed, (long long)lower, (long long)best);
    n_positive += lower > 0;
    n_equal += lower > 0 && lower == best;
  }
  assert_true(n_positive > 200 && n_equal > 100);
}

TEST_MAIN
