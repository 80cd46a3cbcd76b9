/* The learner hsdag (Duan et al., "A Structure-Aware Framework for Learning Device Placements on Computation Graphs",
 * NeurIPS 2024): the graph is coarsened (hsdag_groups.h), described (hsdag_features.h), parsed into clusters and scored
 * (hsdag_net.h), and a device is drawn for each cluster. REINFORCE trains it. docs/theory/learned/hsdag.md explains
 * why, and what differs from the released code.
 *
 * A policy has the same shape for all models and platforms, so that one file serves them all: a column for each of
 * KIND_SLOTS kinds of operators, and MARKS numbers for a device. The kinds and the recipe are parameters without
 * gradients. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/hash.h"
#include "learn/hsdag_features.h"
#include "learn/hsdag_net.h"
#include "learn/learner.h"
#include "learn/softmax_draw.h"
#include "learn/trial_window.h"

enum {
  KIND_SLOTS = 64,
  DEVICE_SLOTS = 16, /* device d has mark d mod 16 */
  MARKS = DEVICE_SLOTS + 3,
  DRAWS = 10,           /* in a training step of ours */
  WINDOWS = 11,         /* trials added to these and the most likely placement, in a solver */
  PUBLISHED_STEPS = 20, /* trials between two updates, one pass each */
  MAX_LEVELS = 64
};
static const double rate = 3e-3, published_rate = 1e-3, entropy_weight = 0.05, parsing_weight = 0.2, max_norm = 1,
                    discount = 0.95, failed_reward = 1e-10;

/* ---- The policy ---- */

/* Columns of the parameter `recipe`. */
enum { RECIPE_FEATURES, RECIPE_LEVELS, RECIPE_TARGET, RECIPE_PUBLISHED, RECIPE_DECLINES, RECIPE_COLUMNS };
/* Values of RECIPE_PUBLISHED but 0: whether constants are nodes, as in the released code. */
enum { WITHOUT_CONSTANTS = 1, WITH_CONSTANTS };
static const char CONSTANT[] = "Constant"; /* their kind */

typedef struct hsdag {
  hsdag_net net;
  int32_t recipe, kinds; /* indices of parameters */
  bool named;            /* each kind of every environment has its own slot, as long as there are slots */
  bool still;            /* draws without learning: random search over the clusters of the initial policy */
} hsdag;

/* The data derived from an environment. */
typedef struct seen {
  hsdag_groups groups;
  int32_t n_edges, *from, *to; /* between groups, from < to */
  int32_t *class_root;         /* [class] one of its units */
  nn_real *mark;               /* [device * MARKS] */
  nn_real *feature;            /* [group * columns], computed in the first pass */
  nn_real *state;              /* likewise: the features as the released code changes them */
  nn_real *used;               /* [column] */
  int32_t *unit_device;        /* [unit] scratch of trials */
  nn_segments before, after;   /* of each group */
  trial_window *window;
  bool ready;
  int64_t n_counted; /* clusters already counted in the solver's statistics */
} seen;

static int32_t recipe_at(const trainer *tr, int column) {
  const hsdag *h = tr->own;
  double x = (double)params_at(tr->params, h->recipe).value[column];
  return x <= 0 ? 0 : x >= 1e6 ? 1000000 : (int32_t)x;
}

static uint32_t feature_set(const trainer *tr) { return (uint32_t)recipe_at(tr, RECIPE_FEATURES) & HSDAG_ALL; }
static bool published(const trainer *tr) { return recipe_at(tr, RECIPE_PUBLISHED) != 0; }
static bool has_constants(const trainer *tr) { return recipe_at(tr, RECIPE_PUBLISHED) == WITH_CONSTANTS; }
static int32_t n_columns(void) { return hsdag_features_count(KIND_SLOTS); }

static void *make(trainer *tr) {
  hsdag *h = ARENA_ZERO(tr->arena, hsdag, 1);
  if (!h || !hsdag_net_make(&h->net, tr->params, n_columns(), MARKS, &tr->random)) return NULL;
  h->recipe = params_add(tr->params, "recipe", 1, RECIPE_COLUMNS, PARAMS_ZERO, &tr->random);
  h->kinds = params_add(tr->params, "kinds", 1, KIND_SLOTS, PARAMS_ZERO, &tr->random);
  if (h->recipe < 0 || h->kinds < 0) return NULL;
  nn_real *recipe = params_at(tr->params, h->recipe).value;
  recipe[RECIPE_FEATURES] = tr->paper ? HSDAG_RELEASED : HSDAG_ALL;
  recipe[RECIPE_LEVELS] = 1;
  recipe[RECIPE_PUBLISHED] = tr->paper ? WITH_CONSTANTS : 0;
  recipe[RECIPE_DECLINES] = !tr->paper;
  return h;
}

