/* A build without policies that learn says so wherever one is asked for. */
#include "../../lab/test.h"
#include "learn/learned_solvers.h"
#include "situ.h"

TEST(the_rows_of_policies_stay_in_the_table_and_serve_nothing) {
  static const char *const names[] = {"gdp", "hsdag", "cross_entropy", "rnn_placer", "hdp", "placeto"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    situ_solver_info row = SITU_SOLVER_INFO_INIT;
    int32_t i = 0;
    while (situ_solver_at(i, &row) && strcmp(row.name, names[k]) != 0) i++;
    assert_true(i < situ_solver_count());
    assert_false(row.stream || row.calls || row.pipeline);
    assert_non_null(strstr(row.title, "not in this build"));
    assert_non_null(row.missing);
  }
}

TEST(a_solver_that_learns_is_unsupported) {
  situ_error error = {0};
  OWN(situ_instance) *instance = NULL;
  situ_plan *plan = NULL;
  situ_instance_options o = {
      .size = sizeof(situ_instance_options), .model = "builtin:layered?operators=20", .platform = "2*p100-16g"};
  assert_int_equal(situ_instance_open(&instance, &o, &error), SITU_STATUS_OK);
  situ_solve_options how = {.size = sizeof(situ_solve_options), .solvers = "gdp"};
  assert_int_equal(situ_solve(&plan, situ_instance_problem(instance), &how, &error), SITU_STATUS_UNSUPPORTED);
  assert_null(plan);
  assert_non_null(strstr(error.text, "gdp"));
}

TEST(training_is_unsupported) {
  situ_error error = {0};
  situ_learn_report report = SITU_LEARN_REPORT_INIT;
  situ_learn_options o = {.size = sizeof(situ_learn_options), .out = "never.policy", .steps = 1};
  assert_int_equal(situ_learner_count(), 0);
  assert_int_equal(situ_learn(&report, NULL, "gdp", NULL, 0, &o, &error), SITU_STATUS_UNSUPPORTED);
  assert_non_null(strstr(error.text, "not in this build"));
}

TEST_MAIN
