/* As test_arguments.c: problems, plans, and what solves, writes and reports. */
#include <math.h>

#include "arguments_open.h"

TEST(a_problem_needs_its_nouns_and_options_that_exist) {
  situ_problem *posed = NULL;
  situ_problem_options options = SITU_PROBLEM_OPTIONS_INIT;
  REFUSED(situ_problem_pose(NULL, graph, platform, costs, NULL, error));
  REFUSED_OUT(posed, situ_problem_pose(&posed, NULL, platform, costs, NULL, error));
  REFUSED_OUT(posed, situ_problem_pose(&posed, graph, NULL, costs, NULL, error));
  REFUSED_OUT(posed, situ_problem_pose(&posed, graph, platform, NULL, NULL, error));
  REFUSED(situ_problem_change(NULL, problem, costs, error));
  REFUSED_OUT(posed, situ_problem_change(&posed, NULL, costs, error));
  REFUSED_OUT(posed, situ_problem_change(&posed, problem, NULL, error));
  const int none[] = EXTREMES(99);
  for (int k = 0; k < N_EXTREMES; k++)
    for (int f = 0; f < 5; f++) {
      situ_problem_options wrong = options;
      if (f == 0) wrong.objective = (situ_objective)none[k];
      if (f == 1) wrong.execution = (situ_execution)none[k];
      if (f == 2) wrong.contention = (situ_contention)none[k];
      if (f == 3) wrong.communication = (situ_communication)none[k];
      if (f == 4) wrong.schedule = (situ_schedule)none[k];
      REFUSED_OUT(posed, situ_problem_pose(&posed, graph, platform, costs, &wrong, error));
    }
  for (int f = 0; f < 6; f++) {
    situ_problem_options wrong = options;
    if (f == 0) wrong.in_flight = INT32_MIN;
    if (f == 1) wrong.copies = -1;
    if (f == 2) wrong.max_calls = -1;
    if (f == 3) wrong.max_period_ns = INT64_MIN;
    if (f == 4) wrong.max_latency_ns = -1;
    if (f == 5) wrong.micro_batches = -1;
    REFUSED_OUT(posed, situ_problem_pose(&posed, graph, platform, costs, &wrong, error));
  }
  situ_problem_options limits = options;
  for (int f = 0; f < 3; f++) {
    limits.max_unknown_percent = f == 0 ? -1 : f == 1 ? 100.5 : (double)NAN;
    REFUSED_OUT(posed, situ_problem_pose(&posed, graph, platform, costs, &limits, error));
    REFUSED(situ_problem_require_known(problem, f == 1 ? -1e300 : limits.max_unknown_percent, error));
  }
  REFUSED(situ_problem_require_known(NULL, 0, error));
  situ_unknown unknown = SITU_UNKNOWN_INIT, no_size = {.size = 0};
  const int32_t rows[] = EXTREMES(situ_problem_unknown_count(problem));
  for (int k = 0; k < N_EXTREMES; k++) assert_false(situ_problem_unknown_at(problem, rows[k], &unknown));
  assert_int_equal(situ_problem_unknown_count(NULL), 0);
  assert_false(situ_problem_unknown_at(NULL, 0, &unknown) || situ_problem_unknown_at(problem, 0, NULL) ||
               situ_problem_unknown_at(problem, 0, &no_size));
  SUMMARY(situ_problem_summary, situ_problem_get_summary, problem, asked);
  assert_true(!asked.conflict && *asked.scope);
  assert_null(situ_problem_graph(NULL));
  assert_null(situ_problem_platform(NULL));
  assert_null(situ_problem_costs(NULL));
}

