/* Plans whose placement is given: by pins, or by a plan. */
#include <stdio.h>
#include <string.h>

#include "api/evaluate.h"
#include "api/instance.h"
#include "base/arguments.h"
#include "base/clock.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "check/judge.h"
#include "plan/plan.h"
#include "sim/simulate.h"
#include "solve/common/best_single.h"
#include "solve/stream/sequence.h"

static situ_status infeasible(situ_plan **out, const situ_problem *p, const char *reason, situ_error *error) {
  situ_plan *plan = plan_new(p);
  const char *why = plan ? arena_string(plan->arena, reason) : NULL;
  if (!why) {
    situ_plan_free(plan);
    return fail_no_memory(error);
  }
  plan->outcome = SITU_OUTCOME_INFEASIBLE;
  plan->reason = why;
  *out = plan;
  return SITU_STATUS_OK;
}

/* Order, calls and replicas that a plan of ours, whose placement this is, brings along; *kept (or NULL) owns them. */
static void take_sequence(situ_plan **kept, placement *where, const situ_problem *p, const char *path) {
  json_value *root = NULL;
  *kept = NULL;
  if (!path || json_read(&root, path, NULL) != SITU_STATUS_OK) return;
  bool ours = json_get(root, "instance") && plan_from_json(kept, p, root, path, NULL) == SITU_STATUS_OK;
  json_free(root);
  if (!ours || !(*kept)->device ||
      memcmp((*kept)->device, where->device, (size_t)p->n_operators * sizeof *where->device) != 0)
    return;
  where->order = (*kept)->order;
  where->call = (*kept)->call;
  where->replica_of = (*kept)->replica_of;
}

/* The order of the file where it has one; else the better of that by index and one found for these devices. */
static situ_status choose_order(placement *where, const situ_instance *i, simulator *s, arena *a, situ_error *error) {
  const situ_problem *p = i->problem;
  if (p->execution != SITU_EXECUTION_STREAM || where->order) return SITU_STATUS_OK;
  simulation by_index = simulator_run(s, where, true);
  int64_t value = by_index.value_ns, excess = by_index.excess_bytes;
  where->order = ARENA_NEW(a, int32_t, p->n_operators);
  if (!where->order || !sequence_find(where->order, s, p, where->device, a)) return fail_no_memory(error);
  simulation found = simulator_run(s, where, true);
  bool better = found.excess_bytes != excess ? found.excess_bytes < excess : found.value_ns <= value;
  if (!better) where->order = NULL;
  return SITU_STATUS_OK;
}

/* The first violation of a constraint; one of the value only when there is no other: it follows from them. */
static situ_violation telling_violation(const situ_verdict *verdict) {
  for (int32_t i = 0; i < verdict->n_kept; i++) {
    situ_violation v = situ_verdict_violation(verdict, i);
    if (strcmp(v.rule, "value") != 0) return v;
  }
  return situ_verdict_violation(verdict, 0);
}

/* Checks `plan`; when a rule is broken, *out becomes an infeasible plan that names it, else `plan` itself. */
static situ_status judge_plan(situ_plan **out, situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  situ_verdict *verdict = NULL;
  situ_status status = situ_check(&verdict, plan, error);
  char reason[1024] = "";
  if (status == SITU_STATUS_OK && verdict->n_found > 0) {
    situ_violation first = telling_violation(verdict);
    long long more = (long long)verdict->n_found - 1;
    int n = snprintf(reason, sizeof reason, "%s: %s", first.rule, first.text);
    if (more > 0 && n > 0 && (size_t)n < sizeof reason)
      snprintf(reason + n, sizeof reason - (size_t)n, " (and %lld more violation%s)", more, more == 1 ? "" : "s");
  }
  situ_verdict_free(verdict);
  if (status == SITU_STATUS_OK && !*reason) {
    *out = plan;
    return status;
  }
  situ_plan_free(plan);
  return status == SITU_STATUS_OK ? infeasible(out, p, reason, error) : status;
}

static void set_single(situ_plan *plan, const best_single *single) {
  plan->best_single_ns = single->value_ns;
  plan->best_single_device = single->device;
}

