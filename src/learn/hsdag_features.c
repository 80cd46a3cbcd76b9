#include "learn/hsdag_features.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"

enum { MAX_DEGREE = 7, POSITION_COLUMNS = 16, SIDES = 4, TIMES = 3, MAX_REACHED = 4096 };

const char *const hsdag_feature_names[HSDAG_N_FEATURES] = {
    [HSDAG_KINDS] = "kinds",         [HSDAG_DEGREES] = "degrees",   [HSDAG_FRACTAL] = "fractal",
    [HSDAG_CLOSENESS] = "closeness", [HSDAG_POSITION] = "position", [HSDAG_SHAPE] = "shape",
    [HSDAG_INDEX] = "index",         [HSDAG_TIMES] = "times",
};

/* ---- distances ---- */

typedef struct searcher {
  const group_lists *next;
  int32_t *seen, *queue; /* [group] the search that saw it last */
} searcher;

static bool searcher_init(searcher *s, const group_lists *next, int32_t n, arena *a) {
  *s = (searcher){next, ARENA_NEW(a, int32_t, n), ARENA_NEW(a, int32_t, n)};
  for (int32_t g = 0; s->seen && g < n; g++) s->seen[g] = -1;
  return s->seen && s->queue;
}

/* Breadth-first search from a group. Calls `at` for each distance 1, 2, ... with the number of groups there. Returns
 * how many were reached, the start excluded. */
static int32_t hsdag_features_search(searcher *s, int32_t start, void (*at)(void *context, int32_t distance, int32_t n),
                                     void *context) {
  int32_t first = 0, end = 1, n = 1;
  s->queue[0] = start;
  s->seen[start] = start;
  for (int32_t distance = 1; first < end && n <= MAX_REACHED; distance++, first = end, end = n) {
    for (int32_t i = first; i < end; i++)
      for (int32_t k = s->next->start[s->queue[i]]; k < s->next->start[s->queue[i] + 1]; k++) {
        int32_t to = s->next->to[k];
        if (s->seen[to] == start) continue;
        s->seen[to] = start;
        s->queue[n++] = to;
      }
    if (n > end) at(context, distance, n - end);
  }
  return n - 1;
}

/* Sums for a least-squares line. */
typedef struct line {
  double n, x, y, xx, xy;
  int32_t reached;
} line;

static void add_point(line *l, double x, double y) {
  l->n += 1;
  l->x += x;
  l->y += y;
  l->xx += x * x;
  l->xy += x * y;
}

static void add_radius(void *context, int32_t distance, int32_t n) {
  line *l = context;
  l->reached += n;
  add_point(l, log(distance), log(l->reached));
}

bool hsdag_fractal_dimensions(double *out, const group_lists *next, int32_t n, bool as_published, arena *a) {
  searcher s;
  if (!searcher_init(&s, next, n, a)) return false;
  for (int32_t g = 0; g < n; g++) {
    line l = {0};
    int32_t reached = hsdag_features_search(&s, g, add_radius, &l);
    if (as_published && reached < n - 1) add_point(&l, log(DBL_MAX), log(n - 1));
    out[g] = l.n < 2 ? 0 : (l.n * l.xy - l.x * l.y) / (l.n * l.xx - l.x * l.x);
  }
  return true;
}

static void add_distance(void *context, int32_t distance, int32_t n) { *(double *)context += (double)distance * n; }

bool hsdag_closeness(double *out, const group_lists *before, int32_t n, arena *a) {
  searcher s;
  if (!searcher_init(&s, before, n, a)) return false;
  for (int32_t g = 0; g < n; g++) {
    double sum = 0, reached = hsdag_features_search(&s, g, add_distance, &sum);
    out[g] = sum > 0 ? reached / sum * reached / (n - 1) : 0;
  }
  return true;
}

/* ---- columns ---- */

