/* The independent judge: the rules of every execution model, then those of the problem's. */
#include "check/model_rules.h"

#include "base/arguments.h"
#include "base/disjoint.h"
#include "check/check_certificate.h"
#include "check/check_claims.h"

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

/* Why operators must share a device: those of one key do, -1 is none. `rule` and `what` are for messages. */
typedef struct bond {
  const char *rule, *what;
  const int32_t *key; /* [operator] key 0 .. n_operators-1, or -1; NULL: no such grouping */
} bond;
enum { N_BONDS = 3 };

static void bonds_of(bond into[N_BONDS], const situ_problem *p) {
  into[0] = (bond){"colocation", "its colocation group", p->given->colocation};
  into[1] = (bond){"fusion", "its fused kernel", p->costs->group};
  into[2] = (bond){"granularity", "its layer or group", p->together};
}

/* What every plan has to hold of the weights of each operator: all, or where devices that share a part hold shares,
 * that of one of all devices of a class. NULL without memory. */
static int64_t *min_weights(const judge *j) {
  const situ_problem *p = j->problem;
  const situ_phase first_phase[] = {SITU_PHASE_UPDATE, SITU_PHASE_BACKWARD, SITU_PHASE_FORWARD};
  int64_t *min_bytes = ARENA_COPY(j->scratch, p->given->weight_bytes, int64_t, p->n_operators);
  int32_t max_sharing = 1, *of_class = ARENA_ZERO(j->scratch, int32_t, p->n_classes);
  if (!min_bytes || !of_class) return NULL;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (++of_class[j->platform->class_of[d]] > max_sharing) max_sharing = of_class[j->platform->class_of[d]];
  for (int32_t v = 0; v < p->n_operators; v++)
    for (int32_t stage = 0; stage < p->zero; stage++)
      if (p->given->phase[v] == first_phase[stage]) min_bytes[v] /= max_sharing;
  return min_bytes;
}

/* Gives the judge a graph of its own whose colocation groups are all that the bonds hold together, with the workspaces
 * that the costs know. */
static situ_status tie_graph(judge *j, situ_graph *own, situ_error *error) {
  int32_t n = j->problem->n_operators;
  int32_t *into = ARENA_NEW(j->scratch, int32_t, n), *size = ARENA_ZERO(j->scratch, int32_t, n);
  int32_t *first = ARENA_NEW(j->scratch, int32_t, n);
  bond bonds[N_BONDS];
  if (!into || !size || !first) return fail_no_memory(error);
  bonds_of(bonds, j->problem);
  disjoint_init(into, n);
  for (int k = 0; k < N_BONDS; k++) {
    for (int32_t v = 0; v < n; v++) first[v] = -1;
    for (int32_t v = 0; bonds[k].key && v < n; v++) {
      int32_t key = bonds[k].key[v];
      if (key >= 0 && first[key] < 0) first[key] = v;
      if (key >= 0) disjoint_join(into, first[key], v);
    }
  }
  for (int32_t v = 0; v < n; v++) size[disjoint_root(into, v)]++;
  *own = *j->problem->given;
  if (j->problem->costs->workspace_bytes) own->workspace_bytes = j->problem->costs->workspace_bytes;
  if (j->problem->costs->held_bytes) own->size_bytes = j->problem->costs->held_bytes;
  own->weight_bytes = min_weights(j);
  if (!own->weight_bytes) return fail_no_memory(error);
  own->n_colocations = 0;
  for (int32_t v = 0; v < n; v++) {
    int32_t root = disjoint_root(into, v);
    if (root == v && size[v] > 1) first[v] = own->n_colocations++;
    if (root == v && size[v] == 1) first[v] = -1;
    first[v] = first[root];
  }
  own->colocation = first;
  j->graph = own;
  return SITU_STATUS_OK;
}

/* Whether operators of one key are on one device. */
static situ_status check_bonds(judge *j, situ_error *error) {
  const situ_problem *p = j->problem;
  int32_t *leader = ARENA_NEW(j->scratch, int32_t, p->n_operators);
  bond bonds[N_BONDS];
  if (!leader) return fail_no_memory(error);
  bonds_of(bonds, p);
  for (int k = 0; k < N_BONDS; k++) {
    for (int32_t v = 0; v < p->n_operators; v++) leader[v] = -1;
    for (int32_t v = 0; bonds[k].key && v < p->n_operators; v++) {
      int32_t key = bonds[k].key[v], d = j->plan->device[v];
      if (key < 0) continue;
      if (leader[key] < 0) leader[key] = v;
      int32_t first = leader[key], other = j->plan->device[first];
      if (other != d)
        judge_note(j, bonds[k].rule, "%s is on %s, but %s of %s is on %s", j->graph->name[v],
                   j->platform->devices[d].name, j->graph->name[first], bonds[k].what,
                   j->platform->devices[other].name);
    }
  }
  return SITU_STATUS_OK;
}