static situ_status fill_context(situ_plan *plan, const best_single *single, arena *a, situ_error *error) {
  const situ_problem *p = plan->problem;
  set_single(plan, single);
  plan->solver = "fix";
  plan->steps = 1;
  if (p->conflict) return SITU_STATUS_OK;
  budget b = budget_new(0, 0, NULL, NULL);
  situ_problem view;
  bound_found found;
  TRY(bound_best(&found, problem_of_value(&view, p), a, &b, error));
  TRY(plan_set_bound(plan, found.lower_ns, found.name, &found.proof, error));
  if (!plan_exists(plan)) return SITU_STATUS_OK;
  situ_verdict *verdict;
  TRY(situ_check(&verdict, plan, error));
  plan->verified_ns = verdict->verified_ns;
  situ_verdict_free(verdict);
  return SITU_STATUS_OK;
}

static situ_status evaluate(situ_plan **out, const situ_instance *i, arena *a, situ_error *error) {
  const situ_problem *p = i->problem;
  simulator *s = simulator_new(p, a);
  best_single single;
  if (!s) return fail_no_memory(error);
  TRY(best_single_find(&single, s, p, a, error));
  situ_status status = SITU_STATUS_OK;
  if (p->conflict) {
    status = infeasible(out, p, p->conflict, error);
  } else {
    placement where = {.device = p->pin};
    situ_plan *kept = NULL, *plan = NULL;
    take_sequence(&kept, &where, p, i->options.call.fix);
    where.replica_of = NULL; /* a pinned operator has none */
    status = choose_order(&where, i, s, a, error);
    if (status == SITU_STATUS_OK) status = simulator_plan(&plan, s, &where, error);
    situ_plan_free(kept);
    if (status == SITU_STATUS_OK) {
      set_single(plan, &single);
      status = judge_plan(out, plan, error);
    }
  }
  return status == SITU_STATUS_OK ? fill_context(*out, &single, a, error) : status;
}

situ_status evaluate_pins(situ_plan **out, const situ_instance *instance, situ_error *error) {
  *out = NULL;
  int64_t start_ns = clock_now_ns();
  arena *a = arena_new();
  if (!a) return fail_no_memory(error);
  situ_status status = evaluate(out, instance, a, error);
  arena_free(a);
  if (status != SITU_STATUS_OK) {
    situ_plan_free(*out);
    *out = NULL;
    return status;
  }
  (*out)->seconds = (double)(clock_now_ns() - start_ns) / 1e9;
  return status;
}

/* The problem in a plan file supplies everything that the options leave open. */
static situ_status open_beside(situ_instance **instance, const instance_options *options, const char *path,
                               situ_error *error) {
  json_value *root = NULL;
  TRY(json_read(&root, path, error));
  const json_value *member = json_get(root, "situ_plan") ? json_get(root, "instance") : NULL;
  situ_status status =
      member ? instance_from_json(instance, options, member, path, error) : instance_open(instance, options, error);
  json_free(root);
  return status;
}

static situ_status import(situ_plan **out, const situ_instance *i, const char *path, arena *a, situ_error *error) {
  const situ_problem *p = i->problem;
  simulator *s = simulator_new(p, a);
  int32_t *device = ARENA_NEW(a, int32_t, p->n_operators);
  best_single single;
  if (!s || !device) return fail_no_memory(error);
  TRY(plan_read_pins(device, p->graph, p->platform, path, error));
  for (int32_t v = 0; v < p->n_operators; v++)
    if (device[v] < 0)
      return fail_with(error, SITU_STATUS_BAD_INPUT, path, "does not place operator %s; every operator must be placed",
                       p->graph->name[v]);
  TRY(best_single_find(&single, s, p, a, error));
  placement where = {.device = device};
  situ_plan *kept;
  take_sequence(&kept, &where, p, path);
  situ_status status = choose_order(&where, i, s, a, error);
  if (status == SITU_STATUS_OK) status = simulator_plan(out, s, &where, error);
  situ_plan_free(kept);
  if (status != SITU_STATUS_OK) return status;
  set_single(*out, &single);
  (*out)->solver = "file";
  return SITU_STATUS_OK;
}

situ_status evaluate_file(situ_plan **out, const situ_instance *instance, const char *path, situ_error *error) {
  *out = NULL;
  arena *a = arena_new();
  if (!a) return fail_no_memory(error);
  situ_status status = import(out, instance, path, a, error);
  arena_free(a);
  return status;
}

