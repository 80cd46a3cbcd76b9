#include "learn/gdp_view.h"

#include <math.h>
#include <string.h>

#include "solve/stream/rank.h"
#include "view/equal_devices.h"

/* The numbers of each operator that features are computed from. */
typedef struct measures {
  const situ_problem *problem;
  rank_costs costs;
  double *up, *down;      /* ranks: upward, downward */
  int32_t *above, *below; /* operators on the longest path from the start, to the end */
  int32_t *in_level;      /* how many operators of its level precede it */
  int32_t *level_size;    /* [level] */
  double *place;          /* the part of all work that precedes it in order of upward rank */
  double critical, mean_work, all_weights;
  int32_t deepest;
} measures;

static double at_least(double x, double min) { return x > min ? x : min; }

/* ---- measures ---- */

static void find_levels(measures *m) {
  const situ_graph *g = m->problem->graph;
  int32_t n = g->n_operators;
  for (int32_t v = 0; v < n; v++) {
    m->above[v] = m->below[v] = 0;
    m->level_size[v] = 0;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t depth = m->above[g->producer[g->in[i]]] + 1;
      if (depth > m->above[v]) m->above[v] = depth;
    }
    if (m->above[v] > m->deepest) m->deepest = m->above[v];
  }
  for (int32_t v = n - 1; v >= 0; v--)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (m->below[v] + 1 > m->below[u]) m->below[u] = m->below[v] + 1;
    }
  for (int32_t v = 0; v < n; v++) m->in_level[v] = m->level_size[m->above[v]]++;
}

static void find_places(measures *m, const int32_t *order) {
  double all = 0, before = 0;
  for (int32_t v = 0; v < m->problem->n_operators; v++) all += m->costs.work[v];
  for (int32_t k = 0; k < m->problem->n_operators; k++) {
    int32_t v = order[k];
    m->place[v] = all > 0 ? (before + m->costs.work[v] / 2) / all : 0.5;
    before += m->costs.work[v];
  }
  m->mean_work = at_least(all / at_least(m->problem->n_operators, 1), 1);
}

static bool measure(measures *m, const environment *env, arena *a) {
  const situ_problem *p = env->problem;
  const situ_graph *g = p->graph;
  int64_t n = p->n_operators;
  *m = (measures){.problem = p};
  int32_t *order;
  if (!ARENA_ARRAYS(a, ARRAY(m->up, n), ARRAY(m->down, n), ARRAY(m->place, n), ARRAY(m->above, n), ARRAY(m->below, n),
                    ARRAY(m->in_level, n), ARRAY(m->level_size, n + 1), ARRAY(order, n)) ||
      !rank_costs_find(&m->costs, a, p, RANK_MEAN))
    return false;
  rank_upward(m->up, p, &m->costs);
  rank_downward(m->down, p, &m->costs);
  if (!rank_order(order, a, m->up, p->n_operators)) return false;
  for (int32_t v = 0; v < n; v++) {
    m->critical = at_least(m->up[v], m->critical);
    m->all_weights += (double)g->weight_bytes[v];
  }
  m->critical = at_least(m->critical, 1);
  m->all_weights = at_least(m->all_weights, 1);
  find_levels(m);
  find_places(m, order);
  return true;
}

/* ---- units ---- */

/* Sine and cosine of pi x, 2 pi x, 4 pi x, ... */
static nn_real *add_waves(nn_real *to, double x, int32_t n) {
  const double pi = 3.14159265358979323846;
  for (int32_t k = 0; k < n; k++) {
    *to++ = (nn_real)sin(pi * x * (1 << k));
    *to++ = (nn_real)cos(pi * x * (1 << k));
  }
  return to;
}

/* A time relative to the mean operator, between about 0 and 2. */
static nn_real relative(const measures *m, double time_ns) { return (nn_real)(log1p(time_ns / m->mean_work) / 2); }

static nn_real count(double n) { return (nn_real)(log1p(n) / 3); }

/* The minimum and maximum time of an operator over the devices that can run it. */
static void time_range(const situ_problem *p, int32_t v, double *min, double *max) {
  *min = HUGE_VAL;
  *max = 0;
  for (int32_t c = 0; c < p->n_classes; c++) {
    int64_t time = p->time_ns[(int64_t)v * p->n_classes + c];
    if (time == SITU_NEVER_NS) continue;
    *min = fmin(*min, (double)time);
    *max = fmax(*max, (double)time);
  }
  if (!isfinite(*min)) *min = 0;
}