TEST(a_plan_is_read_within_its_bounds_only) {
  const situ_plan *plans[] = {NULL, plan};
  situ_device_use use = SITU_DEVICE_USE_INIT;
  const int32_t *order = NULL;
  for (int i = 0; i < 2; i++) {
    const situ_plan *p = plans[i];
    situ_plan_summary has = SITU_PLAN_SUMMARY_INIT;
    assert_true(situ_plan_get_summary(p, &has) == (p != NULL));
    const int32_t ops[] = EXTREMES(has.n_operators), devices[] = EXTREMES(has.n_devices);
    const int32_t transfers[] = EXTREMES(has.n_transfers), counters[] = EXTREMES(has.n_statistics);
    for (int k = 0; k < N_EXTREMES; k++) {
      assert_int_equal(situ_plan_device(p, ops[k]), -1);
      assert_int_equal(situ_plan_call(p, ops[k]), -1);
      assert_true(situ_plan_start_ns(p, ops[k]) == 0 && situ_plan_finish_ns(p, ops[k]) == 0);
      assert_int_equal(situ_plan_transfer(p, transfers[k]).tensor, -1);
      assert_string_equal(situ_plan_statistic(p, counters[k]).name, "");
      assert_false(situ_plan_device_use(p, devices[k], &use));
    }
    situ_plan_order(p, NULL);
  }
  assert_false(situ_plan_device_use(plan, 0, NULL));
  assert_int_equal(situ_plan_order(NULL, &order), 0);
  assert_null(order);
  assert_null(situ_plan_problem(NULL));
  SUMMARY(situ_plan_summary, situ_plan_get_summary, plan, found);
  assert_true(found.exists && found.value_ns > 0);
  assert_true(situ_plan_by_parts_ns(NULL) == SITU_NEVER_NS);
  situ_robustness robustness = SITU_ROBUSTNESS_INIT;
  assert_false(situ_plan_robustness(NULL, &robustness));
  assert_false(situ_plan_robustness(plan, NULL));
}

/* A problem of another graph on another platform. */
static situ_problem *other_problem(situ_instance **other) {
  situ_instance_options options = SITU_INSTANCE_OPTIONS_INIT;
  options.model = "builtin:resnet50";
  options.platform = "cpu+v100-16g";
  DONE(situ_instance_open(other, &options, error));
  return (situ_problem *)(uintptr_t)situ_instance_problem(*other);
}

TEST(a_plan_of_another_problem_is_refused) {
  situ_instance *other = NULL;
  const situ_problem *q = other_problem(&other);
  situ_plan *again = NULL;
  char *text = NULL;
  const situ_plan *starts[] = {plan};
  situ_solve_options from = SITU_SOLVE_OPTIONS_INIT;
  from.starts = starts;
  from.n_starts = 1;
  REFUSED_OUT(again, situ_solve(&again, q, &from, error));
  REFUSED(situ_plan_write(plan, other, "x.json", error));
  REFUSED_OUT(text, situ_plan_text(&text, plan, other, error));
  REFUSED(situ_instance_export(other, plan, "csv", "x.csv", error));
  situ_comparison *compared = NULL;
  situ_page_options page = SITU_PAGE_OPTIONS_INIT;
  situ_solve_options quick = SITU_SOLVE_OPTIONS_INIT;
  quick.solvers = "single,heft";
  DONE(situ_compare(&compared, q, &quick, error));
  page.comparison = compared;
  REFUSED_OUT(text, situ_report_page(&text, plan, NULL, &page, error));
  situ_comparison_free(compared);
  situ_instance_free(other);
}

TEST(comparing_refuses_what_it_cannot_take) {
  situ_comparison *c = NULL;
  situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
  REFUSED(situ_compare(NULL, problem, NULL, error));
  REFUSED_OUT(c, situ_compare(&c, NULL, NULL, error));
  const char *const lists[] = {"no such", "single,", "single,-no such", "-"};
  for (int k = 0; k < 4; k++) {
    o.solvers = lists[k];
    REFUSED_OUT(c, situ_compare(&c, problem, &o, error));
  }
  o.size = 0;
  REFUSED_OUT(c, situ_compare(&c, problem, &o, error));
  assert_null(situ_comparison_problem(NULL));
  assert_false(situ_comparison_is_complete(NULL));
  assert_int_equal(situ_comparison_count(NULL), 0);
  situ_comparison_free(NULL);
  o.size = sizeof o;
  o.solvers = "single";
  DONE(situ_compare(&c, problem, &o, error));
  const int32_t past[] = {-1, 1, INT32_MIN, INT32_MAX};
  for (int k = 0; k < 4; k++) assert_string_equal(situ_comparison_at(c, past[k]).solver, "");
  assert_string_equal(situ_comparison_at(NULL, 0).failure, "");
  situ_comparison_free(c);
}

