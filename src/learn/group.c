#include "learn/group.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/disjoint.h"
#include "solve/stream/rank.h"

enum { SPARE = 4 }; /* a group leaves room for so many of its size */

/* Two units that a tensor joins, and what it costs to part them. */
typedef struct bond {
  double cost;
  int32_t from, to;
} bond;

typedef struct grouper {
  world *world;
  int32_t *parent; /* [unit] a forest; of roots the rest holds */
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

/* Whether some device may run both groups and has room to spare for them. */
static bool may_share(const grouper *g, int32_t a, int32_t b) {
  const world *w = g->world;
  const situ_problem *p = w->problem;
  int64_t weight = sat_add(w->weight_bytes[a], w->weight_bytes[b]);
  const bool *one = w->allowed + (int64_t)a * w->n_devices, *other = w->allowed + (int64_t)b * w->n_devices;
  for (int32_t d = 0; d < w->n_devices; d++)
    if (one[d] && other[d] && weight <= p->platform->memory_bytes[p->memory_of[d]] / SPARE) return true;
  return false;
}

/* Joins the groups of two units where that is allowed and their work is within the limit. */
static void join(grouper *g, int32_t u, int32_t v, double limit) {
  world *w = g->world;
  int32_t a = disjoint_root(g->parent, u), b = disjoint_root(g->parent, v);
  if (a == b || g->work[a] + g->work[b] > limit || !may_share(g, a, b)) return;
  g->parent[b] = a;
  g->work[a] += g->work[b];
  w->weight_bytes[a] = sat_add(w->weight_bytes[a], w->weight_bytes[b]);
  for (int32_t d = 0; d < w->n_devices; d++)
    w->allowed[(int64_t)a * w->n_devices + d] &= w->allowed[(int64_t)b * w->n_devices + d];
  g->n_groups--;
}

static bool find_bonds(grouper *g, const rank_costs *costs, arena *a) {
  const situ_graph *graph = g->world->problem->graph;
  const int32_t *unit_of = g->world->unit_of;
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
  for (int32_t u = 1; u < g->world->n_units && g->n_groups > g->most; u++) join(g, u - 1, u, 2 * total + 1);
}

static bool group(world *w, int32_t most, arena *a) {
  grouper g = {.world = w, .n_groups = w->n_units, .most = most};
  rank_costs costs;
  double total = 0;
  g.parent = ARENA_NEW(a, int32_t, w->n_units);
  g.work = ARENA_ZERO(a, double, w->n_units);
  if (!g.parent || !g.work || !rank_costs_find(&costs, a, w->problem, RANK_MEAN) || !find_bonds(&g, &costs, a))
    return false;
  for (int32_t v = 0; v < w->problem->n_operators; v++) {
    g.work[w->unit_of[v]] += costs.work[v];
    total += costs.work[v];
  }
  disjoint_init(g.parent, w->n_units);
  join_all(&g, total);
  for (int32_t u = 0; u < w->n_units; u++) g.parent[u] = disjoint_root(g.parent, u);
  world_join(w, g.parent);
  return true;
}

bool world_group(world *w, int32_t most, arena *a) {
  if (w->n_units <= most) return true;
  arena_mark mark = arena_get_mark(a);
  bool done = group(w, most, a);
  arena_release(a, mark);
  return done;
}