static void describe_operator(nn_real *to, const measures *m, int32_t v) {
  const situ_problem *p = m->problem;
  const situ_graph *g = p->graph;
  double min, max, out = 0, in = 0, users = 0;
  time_range(p, v, &min, &max);
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
    out += m->costs.transfer[t];
    users += (double)(g->use_start[t + 1] - g->use_start[t]);
  }
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) in += m->costs.transfer[g->in[i]];
  *to++ = relative(m, min);
  *to++ = relative(m, max);
  *to++ = (nn_real)(log1p(max / at_least(min, 1)) / 4);
  *to++ = relative(m, out);
  *to++ = relative(m, in);
  *to++ = (nn_real)(log1p(1000 * (double)g->weight_bytes[v] / m->all_weights) / 4);
  *to++ = count((double)(g->in_start[v + 1] - g->in_start[v]));
  *to++ = count(users);
  *to++ = (nn_real)(m->up[v] / m->critical);
  *to++ = (nn_real)(m->down[v] / m->critical);
  *to++ = (nn_real)(1 - (m->up[v] + m->down[v]) / m->critical);
  *to++ = (nn_real)(m->above[v] / at_least(m->deepest, 1));
  *to++ = (nn_real)(m->below[v] / at_least(m->deepest, 1));
  *to++ = count(m->level_size[m->above[v]] - 1);
  *to++ = g->phase[v] == SITU_PHASE_BACKWARD;
  *to++ = g->phase[v] == SITU_PHASE_UPDATE;
  to = add_waves(to, m->place[v], 5);
  to = add_waves(to, (m->in_level[v] + 0.5) / m->level_size[m->above[v]], 3);
  add_waves(to, g->layer[v] < 0 ? 0.5 : (g->layer[v] + 0.5) / g->n_layers, 2);
}

enum { OWN_FEATURES = 16 + 10 + 6 + 4 };

static void describe_units(gdp_view *out, const environment *env, const measures *m) {
  nn_real one[OWN_FEATURES];
  int32_t n = m->problem->n_operators;
  for (int32_t u = 0; u < env->n_units; u++) {
    nn_real *row = out->unit + (int64_t)u * GDP_UNIT_FEATURES;
    memset(row, 0, GDP_UNIT_FEATURES * sizeof *row);
    int32_t first = env->member_start[u], end = env->member_start[u + 1];
    for (int32_t i = first; i < end; i++) {
      describe_operator(one, m, env->member[i]);
      for (int32_t k = 0; k < OWN_FEATURES; k++) row[k] += one[k] / (nn_real)(end - first);
    }
    row[OWN_FEATURES] = count(end - first - 1);
    row[OWN_FEATURES + 1] = (nn_real)(log1p(u) / log1p(env->n_units));
    row[OWN_FEATURES + 2] = (nn_real)(env->member[first] / (double)n);
    row[OWN_FEATURES + 3] = (nn_real)(env->member[end - 1] / (double)n);
  }
}

static void compare_classes(gdp_view *out, const environment *env) {
  const situ_problem *p = env->problem;
  for (int32_t u = 0; u < env->n_units; u++) {
    nn_real *row = out->slowness + (int64_t)u * p->n_devices;
    double min = HUGE_VAL;
    for (int32_t pass = 0; pass < 2; pass++)
      for (int32_t d = 0; d < p->n_devices; d++) {
        double sum = 0;
        row[d] = 0;
        if (!env->allowed[(int64_t)u * p->n_devices + d]) continue;
        for (int32_t i = env->member_start[u]; i < env->member_start[u + 1]; i++)
          sum += (double)problem_time_ns(p, env->member[i], d);
        min = fmin(min, sum);
        if (pass) row[d] = (nn_real)log((sum + 1) / (min + 1));
      }
  }
}

/* ---- neighbours and kinds ---- */

