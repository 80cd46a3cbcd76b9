#include "learn/group.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/disjoint.h"
#include "solve/stream/rank.h"

enum { SPARE = 4 }; /* a group's weights fill at most this fraction (1 / SPARE) of a memory */

/* Two units joined by a tensor, and the cost of separating them. */
typedef struct bond {
  double cost;
  int32_t from, to;
} bond;

typedef struct grouper {
  environment *env;
  int32_t *parent; /* [unit] a forest; the arrays below hold for its roots */
  double *work;
  int32_t n_groups, most;
  bond *bonds;
  int64_t n_bonds;
} grouper;

static int by_cost(const void *x, const void *y) {
  const bond *a = x, *b = y;
  if (a->cost != b->cost) return a->cost > b->cost ? -1 : 1;
  if (a->from != b->from) return a->from < b->from ? -1 : 1;
  return (a->to > b->to) - (a->to < b->to);
}

/* Whether some device may run both groups and has space to spare for them. */
static bool may_share(const grouper *g, int32_t a, int32_t b) {
  const environment *env = g->env;
  const situ_problem *p = env->problem;
  int64_t weight = sat_add(env->weight_bytes[a], env->weight_bytes[b]);
  const bool *one = env->allowed + (int64_t)a * env->n_devices, *other = env->allowed + (int64_t)b * env->n_devices;
  for (int32_t d = 0; d < env->n_devices; d++)
    if (one[d] && other[d] && weight <= p->platform->memory_bytes[p->memory_of[d]] / SPARE) return true;
  return false;
}

/* Joins the groups of two units if that is allowed and their work stays within the limit. */
static void join(grouper *g, int32_t u, int32_t v, double limit) {
  environment *env = g->env;
  int32_t a = disjoint_root(g->parent, u), b = disjoint_root(g->parent, v);
  if (a == b || g->work[a] + g->work[b] > limit || !may_share(g, a, b)) return;
  g->parent[b] = a;
  g->work[a] += g->work[b];
  env->weight_bytes[a] = sat_add(env->weight_bytes[a], env->weight_bytes[b]);
  for (int32_t d = 0; d < env->n_devices; d++)
    env->allowed[(int64_t)a * env->n_devices + d] &= env->allowed[(int64_t)b * env->n_devices + d];
  g->n_groups--;
}

static bool find_bonds(grouper *g, const rank_costs *costs, arena *a) {
  const situ_graph *graph = g->env->problem->graph;
  const int32_t *unit_of = g->env->unit_of;
  g->bonds = ARENA_NEW(a, bond, graph->n_uses);
  if (!g->bonds) return false;
  for (int32_t t = 0; t < graph->n_tensors; t++)
    for (int64_t i = graph->use_start[t]; i < graph->use_start[t + 1]; i++) {
      int32_t from = unit_of[graph->producer[t]], to = unit_of[graph->use[i]];
      if (from != to) g->bonds[g->n_bonds++] = (bond){costs->transfer[t], from, to};
    }
  qsort(g->bonds, (size_t)g->n_bonds, sizeof *g->bonds, by_cost);
  return true;
}

static void join_all(grouper *g, double total) {
  double limit = 2 * total / g->most;
  for (bool last = false; !last && g->n_groups > g->most; limit *= 2) {
    last = limit > total;
    for (int64_t i = 0; i < g->n_bonds && g->n_groups > g->most; i++)
      join(g, g->bonds[i].from, g->bonds[i].to, last ? 2 * total + 1 : limit);
  }
  for (int32_t u = 1; u < g->env->n_units && g->n_groups > g->most; u++) join(g, u - 1, u, 2 * total + 1);
}

static bool group(environment *env, int32_t most, arena *a) {
  grouper g = {.env = env, .n_groups = env->n_units, .most = most};
  rank_costs costs;
  double total = 0;
  if (!ARENA_ARRAYS(a, ARRAY(g.parent, env->n_units), ZEROS(g.work, env->n_units)) ||
      !rank_costs_find(&costs, a, env->problem, RANK_MEAN) || !find_bonds(&g, &costs, a))
    return false;
  for (int32_t v = 0; v < env->problem->n_operators; v++) {
    g.work[env->unit_of[v]] += costs.work[v];
    total += costs.work[v];
  }
  disjoint_init(g.parent, env->n_units);
  join_all(&g, total);
  for (int32_t u = 0; u < env->n_units; u++) g.parent[u] = disjoint_root(g.parent, u);
  environment_join(env, g.parent);
  return true;
}

bool environment_group(environment *env, int32_t most, arena *a) {
  REQUIRE(most >= 1);
  if (env->n_units <= most) return true;
  arena_mark mark = arena_get_mark(a);
  bool done = group(env, most, a);
  arena_release(a, mark);
  return done;
}
