#include "partition/part_search.h"

#include <string.h>

#include "base/checked.h"
#include "base/fail.h"

situ_status device_cut_new(device_cut *x, const part_request *q, arena *a, situ_error *error) {
  const situ_graph *g = q->graph;
  int64_t nodes = 2 + (int64_t)q->n_units + g->n_tensors + g->n_uses;
  int64_t arcs = 2 * (int64_t)q->n_units + 2 * (int64_t)g->n_tensors + 3 * g->n_uses;
  *x = (device_cut){.request = q};
  if (nodes > INT32_MAX / 4 || arcs > INT32_MAX / 4)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, g->model, "the graph has too many edges to be partitioned");
  if (!max_flow_new(&x->flow, (int32_t)nodes, (int32_t)arcs, a) ||
      !ARENA_ARRAYS(a, ARRAY(x->other, q->n_units), ARRAY(x->cheapest, q->n_units), ARRAY(x->received, q->n_devices)))
    return fail_no_memory(error);
  for (int32_t d = 0; d < q->n_devices; d++) x->received[d] = -1;
  return SITU_STATUS_OK;
}

int64_t device_cut_cost(device_cut *x, const int32_t *device, int64_t *n_crossings) {
  const part_request *q = x->request;
  const situ_graph *g = q->graph;
  int64_t cost = 0, n = 0;
  for (int32_t u = 0; u < q->n_units; u++) cost = sat_add(cost, part_unit_cost(q, u, device[u]));
  for (int32_t d = 0; d < q->n_devices; d++) x->received[d] = -1;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    x->received[device[q->unit[g->producer[t]]]] = t;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t d = device[q->unit[g->use[i]]];
      n += x->received[d] != t;
      x->received[d] = t;
    }
  }
  if (n_crossings) *n_crossings = n;
  return sat_add(cost, sat_mul(n, q->crossing_cost));
}

/* An expansion under way: nodes are units, source, sink and nets. A unit on the side of the source stays. */
typedef struct expansion {
  device_cut *x;
  const int32_t *device;
  int32_t to, source, sink, n_nodes;
} expansion;

static bool can_move(const expansion *e, int32_t u) {
  return e->device[u] != e->to && part_allows(e->x->request, u, e->to);
}

/* The readers of a tensor that are now on device d, other than its producer's unit: 1 if one of them stays there for
 * sure, -1 if there is none, else 0. */
static int readers_on(const expansion *e, int32_t t, int32_t d) {
  const part_request *q = e->x->request;
  const situ_graph *g = q->graph;
  int found = -1;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    int32_t u = q->unit[g->use[i]];
    if (e->device[u] != d || u == q->unit[g->producer[t]]) continue;
    if (!can_move(e, u)) return 1;
    found = 0;
  }
  return found;
}

/* Device d, which is not `to`, receives tensor t as long as a reader stays there, unless the producer is there too. */
static void add_leaving(expansion *e, int32_t t, int32_t d) {
  const part_request *q = e->x->request;
  const situ_graph *g = q->graph;
  max_flow *f = &e->x->flow;
  int32_t from = q->unit[g->producer[t]];
  bool here = e->device[from] == d;
  int readers = readers_on(e, t, d);
  if (readers < 0 || (here && !can_move(e, from)) || (!here && readers > 0)) return;
  if (readers > 0) {
    max_flow_add(f, e->source, from, q->crossing_cost);
    return;
  }
  int32_t net = e->n_nodes++;
  max_flow_add(f, net, here ? from : e->sink, q->crossing_cost);
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    int32_t u = q->unit[g->use[i]];
    if (u != from && e->device[u] == d) max_flow_add(f, u, net, MAX_FLOW_ENDLESS);
  }
}

