#include "check/check_claims.h"

#include <math.h>

#include "base/fail.h"

/* A value of another plan: no plan is below the lower bound, and it is stated only where it is not above that of this
 * one (or below it, for a value that says what something costs). */
static void check_value(judge *j, const char *name, int64_t value_ns, bool below) {
  const situ_plan *plan = j->plan;
  if (value_ns < plan->lower_bound_ns)
    judge_note(j, "claim", "%s is %lld ns; no plan is below the lower bound, %lld ns", name, (long long)value_ns,
               (long long)plan->lower_bound_ns);
  if (below ? value_ns >= plan->value_ns : value_ns > plan->value_ns)
    judge_note(j, "claim", "%s is %lld ns; expected %s than the value of the plan, %lld ns", name, (long long)value_ns,
               below ? "less" : "no more", (long long)plan->value_ns);
}

static bool is_share(double x) { return x >= 0 && x <= 1; }
static bool is_factor(double x) { return x > 0 && isfinite(x); }

/* NULL, or what no draws of costs give. */
static const char *wrong_robustness(const situ_plan *plan) {
  const situ_robustness *r = &plan->robustness;
  double better = r->beats_single * r->draws;
  if (!(r->uncertainty > 0 && r->uncertainty <= 2) || r->draws < 1)
    return "an uncertainty above 0, at most 2, and draws";
  if (!is_share(r->beats_single) || fabs(better - round(better)) > 1e-6)
    return "beats_single, a share of the draws, from 0 to 1";
  if (!is_factor(r->speedup_5) || !is_factor(r->speedup_95) || !(r->speedup_5 <= r->speedup_median) ||
      !(r->speedup_median <= r->speedup_95))
    return "percentiles of a speed-up above 0 that ascend";
  if (r->regret_ns < 0) return "a regret of at least 0 ns";
  bool flips = r->flip_factor != 0;
  if (flips != (*r->flip_what != 0) || (flips && !(fabs(log(r->flip_factor)) <= log(16) + 1e-9)))
    return "a flip_factor from 1/16 to 16 and its flip_what, or neither";
  if (plan->best_single_device < 0) return "a single device to compare with";
  for (int32_t v = 0; plan->device && r->preferred && v < plan->n_operators; v++)
    if (plan->device[v] != plan->device[0]) return "a plan on one device, which was preferred";
  return NULL;
}

void check_claims(judge *j, check_shown_plan shown[CHECK_SHOWN]) {
  const situ_plan *plan = j->plan;
  shown[0] = (check_shown_plan){"best_found", plan->best_found, plan->best_found_ns, plan->best_found_handovers};
  shown[1] = (check_shown_plan){"without_form_ns", plan->unrestricted, plan->unrestricted_ns, CHECK_NO_HANDOVERS};
  shown[2] = (check_shown_plan){"robustness", plan->compared, SITU_NEVER_NS, CHECK_NO_HANDOVERS};
  if (!problem_has_period(j->problem) && (plan->latency_ns != SITU_NEVER_NS || plan->period_ns != SITU_NEVER_NS))
    judge_note(j, "claim", "latency_ns and period_ns are of streams under a limit of one of them; this is none");
  if (!j->problem->secondary && plan->secondary_ns != SITU_NEVER_NS)
    judge_note(j, "claim", "other_ns is of a limit by secondary costs; there is none");
  if (plan->best_found_handovers >= 0) {
    check_value(j, "best_found", plan->best_found_ns, false);
    judge_claim(j, CLAIM_BEST_FOUND, plan->best_found != NULL);
  }
  if (plan->unrestricted_ns != SITU_NEVER_NS) {
    check_value(j, "without_form_ns", plan->unrestricted_ns, true);
    judge_claim(j, CLAIM_UNRESTRICTED, plan->unrestricted != NULL);
  }
  if (plan->robustness.size == 0) return;
  const char *expected = wrong_robustness(plan);
  if (expected) judge_note(j, "claim", "robustness: expected %s", expected);
  judge_claim(j, CLAIM_ROBUSTNESS, false);
}

/* A tensor is handed over once to each other device that uses it, unless it takes no time on any route. */
static situ_status count_handovers(int32_t *n, const judge *j, situ_error *error) {
  const situ_graph *g = j->graph;
  const situ_costs *c = j->problem->costs;
  int32_t *has = ARENA_ZERO(j->scratch, int32_t, j->problem->n_devices); /* [device] 1 + the last tensor there */
  if (!has) return fail_no_memory(error);
  *n = 0;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    bool known = c->n_kinds > 1 && g->size_bytes[t] > 0 && c->row_max_ns[costs_row(c, t)] == 0;
    has[j->plan->device[g->producer[t]]] = t + 1;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1] && !known; i++) {
      int32_t *at = &has[j->plan->device[g->use[i]]];
      *n += *at != t + 1;
      *at = t + 1;
    }
  }
  return SITU_STATUS_OK;
}

situ_status check_shown_claim(judge *j, const check_shown_plan *shown, situ_error *error) {
  int32_t n = 0;
  TRY(count_handovers(&n, j, error));
  if (shown->value_ns != SITU_NEVER_NS && j->plan->value_ns != shown->value_ns)
    judge_note(j, "claim", "the value is said to be %lld ns; that plan has %lld ns", (long long)shown->value_ns,
               (long long)j->plan->value_ns);
  if (shown->handovers >= 0 && shown->handovers != n)
    judge_note(j, "claim", "%d hand-overs are said; that plan has %d", (int)shown->handovers, (int)n);
  return SITU_STATUS_OK;
}