/* Whether the word is KEY=NUMBER in full, with a number of at least 0. */
static bool take_number(const char *key, const char *word, size_t n, nn_real *to) {
  size_t used = strlen(key), digits = n - used;
  if (n <= used || memcmp(word, key, used) != 0 || digits > 6 || strspn(word + used, "0123456789") < digits)
    return false;
  *to = (nn_real)strtol(word + used, NULL, 10);
  return true;
}

/* Whether the word is KEY followed by the name of a feature. */
static bool take_feature(const char *key, const char *word, size_t n, uint32_t *bit) {
  size_t used = strlen(key);
  if (n <= used || memcmp(word, key, used) != 0) return false;
  for (int32_t f = 0; f < HSDAG_N_FEATURES; f++) {
    *bit = 1u << f;
    if (strlen(hsdag_feature_names[f]) == n - used && memcmp(word + used, hsdag_feature_names[f], n - used) == 0)
      return true;
  }
  return false;
}

static bool vary(trainer *tr, const char *word, size_t n) {
  nn_real *recipe = params_at(tr->params, ((hsdag *)tr->own)->recipe).value;
  uint32_t bit;
  nn_real learns = 1, constants = 1;
  if (take_number("learns=", word, n, &learns)) {
    ((hsdag *)tr->own)->still = learns == 0;
    return true;
  }
  if (tr->paper && take_number("constants=", word, n, &constants)) {
    recipe[RECIPE_PUBLISHED] = constants == 0 ? WITHOUT_CONSTANTS : WITH_CONSTANTS;
    return true;
  }
  if (take_number("levels=", word, n, &recipe[RECIPE_LEVELS])) return true;
  if (take_number("target=", word, n, &recipe[RECIPE_TARGET])) return true;
  if (take_number("declines=", word, n, &recipe[RECIPE_DECLINES])) return true;
  if (take_feature("without=", word, n, &bit)) {
    recipe[RECIPE_FEATURES] = (nn_real)(feature_set(tr) & ~bit);
    return true;
  }
  if (!take_feature("with=", word, n, &bit)) return false;
  recipe[RECIPE_FEATURES] = (nn_real)(feature_set(tr) | bit);
  return true;
}

/* ---- Kinds ---- */

/* The number of a name in the parameter `kinds`, where 0 is a free slot. It is one that a float holds exactly. */
static nn_real number_of(const char *kind) {
  return (nn_real)(hash_bytes(kind, strlen(kind), 0) % ((1u << 24) - 1) + 1);
}

static int32_t slot_of(const nn_real *slots, nn_real number) {
  for (int32_t i = 0; i < KIND_SLOTS; i++)
    if (slots[i] == number) return i;
  return -1;
}

static int by_text(const void *x, const void *y) { return strcmp(*(const char *const *)x, *(const char *const *)y); }

/* Assigns free slots to the kinds of all environments that have none, in the order of their names. */
static bool name_kinds(trainer *tr) {
  hsdag *h = tr->own;
  int32_t n = 0, max = 1;
  if (h->named) return true;
  for (int32_t k = 0; k < tr->n_cases; k++) max += tr->cases[k].env.problem->graph->n_kinds;
  const char **name = ARENA_NEW(tr->arena, const char *, max);
  if (!name) return false;
  if (has_constants(tr)) name[n++] = CONSTANT;
  for (int32_t k = 0; k < tr->n_cases; k++) {
    const situ_graph *g = tr->cases[k].env.problem->graph;
    for (int32_t i = 0; i < g->n_kinds; i++) name[n++] = g->kind_name[i];
  }
  if (n > 1) qsort(name, (size_t)n, sizeof *name, by_text);
  nn_real *slots = params_at(tr->params, h->kinds).value;
  for (int32_t i = 0; i < n; i++) {
    int32_t free_slot = slot_of(slots, 0);
    if (free_slot >= 0 && slot_of(slots, number_of(name[i])) < 0) slots[free_slot] = number_of(name[i]);
  }
  h->named = true;
  return true;
}

