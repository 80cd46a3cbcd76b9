#include "view/hypergraph.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "view/footprint.h"
#include "view/link_prices.h"
#include "view/nets.h"

static const int64_t TABLE_LIMIT = (int64_t)1 << 25;

static bool tables_fit(const situ_problem *p, situ_communication communication) {
  if (p->execution != SITU_EXECUTION_PIPELINE || p->communication != communication) return false;
  return footprint_is_per_device(p) && p->graph->n_uses <= TABLE_LIMIT &&
         ((int64_t)p->graph->n_tensors + p->n_operators) * p->n_devices <= TABLE_LIMIT;
}

static bool is_free(const situ_problem *p) { return !p->contiguous && p->n_phases == 1; }

bool hypergraph_serves_staged(const situ_problem *p) { return tables_fit(p, SITU_COMMUNICATION_HOST_STAGED); }

bool hypergraph_serves(const situ_problem *p) { return is_free(p) && hypergraph_serves_staged(p); }

bool hypergraph_serves_links(const situ_problem *p) { return is_free(p) && tables_fit(p, SITU_COMMUNICATION_LINK); }

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

/* A memory that could hold the whole model is not a constraint. */
static void see_memory(hypergraph *h) {
  int64_t need = h->n_footprints > 0 ? h->footprint_bytes[h->n_footprints - 1] : 0, min = SITU_UNLIMITED_BYTES;
  for (int32_t u = 0; u < h->n_units; u++) need = sat_add(need, h->bytes[u]);
  for (int32_t d = 0; d < h->n_devices; d++) min = min64(min, h->limit_bytes[d]);
  h->memory_is_free = need <= min;
}

/* The device that represents a row. */
static int32_t row_device(const hypergraph *h, int32_t row) { return h->equal.types[row].devices[0]; }

static bool sum_units(hypergraph *h, arena *a) {
  const situ_problem *p = h->problem;
  int64_t *footprint;
  if (!ARENA_ARRAYS(a, ZEROS(h->time_ns, (int64_t)h->n_rows * h->n_units), ZEROS(h->bytes, h->n_units),
                    ZEROS(footprint, h->n_units)))
    return false;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t u = h->unit_of[v];
    h->bytes[u] = sat_add(h->bytes[u], footprint_held_bytes(p, v));
    footprint[u] = max64(footprint[u], footprint_running_bytes(p, v));
    for (int32_t row = 0; row < h->n_rows; row++) {
      int32_t d = row_device(h, row);
      int64_t *sum = &h->time_ns[(int64_t)row * h->n_units + u];
      *sum = problem_allows(p, v, d) ? sat_add(*sum, problem_time_ns(p, v, d)) : SITU_NEVER_NS;
    }
  }
  if (!rank_footprints(h, footprint, a)) return false;
  see_memory(h);
  return true;
}

/* ---- hyperedges ---- */

/* Hyperedges under construction. A hash of their pins finds equal ones. */
typedef struct edge_list {
  hypergraph *h;
  bool merge;             /* otherwise equal edges stay separate */
  int64_t stride;         /* length of a row of prices until the list is closed */
  int32_t *seen;          /* [unit] 1 + the last edge that collected it */
  int32_t *bucket, *next; /* chains of equal hash; -1 ends */
  int64_t n_buckets;
} edge_list;

static bool edge_list_init(edge_list *l, hypergraph *h, bool merge, int64_t max_edges, int64_t max_pins, arena *a) {
  *l = (edge_list){.h = h, .merge = merge, .stride = max_edges, .n_buckets = 2 * max_edges + 1};
  h->n_edges = 0;
  if (!ARENA_ARRAYS(a, ZEROS(h->pin_start, max_edges + 1), ARRAY(h->pin, max_pins),
                    ZEROS(h->price, h->n_rows * max_edges), ZEROS(h->phase, max_edges), ZEROS(l->seen, h->n_units),
                    ARRAY(l->bucket, l->n_buckets), ARRAY(l->next, max_edges)))
    return false;
  for (int64_t i = 0; i < l->n_buckets; i++) l->bucket[i] = -1;
  return true;
}