/* Lists the distinct units next to u on one side in `to`. `mark` holds the last u that saw each unit. */
static int64_t list_side(const environment *env, int32_t u, bool producers, int32_t *mark, int32_t *to) {
  const situ_graph *g = env->problem->graph;
  int64_t n = 0;
  for (int32_t i = env->member_start[u]; i < env->member_start[u + 1]; i++) {
    int32_t v = env->member[i];
    int64_t first = producers ? g->in_start[v] : g->use_start[g->out_start[v]];
    int64_t end = producers ? g->in_start[v + 1] : g->use_start[g->out_start[v + 1]];
    for (int64_t k = first; k < end; k++) {
      int32_t other = env->unit_of[producers ? g->producer[g->in[k]] : g->use[k]];
      if (other == u || mark[other] == u) continue;
      mark[other] = u;
      if (to) to[n] = other;
      n++;
    }
  }
  return n;
}

/* Weights of the neighbours of each unit: the logarithm of the time of all tensors between the two. */
static nn_real *weigh_neighbours(const nn_segments *side, const environment *env, const measures *m, bool producers,
                                 arena *a) {
  const situ_graph *g = env->problem->graph;
  double *between = ARENA_ZERO(a, double, env->n_units);
  nn_real *weight = ARENA_NEW(a, nn_real, side->start[env->n_units]);
  for (int32_t u = 0; between && weight && u < env->n_units; u++) {
    for (int32_t i = env->member_start[u]; i < env->member_start[u + 1]; i++) {
      int32_t v = env->member[i];
      for (int64_t k = g->in_start[v]; producers && k < g->in_start[v + 1]; k++)
        between[env->unit_of[g->producer[g->in[k]]]] += m->costs.transfer[g->in[k]];
      for (int32_t t = g->out_start[v]; !producers && t < g->out_start[v + 1]; t++)
        for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++)
          between[env->unit_of[g->use[k]]] += m->costs.transfer[t];
    }
    double sum = 0;
    for (int64_t k = side->start[u]; k < side->start[u + 1]; k++) {
      weight[k] = (nn_real)(0.1 + log1p(between[side->item[k]] / m->mean_work));
      sum += (double)weight[k];
      between[side->item[k]] = 0;
    }
    between[u] = 0;
    for (int64_t k = side->start[u]; k < side->start[u + 1]; k++) weight[k] /= (nn_real)sum;
  }
  return between ? weight : NULL;
}

static bool list_neighbours(nn_segments *out, const environment *env, bool producers, arena *a) {
  int64_t *start = ARENA_NEW(a, int64_t, env->n_units + 1);
  int32_t *mark = ARENA_NEW(a, int32_t, env->n_units), *item = NULL;
  if (!start || !mark) return false;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t u = 0; u < env->n_units; u++) mark[u] = -1;
    start[0] = 0;
    for (int32_t u = 0; u < env->n_units; u++)
      start[u + 1] = start[u] + list_side(env, u, producers, mark, item ? item + start[u] : NULL);
    if (!item && !(item = ARENA_NEW(a, int32_t, start[env->n_units]))) return false;
  }
  *out = (nn_segments){.n = env->n_units, .start = start, .item = item};
  return true;
}

static bool list_kinds(nn_segments *out, const environment *env, arena *a) {
  const situ_graph *g = env->problem->graph;
  int64_t *start = ARENA_NEW(a, int64_t, env->n_units + 1);
  int32_t *item = ARENA_NEW(a, int32_t, g->n_operators);
  if (!start || !item) return false;
  for (int32_t u = 0; u <= env->n_units; u++) start[u] = env->member_start[u];
  for (int32_t i = 0; i < g->n_operators; i++) {
    const char *name = g->kind_name[g->kind[env->member[i]]];
    item[i] = (int32_t)(hash_bytes(name, strlen(name), 0) % GDP_KINDS);
  }
  *out = (nn_segments){.n = env->n_units, .start = start, .item = item};
  return true;
}

/* ---- devices ---- */

/* The time of all operators that d can run; *part is the part of the operators that these are. */
static double work_on(const measures *m, int32_t d, double *part) {
  const situ_problem *p = m->problem;
  double sum = 0, usual = 0, all = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    all += m->costs.work[v];
    if (problem_time_ns(p, v, d) == SITU_NEVER_NS) continue;
    sum += (double)problem_time_ns(p, v, d);
    usual += m->costs.work[v];
  }
  *part = all > 0 ? usual / all : 1;
  return usual > 0 ? at_least(sum, 1) * all / at_least(usual, 1) : HUGE_VAL;
}