/* ---- Cases ---- */

static bool list_edges(seen *s, arena *a) {
  const hsdag_groups *g = &s->groups;
  int32_t *last = ARENA_NEW(a, int32_t, g->n), max = g->next.start[g->n];
  s->from = ARENA_NEW(a, int32_t, max);
  s->to = ARENA_NEW(a, int32_t, max);
  if (!last || !s->from || !s->to) return false;
  for (int32_t v = 0; v < g->n; v++) last[v] = -1;
  for (int32_t v = 0; v < g->n; v++)
    for (int back = 0; back < 2; back++) {
      const group_lists *near = back ? &g->before : &g->next;
      for (int32_t i = near->start[v]; i < near->start[v + 1]; i++) {
        int32_t to = near->to[i];
        if (to < v || last[to] == v) continue;
        last[to] = v;
        s->from[s->n_edges] = v;
        s->to[s->n_edges++] = to;
      }
    }
  return true;
}

/* Marks the devices: an index mark for each and, ours, its properties: a host, how slow, how much memory. */
static void mark_devices(seen *s, const environment *env, bool slots_only) {
  const situ_problem *p = env->problem;
  int64_t weights = 0;
  for (int32_t u = 0; u < env->n_units; u++) weights = sat_add(weights, env->weight_bytes[u]);
  for (int32_t d = 0; d < env->n_devices; d++) {
    nn_real *mark = s->mark + (int64_t)d * MARKS;
    mark[d % DEVICE_SLOTS] = 1;
    if (slots_only) continue;
    int64_t sum = 0;
    for (int32_t v = 0; v < p->n_operators; v++) sum = sat_add(sum, problem_time_ns(p, v, d));
    double slow = sum == SITU_NEVER_NS ? 16 : log2((double)sum / (double)env->scale_ns);
    double room = (double)p->platform->memory_bytes[p->memory_of[d]] / fmax(1, (double)weights);
    mark[DEVICE_SLOTS] = problem_is_host(p, d);
    mark[DEVICE_SLOTS + 1] = (nn_real)(fmin(fmax(slow, -16), 16) / 8);
    mark[DEVICE_SLOTS + 2] = (nn_real)(fmin(room, 4) / 4);
  }
}

static bool widen(nn_segments *to, const group_lists *from, int32_t n, arena *a) {
  int64_t *start = ARENA_NEW(a, int64_t, n + 1);
  for (int32_t g = 0; start && g <= n; g++) start[g] = from->start[g];
  *to = (nn_segments){.n = n, .start = start, .item = from->to};
  return start != NULL;
}

static bool see_neighbours(seen *s, arena *a) {
  int32_t n = s->groups.n;
  if (!widen(&s->before, &s->groups.before, n, a) || !widen(&s->after, &s->groups.next, n, a)) return false;
  s->window = trial_window_new(n, &s->before, &s->after, a);
  return s->window != NULL;
}

static void *see(trainer *tr, const environment *env) {
  (void)env;
  return ARENA_ZERO(tr->arena, seen, 1);
}

static bool see_groups(const trainer *tr, seen *s, const environment *env) {
  arena *a = tr->arena;
  if (!hsdag_groups_find(&s->groups, env, has_constants(tr), a) || !list_edges(s, a) || !see_neighbours(s, a))
    return false;
  int64_t n = s->groups.n, columns = n_columns();
  if (!ARENA_ARRAYS(a, ZEROS(s->mark, (int64_t)env->n_devices * MARKS), ARRAY(s->feature, n * columns),
                    ARRAY(s->state, n * columns), ARRAY(s->used, columns), ARRAY(s->class_root, n),
                    ARRAY(s->unit_device, env->n_units)))
    return false;
  for (int32_t g = s->groups.n_constants; g < n; g++)
    s->class_root[s->groups.class_of[g]] = s->groups.member[s->groups.member_start[g]];
  return true;
}

