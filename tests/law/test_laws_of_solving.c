/* Laws that hold on every problem: plans keep all rules, runs repeat, names of operators do not matter, a stop gives the
 * best so far. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../lab/lab.h"
#include "base/rng.h"
#include "bound/bound.h"
#include "cost/cost_models.h"
#include "plan/plan.h"
#include "situ/solve.h"

/* The execution models in all their variants; index 0 .. N_VARIANTS-1. */
enum { N_VARIANTS = 8 };

static situ_problem_options variant(int32_t index) {
  static const situ_problem_options all[N_VARIANTS] = {
      {.execution = SITU_EXECUTION_STREAM},
      {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE},
      {.execution = SITU_EXECUTION_CALLS},
      {.objective = SITU_OBJECTIVE_THROUGHPUT, .communication = SITU_COMMUNICATION_LINK},
      {.objective = SITU_OBJECTIVE_THROUGHPUT, .communication = SITU_COMMUNICATION_HOST_STAGED},
      {.objective = SITU_OBJECTIVE_THROUGHPUT, .communication = SITU_COMMUNICATION_LINK, .free = true},
      {.objective = SITU_OBJECTIVE_THROUGHPUT, .communication = SITU_COMMUNICATION_HOST_STAGED, .free = true,
       .overlap = true},
      {.objective = SITU_OBJECTIVE_THROUGHPUT, .communication = SITU_COMMUNICATION_HOST_STAGED, .in_flight = 2},
  };
  return all[index];
}

static lab draw(int32_t index, uint64_t seed) {
  lab_options o = {.seed = seed, .n_operators = 12 + (int32_t)(seed % 30), .n_devices = 2 + (int32_t)(seed % 4),
                   .density = 0.05 + 0.05 * (double)(seed % 4), .n_colocations = (int32_t)(seed % 5),
                   .training = index >= 3 && seed % 3 == 0, .pinned = seed % 3 == 1, .unsupported = seed % 4 == 0,
                   .memory = seed % 2 ? 0.25 + 0.1 * (double)(seed % 5) : 0, .options = variant(index)};
  return lab_random(&o);
}

static situ_plan *solve_with(const situ_problem *p, const char *name, uint64_t seed) {
  situ_plan *plan;
  situ_error error;
  situ_solve_options o = {.solvers = name, .max_steps = 300, .seed = seed};
  if (situ_solve(&plan, p, &o, &error) != SITU_STATUS_OK)
    fail_msg("%s, seed %d, solver %s: %s", situ_execution_name(situ_problem_execution(p)), (int)seed, name, error.text);
  return plan;
}

/* situ_solve has every plan judged by situ_check: a plan that breaks a rule is an error here. */
static void plans_keep_all_rules_and_runs_repeat(void **state) {
  (void)state;
  for (int32_t index = 0; index < N_VARIANTS; index++)
    for (uint64_t seed = 1; seed <= 24; seed++) {
      lab l = draw(index, seed);
      int32_t n = l.problem->n_operators;
      for (int32_t i = 0; i < situ_n_solvers(); i++) {
        const char *name = situ_solver_at(i).name;
        if (!situ_solver_serves(name, l.problem)) continue;
        situ_plan *first = solve_with(l.problem, name, seed), *second = solve_with(l.problem, name, seed);
        assert_int_equal(situ_plan_value_ns(first), situ_plan_value_ns(second));
        assert_int_equal(situ_plan_steps(first), situ_plan_steps(second));
        if (situ_plan_exists(first)) assert_memory_equal(first->device, second->device, (size_t)n * sizeof(int32_t));
        situ_plan_free(first);
        situ_plan_free(second);
      }
      lab_free(&l);
    }
}

static void the_portfolio_is_never_worse_than_one_device(void **state) {
  (void)state;
  for (int32_t index = 0; index < N_VARIANTS; index++)
    for (uint64_t seed = 2; seed <= 60; seed += 2) {
      lab l = draw(index, seed);
      situ_plan *plan = solve_with(l.problem, "auto", seed);
      bool bound_by_pins = seed % 3 == 1;
      if (!bound_by_pins) assert_true(situ_plan_value_ns(plan) <= situ_plan_best_single_ns(plan));
      situ_plan_free(plan);
      lab_free(&l);
    }
}

