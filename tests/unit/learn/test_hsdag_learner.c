/* The learner hsdag: training repeats and resumes to the same bits; the solver keeps what it must. */
#include <math.h>
#include <unistd.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "learn/learner.h"
#include "situ/learn.h"
#include "situ/solve.h"

static lab draw_lab(uint64_t seed, bool constrained) {
  lab_options o = {.seed = seed, .n_operators = 24, .n_devices = 3, .density = 0.1, .memory = constrained ? 0.7 : 0};
  o.n_colocations = constrained ? 2 : 0;
  o.pinned = o.unsupported = constrained;
  o.options.objective = SITU_OBJECTIVE_LATENCY;
  return lab_random(&o);
}

typedef struct file {
  unsigned char *bytes;
  size_t n;
} file;

static file take(const char *path) {
  file f = {malloc(1 << 24), 0};
  FILE *from = fopen(path, "rb");
  assert_non_null(from);
  assert_non_null(f.bytes);
  f.n = fread(f.bytes, 1, 1 << 24, from);
  fclose(from);
  return f;
}

static void learn(const lab *l, const char *path, int64_t steps, bool paper, bool resume) {
  situ_learn_options o = {
      .size = sizeof(situ_learn_options), .out = path, .steps = steps, .seed = 5, .paper = paper, .resume = resume};
  const situ_problem *problems[2] = {l[0].problem, l[1].problem};
  situ_learn_report report = SITU_LEARN_REPORT_INIT;
  situ_error error = {0};
  if (situ_learn(&report, NULL, "hsdag", problems, 2, &o, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  assert_int_equal(report.steps, steps);
}

TEST(training_repeats_and_resumes_to_the_same_bits) {
  char one[] = "/tmp/situ-hsdag-XXXXXX", two[] = "/tmp/situ-hsdag-XXXXXX";
  close(mkstemp(one));
  close(mkstemp(two));
  lab l[2] = {draw_lab(1, false), draw_lab(2, true)};
  for (int paper = 0; paper < 2; paper++) {
    learn(l, one, 6, paper, false);
    file whole = take(one);
    learn(l, two, 6, paper, false);
    file again = take(two);
    learn(l, two, 3, paper, false);
    learn(l, two, 6, paper, true);
    file resumed = take(two);
    assert_true(whole.n > 0 && whole.n == again.n && whole.n == resumed.n);
    assert_memory_equal(whole.bytes, again.bytes, whole.n);
    assert_memory_equal(whole.bytes, resumed.bytes, whole.n);
    free(whole.bytes);
    free(again.bytes);
    free(resumed.bytes);
  }
  lab_free(&l[0]);
  lab_free(&l[1]);
  remove(one);
  remove(two);
}

/* Parsing to the end leaves at least one cluster, and never more than there are operators. */
static bool note_groups(void *context, const situ_learn_progress *now) {
  int64_t *most = context;
  assert_true(now->groups >= 1);
  if (now->groups > *most) *most = now->groups;
  return false;
}

TEST(the_clusters_of_the_best_trial_are_stated) {
  char path[] = "/tmp/situ-hsdag-XXXXXX";
  close(mkstemp(path));
  lab l = draw_lab(4, false);
  const situ_problem *problem = l.problem;
  int64_t most = 0;
  situ_learn_options o = {
      .size = sizeof(situ_learn_options), .out = path, .steps = 3, .progress = note_groups, .context = &most};
  situ_learn_report report = SITU_LEARN_REPORT_INIT;
  situ_error error = {0};
  if (situ_learn(&report, NULL, "hsdag", &problem, 1, &o, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  assert_in_range(most, 1, problem->n_operators);
  lab_free(&l);
  remove(path);
}

TEST(a_variant_is_taken_and_an_unknown_word_is_stated) {
  char path[] = "/tmp/situ-hsdag-XXXXXX";
  close(mkstemp(path));
  lab l = draw_lab(4, false);
  const situ_problem *problem = l.problem;
  const char *right[] = {NULL, "levels=0", "target=4,levels=0,declines=0,learns=0",
                         "without=kinds,without=times,with=times"};
  const char *wrong[] = {"levels=", "levels=x", "levels=12345678",   "without=taste",
                         "without", "with=",    "levels=1,,target=2"};
  for (int k = 0; k < 4; k++) {
    situ_learn_options o = {.size = sizeof(situ_learn_options), .out = path, .steps = 3, .variant = right[k]};
    situ_learn_report report = SITU_LEARN_REPORT_INIT;
    situ_error error = {0};
    if (situ_learn(&report, NULL, "hsdag", &problem, 1, &o, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  }
  for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
    situ_learn_options o = {.size = sizeof(situ_learn_options), .out = path, .steps = 1, .variant = wrong[k]};
    situ_learn_report report = SITU_LEARN_REPORT_INIT;
    situ_error error = {0};
    assert_int_equal(situ_learn(&report, NULL, "hsdag", &problem, 1, &o, &error), SITU_STATUS_BAD_ARGUMENT);
    assert_non_null(strstr(error.text, "without=FEATURE"));
  }
  lab_free(&l);
  remove(path);
}

/* A policy of two models serves a third one with other kinds, devices and constraints. */
TEST(a_policy_serves_any_model_and_platform) {
  char path[] = "/tmp/situ-hsdag-XXXXXX";
  close(mkstemp(path));
  lab l[2] = {draw_lab(1, false), draw_lab(2, true)};
  learn(l, path, 2, false, false);
  int32_t served = 0;
  for (uint64_t seed = 10; seed < 20; seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 1 + (int32_t)seed,
                     .n_devices = 2 + (int32_t)(seed % 4),
                     .density = 0.2,
                     .n_colocations = 2,
                     .pinned = true,
                     .unsupported = true};
    o.options.objective = SITU_OBJECTIVE_LATENCY;
    OWN(lab) other = lab_random(&o);
    situ_solve_options how = {.size = sizeof(situ_solve_options), .solvers = "hsdag", .policy = path, .max_steps = 40};
    OWN(situ_plan) *plan = NULL;
    situ_error error = {0};
    if (situ_solve(&plan, other.problem, &how, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
    bool found = plan->outcome == SITU_OUTCOME_FEASIBLE || plan->outcome == SITU_OUTCOME_OPTIMAL;
    assert_int_equal(found, other.problem->conflict == NULL);
    served += found;
  }
  assert_true(served >= 5);
  lab_free(&l[0]);
  lab_free(&l[1]);
  remove(path);
}

TEST_MAIN