typedef struct maker {
  const environment *env;
  const hsdag_groups *groups;
  const hsdag_choice *choice;
  double *number;        /* [group] scratch */
  int32_t device[TIMES]; /* whose times are features; -1: the minimum for each group */
} maker;

/* Calls `at` for each operator of the group. Returns their number. */
static int32_t each_operator(const maker *m, int32_t group, void (*at)(const maker *m, nn_real *row, int32_t v),
                             nn_real *row) {
  const environment *env = m->env;
  int32_t n = 0;
  for (int32_t i = m->groups->member_start[group]; i < m->groups->member_start[group + 1]; i++)
    for (int32_t k = env->member_start[m->groups->member[i]]; k < env->member_start[m->groups->member[i] + 1]; k++, n++)
      at(m, row, env->member[k]);
  return n;
}

static void add_kind(const maker *m, nn_real *row, int32_t v) {
  int32_t column = m->choice->kind_column[m->env->problem->graph->kind[v]];
  if (column >= 0) row[column] += 1;
}

/* Adds the shape of v. An unknown shape counts as 1 x 100 x 100 x 100, as published. */
static void add_shape(const maker *m, nn_real *row, int32_t v) {
  const situ_graph *g = m->env->problem->graph;
  int32_t last = g->out_start[v + 1] - 1;
  if (last < g->out_start[v]) return;
  bool known = g->rank[last] >= 0;
  const int64_t *side = g->dims + g->dims_start[last];
  for (int32_t i = 0; known && i < g->rank[last]; i++) known = side[i] >= 0;
  for (int32_t i = 0; i < SIDES; i++) {
    double x = !known ? (i == 0 ? 1 : 100) : i < g->rank[last] ? (double)side[i] : 0;
    row[i] += (nn_real)(log2(1 + x) / 16);
  }
}

static void divide(nn_real *row, int32_t columns, int32_t by) {
  if (by == 0) return; /* a constant */
  for (int32_t i = 0; i < columns; i++) row[i] /= (nn_real)by;
}

static void fill_degrees(const hsdag_groups *groups, int32_t g, nn_real *row) {
  row[min64(groups->before.start[g + 1] - groups->before.start[g], MAX_DEGREE)] = 1;
  row[MAX_DEGREE + 1 + min64(groups->next.start[g + 1] - groups->next.start[g], MAX_DEGREE)] = 1;
}

static void fill_position(int32_t place, nn_real *row) {
  for (int32_t i = 0; i < POSITION_COLUMNS; i += 2) {
    double angle = place / pow(10000, (double)i / POSITION_COLUMNS);
    row[i] = (nn_real)sin(angle);
    row[i + 1] = (nn_real)cos(angle);
  }
}

static int64_t group_time_ns(const maker *m, int32_t group, int32_t device) {
  const environment *env = m->env;
  int64_t sum = 0;
  for (int32_t i = m->groups->member_start[group]; i < m->groups->member_start[group + 1]; i++)
    for (int32_t k = env->member_start[m->groups->member[i]]; k < env->member_start[m->groups->member[i] + 1]; k++)
      sum = sat_add(sum, problem_time_ns(env->problem, env->member[k], device));
  return sum;
}

static void fill_times(const maker *m, int32_t group, nn_real *row) {
  const environment *env = m->env;
  for (int32_t i = 0; i < TIMES; i++) {
    int64_t time = SITU_NEVER_NS;
    for (int32_t d = 0; d < env->n_devices; d++)
      if (m->device[i] < 0 || m->device[i] == d) time = min64(time, group_time_ns(m, group, d));
    row[i] = (nn_real)(time == SITU_NEVER_NS ? -1 : log1p((double)time * m->groups->n / (double)env->scale_ns) / 4);
  }
}

