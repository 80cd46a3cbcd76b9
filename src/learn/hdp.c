/* Hierarchical device placement (Mirhoseini et al., "A hierarchical model for device placement", ICLR 2018): a
 * feed-forward grouper draws a group for each unit, a sequence-to-sequence placer with attention draws a device for
 * each group, and both learn from one reward. Groups are redrawn in each trial.
 * docs/theory/learned/learned_baselines.md lists the differences. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "learn/describe.h"
#include "learn/seq2seq.h"

enum { MAX_GROUPS = 256, GROUPS_PER_DEVICE = 20, KIND_WIDTH = 32, GROUPER = 64, HIDDEN = 64, BATCH = 10 };

typedef struct hdp {
  environment *env;
  description features;
  params *params;
  seq2seq placer;
  int32_t kinds, first, first_shift, second, second_shift; /* the grouper */
  int32_t n_groups, width;                                 /* n_groups, and the width of a row of the placer */
  int32_t *drawn;                                          /* [unit] its group */
  int32_t *place;                                          /* [group] its index among those that have units, or -1 */
  int32_t *group;                                          /* [unit] the index of its group */
  nn_real *rows;                                           /* [place * width] input of the placer */
  environment groups;                                      /* the groups as units */
  int32_t *group_device;
  int32_t *device;   /* [unit] */
  int32_t *fallback; /* [unit] its fastest device, for when it cannot follow its group */
} hdp;

/* ---- the grouper ---- */

static int32_t draw(const nn_real *log_chance, int32_t n, rng *random) {
  double left = rng_unit(random);
  for (int32_t k = 0; k < n; k++)
    if ((left -= exp((double)log_chance[k])) < 0) return k;
  return n - 1;
}

/* Draws a group for each unit. Returns the log probability. */
static nn_var draw_groups(hdp *s, tape *t, rng *random) {
  const params *p = s->params;
  int32_t n = s->env->n_units;
  nn_var kinds = nn_segment_mean(t, params_var(p, s->kinds, t), &s->features.kinds);
  nn_var rows = nn_join(t, kinds, tape_constant(t, n, DESCRIBE_NUMBERS, s->features.numbers));
  nn_var hidden = nn_relu(t, nn_dense(t, rows, params_var(p, s->first, t), params_var(p, s->first_shift, t)));
  nn_var scores = nn_dense(t, hidden, params_var(p, s->second, t), params_var(p, s->second_shift, t));
  nn_var chances = nn_log_softmax(t, scores, NULL);
  if (chances == NN_NONE) return NN_NONE;
  const nn_real *chance = tape_at(t, chances).value;
  for (int32_t u = 0; u < n; u++) s->drawn[u] = draw(chance + (int64_t)u * s->n_groups, s->n_groups, random);
  return nn_sum(t, nn_pick(t, chances, s->drawn));
}

/* ---- the groups ---- */

/* Adds unit u to group k, including to its mask of allowed devices. */
static void add_to_group(hdp *s, int32_t k, int32_t u) {
  int32_t n = s->env->n_devices;
  s->groups.weight_bytes[k] = sat_add(s->groups.weight_bytes[k], s->env->weight_bytes[u]);
  s->groups.footprint_bytes[k] = max64(s->groups.footprint_bytes[k], s->env->footprint_bytes[u]);
  for (int32_t d = 0; d < n; d++) s->groups.allowed[(int64_t)k * n + d] |= s->env->allowed[(int64_t)u * n + d];
}

/* Fills the rows of the placer: the groups that the group feeds, the groups that feed it, kinds and output shapes. Each
 * part is divided by its maximum + 1. */
static void describe_groups(hdp *s) {
  const situ_problem *p = s->env->problem;
  int32_t m = s->n_groups, kinds = s->features.n_kinds;
  memset(s->rows, 0, (size_t)s->groups.n_units * (size_t)s->width * sizeof *s->rows);
  for (int32_t u = 0; u < s->env->n_units; u++) {
    nn_real *row = s->rows + (int64_t)s->group[u] * s->width;
    for (int64_t i = s->features.after.start[u]; i < s->features.after.start[u + 1]; i++) {
      int32_t to = s->group[s->features.after.item[i]];
      row[to]++;
      s->rows[(int64_t)to * s->width + m + s->group[u]]++;
    }
    for (int32_t i = s->env->member_start[u]; i < s->env->member_start[u + 1]; i++)
      row[2 * m + p->graph->kind[s->env->member[i]]]++;
    for (int32_t k = 0; k < DESCRIBE_NUMBERS; k++)
      row[2 * m + kinds + k] += s->features.numbers[(int64_t)u * DESCRIBE_NUMBERS + k];
  }
  int32_t from[] = {0, m, 2 * m, 2 * m + kinds, s->width};
  for (int32_t k = 0; k < s->groups.n_units; k++)
    for (int part = 0; part < 4; part++) {
      nn_real *row = s->rows + (int64_t)k * s->width, max = 0;
      for (int32_t i = from[part]; i < from[part + 1]; i++) max = row[i] > max ? row[i] : max;
      for (int32_t i = from[part]; i < from[part + 1]; i++) row[i] /= max + 1;
    }
}

