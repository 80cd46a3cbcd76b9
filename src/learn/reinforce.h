/* learn/reinforce.h - REINFORCE (Williams, Machine Learning 8, 1992): policies that learn from scratch, from the trials
 * of a single problem.
 *
 * An episode is one or more decisions; after each the environment evaluates the placement. The gain of a decision is
 * the reward of the last placement of the episode minus that of the placement before the decision (0 before the first
 * decision of a policy that starts from an empty placement). A moving average of the gain, one for each position in the
 * episode, is the baseline. The loss is
 *
 *     - sum over decisions of (gain - baseline) * log(chance)  -  warmth * sum of entropies
 *
 * (where the policy wants it with gain - baseline divided by its deviation, a moving average over all decisions), with
 * one step of Adam for each batch of episodes, the norm of its gradient clipped. */
#ifndef SITU_LEARN_REINFORCE_H
#define SITU_LEARN_REINFORCE_H

#include "nn/functions.h"
#include "nn/params.h"
#include "solve/stream/environment.h"

/* A draw of a policy: the log-probability of the draw and the entropy of its distribution, both 1 x 1 and summed over
 * the parts of the decision. */
typedef struct decision {
  nn_var log_chance, entropy;
} decision;

typedef struct reinforce_policy {
  void *self;
  environment *env;
  params *params;
  int32_t n_decisions; /* of an episode */
  int32_t batch;       /* episodes for a step of Adam */
  double rate;         /* of Adam */
  double warmth; /* weight of the entropy at the start; falls to nothing as episodes go on: / (1 + episode / cooling) */
  double cooling;
  bool scaled;     /* gains over the baseline are divided by their deviation */
  int32_t *device; /* [unit] of the environment, where decisions are left */
  /* Sets `device` to where an episode starts from; NULL for a policy that places all at once. */
  void (*start)(void *self);
  /* Makes decision k of an episode, leaving all that it depends on on the tape. */
  decision (*decide)(void *self, tape *t, rng *random, int32_t k);
} reinforce_policy;

/* The entropy of rows of logarithms of chances (0 where a column is not allowed), summed, as 1 x 1. */
nn_var reinforce_entropy(tape *t, nn_var log_chances);

/* Makes a policy for an environment, whose units it may join; everything lives in the arena. False without memory. */
typedef bool reinforce_make(reinforce_policy *out, environment *env, uint64_t seed, arena *a);

/* Makes a policy for the environment of a run and learns until the run is done. NO_MEMORY or OK. */
situ_status reinforce_solve(solve_run *run, reinforce_make *make);

/* The policies, each in the file of its solver. */
reinforce_make hdp_make, placeto_make, rnn_placer_make;

#endif
