/* Training as callers see it: repeatable, resumable to the same bits wherever it was stopped, and strict about files;
 * the policy that ships. Every learner of the table is held to this. */
#include <unistd.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "learn/learner.h"
#include "learn/softmax_draw.h"
#include "situ/instance.h"

enum { N_PROBLEMS = 2, STEPS = 7 };

typedef struct school {
  lab lab[N_PROBLEMS];
  const situ_problem *problem[N_PROBLEMS];
} school;

static school open_school(uint64_t seed) {
  school s;
  for (int32_t k = 0; k < N_PROBLEMS; k++) {
    lab_options o = {.seed = seed + (uint64_t)k,
                     .n_operators = 12 + 4 * k,
                     .n_devices = 3,
                     .density = 0.3,
                     .n_colocations = k,
                     .unfused = true,
                     .equal = true};
    o.options.objective = SITU_OBJECTIVE_LATENCY;
    s.lab[k] = lab_random(&o);
    s.problem[k] = s.lab[k].problem;
  }
  return s;
}

static void close_school(school *s) {
  for (int32_t k = 0; k < N_PROBLEMS; k++) lab_free(&s->lab[k]);
}

/* Asks for a stop once that many steps were result. */
static bool stop_after(void *context, const situ_learn_progress *now) { return --*(int *)context == 0; }

static const char *learner_name(int32_t k) {
  situ_learner_info info = SITU_LEARNER_INFO_INIT;
  return situ_learner_at(k, &info) ? info.name : "";
}

