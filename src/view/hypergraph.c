#include "view/hypergraph.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "view/contract.h"
#include "view/equal_devices.h"
#include "view/footprint.h"

static const int64_t TABLE_LIMIT = (int64_t)1 << 25;

bool hypergraph_serves(const situ_problem *p) {
  if (p->execution != SITU_EXECUTION_PIPELINE || p->communication != SITU_COMMUNICATION_HOST_STAGED || p->contiguous ||
      p->n_phases > 1)
    return false;
  for (int32_t a = 0; a < p->n_devices; a++)
    for (int32_t b = 0; b < a; b++) {
      if (p->memory_of[a] != p->memory_of[b]) continue;
      bool hosts = problem_is_host(p, a) && problem_is_host(p, b); /* others would hand tensors over for nothing */
      if (!hosts || p->platform->memory_bytes[p->memory_of[a]] != SITU_UNLIMITED_BYTES) return false;
    }
  return p->graph->n_uses <= TABLE_LIMIT &&
         ((int64_t)p->graph->n_tensors + p->n_operators) * p->n_devices <= TABLE_LIMIT;
}

/* Rows are the types at EQUAL_LOADS, those of unused devices too. */
static bool find_rows(hypergraph *h, int32_t *first_of, arena *a) {
  const situ_problem *p = h->problem;
  equal_devices equal;
  if (!equal_devices_find(&equal, p, EQUAL_LOADS, a)) return false;
  h->n_rows = equal.n_all;
  h->row_of = equal.type_of;
  for (int32_t row = 0; row < h->n_rows; row++) first_of[row] = equal.types[row].devices[0];
  for (int32_t d = 0; d < p->n_devices; d++) h->limit_bytes[d] = p->platform->memory_bytes[p->memory_of[d]];
  return true;
}

static int compare_bytes(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Numbers the distinct footprints. */
static bool rank_footprints(hypergraph *h, const int64_t *each, arena *a) {
  h->footprint_bytes = ARENA_COPY(a, each, int64_t, h->n_units);
  h->footprint = ARENA_NEW(a, int32_t, h->n_units);
  if (!h->footprint_bytes || !h->footprint) return false;
  qsort(h->footprint_bytes, (size_t)h->n_units, sizeof(int64_t), compare_bytes);
  for (int32_t i = 0; i < h->n_units; i++)
    if (i == 0 || h->footprint_bytes[i] != h->footprint_bytes[h->n_footprints - 1])
      h->footprint_bytes[h->n_footprints++] = h->footprint_bytes[i];
  for (int32_t u = 0; u < h->n_units; u++) {
    const int64_t *at = bsearch(&each[u], h->footprint_bytes, (size_t)h->n_footprints, sizeof(int64_t), compare_bytes);
    h->footprint[u] = (int32_t)(at - h->footprint_bytes);
  }
  return true;
}

/* Memory that even one device with everything would not fill is no constraint. */
static void see_memory(hypergraph *h) {
  int64_t need = h->n_footprints > 0 ? h->footprint_bytes[h->n_footprints - 1] : 0, least = SITU_UNLIMITED_BYTES;
  for (int32_t u = 0; u < h->n_units; u++) need = sat_add(need, h->bytes[u]);
  for (int32_t d = 0; d < h->n_devices; d++) least = min64(least, h->limit_bytes[d]);
  h->memory_is_free = need <= least;
}

static bool sum_units(hypergraph *h, const int32_t *first_of, arena *a) {
  const situ_problem *p = h->problem;
  h->time_ns = ARENA_ZERO(a, int64_t, (int64_t)h->n_rows * h->n_units);
  h->bytes = ARENA_ZERO(a, int64_t, h->n_units);
  int64_t *footprint = ARENA_ZERO(a, int64_t, h->n_units);
  if (!h->time_ns || !h->bytes || !footprint) return false;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t u = h->unit_of[v];
    int64_t stash = sat_mul(footprint_stash_bytes(p->graph, v), p->in_flight);
    h->bytes[u] = sat_add(h->bytes[u], sat_add(p->graph->weight_bytes[v], stash));
    footprint[u] = max64(footprint[u], sat_mul(footprint_bytes(p->graph, v), p->in_flight));
    for (int32_t row = 0; row < h->n_rows; row++) {
      int64_t *sum = &h->time_ns[(int64_t)row * h->n_units + u];
      *sum = problem_allows(p, v, first_of[row]) ? sat_add(*sum, problem_time_ns(p, v, first_of[row])) : SITU_NEVER_NS;
    }
  }
  if (!rank_footprints(h, footprint, a)) return false;
  see_memory(h);
  return true;
}

/* ---- hyperedges ---- */

