#include "plan/plan.h"

#include "base/contracts.h"

situ_plan *plan_new(const situ_problem *problem) {
  arena *a = arena_new();
  situ_plan *plan = a ? ARENA_ZERO(a, situ_plan, 1) : NULL;
  if (!plan) {
    arena_free(a);
    return NULL;
  }
  plan->arena = a;
  plan->n_operators = problem->n_operators;
  plan->n_devices = problem->n_devices;
  plan->outcome = SITU_OUTCOME_LIMIT;
  plan->value_ns = plan->best_single_ns = plan->latency_ns = plan->period_ns = SITU_NEVER_NS;
  plan->best_single_device = -1;
  plan->solver = plan->bound = plan->reason = "";
  return plan;
}

int32_t plan_n_sharing(const situ_plan *plan, int32_t d) {
  REQUIRE(d >= 0 && d < plan->n_devices);
  int32_t n = 0;
  if (!plan->replica_of) return 1;
  for (int32_t e = 0; e < plan->n_devices; e++) n += plan_leader(plan, e) == plan_leader(plan, d);
  return n;
}

void situ_plan_free(situ_plan *plan) {
  if (plan) arena_free(plan->arena);
}

situ_outcome situ_plan_outcome(const situ_plan *p) { return p->outcome; }
bool situ_plan_exists(const situ_plan *p) { return p->device != NULL; }
int64_t situ_plan_value_ns(const situ_plan *p) { return p->value_ns; }
int64_t situ_plan_lower_bound_ns(const situ_plan *p) { return p->lower_bound_ns; }

int64_t situ_plan_latency_ns(const situ_plan *p) { return p->latency_ns; }
int64_t situ_plan_period_ns(const situ_plan *p) { return p->period_ns; }

bool situ_plan_is_claim(const situ_plan *p) { return p->claimed; }
int64_t situ_plan_verified_ns(const situ_plan *p) { return p->verified_ns; }

double situ_plan_gap(const situ_plan *p) {
  if (!p->device || p->value_ns == SITU_NEVER_NS) return 1;
  if (p->value_ns <= p->lower_bound_ns) return 0;
  return ((double)p->value_ns - (double)p->lower_bound_ns) / (double)p->value_ns;
}

int64_t situ_plan_best_single_ns(const situ_plan *p) { return p->best_single_ns; }
int32_t situ_plan_best_single_device(const situ_plan *p) { return p->best_single_device; }
const char *situ_plan_solver(const situ_plan *p) { return p->solver; }
const char *situ_plan_bound(const situ_plan *p) { return p->bound; }
const char *situ_plan_reason(const situ_plan *p) { return p->reason; }
int32_t situ_plan_n_statistics(const situ_plan *p) { return p->n_statistics; }
situ_statistic situ_plan_statistic(const situ_plan *p, int32_t index) { return p->statistics[index]; }
int64_t situ_plan_steps(const situ_plan *p) { return p->steps; }
double situ_plan_seconds(const situ_plan *p) { return p->seconds; }

int32_t situ_plan_device(const situ_plan *p, int32_t v) { return p->device ? p->device[v] : -1; }
int64_t situ_plan_start_ns(const situ_plan *p, int32_t v) { return p->start_ns ? p->start_ns[v] : 0; }
int64_t situ_plan_finish_ns(const situ_plan *p, int32_t v) { return p->finish_ns ? p->finish_ns[v] : 0; }
int32_t situ_plan_call(const situ_plan *p, int32_t v) { return p->call ? p->call[v] : -1; }
int32_t situ_plan_n_transfers(const situ_plan *p) { return p->n_transfers; }
situ_transfer situ_plan_transfer(const situ_plan *p, int32_t index) { return p->transfers[index]; }

situ_device_use situ_plan_device_use(const situ_plan *p, int32_t device) {
  return p->uses ? p->uses[device] : (situ_device_use){.replica_of = -1};
}

const char *situ_outcome_name(situ_outcome outcome) {
  static const char *const names[] = {"optimal", "feasible", "infeasible", "limit", "cancelled"};
  return (unsigned)outcome < 5 ? names[outcome] : "unknown";
}
