#include "exact/shares.h"

#include <math.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "base/sort.h"
#include "view/hypergraph.h"

enum { HUB = 8, HUB_FIRST = 1 << 20, MAX_GROUPS = 40 };

bool shares_serve(const situ_problem *p) {
  return p->execution == SITU_EXECUTION_PIPELINE && p->communication == SITU_COMMUNICATION_HOST_STAGED &&
         !p->async_copies && !p->replicate;
}

/* Orders units greedily: next comes the one that leaves the fewest edges open, ties by number. Units with at least
 * `hub` edges come first. O(n * pins). */
static bool order_units(int32_t *rank, const shares *s, int32_t hub, arena *a) {
  int32_t *left = ARENA_NEW(a, int32_t, s->n_edges + 1), *change = ARENA_NEW(a, int32_t, s->n);
  if (!left || !change) return false;
  for (int32_t e = 0; e < s->n_edges; e++) left[e] = s->pin_start[e + 1] - s->pin_start[e];
  for (int32_t c = 0; c < s->n; c++) {
    rank[c] = -1;
    change[c] = s->touch_start[c + 1] - s->touch_start[c];
    if (change[c] >= hub) change[c] -= HUB_FIRST;
  }
  for (int32_t at = 0; at < s->n; at++) {
    int32_t best = -1;
    for (int32_t c = 0; c < s->n; c++)
      if (rank[c] < 0 && (best < 0 || change[c] < change[best])) best = c;
    rank[best] = at;
    for (int32_t i = s->touch_start[best]; i < s->touch_start[best + 1]; i++) {
      int32_t e = s->touch[i], first = s->pin_start[e], n_pins = s->pin_start[e + 1] - first;
      bool opens = left[e]-- == n_pins;
      if (!opens && left[e] != 1) continue;
      int32_t by = opens + (left[e] == 1); /* newly opened by this unit, or closed by it */
      for (int32_t k = first; k < first + n_pins; k++) change[s->pin[k]] -= by;
    }
  }
  return true;
}

/* Estimates the number of states of a sweep in this order. Open edges with the same pins passed form a group, and each
 * group is in, out or parted. */
static bool weigh_order(double *states, const int32_t *rank, const shares *s, arena *a) {
  int32_t *unit_at = ARENA_NEW(a, int32_t, s->n), *left = ARENA_NEW(a, int32_t, s->n_edges + 1);
  uint64_t *passed = ARENA_ZERO(a, uint64_t, s->n_edges + 1);
  int32_t *open = ARENA_NEW(a, int32_t, s->n_edges + 1), n_open = 0;
  uint64_t *seen = ARENA_NEW(a, uint64_t, s->n_edges + 1);
  if (!unit_at || !left || !passed || !open || !seen) return false;
  *states = 0;
  for (int32_t c = 0; c < s->n; c++) unit_at[rank[c]] = c;
  for (int32_t e = 0; e < s->n_edges; e++) left[e] = s->pin_start[e + 1] - s->pin_start[e];
  for (int32_t at = 0; at < s->n; at++) {
    int32_t c = unit_at[at], kept = 0, groups = 0;
    for (int32_t i = s->touch_start[c]; i < s->touch_start[c + 1]; i++) {
      int32_t e = s->touch[i];
      if (passed[e] == 0) open[n_open++] = e;
      passed[e] += ((uint64_t)c + 1) * 0x9e3779b97f4a7c15u; /* a hash of the set of pins */
      left[e]--;
    }
    for (int32_t i = 0; i < n_open; i++) {
      int32_t e = open[i], k = 0;
      if (left[e] == 0) continue;
      open[kept++] = e;
      while (k < groups && seen[k] != passed[e]) k++;
      if (k == groups) seen[groups++] = passed[e];
    }
    n_open = kept;
    *states += exp2(groups < MAX_GROUPS ? groups : MAX_GROUPS);
  }
  return true;
}

/* The better of two orders: by open edges alone, or hubs first, which helps where branches leave one unit and meet in
 * another. NULL without memory. */
static const int32_t *choose_order(const shares *s, arena *a) {
  int32_t *plain, *hubs_first;
  double states, other_states;
  if (!ARENA_ARRAYS(a, ARRAY(plain, s->n), ARRAY(hubs_first, s->n)) || !order_units(plain, s, INT32_MAX, a) ||
      !order_units(hubs_first, s, HUB, a) || !weigh_order(&states, plain, s, a) ||
      !weigh_order(&other_states, hubs_first, s, a))
    return NULL;
  return other_states < states ? hubs_first : plain;
}

