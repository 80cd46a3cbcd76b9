/* As test_arguments.c: what tells the reasons of a plan, with NULL, empty and extreme arguments. */
#include "../lab/test.h"
#include "careless.h"
#include "situ.h"

static situ_instance *instance;
static const situ_problem *problem;
static situ_plan *plan;

static int open_all(void **state) {
  situ_instance_options options = SITU_INSTANCE_OPTIONS_INIT;
  situ_solve_options effort = SITU_SOLVE_OPTIONS_INIT;
  options.model = "builtin:rnnlm?layers=2&steps=3";
  options.platform = "cpu+2*v100-16g";
  effort.max_steps = 50;
  DONE(situ_place(&plan, &instance, &options, &effort, error));
  problem = situ_instance_problem(instance);
  return 0;
}

static int close_all(void **state) {
  situ_plan_free(plan);
  situ_instance_free(instance);
  return 0;
}

TEST(verdicts_are_read_within_their_bounds_only) {
  situ_verdict *v = NULL, *verdict = NULL;
  DONE(situ_check(&verdict, plan, error));
  REFUSED(situ_check(NULL, plan, error));
  REFUSED_OUT(v, situ_check(&v, NULL, error));
  situ_verdict_require_proof(NULL);
  REFUSED(situ_verdict_recompute(NULL, error));
  assert_string_equal(situ_verdict_violation(NULL, 0).rule, "");
  DONE(situ_verdict_recompute(verdict, error));
  REFUSED(situ_verdict_ask_engine(NULL, instance, NULL, error));
  REFUSED(situ_verdict_ask_engine(verdict, NULL, NULL, error));
  DONE(situ_verdict_ask_engine(verdict, instance, NULL, error)); /* no GGUF file: nothing is asked */
  assert_int_equal(situ_verdict_engine_bytes(NULL, 0), -1);
  SUMMARY(situ_verdict_summary, situ_verdict_get_summary, verdict, says);
  assert_true(says.n_found == 0);
  const int32_t wrong[] = EXTREMES(says.n_violations);
  for (int k = 0; k < N_EXTREMES; k++) {
    assert_string_equal(situ_verdict_violation(verdict, wrong[k]).text, "");
    assert_int_equal(situ_verdict_engine_bytes(verdict, wrong[k]), -1);
  }
  situ_verdict_free(verdict);
}

TEST(explanations_are_read_within_their_bounds_only) {
  situ_explanation *x = NULL;
  REFUSED(situ_explain(NULL, plan, error));
  REFUSED_OUT(x, situ_explain(&x, NULL, error));
  situ_explanation_free(NULL);
  DONE(situ_explain(&x, plan, error));
  SUMMARY(situ_explanation_summary, situ_explanation_get_summary, x, says);
  const int32_t stages[] = EXTREMES(says.n_stages), steps[] = EXTREMES(says.n_steps);
  for (int k = 0; k < N_EXTREMES; k++) {
    assert_int_equal(situ_explanation_stage(x, stages[k]).device, -1);
    assert_int_equal(situ_explanation_step(x, steps[k]).op, -1);
  }
  assert_int_equal(situ_explanation_stage(NULL, 0).device, -1);
  assert_int_equal(situ_explanation_step(NULL, 0).transfer, -1);
  const int32_t parts[] = EXTREMES(says.n_parts), shares[] = EXTREMES(says.n_shares);
  situ_plan_summary of = SITU_PLAN_SUMMARY_INIT;
  assert_true(situ_plan_get_summary(plan, &of));
  const int32_t operators[] = EXTREMES(of.n_operators);
  for (int k = 0; k < N_EXTREMES; k++) {
    assert_int_equal(situ_explanation_part(x, parts[k]).device, -1);
    assert_string_equal(situ_explanation_part_name(x, parts[k]), "");
    assert_int_equal(situ_explanation_part_of(x, operators[k]), -1);
    assert_int_equal(situ_explanation_share(x, shares[k]).time_ns, 0);
  }
  assert_int_equal(situ_explanation_part(NULL, 0).device, -1);
  assert_string_equal(situ_explanation_part_name(NULL, 0), "");
  assert_int_equal(situ_explanation_part_of(NULL, 0), -1);
  assert_int_equal(situ_explanation_share(NULL, 0).device, -1);
  const int none[] = EXTREMES(1000);
  for (int k = 0; k < N_EXTREMES; k++) assert_string_equal(situ_limit_name((situ_limit_kind)none[k]), "unknown");
  situ_explanation_free(x);
}