TEST(solving_refuses_what_it_cannot_take) {
  situ_plan *p = NULL;
  situ_front *front = NULL;
  situ_solve_options o = SITU_SOLVE_OPTIONS_INIT, wrong;
  situ_pareto_options points = SITU_PARETO_OPTIONS_INIT;
  const situ_plan *missing[] = {NULL};
  REFUSED(situ_solve(NULL, problem, NULL, error));
  REFUSED_OUT(p, situ_solve(&p, NULL, NULL, error));
  for (int f = 0; f < 8; f++) {
    wrong = o;
    if (f == 0) wrong.time_limit_s = -1;
    if (f == 1) wrong.time_limit_s = (double)NAN;
    if (f == 2) wrong.max_steps = INT64_MIN;
    if (f == 3) wrong.tune_steps = -1;
    if (f == 4) wrong.n_starts = 1;
    if (f == 5) wrong.n_starts = -1;
    if (f == 6) wrong.solvers = "heft,,heft";
    if (f == 7) wrong.starts = missing, wrong.n_starts = 1;
    REFUSED_OUT(p, situ_solve(&p, problem, &wrong, error));
  }
  o.solvers = ""; /* as NULL: auto */
  o.max_steps = 1;
  o.threads = INT32_MIN; /* as 0 */
  o.time_limit_s = (double)INFINITY;
  DONE(situ_solve(&p, problem, &o, error));
  situ_plan_free(p);
  points.points = 1;
  REFUSED(situ_pareto(NULL, problem, NULL, error));
  REFUSED_OUT(front, situ_pareto(&front, NULL, NULL, error));
  REFUSED_OUT(front, situ_pareto(&front, problem, &points, error));
  points.points = INT32_MIN;
  REFUSED_OUT(front, situ_pareto(&front, problem, &points, error));
  points.points = 2;
  wrong.max_steps = -1;
  points.solve = &wrong;
  REFUSED_OUT(front, situ_pareto(&front, problem, &points, error));
  assert_null(situ_front_problem(NULL));
  assert_null(situ_front_plan(NULL, 0));
  situ_front_summary says = SITU_FRONT_SUMMARY_INIT;
  assert_false(situ_front_get_summary(NULL, &says));
}

TEST(simulating_needs_devices_that_exist) {
  situ_plan *p = NULL;
  situ_graph_summary has = SITU_GRAPH_SUMMARY_INIT;
  assert_true(situ_graph_get_summary(graph, &has));
  int32_t n = has.n_operators;
  int32_t *device = calloc((size_t)n, sizeof *device), *order = calloc((size_t)n, sizeof *order);
  REFUSED(situ_simulate(NULL, problem, device, NULL, error));
  REFUSED_OUT(p, situ_simulate(&p, NULL, device, NULL, error));
  REFUSED_OUT(p, situ_simulate(&p, problem, NULL, NULL, error));
  REFUSED_OUT(p, situ_simulate(&p, problem, device, order, error)); /* all 0 is no order */
  const int32_t wrong[] = EXTREMES(3);
  for (int k = 0; k < N_EXTREMES; k++) {
    device[n - 1] = wrong[k];
    REFUSED_OUT(p, situ_simulate(&p, problem, device, NULL, error));
  }
  free(device);
  free(order);
  REFUSED(situ_plan_carry(NULL, plan, problem, error));
  REFUSED_OUT(p, situ_plan_carry(&p, NULL, problem, error));
  REFUSED_OUT(p, situ_plan_carry(&p, plan, NULL, error));
  DONE(situ_plan_carry(&p, plan, problem, error));
  situ_plan_free(p);
}

