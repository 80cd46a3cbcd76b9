#include "learn/reinforce.h"

#include <math.h>

#include "base/contracts.h"
#include "base/fail.h"

static const double KEPT = 0.9; /* weight of the past in moving averages */
static const double KEPT_SQUARE = 0.95, MAX_DEVIATIONS = 2, MIN_DEVIATION = 1e-4;
static const double STEEPEST = 1; /* maximum norm of a gradient */
static const double MAX_GAIN = 1; /* of one decision over the baseline: invalid trials must not dominate */

typedef struct learner {
  const reinforce_policy *policy;
  tape *tape;
  rng random;
  decision *decided; /* [decision] of the current episode */
  double *before;    /* [decision] reward before it */
  double *baseline;  /* [decision] */
  int32_t *n_seen;   /* [decision] episodes that got this far */
  double square;     /* moving average of the squared gain over the baseline; 0 before the first */
  double started;    /* reward at the start of episodes, once known */
  int64_t n_episodes;
} learner;

nn_var reinforce_entropy(tape *t, nn_var log_chances) {
  return nn_scale(t, nn_sum(t, nn_multiply(t, nn_exp(t, log_chances), log_chances)), -1);
}

/* Runs an episode of at most n_decisions. Returns its length, or -1 without memory. *reward is the last reward. */
static int32_t play(learner *l, solve_run *run, double *reward) {
  const reinforce_policy *p = l->policy;
  int32_t k = 0;
  *reward = 0;
  tape_reset(l->tape);
  if (p->start) {
    p->start(p->self);
    if (l->n_episodes == 0) l->started = environment_reward(p->env, environment_try(p->env, p->device));
    *reward = l->started;
  }
  for (; k < p->n_decisions && !solve_done(run); k++) {
    l->before[k] = *reward;
    l->decided[k] = p->decide(p->self, l->tape, &l->random, k);
    if (l->decided[k].log_chance == NN_NONE || l->decided[k].entropy == NN_NONE) return -1;
    *reward = environment_reward(p->env, environment_try(p->env, p->device));
  }
  return k;
}

/* A gain over its baseline, in units of the running deviation. */
static double in_deviations(learner *l, double over) {
  if (over == 0) return 0;
  l->square = l->square > 0 ? KEPT_SQUARE * l->square + (1 - KEPT_SQUARE) * over * over : over * over;
  double scaled = over / (sqrt(l->square) + MIN_DEVIATION);
  return scaled > MAX_DEVIATIONS ? MAX_DEVIATIONS : scaled < -MAX_DEVIATIONS ? -MAX_DEVIATIONS : scaled;
}

/* Adds the gradients of an episode. False without memory. */
static bool learn(learner *l, int32_t n, double reward) {
  const reinforce_policy *p = l->policy;
  tape *t = l->tape;
  double warmth = p->warmth / (1 + (double)l->n_episodes / p->cooling);
  nn_real zero = 0;
  nn_var loss = tape_constant(t, 1, 1, &zero);
  for (int32_t k = 0; k < n; k++) {
    double gain = reward - l->before[k];
    double over = l->n_seen[k] > 0 ? gain - l->baseline[k] : 0;
    over = over < -MAX_GAIN ? -MAX_GAIN : over;
    l->baseline[k] = l->n_seen[k]++ > 0 ? l->baseline[k] + (1 - KEPT) * over : gain;
    over = over > MAX_GAIN ? MAX_GAIN : over;
    if (p->scaled) over = in_deviations(l, over);
    loss = nn_add(t, loss, nn_scale(t, l->decided[k].log_chance, (nn_real)-over));
    loss = nn_add(t, loss, nn_scale(t, l->decided[k].entropy, (nn_real)-warmth));
  }
  return tape_backward(t, loss);
}

static situ_status learn_all(learner *l, solve_run *run) {
  const reinforce_policy *p = l->policy;
  params_clear_gradients(p->params);
  while (!solve_done(run)) {
    double reward;
    int32_t n = play(l, run, &reward);
    if (n < 0 || !learn(l, n, reward)) return fail_no_memory(run->error);
    if (++l->n_episodes % p->batch != 0) continue;
    params_clip(p->params, STEEPEST);
    params_step(p->params, p->rate);
    params_clear_gradients(p->params);
  }
  environment_report(p->env);
  return SITU_STATUS_OK;
}

static situ_status run_policy(solve_run *run, const reinforce_policy *policy) {
  learner l = {.policy = policy, .random = rng_new(run->seed ^ 0x5eed), .tape = tape_new()};
  l.decided = ARENA_NEW(run->arena, decision, policy->n_decisions);
  l.before = ARENA_NEW(run->arena, double, policy->n_decisions);
  l.baseline = ARENA_NEW(run->arena, double, policy->n_decisions);
  l.n_seen = ARENA_ZERO(run->arena, int32_t, policy->n_decisions);
  bool ready = l.tape && l.decided && l.before && l.baseline && l.n_seen;
  situ_status status = ready ? learn_all(&l, run) : fail_no_memory(run->error);
  tape_free(l.tape);
  return status;
}

situ_status reinforce_solve(solve_run *run, reinforce_make *make) {
  environment *env = ARENA_NEW(run->arena, environment, 1);
  reinforce_policy policy;
  if (!env || !environment_init_run(env, run)) return fail_no_memory(run->error);
  if (env->n_units == 0) { /* nothing to learn */
    environment_try(env, env->best);
    return SITU_STATUS_OK;
  }
  if (!make(&policy, env, run->seed, run->arena)) return fail_no_memory(run->error);
  ENSURE(policy.n_decisions > 0 && policy.batch > 0 && policy.rate > 0 && policy.cooling > 0 && policy.device);
  return run_policy(run, &policy);
}
