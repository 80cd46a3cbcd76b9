/* Groups, for policies that take one decision after the other: the units whose tensors are the most expensive to cut
 * are joined, by heavy edges (Karypis, Kumar, "A fast and high quality multilevel scheme for partitioning irregular
 * graphs", 1998), under a limit on the work of a group that doubles until few enough are left: 2, 4, 8, ... times an
 * equal share. What no tensor joins is then joined along the numbers of units. Groups keep a device that may run all of
 * them and has four times the room of their weights, so that they still pack. */
#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/disjoint.h"
#include "view/level.h"

enum { SPARE = 4 }; /* a group's weights fill at most this fraction (1 / SPARE) of a memory */

/* Two units joined by a tensor, and the cost of separating them. */
typedef struct bond {
  double cost;
  int32_t from, to;
} bond;

typedef struct grouper {
  const situ_problem *p;
  const unit_list *fine;
  int32_t *parent; /* [unit] a forest; the arrays below hold for its roots */
  double *work_ns;
  int64_t *weight_bytes;
  bool *allowed; /* [unit * n_devices] */
  int32_t n_groups, max_groups;
  bond *bonds;
  int64_t n_bonds;
} grouper;

COMPARATOR(by_cost, bond, DOWN(cost) UP(from) UP(to))

/* Whether some device may run both groups and has space to spare for them. */
static bool may_share(const grouper *g, int32_t a, int32_t b) {
  const situ_problem *p = g->p;
  int64_t weight = sat_add(g->weight_bytes[a], g->weight_bytes[b]);
  const bool *one = g->allowed + (int64_t)a * p->n_devices, *other = g->allowed + (int64_t)b * p->n_devices;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (one[d] && other[d] && weight <= p->platform->memory_bytes[p->memory_of[d]] / SPARE) return true;
  return false;
}

/* Joins the groups of two units if that is allowed and their work stays within the limit. */
static void join(grouper *g, int32_t u, int32_t v, double limit_ns) {
  int32_t a = disjoint_root(g->parent, u), b = disjoint_root(g->parent, v), n = g->p->n_devices;
  if (a == b || g->work_ns[a] + g->work_ns[b] > limit_ns || !may_share(g, a, b)) return;
  g->parent[b] = a;
  g->work_ns[a] += g->work_ns[b];
  g->weight_bytes[a] = sat_add(g->weight_bytes[a], g->weight_bytes[b]);
  for (int32_t d = 0; d < n; d++) g->allowed[(int64_t)a * n + d] &= g->allowed[(int64_t)b * n + d];
  g->n_groups--;
}

static bool find_bonds(grouper *g, const double *transfer_ns, arena *a) {
  const situ_graph *graph = g->p->graph;
  g->bonds = ARENA_NEW(a, bond, graph->n_uses);
  if (!g->bonds) return false;
  for (int32_t t = 0; t < graph->n_tensors; t++)
    for (int64_t i = graph->use_start[t]; i < graph->use_start[t + 1]; i++) {
      int32_t from = g->fine->of[graph->producer[t]], to = g->fine->of[graph->use[i]];
      if (from != to) g->bonds[g->n_bonds++] = (bond){transfer_ns[t], from, to};
    }
  qsort(g->bonds, (size_t)g->n_bonds, sizeof *g->bonds, by_cost);
  return true;
}

static void join_all(grouper *g, double total_ns) {
  double limit = 2 * total_ns / g->max_groups;
  for (bool last = false; !last && g->n_groups > g->max_groups; limit *= 2) {
    last = limit > total_ns;
    for (int64_t i = 0; i < g->n_bonds && g->n_groups > g->max_groups; i++)
      join(g, g->bonds[i].from, g->bonds[i].to, last ? 2 * total_ns + 1 : limit);
  }
  for (int32_t u = 1; u < g->fine->n && g->n_groups > g->max_groups; u++) join(g, u - 1, u, 2 * total_ns + 1);
}

/* Sums up the units; returns all work. */
static double sum_units(grouper *g, const double *work_ns) {
  const situ_problem *p = g->p;
  double total_ns = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t u = g->fine->of[v];
    g->work_ns[u] += work_ns[v];
    g->weight_bytes[u] = sat_add(g->weight_bytes[u], p->graph->weight_bytes[v]);
    total_ns += work_ns[v];
  }
  for (int32_t u = 0; u < g->fine->n; u++)
    for (int32_t d = 0; d < p->n_devices; d++)
      g->allowed[(int64_t)u * p->n_devices + d] = problem_allows_all(p, unit_list_members(g->fine, u), d);
  return total_ns;
}

/* O(E log E + units x devices). */
static bool groups_find(level_list *out, const situ_problem *p, const level_request *request, arena *a) {
  grouper g = {.p = p, .fine = request->fine ? request->fine : &p->units, .max_groups = request->n_wanted};
  int32_t n = g.n_groups = g.fine->n, *key;
  out->n = 0;
  if (n <= g.max_groups) return true;
  if (!ARENA_ARRAYS(a, ARRAY(g.parent, n), ZEROS(g.work_ns, n), ZEROS(g.weight_bytes, n),
                    ARRAY(g.allowed, (int64_t)n * p->n_devices), ARRAY(key, p->n_operators)) ||
      !find_bonds(&g, request->transfer_ns, a))
    return false;
  disjoint_init(g.parent, n);
  join_all(&g, sum_units(&g, request->work_ns));
  for (int32_t v = 0; v < p->n_operators; v++) key[v] = disjoint_root(g.parent, g.fine->of[v]);
  return unit_list_find(&out->of[out->n++], key, p->n_operators, n, a);
}

const level_row level_groups = {
    .name = "groups",
    .title = "few units, joined by the tensors that are the most expensive to cut",
    .source = "Karypis, Kumar, 1998",
    .find = groups_find,
};
