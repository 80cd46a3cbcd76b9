/* The bound of cut vertices, block after block: below every optimum, equal to it where all blocks are searched to the
 * end. */
#include "../../lab/brute.h"
#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../scenario.h"
#include "bound/bound.h"

/* What the bound says; its certificate, where there is one, must prove what it claims. */
static int64_t bound_of(const situ_problem *p) {
  arena *a = arena_new();
  budget unlimited = budget_new(0, 0, NULL, NULL);
  int64_t lower = -1;
  certificate proof = {0};
  assert_int_equal(cut_vertex_bound.compute(&lower, &proof, p, a, &unlimited, NULL), SITU_STATUS_OK);
  if (proof.kind) assert_true(proof.lower_ns <= lower && proved_claim(p, &proof));
  arena_free(a);
  return lower;
}

/* a (1) feeds b and c (10 each), which feed d (1), on two devices alike. On one device that takes 1 + 20 + 1 = 22; with
 * b beside a and d beside c it is 1 + 10 + size + 1 the one way and 1 + size + 10 + 1 the other: 24 with tensors of 12
 * bytes, 14 with 2. Two such diamonds in a row take the sum, since the tensor between them stays where it is. */
static void diamonds_in_a_row_are_added_up(void **state) {
  (void)state;
  for (int32_t k = 0; k < 4; k++) {
    int64_t size = k % 2 ? 2 : 12;
    int32_t n_diamonds = 1 + k / 2;
    scenario s = scenario_mesh(2, SITU_UNLIMITED_BYTES);
    for (int32_t v = 0; v < 4 * n_diamonds; v++) {
      char name[8];
      snprintf(name, sizeof name, "%d", (int)v);
      scenario_operator(&s, name, v % 4 == 1 || v % 4 == 2 ? 10 : 1, 0, 0);
    }
    for (int32_t v = 0; v < 4 * n_diamonds; v += 4) {
      if (v > 0) scenario_tensor(&s, v - 1, size, v, -1);
      scenario_tensor(&s, v, size, v + 1, v + 2, -1);
      scenario_tensor(&s, v + 1, size, v + 3, -1);
      scenario_tensor(&s, v + 2, size, v + 3, -1);
    }
    scenario_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE});
    assert_int_equal(bound_of(s.problem), n_diamonds * (k % 2 ? 14 : 22));
    scenario_free(&s);
  }
}

/* In a chain one thing happens after the other, so that links are never contended for, and every block is one operator:
 * the bound is the best of all placements. */
static void on_chains_it_is_the_optimum(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    rng r = rng_new(seed);
    scenario s = scenario_mesh(2 + (int32_t)(seed % 2), SITU_UNLIMITED_BYTES);
    int32_t n = 2 + (int32_t)rng_below(&r, 6);
    for (int32_t v = 0; v < n; v++) {
      char name[8];
      snprintf(name, sizeof name, "%d", (int)v);
      scenario_operator(&s, name, 0, 0, 0);
      for (int32_t d = 0; d < s.n_devices; d++) s.time_ns[v][d] = rng_below(&r, 10);
      if (v > 0) scenario_tensor(&s, v - 1, rng_below(&r, 10), v, -1);
    }
    scenario_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
    assert_int_equal(bound_of(s.problem), brute_force(s.problem, NULL));
    scenario_free(&s);
  }
}

static void it_is_never_above_the_optimum(void **state) {
  (void)state;
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
    lab l = lab_random(&o);
    int64_t best = brute_force(l.problem, NULL), lower = bound_of(l.problem);
    if (lower > best) fail_msg("seed %d: %lld of %lld", (int)seed, (long long)lower, (long long)best);
    n_positive += lower > 0;
    n_equal += lower > 0 && lower == best;
    lab_free(&l);
  }
  assert_true(n_positive > 200 && n_equal > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(diamonds_in_a_row_are_added_up),
      cmocka_unit_test(on_chains_it_is_the_optimum),
      cmocka_unit_test(it_is_never_above_the_optimum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
