/* Measuring as a careless caller meets it; see test_arguments.c. */
#include "../lab/test.h"
#include "careless.h"

static situ_plan *plan;
static situ_instance *instance;
static const situ_problem *problem;

static void measuring_needs_its_nouns(void **state) {
  (void)state;
  situ_profile *profile = NULL;
  situ_run *run = NULL;
  char *text = NULL;
  situ_measure_options how = SITU_MEASURE_OPTIONS_INIT, unsized_how = {0};
  situ_profile_options o = SITU_PROFILE_OPTIONS_INIT, unsized = {0};
  situ_run_options r = SITU_RUN_OPTIONS_INIT, unsized_run = {0};
  situ_race_options x = SITU_RACE_OPTIONS_INIT, unsized_race = {0};
  o.measure = &how;
  REFUSED(situ_profile_model(NULL, "x", &o, error));
  REFUSED_OUT(profile, situ_profile_model(&profile, NULL, &o, error));
  REFUSED_OUT(profile, situ_profile_model(&profile, "x", &unsized, error));
  how.threads = INT32_MIN;
  REFUSED_OUT(profile, situ_profile_model(&profile, "x", &o, error));
  how.threads = 0;
  how.level = (situ_level)99;
  REFUSED_OUT(profile, situ_profile_model(&profile, "x", &o, error));
  how.level = SITU_LEVEL_ALL;
  how.engine = "no such";
  REFUSED_OUT(profile, situ_profile_model(&profile, "x", &o, error));
  REFUSED_OUT(profile, situ_profile_read(&profile, "x", NULL, NULL, error));
  REFUSED_OUT(profile, situ_profile_read(&profile, NULL, "x", NULL, error));
  REFUSED(situ_profile_write(NULL, "cpu", "x", error));
  REFUSED(situ_profile_class(NULL, "CPU", error));
  REFUSED(situ_run_plan(NULL, plan, instance, NULL, error));
  REFUSED_OUT(run, situ_run_plan(&run, NULL, instance, NULL, error));
  REFUSED_OUT(run, situ_run_plan(&run, plan, NULL, NULL, error));
  REFUSED_OUT(run, situ_run_plan(&run, plan, instance, &unsized_run, error));
  r.measure = &unsized_how;
  x.run = &unsized_run;
  o.measure = &unsized_how;
  REFUSED_OUT(profile, situ_profile_model(&profile, "x", &o, error));
  REFUSED_OUT(run, situ_run_plan(&run, plan, instance, &r, error));
  situ_race *race = NULL;
  situ_plan *fastest = NULL;
  situ_instance *own = NULL;
  REFUSED(situ_place_measured(NULL, &own, &race, NULL, NULL, 2, NULL, error));
  REFUSED_OUT(fastest, situ_place_measured(&fastest, NULL, &race, NULL, NULL, 2, NULL, error));
  REFUSED_OUT(fastest, situ_place_measured(&fastest, &own, NULL, NULL, NULL, 2, NULL, error));
  REFUSED_OUT(fastest, situ_place_measured(&fastest, &own, &race, NULL, NULL, INT32_MAX, NULL, error));
  REFUSED_OUT(own, situ_place_measured(&fastest, &own, &race, NULL, NULL, 2, &unsized_race, error));
  REFUSED_OUT(own, situ_place_measured(&fastest, &own, &race, NULL, NULL, 2, &x, error));
  REFUSED_OUT(text, situ_report_race(&text, NULL, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_race(&text, NULL, SITU_REPORT_JSON, NULL, error));
  situ_learn_report learned = SITU_LEARN_REPORT_INIT;
  situ_trials_report trials = SITU_TRIALS_REPORT_INIT;
  situ_learn_options learn = SITU_LEARN_OPTIONS_INIT;
  learn.out = "x.policy";
  REFUSED(situ_learn_measured(&learned, &trials, NULL, "hsdag", instance, &learn, 2, NULL, error));
  REFUSED_OUT(fastest, situ_learn_measured(NULL, &trials, &fastest, "hsdag", instance, &learn, 2, NULL, error));
  REFUSED_OUT(fastest, situ_learn_measured(&learned, NULL, &fastest, "hsdag", instance, &learn, 2, NULL, error));
  REFUSED_OUT(fastest, situ_learn_measured(&learned, &trials, &fastest, NULL, instance, &learn, 2, NULL, error));
  REFUSED_OUT(fastest, situ_learn_measured(&learned, &trials, &fastest, "hsdag", NULL, &learn, 2, NULL, error));
  REFUSED_OUT(fastest, situ_learn_measured(&learned, &trials, &fastest, "hsdag", instance, NULL, 2, NULL, error));
  REFUSED_OUT(fastest,
              situ_learn_measured(&learned, &trials, &fastest, "hsdag", instance, &learn, 2, &unsized_race, error));
  REFUSED_OUT(fastest, situ_learn_measured(&learned, &trials, &fastest, "hsdag", instance, &learn, -1, NULL, error));
  trials.single_device = INT32_MAX;
  REFUSED_OUT(text, situ_report_trials(&text, NULL, problem, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_trials(&text, &trials, problem, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_trials(&text, &trials, problem, SITU_REPORT_JSON, NULL, error));
  REFUSED_OUT(text, situ_report_trials(&text, &trials, NULL, SITU_REPORT_JSON, NULL, error));
  situ_race_summary raced = SITU_RACE_SUMMARY_INIT;
  situ_run_summary ran = SITU_RUN_SUMMARY_INIT;
  situ_profile_summary measured = SITU_PROFILE_SUMMARY_INIT;
  assert_false(situ_race_get_summary(NULL, &raced) || situ_run_get_summary(NULL, &ran));
  assert_false(situ_profile_get_summary(NULL, &measured));
  assert_true(situ_race_measured_ns(NULL, 0) == SITU_NEVER_NS);
  situ_race_free(NULL);
  REFUSED_OUT(text, situ_report_profile(&text, NULL, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_profile(&text, NULL, SITU_REPORT_JSON, NULL, error));
  REFUSED_OUT(text, situ_report_run(&text, NULL, SITU_REPORT_TABLE, NULL, error));
  REFUSED_OUT(text, situ_report_run(&text, NULL, SITU_REPORT_JSON, NULL, error));
  situ_profile_free(NULL);
  situ_run_free(NULL);
  assert_int_equal(situ_profile_time_ns(NULL, 0), 0);
}

int main(void) {
  situ_instance_options o = SITU_INSTANCE_OPTIONS_INIT;
  situ_solve_options quick = SITU_SOLVE_OPTIONS_INIT;
  o.model = "builtin:resnet50?image=64";
  quick.max_steps = 10;
  if (situ_place(&plan, &instance, &o, &quick, NULL) != SITU_STATUS_OK) return 1;
  problem = situ_instance_problem(instance);
  const struct CMUnitTest tests[] = {cmocka_unit_test(measuring_needs_its_nouns)};
  int failed = cmocka_run_group_tests_name("arguments of measuring", tests, NULL, NULL);
  situ_plan_free(plan);
  situ_instance_free(instance);
  return failed;
}
