/* Placeto (Addanki et al., "Placeto: learning generalizable device placement algorithms for distributed machine
 * learning", NeurIPS 2019): the placement exists from the start, and units may move one by one; each step is a
 * simulation, and the return of a step is the reduction in time by the end of the sweep. Rounds of messages along and
 * against the edges describe the neighbourhood of each unit. The current unit also sees its ancestors, its descendants
 * and all others. docs/theory/learned/learned_baselines.md. */
#include <string.h>

#include "learn/describe.h"
#include "learn/reinforce.h"
#include "learn/softmax_draw.h"

enum { WIDTH = 16, ROUNDS = 8, OWN_NUMBERS = 3, WAYS = 2, RELATIONS = 3 };

/* The layers of one direction: for messages that go out, and for those that come in. */
typedef struct messages {
  int32_t out, out_shift, in, in_shift;
} messages;

typedef struct placeto {
  environment *env;
  description features;
  params *params;
  int32_t first, first_shift, second, second_shift, score, score_shift;
  messages way[WAYS]; /* from the units before, from the units after */
  int32_t width;      /* of a row: features, OWN_NUMBERS, devices */
  int32_t *device, *begin;
  nn_real *work;                  /* [unit * devices] times divided by the maximum */
  nn_segments related[RELATIONS]; /* [unit] ancestors, descendants, neither */
} placeto;

/* ---- the network ---- */

/* Rows of all units in step k: features, time, whether it was visited, whether it is the current one, its device. */
static nn_var rows_now(const placeto *s, tape *t, int32_t k) {
  int32_t n = s->env->n_units;
  nn_real *rows = TAPE_NEW(t, nn_real, (int64_t)n * s->width);
  if (!rows) return NN_NONE;
  memset(rows, 0, (size_t)n * (size_t)s->width * sizeof *rows);
  for (int32_t u = 0; u < n; u++) {
    nn_real *row = rows + (int64_t)u * s->width;
    memcpy(row, s->features.numbers + (int64_t)u * DESCRIBE_NUMBERS, DESCRIBE_NUMBERS * sizeof *row);
    row[DESCRIBE_NUMBERS] = s->work[(int64_t)u * s->env->n_devices + s->device[u]];
    row[DESCRIBE_NUMBERS + 1] = u < k;
    row[DESCRIBE_NUMBERS + 2] = u == k;
    row[DESCRIBE_NUMBERS + OWN_NUMBERS + s->device[u]] = 1;
  }
  return tape_constant(t, n, s->width, rows);
}

static nn_var layer(const placeto *s, tape *t, nn_var x, int32_t w, int32_t shift) {
  return nn_relu(t, nn_dense(t, x, params_var(s->params, w, t), params_var(s->params, shift, t)));
}

/* ROUNDS of x = relu(in(mean over neighbours of relu(out(x)))) + e, from x = e. */
static nn_var pass_messages(const placeto *s, tape *t, nn_var e, const messages *m, const nn_segments *from) {
  nn_var x = e;
  for (int32_t round = 0; round < ROUNDS; round++) {
    nn_var heard = nn_segment_mean(t, layer(s, t, x, m->out, m->out_shift), from);
    x = nn_add(t, layer(s, t, heard, m->in, m->in_shift), e);
  }
  return x;
}

/* Scores of all devices for unit k. */
static nn_var scores_of(const placeto *s, tape *t, int32_t k) {
  nn_var e = layer(s, t, rows_now(s, t, k), s->first, s->first_shift);
  nn_var x = nn_join(t, pass_messages(s, t, e, &s->way[0], &s->features.before),
                     pass_messages(s, t, e, &s->way[1], &s->features.after));
  int32_t *own = TAPE_NEW(t, int32_t, 1);
  if (!own) return NN_NONE;
  *own = k;
  nn_var seen = nn_gather(t, x, own, 1);
  for (int i = 0; i < RELATIONS; i++) {
    nn_segments one = {.n = 1, .start = s->related[i].start + k, .item = s->related[i].item};
    seen = nn_join(t, seen, nn_segment_mean(t, x, &one));
  }
  nn_var hidden = layer(s, t, seen, s->second, s->second_shift);
  return nn_dense(t, hidden, params_var(s->params, s->score, t), params_var(s->params, s->score_shift, t));
}

