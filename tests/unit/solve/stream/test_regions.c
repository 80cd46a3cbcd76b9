/* Regions on problems small enough for arithmetic or brute force. */
#include "../../../lab/brute.h"
#include "../../../lab/lab.h"
#include "../../../lab/tier.h"
#include "../../scenario.h"
#include "../../solved.h"

static void without_a_plan_there_is_nothing_to_do(void **state) {
  (void)state;
  scenario s = scenario_mesh(2, SITU_UNLIMITED_BYTES);
  scenario_operator(&s, "x", SITU_NEVER_NS, 0, 0);
  scenario_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  assert_int_equal(solved_value(s.problem, "regions", 100, 1, NULL), SITU_NEVER_NS);
  scenario_free(&s);
}

/* Four operators in a row that take 10 on device 0 and 4 on device 1 and send 100 bytes each; eight that take 1 stay on
 * device 0. All on device 0: 40 + 8. The row on device 1: 16. At least 100 + 16 for all that parts the row, so only all
 * of it together leaves device 0. */
static void a_whole_region_changes_its_device(void **state) {
  (void)state;
  enum { ROW = 4, N = 12 };
  for (int32_t links = 0; links < 2; links++) {
    scenario s = scenario_mesh(2, SITU_UNLIMITED_BYTES);
    int32_t start[N] = {0}, pins[N] = {-1, -1, -1, -1};
    for (int32_t v = 0; v < N; v++) {
      scenario_operator(&s, (const char *[]){"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}[v],
                        v < ROW ? 10 : 1, 0, 0);
      if (v < ROW) s.time_ns[v][1] = 4;
      if (v > 0 && v < ROW) scenario_tensor(&s, v - 1, 100, v, -1);
    }
    scenario_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM,
                                              .pins = pins,
                                              .contention = links ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE});
    for (uint64_t seed = 1; seed <= 20; seed++)
      assert_int_equal(solved_value(s.problem, "regions", 2000, seed, start), 16);
    scenario_free(&s);
  }
}

/* Pins, unused devices, unsupported classes, colocation and memories that are too small: every plan passes the judge,
 * is no worse than its start, and seldom worse than the best of all. */
static void constraints_are_kept_and_small_problems_solved(void **state) {
  (void)state;
  int32_t n_best = 0, n_all = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(200); seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 4,
                     .n_devices = 2 + (int32_t)(seed % 2),
                     .density = 0.2 + 0.1 * (double)(seed % 5),
                     .n_colocations = seed % 3 == 0,
                     .pinned = seed % 4 == 0,
                     .unsupported = seed % 5 == 0,
                     .memory = seed % 2 ? 0.5 : 0,
                     .options = {.execution = SITU_EXECUTION_STREAM,
                                 .contention = seed % 7 ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE}};
    lab l = lab_random(&o);
    int64_t best = brute_force(l.problem, NULL), start = solved_value(l.problem, "heft,single", 0, seed, NULL);
    int64_t found = solved_value(l.problem, "heft,single,regions", 400, seed, NULL);
    assert_true(best <= found && found <= start);
    n_all += start < SITU_NEVER_NS;
    n_best += start < SITU_NEVER_NS && found == best;
    lab_free(&l);
  }
  if (n_best * 100 < n_all * 80) fail_msg("%d of %d are the best", (int)n_best, (int)n_all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_plan_there_is_nothing_to_do),
      cmocka_unit_test(a_whole_region_changes_its_device),
      cmocka_unit_test(constraints_are_kept_and_small_problems_solved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