TEST(instances_and_plan_files_need_names) {
  situ_instance *i = NULL;
  situ_plan *p = NULL;
  situ_instance_options o = SITU_INSTANCE_OPTIONS_INIT;
  const char *missing[] = {NULL};
  REFUSED_OUT(i, situ_instance_open(&i, NULL, error));
  REFUSED_OUT(i, situ_instance_open(&i, &o, error)); /* no model */
  o.model = "builtin:resnet50";
  REFUSED(situ_instance_open(NULL, &o, error));
  for (int f = 0; f < 6; f++) {
    *(f < 3 ? &o.n_unused : &o.n_rules) = f % 3 == 0 ? -1 : 1;
    *(f < 3 ? &o.unused : &o.rules) = f % 3 == 2 ? missing : NULL;
    REFUSED_OUT(i, situ_instance_open(&i, &o, error));
    o.n_unused = o.n_rules = 0;
  }
  assert_null(situ_instance_problem(NULL));
  assert_null(situ_instance_model(NULL));
  assert_int_equal(situ_instance_granularity(NULL), SITU_GRANULARITY_FUSED);
  REFUSED(situ_place(NULL, &i, &o, NULL, error));
  REFUSED(situ_place(&p, NULL, &o, NULL, error));
  REFUSED_OUT(p, situ_place(&p, &i, NULL, NULL, error));
  REFUSED(situ_replay(NULL, plan, error));
  REFUSED_OUT(p, situ_replay(&p, NULL, error));
  REFUSED(situ_plan_write(NULL, instance, "x", error));
  REFUSED(situ_plan_write(plan, NULL, "x", error));
  REFUSED(situ_plan_write(plan, instance, NULL, error));
  assert_int_equal(situ_plan_write(plan, instance, "", NULL), SITU_STATUS_IO);
  REFUSED(situ_plan_read(NULL, &i, "x", error));
  REFUSED(situ_plan_read(&p, NULL, "x", error));
  REFUSED_OUT(p, situ_plan_read(&p, &i, NULL, error));
  REFUSED(situ_plan_read_with(NULL, &i, NULL, "x", error));
  REFUSED(situ_plan_read_with(&p, NULL, NULL, "x", error));
  REFUSED_OUT(p, situ_plan_read_with(&p, &i, NULL, NULL, error));
  assert_int_equal(situ_plan_read_with(&p, &i, NULL, "", NULL), SITU_STATUS_IO);
  assert_int_equal(situ_plan_read(&p, &i, "", NULL), SITU_STATUS_IO);
  REFUSED(situ_plan_import(NULL, &i, &o, "x", error));
  REFUSED(situ_plan_import(&p, NULL, &o, "x", error));
  REFUSED_OUT(p, situ_plan_import(&p, &i, NULL, "x", error));
  REFUSED_OUT(p, situ_plan_import(&p, &i, &o, NULL, error));
}