/* Support, pins and devices to leave unused; what must share a device; operators per device. */
static situ_status check_constraints(judge *j, situ_error *error) {
  const situ_problem *p = j->problem;
  const situ_graph *g = j->graph;
  int32_t *count = ARENA_ZERO(j->scratch, int32_t, p->n_devices);
  if (!count) return fail_no_memory(error);
  TRY(check_bonds(j, error));
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t d = j->plan->device[v];
    const char *name = j->platform->devices[d].name;
    count[d]++;
    if (judge_time_ns(j, v, d) == SITU_NEVER_NS)
      judge_note(j, "support", "%s is on %s, where it cannot run%s", g->name[v], name,
                 costs_is_ruled(p->costs, v, p->class_of[d]) ? ", by a rule" : "");
    if (p->pin[v] >= 0 && p->pin[v] != d)
      judge_note(j, "pin", "%s is on %s; it is pinned to %s", g->name[v], name, j->platform->devices[p->pin[v]].name);
    if (p->unused[d]) judge_note(j, "unused", "%s is on %s, which must stay unused", g->name[v], name);
  }
  for (int32_t d = 0; j->plan->uses && d < p->n_devices; d++) {
    int32_t of = j->plan->replica_of ? j->plan->replica_of[d] : -1;
    int32_t expected = of >= 0 && of < p->n_devices ? count[of] : count[d];
    if (j->plan->uses[d].n_operators != expected)
      judge_note(j, "use", "%s: the plan states %d operators; there are %d", j->platform->devices[d].name,
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
    judge_note(j, "bound", "the plan claims to be optimal; its bound is %lld ns, its value %lld ns",
               (long long)plan->lower_bound_ns, (long long)plan->value_ns);
  if (plan->outcome != SITU_OUTCOME_OPTIMAL && plan->outcome != SITU_OUTCOME_FEASIBLE)
    judge_note(j, "placement", "the plan has a placement, but its outcome is %s", situ_outcome_name(plan->outcome));
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

/* Notes what the plan breaks of the problem's constraints and of the rules of its execution model. */
static situ_status check_rules(judge *j, situ_error *error) {
  TRY(check_constraints(j, error));
  for (int32_t i = 0; rules[i]; i++)
    if (rules[i]->execution == j->problem->execution) return rules[i]->check(j, error);
  return fail_with(error, SITU_STATUS_INTERNAL, NULL, "a posed problem without an execution model");
}

/* Judges a plan that a claim is of like any other, and compares it with the claim. */
static situ_status check_shown(judge *j, const check_shown_plan *shown, situ_error *error) {
  judge other = *j;
  other.plan = shown->plan;
  other.of = shown->name;
  if (!check_placement(&other)) return SITU_STATUS_OK;
  TRY(check_rules(&other, error));
  return check_shown_claim(&other, shown, error);
}

static situ_status check_all_shown(judge *j, situ_error *error) {
  check_shown_plan shown[CHECK_SHOWN];
  check_claims(j, shown);
  for (int k = 0; k < CHECK_SHOWN; k++)
    if (shown[k].plan) TRY(check_shown(j, &shown[k], error));
  return SITU_STATUS_OK;
}

static situ_status look_at_all(judge *j, situ_error *error) {
  judge bounded = *j; /* what bounds a period is what bounds a pipeline */
  situ_problem view;
  if (j->problem->execution == SITU_EXECUTION_STREAM && j->problem->objective == SITU_OBJECTIVE_THROUGHPUT) {
    problem_view_pipeline(&view, j->problem);
    bounded.problem = &view;
  }
  TRY(check_certificate(&bounded, error));
  TRY(check_all_shown(j, error));
  if (proved_infeasible(j) || !check_placement(j)) return SITU_STATUS_OK;
  if (j->problem->conflict) judge_note(j, "conflict", "no plan can satisfy a constraint: %s", j->problem->conflict);
  TRY(check_single(j, error));
  check_bound(j);
  return check_rules(j, error);
}

situ_status situ_check(situ_verdict **out, const situ_plan *plan, situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out, plan));
  const situ_problem *problem = plan->problem;
  situ_verdict *verdict = NOUN_NEW(situ_verdict, plan->arena);
  arena *scratch = arena_new();
  situ_status status = SITU_STATUS_NO_MEMORY;
  if (verdict && scratch) {
    verdict->plan = plan;
    verdict->claimed_ns = plan->lower_bound_ns;
    verdict->certificate = verdict->unverified = "";
    judge j = {problem, problem->graph, problem->platform, plan, verdict, scratch, NULL, NULL};
    situ_graph tied;
    status = tie_graph(&j, &tied, error);
    if (status == SITU_STATUS_OK && !judge_find_recomputed(&j)) status = fail_no_memory(error);
    if (status == SITU_STATUS_OK) status = look_at_all(&j, error);
    if (status == SITU_STATUS_OK && verdict->failed) status = fail_no_memory(error);
  } else {
    fail_no_memory(error);
  }
  arena_free(scratch);
  HAND_OUT(out, verdict, status, situ_verdict_free);
}
