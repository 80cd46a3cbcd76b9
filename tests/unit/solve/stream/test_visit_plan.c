/* Plans from the labels of visit_labels: a small network by hand, and what is not theirs. */
#include "../../../lab/brute.h"
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "plan/plan.h"
#include "situ/plan.h"
#include "situ/solve.h"

/* a, b, c, d in a row, and d reads a too, as in tests/unit/bound/test_visit_labels.c: the fast memory holds two of
 * four, and the bound, 130 ns, has a and d there. */
static lab residual(int64_t memory_bytes) {
  static const int64_t HOST_NS[] = {60, 50, 50, 60};
  lab l = lab_new();
  lab_device(&l, SITU_UNLIMITED_BYTES, -1, true);
  lab_device(&l, memory_bytes, -1, false);
  lab_link(&l, 0, 1, 0, -1);
  lab_link(&l, 1, 0, 0, -1);
  for (int32_t v = 0; v < 4; v++) {
    lab_operator(&l, NULL, 5, 100, 0);
    l.time_ns[v][0] = HOST_NS[v];
  }
  lab_tensor(&l, 0, 10, 1, -1);
  lab_tensor(&l, 0, 60, 3, -1);
  lab_tensor(&l, 1, 10, 2, -1);
  lab_tensor(&l, 2, 10, 3, -1);
  lab_pose(&l, &(situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM});
  return l;
}

static situ_plan *plan_of(const situ_problem *p, bool no_bounds) {
  situ_plan *plan;
  situ_error error;
  situ_solve_options o = {.size = sizeof o, .solvers = "visit_plan", .no_bounds = no_bounds};
  if (situ_solve(&plan, p, &o, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  return plan;
}

TEST(the_plan_has_operators_where_the_bound_has_them) {
  OWN(lab) l = residual(290);
  assert_int_equal(brute_force(l.problem, NULL), 130);
  OWN(situ_plan) *plan = plan_of(l.problem, false);
  assert_int_equal(plan->value_ns, 130);
  assert_int_equal(plan->lower_bound_ns, 130);
  for (int32_t v = 0; v < 4; v++) assert_int_equal(situ_plan_device(plan, v), v == 0 || v == 3);
}

/* Without bounds there are no labels, and where everything fits (4 x 5 = 20 ns) there is no path: the plan is HEFT's.
 */
TEST(without_labels_the_plan_is_that_of_heft) {
  OWN(lab) tight = residual(290), loose = residual(10000);
  situ_plan *plan = plan_of(tight.problem, true);
  assert_true(plan->value_ns >= 130 && plan->value_ns < SITU_NEVER_NS);
  situ_plan_free(plan);
  plan = plan_of(loose.problem, false);
  assert_int_equal(plan->value_ns, 20);
  situ_plan_free(plan);
}

TEST_MAIN