/* The same problem with operators built in another topological order: bounds do not change. */
static void bounds_do_not_depend_on_numbers(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 40; seed++) {
    lab_options o = {.seed = seed, .n_operators = 40, .n_devices = 3, .density = 0.06, .unsupported = seed % 2};
    lab l = lab_random(&o);
    const situ_graph *g = l.graph;
    rng r = rng_new(seed);
    int32_t number[64], waiting[64], n = g->n_operators, *origin = malloc((size_t)n * sizeof *origin);
    situ_graph_builder *b;
    situ_graph *again;
    situ_error error;
    assert_int_equal(situ_graph_builder_new(&b, "again", &error), SITU_STATUS_OK);
    for (int32_t v = 0; v < n; v++) waiting[v] = (int32_t)(g->in_start[v + 1] - g->in_start[v]);
    for (int32_t made = 0; made < n; made++) {
      int32_t v = -1, seen = 0;
      for (int32_t u = 0; u < n; u++)
        if (waiting[u] == 0 && rng_below(&r, ++seen) == 0) v = u;
      waiting[v] = -1;
      situ_operator op = situ_graph_operator(g, v);
      op.colocation = -1;
      assert_int_equal(situ_graph_builder_add_operator(b, &op, &number[v], &error), SITU_STATUS_OK);
      origin[number[v]] = v;
      for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
        for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) waiting[g->use[i]]--;
    }
    for (int32_t t = 0; t < g->n_tensors; t++) {
      int32_t made;
      situ_tensor tensor = situ_graph_tensor(g, t);
      assert_int_equal(situ_graph_builder_add_tensor(b, number[g->producer[t]], &tensor, &made, &error), SITU_STATUS_OK);
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
        assert_int_equal(situ_graph_builder_add_use(b, number[g->use[i]], made, &error), SITU_STATUS_OK);
    }
    assert_int_equal(situ_graph_freeze(&again, b, &error), SITU_STATUS_OK);
    situ_graph_builder_free(b);
    situ_costs *costs;
    assert_int_equal(costs_new_with_transfers(&costs, again, l.platform, &error), SITU_STATUS_OK);
    int32_t classes = l.costs->n_classes;
    for (int32_t v = 0; v < n; v++)
      memcpy(costs->time_ns + (int64_t)v * classes, l.costs->time_ns + (int64_t)origin[again->built_index[v]] * classes,
             (size_t)classes * sizeof(int64_t));
    situ_problem *p;
    assert_int_equal(situ_problem_pose(&p, again, l.platform, costs, NULL, &error), SITU_STATUS_OK);
    arena *a = arena_new();
    budget unlimited = budget_new(0, 0, NULL, NULL);
    for (int32_t i = 0; bounds[i]; i++) {
      int64_t one, other;
      if (!bounds[i]->stream) continue;
      assert_int_equal(bounds[i]->compute(&one, &(certificate){0}, l.problem, a, &unlimited, &error), SITU_STATUS_OK);
      assert_int_equal(bounds[i]->compute(&other, &(certificate){0}, p, a, &unlimited, &error), SITU_STATUS_OK);
      assert_int_equal(one, other);
    }
    arena_free(a);
    situ_problem_free(p);
    situ_costs_free(costs);
    situ_graph_free(again);
    free(origin);
    lab_free(&l);
  }
}

static bool stop_at_first_plan(void *context, const situ_progress *progress) {
  ++*(int *)context;
  return progress->value_ns != SITU_NEVER_NS;
}

static void a_stop_returns_the_best_so_far(void **state) {
  (void)state;
  lab_options o = {.seed = 7, .n_operators = 200, .n_devices = 4, .density = 0.02};
  lab l = lab_random(&o);
  int calls = 0;
  situ_plan *plan;
  situ_error error;
  situ_solve_options options = {.progress = stop_at_first_plan, .context = &calls, .time_limit_s = 60};
  assert_int_equal(situ_solve(&plan, l.problem, &options, &error), SITU_STATUS_OK);
  assert_true(calls > 0);
  assert_true(situ_plan_exists(plan));
  assert_true(situ_plan_seconds(plan) < 10);
  situ_plan_free(plan);
  lab_free(&l);
}

static bool stop_at_once(void *context, const situ_progress *progress) {
  (void)context;
  (void)progress;
  return true;
}

static void a_stop_before_any_plan_is_cancelled(void **state) {
  (void)state;
  lab_options o = {.seed = 9, .n_operators = 50, .n_devices = 3, .density = 0.1};
  lab l = lab_random(&o);
  situ_plan *plan;
  situ_error error;
  situ_solve_options options = {.progress = stop_at_once};
  assert_int_equal(situ_solve(&plan, l.problem, &options, &error), SITU_STATUS_OK);
  assert_int_equal(situ_plan_outcome(plan), SITU_OUTCOME_CANCELLED);
  assert_false(situ_plan_exists(plan));
  situ_plan_free(plan);
  lab_free(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plans_keep_all_rules_and_runs_repeat),
      cmocka_unit_test(the_portfolio_is_never_worse_than_one_device),
      cmocka_unit_test(bounds_do_not_depend_on_numbers),
      cmocka_unit_test(a_stop_returns_the_best_so_far),
      cmocka_unit_test(a_stop_before_any_plan_is_cancelled),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
