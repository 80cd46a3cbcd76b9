/* Random placements, good and bad: simulator and judge of the library against the model of this folder. */
#include <string.h>

#include "attack_trial.h"

/* Any device now and then, else one that is allowed. */
static void draw_placement(attack_placement *at, const attack_facts *f, attack_dice *dice) {
  const attack_problem *p = f->p;
  bool wild = dice_chance(dice, 25);
  uint32_t placed = 0;
  for (int32_t v = 0; v < p->n; v++) {
    int32_t u = f->unit_of[v], d = dice_below(dice, p->n_devices);
    for (int32_t k = 0; k < p->n_devices && !f->allowed[u][d] && !wild; k++) d = (d + 1) % p->n_devices;
    at->device[v] = u != v && !(wild && dice_chance(dice, 30)) ? at->device[u] : d;
  }
  for (int32_t n = 0; n < p->n; n++) {
    int32_t v = dice_below(dice, p->n);
    while ((placed >> v & 1) || (f->before[v] & ~placed)) v = (v + 1) % p->n;
    at->order[n] = v;
    placed |= 1U << v;
  }
  for (int32_t d = 0; d < MAX_DEVICES; d++) at->replica_of[d] = -1;
  calls_by_rule(at, f);
}

/* Whether units, pins and unused devices are respected. */
static bool places_are_allowed(const attack_facts *f, const attack_placement *at) {
  for (int32_t v = 0; v < f->p->n; v++)
    if (at->device[v] != at->device[f->unit_of[v]] || !f->allowed[f->unit_of[v]][at->device[v]]) return false;
  return true;
}

static bool verify_one(attack_failure *failure, const attack_facts *f, const situ_problem *problem,
                       attack_placement *at) {
  situ_plan *plan;
  situ_verdict *verdict;
  situ_error error;
  attack_value mine;
  attack_placement again;
  bool stream = f->p->execution == SITU_EXECUTION_STREAM;
  if (situ_simulate(&plan, problem, at->device, stream ? at->order : NULL, &error))
    return failure_set(failure, "simulate-status", "%s: %s", situ_status_name(error.status), error.text);
  value_find(&mine, f, at, true);
  bool valid = value_valid(&mine) && places_are_allowed(f, at), good = true;
  int64_t value = plan_says(plan).value_ns;
  if (mine.runs && mine.keeps && value != mine.value_ns)
    good = failure_set(failure, "simulate", "the placement takes %lld ns, not %lld", (long long)mine.value_ns,
                       (long long)value);
  else if (!mine.runs && value != SITU_NEVER_NS)
    good = failure_set(failure, "simulate-never", "the placement never ends, but takes %lld ns", (long long)value);
  else if (valid)
    good = verify_plan(failure, f, plan, &again);
  if (good && situ_check(&verdict, plan, &error)) {
    good = failure_set(failure, "simulate-check", "%s: %s", situ_status_name(error.status), error.text);
  } else if (good) {
    bool accepted = verdict_says(verdict).n_found == 0;
    situ_violation first = situ_verdict_violation(verdict, 0);
    if (accepted != valid)
      good = failure_set(failure, accepted ? "accepted" : "rejected", "runs %d, fits %d, keeps %d, allowed %d; %s: %s",
                         mine.runs, mine.fits, mine.keeps, places_are_allowed(f, at), first.rule, first.text);
    situ_verdict_free(verdict);
  }
  situ_plan_free(plan);
  return good;
}

bool verify_simulated(attack_failure *failure, const attack_problem *p, const attack_call *call) {
  attack_posed posed;
  attack_facts f;
  attack_placement at = {.device = {0}};
  attack_dice dice = {.state = call->seed};
  situ_error error;
  bool good = true;
  failure->kind = NULL;
  if (problem_pose(&posed, p, &error)) {
    good =
        pose_may_fail(p, &error) || failure_set(failure, "pose", "%s: %s", situ_status_name(error.status), error.text);
  } else if (!problem_says(posed.problem).conflict) {
    facts_find(&f, p);
    for (int64_t k = 0; k < call->steps && good; k++) {
      draw_placement(&at, &f, &dice);
      good = verify_one(failure, &f, posed.problem, &at);
    }
  }
  posed_free(&posed);
  return good;
}
