/* Races that are replayed from logs, among them spoilt ones: no engine is needed. */
#include <unistd.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "base/file.h"
#include "engine/measure.h"
#include "situ/solve.h"

enum { N_PLANS = 2 };

typedef struct field {
  lab lab;
  situ_plan *plans[N_PLANS];
} field;

/* Two plans of one problem: by HEFT, and the best single device. */
static field two_plans(void) {
  static const char *const solvers[N_PLANS] = {"single", "heft"};
  lab_options o = {.seed = 3, .n_operators = 8, .n_devices = 2, .density = 0.2};
  o.options.objective = SITU_OBJECTIVE_LATENCY;
  field f = {.lab = lab_random(&o)};
  for (int32_t i = 0; i < N_PLANS; i++) {
    situ_solve_options s = {.size = sizeof s, .solvers = solvers[i], .max_steps = 10, .no_bounds = true};
    assert_int_equal(situ_solve(&f.plans[i], f.lab.problem, &s, NULL), SITU_STATUS_OK);
  }
  return f;
}

static void field_free(field *f) {
  for (int32_t i = 0; i < N_PLANS; i++) situ_plan_free(f->plans[i]);
  lab_free(&f->lab);
}

static situ_status replay(const field *f, const char *rounds, const char *first, const char *second, int32_t *winner,
                          situ_error *error) {
  static const char *const names[N_PLANS] = {"first", "second"};
  const char *times[N_PLANS] = {first, second};
  measure_options o = {.replay = "race-log.json"};
  situ_race *race = NULL;
  text_buffer t = {0};
  text_add(&t, "{\"situ_race\": 1, \"engine\": \"made up\", \"rounds\": %s, \"plans\": [", rounds);
  for (int32_t i = 0; i < N_PLANS; i++) {
    const situ_plan *p = f->plans[i];
    text_add(&t, "%s{\"hash\": \"%016llx\"%s%s}", i ? "," : "",
             (unsigned long long)measure_hash(p->device, p->order, p->n_operators), *times[i] ? ", \"times_ns\": " : "",
             times[i]);
  }
  text_add(&t, "]}");
  assert_int_equal(file_write(o.replay, t.bytes, t.length, NULL), SITU_STATUS_OK);
  text_free(&t);
  situ_status status =
      race_plans(&race, (const situ_plan *const *)f->plans, names, N_PLANS, f->lab.problem, "no.onnx", &o, error);
  *winner = race ? race->winner : -1;
  situ_race_free(race);
  unlink(o.replay);
  return status;
}

TEST(the_lower_median_of_a_log_wins) {
  field f = two_plans();
  situ_error error = {0};
  int32_t winner = -2;
  if (replay(&f, "3", "[30, 10, 20]", "[15, 16, 100]", &winner, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  assert_int_equal(winner, 1); /* medians 20 and 16 */
  /* a plan that the engine refused has no times: the other one wins */
  assert_int_equal(replay(&f, "1", "[]", "[15]", &winner, &error), SITU_STATUS_OK);
  assert_int_equal(winner, 1);
  field_free(&f);
}

TEST(a_log_without_times_or_with_wrong_ones_is_refused) {
  static const char *const bad[][4] = {
      {"1", "[]", "[]", "no time of any plan"},
      {"1", "", "[5]", "no list of times of plan 1"},
      {"1", "[5]", "{}", "no list of times of plan 2"},
      {"1", "[5]", "[6, 7]", "no list of times of plan 2"},
      {"2", "[5]", "[6, 7]", "ends before the race"},
      {"1", "[-1]", "[5]", "a time of plan 1 that is no whole number"},
      {"1", "[5]", "[1e300]", "a time of plan 2 that is no whole number"},
      {"1", "[5]", "[18014398509481985]", "a time of plan 2"}, /* 2^54 + 1 */
      {"1", "[5]", "[1.5]", "a time of plan 2"},
      {"1", "[5]", "[\"6\"]", "a time of plan 2"},
      {"1", "[5]", "[[6]]", "a time of plan 2"},
      {"0", "[]", "[5]", "not the log of a race"},
      {"-3", "[]", "[5]", "not the log of a race"},
      {"1e18", "[1]", "[5]", "not the log of a race"},
      {"null", "[1]", "[5]", "not the log of a race"},
  };
  field f = two_plans();
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    situ_error error = {0};
    int32_t winner;
    situ_status status = replay(&f, bad[i][0], bad[i][1], bad[i][2], &winner, &error);
    if (status != SITU_STATUS_BAD_INPUT || !strstr(error.text, bad[i][3]))
      fail_msg("%s, %s, %s: status %d: %s", bad[i][0], bad[i][1], bad[i][2], (int)status, error.text);
    assert_int_equal(winner, -1);
  }
  field_free(&f);
}

TEST_MAIN