/* Fills what is seen, all of which depends on the recipe of the policy, which may be read after the environment. */
static bool describe(trainer *tr, train_case *one) {
  seen *s = one->seen;
  const situ_graph *g = one->env.problem->graph;
  if (s->ready) return true;
  if (!name_kinds(tr) || !see_groups(tr, s, &one->env)) return false;
  int32_t *column = ARENA_NEW(tr->arena, int32_t, g->n_kinds);
  if (!column) return false;
  const nn_real *slots = params_at(tr->params, ((hsdag *)tr->own)->kinds).value;
  for (int32_t k = 0; k < g->n_kinds; k++) column[k] = slot_of(slots, number_of(g->kind_name[k]));
  hsdag_choice choice = {.set = feature_set(tr),
                         .as_published = published(tr),
                         .n_kind_columns = KIND_SLOTS,
                         .kind_column = column,
                         .constant_column = slot_of(slots, number_of(CONSTANT))};
  mark_devices(s, &one->env, published(tr));
  s->ready = hsdag_features_find(s->feature, s->used, &choice, &one->env, &s->groups, tr->arena);
  return s->ready;
}

/* ---- One pass ---- */

/* The clusters as units of an environment of their own, so that devices are drawn for them as for units. */
typedef struct pass_view {
  hsdag_view view;
  environment clusters;
} pass_view;

static bool see_clusters(pass_view *out, const train_case *one, tape *t) {
  const environment *env = &one->env;
  const seen *s = one->seen;
  environment *c = &out->clusters;
  *c = *env;
  c->n_units = out->view.n_clusters;
  c->allowed = TAPE_NEW(t, bool, (int64_t)c->n_units * env->n_devices);
  c->weight_bytes = TAPE_NEW(t, int64_t, c->n_units);
  c->footprint_bytes = TAPE_NEW(t, int64_t, c->n_units);
  if (!c->allowed || !c->weight_bytes || !c->footprint_bytes) return false;
  for (int32_t k = 0; k < c->n_units; k++) {
    const bool *root = env->allowed + (int64_t)s->class_root[out->view.class_of[k]] * env->n_devices;
    memcpy(c->allowed + (int64_t)k * env->n_devices, root, (size_t)env->n_devices * sizeof *root);
    c->weight_bytes[k] = c->footprint_bytes[k] = 0;
  }
  for (int32_t u = 0; u < env->n_units; u++) {
    int32_t k = out->view.cluster_of[s->groups.group_of[u]];
    c->weight_bytes[k] = sat_add(c->weight_bytes[k], env->weight_bytes[u]);
    c->footprint_bytes[k] = max64(c->footprint_bytes[k], env->footprint_bytes[u]);
  }
  return true;
}

/* Runs one pass, from features to clusters and their scores, on an empty tape. random: for dropout, or NULL. */
static bool look(trainer *tr, train_case *one, const nn_real *feature, rng *random, pass_view *out) {
  const hsdag *h = tr->own;
  const seen *s = one->seen;
  tape_reset(tr->tape);
  parse_graph g = {
      .n = s->groups.n, .n_edges = s->n_edges, .from = s->from, .to = s->to, .class_of = s->groups.class_of};
  if (!parse_graph_link(&g, tr->tape)) return false;
  hsdag_pass pass = {.graph = &g,
                     .feature = feature,
                     .used = s->used,
                     .mark = s->mark,
                     .n_devices = one->env.n_devices,
                     .levels = (int32_t)min64(recipe_at(tr, RECIPE_LEVELS), MAX_LEVELS),
                     .target = recipe_at(tr, RECIPE_TARGET),
                     .declines = recipe_at(tr, RECIPE_DECLINES) != 0 && !published(tr),
                     .published = published(tr),
                     .random = random};
  return hsdag_net_run(&out->view, &h->net, &pass, tr->tape) && see_clusters(out, one, tr->tape);
}

/* Draws a device for each cluster; random NULL: the most likely. */
static void draw(const trainer *tr, pass_view *v, rng *random, int32_t *device, bool *open) {
  softmax_draw(&v->clusters, tape_at(tr->tape, v->view.score).value, random, device, open);
}

/* Whether everything is on one device, which the released code does not run. */
static bool is_pure(const pass_view *v, const int32_t *device) {
  for (int32_t c = 1; c < v->view.n_clusters; c++)
    if (device[c] != device[0]) return false;
  return true;
}

/* Tries s->unit_device, which was derived from the clusters of this pass. */
static int64_t attempt_units(train_case *one, const pass_view *v) {
  environment *env = &one->env;
  seen *s = one->seen;
  int64_t before = env->best_ns, time = environment_try(env, s->unit_device);
  if (time < before) one->note[CASE_GROUPS] = v->view.n_clusters;
  if (env->run && time < before) { /* statistics are sums, so the difference is added */
    if (s->n_counted == 0) solve_count(env->run, "coarse_groups", s->groups.n);
    solve_count(env->run, "groups", v->view.n_clusters - s->n_counted);
    s->n_counted = v->view.n_clusters;
  }
  return time;
}