/* Pages and the other pictures. */
static void refuse_pages(const situ_what_if_list *list) {
  char *text;
  situ_page_options page = SITU_PAGE_OPTIONS_INIT;
  REFUSED(situ_report_page(NULL, plan, NULL, NULL, error));
  REFUSED_OUT(text, situ_report_page(&text, NULL, NULL, NULL, error));
  REFUSED_OUT(text, situ_report_plan(&text, NULL, NULL, SITU_REPORT_PARTS, NULL, error));
  REFUSED_OUT(text, situ_report_plan(&text, NULL, NULL, SITU_REPORT_GANTT, NULL, error));
  REFUSED_OUT(text, situ_report_pareto(&text, NULL, NULL, SITU_REPORT_SVG, NULL, error));
  situ_comparison *compared = NULL;
  situ_solve_options quick = SITU_SOLVE_OPTIONS_INIT;
  quick.solvers = "single";
  DONE(situ_compare(&compared, problem, &quick, error));
  page.comparison = compared;
  page.what_ifs = list;
  page.size = 1;
  REFUSED_OUT(text, situ_report_page(&text, plan, NULL, &page, error));
  page.size = sizeof page;
  DONE(situ_report_page(&text, plan, NULL, &page, error));
  situ_text_free(text);
  situ_comparison_free(compared);
}

