/* Laws that hold on every problem: plans keep all rules, runs repeat, names of operators do not matter, a stop gives
 * the best so far. */
#include "../lab/lab.h"
#include "../lab/proved.h"
#include "../lab/relabel.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "base/rng.h"
#include "bound/bound.h"
#include "plan/plan.h"
#include "situ/solve.h"

/* The execution models in all their variants; index 0 .. N_VARIANTS-1. */
enum { N_VARIANTS = 10 };

static situ_problem_options variant(int32_t index) {
  static const situ_problem_options all[N_VARIANTS] = {
      {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM},
      {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE},
      {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS},
      {.size = sizeof(situ_problem_options),
       .objective = SITU_OBJECTIVE_THROUGHPUT,
       .communication = SITU_COMMUNICATION_LINK},
      {.size = sizeof(situ_problem_options),
       .objective = SITU_OBJECTIVE_THROUGHPUT,
       .communication = SITU_COMMUNICATION_HOST_STAGED},
      {.size = sizeof(situ_problem_options),
       .objective = SITU_OBJECTIVE_THROUGHPUT,
       .communication = SITU_COMMUNICATION_LINK,
       .free = true},
      {.size = sizeof(situ_problem_options),
       .objective = SITU_OBJECTIVE_THROUGHPUT,
       .communication = SITU_COMMUNICATION_HOST_STAGED,
       .free = true,
       .async_copies = true},
      {.size = sizeof(situ_problem_options),
       .objective = SITU_OBJECTIVE_THROUGHPUT,
       .communication = SITU_COMMUNICATION_HOST_STAGED,
       .in_flight = 2},
      {.size = sizeof(situ_problem_options),
       .objective = SITU_OBJECTIVE_THROUGHPUT,
       .communication = SITU_COMMUNICATION_HOST_STAGED,
       .replicate = true,
       .schedule = SITU_SCHEDULE_GPIPE},
      {.size = sizeof(situ_problem_options),
       .objective = SITU_OBJECTIVE_THROUGHPUT,
       .communication = SITU_COMMUNICATION_LINK,
       .free = true,
       .replicate = true,
       .schedule = SITU_SCHEDULE_GPIPE},
  };
  return all[index];
}

static lab draw(int32_t index, uint64_t seed) {
  lab_options o = {.seed = seed,
                   .n_operators = 12 + (int32_t)(seed % 30),
                   .n_devices = 2 + (int32_t)(seed % 4),
                   .density = 0.05 + 0.05 * (double)(seed % 4),
                   .n_colocations = (int32_t)(seed % 5),
                   .training = index >= 3 && seed % 3 == 0,
                   .pinned = seed % 3 == 1,
                   .unsupported = seed % 4 == 0,
                   .memory = seed % 2 ? 0.25 + 0.1 * (double)(seed % 5) : 0,
                   .options = variant(index)};
  o.equal = o.options.replicate;
  return lab_random(&o);
}

/* Networks that learn from nothing: a step is dear, and the steps after the first updates are like those before. */
static int64_t steps_of(const char *name) {
  static const char *const learning[] = {"rnn_placer", "hdp", "placeto", "hsdag"};
  for (size_t i = 0; i < sizeof learning / sizeof *learning; i++)
    if (strcmp(name, learning[i]) == 0) return 60;
  return 300;
}

static situ_plan *solve_with(const situ_problem *p, const char *name, uint64_t seed) {
  situ_plan *plan;
  situ_error error;
  bool bounded =
      strcmp(name, "auto") == 0 || seed % 8 == 0; /* they are the same for all solvers and take most of the time */
  situ_solve_options o = {.size = sizeof(situ_solve_options),
                          .solvers = name,
                          .max_steps = steps_of(name),
                          .seed = seed,
                          .no_bounds = !bounded};
  if (situ_solve(&plan, p, &o, &error) != SITU_STATUS_OK)
    fail_msg("%s, seed %d, solver %s: %s", situ_execution_name(p->execution), (int)seed, name, error.text);
  return plan;
}