static int64_t attempt(train_case *one, const pass_view *v, const int32_t *device) {
  const environment *env = &one->env;
  seen *s = one->seen;
  for (int32_t u = 0; u < env->n_units; u++) s->unit_device[u] = device[v->view.cluster_of[s->groups.group_of[u]]];
  return attempt_units(one, v);
}

/* Tries the best placement with a window of groups changed: each goes where the policy prefers its cluster. */
static int64_t attempt_window(train_case *one, const pass_view *v, const nn_real *score, rng *random) {
  const environment *env = &one->env;
  seen *s = one->seen;
  const hsdag_groups *g = &s->groups;
  int32_t n, to = 0;
  const int32_t *group = trial_window_choose(s->window, &n, random);
  bool together = rng_below(random, 4) != 0;
  memcpy(s->unit_device, env->best, (size_t)env->n_units * sizeof *env->best);
  for (int32_t k = 0; k < n; k++) {
    int32_t c = v->view.cluster_of[group[k]];
    if (k == 0 || !together) to = trial_window_device(&v->clusters, c, score, random);
    if (to < 0 || !v->clusters.allowed[(int64_t)c * env->n_devices + to]) continue;
    for (int32_t i = g->member_start[group[k]]; i < g->member_start[group[k] + 1]; i++)
      s->unit_device[g->member[i]] = to;
  }
  return attempt_units(one, v);
}

/* The log probability of a draw. */
static nn_var log_chance(const trainer *tr, const pass_view *v, const int32_t *device, const bool *open) {
  return nn_sum(tr->tape, nn_pick(tr->tape, nn_log_softmax(tr->tape, v->view.score, open), device));
}

/* ---- Training, ours ---- */

/* The draws of one pass; the last is the best placement recalled. */
typedef struct draws {
  int32_t n;
  double reward[DRAWS];
  int32_t *device[DRAWS + 1]; /* [cluster] */
  bool *open[DRAWS + 1];      /* [cluster * device] */
} draws;

static bool draw_all(trainer *tr, train_case *one, pass_view *v, draws *d, train_step *step) {
  environment *env = &one->env;
  for (d->n = 0; d->n <= DRAWS; d->n++) {
    d->device[d->n] = TAPE_NEW(tr->tape, int32_t, v->view.n_clusters);
    d->open[d->n] = TAPE_NEW(tr->tape, bool, (int64_t)v->view.n_clusters * env->n_devices);
    if (!d->device[d->n] || !d->open[d->n]) return false;
  }
  for (d->n = 0; d->n < DRAWS && !environment_over(env); d->n++) {
    draw(tr, v, &tr->random, d->device[d->n], d->open[d->n]);
    int64_t time = attempt(one, v, d->device[d->n]);
    d->reward[d->n] = environment_reward(env, time);
    step->best_ns = min64(step->best_ns, time);
    step->reward += (d->reward[d->n] - step->reward) / (d->n + 1);
  }
  step->n_trials = d->n;
  for (int32_t k = 0; k < d->n; k++) train_case_note(one, d->reward[k]);
  return true;
}

/* The advantage of each draw: its reward minus the mean, divided by the deviation. */
static void find_advantages(const draws *d, double *advantage) {
  double mean = 0, variance = 0;
  for (int32_t k = 0; k < d->n; k++) mean += d->reward[k] / d->n;
  for (int32_t k = 0; k < d->n; k++) variance += (d->reward[k] - mean) * (d->reward[k] - mean) / d->n;
  for (int32_t k = 0; k < d->n; k++) advantage[k] = variance > 0 ? (d->reward[k] - mean) / sqrt(variance) : 0;
}

/* Expresses the best placement so far as a draw of these clusters: each takes the device of most of its units. False
 * where there is none yet, or a cluster cannot take that device. */
