/* Placements measured one after the other, from logs that are made up: no engine is needed. */
#include <unistd.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "base/text.h"
#include "engine/trials.h"

enum { N = 2 }; /* operators a -> b */

static lab two_operators(void) {
  lab_options o = {.seed = 1, .n_operators = N, .n_devices = 2};
  o.options.objective = SITU_OBJECTIVE_LATENCY;
  return lab_random(&o);
}

static void add_trial(text_buffer *t, const int32_t *device, const char *times, const char *reference) {
  text_add(t, "%s{\"hash\": \"%016llx\", \"times_ns\": [%s], \"reference_ns\": [%s], \"why\": \"%s\"}",
           t->bytes && t->bytes[t->length - 1] == '}' ? "," : "", (unsigned long long)measure_hash(device, NULL, N),
           times, reference, *times ? "" : "it was refused");
}

static int32_t on_0[N] = {0, 0}, on_1[N] = {1, 1}, ab[N] = {0, 1}, ba[N] = {1, 0};

/* A log of both single devices, of 300 and 200 ns, and of three trials. */
static void write_log(const char *path) {
  text_buffer t = {0};
  text_add(&t, "{\"situ_trials\": 1, \"engine\": \"made up\", \"budget\": 4, \"trials\": [");
  add_trial(&t, on_0, "300,310,290", "300,310,290");
  add_trial(&t, on_1, "200,190,210", "200,190,210");
  add_trial(&t, ab, "150,400,90", "100,200,100");
  add_trial(&t, ba, "", "");
  text_add(&t, "], \"final_ns\": [[200,200,200,200,200,200,200],[180,180,180,180,180,180,180],[9]]}");
  assert_int_equal(file_write(path, t.bytes, t.length, NULL), SITU_STATUS_OK);
  text_free(&t);
}

static measure_options replay(const char *path) { return (measure_options){.replay = path}; }

static void a_trial_has_the_median_of_its_times_by_those_of_the_reference(void **state) {
  (void)state;
  OWN(lab) l = two_operators();
  trials t;
  measure_options o = replay("trials.json");
  write_log("trials.json");
  assert_int_equal(trials_begin(&t, l.problem, "two.onnx", 4, &o, NULL), SITU_STATUS_OK);
  assert_int_equal(t.single, 1);
  assert_int_equal(t.single_ns, 200);
  /* 150 / 100, 400 / 200, 90 / 100: the median is 1.5, of 200 ns */
  assert_int_equal(trials_time(&t, &(placement){.device = ab}), 300);
  assert_int_equal(trials_time(&t, &(placement){.device = ab}), 300); /* is not measured again */
  assert_true(t.n == 3 && t.n_again == 1 && !t.over && t.best == 1);
  assert_true(trials_time(&t, &(placement){.device = ba}) == SITU_NEVER_NS);
  assert_true(t.over && t.n == 4 && strcmp(t.all[3].why, "it was refused") == 0 && t.status == SITU_STATUS_OK);
  /* The last race: device 1 (200 ns), then the best others, device 0 and ab, both of 300 ns by their trials. */
  assert_int_equal(trials_race(&t, NULL), SITU_STATUS_BAD_INPUT); /* lane 2 has one time only */
  trials_end(&t);
}

static void another_search_than_that_of_the_log_is_refused(void **state) {
  (void)state;
  OWN(lab) l = two_operators();
  trials t;
  situ_error error = {0};
  measure_options o = replay("trials.json");
  write_log("trials.json");
  assert_int_equal(trials_begin(&t, l.problem, "two.onnx", 4, &o, &error), SITU_STATUS_OK);
  assert_true(trials_time(&t, &(placement){.device = ba}) == SITU_NEVER_NS);
  assert_true(t.over && t.status == SITU_STATUS_BAD_INPUT && strstr(t.failure.text, "another placement"));
  trials_end(&t);
}

static void the_winner_of_the_last_race_is_the_best(void **state) {
  (void)state;
  OWN(lab) l = two_operators();
  trials t;
  text_buffer log = {0};
  text_add(&log, "{\"situ_trials\": 1, \"budget\": 3, \"trials\": [");
  add_trial(&log, on_0, "300", "300");
  add_trial(&log, on_1, "200", "200");
  add_trial(&log, ab, "50", "100");
  /* By its trial ab takes 50 / 100 * 200 = 100 ns; in the race it loses 7 rounds of 7 to device 1 and is out. */
  text_add(&log,
           "], \"final_ns\": [[200,200,200,200,200,200,200],[210,210,210,210,210,210,210],"
           "[300,300,300,300,300,300,300]]}");
  assert_int_equal(file_write("trials.json", log.bytes, log.length, NULL), SITU_STATUS_OK);
  text_free(&log);
  measure_options o = replay("trials.json");
  assert_int_equal(trials_begin(&t, l.problem, "two.onnx", 3, &o, NULL), SITU_STATUS_OK);
  assert_int_equal(trials_time(&t, &(placement){.device = ab}), 100);
  assert_int_equal(t.best, 2);
  assert_int_equal(trials_race(&t, NULL), SITU_STATUS_OK);
  assert_int_equal(t.best, 1);
  trials_end(&t);
}

int main(void) {
  char folder[] = "/tmp/situ-trials-XXXXXX";
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_trial_has_the_median_of_its_times_by_those_of_the_reference),
      cmocka_unit_test(another_search_than_that_of_the_log_is_refused),
      cmocka_unit_test(the_winner_of_the_last_race_is_the_best),
  };
  if (!mkdtemp(folder) || chdir(folder) != 0) return 1;
  int failed = cmocka_run_group_tests_name("trials", tests, NULL, NULL);
  remove("trials.json");
  rmdir(folder);
  return failed;
}
