/* Regions on problems small enough for arithmetic or brute force. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "small_streams.h"

TEST(without_a_plan_there_is_nothing_to_do) { check_nothing_runs("regions"); }

/* Four operators in a row that take 10 on device 0 and 4 on device 1 and send 100 bytes each; eight that take 1 stay on
 * device 0. All on device 0: 40 + 8. The row on device 1: 16. At least 100 + 16 for all that parts the row, so only all
 * of it together leaves device 0. */
TEST(a_whole_region_changes_its_device) {
  enum { ROW = 4, N = 12 };
  for (int32_t links = 0; links < 2; links++) {
    OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
    int32_t start[N] = {0}, pins[N] = {-1, -1, -1, -1};
    for (int32_t v = 0; v < N; v++) {
      lab_operator(&s, (const char *[]){"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}[v],
                   v < ROW ? 10 : 1, 0, 0);
      if (v < ROW) s.time_ns[v][1] = 4;
      if (v > 0 && v < ROW) lab_tensor(&s, v - 1, 100, v, -1);
    }
    lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM,
                                         .pins = pins,
                                         .contention = links ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE});
    for (uint64_t seed = 1; seed <= 20; seed++)
      assert_int_equal(solved_value(s.problem, "regions", 2000, seed, start), 16);
  }
}

/* Twenty-one turns of a, 20 on device 0 and 4 on device 1, then b and c, 1 and on device 0 for good, like the first and
 * the last a. Each a sends 100 bytes to the next while b and c run; all else only waits. All on device 0: 21 x 22. Each
 * a on device 1 gains 16, and each end of a run of them costs 98, so that fewer than 13 together gain nothing. All 19:
 * 462 - 19 x 16 + 2 x 98. */
TEST(what_repeats_changes_its_device_everywhere) {
  enum { TURNS = 21, N = 3 * TURNS };
  static char names[N][8];
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  int32_t start[N] = {0}, pins[N];
  for (int32_t v = 0; v < N; v++) {
    bool is_a = v % 3 == 0;
    snprintf(names[v], sizeof names[v], "%d", (int)v);
    lab_operator(&s, names[v], is_a ? 20 : 1, 0, 0);
    if (is_a) s.time_ns[v][1] = 4;
    pins[v] = is_a && v > 0 && v + 3 < N ? -1 : 0;
  }
  for (int32_t v = 0; v + 1 < N; v++) {
    lab_tensor(&s, v, 0, v + 1, -1);
    if (v % 3 == 0 && v + 3 < N) lab_tensor(&s, v, 100, v + 3, -1);
  }
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .pins = pins});
  for (uint64_t seed = 1; seed <= 20; seed++)
    assert_int_equal(solved_value(s.problem, "regions", 500, seed, start), 354);
}

TEST(constraints_are_kept_and_small_problems_solved) { check_small_streams("heft,single", "regions", 80); }

TEST_MAIN
