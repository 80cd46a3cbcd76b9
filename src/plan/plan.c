#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/contracts.h"
#include "view/handovers.h"

situ_plan *plan_new(const situ_problem *problem) {
  situ_plan *plan = NOUN_NEW(situ_plan, problem->arena);
  if (!plan) return NULL;
  plan->problem = problem;
  plan->n_operators = problem->n_operators;
  plan->n_devices = problem->n_devices;
  plan->outcome = SITU_OUTCOME_LIMIT;
  plan->value_ns = plan->best_single_ns = plan->latency_ns = plan->period_ns = plan->secondary_ns = SITU_NEVER_NS;
  plan->best_single_device = plan->n_handovers = plan->best_found_handovers = -1;
  plan->best_found_ns = plan->unrestricted_ns = SITU_NEVER_NS;
  plan->solver = plan->bound = plan->reason = "";
  return plan;
}

bool plan_count_handovers(situ_plan *plan) {
  const situ_problem *problem = plan->problem;
  int32_t *stamp = malloc(sizeof *stamp * (size_t)problem->n_devices);
  handovers h;
  if (!stamp) return false;
  handovers_count(&h, problem, plan->device, stamp);
  plan->n_handovers = h.n;
  free(stamp);
  return true;
}

int32_t plan_n_sharing(const situ_plan *plan, int32_t d) {
  REQUIRE(d >= 0 && d < plan->n_devices);
  int32_t n = 0;
  if (!plan->replica_of) return 1;
  for (int32_t e = 0; e < plan->n_devices; e++) n += plan_leader(plan, e) == plan_leader(plan, d);
  return n;
}

situ_status plan_show(situ_plan *plan, situ_plan **slot, situ_plan *shown, situ_error *error) {
  bool held = arena_hold(plan->arena, shown->arena);
  *slot = held ? shown : NULL;
  situ_plan_free(shown);
  return held ? SITU_STATUS_OK : fail_no_memory(error);
}

void situ_plan_free(situ_plan *plan) {
  if (plan) arena_free(plan->arena);
}

situ_device_use plan_use(const situ_plan *p, int32_t device) {
  return p->uses ? p->uses[device] : (situ_device_use){.size = sizeof(situ_device_use), .replica_of = -1};
}

situ_status plan_meet_bound(int64_t value_ns, const char *solver, int64_t lower_ns, const char *bound,
                            situ_error *error) {
  if (lower_ns <= value_ns) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_INTERNAL, NULL,
                   "a defect of situ: the bound %s of %lld ns is above the value %lld ns of the plan of %s; please "
                   "report it with this call and its files",
                   bound, (long long)lower_ns, (long long)value_ns, solver);
}

situ_status plan_set_bound(situ_plan *plan, int64_t lower_ns, const char *name, const certificate *proof,
                           situ_error *error) {
  REQUIRE(lower_ns >= 0 && name);
  if (plan->device) TRY(plan_meet_bound(plan->value_ns, plan->solver, lower_ns, name, error));
  plan->lower_bound_ns = lower_ns;
  plan->bound = arena_string(plan->arena, name);
  if (!plan->bound) plan->bound = "";
  if (!*plan->bound && *name) return fail_no_memory(error);
  if (!certificate_copy(&plan->proof, proof, plan->arena)) return fail_no_memory(error);
  if (plan->device) plan->outcome = plan->value_ns == lower_ns ? SITU_OUTCOME_OPTIMAL : SITU_OUTCOME_FEASIBLE;
  return SITU_STATUS_OK;
}

/* The first operator that is not the same in both graphs, which are of one size: -1 for none. */
static int32_t first_other(const situ_graph *a, const situ_graph *b) {
  for (int32_t v = 0; a != b && v < a->n_operators; v++)
    if (a->source_id[v] != b->source_id[v] || strcmp(a->name[v], b->name[v]) != 0) return v;
  return -1;
}

