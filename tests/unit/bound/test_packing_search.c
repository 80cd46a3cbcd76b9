/* The bound packing by hand: what fits only after a first choice is taken back. The oracle has all small problems. */
#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/test.h"
#include "bound/bound.h"

/* Whether the bound says that there is no plan in an execution model. Frees the problem. */
static bool refuted_in(lab *s, situ_execution execution) {
  lab_pose(s, &(situ_problem_options){.execution = execution});
  int64_t lower_ns = proved_bound(NULL, &packing_bound, s->problem, s->arena);
  assert_true(lower_ns == 0 || lower_ns == SITU_NEVER_NS);
  lab_free(s);
  return lower_ns == SITU_NEVER_NS;
}

static bool refuted(lab *s) { return refuted_in(s, SITU_EXECUTION_STREAM); }

/* Whether the bound says that operators of these weights, each of which makes a result of `result_bytes`, do not fit
 * into two memories of `room_bytes` each. */
static bool refutes(const int64_t *weight_bytes, int32_t n, int64_t result_bytes, int64_t room_bytes) {
  lab s = lab_mesh(2, room_bytes);
  for (int32_t v = 0; v < n; v++) {
    char name[8];
    snprintf(name, sizeof name, "%d", (int)v);
    lab_operator(&s, name, 1, weight_bytes[v], 0);
    if (result_bytes > 0) lab_tensor(&s, v, result_bytes, -1);
  }
  return refuted(&s);
}

/* 4 + 3 + 3 and 4 + 3 + 3 fill two memories of 10 bytes; with both 4 in the first, 3 + 3 + 3 fit into the second and
 * one is left. No few of 4, 4, 4, 3, 3 make up 9, nor of 7, 7, 6 make up 10. */
TEST(a_first_choice_is_taken_back) {
  assert_false(refutes((const int64_t[]){4, 4, 3, 3, 3, 3}, 6, 0, 10));
  assert_true(refutes((const int64_t[]){4, 4, 4, 3, 3}, 5, 0, 9));
  assert_true(refutes((const int64_t[]){7, 7, 6}, 3, 0, 10));
}

/* What nobody uses stays to the end: weights of 3 and 4 bytes with results of 2 and 1 each fill memories of 10. */
TEST(weights_and_results_may_fill_a_memory) {
  assert_false(refutes((const int64_t[]){3, 3, 3, 3}, 4, 2, 10));
  assert_true(refutes((const int64_t[]){3, 3, 3, 3}, 4, 2, 9));
  assert_false(refutes((const int64_t[]){4, 4, 4, 4}, 4, 1, 10));
}

/* a and b weigh 2 bytes and take 7 more while they run, c weighs 2: with c either memory would have to hold 2 + 2 + 7,
 * with both of a and b too, so 10 bytes are too few and 11 are not. What runs longest counts once, whoever comes last.
 */
TEST(what_runs_takes_room_beside_all_that_is_held) {
  for (int64_t room_bytes = 10; room_bytes <= 11; room_bytes++) {
    lab s = lab_mesh(2, room_bytes);
    lab_operator(&s, "a", 1, 2, 7);
    lab_operator(&s, "b", 1, 2, 7);
    lab_operator(&s, "c", 1, 2, 0);
    assert_int_equal(refuted(&s), room_bytes == 10);
  }
}

/* b weighs 6 bytes and takes 4 more while it runs, a weighs 2 and leaves a result of 4, c weighs 1 and takes 4 more. At
 * the end b alone and a alone fill 6 bytes, but only beside a there is room for c to run, before a: 2 + 1 + 4 of 10. */
TEST(memories_with_as_much_at_the_end_are_not_alike) {
  lab s = lab_mesh(2, 10);
  lab_operator(&s, "b", 1, 6, 4);
  int32_t a = lab_operator(&s, "a", 1, 2, 0);
  lab_operator(&s, "c", 1, 1, 4);
  lab_tensor(&s, a, 4, -1);
  assert_false(refuted(&s));
}

/* A tensor of 2 bytes from a forward to a backward operator: what either of them needs while it runs. Two bytes are
 * enough for calls, which have no stash. In a pipeline the stash of the forward one comes to that: 2 + 2. */
TEST(only_a_pipeline_has_a_stash) {
  const situ_execution executions[] = {SITU_EXECUTION_CALLS, SITU_EXECUTION_PIPELINE};
  for (size_t k = 0; k < 2; k++) {
    lab s = lab_mesh(1, 2);
    int32_t forward = lab_of_phase(&s, "f", 1, SITU_PHASE_FORWARD, -1);
    int32_t backward = lab_of_phase(&s, "b", 1, SITU_PHASE_BACKWARD, -1);
    lab_tensor(&s, forward, 2, backward, -1);
    assert_int_equal(refuted_in(&s, executions[k]), executions[k] == SITU_EXECUTION_PIPELINE);
  }
}

TEST_MAIN
