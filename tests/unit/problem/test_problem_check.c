/* Posed problems and their views keep their invariants; one broken field is named. */
#include "../../lab/lab.h"
#include "../broken.h"

static lab draw(uint64_t seed) {
  lab_options o = {.seed = seed,
                   .n_operators = 20,
                   .n_devices = 4,
                   .density = 0.2,
                   .n_colocations = 3,
                   .pinned = seed % 2,
                   .training = seed % 3 == 0,
                   .memory = seed % 4 == 0 ? 0.5 : 0};
  static const situ_execution models[] = {SITU_EXECUTION_STREAM, SITU_EXECUTION_CALLS, SITU_EXECUTION_PIPELINE};
  o.options.execution = models[seed % 3];
  return lab_random(&o);
}

TEST(posed_problems_and_their_views_keep_their_invariants) {
  for (uint64_t seed = 0; seed < 60; seed++) {
    OWN(lab) l = draw(seed);
    situ_problem view;
    assert_null(problem_check(l.problem));
    problem_view_pipeline(&view, l.problem);
    assert_null(problem_check(&view));
    problem_view_contiguous(&view, l.problem);
    assert_null(problem_check(&view));
    if (l.problem->execution == SITU_EXECUTION_STREAM) {
      problem_view_latency(&view, l.problem);
      assert_null(problem_check(&view));
    }
  }
}

TEST(a_broken_model_is_named) {
  lab l = draw(0); /* a stream */
  situ_problem *p = l.problem;
  BREAKS(problem_check(p), p->execution, SITU_EXECUTION_DEFAULT, "an execution is chosen");
  BREAKS(problem_check(p), p->objective, SITU_OBJECTIVE_DEFAULT, "an objective is chosen");
  BREAKS(problem_check(p), p->communication, SITU_COMMUNICATION_DEFAULT, "a communication is chosen");
  BREAKS(problem_check(p), p->execution, SITU_EXECUTION_PIPELINE, "judged by their period");
  BREAKS(problem_check(p), p->max_period_ns, 0, "above 0");
  BREAKS(problem_check(p), p->async_copies, true, "only pipelines");
  BREAKS(problem_check(p), p->max_calls, 0, "one call is allowed");
  BREAKS(problem_check(p), p->n_phases, 2, "two phases");
  BREAKS(problem_check(p), p->n_copies, 3, "copies"); /* 20 operators */
  lab_free(&l);
  l = draw(1); /* calls */
  BREAKS(problem_check(l.problem), l.problem->objective, SITU_OBJECTIVE_THROUGHPUT, "judged by their latency");
  BREAKS(problem_check(l.problem), l.problem->max_latency_ns, 5, "only streams");
  lab_free(&l);
}

TEST(a_broken_borrowing_is_named) {
  OWN(lab) l = draw(0);
  situ_problem *p = l.problem;
  BREAKS(problem_check(p), p->graph, NULL, "a graph, a platform and costs");
  BREAKS(problem_check(p), p->n_operators, 18, "n_operators");
  BREAKS(problem_check(p), p->n_devices, 3, "devices and memories");
  BREAKS(problem_check(p), p->memory_of, p->class_of, "device arrays");
  BREAKS(problem_check(p), p->time_ns, p->graph->size_bytes, "times are those of the costs");
  BREAKS(problem_check(p), p->n_kinds, 0, "sizes");
  BREAKS(problem_check(p), p->device_kind[1], p->device_kind[1] + 1, "device_kind");
}

TEST(a_broken_constraint_is_named) {
  OWN(lab) l = draw(0);
  situ_problem *p = l.problem;
  unit_list *x = &p->units;
  int32_t u = 0;
  while (unit_list_members(x, u).n < 2) u++;
  int32_t *member = x->member + x->start[u], pin = p->pin[member[0]] == 0 ? 1 : 0;
  int32_t *colocation = p->graph->colocation;
  assert_true(p->graph->n_colocations >= 2 && !p->conflict);
  BREAKS(problem_check(p), p->pin[3], p->n_devices, "pins are devices");
  BREAKS(problem_check(p), p->host, p->n_devices, "host is a device");
  BREAKS(problem_check(p), p->host, 1, "first host");
  BREAKS(problem_check(p), x->of[0], x->n, "in a unit");
  BREAKS(problem_check(p), x->of[0], 1, "by their first operator");
  BREAKS(problem_check(p), x->n, x->n + 1, "no unit is empty");
  BREAKS(problem_check(p), x->start[1], -1, "start lists");
  BREAKS(problem_check(p), member[0], member[1], "members of a unit ascend");
  BREAKS(problem_check(p), colocation[member[0]], -1, "or an operator alone");
  BREAKS(problem_check(p), colocation[member[1]], -1, "of two groups");
  BREAKS(problem_check(p), p->pin[member[0]], pin, "one pin");
}

TEST_MAIN