situ_status plan_belongs(const situ_plan *p, const situ_problem *problem, situ_error *error) {
  if (p->n_operators != problem->n_operators || p->n_devices != problem->n_devices)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "the plan has %d operators on %d devices; the problem has %d on %d", (int)p->n_operators,
                     (int)p->n_devices, (int)problem->n_operators, (int)problem->n_devices);
  int32_t other = first_other(p->problem->given, problem->given);
  if (other < 0) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, problem->given->name[other],
                   "is another operator in the plan: %s; expected a plan of the same model",
                   p->problem->given->name[other]);
}

const situ_problem *situ_plan_problem(const situ_plan *p) { return p ? p->problem : NULL; }

static bool is_operator(const situ_plan *p, int32_t v) { return p && v >= 0 && v < p->n_operators; }

double plan_gap(const situ_plan *p) {
  if (!p->device || p->value_ns == SITU_NEVER_NS) return 1;
  if (p->value_ns <= p->lower_bound_ns) return 0;
  return ((double)p->value_ns - (double)p->lower_bound_ns) / (double)p->value_ns;
}

bool situ_plan_get_summary(const situ_plan *p, situ_plan_summary *out) {
  if (!p) return false;
  situ_plan_summary summary = {.outcome = p->outcome,
                               .exists = plan_exists(p),
                               .claimed = p->claimed,
                               .n_operators = p->n_operators,
                               .n_devices = p->n_devices,
                               .n_transfers = p->n_transfers,
                               .n_statistics = p->n_statistics,
                               .value_ns = p->value_ns,
                               .latency_ns = p->latency_ns,
                               .period_ns = p->period_ns,
                               .secondary_ns = p->secondary_ns,
                               .lower_bound_ns = p->lower_bound_ns,
                               .verified_ns = p->verified_ns,
                               .gap = plan_gap(p),
                               .best_single_ns = p->best_single_ns,
                               .best_single_device = p->best_single_device,
                               .n_handovers = p->n_handovers,
                               .best_found_ns = plan_best_found_ns(p),
                               .best_found_handovers = plan_best_found_handovers(p),
                               .unrestricted_ns = plan_unrestricted_ns(p),
                               .solver = p->solver,
                               .bound = p->bound,
                               .reason = p->reason,
                               .certificate = plan_certificate(p),
                               .steps = p->steps,
                               .seed = p->seed,
                               .seconds = p->seconds};
  return GIVE(out, summary);
}

bool situ_plan_robustness(const situ_plan *p, situ_robustness *out) {
  return p && p->robustness.size > 0 && GIVE(out, p->robustness);
}

situ_statistic situ_plan_statistic(const situ_plan *p, int32_t i) {
  return p && i >= 0 && i < p->n_statistics ? p->statistics[i] : (situ_statistic){.name = ""};
}

int32_t situ_plan_device(const situ_plan *p, int32_t v) { return is_operator(p, v) && p->device ? p->device[v] : -1; }

int32_t situ_plan_order(const situ_plan *p, const int32_t **operators) {
  bool known = p && p->order;
  if (operators) *operators = known ? p->order : NULL;
  return known ? p->n_operators : 0;
}

int64_t situ_plan_start_ns(const situ_plan *p, int32_t v) {
  return is_operator(p, v) && p->start_ns ? p->start_ns[v] : 0;
}

int64_t situ_plan_finish_ns(const situ_plan *p, int32_t v) {
  return is_operator(p, v) && p->finish_ns ? p->finish_ns[v] : 0;
}

int32_t situ_plan_call(const situ_plan *p, int32_t v) { return is_operator(p, v) && p->call ? p->call[v] : -1; }
situ_transfer situ_plan_transfer(const situ_plan *p, int32_t i) {
  return p && i >= 0 && i < p->n_transfers ? p->transfers[i]
                                           : (situ_transfer){.tensor = -1, .link = -1, .to_memory = -1};
}

bool situ_plan_device_use(const situ_plan *p, int32_t device, situ_device_use *out) {
  return p && p->uses && device >= 0 && device < p->n_devices && GIVE(out, p->uses[device]);
}

const char *situ_outcome_name(situ_outcome outcome) {
  static const char *const names[] = {"optimal", "feasible", "infeasible", "limit", "cancelled"};
  return (unsigned)outcome < 5 ? names[outcome] : "unknown";
}