static bool recall(trainer *tr, const train_case *one, const pass_view *v, int32_t *device, bool *open) {
  const environment *env = &one->env;
  const seen *s = one->seen;
  int64_t n = (int64_t)v->view.n_clusters * env->n_devices;
  int32_t *votes = TAPE_NEW(tr->tape, int32_t, n);
  if (!votes || env->best_ns == SITU_NEVER_NS) return false;
  memset(votes, 0, (size_t)n * sizeof *votes);
  memcpy(open, v->clusters.allowed, (size_t)n * sizeof *open);
  for (int32_t u = 0; u < env->n_units; u++)
    votes[(int64_t)v->view.cluster_of[s->groups.group_of[u]] * env->n_devices + env->best[u]]++;
  for (int32_t c = 0; c < v->view.n_clusters; c++) {
    const int32_t *of = votes + (int64_t)c * env->n_devices;
    device[c] = 0;
    for (int32_t d = 1; d < env->n_devices; d++)
      if (of[d] > of[device[c]]) device[c] = d;
    if (!open[(int64_t)c * env->n_devices + device[c]]) return false;
  }
  return true;
}

/* The mean square error of the scores of edges. The target is 1 where the best placement so far has both ends on one
 * device, and 0 where it separates them. So the parsing learns by self-imitation, too, which edges to decline. */
static nn_var loss_of_parsing(trainer *tr, const train_case *one, const pass_view *v) {
  tape *t = tr->tape;
  const seen *s = one->seen;
  const hsdag_groups *g = &s->groups;
  nn_real *wanted = TAPE_NEW(t, nn_real, s->n_edges);
  if (!wanted) return NN_NONE;
  for (int32_t e = 0; e < s->n_edges; e++) {
    int32_t from = g->member[g->member_start[s->from[e]]], to = g->member[g->member_start[s->to[e]]];
    wanted[e] = one->env.best[from] == one->env.best[to] ? -1 : 0;
  }
  nn_var off = nn_add(t, v->view.follow, tape_constant(t, s->n_edges, 1, wanted));
  return nn_scale(t, nn_sum(t, nn_multiply(t, off, off)), (nn_real)(parsing_weight / s->n_edges));
}

/* The mean over clusters of -advantage * log probability of each draw, and of -weight * entropy of the first. The best
 * placement so far counts as a draw of advantage 1 (self-imitation: Oh et al., ICML 2018). Without it, one good draw in
 * hundreds is lost. */
static nn_var loss_of(trainer *tr, const train_case *one, const pass_view *v, const draws *d) {
  tape *t = tr->tape;
  double advantage[DRAWS + 1], by = 1.0 / ((double)d->n * v->view.n_clusters);
  find_advantages(d, advantage);
  advantage[d->n] = 1;
  bool recalled = recall(tr, one, v, d->device[d->n], d->open[d->n]);
  nn_var first = nn_log_softmax(t, v->view.score, d->open[0]);
  nn_var entropy = nn_sum(t, nn_multiply(t, nn_exp(t, first), first));
  nn_var loss = nn_scale(t, entropy, (nn_real)(entropy_weight / v->view.n_clusters));
  for (int32_t k = 0; k < d->n + recalled; k++)
    loss = nn_add(t, loss, nn_scale(t, log_chance(tr, v, d->device[k], d->open[k]), (nn_real)(-advantage[k] * by)));
  bool parses = recipe_at(tr, RECIPE_DECLINES) != 0 && v->view.follow != NN_NONE && one->env.best_ns < SITU_NEVER_NS;
  return parses ? nn_add(t, loss, loss_of_parsing(tr, one, v)) : loss;
}

/* Tries the most likely placement, without dropout, and in a solver windows around the best. */
static bool try_likeliest(trainer *tr, train_case *one, int64_t *time) {
  pass_view v;
  const seen *s = one->seen;
  if (!look(tr, one, s->feature, NULL, &v)) return false;
  int32_t *device = TAPE_NEW(tr->tape, int32_t, v.view.n_clusters);
  if (!device) return false;
  draw(tr, &v, NULL, device, NULL);
  *time = attempt(one, &v, device);
  const nn_real *score = tape_at(tr->tape, v.view.score).value;
  int32_t windows = one->env.run && one->env.best_ns < SITU_NEVER_NS ? WINDOWS : 0;
  for (int32_t k = 0; k < windows && !environment_over(&one->env); k++)
    *time = min64(*time, attempt_window(one, &v, score, &tr->random));
  return true;
}