/* Hyperedges in the making: equal ones are found by a hash of their pins. */
typedef struct edge_list {
  hypergraph *h;
  int64_t stride;         /* of a row of prices until closed */
  int32_t *seen;          /* [unit] edge + 1 that was last gathered there */
  int32_t *bucket, *next; /* chains of equal hash; -1 ends */
  int64_t n_buckets;
} edge_list;

static bool edge_list_init(edge_list *l, hypergraph *h, int64_t most_edges, int64_t most_pins, arena *a) {
  *l = (edge_list){.h = h, .stride = most_edges, .n_buckets = 2 * most_edges + 1};
  h->n_edges = 0;
  h->pin_start = ARENA_ZERO(a, int32_t, most_edges + 1);
  h->pin = ARENA_NEW(a, int32_t, most_pins);
  h->price = ARENA_ZERO(a, crossing, h->n_rows * most_edges);
  l->seen = ARENA_ZERO(a, int32_t, h->n_units);
  l->bucket = ARENA_NEW(a, int32_t, l->n_buckets);
  l->next = ARENA_NEW(a, int32_t, most_edges);
  if (!h->pin_start || !h->pin || !h->price || !l->seen || !l->bucket || !l->next) return false;
  for (int64_t i = 0; i < l->n_buckets; i++) l->bucket[i] = -1;
  return true;
}

static int compare_units(const void *a, const void *b) {
  const int32_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* The edge whose pins were just written behind the last one: an earlier equal one, or a new one. */
static int32_t edge_list_close(edge_list *l, int32_t n_pins) {
  hypergraph *h = l->h;
  int32_t *pins = h->pin + h->pin_start[h->n_edges];
  uint64_t hash = 14695981039346656037u;
  qsort(pins + 1, (size_t)n_pins - 1, sizeof *pins, compare_units);
  for (int32_t k = 0; k < n_pins; k++) hash = (hash ^ (uint32_t)pins[k]) * 1099511628211u;
  int32_t *head = &l->bucket[(int64_t)(hash % (uint64_t)l->n_buckets)];
  for (int32_t e = *head; e >= 0; e = l->next[e])
    if (h->pin_start[e + 1] - h->pin_start[e] == n_pins &&
        memcmp(h->pin + h->pin_start[e], pins, (size_t)n_pins * sizeof *pins) == 0)
      return e;
  l->next[h->n_edges] = *head;
  *head = h->n_edges;
  h->pin_start[h->n_edges + 1] = h->pin_start[h->n_edges] + n_pins;
  return h->n_edges++;
}

static bool edge_list_finish(edge_list *l, arena *a) {
  hypergraph *h = l->h;
  for (int32_t row = 1; row < h->n_rows; row++)
    memmove(h->price + (int64_t)row * h->n_edges, h->price + row * l->stride, (size_t)h->n_edges * sizeof *h->price);
  h->touch_start = ARENA_ZERO(a, int32_t, (int64_t)h->n_units + 2);
  h->touch = ARENA_NEW(a, touch, h->pin_start[h->n_edges]);
  if (!h->touch_start || !h->touch) return false;
  for (int32_t i = 0; i < h->pin_start[h->n_edges]; i++) h->touch_start[h->pin[i] + 2]++;
  for (int32_t u = 0; u < h->n_units; u++) h->touch_start[u + 2] += h->touch_start[u + 1];
  for (int32_t e = 0; e < h->n_edges; e++)
    for (int32_t i = h->pin_start[e]; i < h->pin_start[e + 1]; i++)
      h->touch[h->touch_start[h->pin[i] + 1]++] = (touch){e, i == h->pin_start[e]};
  return true;
}

static bool find_edges(hypergraph *h, const int32_t *first_of, arena *a) {
  const situ_problem *p = h->problem;
  const situ_graph *g = p->graph;
  edge_list l;
  if (!edge_list_init(&l, h, g->n_tensors, g->n_uses + g->n_tensors, a)) return false;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t *pins = h->pin + h->pin_start[h->n_edges], n_pins = 0;
    pins[n_pins++] = h->unit_of[g->producer[t]];
    l.seen[pins[0]] = t + 1;
    for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++) {
      int32_t u = h->unit_of[g->use[k]];
      if (l.seen[u] == t + 1) continue;
      l.seen[u] = t + 1;
      pins[n_pins++] = u;
    }
    bool costs = false;
    for (int32_t row = 0; row < h->n_rows && n_pins > 1; row++) {
      int32_t d = first_of[row];
      costs |= !problem_is_host(p, d) &&
               (problem_transfer_ns(p, t, p->host, d) > 0 || problem_transfer_ns(p, t, d, p->host) > 0);
    }
    if (!costs) continue;
    int32_t e = edge_list_close(&l, n_pins);
    for (int32_t row = 0; row < h->n_rows; row++) {
      int32_t d = first_of[row];
      if (problem_is_host(p, d)) continue;
      crossing *price = &h->price[row * l.stride + e];
      price->in_ns = sat_add(price->in_ns, problem_transfer_ns(p, t, p->host, d));
      price->out_ns = sat_add(price->out_ns, problem_transfer_ns(p, t, d, p->host));
    }
  }
  return edge_list_finish(&l, a);
}

