#include "solve/calls/call_pack.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/contracts.h"
#include "base/disjoint.h"
#include "view/equal_devices.h"
#include "view/footprint.h"
#include "view/unit.h"

enum { MAX_TRIES = 20000 };

/* What must be on one device: a call, or several that share a colocation group. */
typedef struct item {
  int64_t weight_bytes, footprint_bytes;
  int32_t n_calls;
  int32_t first, index; /* first: a unit, chained by `next` */
} item;

typedef struct span {
  int64_t start_ns, finish_ns;
  int32_t unit;
} span;

typedef struct packing {
  const call_graph *g;
  const situ_problem *p;
  const int32_t *unit;
  const bool *host;
  int32_t n_units, n_items;
  int32_t *root, *next;          /* [unit] */
  int64_t *start_ns, *finish_ns; /* [unit] */
  item *items;
  bool *allowed;                           /* [unit * n_devices] */
  int32_t *device_of;                      /* [unit] */
  int64_t *weight_bytes, *footprint_bytes; /* [memory] in use */
  int32_t *n_calls;                        /* [device] */
  equal_devices equal;                     /* at EQUAL_STAGED */
  int32_t tries;
} packing;

static int32_t pack_of(const packing *k, int32_t v) {
  int32_t node = k->g->node_of[v];
  return node < 0 ? -1 : k->unit[node];
}

/* Finds the duration of each unit. */
static void time_units(packing *k, int64_t *lasts_ns) {
  const call_graph *g = k->g;
  for (int32_t u = 0; u < k->n_units; u++) k->start_ns[u] = lasts_ns[u] = 0;
  for (int32_t v = 0; v < g->n; v++) lasts_ns[k->unit[v]] += k->host[k->unit[v]] ? g->host_ns[v] : g->call_ns[v];
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = k->unit[g->producer[t]];
    bool leaves = false;
    for (int32_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = k->unit[g->use[i]];
      bool first = to != from;
      leaves |= first;
      for (int32_t j = g->use_start[t]; j < i && first; j++) first = k->unit[g->use[j]] != to;
      if (first && !k->host[to]) lasts_ns[to] += g->in_ns[t];
    }
    if (leaves && !k->host[from]) lasts_ns[from] += g->out_ns[t];
  }
}

static int compare_node_units(const void *left, const void *right) {
  const int32_t *a = left, *b = right;
  return a[0] != b[0] ? (a[0] > b[0]) - (a[0] < b[0]) : (a[1] > b[1]) - (a[1] < b[1]);
}

/* Start and end of each unit when all start as early as possible, and those tied to one device run in order of
 * number. */
static bool find_times(packing *k, arena *a) {
  const call_graph *g = k->g;
  int64_t *lasts_ns = ARENA_NEW(a, int64_t, k->n_units);
  int32_t *by_unit = ARENA_NEW(a, int32_t, 2 * (int64_t)g->n);
  int64_t *free_ns = ARENA_ZERO(a, int64_t, k->n_units); /* [root] end of its last call */
  if (!lasts_ns || !by_unit || !free_ns) return false;
  time_units(k, lasts_ns);
  for (int32_t v = 0; v < g->n; v++) {
    by_unit[2 * v] = k->unit[v];
    by_unit[2 * v + 1] = v;
  }
  qsort(by_unit, (size_t)g->n, 2 * sizeof *by_unit, compare_node_units);
  for (int32_t j = 0; j < g->n; j++) {
    int32_t v = by_unit[2 * j + 1], u = by_unit[2 * j];
    for (int32_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t from = k->unit[g->producer[g->in[i]]];
      if (from != u) k->start_ns[u] = max64(k->start_ns[u], k->finish_ns[from]);
    }
    int32_t root = disjoint_root(k->root, u);
    if (!k->host[u]) k->start_ns[u] = max64(k->start_ns[u], free_ns[root]);
    k->finish_ns[u] = k->start_ns[u] + lasts_ns[u];
    if (j + 1 == g->n || by_unit[2 * j + 2] != u) free_ns[root] = max64(free_ns[root], k->finish_ns[u]);
  }
  return true;
}