TEST(learning_needs_a_learner_and_problems) {
  situ_learn_report report = SITU_LEARN_REPORT_INIT, unsized = {0};
  situ_learn_options o = SITU_LEARN_OPTIONS_INIT;
  const situ_problem *problems[] = {NULL};
  o.steps = 1;
  o.out = "policy";
  REFUSED(situ_learn(NULL, NULL, "gdp", NULL, 0, &o, error));
  REFUSED(situ_learn(&report, NULL, NULL, NULL, 0, &o, error));
  situ_learn_progress step = SITU_SIZED(situ_learn_progress);
  char *text = NULL;
  REFUSED_OUT(text, situ_report_learn_step_json(&text, NULL, problem, error));
  REFUSED_OUT(text, situ_report_learn_step_json(&text, &step, NULL, error));
  REFUSED_OUT(text, situ_report_learn(&text, NULL, NULL, 0, "policy", SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_learn(&text, &report, NULL, 1, "policy", SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_learn(&text, &unsized, NULL, 0, "policy", SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_learn(&text, &report, NULL, INT32_MIN, "policy", SITU_REPORT_JSON, NULL, error));
  REFUSED_OUT(text, situ_report_learn(&text, &report, NULL, 0, NULL, SITU_REPORT_JSON, NULL, error));
  if (situ_learner_count() == 0) return;
  REFUSED(situ_learn(&report, NULL, "gdp", NULL, 0, NULL, error));
  REFUSED(situ_learn(&unsized, NULL, "gdp", NULL, 0, &o, error));
  REFUSED(situ_learn(&report, NULL, "gdp", NULL, 1, &o, error));
  REFUSED(situ_learn(&report, NULL, "gdp", problems, 1, &o, error));
  REFUSED(situ_learn(&report, NULL, "gdp", problems, INT32_MIN, &o, error));
  REFUSED(situ_learn(&report, NULL, "", &problem, 1, &o, error));
}

TEST(writers_and_reports_need_their_nouns) {
  char *text = NULL;
  situ_report_options look = SITU_REPORT_OPTIONS_INIT;
  REFUSED_OUT(text, situ_write(&text, NULL, plan, error));
  REFUSED_OUT(text, situ_write(&text, "", plan, error));
  REFUSED_OUT(text, situ_write(&text, "csv", NULL, error));
  REFUSED(situ_write(NULL, "csv", plan, error));
  REFUSED(situ_instance_export(instance, plan, "csv", NULL, error));
  REFUSED(situ_instance_export(NULL, plan, "csv", "x", error));
  REFUSED(situ_instance_export(instance, NULL, "csv", "x", error));
  REFUSED(situ_instance_export(instance, plan, "no such", "x", error));
  REFUSED(situ_report_plan(NULL, plan, model, SITU_REPORT_TABLE, &look, error));
  REFUSED_OUT(text, situ_report_plan(&text, NULL, model, SITU_REPORT_TABLE, &look, error));
  REFUSED_OUT(text, situ_report_plan(&text, NULL, model, SITU_REPORT_JSON, NULL, error));
  REFUSED_OUT(text, situ_report_plan(&text, NULL, NULL, SITU_REPORT_SVG, NULL, error));
  REFUSED_OUT(text, situ_report_compare(&text, NULL, NULL, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_compare(&text, NULL, NULL, SITU_REPORT_JSON, NULL, error));
  REFUSED_OUT(text, situ_report_pareto(&text, NULL, NULL, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_pareto(&text, NULL, NULL, SITU_REPORT_JSON, NULL, error));
  REFUSED_OUT(text, situ_report_inspect(&text, NULL, NULL, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_inspect(&text, NULL, NULL, SITU_REPORT_JSON, NULL, error));
  REFUSED_OUT(text, situ_report_costs(&text, NULL, SITU_REPORT_JSON, NULL, error));
  REFUSED_OUT(text, situ_report_costs(&text, NULL, SITU_REPORT_CSV, NULL, error));
  REFUSED_OUT(text, situ_report_verdict(&text, NULL, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_verdict(&text, NULL, SITU_REPORT_JSON, NULL, error));
  REFUSED_OUT(text, situ_report_list(&text, NULL, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_list(&text, "", SITU_REPORT_JSON, NULL, error));
  REFUSED_OUT(text, situ_report_list(&text, "nothing", SITU_REPORT_NAMES, NULL, error));
  look.size = 1;
  REFUSED_OUT(text, situ_report_plan(&text, plan, NULL, SITU_REPORT_TABLE, &look, error));
  const int32_t widths[] = EXTREMES(1);
  look.size = sizeof look;
  for (int k = 0; k < N_EXTREMES; k++) { /* kept within what can be read */
    look.width = widths[k];
    DONE(situ_report_plan(&text, plan, NULL, SITU_REPORT_TABLE, &look, error));
    situ_text_free(text);
  }
}

/* A caller of a later version: the options have a field more than this library knows. */
typedef struct later_options {
  situ_solve_options known;
  int64_t later;
} later_options;

TEST(structs_of_other_versions_are_taken_by_their_size) {
  situ_plan *p = NULL;
  later_options later = {.known = SITU_SOLVE_OPTIONS_INIT};
  later.known.size = sizeof later;
  later.known.solvers = "single";
  DONE(situ_solve(&p, problem, &later.known, error)); /* the new field is at its default */
  situ_plan_free(p);
  later.later = 1;
  REFUSED_OUT(p, situ_solve(&p, problem, &later.known, error));
  /* A caller of an earlier version, which knew `solvers` alone: the rest counts as 0, whatever lies behind it. */
  situ_solve_options earlier;
  memset(&earlier, 0xff, sizeof earlier);
  earlier.size = offsetof(situ_solve_options, time_limit_s);
  earlier.solvers = "single";
  DONE(situ_solve(&p, problem, &earlier, error));
  situ_plan_free(p);
  const size_t wrong[] = {0, 1, sizeof(size_t) - 1, SIZE_MAX};
  for (int k = 0; k < 4; k++) {
    earlier.size = wrong[k];
    REFUSED_OUT(p, situ_solve(&p, problem, &earlier, error));
  }
  /* Infos: an earlier caller gets what it knows, and nothing behind it is touched; a later one gets 0 for the rest. */
  struct {
    situ_writer_info known;
    int64_t later;
  } info = {.later = 5};
  info.known.size = offsetof(situ_writer_info, title);
  assert_true(situ_writer_at(0, &info.known));
  assert_true(info.known.name && !info.known.title && info.later == 5);
  info.known.size = sizeof info;
  assert_true(situ_writer_at(0, &info.known));
  assert_true(info.known.title && info.known.suffix && info.later == 0);
}

int arguments_solve_tests(void) { return TEST_RUN(open_all, close_all); }