static void placeto_start(void *self) {
  placeto *s = self;
  memcpy(s->device, s->begin, (size_t)s->env->n_units * sizeof *s->device);
}

static decision decide(void *self, tape *t, rng *random, int32_t k) {
  placeto *s = self;
  int32_t n = s->env->n_devices, *chosen = TAPE_NEW(t, int32_t, 1);
  nn_var scores = scores_of(s, t, k);
  bool *open = TAPE_NEW(t, bool, n);
  if (!chosen || !open || scores == NN_NONE) return (decision){NN_NONE, NN_NONE};
  environment_empty(s->env);
  for (int32_t u = 0; u < s->env->n_units; u++)
    if (u != k) environment_put(s->env, u, s->device[u]);
  environment_open(s->env, k, open);
  *chosen = s->device[k] = softmax_choose(tape_at(t, scores).value, open, n, random);
  nn_var chances = nn_log_softmax(t, scores, open);
  return (decision){nn_pick(t, chances, chosen), reinforce_entropy(t, chances)};
}

/* ---- making ---- */

/* Marks the units that u reaches over the segments. list is scratch of n_units. */
static void find_reached(bool *reached, int32_t *list, const nn_segments *next, int32_t u) {
  int32_t n = 0;
  memset(reached, 0, (size_t)next->n * sizeof *reached);
  for (int32_t at = u, done = 0;; at = list[done++]) {
    for (int64_t i = next->start[at]; i < next->start[at + 1]; i++) {
      int32_t v = next->item[i];
      if (reached[v]) continue;
      reached[v] = true;
      list[n++] = v;
    }
    if (done == n) return;
  }
}

/* Lists the ancestors, descendants and others of each unit. Groups may lie on a cycle, and then count as both. */
static bool relate(placeto *s, arena *a) {
  int32_t n = s->env->n_units, *item[RELATIONS], *list = ARENA_NEW(a, int32_t, n);
  int64_t *start[RELATIONS], filled[RELATIONS] = {0};
  bool *above = ARENA_NEW(a, bool, n), *below = ARENA_NEW(a, bool, n);
  for (int i = 0; i < RELATIONS; i++) {
    if (!ARENA_ARRAYS(a, ZEROS(start[i], (int64_t)n + 1), ARRAY(item[i], (int64_t)n * n))) return false;
    s->related[i] = (nn_segments){.n = n, .start = start[i], .item = item[i]};
  }
  if (!list || !above || !below) return false;
  for (int32_t u = 0; u < n; u++) {
    find_reached(above, list, &s->features.before, u);
    find_reached(below, list, &s->features.after, u);
    for (int32_t v = 0; v < n; v++) {
      bool in[RELATIONS] = {above[v], below[v], !above[v] && !below[v]};
      for (int i = 0; i < RELATIONS; i++)
        if (v != u && in[i]) item[i][filled[i]++] = v;
    }
    for (int i = 0; i < RELATIONS; i++) start[i][u + 1] = filled[i];
  }
  return true;
}