situ_status situ_plan_import(situ_plan **out, situ_instance **instance, const situ_instance_options *given,
                             const char *path, situ_error *error) {
  instance_options options;
  if (out) *out = NULL;
  if (instance) *instance = NULL;
  TRY(GIVEN(error, out, instance, path));
  TRY(instance_options_take(&options, given, error));
  arena *a = arena_new();
  if (!a) return fail_no_memory(error);
  situ_status status = open_beside(instance, &options, path, error);
  if (status == SITU_STATUS_OK) status = import(out, *instance, path, a, error);
  arena_free(a);
  if (status == SITU_STATUS_OK) return status;
  situ_instance_free(*instance);
  *instance = NULL;
  return status;
}

/* Whether `order` names each operator once and no consumer before its producers. */
static situ_status check_order(const situ_problem *p, const int32_t *order, arena *a, situ_error *error) {
  const situ_graph *g = p->graph;
  bool *seen = ARENA_ZERO(a, bool, p->n_operators);
  if (!seen) return fail_no_memory(error);
  for (int32_t k = 0; k < p->n_operators; k++) {
    int32_t v = order[k];
    if (v < 0 || v >= p->n_operators || seen[v])
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the order is not a permutation of the operators");
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      if (!seen[g->producer[g->in[i]]])
        return fail_with(error, SITU_STATUS_BAD_ARGUMENT, g->name[v], "comes before %s in the order, but reads from it",
                         g->name[g->producer[g->in[i]]]);
    seen[v] = true;
  }
  return SITU_STATUS_OK;
}

static situ_status simulate_in(situ_plan **out, const situ_problem *problem, const int32_t *device,
                               const int32_t *order, arena *a, situ_error *error) {
  for (int32_t v = 0; v < problem->n_operators; v++)
    if (device[v] < 0 || device[v] >= problem->n_devices)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, problem->graph->name[v], "is on a device that does not exist");
  if (order) TRY(check_order(problem, order, a, error));
  placement where = {.device = ARENA_COPY(a, device, int32_t, problem->n_operators),
                     .order = order ? ARENA_COPY(a, order, int32_t, problem->n_operators) : NULL};
  simulator *s = simulator_new(problem, a);
  if (!where.device || (order && !where.order) || !s) return fail_no_memory(error);
  best_single single;
  TRY(best_single_find(&single, s, problem, a, error));
  TRY(simulator_plan(out, s, &where, error));
  situ_plan *plan = *out;
  plan->outcome = SITU_OUTCOME_FEASIBLE;
  plan->lower_bound_ns = 0;
  set_single(plan, &single);
  plan->solver = "given";
  plan->bound = plan->reason = "";
  return SITU_STATUS_OK;
}

situ_status situ_simulate(situ_plan **out, const situ_problem *problem, const int32_t *device, const int32_t *order,
                          situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out, problem, device));
  arena *a = arena_new();
  if (!a) return fail_no_memory(error);
  situ_status status = simulate_in(out, problem, device, order, a, error);
  arena_free(a);
  return status;
}

situ_status situ_replay(situ_plan **out, const situ_plan *plan, situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out, plan));
  if (!plan->device) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the plan has no placement to simulate");
  arena *a = arena_new();
  simulator *s = a ? simulator_new(plan->problem, a) : NULL;
  placement where = {.device = plan->device, .order = plan->order, .call = plan->call, .replica_of = plan->replica_of};
  situ_status status = s ? simulator_plan(out, s, &where, error) : fail_no_memory(error);
  arena_free(a);
  if (status != SITU_STATUS_OK) return status;
  situ_plan *again = *out;
  bool holds = plan->lower_bound_ns <= again->value_ns; /* a file may say anything */
  bool optimal = plan->outcome == SITU_OUTCOME_OPTIMAL && again->value_ns == plan->lower_bound_ns;
  again->outcome = optimal ? SITU_OUTCOME_OPTIMAL : SITU_OUTCOME_FEASIBLE;
  again->claimed = plan->claimed;
  again->form = plan->form;
  again->lower_bound_ns = holds ? plan->lower_bound_ns : 0;
  again->best_single_ns = plan->best_single_ns;
  again->best_single_device = plan->best_single_device;
  again->steps = plan->steps;
  again->seed = plan->seed;
  again->seconds = plan->seconds;
  again->solver = arena_string(again->arena, plan->solver);
  again->bound = arena_string(again->arena, holds ? plan->bound : "");
  if (again->solver && again->bound && (!holds || certificate_copy(&again->proof, &plan->proof, again->arena)))
    return status;
  situ_plan_free(again);
  *out = NULL;
  return fail_no_memory(error);
}