static bool list_touches(shares *s, arena *a) {
  return csr_transpose(&s->touch_start, &s->touch, s->pin_start, s->pin, s->n_edges, s->n, a);
}

/* Copies pins, prices and times under the new numbers. */
static bool renumber(shares *s, const hypergraph *h, const int32_t *rank, arena *a) {
  int64_t n = s->n, n_edges = s->n_edges, n_types = s->n_types;
  if (!ARENA_ARRAYS(a, ARRAY(s->producer, n_edges), ARRAY(s->in_ns, n_types * n_edges),
                    ARRAY(s->out_ns, n_types * n_edges), ARRAY(s->time_ns, n_types * n), ARRAY(s->n_devices, n_types)))
    return false;
  for (int32_t i = 0; i < s->pin_start[n_edges]; i++) s->pin[i] = rank[s->pin[i]];
  for (int32_t e = 0; e < n_edges; e++) {
    int32_t *pins = s->pin + s->pin_start[e];
    s->producer[e] = pins[0];
    sort32(pins, s->pin_start[e + 1] - s->pin_start[e]);
  }
  for (int64_t i = 0; i < n_types * n_edges; i++) {
    s->in_ns[i] = h->price[i].in_ns;
    s->out_ns[i] = h->price[i].out_ns;
  }
  for (int32_t t = 0; t < n_types; t++) {
    s->n_devices[t] = h->equal.types[t].n_devices;
    for (int32_t u = 0; u < n; u++) s->time_ns[t * n + rank[u]] = h->time_ns[t * n + u];
  }
  return list_touches(s, a);
}

bool shares_find(shares *s, const situ_problem *problem, arena *a) {
  REQUIRE(shares_serve(problem));
  hypergraph h;
  if (!hypergraph_find(&h, problem, false, a)) return false;
  *s = (shares){
      .n = h.n_units, .n_types = h.equal.n_types, .n_edges = h.n_edges, .pin_start = h.pin_start, .pin = h.pin};
  const int32_t *rank = list_touches(s, a) ? choose_order(s, a) : NULL;
  if (!rank || !renumber(s, &h, rank, a)) return false;
  CONTRACT(shares_check(s));
  return true;
}

bool shares_fit(const shares *s) {
  for (int32_t t = 0; t < s->n_types; t++) {
    int64_t sum = 0;
    for (int32_t c = 0; c < s->n; c++)
      if (s->time_ns[(int64_t)t * s->n + c] != SITU_NEVER_NS) sum = sat_add(sum, s->time_ns[(int64_t)t * s->n + c]);
    for (int32_t e = 0; e < s->n_edges; e++)
      sum = sat_add(sum, sat_add(s->in_ns[(int64_t)t * s->n_edges + e], s->out_ns[(int64_t)t * s->n_edges + e]));
    if (sum > INT64_MAX / 8) return false;
  }
  return true;
}

const char *shares_check(const shares *s) {
  int32_t n_pins = s->pin_start[s->n_edges];
  EXPECT(contracts_within(s->n_devices, s->n_types, 1, SITU_MAX_DEVICES + 1), "every type has devices");
  EXPECT(contracts_amounts(s->time_ns, (int64_t)s->n_types * s->n), "times are at least 0");
  EXPECT(contracts_amounts(s->in_ns, (int64_t)s->n_types * s->n_edges), "prices are at least 0");
  EXPECT(contracts_amounts(s->out_ns, (int64_t)s->n_types * s->n_edges), "prices are at least 0");
  EXPECT(contracts_lists(s->pin_start, s->n_edges, n_pins), "pin_start lists pins by edge");
  EXPECT(contracts_lists(s->touch_start, s->n, n_pins), "touch_start lists pins by class");
  EXPECT(contracts_within(s->pin, n_pins, 0, s->n), "pins are classes");
  EXPECT(contracts_within(s->touch, n_pins, 0, s->n_edges), "classes touch edges");
  for (int32_t e = 0; e < s->n_edges; e++) {
    int32_t first = s->pin_start[e], n = s->pin_start[e + 1] - first;
    bool produced = false;
    EXPECT(n >= 2 && contracts_rise(s->pin + first, n), "an edge has two pins or more, which ascend");
    for (int32_t i = first; i < first + n; i++) produced |= s->pin[i] == s->producer[e];
    EXPECT(produced, "the producer of an edge is one of its pins");
  }
  for (int32_t c = 0; c < s->n; c++)
    EXPECT(contracts_rise(s->touch + s->touch_start[c], s->touch_start[c + 1] - s->touch_start[c]),
           "edges of a class ascend");
  return NULL;
}
