/* Iterated greedy on problems small enough for arithmetic or brute force. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "small_streams.h"

/* a (1) sends b (2) 6 bytes, c (3) stands alone. Pinned to 0, 1, 0: b ends at 1 + 6 + 2 = 9, c at 4 at the latest. With
 * c first b would end at 3 + 1 + 6 + 2 = 12: the start is that plan, and what is pinned may still change its turn. */
TEST(what_is_pinned_is_not_taken_out) {
  int32_t pins[] = {0, 1, 0};
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 3; v++) lab_operator(&s, (const char *[]){"a", "b", "c"}[v], 1 + v, 0, 0);
  lab_tensor(&s, 0, 6, 1, -1);
  situ_problem_options o = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE, .pins = pins};
  lab_pose(&s, &o);
  assert_int_equal(solved_value(s.problem, "iterated_greedy", 100, 1, NULL), 9);
}

TEST(without_a_plan_there_is_nothing_to_do) { check_nothing_runs("iterated_greedy"); }

/* Six operators in a row that take 10 on device 0 and 4 on device 1 and send 20 bytes each: 60 on device 0, 24 on
 * device
 * 1. Between lie schedules of 10 k + 20 + 4 (6 - k) > 24: operators put back one by one stay with their neighbours, and
 * only a stretch that goes whole, or all of them at once, leaves device 0. */
TEST(a_whole_stretch_changes_its_device) {
  enum { N = 6 };
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  int32_t start[N] = {0};
  for (int32_t v = 0; v < N; v++) {
    lab_operator(&s, (const char *[]){"a", "b", "c", "d", "e", "f"}[v], 10, 0, 0);
    s.time_ns[v][1] = 4;
    if (v > 0) lab_tensor(&s, v - 1, 20, v, -1);
  }
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE});
  for (uint64_t seed = 1; seed <= 20; seed++)
    assert_int_equal(solved_value(s.problem, "iterated_greedy", 200, seed, start), 24);
}

TEST(constraints_are_kept_and_small_problems_solved) { check_small_streams("heft,single", "iterated_greedy", 95); }

TEST_MAIN
