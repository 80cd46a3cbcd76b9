/* Searches side by side: the plan is the same with any number of threads, the callback comes on the thread that called,
 * and a stop stops all. */
#include <pthread.h>

#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "plan/plan.h"
#include "situ/instance.h"
#include "situ/read.h"
#include "situ/solve.h"

enum { MANY_STEPS = 70000, STEPS = 33000, FEW_STEPS = 3000 }; /* MANY_STEPS: enough for four walks; STEPS: for two */

static situ_plan *solve_with(const situ_problem *p, const char *name, uint64_t seed, int32_t threads, int64_t steps,
                             bool no_bounds) {
  situ_plan *plan;
  situ_error error;
  situ_solve_options o = {.size = sizeof(situ_solve_options),
                          .solvers = name,
                          .max_steps = steps,
                          .seed = seed,
                          .threads = threads,
                          .no_bounds = no_bounds};
  if (situ_solve(&plan, p, &o, &error) != SITU_STATUS_OK) fail_msg("%s, seed %d: %s", name, (int)seed, error.text);
  return plan;
}

static void expect_equal(const situ_plan *one, const situ_plan *other) {
  size_t bytes = (size_t)one->n_operators * sizeof(int32_t);
  assert_int_equal(one->outcome, other->outcome);
  assert_int_equal(one->value_ns, other->value_ns);
  assert_int_equal(one->lower_bound_ns, other->lower_bound_ns);
  assert_int_equal(one->steps, other->steps);
  assert_string_equal(one->solver, other->solver);
  assert_string_equal(one->bound, other->bound);
  assert_int_equal(one->n_statistics, other->n_statistics);
  for (int32_t i = 0; i < one->n_statistics; i++) {
    assert_string_equal(one->statistics[i].name, other->statistics[i].name);
    assert_int_equal(one->statistics[i].value, other->statistics[i].value);
  }
  if (!plan_exists(one)) return;
  assert_memory_equal(one->device, other->device, bytes);
  if (one->order) assert_memory_equal(one->order, other->order, bytes);
  if (one->call) assert_memory_equal(one->call, other->call, bytes);
}

static int32_t n_searched; /* of the calls below those that had a plan and went on for their steps */

static void expect_same(const lab_options *drawn, const char *name, uint64_t seed, int64_t steps) {
  OWN(lab) l = lab_random(drawn);
  if (situ_solver_serves(name, l.problem) && !l.problem->conflict) {
    bool no_bounds = seed % 2; /* then the gap never closes */
    OWN(situ_plan) *one = solve_with(l.problem, name, seed, 1, steps, no_bounds);
    n_searched += plan_exists(one) && one->steps > steps / 2;
    for (int32_t threads = 2; threads <= 3; threads++) {
      OWN(situ_plan) *other = solve_with(l.problem, name, seed, threads, steps, no_bounds);
      expect_equal(one, other);
    }
  }
}

TEST(threads_do_not_change_the_plan) {
  static const struct {
    const char *name;
    situ_problem_options options;
    int32_t n_operators;
    int64_t steps;
  } cases[] = {
      {"auto", {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM}, 10, STEPS},
      {"auto",
       {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .max_period_ns = 1000},
       12,
       FEW_STEPS},
      {"tabu", {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM}, 12, MANY_STEPS},
      {"iterated_greedy",
       {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE},
       12,
       STEPS},
      {"splitting", {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM}, 12, STEPS},
      {"auto",
       {.size = sizeof(situ_problem_options),
        .objective = SITU_OBJECTIVE_THROUGHPUT,
        .execution = SITU_EXECUTION_PIPELINE},
       12,
       STEPS},
      {"local_search",
       {.size = sizeof(situ_problem_options),
        .objective = SITU_OBJECTIVE_THROUGHPUT,
        .execution = SITU_EXECUTION_PIPELINE,
        .communication = SITU_COMMUNICATION_LINK},
       12,
       STEPS},
      {"free_search",
       {.size = sizeof(situ_problem_options),
        .objective = SITU_OBJECTIVE_THROUGHPUT,
        .execution = SITU_EXECUTION_PIPELINE,
        .free = true,
        .communication = SITU_COMMUNICATION_HOST_STAGED},
       30,
       FEW_STEPS},
      {"call_search", {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS}, 12, STEPS},
  };
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
    n_searched = 0;
    for (uint64_t seed = 1; seed <= 2; seed++) {
      lab_options o = {.seed = seed,
                       .n_operators = cases[k].n_operators,
                       .n_devices = 3,
                       .density = 0.15,
                       .memory = seed == 2 ? 0.5 : 0,
                       .equal = cases[k].options.free,
                       .options = cases[k].options};
      expect_same(&o, cases[k].name, seed, cases[k].steps);
    }
    assert_true(n_searched > 0 || strcmp(cases[k].name, "auto") == 0); /* which may end with a proof before that */
  }
}