bool hypergraph_find(hypergraph *h, const situ_problem *p, arena *a) {
  *h = (hypergraph){.problem = p, .n_devices = p->n_devices};
  contraction groups;
  if (!contract(&groups, p, false, a)) return false;
  h->n_units = groups.n_classes;
  h->unit_of = groups.class_of;
  h->limit_bytes = ARENA_NEW(a, int64_t, p->n_devices);
  int32_t *first_of = ARENA_NEW(a, int32_t, p->n_devices);
  return h->limit_bytes && first_of && find_rows(h, first_of, a) && sum_units(h, first_of, a) &&
         find_edges(h, first_of, a);
}

bool hypergraph_fits(const hypergraph *h) {
  const int64_t most = INT64_MAX / 8;
  int64_t bytes = h->n_footprints > 0 ? h->footprint_bytes[h->n_footprints - 1] : 0;
  for (int32_t row = 0; row < h->n_rows; row++) {
    int64_t sum = 0;
    for (int32_t u = 0; u < h->n_units; u++) {
      int64_t time_ns = h->time_ns[(int64_t)row * h->n_units + u];
      if (time_ns != SITU_NEVER_NS) sum = sat_add(sum, time_ns);
    }
    for (int32_t e = 0; e < h->n_edges; e++) {
      const crossing *price = &h->price[(int64_t)row * h->n_edges + e];
      sum = sat_add(sum, sat_add(price->in_ns, price->out_ns));
    }
    if (sum > most) return false;
  }
  for (int32_t u = 0; u < h->n_units; u++) bytes = sat_add(bytes, h->bytes[u]);
  return bytes < most;
}

static bool merge_units(hypergraph *h, const hypergraph *fine, const int32_t *into, arena *a) {
  int32_t n_operators = fine->problem->n_operators;
  h->unit_of = ARENA_NEW(a, int32_t, n_operators);
  h->time_ns = ARENA_ZERO(a, int64_t, (int64_t)h->n_rows * h->n_units);
  h->bytes = ARENA_ZERO(a, int64_t, h->n_units);
  h->footprint = ARENA_ZERO(a, int32_t, h->n_units);
  if (!h->unit_of || !h->time_ns || !h->bytes || !h->footprint) return false;
  for (int32_t v = 0; v < n_operators; v++) h->unit_of[v] = into[fine->unit_of[v]];
  for (int32_t u = 0; u < fine->n_units; u++) {
    int32_t to = into[u];
    h->bytes[to] = sat_add(h->bytes[to], fine->bytes[u]);
    if (fine->footprint[u] > h->footprint[to]) h->footprint[to] = fine->footprint[u];
    for (int32_t row = 0; row < h->n_rows; row++) {
      int64_t *sum = &h->time_ns[(int64_t)row * h->n_units + to];
      *sum = sat_add(*sum, fine->time_ns[(int64_t)row * fine->n_units + u]); /* NEVER stays NEVER */
    }
  }
  return true;
}

bool hypergraph_merge(hypergraph *h, const hypergraph *fine, const int32_t *into, int32_t n, arena *a) {
  *h = *fine;
  h->n_units = n;
  edge_list l;
  if (!merge_units(h, fine, into, a) || !edge_list_init(&l, h, fine->n_edges, fine->pin_start[fine->n_edges], a))
    return false;
  for (int32_t e = 0; e < fine->n_edges; e++) {
    int32_t *pins = h->pin + h->pin_start[h->n_edges], n_pins = 0;
    for (int32_t i = fine->pin_start[e]; i < fine->pin_start[e + 1]; i++) {
      int32_t u = into[fine->pin[i]];
      if (l.seen[u] == e + 1) continue;
      l.seen[u] = e + 1;
      pins[n_pins++] = u;
    }
    if (n_pins == 1) continue;
    int32_t at = edge_list_close(&l, n_pins);
    for (int32_t row = 0; row < h->n_rows; row++) {
      crossing *sum = &h->price[row * l.stride + at];
      const crossing *one = &fine->price[(int64_t)row * fine->n_edges + e];
      *sum = (crossing){sat_add(sum->in_ns, one->in_ns), sat_add(sum->out_ns, one->out_ns)};
    }
  }
  return edge_list_finish(&l, a);
}
