/* The commented templates of a solver and of a local search are solvers. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "solve/common/solver.h"

extern const solver template_solver, template_search_solver;

/* Two operators of 5 on two equal devices, nothing between them: 10 on one, 5 on both. Nothing says that 5 is the best,
 * so all 100 steps are used: the 1000 idle moves of the one are more than these, the other never ends by itself. */
static void finds_the_best_plan(const solver *row) {
  OWN(lab) s = lab_new();
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
                   .solver = row->name,
                   .threads = 1,
                   .arena = s.arena};
  assert_true(solver_serves(row, s.problem));
  assert_int_equal(solver_run(row, &run, 1, 0), SITU_STATUS_OK);
  assert_int_equal(best.value_ns, 5);
  assert_int_equal(b.steps, 100);
  incumbent_free(&best);
}

TEST(the_template_is_a_solver) { finds_the_best_plan(&template_solver); }

TEST(the_template_of_a_local_search_is_a_solver) { finds_the_best_plan(&template_search_solver); }

TEST_MAIN