/* situ_solve has every plan judged by situ_check: a plan that breaks a rule is an error here. */
TEST(plans_keep_all_rules_and_runs_repeat) {
  for (int32_t index = 0; index < N_VARIANTS; index++)
    for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(24); seed += index < 8 ? 2 : 7) {
      OWN(lab) l = draw(index, seed);
      int32_t n = l.problem->n_operators;
      situ_solver_info info = SITU_SOLVER_INFO_INIT;
      for (int32_t i = 0; situ_solver_at(i, &info); i++) {
        const char *name = info.name;
        if (!situ_solver_serves(name, l.problem)) continue;
        OWN(situ_plan) *first = solve_with(l.problem, name, seed), *second = solve_with(l.problem, name, seed);
        assert_int_equal(first->value_ns, second->value_ns);
        assert_int_equal(first->steps, second->steps);
        if (plan_exists(first)) assert_memory_equal(first->device, second->device, (size_t)n * sizeof(int32_t));
      }
    }
}

TEST(the_portfolio_is_never_worse_than_one_device) {
  for (int32_t index = 0; index < N_VARIANTS; index++)
    for (uint64_t seed = 2; seed <= (uint64_t)rounds_of(60); seed += index < 8 ? 2 : 8) {
      OWN(lab) l = draw(index, seed);
      OWN(situ_plan) *plan = solve_with(l.problem, "auto", seed);
      bool bound_by_pins = seed % 3 == 1;
      if (!bound_by_pins) assert_true(plan->value_ns <= plan->best_single_ns);
    }
}

/* The same problem with operators built in another topological order: bounds do not change. */
TEST(bounds_do_not_depend_on_numbers) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(40); seed++) {
    lab_options o = {.seed = seed, .n_operators = 40, .n_devices = 3, .density = 0.06, .unsupported = seed % 2};
    lab l = lab_random(&o), again = relabel(&l, &(situ_problem_options){.size = sizeof(situ_problem_options)}, seed);
    OWN(arena) *a = arena_new();
    for (int32_t i = 0; bounds[i]; i++) {
      if (!problem_is_of(l.problem, bounds[i]->models)) continue;
      if (strcmp(bounds[i]->name, "unit_chain") == 0) continue; /* of several longest chains it follows one */
      if (strcmp(bounds[i]->name, "cut_vertex") == 0)
        continue; /* a search that ends at its width is in order of numbers */
      int64_t x = proved_bound(NULL, bounds[i], l.problem, a), y = proved_bound(NULL, bounds[i], again.problem, a);
      if (x != y) fail_msg("%s, seed %d: %lld, %lld", bounds[i]->name, (int)seed, (long long)x, (long long)y);
    }
    relabel_free(&again);
    lab_free(&l);
  }
}

static bool stop_at_first_plan(void *context, const situ_progress *progress) {
  ++*(int *)context;
  return progress->value_ns != SITU_NEVER_NS;
}

TEST(a_stop_returns_the_best_so_far) {
  lab_options o = {.seed = 7, .n_operators = 200, .n_devices = 4, .density = 0.02};
  OWN(lab) l = lab_random(&o);
  int calls = 0;
  OWN(situ_plan) *plan = NULL;
  situ_error error;
  situ_solve_options options = {
      .size = sizeof(situ_solve_options), .progress = stop_at_first_plan, .context = &calls, .time_limit_s = 60};
  assert_int_equal(situ_solve(&plan, l.problem, &options, &error), SITU_STATUS_OK);
  assert_true(calls > 0);
  assert_true(plan_exists(plan));
  assert_true(plan->seconds < 10);
}

static bool stop_at_once(void *context, const situ_progress *progress) {
  (void)context;
  (void)progress;
  return true;
}

/* Stopped at the first look: where one device holds everything, that is a plan; where none does, there is none yet. */
TEST(a_stop_before_any_plan_is_cancelled) {
  for (int32_t tight = 0; tight < 2; tight++) {
    lab_options o = {.seed = 9,
                     .n_operators = 50,
                     .n_devices = 3,
                     .density = 0.1,
                     .memory = tight ? 0.5 : 0,
                     .host_memory = tight ? 0.5 : 0};
    OWN(lab) l = lab_random(&o);
    OWN(situ_plan) *plan = NULL;
    situ_error error;
    situ_solve_options options = {.size = sizeof(situ_solve_options), .progress = stop_at_once};
    assert_int_equal(situ_solve(&plan, l.problem, &options, &error), SITU_STATUS_OK);
    assert_int_equal(plan->best_single_ns == SITU_NEVER_NS, tight);
    assert_int_equal(plan_exists(plan), !tight);
    assert_int_equal(plan->outcome, tight ? SITU_OUTCOME_CANCELLED : SITU_OUTCOME_FEASIBLE);
    if (!tight) assert_int_equal(plan->value_ns, plan->best_single_ns);
  }
}

TEST_MAIN
