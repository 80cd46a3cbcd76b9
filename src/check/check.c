/* The independent judge: the rules of every execution model, then those of the problem's. */
#include "check/model_rules.h"

#include "base/arguments.h"
#include "check/check_certificate.h"
#include "check/check_single.h"

#define ADDRESS(NAME) &NAME##_model_rule,
static const model_rule *const rules[] = {MODEL_RULE_ROWS(ADDRESS) NULL};

/* Whether there is a placement on devices that exist. */
static bool check_placement(judge *j) {
  const situ_problem *p = j->problem;
  bool whole = true;
  if (!j->plan->device) {
    judge_note(j, "placement", "the plan has no placement; its outcome is %s", situ_outcome_name(j->plan->outcome));
    return false;
  }
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t d = j->plan->device[v];
    if (d >= 0 && d < p->n_devices) continue;
    judge_note(j, "placement", "%s is on device %d; there are devices 0 to %d", j->graph->name[v], (int)d,
               (int)p->n_devices - 1);
    whole = false;
  }
  return whole;
}

/* Support, pins and devices to leave unused; colocation; operators per device. */
static situ_status check_constraints(judge *j, situ_error *error) {
  const situ_problem *p = j->problem;
  const situ_graph *g = j->graph;
  int32_t *count = ARENA_ZERO(j->scratch, int32_t, p->n_devices);
  int32_t *leader = ARENA_NEW(j->scratch, int32_t, g->n_colocations);
  if (!count || !leader) return fail_no_memory(error);
  for (int32_t k = 0; k < g->n_colocations; k++) leader[k] = -1;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t d = j->plan->device[v], group = g->colocation[v];
    const char *name = j->platform->devices[d].name;
    count[d]++;
    if (p->costs->time_ns[(int64_t)v * p->n_classes + j->platform->class_of[d]] == SITU_NEVER_NS)
      judge_note(j, "support", "%s is on %s, where it cannot run", g->name[v], name);
    if (p->pin[v] >= 0 && p->pin[v] != d)
      judge_note(j, "pin", "%s is on %s; it is pinned to %s", g->name[v], name, j->platform->devices[p->pin[v]].name);
    if (p->pin[v] < 0 && p->unused[d])
      judge_note(j, "unused", "%s is on %s, which has to stay unused", g->name[v], name);
    if (group < 0) continue;
    if (leader[group] < 0) leader[group] = v;
    if (j->plan->device[leader[group]] != d)
      judge_note(j, "colocation", "%s is on %s, but %s of its colocation group is on %s", g->name[v], name,
                 g->name[leader[group]], j->platform->devices[j->plan->device[leader[group]]].name);
  }
  for (int32_t d = 0; j->plan->uses && d < p->n_devices; d++) {
    int32_t of = j->plan->replica_of ? j->plan->replica_of[d] : -1;
    int32_t expected = of >= 0 && of < p->n_devices ? count[of] : count[d];
    if (j->plan->uses[d].n_operators != expected)
      judge_note(j, "use", "%s: the plan says %d operators; there are %d", j->platform->devices[d].name,
                 (int)j->plan->uses[d].n_operators, (int)expected);
  }
  return SITU_STATUS_OK;
}

static void check_bound(judge *j) {
  const situ_plan *plan = j->plan;
  if (plan->lower_bound_ns < 0)
    judge_note(j, "bound", "the lower bound is %lld ns; expected at least 0", (long long)plan->lower_bound_ns);
  if (plan->lower_bound_ns > plan->value_ns)
    judge_note(j, "bound", "the lower bound of %lld ns is above the value of %lld ns", (long long)plan->lower_bound_ns,
               (long long)plan->value_ns);
  if (plan->outcome == SITU_OUTCOME_OPTIMAL && plan->lower_bound_ns < plan->value_ns)
    judge_note(j, "bound", "the plan says that it is optimal; its bound is %lld ns, its value %lld ns",
               (long long)plan->lower_bound_ns, (long long)plan->value_ns);
  if (plan->outcome != SITU_OUTCOME_OPTIMAL && plan->outcome != SITU_OUTCOME_FEASIBLE)
    judge_note(j, "placement", "the plan has a placement; its outcome says %s", situ_outcome_name(plan->outcome));
}

/* Whether the plan says that there is none, and that is proved: by its certificate, or because posing the problem
 * already finds a constraint that no plan can meet. */
static bool proved_infeasible(judge *j) {
  if (j->plan->device || j->plan->outcome != SITU_OUTCOME_INFEASIBLE) return false;
  if (j->problem->conflict) {
    j->verdict->verified_ns = SITU_NEVER_NS;
    j->verdict->certificate = "conflict";
  }
  return j->verdict->verified_ns == SITU_NEVER_NS;
}

static situ_status look_at_all(judge *j, situ_error *error) {
  judge bounded = *j; /* what bounds a period is what bounds a pipeline */
  situ_problem view;
  if (j->problem->execution == SITU_EXECUTION_STREAM && j->problem->objective == SITU_OBJECTIVE_THROUGHPUT) {
    problem_view_pipeline(&view, j->problem);
    bounded.problem = &view;
  }
  TRY(check_certificate(&bounded, error));
  if (proved_infeasible(j) || !check_placement(j)) return SITU_STATUS_OK;
  if (j->problem->conflict) judge_note(j, "conflict", "no plan can keep a constraint: %s", j->problem->conflict);
  TRY(check_constraints(j, error));
  TRY(check_single(j, error));
  check_bound(j);
  for (int32_t i = 0; rules[i]; i++)
    if (rules[i]->execution == j->problem->execution) return rules[i]->check(j, error);
  return fail_with(error, SITU_STATUS_INTERNAL, NULL, "a posed problem without an execution model");
}

situ_status situ_check(situ_verdict **out, const situ_problem *problem, const situ_plan *plan, situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out, problem, plan));
  TRY(plan_belongs(plan, problem, error));
  arena *a = arena_new(), *scratch = arena_new();
  situ_verdict *verdict = a ? ARENA_ZERO(a, situ_verdict, 1) : NULL;
  situ_status status = SITU_STATUS_NO_MEMORY;
  if (verdict && scratch) {
    verdict->arena = a;
    verdict->claimed_ns = plan->lower_bound_ns;
    verdict->certificate = verdict->unverified = "";
    judge j = {problem, problem->graph, problem->platform, plan, verdict, scratch};
    status = look_at_all(&j, error);
    if (status == SITU_STATUS_OK && verdict->failed) status = fail_no_memory(error);
  } else {
    fail_no_memory(error);
  }
  arena_free(scratch);
  if (status == SITU_STATUS_OK)
    *out = verdict;
  else
    arena_free(a);
  return status;
}