/* Fills `work`. Entries of devices that cannot run a unit are never read. */
static bool find_work(placeto *s, arena *a) {
  const environment *env = s->env;
  int64_t cells = (int64_t)env->n_units * env->n_devices;
  double max = 1, *time_ns = ARENA_ZERO(a, double, cells);
  s->work = ARENA_NEW(a, nn_real, cells);
  if (!time_ns || !s->work) return false;
  for (int32_t v = 0; v < env->problem->n_operators; v++)
    for (int32_t d = 0; d < env->n_devices; d++)
      if (env->allowed[(int64_t)env->unit_of[v] * env->n_devices + d])
        time_ns[(int64_t)env->unit_of[v] * env->n_devices + d] += (double)problem_time_ns(env->problem, v, d);
  for (int64_t i = 0; i < cells; i++) max = time_ns[i] > max ? time_ns[i] : max;
  for (int64_t i = 0; i < cells; i++) s->work[i] = (nn_real)(time_ns[i] / max);
  return true;
}

static bool init_network(placeto *s, rng *random) {
  params *p = s->params;
  static const char *const names[WAYS][4] = {{"before.out", "before.out_shift", "before.in", "before.in_shift"},
                                             {"after.out", "after.out_shift", "after.in", "after.in_shift"}};
  int32_t n = s->env->n_devices, seen = WAYS * WIDTH * (1 + RELATIONS), hidden = 2 * WAYS * WIDTH;
  s->first = params_add(p, "first", s->width, WIDTH, PARAMS_GLOROT, random);
  s->first_shift = params_add(p, "first_shift", 1, WIDTH, PARAMS_ZERO, random);
  for (int k = 0; k < WAYS; k++) {
    s->way[k].out = params_add(p, names[k][0], WIDTH, WIDTH, PARAMS_GLOROT, random);
    s->way[k].out_shift = params_add(p, names[k][1], 1, WIDTH, PARAMS_ZERO, random);
    s->way[k].in = params_add(p, names[k][2], WIDTH, WIDTH, PARAMS_GLOROT, random);
    s->way[k].in_shift = params_add(p, names[k][3], 1, WIDTH, PARAMS_ZERO, random);
  }
  s->second = params_add(p, "second", seen, hidden, PARAMS_GLOROT, random);
  s->second_shift = params_add(p, "second_shift", 1, hidden, PARAMS_ZERO, random);
  s->score = params_add(p, "score", hidden, n, PARAMS_ZERO, random); /* uniform at first */
  s->score_shift = params_add(p, "score_shift", 1, n, PARAMS_ZERO, random);
  return s->score_shift >= 0 && s->second >= 0 && s->first >= 0;
}

static bool placeto_init(placeto *s, uint64_t seed, arena *a) {
  rng random = rng_new(seed);
  if (!environment_group(s->env, ENVIRONMENT_GROUPS, a) || !describe(&s->features, s->env, a)) return false;
  s->width = DESCRIBE_NUMBERS + OWN_NUMBERS + s->env->n_devices;
  s->params = params_new(a);
  s->device = ARENA_NEW(a, int32_t, s->env->n_units);
  s->begin = ARENA_NEW(a, int32_t, s->env->n_units);
  if (!s->params || !s->device || !s->begin || !find_work(s, a) || !relate(s, a)) return false;
  describe_fastest(s->begin, s->env);
  return init_network(s, &random);
}

bool placeto_make(reinforce_policy *out, environment *env, uint64_t seed, arena *a) {
  placeto *s = ARENA_ZERO(a, placeto, 1);
  if (!s) return false;
  s->env = env;
  if (!placeto_init(s, seed, a)) return false;
  *out = (reinforce_policy){.self = s,
                            .env = env,
                            .params = s->params,
                            .device = s->device,
                            .batch = 1,
                            .n_decisions = s->env->n_units,
                            .rate = 0.003,
                            .warmth = 0,
                            .cooling = 1,
                            .start = placeto_start,
                            .decide = decide};
  return true;
}

static situ_status placeto_solve(solve_run *run) { return reinforce_solve(run, placeto_make); }

const solver placeto_solver = {
    .name = "placeto",
    .title = "a policy that learns to move one group at a time",
    .source = "Addanki et al., NeurIPS 2019",
    .models = MODEL_STREAM,
    .anytime = true,
    .solve = placeto_solve,
};