/* The device on which all operators together take the minimum time; the first one where none runs all. */
static int32_t best_device(const situ_problem *p) {
  int32_t best = 0;
  int64_t min = SITU_NEVER_NS;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int64_t sum = 0;
    for (int32_t v = 0; v < p->n_operators; v++) sum = sat_add(sum, problem_time_ns(p, v, d));
    if (sum >= min) continue;
    min = sum;
    best = d;
  }
  return best;
}

static void fill_row(const maker *m, hsdag_feature feature, int32_t g, nn_real *row) {
  switch (feature) {
    case HSDAG_KINDS:
      divide(row, m->choice->n_kind_columns, each_operator(m, g, add_kind, row));
      if (g < m->groups->n_constants && m->choice->constant_column >= 0) row[m->choice->constant_column] = 1;
      break;
    case HSDAG_DEGREES: fill_degrees(m->groups, g, row); break;
    case HSDAG_FRACTAL:
    case HSDAG_CLOSENESS: row[0] = (nn_real)m->number[g]; break;
    case HSDAG_POSITION: fill_position(m->groups->place[g], row); break;
    case HSDAG_SHAPE: divide(row, SIDES, each_operator(m, g, add_shape, row)); break;
    case HSDAG_INDEX: row[0] = (nn_real)g / (m->choice->as_published ? 1 : (nn_real)m->groups->n); break;
    case HSDAG_TIMES: fill_times(m, g, row); break;
    case HSDAG_N_FEATURES: break;
  }
}

static int32_t columns_of(hsdag_feature feature, int32_t n_kind_columns) {
  switch (feature) {
    case HSDAG_KINDS: return n_kind_columns;
    case HSDAG_DEGREES: return 2 * (MAX_DEGREE + 1);
    case HSDAG_POSITION: return POSITION_COLUMNS;
    case HSDAG_SHAPE: return SIDES;
    case HSDAG_TIMES: return TIMES;
    default: return 1;
  }
}

int32_t hsdag_features_count(int32_t n_kind_columns) {
  int32_t n = 0;
  for (int32_t f = 0; f < HSDAG_N_FEATURES; f++) n += columns_of((hsdag_feature)f, n_kind_columns);
  return n;
}

/* Whether this column of the feature can be nonzero. Kinds that the graph does not have leave empty columns. */
static bool is_used(const maker *m, hsdag_feature feature, int32_t column) {
  bool any = feature != HSDAG_KINDS || (m->groups->n_constants > 0 && column == m->choice->constant_column);
  for (int32_t k = 0; k < m->env->problem->graph->n_kinds && !any; k++) any = m->choice->kind_column[k] == column;
  return any;
}

bool hsdag_features_find(nn_real *value, nn_real *used, const hsdag_choice *choice, const environment *env,
                         const hsdag_groups *groups, arena *a) {
  REQUIRE(contracts_within(choice->kind_column, env->problem->graph->n_kinds, -1, choice->n_kind_columns));
  int32_t stride = hsdag_features_count(choice->n_kind_columns), n = groups->n;
  maker m = {env, groups, choice, ARENA_NEW(a, double, n), {best_device(env->problem), env->problem->host, -1}};
  if (!m.number) return false;
  memset(value, 0, (size_t)n * (size_t)stride * sizeof *value);
  for (int32_t f = 0, first = 0, end; f < HSDAG_N_FEATURES; f++, first = end) {
    bool wanted = choice->set >> f & 1;
    end = first + columns_of((hsdag_feature)f, choice->n_kind_columns);
    for (int32_t c = first; c < end; c++) used[c] = wanted && is_used(&m, (hsdag_feature)f, c - first);
    if (!wanted) continue;
    if (f == HSDAG_FRACTAL && !hsdag_fractal_dimensions(m.number, &groups->next, n, choice->as_published, a))
      return false;
    if (f == HSDAG_CLOSENESS && !hsdag_closeness(m.number, &groups->before, n, a)) return false;
    for (int32_t g = 0; g < n; g++) fill_row(&m, (hsdag_feature)f, g, value + (int64_t)g * stride + first);
  }
  return true;
}
