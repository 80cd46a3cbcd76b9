#include "view/handovers.h"

#include <string.h>

#include "base/checked.h"
#include "base/disjoint.h"
#include "view/pieces.h"

void handovers_count(handovers *out, const situ_problem *p, const int32_t *device, int32_t *stamp) {
  const situ_graph *g = p->graph;
  out->n = 0;
  out->bytes = 0;
  for (int32_t d = 0; d < p->n_devices; d++) stamp[d] = -1;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    if (problem_is_everywhere(p, t)) continue;
    stamp[device[g->producer[t]]] = t;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = device[g->use[i]];
      if (stamp[to] == t) continue;
      stamp[to] = t;
      out->n++;
      out->bytes = sat_add(out->bytes, g->size_bytes[t]);
    }
  }
}

/* Joins the ends of each edge within a device, and marks operators with a neighbour on another device. */
static void join_neighbours(int32_t *into, bool *crosses, const situ_graph *g, const int32_t *device) {
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t v = g->producer[t];
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t w = g->use[i];
      if (device[v] == device[w])
        disjoint_join(into, v, w);
      else
        crosses[v] = crosses[w] = true;
    }
  }
}

/* Joins pieces without edges to other devices to the first piece of their device that has some, else to each other. */
static void join_lonely(int32_t *into, const bool *crosses, const situ_problem *p, const int32_t *device,
                        int32_t *home) {
  for (int32_t d = 0; d < p->n_devices; d++) home[d] = -1;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (crosses[disjoint_root(into, v)] && home[device[v]] < 0) home[device[v]] = v;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t root = disjoint_root(into, v), *at = &home[device[v]];
    if (crosses[root]) continue;
    if (*at < 0)
      *at = v;
    else if (disjoint_root(into, *at) != root)
      disjoint_join(into, *at, v);
  }
}

static bool find_islands(handovers *out, const situ_problem *p, const int32_t *device, arena *a) {
  int32_t n = p->n_operators, *into, *home;
  bool *crosses;
  if (!ARENA_ARRAYS(a, ARRAY(out->island, n), ARRAY(into, n), ARRAY(home, p->n_devices), ZEROS(crosses, n)))
    return false;
  handovers_count(out, p, device, home);
  disjoint_init(into, n);
  join_neighbours(into, crosses, p->graph, device);
  for (int32_t v = 0; v < n; v++)
    if (crosses[v]) crosses[disjoint_root(into, v)] = true;
  for (int32_t v = 0; v < n; v++) crosses[v] = crosses[disjoint_root(into, v)];
  join_lonely(into, crosses, p, device, home);
  out->n_islands = disjoint_number(out->island, into, n);
  return true;
}

/* A unit belongs to the part of its first operator. */
static bool find_parts(handovers *out, const situ_problem *p, const int32_t *device, arena *a) {
  int32_t *part = ARENA_NEW(a, int32_t, p->n_operators), *units = NULL;
  out->n_parts = part ? pieces_find(part, p, device, a) : -1;
  if (out->n_parts < 0 || !(units = ARENA_ZERO(a, int32_t, out->n_parts))) return false;
  for (int32_t k = 0; k < p->units.n; k++) units[part[unit_list_members(&p->units, k).member[0]]]++;
  for (int32_t k = 0; k < out->n_parts && out->n_parts > 1; k++)
    if (units[k] > 0 && units[k] < out->min_units) out->min_units = units[k];
  return true;
}

bool handovers_find(handovers *out, const situ_problem *p, const int32_t *device, arena *a) {
  *out = (handovers){.min_units = INT32_MAX};
  return find_islands(out, p, device, a) && find_parts(out, p, device, a);
}