/* Device `to` receives tensor t as soon as a reader is there and the producer is not. */
static void add_arriving(expansion *e, int32_t t) {
  const part_request *q = e->x->request;
  const situ_graph *g = q->graph;
  max_flow *f = &e->x->flow;
  int32_t from = q->unit[g->producer[t]];
  bool moves = can_move(e, from);
  if (e->device[from] == e->to) return;
  if (readers_on(e, t, e->to) > 0) {
    if (moves) max_flow_add(f, from, e->sink, q->crossing_cost);
    return;
  }
  int32_t net = -1;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    int32_t u = q->unit[g->use[i]];
    if (u == from || !can_move(e, u)) continue;
    if (net < 0) {
      net = e->n_nodes++;
      max_flow_add(f, moves ? from : e->source, net, q->crossing_cost);
    }
    max_flow_add(f, net, u, MAX_FLOW_ENDLESS);
  }
}

static void add_tensor(expansion *e, int32_t t) {
  const part_request *q = e->x->request;
  const situ_graph *g = q->graph;
  int32_t *seen = e->x->received;
  add_arriving(e, t);
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) seen[e->device[q->unit[g->use[i]]]] = -1;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    int32_t d = e->device[q->unit[g->use[i]]];
    if (d == e->to || seen[d] == t) continue;
    seen[d] = t;
    add_leaving(e, t, d);
  }
}

bool device_cut_expand(device_cut *x, int32_t *device, int32_t to, budget *b) {
  const part_request *q = x->request;
  expansion e = {.x = x, .device = device, .to = to, .source = q->n_units, .sink = q->n_units + 1};
  e.n_nodes = q->n_units + 2;
  max_flow_clear(&x->flow, q->n_units + 2 + q->graph->n_tensors + (int32_t)q->graph->n_uses);
  for (int32_t u = 0; u < q->n_units; u++) {
    if (!can_move(&e, u)) continue;
    max_flow_add(&x->flow, u, e.sink, part_unit_cost(q, u, device[u]));
    max_flow_add(&x->flow, e.source, u, part_unit_cost(q, u, to));
  }
  for (int32_t t = 0; t < q->graph->n_tensors; t++) add_tensor(&e, t);
  x->flow.n_nodes = e.n_nodes;
  max_flow_run(&x->flow, e.source, e.sink, b);
  for (int32_t u = 0; u < q->n_units; u++)
    x->other[u] = can_move(&e, u) && !max_flow_with_source(&x->flow, u) ? to : device[u];
  if (device_cut_cost(x, x->other, NULL) >= device_cut_cost(x, device, NULL)) return false;
  memcpy(device, x->other, (size_t)q->n_units * sizeof *device);
  return true;
}

/* Whether no device may run both units. */
static bool are_apart(const part_request *q, int32_t u, int32_t v) {
  for (int32_t d = 0; d < q->n_devices; d++)
    if (part_allows(q, u, d) && part_allows(q, v, d)) return false;
  return true;
}

static int64_t simple_bound(const part_request *q) {
  const situ_graph *g = q->graph;
  int64_t sum = 0;
  for (int32_t u = 0; u < q->n_units; u++) {
    int64_t cheapest = INT64_MAX;
    for (int32_t d = 0; d < q->n_devices; d++)
      if (part_allows(q, u, d)) cheapest = min64(cheapest, part_unit_cost(q, u, d));
    sum = sat_add(sum, cheapest);
  }
  for (int32_t t = 0; t < g->n_tensors; t++) {
    bool crosses = false;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1] && !crosses; i++)
      crosses = are_apart(q, q->unit[g->producer[t]], q->unit[g->use[i]]);
    if (crosses) sum = sat_add(sum, q->crossing_cost);
  }
  return sum;
}

int64_t device_cut_bound(device_cut *x, budget *b) {
  const part_request *q = x->request;
  int32_t used[2] = {0, 0}, n_used = 0;
  for (int32_t d = 0; d < q->n_devices && n_used < 3; d++) {
    bool any = false;
    for (int32_t u = 0; u < q->n_units && !any; u++) any = part_allows(q, u, d);
    if (any && n_used < 2) used[n_used] = d;
    n_used += any;
  }
  if (n_used > 2) return simple_bound(q);
  for (int32_t u = 0; u < q->n_units; u++) x->cheapest[u] = part_allows(q, u, used[0]) ? used[0] : used[1];
  if (n_used == 2) device_cut_expand(x, x->cheapest, used[1], b);
  return budget_over(b) ? simple_bound(q) : device_cut_cost(x, x->cheapest, NULL);
}