TEST(sizings_have_a_goal_and_platforms) {
  situ_sizing *s = NULL;
  char *text = NULL;
  situ_instance_options of = SITU_INSTANCE_OPTIONS_INIT;
  situ_solve_options few = SITU_SOLVE_OPTIONS_INIT;
  situ_size_options o = SITU_SIZE_OPTIONS_INIT;
  of.model = "builtin:vgg16";
  few.max_steps = 1;
  o.solve = &few;
  REFUSED_OUT(s, situ_size(&s, &of, &o, error)); /* no goal */
  o.goal = "latency<=1s";
  o.platforms = "cpu";
  REFUSED(situ_size(NULL, &of, &o, error));
  REFUSED_OUT(s, situ_size(&s, NULL, &o, error));
  REFUSED_OUT(s, situ_size(&s, &of, NULL, error));
  few.max_steps = INT64_MIN;
  REFUSED_OUT(s, situ_size(&s, &of, &o, error));
  few.max_steps = 1;
  o.platforms = "";
  REFUSED_OUT(s, situ_size(&s, &of, &o, error));
  o.platforms = "cpu";
  o.size = 1;
  REFUSED_OUT(s, situ_size(&s, &of, &o, error));
  o.size = sizeof o;
  of.model = NULL;
  REFUSED_OUT(s, situ_size(&s, &of, &o, error));
  of.model = "builtin:vgg16";
  DONE(situ_size(&s, &of, &o, error));
  const int32_t rows[] = EXTREMES(situ_sizing_count(s));
  for (int k = 0; k < N_EXTREMES; k++) assert_string_equal(situ_sizing_at(s, rows[k]).platform, "");
  assert_true(situ_sizing_count(NULL) == 0 && situ_sizing_answer(NULL) == -1);
  assert_string_equal(situ_sizing_at(NULL, 0).reason, "");
  assert_int_equal(situ_sizing_answer(s), 0); /* a second is enough for a CPU */
  REFUSED(situ_report_size(NULL, s, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_size(&text, NULL, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_size(&text, NULL, SITU_REPORT_JSON, NULL, error));
  DONE(situ_report_size(&text, s, SITU_REPORT_TABLE, NULL, error));
  situ_text_free(text);
  DONE(situ_report_size(&text, s, SITU_REPORT_JSON, NULL, error));
  situ_text_free(text);
  situ_sizing_free(s);
  situ_sizing_free(NULL);
}

TEST(servings_need_a_language_model) {
  situ_serving *s = NULL;
  char *text = NULL;
  situ_instance_options of = SITU_INSTANCE_OPTIONS_INIT;
  situ_serving_options o = SITU_SERVING_OPTIONS_INIT;
  of.model = "builtin:vgg16";
  of.platform = "cpu";
  REFUSED_OUT(s, situ_serve(&s, &of, &o, error)); /* no caches */
  REFUSED_OUT(s, situ_serve(&s, &of, NULL, error));
  REFUSED(situ_serve(NULL, &of, &o, error));
  REFUSED_OUT(s, situ_serve(&s, NULL, &o, error));
  o.max_streams = -1;
  REFUSED_OUT(s, situ_serve(&s, &of, &o, error));
  assert_true(situ_serving_count(NULL) == 0 && situ_serving_at(NULL, 0).streams == 0);
  assert_true(!situ_serving_plan(NULL, 0, 0) && situ_serving_streams(NULL, 0, 0) == 0 &&
              !situ_serving_impossible(NULL));
  REFUSED(situ_report_serving(&text, NULL, SITU_REPORT_TABLE, NULL, error));
  situ_serving_free(NULL);
}

TEST(disaggregations_need_a_language_model) {
  situ_disaggregation *s = NULL;
  char *text = NULL;
  situ_instance_options of = SITU_INSTANCE_OPTIONS_INIT;
  situ_serving_options o = SITU_SERVING_OPTIONS_INIT;
  situ_disaggregation_summary summary = SITU_DISAGGREGATION_SUMMARY_INIT;
  of.model = "builtin:resnet18";
  of.platform = "2*v100-16g";
  REFUSED_OUT(s, situ_disaggregate(&s, &of, &o, error)); /* no request */
  situ_read_options read = SITU_READ_OPTIONS_INIT;
  read.prompt = read.generate = 8;
  of.read = &read;
  REFUSED_OUT(s, situ_disaggregate(&s, &of, NULL, error)); /* no caches */
  REFUSED(situ_disaggregate(NULL, &of, &o, error));
  REFUSED_OUT(s, situ_disaggregate(&s, NULL, &o, error));
  o.max_streams = -1;
  REFUSED_OUT(s, situ_disaggregate(&s, &of, &o, error));
  assert_true(situ_disaggregation_count(NULL) == 0 && !situ_disaggregation_at(NULL, 0).prefill_devices);
  assert_true(!situ_disaggregation_plan(NULL, 0, true) && !situ_disaggregation_get_summary(NULL, &summary));
  REFUSED(situ_report_disaggregation(&text, NULL, SITU_REPORT_TABLE, NULL, error));
  situ_disaggregation_free(NULL);
}

TEST(fittings_need_a_language_model) {
  situ_fitting *f = NULL;
  char *text = NULL;
  situ_instance_options of = SITU_INSTANCE_OPTIONS_INIT;
  situ_solve_options few = SITU_SOLVE_OPTIONS_INIT;
  situ_fit_options o = SITU_FIT_OPTIONS_INIT;
  of.model = "builtin:vgg16";
  of.platform = "cpu";
  few.max_steps = 1;
  o.solve = &few;
  REFUSED_OUT(f, situ_fit(&f, &of, &o, error)); /* no caches */
  REFUSED_OUT(f, situ_fit(&f, &of, NULL, error));
  REFUSED(situ_fit(NULL, &of, &o, error));
  REFUSED_OUT(f, situ_fit(&f, NULL, &o, error));
  o.goal = "soon";
  REFUSED_OUT(f, situ_fit(&f, &of, &o, error));
  o.goal = NULL;
  const int quantities[] = EXTREMES(2);
  for (int k = 0; k < N_EXTREMES; k++) {
    o.quantity = (situ_fit_quantity)quantities[k];
    REFUSED_OUT(f, situ_fit(&f, &of, &o, error));
    assert_string_equal(situ_fit_quantity_name(o.quantity), "unknown");
  }
  o.quantity = SITU_FIT_BATCH;
  o.max = -1;
  REFUSED_OUT(f, situ_fit(&f, &of, &o, error));
  assert_true(situ_fitting_count(NULL) == 0 && situ_fitting_answer(NULL) == -1);
  assert_string_equal(situ_fitting_at(NULL, 0).reason, "");
  REFUSED_OUT(text, situ_report_fit(&text, NULL, SITU_REPORT_TABLE, NULL, error));
  const situ_fitting *no_fitting = NULL;
  REFUSED_OUT(text, situ_report_fit_files(&text, NULL, 1, 1, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_fit_files(&text, &no_fitting, 1, 1, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_fit_files(&text, &no_fitting, 0, 1, SITU_REPORT_TABLE, NULL, error));
  assert_int_equal(situ_fitting_weight_bytes(NULL), 0);
  assert_int_equal(situ_fitting_finding(NULL, 1), SITU_FIT_MISSED);
  assert_int_equal(situ_fitting_largest(NULL, 1, 1), -1);
  assert_int_equal(situ_fitting_largest(&no_fitting, 1, 1), -1);
  situ_fitting_free(NULL);
}

TEST(judgements_need_a_command_and_a_model) {
  situ_judgement *j = NULL;
  char *text = NULL;
  situ_instance_options of = SITU_INSTANCE_OPTIONS_INIT;
  situ_solve_options few = SITU_SOLVE_OPTIONS_INIT;
  situ_judge_options o = SITU_JUDGE_OPTIONS_INIT;
  situ_judgement_summary says = SITU_JUDGEMENT_SUMMARY_INIT;
  of.model = "builtin:llama?layers=2";
  of.platform = "cpu";
  few.max_steps = 1;
  o.solve = &few;
  REFUSED_OUT(j, situ_judge(&j, &of, &o, error)); /* no command */
  o.command = "llama-server -ngl 0";
  REFUSED(situ_judge(NULL, &of, &o, error));
  REFUSED_OUT(j, situ_judge(&j, NULL, &o, error));
  REFUSED_OUT(j, situ_judge(&j, &of, NULL, error));
  o.format = "no such";
  REFUSED_OUT(j, situ_judge(&j, &of, &o, error));
  o.format = NULL;
  of.model = NULL;
  REFUSED_OUT(j, situ_judge(&j, &of, &o, error));
  assert_null(situ_judgement_given(NULL));
  assert_null(situ_judgement_best(NULL));
  assert_null(situ_judgement_model(NULL));
  assert_false(situ_judgement_get_summary(NULL, &says));
  REFUSED_OUT(text, situ_report_judgement(&text, NULL, SITU_REPORT_TABLE, NULL, error));
  situ_judgement_free(NULL);
  of.model = "builtin:vgg16";
  o.command = "{\"\": 0}";
  assert_int_equal(situ_judge(&j, &of, &o, NULL), SITU_STATUS_BAD_INPUT); /* a GPU that is not there */
}

TEST(what_ifs_are_asked_of_a_plan_of_the_instance) {
  situ_what_if_list *list = NULL;
  char *text = NULL;
  situ_solve_options few = SITU_SOLVE_OPTIONS_INIT;
  few.max_steps = 1;
  REFUSED(situ_what_if_find(NULL, instance, plan, &few, error));
  REFUSED_OUT(list, situ_what_if_find(&list, NULL, plan, &few, error));
  REFUSED_OUT(list, situ_what_if_find(&list, instance, NULL, &few, error));
  few.size = 1;
  REFUSED_OUT(list, situ_what_if_find(&list, instance, plan, &few, error));
  few.size = sizeof few;
  situ_what_if_free(NULL);
  assert_int_equal(situ_what_if_count(NULL), 0);
  assert_string_equal(situ_what_if_at(NULL, 0).change, "");
  DONE(situ_what_if_find(&list, instance, plan, &few, error));
  const int32_t rows[] = EXTREMES(situ_what_if_count(list));
  for (int k = 0; k < N_EXTREMES; k++) assert_string_equal(situ_what_if_at(list, rows[k]).change, "");
  REFUSED(situ_report_explain(NULL, plan, list, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_explain(&text, NULL, list, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_explain(&text, NULL, NULL, SITU_REPORT_JSON, NULL, error));
  DONE(situ_report_explain(&text, plan, NULL, SITU_REPORT_TABLE, NULL, error));
  situ_text_free(text);
  DONE(situ_report_explain(&text, plan, list, SITU_REPORT_JSON, NULL, error));
  situ_text_free(text);
  refuse_pages(list);
  situ_what_if_free(list);
}

TEST(a_plan_file_is_a_text_of_a_plan_of_the_instance) {
  char *text = NULL;
  REFUSED(situ_plan_text(NULL, plan, instance, error));
  REFUSED_OUT(text, situ_plan_text(&text, NULL, instance, error));
  REFUSED_OUT(text, situ_plan_text(&text, plan, NULL, error));
  DONE(situ_plan_text(&text, plan, instance, error));
  situ_text_free(text);
}

TEST(ranks_are_none_without_mpirun) {
  situ_ranks *ranks = (situ_ranks *)1;
  REFUSED(situ_ranks_open(NULL, error));
  assert_int_equal(situ_ranks_open(&ranks, NULL), SITU_STATUS_OK);
  assert_null(ranks);
  situ_ranks_summary says = SITU_RANKS_SUMMARY_INIT, unsized = {0};
  assert_false(situ_ranks_get_summary(NULL, NULL) || situ_ranks_get_summary(NULL, &unsized));
  assert_true(situ_ranks_get_summary(NULL, &says) && says.own == 0 && says.count == 1 && says.lost == 0);
  situ_ranks_free(NULL);
}

int main(void) { return TEST_RUN(open_all, close_all); }
