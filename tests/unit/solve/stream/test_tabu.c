/* Tabu search on problems small enough for arithmetic or brute force. */
#include "../../../lab/brute.h"
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "small_streams.h"

static const situ_problem_options FREE_LINKS = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE};

/* u takes 10 on device 0 and 9 on device 1, v 5 and 30, w 30 and 10; u sends v 20 bytes. By upward rank u comes before
 * v and w, and ends first on device 1: 9. Then v ends at 9 + 20 + 5 = 34 on device 0, at 39 or later on device 1. With
 * u and v on device 0 all ends at 15. */
TEST(the_local_optimum_of_heft_is_left) {
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  int64_t times[3][2] = {{10, 9}, {5, 30}, {30, 10}};
  for (int32_t v = 0; v < 3; v++) {
    lab_operator(&s, (const char *[]){"u", "v", "w"}[v], 0, 0, 0);
    for (int32_t d = 0; d < 2; d++) s.time_ns[v][d] = times[v][d];
  }
  lab_tensor(&s, 0, 20, 1, -1);
  lab_pose(&s, &FREE_LINKS);
  assert_int_equal(brute_force(s.problem, NULL), 15);
  assert_int_equal(solved_value(s.problem, "heft", 0, 1, NULL), 34);
  for (uint64_t seed = 1; seed <= 20; seed++)
    assert_int_equal(solved_value(s.problem, "heft,tabu", 40, seed, NULL), 15);
}

/* x0 to x3 take 10 on device 0 and 4 on device 1. Each x sends the next one 20 bytes, and nothing through a p of 1,
 * which is pinned to device 2: so the path goes through the p, and the x are no stretch of one device. All x on device
 * 0 end at 4 * 10 + 3 = 43, all on device 1 at 4 * 4 + 3 = 19. With the first one, two, three on device 1 it is 4 + 20
 * + 10 + 1 + 10 + 1 + 10 = 56, then 50 and 44: three moves that lose lie between, and after the first of them the way
 * back is the best. */
TEST(the_way_back_is_forbidden_while_a_valley_is_crossed) {
  enum { X = 4, N = 2 * X - 1 };
  OWN(lab) s = lab_mesh(3, SITU_UNLIMITED_BYTES);
  int32_t pins[N], start[N];
  for (int32_t v = 0; v < N; v++) { /* x0 p0 x1 p1 x2 p2 x3 */
    lab_operator(&s, (const char *[]){"x0", "p0", "x1", "p1", "x2", "p2", "x3"}[v], 0, 0, 0);
    bool fixed = v % 2;
    pins[v] = fixed ? 2 : -1;
    start[v] = fixed ? 2 : 0;
    s.time_ns[v][0] = fixed ? 1 : 10;
    s.time_ns[v][1] = fixed ? 1 : 4;
    s.time_ns[v][2] = fixed ? 1 : SITU_NEVER_NS;
  }
  for (int32_t v = 0; v + 2 < N; v += 2) {
    lab_tensor(&s, v, 0, v + 1, -1);
    lab_tensor(&s, v + 1, 0, v + 2, -1);
    lab_tensor(&s, v, 20, v + 2, -1);
  }
  situ_problem_options o = FREE_LINKS;
  o.pins = pins;
  lab_pose(&s, &o);
  for (int32_t v = 0; v < N; v++) assert_int_equal(s.graph->built_index[v], v);
  assert_int_equal(solved_value(s.problem, "single", 1, 1, start), 43);
  for (uint64_t seed = 1; seed <= 20; seed++) /* with no way forbidden 30 steps are enough for 8 of the 20 */
    assert_int_equal(solved_value(s.problem, "tabu", 30, seed, start), 19);
}

/* On one device the value is the sum of times: 1 + 2 + 3. With every operator pinned it is what the pins make it: 1 + 6
 * (the transfer) + 2, and 3 beside. There is nothing to try, and steps are spent all the same. */
TEST(a_search_with_nothing_to_move_ends) {
  int32_t pins[] = {0, 1, 0};
  for (int32_t n_devices = 1; n_devices <= 2; n_devices++) {
    OWN(lab) s = lab_mesh(n_devices, SITU_UNLIMITED_BYTES);
    for (int32_t v = 0; v < 3; v++) lab_operator(&s, (const char *[]){"a", "b", "c"}[v], 1 + v, 0, 0);
    lab_tensor(&s, 0, 6, 1, -1);
    situ_problem_options o = FREE_LINKS;
    if (n_devices == 2) o.pins = pins;
    lab_pose(&s, &o);
    assert_int_equal(solved_value(s.problem, "tabu", 100, 1, NULL), n_devices == 1 ? 6 : 9);
  }
}

TEST(constraints_are_kept_and_small_problems_solved) { check_small_streams(NULL, "tabu", 98); }

TEST_MAIN