static int compare_units(const void *a, const void *b) {
  const int32_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Closes the edge whose pins were just written at the end. Returns an earlier equal one, or it. */
static int32_t edge_list_close(edge_list *l, int32_t n_pins, int32_t phase) {
  hypergraph *h = l->h;
  int32_t *pins = h->pin + h->pin_start[h->n_edges];
  uint64_t hash = 14695981039346656037u;
  qsort(pins + 1, (size_t)n_pins - 1, sizeof *pins, compare_units);
  for (int32_t k = 0; k < n_pins; k++) hash = (hash ^ (uint32_t)pins[k]) * 1099511628211u;
  int32_t *head = &l->bucket[(int64_t)(hash % (uint64_t)l->n_buckets)];
  for (int32_t e = *head; e >= 0 && l->merge; e = l->next[e])
    if (h->pin_start[e + 1] - h->pin_start[e] == n_pins && h->phase[e] == phase &&
        memcmp(h->pin + h->pin_start[e], pins, (size_t)n_pins * sizeof *pins) == 0)
      return e;
  h->phase[h->n_edges] = phase;
  l->next[h->n_edges] = *head;
  *head = h->n_edges;
  h->pin_start[h->n_edges + 1] = h->pin_start[h->n_edges] + n_pins;
  return h->n_edges++;
}

static bool edge_list_finish(edge_list *l, arena *a) {
  hypergraph *h = l->h;
  for (int32_t row = 1; row < h->n_rows; row++)
    memmove(h->price + (int64_t)row * h->n_edges, h->price + row * l->stride, (size_t)h->n_edges * sizeof *h->price);
  if (!ARENA_ARRAYS(a, ZEROS(h->touch_start, (int64_t)h->n_units + 2), ARRAY(h->touch, h->pin_start[h->n_edges])))
    return false;
  for (int32_t i = 0; i < h->pin_start[h->n_edges]; i++) csr_count(h->touch_start, h->pin[i]);
  csr_sum(h->touch_start, h->n_units);
  for (int32_t e = 0; e < h->n_edges; e++)
    for (int32_t i = h->pin_start[e]; i < h->pin_start[e + 1]; i++)
      h->touch[csr_put(h->touch_start, h->pin[i])] = (touch){e, i == h->pin_start[e]};
  return true;
}

/* What tensor t costs a device of a row. */
static crossing price_of(const hypergraph *h, const link_prices *links, int32_t row, int32_t t) {
  const situ_problem *p = h->problem;
  if (row >= h->equal.n_types) return (crossing){0, 0};
  if (p->communication == SITU_COMMUNICATION_LINK)
    return (crossing){link_prices_ns(links, &links->in[row], t), link_prices_ns(links, &links->out[row], t)};
  int32_t d = row_device(h, row);
  if (!h->equal.types[row].pays) return (crossing){0, 0};
  return (crossing){problem_transfer_ns(p, t, p->host, d), problem_transfer_ns(p, t, d, p->host)};
}

static bool find_edges(hypergraph *h, bool merge, arena *a) {
  const situ_graph *g = h->problem->graph;
  edge_list l;
  link_prices links = {0};
  if (!edge_list_init(&l, h, merge, g->n_tensors, g->n_uses + g->n_tensors, a)) return false;
  if (h->problem->communication == SITU_COMMUNICATION_LINK &&
      !link_prices_find(&links, h->problem, h->equal.types, h->equal.n_types, a))
    return false;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t n_pins = nets_pins(g, t, h->unit_of, l.seen, h->pin + h->pin_start[h->n_edges]);
    bool costs = false;
    for (int32_t row = 0; row < h->equal.n_types && n_pins > 1; row++) {
      crossing price = price_of(h, &links, row, t);
      costs |= price.in_ns > 0 || price.out_ns > 0;
    }
    if (!costs) continue;
    int32_t e = edge_list_close(&l, n_pins, problem_phase(h->problem, g->producer[t]));
    for (int32_t row = 0; row < h->n_rows; row++) {
      crossing *sum = &h->price[row * l.stride + e], price = price_of(h, &links, row, t);
      *sum = (crossing){sat_add(sum->in_ns, price.in_ns), sat_add(sum->out_ns, price.out_ns)};
    }
  }
  return edge_list_finish(&l, a);
}

bool hypergraph_find(hypergraph *h, const situ_problem *p, bool merge, arena *a) {
  REQUIRE(p->execution == SITU_EXECUTION_PIPELINE);
  *h = (hypergraph){.problem = p, .n_units = p->units.n, .n_devices = p->n_devices, .unit_of = p->units.of};
  h->overlaps = p->async_copies || p->communication == SITU_COMMUNICATION_LINK;
  if (!equal_devices_find(&h->equal, p, EQUAL_LOADS, a)) return false;
  h->n_rows = h->equal.n_all;
  h->row_of = h->equal.type_of;
  if (!(h->limit_bytes = ARENA_NEW(a, int64_t, p->n_devices))) return false;
  for (int32_t d = 0; d < p->n_devices; d++) h->limit_bytes[d] = p->platform->memory_bytes[p->memory_of[d]];
  if (!sum_units(h, a) || !find_edges(h, merge, a)) return false;
  CONTRACT(hypergraph_check(h));
  return true;
}