static void learn(const school *s, const char *name, situ_learn_options o, int stop, situ_learn_report *report) {
  situ_error error = {0};
  int left = stop;
  *report = (situ_learn_report)SITU_LEARN_REPORT_INIT;
  o.progress = stop_after;
  o.context = &left;
  if (situ_learn(report, NULL, name, s->problem, N_PROBLEMS, &o, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
}

typedef struct content {
  unsigned char *bytes;
  size_t n;
} content;

static content content_of(const char *path) {
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  fseek(f, 0, SEEK_END);
  content c = {.n = (size_t)ftell(f)};
  rewind(f);
  c.bytes = malloc(c.n);
  assert_int_equal(fread(c.bytes, 1, c.n, f), c.n);
  fclose(f);
  return c;
}

static void assert_same_files(const char *a, const char *b) {
  content x = content_of(a), y = content_of(b);
  assert_int_equal(x.n, y.n);
  assert_memory_equal(x.bytes, y.bytes, x.n);
  free(x.bytes);
  free(y.bytes);
}

static const char *const one = "learn-one.policy", *const two = "learn-two.policy";

static void remove_files(void) {
  unlink(one);
  unlink(two);
}

TEST(training_repeats_byte_for_byte) {
  for (int32_t k = 0; k < situ_learner_count(); k++) {
    school s = open_school(3);
    situ_learn_report a, b;
    learn(&s, learner_name(k),
          (situ_learn_options){.size = sizeof(situ_learn_options), .out = one, .steps = STEPS, .seed = 5}, -1, &a);
    learn(&s, learner_name(k),
          (situ_learn_options){.size = sizeof(situ_learn_options), .out = two, .steps = STEPS, .seed = 5}, -1, &b);
    assert_int_equal(a.steps, STEPS);
    assert_int_equal(a.trials, b.trials);
    assert_false(a.stopped);
    assert_same_files(one, two);
    close_school(&s);
    remove_files();
  }
}

/* Stopped after each number of steps and resumed: the same file as in one go. */
TEST(a_stopped_run_resumes_to_the_same_bits) {
  for (int32_t k = 0; k < situ_learner_count(); k++) {
    const char *name = learner_name(k);
    school s = open_school(8);
    situ_learn_report whole, part;
    learn(&s, name, (situ_learn_options){.size = sizeof(situ_learn_options), .out = one, .steps = STEPS, .seed = 1}, -1,
          &whole);
    for (int stop = 1; stop < STEPS; stop += in_check() ? 1 : 2) {
      unlink(two);
      learn(&s, name,
            (situ_learn_options){
                .size = sizeof(situ_learn_options), .out = two, .steps = STEPS, .seed = 1, .resume = true},
            stop, &part);
      assert_true(part.stopped);
      assert_int_equal(part.steps, stop);
      learn(&s, name,
            (situ_learn_options){
                .size = sizeof(situ_learn_options), .out = two, .steps = STEPS, .seed = 99, .resume = true},
            -1, &part);
      assert_int_equal(part.trials, whole.trials);
      assert_same_files(one, two);
    }
    close_school(&s);
    remove_files();
  }
}

/* The same where a teacher is imitated at first: stopped within those steps, at their end, and after. */
TEST(a_taught_run_resumes_to_the_same_bits) {
  static const int stops[] = {1, N_PROBLEMS * IMITATED_STEPS - 1, N_PROBLEMS * IMITATED_STEPS,
                              N_PROBLEMS * IMITATED_STEPS + 1};
  situ_learn_options o = {.size = sizeof(situ_learn_options),
                          .out = one,
                          .steps = N_PROBLEMS * IMITATED_STEPS + 3,
                          .seed = 1,
                          .teacher = "heft,splitting"};
  school s = open_school(8);
  situ_learn_report whole, part;
  learn(&s, "gdp", o, -1, &whole);
  o.out = two;
  o.resume = true;
  for (size_t k = 0; k < sizeof stops / sizeof *stops; k += rounds_of(100) < 100 ? 2 : 1) {
    unlink(two);
    learn(&s, "gdp", o, stops[k], &part);
    assert_int_equal(part.steps, stops[k]);
    learn(&s, "gdp", o, -1, &part);
    assert_int_equal(part.trials, whole.trials);
    assert_same_files(one, two);
  }
  close_school(&s);
  remove_files();
}

/* The part of the operators whose device in the last trial is that of a plan. */
static double agreement(const environment *env, const int32_t *device) {
  int32_t n = env->problem->n_operators, alike = 0;
  for (int32_t v = 0; v < n; v++) alike += env->device[v] == device[v];
  return (double)alike / n;
}

/* Devices differ, so no name is changed: the likeliest placement comes to be the plan, or nearly. */
TEST(a_taught_policy_comes_to_do_what_its_teacher_does) {
  double first = 0, last = 0;
  for (uint64_t seed = 0; seed < 5; seed++) {
    lab_options o = {.seed = seed, .n_operators = 30, .n_devices = 3, .density = 0.1, .unfused = true};
    o.options.objective = SITU_OBJECTIVE_LATENCY;
    OWN(lab) l = lab_random(&o);
    OWN(arena) *a = arena_new();
    trainer *taught = trainer_new(learner_find("gdp"), seed, false, a, 1);
    train_case *s = trainer_add(taught, l.problem);
    assert_non_null(s);
    int32_t device[30];
    rng random = rng_new(seed);
    for (int32_t v = 0; v < 30; v++) {
      device[v] = (int32_t)rng_below(&random, 3);
      while (!problem_allows(l.problem, v, device[v])) device[v] = (device[v] + 1) % 3;
    }
    const int32_t *plan = device;
    train_step result;
    assert_true(train_case_teach(s, &plan, 1, a));
    for (int32_t step = 0; trainer_imitates(taught); step++) {
      assert_true(trainer_step(taught, &result));
      assert_int_equal(result.n_trials, 1);
      first += step == 0 ? agreement(&s->env, device) / 5 : 0;
    }
    last += agreement(&s->env, device) / 5;
    trainer_free(taught);
  }
  if (last < 0.7 || last < (1 + first) / 2) fail_msg("agreement went from %.2f to %.2f", first, last);
}

/* Killed between two times that the file was written: what came after the last is done again. */
TEST(a_killed_run_resumes_to_the_same_bits) {
  school s = open_school(8);
  situ_learn_report report = SITU_LEARN_REPORT_INIT;
  learn(&s, "gdp", (situ_learn_options){.size = sizeof(situ_learn_options), .out = one, .steps = STEPS, .seed = 1}, -1,
        &report);
  learn(&s, "gdp", (situ_learn_options){.size = sizeof(situ_learn_options), .out = two, .steps = 4, .seed = 1}, -1,
        &report); /* as if killed at step 6 */
  learn(&s, "gdp",
        (situ_learn_options){
            .size = sizeof(situ_learn_options), .out = two, .steps = STEPS, .resume = true, .save_every = 2},
        -1, &report);
  assert_same_files(one, two);
  close_school(&s);
  remove_files();
}

TEST(other_problems_cannot_be_resumed) {
  school s = open_school(8), other = open_school(9);
  situ_learn_report report = SITU_LEARN_REPORT_INIT;
  situ_error error = {0};
  situ_learn_options o = {.size = sizeof(situ_learn_options), .out = one, .steps = 2};
  learn(&s, "gdp", o, -1, &report);
  o.resume = true;
  assert_int_equal(situ_learn(&report, NULL, "gdp", other.problem, N_PROBLEMS, &o, &error), SITU_STATUS_BAD_INPUT);
  assert_non_null(strstr(error.text, "another problem"));
  assert_int_equal(situ_learn(&report, NULL, "gdp", s.problem, 1, &o, &error), SITU_STATUS_BAD_INPUT);
  o = (situ_learn_options){.size = sizeof(situ_learn_options), .out = two, .from = one, .steps = 0};
  assert_int_equal(situ_learn(&report, NULL, "gdp", NULL, 0, &o, &error), SITU_STATUS_OK);
  o = (situ_learn_options){.size = sizeof(situ_learn_options), .out = two, .resume = true, .steps = 4};
  assert_int_equal(situ_learn(&report, NULL, "gdp", s.problem, N_PROBLEMS, &o, &error), SITU_STATUS_BAD_INPUT);
  assert_non_null(strstr(error.text, "without its training state"));
  content trained = content_of(one), bare = content_of(two);
  assert_true(5 * bare.n < 2 * trained.n);
  free(trained.bytes);
  free(bare.bytes);
  close_school(&s);
  close_school(&other);
  remove_files();
}

TEST(bad_calls_are_refused) {
  school s = open_school(8);
  situ_learn_report report = SITU_LEARN_REPORT_INIT;
  situ_error error = {0};
  situ_learn_options o = {.size = sizeof(situ_learn_options), .out = one, .steps = 2};
  assert_int_equal(situ_learn(&report, NULL, "gdq", s.problem, N_PROBLEMS, &o, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_int_equal(situ_learn(&report, NULL, "gdp", NULL, 0, &o, &error), SITU_STATUS_BAD_ARGUMENT);
  o.steps = -1;
  assert_int_equal(situ_learn(&report, NULL, "gdp", s.problem, N_PROBLEMS, &o, &error), SITU_STATUS_BAD_ARGUMENT);
  o = (situ_learn_options){.size = sizeof(situ_learn_options), .out = "no/such/folder/x.policy", .steps = 2};
  assert_int_equal(situ_learn(&report, NULL, "gdp", s.problem, N_PROBLEMS, &o, &error), SITU_STATUS_IO);
  o = (situ_learn_options){.size = sizeof(situ_learn_options), .out = one, .from = "no-such.policy", .steps = 2};
  assert_int_equal(situ_learn(&report, NULL, "gdp", s.problem, N_PROBLEMS, &o, &error), SITU_STATUS_IO);
  assert_int_equal(access(one, F_OK), -1);
  close_school(&s);
}

/* Memory of tape and arena is what it was after the first steps. */
TEST(a_step_after_the_first_allocates_nothing) {
  for (int32_t k = 0; learners[k]; k++) {
    school s = open_school(4);
    arena *a = arena_new();
    trainer *l = trainer_new(learners[k], 1, false, a, N_PROBLEMS);
    train_step result;
    for (int32_t p = 0; p < N_PROBLEMS; p++) assert_non_null(trainer_add(l, s.problem[p]));
    size_t tape_bytes = 0, arena_bytes = 0;
    for (int step = 0; step < 20; step++) {
      assert_true(trainer_step(l, &result));
      if (step == 3) {
        tape_bytes = tape_held_bytes(l->tape);
        arena_bytes = arena_held_bytes(a);
      }
    }
    assert_int_equal(tape_held_bytes(l->tape), tape_bytes);
    assert_int_equal(arena_held_bytes(a), arena_bytes);
    trainer_free(l);
    arena_free(a);
    close_school(&s);
  }
}

/* Training pays: from nothing, on a small graph, it comes to below the best device alone. */
/* 200 operators are 64 groups, or units by themselves: training on the former cannot go on with the latter. */
TEST(groups_may_be_left_out) {
  situ_instance_options at = {
      .size = sizeof(situ_instance_options), .model = "builtin:layered?operators=200", .platform = "4*p100-16g"};
  OWN(situ_instance) *instance = NULL;
  situ_error error = {0};
  if (situ_instance_open(&instance, &at, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  const situ_problem *problem = situ_instance_problem(instance);
  static const struct {
    const char *variant;
    int steps;
    situ_status status;
  } calls[] = {{"groups=none", 1, SITU_STATUS_OK},
               {NULL, 2, SITU_STATUS_BAD_INPUT},
               {"groups=none", 2, SITU_STATUS_OK},
               {"groups=some", 3, SITU_STATUS_BAD_ARGUMENT}};
  char path[] = "/tmp/situ-learn-XXXXXX";
  close(mkstemp(path));
  remove(path);
  for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
    situ_learn_options o = SITU_LEARN_OPTIONS_INIT;
    situ_learn_report report = SITU_LEARN_REPORT_INIT;
    o.out = path;
    o.resume = true;
    o.steps = calls[k].steps;
    o.variant = calls[k].variant;
    assert_int_equal(situ_learn(&report, NULL, "gdp", &problem, 1, &o, &error), calls[k].status);
  }
  remove(path);
}

TEST(a_policy_learns_from_nothing) {
  situ_instance_options at = {
      .size = sizeof(situ_instance_options), .model = "builtin:layered?operators=60&width=8", .platform = "4*p100-16g"};
  situ_solve_options how = {.size = sizeof(situ_solve_options), .solvers = "gdp", .policy = "none", .max_steps = 600};
  OWN(situ_instance) *instance = NULL;
  OWN(situ_plan) *plan = NULL;
  situ_error error = {0};
  if (situ_place(&plan, &instance, &at, &how, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  assert_true(plan->value_ns < plan->best_single_ns);
  assert_true(plan->steps <= 600);
}

/* The shipped policy on graphs of families that it was not trained on (share/policies/README.md): below the mean of
 * random placements, and the same plan each time. */
TEST(the_shipped_policy_places_what_it_has_not_seen) {
  static const char *const held_out[] = {"builtin:wavenet?stacks=1&layers=4", "builtin:gnmt?steps=3&layers=2",
                                         "builtin:mobilenet-v2"};
  for (size_t k = 0; k < sizeof held_out / sizeof *held_out; k++) {
    situ_instance_options at = {
        .size = sizeof(situ_instance_options), .model = held_out[k], .platform = "cpu+3*p100-16g"};
    situ_solve_options how = {.size = sizeof(situ_solve_options), .solvers = "gdp"};
    OWN(situ_instance) *instance = NULL;
    OWN(situ_plan) *plan = NULL, *again = NULL;
    situ_error error = {0};
    if (situ_place(&plan, &instance, &at, &how, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
    assert_true(plan_exists(plan));
    assert_int_equal(situ_solve(&again, situ_instance_problem(instance), &how, &error), SITU_STATUS_OK);
    assert_int_equal(again->value_ns, plan->value_ns);
    environment env;
    OWN(arena) *a = arena_new();
    assert_true(environment_init(&env, situ_instance_problem(instance), a));
    nn_real *score = ARENA_ZERO(a, nn_real, (int64_t)env.n_units * env.n_devices);
    int32_t *device = ARENA_NEW(a, int32_t, env.n_units);
    rng random = rng_new(1);
    double mean = 0;
    for (int n = 0; n < 10; n++) {
      softmax_draw(&env, score, &random, device, NULL);
      mean += (double)environment_try(&env, device) / 10;
    }
    assert_true((double)plan->value_ns < mean);
  }
}

TEST_MAIN