/* Numbers the groups that have units by their first unit, so that the sequence follows the data flow. */
static void gather_groups(hdp *s) {
  int32_t n = s->env->n_devices, found = 0;
  for (int32_t g = 0; g < s->n_groups; g++) s->place[g] = -1;
  for (int32_t u = 0; u < s->env->n_units; u++) {
    int32_t g = s->drawn[u];
    if (s->place[g] < 0) {
      s->place[g] = found;
      s->groups.weight_bytes[found] = s->groups.footprint_bytes[found] = 0;
      memset(s->groups.allowed + (int64_t)found++ * n, 0, (size_t)n * sizeof *s->groups.allowed);
    }
    s->group[u] = s->place[g];
    add_to_group(s, s->group[u], u);
  }
  s->groups.n_units = found;
}

static decision decide(void *self, tape *t, rng *random, int32_t k) {
  (void)k;
  hdp *s = self;
  int32_t n = s->env->n_units;
  nn_var grouped = draw_groups(s, t, random);
  if (grouped == NN_NONE) return (decision){NN_NONE, NN_NONE};
  gather_groups(s);
  describe_groups(s);
  decision placed = seq2seq_decide(&s->placer, t, tape_constant(t, s->groups.n_units, s->width, s->rows), &s->groups,
                                   random, s->group_device);
  for (int32_t u = 0; u < n; u++) {
    int32_t d = s->group_device[s->group[u]];
    s->device[u] = s->env->allowed[(int64_t)u * s->env->n_devices + d] ? d : s->fallback[u];
  }
  nn_real share =
      (nn_real)s->groups.n_units / (nn_real)n; /* so that neither network dominates where gradients are clipped */
  placed.log_chance = nn_add(t, placed.log_chance, nn_scale(t, grouped, share));
  return placed;
}

/* ---- making ---- */

static bool init_networks(hdp *s, rng *random) {
  params *p = s->params;
  int32_t width = KIND_WIDTH + DESCRIBE_NUMBERS;
  s->kinds = params_add(p, "grouper.kinds", s->features.n_kinds, KIND_WIDTH, PARAMS_GLOROT, random);
  s->first = params_add(p, "grouper.first", width, GROUPER, PARAMS_GLOROT, random);
  s->first_shift = params_add(p, "grouper.first_shift", 1, GROUPER, PARAMS_ZERO, random);
  s->second = params_add(p, "grouper.second", GROUPER, s->n_groups, PARAMS_GLOROT, random);
  s->second_shift = params_add(p, "grouper.second_shift", 1, s->n_groups, PARAMS_ZERO, random);
  return s->second_shift >= 0 && seq2seq_init(&s->placer, p, s->width, HIDDEN, s->env->n_devices, random);
}

static bool hdp_init(hdp *s, uint64_t seed, arena *a) {
  rng random = rng_new(seed);
  if (!environment_group(s->env, ENVIRONMENT_GROUPS, a) || !describe(&s->features, s->env, a)) return false;
  const environment *env = s->env;
  int64_t n = env->n_units;
  s->n_groups = (int32_t)min64(MAX_GROUPS, GROUPS_PER_DEVICE * (int64_t)env->n_devices);
  s->width = 2 * s->n_groups + s->features.n_kinds + DESCRIBE_NUMBERS;
  s->groups = *env; /* the same problem, with groups as units */
  s->params = params_new(a);
  if (!s->params || !ARENA_ARRAYS(a, ARRAY(s->groups.allowed, (int64_t)s->n_groups * env->n_devices),
                                  ARRAY(s->groups.weight_bytes, s->n_groups),
                                  ARRAY(s->groups.footprint_bytes, s->n_groups), ARRAY(s->drawn, n), ARRAY(s->group, n),
                                  ARRAY(s->place, s->n_groups), ARRAY(s->rows, (int64_t)s->n_groups * s->width),
                                  ARRAY(s->group_device, s->n_groups), ARRAY(s->device, n), ARRAY(s->fallback, n)))
    return false;
  describe_fastest(s->fallback, env);
  return init_networks(s, &random);
}

bool hdp_make(reinforce_policy *out, environment *env, uint64_t seed, arena *a) {
  hdp *s = ARENA_ZERO(a, hdp, 1);
  if (!s) return false;
  s->env = env;
  if (!hdp_init(s, seed, a)) return false;
  *out = (reinforce_policy){.self = s,
                            .env = env,
                            .params = s->params,
                            .device = s->device,
                            .n_decisions = 1,
                            .batch = BATCH,
                            .rate = 0.003,
                            .warmth = 0.1,
                            .cooling = 1000,
                            .scaled = true,
                            .decide = decide};
  return true;
}

static situ_status hdp_solve(solve_run *run) { return reinforce_solve(run, hdp_make); }

const solver hdp_solver = {
    .name = "hdp",
    .title = "a grouper and a placer that learn together",
    .source = "Mirhoseini et al., ICLR 2018",
    .models = MODEL_STREAM,
    .anytime = true,
    .solve = hdp_solve,
};
