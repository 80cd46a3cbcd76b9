/* Orders of passes by chunks: as published, and what they keep and how long they wait by the formulas of their papers.
 */
#include "view/chunks.h"

#include <stdio.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "view/pipeline_step.h"

/* The passes of a rank as text: F, B or W, chunk and input. */
static void expect_order(situ_schedule schedule, int32_t n_used, int32_t rank, int32_t n_inputs, const char *expected) {
  situ_problem p = {.schedule = schedule, .chunks = 2, .micro_batches = n_inputs};
  chunk_pass list[200];
  char text[1000] = "";
  int64_t n = chunk_passes(list, &p, n_used, rank, n_inputs);
  assert_true(n <= chunk_passes_max(&p, n_used, n_inputs) && n <= 200);
  for (int64_t i = 0; i < n; i++)
    snprintf(text + strlen(text), sizeof text - strlen(text), "%s%c%d%d", i ? " " : "", "FBW"[list[i].kind],
             (int)list[i].j, (int)list[i].input);
  assert_string_equal(text, expected);
}

/* Narayanan et al., SC 2021, figure 4 (bottom), for two devices and four micro-batches. */
TEST(interleaved_passes_are_those_of_megatron) {
  expect_order(SITU_SCHEDULE_INTERLEAVED, 2, 0, 4, "F00 F01 F10 F11 F02 B10 F03 B11 F12 B00 F13 B01 B12 B13 B02 B03");
  expect_order(SITU_SCHEDULE_INTERLEAVED, 2, 1, 4, "F00 F01 F10 B10 F11 B11 F02 B00 F03 B01 F12 B12 F13 B13 B02 B03");
}

/* Qi et al., section 6: the first of two devices makes 2 p - 1 forward passes of its first chunk before its second has
 * anything to do, the last one starts with one of each. */
TEST(passes_of_a_v_are_those_of_its_paper) {
  expect_order(SITU_SCHEDULE_ZB_V, 2, 0, 4,
               "F00 F01 F02 F10 B10 W10 F11 B11 W11 F03 B00 W00 F12 B12 W12 B01 W01 F13 B13 W13 B02 W02 B03 W03");
  expect_order(SITU_SCHEDULE_ZB_V, 2, 1, 4,
               "F00 F10 F01 F11 B10 W10 F02 B00 W00 F12 B11 W11 F03 B01 W01 F13 B12 W12 B02 B13 B03 W02 W13 W03");
}

/* Stages of equal chunks, each of one byte for an input: of 1F1B with chunks the first device keeps
 * (v - 1) p + 2 (p - 1) + 1 (Megatron-LM's warm-up passes and one), or all; a V keeps 2 p everywhere, as many as 1F1B
 * keeps of its first, undivided stage. */
TEST(devices_keep_what_their_papers_say) {
  static const int64_t each[PROBLEM_MAX_CHUNKS] = {1, 1, 1, 1, 1, 1};
  static chunk_pass list[4000];
  for (int32_t p = 2; p <= 8; p++)
    for (int32_t v = 2; v <= 5; v++)
      for (int32_t rounds = 1; rounds <= 5; rounds++)
        for (int32_t rank = 0; rank < p; rank++) {
          situ_problem o = {.schedule = SITU_SCHEDULE_INTERLEAVED, .chunks = v, .micro_batches = rounds * p};
          int64_t kept = (v - 1) * p + 2 * (p - 1 - rank) + 1, all = (int64_t)rounds * p * v;
          int64_t n = chunk_passes(list, &o, p, rank, rounds * p);
          assert_int_equal(n, 2 * all);
          assert_int_equal(chunk_kept_bytes(list, n, each, false), kept < all ? kept : all);
          n = chunk_passes(list, &o, p, rank, chunk_inputs_seen(&o, p)); /* and the first inputs show it */
          assert_int_equal(chunk_kept_bytes(list, n, each, false), kept < all ? kept : all);
          if (v > 2 || rounds < 2) continue;
          o.schedule = SITU_SCHEDULE_ZB_V;
          n = chunk_passes(list, &o, p, rank, rounds * p);
          assert_int_equal(n, 3 * all);
          assert_int_equal(chunk_kept_bytes(list, n, each, true), 2 * p);
        }
}

/* The step of equal chunks on n devices; forward passes take 10 ns, backward ones 10 for inputs and 10 for weights. */
static pipeline_step step_of(situ_schedule schedule, int32_t n, int32_t chunks, int32_t micro_batches) {
  OWN(lab) l = lab_mesh(n, SITU_UNLIMITED_BYTES);
  int32_t device[2 * LAB_MAX_OPERATORS], n_chunks = n * chunks;
  char name[16];
  for (int32_t v = 0; v < 2 * n_chunks; v++) {
    bool back = v >= n_chunks;
    int32_t c = back ? 2 * n_chunks - 1 - v : v;
    snprintf(name, sizeof name, "v%d", (int)v);
    situ_operator op = {.name = name, .source_id = -1, .colocation = c, .phase = SITU_PHASE_FORWARD};
    if (back) op.phase = SITU_PHASE_BACKWARD, op.weight_bytes = 1;
    lab_add(&l, op, back ? 20 : 10);
    device[v] = schedule == SITU_SCHEDULE_ZB_V && c >= n ? n_chunks - 1 - c : c % n;
  }
  for (int32_t v = 0; v + 1 < 2 * n_chunks; v++) lab_tensor(&l, v, 0, v + 1, -1);
  lab_tensor(&l, 2 * n_chunks - 1, 0, -1);
  lab_pose(&l, &(situ_problem_options){.objective = SITU_OBJECTIVE_THROUGHPUT,
                                       .communication = SITU_COMMUNICATION_LINK,
                                       .schedule = schedule,
                                       .chunks = schedule == SITU_SCHEDULE_ZB_V ? 0 : chunks,
                                       .micro_batches = micro_batches});
  simulation found = simulator_run(l.simulator, &(placement){.device = device}, false);
  assert_int_equal(found.value_ns, 30 * chunks);
  pipeline_step step;
  assert_true(pipeline_step_find(&step, l.problem, device, NULL, found.value_ns, 30 * chunks, l.arena));
  return step;
}

TEST(chunks_wait_for_times_that_are_known) {
  for (int32_t n = 2; n <= 4; n++)
    for (int32_t rounds = 2; rounds <= 4; rounds++) {
      int32_t m = n * rounds;
      /* Narayanan et al., section 2.2.2: (p - 1) / v of what a whole input takes */
      for (int32_t v = 2; v <= 4; v++)
        assert_int_equal(step_of(SITU_SCHEDULE_INTERLEAVED, n, v, m).step_ns, 30 * v * m + (n - 1) * 30);
      /* Qi et al., table 1: no bubble where all passes take equally long; the last device starts n - 1 chunks late */
      assert_int_equal(step_of(SITU_SCHEDULE_ZB_V, n, 2, m).step_ns, 60 * m + (n - 1) * 10);
    }
}

TEST_MAIN
