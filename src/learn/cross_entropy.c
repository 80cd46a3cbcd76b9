/* The cross-entropy method (Rubinstein, Kroese, "The cross-entropy method", 2004; de Boer et al., Annals of Operations
 * Research 134, 2005): placements are drawn from one distribution over devices for each unit, the best of each batch
 * determine how often each device should be drawn, and the distribution moves part of the way towards that. It has no
 * network and no gradient: it is the baseline that a learned policy must beat.
 * docs/theory/learned/learned_baselines.md. */
#include <math.h>

#include "base/fail.h"
#include "learn/softmax_draw.h"

enum { BATCH = 50, ELITE = 5 };
static const double SMOOTHING = 0.5; /* step size towards the elite's frequencies */
static const double UNIFORM = 0.01;  /* part of the probability that stays spread evenly over the devices */

typedef struct sampler {
  environment env;
  rng random;
  nn_real *score; /* [unit * devices] log probabilities */
  int32_t *drawn; /* [BATCH * units] devices */
  int64_t time_ns[BATCH];
  int32_t ranked[BATCH]; /* valid draws by time, then by number */
  double *wanted;        /* [devices] frequencies among the elite */
} sampler;

static int32_t *drawn(const sampler *s, int32_t k) { return s->drawn + (int64_t)k * s->env.n_units; }

/* Ranks the batch by time. Returns how many of the ELITE are valid. */
static int32_t rank_batch(sampler *s, int32_t n) {
  int32_t n_ranked = 0;
  for (int32_t k = 0; k < n; k++) {
    if (s->time_ns[k] == SITU_NEVER_NS) continue;
    int32_t at = n_ranked++;
    for (; at > 0 && s->time_ns[s->ranked[at - 1]] > s->time_ns[k]; at--) s->ranked[at] = s->ranked[at - 1];
    s->ranked[at] = k;
  }
  return n_ranked < ELITE ? n_ranked : ELITE;
}

static void approach(sampler *s, int32_t n_elite) {
  int32_t n = s->env.n_devices;
  for (int32_t u = 0; u < s->env.n_units && n_elite > 0; u++) {
    nn_real *score = s->score + (int64_t)u * n;
    double sum = 0;
    for (int32_t d = 0; d < n; d++) s->wanted[d] = UNIFORM / n;
    for (int32_t k = 0; k < n_elite; k++) s->wanted[drawn(s, s->ranked[k])[u]] += (1 - UNIFORM) / n_elite;
    for (int32_t d = 0; d < n; d++)
      sum += s->wanted[d] = (1 - SMOOTHING) * exp((double)score[d]) + SMOOTHING * s->wanted[d];
    for (int32_t d = 0; d < n; d++) score[d] = (nn_real)log(s->wanted[d] / sum);
  }
}

static situ_status cross_entropy_solve(solve_run *run) {
  sampler *s = ARENA_ZERO(run->arena, sampler, 1);
  if (!s || !environment_init_run(&s->env, run)) return fail_no_memory(run->error);
  if (!environment_group(&s->env, ENVIRONMENT_GROUPS, run->arena)) return fail_no_memory(run->error);
  int64_t cells = (int64_t)s->env.n_units * s->env.n_devices;
  s->random = rng_new(run->seed);
  if (!ARENA_ARRAYS(run->arena, ARRAY(s->score, cells), ARRAY(s->drawn, (int64_t)BATCH * s->env.n_units),
                    ARRAY(s->wanted, s->env.n_devices)))
    return fail_no_memory(run->error);
  for (int64_t i = 0; i < cells; i++) s->score[i] = (nn_real)-log(s->env.n_devices);
  while (!solve_done(run)) {
    int32_t n = 0;
    for (; n < BATCH && !solve_done(run); n++) {
      softmax_draw(&s->env, s->score, &s->random, drawn(s, n), NULL);
      s->time_ns[n] = environment_try(&s->env, drawn(s, n));
    }
    approach(s, rank_batch(s, n));
  }
  environment_report(&s->env);
  return SITU_STATUS_OK;
}

const solver cross_entropy_solver = {
    .name = "cross_entropy",
    .title = "cross-entropy method: draws devices of units, favouring the best draws",
    .source = "Rubinstein, Kroese, 2004",
    .models = MODEL_STREAM,
    .anytime = true,
    .solve = cross_entropy_solve,
};