static bool train_ours(trainer *tr, train_case *one, train_step *step) {
  pass_view v;
  draws d;
  int64_t time = SITU_NEVER_NS;
  const seen *s = one->seen;
  if (!look(tr, one, s->feature, &tr->random, &v) || !draw_all(tr, one, &v, &d, step)) return false;
  if (d.n < DRAWS || ((const hsdag *)tr->own)->still) return true; /* out of time, or learning is off */
  params_clear_gradients(tr->params);
  if (!tape_backward(tr->tape, loss_of(tr, one, &v, &d))) return false;
  params_clip(tr->params, max_norm);
  params_step(tr->params, rate);
  if (!environment_over(&one->env) && !try_likeliest(tr, one, &time)) return false;
  step->best_ns = min64(step->best_ns, time);
  return true;
}

/* ---- Training, as released ---- */

/* Adds the output of its cluster to the features of each node. */
static void grow_state(const trainer *tr, seen *s, const hsdag_view *view) {
  nn_matrix out = tape_at(tr->tape, view->state);
  for (int32_t g = 0; g < s->groups.n; g++)
    for (int32_t c = 0; c < out.cols; c++)
      s->state[(int64_t)g * out.cols + c] += out.value[(int64_t)view->cluster_of[g] * out.cols + c];
}

static bool published_trial(trainer *tr, train_case *one, double *reward, train_step *step) {
  pass_view v;
  environment *env = &one->env;
  seen *s = one->seen;
  if (!look(tr, one, s->state, &tr->random, &v)) return false;
  int32_t *device = TAPE_NEW(tr->tape, int32_t, v.view.n_clusters);
  bool *open = TAPE_NEW(tr->tape, bool, (int64_t)v.view.n_clusters * env->n_devices);
  if (!device || !open) return false;
  draw(tr, &v, &tr->random, device, open);
  int64_t time = SITU_NEVER_NS;
  if (!is_pure(&v, device))
    time = attempt(one, &v, device);
  else if (env->run)
    budget_spend(env->run->budget, 1);
  *reward = time == SITU_NEVER_NS ? failed_reward : (double)env->scale_ns / (double)max64(time, 1);
  double noted = environment_reward(env, time);
  train_case_note(one, noted);
  step->best_ns = min64(step->best_ns, time);
  step->reward += (noted - step->reward) / ++step->n_trials;
  grow_state(tr, s, &v.view);
  return tape_backward(tr->tape, nn_scale(tr->tape, log_chance(tr, &v, device, open), -1));
}

/* One step of the released training: one return for all trials, in which the last has the largest weight. */
static bool train_published(trainer *tr, train_case *one, train_step *step) {
  double whole = 0, reward;
  seen *s = one->seen;
  memcpy(s->state, s->feature, (size_t)s->groups.n * (size_t)n_columns() * sizeof *s->state);
  params_clear_gradients(tr->params);
  for (int32_t k = 0; k < PUBLISHED_STEPS; k++) {
    if (environment_over(&one->env)) return true;
    if (!published_trial(tr, one, &reward, step)) return false;
    whole = discount * whole + reward;
  }
  for (int32_t k = 0; k < params_count(tr->params); k++) {
    nn_matrix at = params_at(tr->params, k);
    for (int64_t i = 0; i < (int64_t)at.rows * at.cols; i++) at.grad[i] *= (nn_real)whole;
  }
  params_step(tr->params, published_rate);
  return true;
}

static bool train(trainer *tr, train_case *one, train_step *step) {
  if (!describe(tr, one)) return false;
  return published(tr) ? train_published(tr, one, step) : train_ours(tr, one, step);
}

/* ---- Serving ---- */

static bool serve(trainer *tr, train_case *one, int32_t n_draws, rng *random) {
  pass_view v;
  const seen *s = one->seen;
  if (!describe(tr, one) || !look(tr, one, s->feature, NULL, &v)) return false;
  int32_t *device = TAPE_NEW(tr->tape, int32_t, v.view.n_clusters);
  if (!device) return false;
  for (int32_t k = 0; k < n_draws && !environment_over(&one->env); k++) {
    draw(tr, &v, k > 0 ? random : NULL, device, NULL);
    attempt(one, &v, device);
  }
  return true;
}

const learner hsdag_learner = {
    .name = "hsdag",
    .title = "parses the graph into clusters and places them; trained by REINFORCE",
    .source = "Duan et al., HSDAG, NeurIPS 2024",
    .make = make,
    .see = see,
    .train = train,
    .serve = serve,
    .vary = vary,
    .variants = "levels=N, target=N, declines=0, learns=0, constants=0 (of --paper), without=FEATURE, with=FEATURE",
    .max_units = INT32_MAX, /* it forms groups itself */
};
