/* The RNN placer: a sequence-to-sequence network reads groups of operators and writes a device for each, one at a time,
 * with attention (Mirhoseini et al., "Device placement optimization with reinforcement learning", ICML 2017), with what
 * the HSDAG repository's baseline of that name tells it of a group: its kinds, output shape and neighbours. The
 * published baseline praises slow placements; here the sign is right. docs/theory/learned/learned_baselines.md. */
#include "learn/describe.h"
#include "learn/seq2seq.h"

enum { KIND_WIDTH = 32, HIDDEN = 64, BATCH = 10 };

typedef struct rnn_placer {
  environment *env;
  description features;
  params *params;
  seq2seq net;
  int32_t kinds; /* the embedding of kinds */
  nn_real *rows; /* [unit * (DESCRIBE_NUMBERS + units)] numbers, then 1 for each neighbour */
  int32_t *device;
} rnn_placer;

static decision decide(void *self, tape *t, rng *random, int32_t k) {
  (void)k;
  rnn_placer *s = self;
  int32_t n = s->env->n_units;
  nn_var kinds = nn_segment_mean(t, params_var(s->params, s->kinds, t), &s->features.kinds);
  nn_var rows = nn_join(t, kinds, tape_constant(t, n, DESCRIBE_NUMBERS + n, s->rows));
  return seq2seq_decide(&s->net, t, rows, s->env, random, s->device);
}

static void fill_rows(rnn_placer *s) {
  int32_t n = s->env->n_units, width = DESCRIBE_NUMBERS + n;
  for (int32_t u = 0; u < n; u++) {
    nn_real *row = s->rows + (int64_t)u * width;
    for (int32_t k = 0; k < DESCRIBE_NUMBERS; k++) row[k] = s->features.numbers[(int64_t)u * DESCRIBE_NUMBERS + k];
    for (int64_t i = s->features.before.start[u]; i < s->features.before.start[u + 1]; i++)
      row[DESCRIBE_NUMBERS + s->features.before.item[i]] = 1;
    for (int64_t i = s->features.after.start[u]; i < s->features.after.start[u + 1]; i++)
      row[DESCRIBE_NUMBERS + s->features.after.item[i]] = 1;
  }
}

static bool rnn_placer_init(rnn_placer *s, uint64_t seed, arena *a) {
  rng random = rng_new(seed);
  if (!environment_group(s->env, ENVIRONMENT_GROUPS, a) || !describe(&s->features, s->env, a)) return false;
  int32_t n = s->env->n_units, width = DESCRIBE_NUMBERS + n;
  s->params = params_new(a);
  s->rows = ARENA_ZERO(a, nn_real, (int64_t)n * width);
  s->device = ARENA_NEW(a, int32_t, n);
  if (!s->params || !s->rows || !s->device) return false;
  fill_rows(s);
  s->kinds = params_add(s->params, "kinds", s->features.n_kinds, KIND_WIDTH, PARAMS_GLOROT, &random);
  return s->kinds >= 0 && seq2seq_init(&s->net, s->params, KIND_WIDTH + width, HIDDEN, s->env->n_devices, &random);
}

bool rnn_placer_make(reinforce_policy *out, environment *env, uint64_t seed, arena *a) {
  rnn_placer *s = ARENA_ZERO(a, rnn_placer, 1);
  if (!s) return false;
  s->env = env;
  if (!rnn_placer_init(s, seed, a)) return false;
  *out = (reinforce_policy){.self = s,
                            .env = env,
                            .params = s->params,
                            .device = s->device,
                            .n_decisions = 1,
                            .batch = BATCH,
                            .rate = 0.003,
                            .warmth = 0.001,
                            .cooling = 500,
                            .decide = decide};
  return true;
}

static situ_status rnn_placer_solve(solve_run *run) { return reinforce_solve(run, rnn_placer_make); }

const solver rnn_placer_solver = {
    .name = "rnn_placer",
    .title = "a sequence-to-sequence network with attention that learns to place groups",
    .source = "Mirhoseini et al., ICML 2017",
    .models = MODEL_STREAM,
    .anytime = true,
    .solve = rnn_placer_solve,
};