/* Joins the calls that share a unit of the problem. False where such a unit is both in calls and on hosts. */
static bool join_units(packing *k) {
  const situ_problem *p = k->p;
  for (int32_t c = 0; c < p->units.n; c++) {
    unit_members together = unit_list_members(&p->units, c);
    int32_t first = pack_of(k, together.member[0]);
    for (int32_t i = 1; i < together.n; i++) {
      int32_t u = pack_of(k, together.member[i]);
      if (u < 0 || first < 0 || k->host[u] != k->host[first]) return false;
      if (!k->host[u]) disjoint_join(k->root, u, first);
    }
  }
  return true;
}

COMPARATOR(compare_items, item, DOWN(weight_bytes) UP(index))

COMPARATOR(compare_starts, span, UP(start_ns) UP(finish_ns) UP(unit))

static void list_items(packing *k) {
  const situ_problem *p = k->p;
  int32_t *item_of = k->device_of; /* not otherwise in use yet */
  for (int32_t u = 0; u < k->n_units; u++) {
    if (k->host[u]) continue;
    int32_t r = disjoint_root(k->root, u);
    if (r == u) {
      item_of[u] = k->n_items;
      k->items[k->n_items] = (item){.first = -1, .index = k->n_items};
      k->n_items++;
    }
    item *it = &k->items[item_of[r]];
    k->next[u] = it->first;
    it->first = u;
    it->n_calls++;
  }
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t u = pack_of(k, v);
    if (u < 0 || k->host[u]) continue;
    item *it = &k->items[item_of[disjoint_root(k->root, u)]];
    it->weight_bytes = sat_add(it->weight_bytes, p->graph->weight_bytes[v]);
    it->footprint_bytes = max64(it->footprint_bytes, footprint_bytes(p->graph, v));
    for (int32_t d = 0; d < p->n_devices; d++)
      if (!problem_allows(p, v, d) || problem_is_host(p, d)) k->allowed[(int64_t)u * p->n_devices + d] = false;
  }
  qsort(k->items, (size_t)k->n_items, sizeof *k->items, compare_items);
}

/* Whether nothing of the item overlaps another call of the device. */
static bool is_free(const packing *k, const item *it, int32_t d) {
  for (int32_t u = it->first; u >= 0; u = k->next[u]) {
    if (!k->allowed[(int64_t)u * k->p->n_devices + d]) return false;
    for (int32_t w = 0; w < k->n_units; w++)
      if (w != u && k->device_of[w] == d && k->start_ns[u] < k->finish_ns[w] && k->start_ns[w] < k->finish_ns[u])
        return false;
  }
  for (int32_t u = it->first; u >= 0; u = k->next[u])
    for (int32_t w = k->next[u]; w >= 0; w = k->next[w])
      if (k->start_ns[u] < k->finish_ns[w] && k->start_ns[w] < k->finish_ns[u]) return false;
  return true;
}

static bool is_empty(const packing *k, int32_t d) {
  int32_t m = k->p->memory_of[d];
  return k->weight_bytes[m] == 0 && k->footprint_bytes[m] == 0 && k->n_calls[d] == 0;
}

/* Whether an earlier device of the same type is equally empty, so that this one need not be tried. */
static bool is_same_as_before(const packing *k, int32_t d) {
  const device_type *type = &k->equal.types[k->equal.type_of[d]];
  bool found = false;
  for (int32_t i = 0; type->devices[i] < d && !found; i++) found = is_empty(k, type->devices[i]);
  return found && is_empty(k, d);
}

