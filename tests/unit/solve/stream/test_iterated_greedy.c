/* Iterated greedy on problems small enough for arithmetic or brute force. */
#include "../../../lab/brute.h"
#include "../../../lab/lab.h"
#include "../../scenario.h"
#include "../../solved.h"

/* a (1) sends b (2) 6 bytes, c (3) stands alone. Pinned to 0, 1, 0: b ends at 1 + 6 + 2 = 9, c at 4 at the latest. With
 * c first b would end at 3 + 1 + 6 + 2 = 12: the start is that plan, and what is pinned may still change its turn. */
static void what_is_pinned_is_not_taken_out(void **state) {
  (void)state;
  int32_t pins[] = {0, 1, 0};
  scenario s = scenario_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 3; v++) scenario_operator(&s, (const char *[]){"a", "b", "c"}[v], 1 + v, 0, 0);
  scenario_tensor(&s, 0, 6, 1, -1);
  situ_problem_options o = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE, .pins = pins};
  scenario_pose(&s, &o);
  assert_int_equal(solved_value(s.problem, "iterated_greedy", 100, 1, NULL), 9);
  scenario_free(&s);
}

/* Without a plan to start from, here because nothing runs x, there is nothing to do. */
static void without_a_plan_there_is_nothing_to_do(void **state) {
  (void)state;
  scenario s = scenario_mesh(2, SITU_UNLIMITED_BYTES);
  scenario_operator(&s, "x", SITU_NEVER_NS, 0, 0);
  scenario_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  assert_int_equal(solved_value(s.problem, "iterated_greedy", 100, 1, NULL), SITU_NEVER_NS);
  scenario_free(&s);
}

/* Six operators in a row that take 10 on device 0 and 4 on device 1 and send 20 bytes each: 60 on device 0, 24 on
 * device
 * 1. Between lie schedules of 10 k + 20 + 4 (6 - k) > 24: operators put back one by one stay with their neighbours, and
 * only a stretch that goes whole, or all of them at once, leaves device 0. */
static void a_whole_stretch_changes_its_device(void **state) {
  (void)state;
  enum { N = 6 };
  scenario s = scenario_mesh(2, SITU_UNLIMITED_BYTES);
  int32_t start[N] = {0};
  for (int32_t v = 0; v < N; v++) {
    scenario_operator(&s, (const char *[]){"a", "b", "c", "d", "e", "f"}[v], 10, 0, 0);
    s.time_ns[v][1] = 4;
    if (v > 0) scenario_tensor(&s, v - 1, 20, v, -1);
  }
  scenario_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE});
  for (uint64_t seed = 1; seed <= 20; seed++)
    assert_int_equal(solved_value(s.problem, "iterated_greedy", 200, seed, start), 24);
  scenario_free(&s);
}

/* Pins, unused devices, unsupported classes, colocation and memories that are too small: every plan passes the judge,
 * is no worse than its start, and seldom worse than the best of all. */
static void constraints_are_kept_and_small_problems_solved(void **state) {
  (void)state;
  int32_t n_best = 0, n_all = 0;
  for (uint64_t seed = 1; seed <= 200; seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 4,
                     .n_devices = 2 + (int32_t)(seed % 2),
                     .density = 0.2 + 0.1 * (double)(seed % 5),
                     .n_colocations = seed % 3 == 0,
                     .pinned = seed % 4 == 0,
                     .unsupported = seed % 5 == 0,
                     .memory = seed % 2 ? 0.5 : 0,
                     .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_LINK}};
    lab l = lab_random(&o);
    int64_t best = brute_force(l.problem, NULL), start = solved_value(l.problem, "heft,single", 0, seed, NULL);
    int64_t found = solved_value(l.problem, "heft,single,iterated_greedy", 400, seed, NULL);
    assert_true(best <= found && found <= start);
    n_all += start < SITU_NEVER_NS;
    n_best += start < SITU_NEVER_NS && found == best;
    lab_free(&l);
  }
  if (n_best * 100 < n_all * 95) fail_msg("%d of %d are the best", (int)n_best, (int)n_all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_pinned_is_not_taken_out),
      cmocka_unit_test(without_a_plan_there_is_nothing_to_do),
      cmocka_unit_test(a_whole_stretch_changes_its_device),
      cmocka_unit_test(constraints_are_kept_and_small_problems_solved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
