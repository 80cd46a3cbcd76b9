/* From the answer of a run to a checked plan. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "check/judge.h"
#include "solve/answer/answer.h"

/* The outcome where there is no plan, and the reason. */
static situ_outcome outcome_without(const solve_run *run, const answer *chosen, const char **reason, arena *a) {
  const incumbent *found = run->incumbent;
  if (*chosen->reason) {
    *reason = arena_string(a, chosen->reason);
    return SITU_OUTCOME_LIMIT;
  }
  if (run->problem->conflict) {
    *reason = arena_string(a, run->problem->conflict);
    return SITU_OUTCOME_INFEASIBLE;
  }
  if (found->lower_bound_ns == SITU_NEVER_NS) {
    char before[256];
    snprintf(before, sizeof before, "%s proved that no", found->bound);
    const char *proved =
        found->reason ? found->reason : reason_of_plans(a, run->problem, before, "satisfies all constraints");
    if (proved) *reason = found->reason ? arena_string(a, proved) : short_of_memory(a, run->problem, proved);
    return SITU_OUTCOME_INFEASIBLE;
  }
  return run->budget->stop == BUDGET_CANCELLED ? SITU_OUTCOME_CANCELLED : SITU_OUTCOME_LIMIT;
}

/* The independent checker decides last. */
static situ_status judge_plan(situ_plan *plan, situ_error *error) {
  situ_verdict *verdict = NULL;
  TRY(situ_check(&verdict, plan, error));
  situ_status status = SITU_STATUS_OK;
  if (verdict->n_found > 0) {
    situ_violation first = situ_verdict_violation(verdict, 0);
    status = fail_with(error, SITU_STATUS_INTERNAL, NULL, "the plan of solver %s breaks the rule %s: %s", plan->solver,
                       first.rule, first.text);
  }
  plan->verified_ns = verdict->verified_ns;
  situ_verdict_free(verdict);
  return status;
}

/* The plans that claims of the answer are of, if there is an answer. */
static situ_status show_plans(situ_plan *plan, const solve_run *run, const answer *chosen) {
  const placement *where[] = {&chosen->best_found, &chosen->unrestricted, &chosen->compared};
  situ_plan **shown[] = {&plan->best_found, &plan->unrestricted, &plan->compared};
  for (int k = 0; k < 3 && plan->device; k++)
    if (where[k]->device) {
      situ_plan *made;
      TRY(simulator_plan(&made, run->simulator, where[k], run->error));
      TRY(plan_show(plan, shown[k], made, run->error));
    }
  return SITU_STATUS_OK;
}

situ_status answer_plan(situ_plan **out, const solve_run *run, const answer *chosen, const best_single *single) {
  const incumbent *found = run->incumbent;
  situ_plan *plan = NULL;
  if (chosen->where.device) {
    TRY(simulator_plan(&plan, run->simulator, &chosen->where, run->error));
  } else if (!(plan = plan_new(run->problem))) {
    return fail_no_memory(run->error);
  }
  plan->solver = arena_string(plan->arena, chosen->solver);
  situ_status status = plan->solver ? SITU_STATUS_OK : fail_no_memory(run->error);
  if (status == SITU_STATUS_OK && chosen->where.device && plan->value_ns != chosen->value_ns)
    status = fail_with(run->error, SITU_STATUS_INTERNAL, NULL, "the value %lld ns of solver %s is now %lld ns",
                       (long long)chosen->value_ns, chosen->solver, (long long)plan->value_ns);
  if (status == SITU_STATUS_OK)
    status = plan_set_bound(plan, found->lower_bound_ns, found->bound, &found->proof, run->error);
  if (!plan->device) plan->outcome = outcome_without(run, chosen, &plan->reason, plan->arena);
  plan->best_single_ns = single->value_ns;
  plan->best_single_device = single->device;
  plan->best_found_ns = chosen->best_found_ns;
  plan->best_found_handovers = chosen->best_found_handovers;
  plan->unrestricted_ns = chosen->where.device ? chosen->unrestricted_ns : SITU_NEVER_NS;
  plan->robustness = chosen->robustness;
  if (status == SITU_STATUS_OK) status = show_plans(plan, run, chosen);
  memcpy(plan->statistics, found->statistics, sizeof plan->statistics);
  plan->n_statistics = found->n_statistics;
  plan->steps = run->budget->steps;
  plan->seed = run->seed;
  plan->seconds = (double)(clock_now_ns() - run->watch->start_ns) / 1e9;
  if (status == SITU_STATUS_OK && !plan->reason) status = fail_no_memory(run->error);
  bool proved = plan->outcome == SITU_OUTCOME_INFEASIBLE && plan->proof.lower_ns == SITU_NEVER_NS;
  if (status == SITU_STATUS_OK && (chosen->where.device || proved)) status = judge_plan(plan, run->error);
  if (status != SITU_STATUS_OK) {
    situ_plan_free(plan);
    return status;
  }
  CONTRACT(incumbent_check(found, run->problem));
  CONTRACT(plan_check_shape(plan));
  *out = plan;
  return SITU_STATUS_OK;
}
