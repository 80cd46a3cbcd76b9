/* The commented template of a solver is one. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "solve/common/solver.h"

extern const solver template_solver;

/* Two operators of 5 on two equal devices, nothing between them: 10 on one, 5 on both. */
static void the_template_is_a_solver(void **state) {
  (void)state;
  lab s = lab_new();
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, false);
  lab_star(&s);
  lab_operator(&s, "a", 5, 0, 0);
  lab_operator(&s, "b", 5, 0, 0);
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  budget b = budget_new(100, 0, NULL, NULL);
  incumbent best;
  solve_watch watch = {0};
  assert_true(incumbent_init(&best, s.problem, s.arena));
  solve_run run = {.problem = s.problem,
                   .simulator = s.simulator,
                   .budget = &b,
                   .incumbent = &best,
                   .watch = &watch,
                   .solver = template_solver.name,
                   .threads = 1,
                   .arena = s.arena};
  assert_true(solver_serves(&template_solver, s.problem));
  assert_int_equal(solver_run(&template_solver, &run, 1, 0), SITU_STATUS_OK);
  assert_int_equal(best.value_ns, 5);
  assert_int_equal(b.steps, 100); /* nothing says that 5 is the best, and 1000 idle moves are more than its steps */
  incumbent_free(&best);
  lab_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_template_is_a_solver)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
