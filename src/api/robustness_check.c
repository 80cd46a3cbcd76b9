/* Repeats the draws of costs that a plan tells of, for the verdict on it. They are simulations of two placements, which
 * the judge does not make: the plan (or the split that the file shows) and the best single device. */
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "check/judge.h"
#include "solve/answer/robust.h"

enum { MAX_DRAWS = 10000, SEEDS = 2 };

static bool is_near(double a, double b) { return fabs(a - b) <= 1e-9 * fmax(1, fabs(b)); }

static bool same_draws(const situ_robustness *a, const situ_robustness *b) {
  return a->draws == b->draws && is_near(a->beats_single, b->beats_single) && is_near(a->speedup_5, b->speedup_5) &&
         is_near(a->speedup_median, b->speedup_median) && is_near(a->speedup_95, b->speedup_95) &&
         a->regret_ns == b->regret_ns;
}

/* A factor of 0 claims nothing: a time limit may have ended the search for one. */
static bool same_flip(const situ_robustness *claimed, const situ_robustness *found) {
  return claimed->flip_factor == 0 ||
         (fabs(claimed->flip_factor - found->flip_factor) <= 1e-6 && strcmp(claimed->flip_what, found->flip_what) == 0);
}

static placement placement_of(const situ_plan *plan) {
  return (placement){plan->device, plan->order, plan->call, plan->replica_of};
}

/* A split that was chosen because it is surer than the fastest one was compared by draws of the next seed. */
static situ_status repeat(judge *j, const placement *mine, const placement *single, situ_error *error) {
  const situ_robustness *claimed = &j->plan->robustness;
  situ_robustness found[SEEDS];
  int same = -1;
  for (int k = 0; k < SEEDS && same < 0; k++) {
    budget unlimited = budget_new(0, 0, NULL, NULL);
    found[k].size = sizeof found[k];
    if (!robust_compare(&found[k], j->problem, mine, single, claimed->uncertainty, claimed->draws,
                        j->plan->seed + (uint64_t)k, &unlimited, j->scratch))
      return fail_no_memory(error);
    if (same_draws(claimed, &found[k])) same = k;
  }
  if (same < 0)
    judge_note(j, "claim",
               "robustness: the plan states that it beats the single device in a share of %.6f of %d draws; repeated "
               "they give %.6f, with other speed-ups or regret",
               claimed->beats_single, (int)claimed->draws, found[0].beats_single);
  /* a time limit may also end that search at a flip that is not the nearest */
  if (same < 0 || same_flip(claimed, &found[same])) judge_claim(j, CLAIM_ROBUSTNESS, true);
  return SITU_STATUS_OK;
}

situ_status situ_verdict_recompute(situ_verdict *verdict, situ_error *error) {
  TRY(GIVEN(error, verdict));
  const situ_plan *plan = verdict->plan;
  const situ_problem *problem = plan->problem;
  const situ_plan *split = plan->robustness.preferred ? plan->compared : plan;
  if (!(verdict->unchecked & CLAIM_ROBUSTNESS) || verdict->n_found > 0 || !split || !split->device ||
      plan->robustness.draws > MAX_DRAWS || problem->execution != SITU_EXECUTION_STREAM)
    return SITU_STATUS_OK;
  arena *scratch = arena_new();
  placement mine = placement_of(split), single = {0};
  if (scratch) single.device = ARENA_NEW(scratch, int32_t, problem->n_operators);
  situ_status status = SITU_STATUS_NO_MEMORY;
  if (single.device) {
    for (int32_t v = 0; v < problem->n_operators; v++) single.device[v] = plan->best_single_device;
    judge j = {problem, problem->graph, problem->platform, plan, verdict, scratch, NULL, NULL};
    status = repeat(&j, &mine, &single, error);
  } else {
    fail_no_memory(error);
  }
  arena_free(scratch);
  return status;
}
