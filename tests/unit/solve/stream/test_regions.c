/* Regions on problems small enough for arithmetic or brute force. */
#include "../../scenario.h"
#include "small_streams.h"

static void without_a_plan_there_is_nothing_to_do(void **state) {
  (void)state;
  check_nothing_runs("regions");
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

static void constraints_are_kept_and_small_problems_solved(void **state) {
  (void)state;
  check_small_streams("heft,single", "regions", 80);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_plan_there_is_nothing_to_do),
      cmocka_unit_test(a_whole_region_changes_its_device),
      cmocka_unit_test(constraints_are_kept_and_small_problems_solved),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