static situ_instance *open_network(const char *model, bool training) {
  situ_read_options read = {.size = sizeof(situ_read_options), .training = training};
  situ_instance_options what = {.size = sizeof(situ_instance_options),
                                .model = model,
                                .platform = "cpu+2*p100-16g",
                                .read = &read,
                                .unused = (const char *const[]){"cpu"},
                                .n_unused = training,
                                .granularity = SITU_GRANULARITY_OPERATOR};
  situ_instance *instance;
  situ_error error;
  if (situ_instance_open(&instance, &what, &error) != SITU_STATUS_OK) fail_msg("%s: %s", model, error.text);
  return instance;
}

/* No proof takes part on this network, and the steps are for searches. */
TEST(steps_that_proofs_leave_are_searched) {
  enum { LIMIT = 1500 };
  OWN(situ_instance) *instance = open_network("builtin:rnnlm?layers=2&batch=64&steps=8", true);
  OWN(situ_plan) *plan = solve_with(situ_instance_problem(instance), "auto", 0, 1, LIMIT, false);
  assert_int_equal(plan->outcome, SITU_OUTCOME_FEASIBLE);
  assert_true(plan->steps >= LIMIT);
}

/* A window that is solved anew ends with the steps. One that is built may take a thousand nodes, which are 31 steps. */
TEST(searches_keep_to_their_steps) {
  static const char *const names[] = {"single,regions", "single,splitting", "single,tabu", "single,iterated_greedy"};
  enum { LIMIT = 40, BEGUN = 32 };
  OWN(situ_instance) *instance = open_network("builtin:layered?operators=60&width=6", false);
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    OWN(situ_plan) *plan = solve_with(situ_instance_problem(instance), names[k], 0, 1, LIMIT, false);
    if (plan->steps > LIMIT + BEGUN) fail_msg("%s: %d steps of %d", names[k], (int)plan->steps, LIMIT);
  }
}

typedef struct listener {
  pthread_t caller;
  int32_t n, stop_after, n_strange;
  int64_t last_value_ns;
} listener;

static bool listen(void *context, const situ_progress *news) {
  listener *l = context;
  l->n++;
  if (!pthread_equal(pthread_self(), l->caller)) l->n_strange++;
  if (news->value_ns > l->last_value_ns) l->n_strange++; /* plans only get better */
  l->last_value_ns = news->value_ns;
  return l->n >= l->stop_after;
}

TEST(a_stop_stops_all_walks) {
  lab_options o = {
      .seed = 7, .n_operators = 40, .n_devices = 3, .density = 0.1, .options = {.execution = SITU_EXECUTION_STREAM}};
  OWN(lab) l = lab_random(&o);
  for (int32_t threads = 1; threads <= 3; threads++) {
    listener ear = {.caller = pthread_self(), .stop_after = 20, .last_value_ns = INT64_MAX};
    situ_solve_options limits = {.size = sizeof(situ_solve_options),
                                 .solvers = "tabu",
                                 .max_steps = (int64_t)1 << 40,
                                 .threads = threads,
                                 .no_bounds = true,
                                 .progress = listen,
                                 .context = &ear};
    OWN(situ_plan) *plan = NULL;
    assert_int_equal(situ_solve(&plan, l.problem, &limits, NULL), SITU_STATUS_OK);
    assert_true(plan->steps < limits.max_steps);
    assert_true(plan_exists(plan));
    assert_int_equal(ear.n_strange, 0);
    assert_true(ear.n >= 20);
  }
}

TEST(a_time_limit_holds_for_all_walks) {
  lab_options o = {
      .seed = 8, .n_operators = 40, .n_devices = 3, .density = 0.1, .options = {.execution = SITU_EXECUTION_STREAM}};
  OWN(lab) l = lab_random(&o);
  situ_solve_options limits = {
      .size = sizeof(situ_solve_options), .solvers = "auto", .time_limit_s = 0.5, .threads = 2, .no_bounds = true};
  OWN(situ_plan) *plan = NULL;
  assert_int_equal(situ_solve(&plan, l.problem, &limits, NULL), SITU_STATUS_OK);
  assert_true(plan_exists(plan));
  assert_true(plan->seconds < 10); /* a busy machine is slow, not that slow */
}

/* Whole layers in turn fit four GPUs of which one does not hold the network; few steps are enough for that plan. */
TEST(few_steps_find_the_layers_of_people) {
  situ_read_options read = {.size = sizeof(situ_read_options), .training = true, .optimizer = SITU_OPTIMIZER_SGD};
  situ_instance_options what = {.size = sizeof(situ_instance_options),
                                .model = "builtin:transformer-xl?layers=8&batch=8&segments=2",
                                .platform = "cpu+4*p100-16g",
                                .read = &read,
                                .unused = (const char *const[]){"cpu"},
                                .n_unused = 1,
                                .rules = (const char *const[]){"reserve gpu=12GB"},
                                .n_rules = 1};
  OWN(situ_instance) *instance = NULL;
  assert_int_equal(situ_instance_open(&instance, &what, NULL), SITU_STATUS_OK);
  OWN(situ_plan) *layers = solve_with(situ_instance_problem(instance), "families", 0, 1, 20, true);
  OWN(situ_plan) *plan = solve_with(situ_instance_problem(instance), "auto", 0, 1, 20, true);
  assert_true(plan_exists(layers) && plan_exists(plan));
}

TEST_MAIN