bool hypergraph_fits(const hypergraph *h) {
  const int64_t max = INT64_MAX / 8;
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
    if (sum > max) return false;
  }
  for (int32_t u = 0; u < h->n_units; u++) bytes = sat_add(bytes, h->bytes[u]);
  return bytes < max;
}

static bool merge_units(hypergraph *h, const hypergraph *fine, const int32_t *into, arena *a) {
  int32_t n_operators = fine->problem->n_operators, *unit_of;
  if (!ARENA_ARRAYS(a, ARRAY(unit_of, n_operators), ZEROS(h->time_ns, (int64_t)h->n_rows * h->n_units),
                    ZEROS(h->bytes, h->n_units), ZEROS(h->footprint, h->n_units)))
    return false;
  for (int32_t v = 0; v < n_operators; v++) unit_of[v] = into[fine->unit_of[v]];
  h->unit_of = unit_of;
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
  REQUIRE(contracts_within(into, fine->n_units, 0, n));
  *h = *fine;
  h->n_units = n;
  edge_list l;
  if (!merge_units(h, fine, into, a) || !edge_list_init(&l, h, true, fine->n_edges, fine->pin_start[fine->n_edges], a))
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
    int32_t at = edge_list_close(&l, n_pins, fine->phase[e]);
    for (int32_t row = 0; row < h->n_rows; row++) {
      crossing *sum = &h->price[row * l.stride + at];
      const crossing *one = &fine->price[(int64_t)row * fine->n_edges + e];
      *sum = (crossing){sat_add(sum->in_ns, one->in_ns), sat_add(sum->out_ns, one->out_ns)};
    }
  }
  return edge_list_finish(&l, a);
}

static const char *check_edges(const hypergraph *h) {
  int32_t n_pins = h->pin_start[h->n_edges];
  EXPECT(contracts_lists(h->pin_start, h->n_edges, n_pins), "pin_start lists pins by edge");
  EXPECT(contracts_within(h->pin, n_pins, 0, h->n_units), "pins are units");
  EXPECT(contracts_lists(h->touch_start, h->n_units, n_pins), "touch_start lists pins by unit");
  for (int32_t e = 0; e < h->n_edges; e++) {
    int32_t first = h->pin_start[e], n = h->pin_start[e + 1] - first;
    EXPECT(n >= 2 && contracts_rise(h->pin + first + 1, n - 1), "an edge has two pins or more, none twice");
    for (int32_t i = first + 1; i < first + n; i++) EXPECT(h->pin[i] != h->pin[first], "the producer is a pin once");
  }
  for (int32_t u = 0; u < h->n_units; u++)
    for (int32_t i = h->touch_start[u]; i < h->touch_start[u + 1]; i++) {
      const touch *x = &h->touch[i];
      EXPECT(x->edge >= 0 && x->edge < h->n_edges, "units touch edges");
      EXPECT(i == h->touch_start[u] || h->touch[i - 1].edge < x->edge, "edges of a unit ascend");
      EXPECT(x->produces == (h->pin[h->pin_start[x->edge]] == u), "the first pin of an edge is its producer");
    }
  for (int64_t i = 0; i < (int64_t)h->n_rows * h->n_edges; i++)
    EXPECT(h->price[i].in_ns >= 0 && h->price[i].out_ns >= 0, "prices are at least 0");
  return NULL;
}

const char *hypergraph_check(const hypergraph *h) {
  EXPECT(contracts_within(h->unit_of, h->problem->n_operators, 0, h->n_units), "every operator is in a unit");
  EXPECT(contracts_within(h->row_of, h->n_devices, 0, h->n_rows), "every device has a row");
  EXPECT(contracts_amounts(h->time_ns, (int64_t)h->n_rows * h->n_units), "times are at least 0");
  EXPECT(contracts_amounts(h->bytes, h->n_units), "sizes are at least 0");
  EXPECT(contracts_within(h->footprint, h->n_units, 0, h->n_footprints), "every unit has a footprint");
  for (int32_t i = 1; i < h->n_footprints; i++)
    EXPECT(h->footprint_bytes[i - 1] < h->footprint_bytes[i], "footprints ascend, none twice");
  return check_edges(h);
}
