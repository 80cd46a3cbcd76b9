/* Large neighbourhoods of pipelines against arithmetic and against every placement of small problems. */
#include "../../../lab/brute.h"
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "../../solved.h"
#include "solve/pipeline/stage_space.h"

static const situ_problem_options PIPELINE = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                                              .communication = SITU_COMMUNICATION_HOST_STAGED};

/* Six operators in a row of 1, 2, 3, 4, 5, 6 on two accelerators, nothing to send, and a host on which each takes 100:
 * 21 in all, parted best as 1 + 2 + 3 + 4 = 10 and 5 + 6 = 11. The start has all on one accelerator. */
TEST(a_row_of_operators_is_parted_evenly) {
  OWN(lab) s = lab_new();
  int32_t start[6];
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
  for (int32_t d = 1; d <= 2; d++) {
    lab_device(&s, SITU_UNLIMITED_BYTES, -1, false);
    lab_link(&s, 0, d, 0, -1);
    lab_link(&s, d, 0, 0, -1);
  }
  for (int32_t v = 0; v < 6; v++) {
    lab_operator(&s, (const char *[]){"a", "b", "c", "d", "e", "f"}[v], 1 + v, 0, 0);
    s.time_ns[v][0] = 100;
    if (v > 0) lab_tensor(&s, v - 1, 0, v, -1);
    start[v] = 1;
  }
  lab_pose(&s, &PIPELINE);
  for (uint64_t seed = 1; seed <= 20; seed++)
    assert_int_equal(solved_value(s.problem, "stage_lns", 50, seed, start), 11);
}

/* With one device there is nothing to choose: the sum. */
TEST(one_device_is_left_as_it_is) {
  OWN(lab) s = lab_new();
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
  lab_operator(&s, "a", 3, 0, 0);
  lab_operator(&s, "b", 4, 0, 0);
  lab_tensor(&s, 0, 5, 1, -1);
  lab_pose(&s, &PIPELINE);
  assert_int_equal(solved_value(s.problem, "stage_lns", 50, 1, NULL), 7);
}

/* Never worse than what it starts from, never better than the best of all placements. Every plan passes the judge, with
 * pins, colocation, unsupported classes and small memories. From one device it goes on in the order of devices that
 * this stands for; what linear_dp leaves, the best of several orders of devices, is nearly always the best of all. */
TEST(small_pipelines_are_improved) {
  int32_t n_all = 0, n_best = 0, n_improved = 0;
  for (uint64_t seed = 1; seed <= 300; seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 3 + (int32_t)(seed % 5),
                     .n_devices = 2 + (int32_t)(seed % 2),
                     .density = 0.1 + 0.1 * (double)(seed % 6),
                     .n_colocations = seed % 4 == 0,
                     .pinned = seed % 7 == 0,
                     .unsupported = seed % 3 == 0,
                     .memory = seed % 2 ? 0.7 : 0,
                     .options = PIPELINE};
    OWN(lab) l = lab_random(&o);
    if (stage_space_serves(l.problem)) {
      int64_t best = brute_force(l.problem, NULL), single = solved_value(l.problem, "single", 0, seed, NULL);
      int64_t from_single = solved_value(l.problem, "single,stage_lns", 300, seed, NULL);
      int64_t from_linear = solved_value(l.problem, "linear_dp,stage_lns", 300, seed, NULL);
      if (from_single < best || from_linear < best || from_single > single)
        fail_msg("seed %d: %lld from %lld, %lld, the optimum is %lld", (int)seed, (long long)from_single,
                 (long long)single, (long long)from_linear, (long long)best);
      n_improved += from_single < single;
      n_all += best < SITU_NEVER_NS;
      n_best += best < SITU_NEVER_NS && from_linear == best;
    }
  }
  assert_true(n_all > 200 && n_improved > 50);
  if (n_best * 100 < n_all * 95) fail_msg("%d of %d are the best", (int)n_best, (int)n_all);
}

TEST_MAIN