/* Places items from `at` on. Devices are tried in order; best fit would do as well. */
static bool place(packing *k, int32_t at) {
  const situ_problem *p = k->p;
  if (at == k->n_items) return true;
  const item *it = &k->items[at];
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (problem_is_host(p, d) || p->unused[d] || is_same_as_before(k, d)) continue;
    if (k->tries++ > MAX_TRIES) return false;
    int32_t w = p->memory_of[d];
    int64_t weights = sat_add(k->weight_bytes[w], it->weight_bytes), before = k->weight_bytes[w];
    int64_t footprint = max64(k->footprint_bytes[w], it->footprint_bytes), footprint_before = k->footprint_bytes[w];
    if (sat_add(weights, footprint) > p->platform->memory_bytes[w] || k->n_calls[d] + it->n_calls > p->max_calls ||
        !is_free(k, it, d))
      continue;
    k->weight_bytes[w] = weights;
    k->footprint_bytes[w] = footprint;
    k->n_calls[d] += it->n_calls;
    for (int32_t u = it->first; u >= 0; u = k->next[u]) k->device_of[u] = d;
    if (place(k, at + 1)) return true;
    for (int32_t u = it->first; u >= 0; u = k->next[u]) k->device_of[u] = -1;
    k->n_calls[d] -= it->n_calls;
    k->weight_bytes[w] = before;
    k->footprint_bytes[w] = footprint_before;
  }
  return false;
}

/* The fastest host that may run v and its whole group. */
static int32_t best_host(const situ_problem *p, int32_t v) {
  int32_t best = -1;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (!problem_is_host(p, d) || !unit_allows(p, v, d)) continue;
    if (best < 0 || problem_time_ns(p, v, d) < problem_time_ns(p, v, best)) best = d;
  }
  return best;
}

/* Numbers the units by start, so that the calls of a device are numbered in the order in which they run. */
static bool number_calls(const packing *k, int32_t *number, arena *a) {
  span *order = ARENA_NEW(a, span, k->n_units);
  if (!order) return false;
  for (int32_t u = 0; u < k->n_units; u++) order[u] = (span){k->start_ns[u], k->finish_ns[u], u};
  qsort(order, (size_t)k->n_units, sizeof *order, compare_starts);
  for (int32_t u = 0; u < k->n_units; u++) number[order[u].unit] = u;
  return true;
}

bool call_pack(const call_graph *g, const int32_t *unit, const bool *host, int32_t n_units, int32_t *device,
               int32_t *call, arena *a) {
  REQUIRE(contracts_within(unit, g->n, 0, n_units));
  const situ_problem *p = g->problem;
  packing k = {.g = g, .p = p, .unit = unit, .host = host, .n_units = n_units};
  int64_t cells = (int64_t)n_units * p->n_devices;
  if (!ARENA_ARRAYS(a, ARRAY(k.root, n_units), ARRAY(k.next, n_units), ARRAY(k.start_ns, n_units),
                    ARRAY(k.finish_ns, n_units), ARRAY(k.items, n_units), ARRAY(k.allowed, cells),
                    ARRAY(k.device_of, n_units), ZEROS(k.weight_bytes, p->n_memories),
                    ZEROS(k.footprint_bytes, p->n_memories), ZEROS(k.n_calls, p->n_devices)) ||
      !equal_devices_find(&k.equal, p, EQUAL_STAGED, a))
    return false;
  disjoint_init(k.root, n_units);
  for (int64_t i = 0; i < cells; i++) k.allowed[i] = true;
  if (!join_units(&k) || !find_times(&k, a)) return false;
  list_items(&k);
  for (int32_t u = 0; u < n_units; u++) k.device_of[u] = -1;
  if (!place(&k, 0) || !number_calls(&k, k.root, a)) return false; /* k.root is no longer needed */
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t u = pack_of(&k, v);
    bool called = u >= 0 && !host[u];
    device[v] = called ? k.device_of[u] : best_host(p, v);
    call[v] = called ? k.root[u] : -1;
    if (device[v] < 0) return false;
  }
  return true;
}