/* The mean, minimum and maximum time of a mean tensor to the other devices and back. */
static void link_times(const measures *m, const double *of_kind, int32_t d, nn_real to[4]) {
  const situ_problem *p = m->problem;
  double out = 0, in = 0, min = HUGE_VAL, max = 0;
  for (int32_t e = 0; e < p->n_devices; e++) {
    if (e == d) continue;
    double there = of_kind[p->device_kind[(int64_t)d * p->n_devices + e]];
    out += there;
    in += of_kind[p->device_kind[(int64_t)e * p->n_devices + d]];
    min = fmin(min, there);
    max = fmax(max, there);
  }
  double others = at_least(p->n_devices - 1, 1);
  to[0] = relative(m, out / others);
  to[1] = relative(m, in / others);
  to[2] = relative(m, isfinite(min) ? min : 0);
  to[3] = relative(m, max);
}

static void describe_device(nn_real *row, const measures *m, const double *of_kind, int32_t d, const device_type *type,
                            double fastest) {
  const situ_problem *p = m->problem;
  double part, equals = type->n_devices, before = 0, work = work_on(m, d, &part);
  int64_t room = p->platform->memory_bytes[p->memory_of[d]];
  for (int32_t i = 0; type->devices[i] < d; i++) before++;
  *row++ = isfinite(work) ? (nn_real)(log(work / fastest) / 2) : 3;
  *row++ = (nn_real)part;
  *row++ = room == SITU_UNLIMITED_BYTES ? 2 : (nn_real)fmax(-2, fmin(2, log((double)room / m->all_weights) / 3));
  *row++ = problem_is_host(p, d);
  *row++ = p->unused[d];
  link_times(m, of_kind, d, row);
  row += 4;
  *row++ = count(equals - 1);
  *row++ = count(p->n_devices - 1);
  *row++ = equals > 1 ? (nn_real)(before / (equals - 1)) : 0;
  row = add_waves(row, (before + 0.5) / equals, 5);
  add_waves(row, (d + 0.5) / p->n_devices, 1);
}

static bool describe_devices(gdp_view *out, const measures *m, arena *a) {
  const situ_problem *p = m->problem;
  double *of_kind = ARENA_ZERO(a, double, p->n_kinds), fastest = HUGE_VAL, part;
  equal_devices equal;
  if (!of_kind || !equal_devices_find(&equal, p, EQUAL_ALONE, a)) return false;
  for (int32_t t = 0; t < p->graph->n_tensors; t++)
    for (int32_t k = 0; k < p->n_kinds; k++) of_kind[k] += (double)p->transfer_ns[t][k] / p->graph->n_tensors;
  out->equal_to = equal.type_of;
  for (int32_t d = 0; d < p->n_devices; d++) fastest = fmin(fastest, work_on(m, d, &part));
  if (!isfinite(fastest)) fastest = 1;
  for (int32_t d = 0; d < p->n_devices; d++)
    describe_device(out->device + (int64_t)d * GDP_DEVICE_FEATURES, m, of_kind, d, &equal.types[equal.type_of[d]],
                    fastest);
  return true;
}

gdp_view *gdp_look(const environment *env, arena *a) {
  gdp_view *out = ARENA_ZERO(a, gdp_view, 1);
  if (!out) return NULL;
  out->n_units = env->n_units;
  out->n_devices = env->n_devices;
  out->unit = ARENA_NEW(a, nn_real, (int64_t)env->n_units * GDP_UNIT_FEATURES);
  out->device = ARENA_ZERO(a, nn_real, (int64_t)env->n_devices * GDP_DEVICE_FEATURES);
  out->slowness = ARENA_NEW(a, nn_real, (int64_t)env->n_units * env->n_devices);
  if (!out->unit || !out->device || !out->slowness || !list_neighbours(&out->before, env, true, a) ||
      !list_neighbours(&out->after, env, false, a) || !list_kinds(&out->kinds, env, a))
    return NULL;
  out->allowed = env->allowed;
  measures m;
  bool ok = measure(&m, env, a) && describe_devices(out, &m, a) &&
            (out->before.weight = weigh_neighbours(&out->before, env, &m, true, a)) &&
            (out->after.weight = weigh_neighbours(&out->after, env, &m, false, a));
  if (ok) {
    describe_units(out, env, &m);
    compare_classes(out, env);
  }
  return ok ? out : NULL;
}
