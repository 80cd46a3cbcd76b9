#include "solve/pipeline/coarse.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"

/* The coarse graph while it is folded. Edge prices and times lie in rows of n_types: in, then out. */
typedef struct coarse_graph {
  const boundary_ranges *fine;
  int32_t n, n_edges, n_types;
  int32_t *class_of;              /* [class] in the fine problem */
  int32_t *before_start, *before; /* predecessors, rising */
  int32_t *pin_start, *pin;       /* producers first */
  int64_t *cost;                  /* [edge * (2 n_types + 2)]: in_ns, out_ns by type, in_price, out_price */
  int64_t *loose;                 /* [edge] price of what was folded into it */
} coarse_graph;

static int32_t width(const coarse_graph *d) { return 2 * d->n_types + 2; }

static bool allocate(coarse_graph *d, int32_t n, int32_t n_edges, int64_t n_before, int64_t n_pins, arena *a) {
  return ARENA_ARRAYS(a, ARRAY(d->class_of, n), ZEROS(d->before_start, (int64_t)n + 1), ARRAY(d->before, n_before),
                      ZEROS(d->pin_start, (int64_t)n_edges + 1), ARRAY(d->pin, n_pins),
                      ARRAY(d->cost, (int64_t)n_edges * width(d)), ZEROS(d->loose, n_edges));
}

static bool coarse_start(coarse_graph *d, const boundary_ranges *fine, arena *a) {
  const stages *s = fine->stages;
  *d = (coarse_graph){.fine = fine, .n = s->n, .n_edges = s->n_edges, .n_types = s->n_types};
  stage_order order;
  if (!stage_order_find(&order, s, a) || !allocate(d, s->n, s->n_edges, 0, s->pin_start[s->n_edges], a)) return false;
  d->before_start = order.start;
  d->before = order.before;
  for (int32_t v = 0; v < s->n; v++) d->class_of[v] = v;
  memcpy(d->pin_start, s->pin_start, ((size_t)s->n_edges + 1) * sizeof *d->pin_start);
  if (s->n_edges > 0) memcpy(d->pin, s->pin, (size_t)s->pin_start[s->n_edges] * sizeof *d->pin);
  for (int32_t e = 0; e < s->n_edges; e++) {
    int64_t *cost = d->cost + (int64_t)e * width(d);
    for (int32_t t = 0; t < s->n_types; t++) {
      cost[t] = cost[s->n_types + t] = 0;
      for (int32_t row = t; row < s->n_rows; row += s->n_types) {
        cost[t] += s->in_ns[(int64_t)row * s->n_edges + e];
        cost[s->n_types + t] += s->out_ns[(int64_t)row * s->n_edges + e];
      }
    }
    cost[2 * s->n_types] = fine->in_price[e];
    cost[2 * s->n_types + 1] = fine->out_price[e];
  }
  return true;
}

/* For each class that can be folded its incoming and its outgoing edge; in_edge is -1 for the others. */
static bool find_folds(const coarse_graph *d, int32_t *in_edge, int32_t *out_edge, arena *a) {
  int32_t *n_after = ARENA_ZERO(a, int32_t, d->n), *n_touch = ARENA_ZERO(a, int32_t, d->n);
  if (!n_after || !n_touch) return false;
  for (int32_t k = 0; k < d->before_start[d->n]; k++) n_after[d->before[k]]++;
  for (int32_t v = 0; v < d->n; v++) in_edge[v] = out_edge[v] = -1;
  for (int32_t e = 0; e < d->n_edges; e++) {
    const int32_t *pin = d->pin + d->pin_start[e];
    int32_t n_pins = d->pin_start[e + 1] - d->pin_start[e];
    for (int32_t i = 0; i < n_pins; i++) n_touch[pin[i]]++;
    if (n_pins != 2 || pin[0] > pin[1]) continue;
    out_edge[pin[0]] = e;
    in_edge[pin[1]] = e;
  }
  for (int32_t v = 0; v < d->n; v++) {
    bool one = in_edge[v] >= 0 && out_edge[v] >= 0 && n_touch[v] == 2 && n_after[v] == 1 &&
               d->before_start[v + 1] - d->before_start[v] == 1 &&
               d->before[d->before_start[v]] == d->pin[d->pin_start[in_edge[v]]];
    if (!one) in_edge[v] = -1;
  }
  /* Its only successor must also be the other end of its outgoing edge. */
  for (int32_t w = 0; w < d->n; w++)
    for (int32_t k = d->before_start[w]; k < d->before_start[w + 1]; k++) {
      int32_t v = d->before[k];
      if (in_edge[v] >= 0 && d->pin[d->pin_start[out_edge[v]] + 1] != w) in_edge[v] = -1;
    }
  return true;
}

/* Copies edge e into `to`, continued over folded classes: with the minimum cost and all their work. */
static void copy_edge(coarse_graph *to, const coarse_graph *from, int32_t e, const int32_t *in_edge,
                      const int32_t *out_edge, const int32_t *number) {
  int32_t w = width(from), made = to->n_edges++, at = to->pin_start[made];
  int64_t *cost = to->cost + (int64_t)made * w;
  memcpy(cost, from->cost + (int64_t)e * w, (size_t)w * sizeof *cost);
  to->loose[made] = from->loose[e];
  for (int32_t i = from->pin_start[e]; i < from->pin_start[e + 1]; i++) {
    int32_t v = from->pin[i];
    while (i > from->pin_start[e] && in_edge[v] == e) { /* two pins: the second one is folded */
      const int64_t *next = from->cost + (int64_t)out_edge[v] * w;
      for (int32_t k = 0; k < w; k++) cost[k] = min64(cost[k], next[k]);
      to->loose[made] += from->loose[out_edge[v]] + from->fine->price[from->class_of[v]];
      e = out_edge[v];
      v = from->pin[from->pin_start[e] + 1];
      i = from->pin_start[e] + 1;
    }
    to->pin[at++] = number[v];
  }
  to->pin_start[made + 1] = at;
}

/* One round of folding. */
static bool fold(coarse_graph *to, const coarse_graph *from, int32_t *n_folded, arena *a) {
  int32_t *in_edge = ARENA_NEW(a, int32_t, from->n), *out_edge = ARENA_NEW(a, int32_t, from->n);
  int32_t *number = ARENA_NEW(a, int32_t, from->n);
  *to = (coarse_graph){.fine = from->fine, .n_types = from->n_types};
  if (!in_edge || !out_edge || !number || !find_folds(from, in_edge, out_edge, a) ||
      !allocate(to, from->n, from->n_edges, from->before_start[from->n], from->pin_start[from->n_edges], a))
    return false;
  int32_t n = 0;
  for (int32_t v = 0; v < from->n; v++) {
    number[v] = -1;
    if (in_edge[v] >= 0) continue;
    number[v] = to->n;
    to->class_of[to->n] = from->class_of[v];
    for (int32_t k = from->before_start[v]; k < from->before_start[v + 1]; k++) {
      int32_t u = from->before[k];
      while (in_edge[u] >= 0) u = from->before[from->before_start[u]];
      to->before[n++] = number[u];
    }
    to->before_start[++to->n] = n;
  }
  for (int32_t e = 0; e < from->n_edges; e++)
    if (number[from->pin[from->pin_start[e]]] >= 0) copy_edge(to, from, e, in_edge, out_edge, number);
  *n_folded = from->n - to->n;
  return true;
}

/* A row of the list that finds parallel edges. */
typedef struct joined {
  int32_t from, to, edge;
} joined;

COMPARATOR(by_pins, joined, UP(from) UP(to) UP(edge))

/* Edges from the same producer to the same user become one, in place. */
static bool join_edges(coarse_graph *d, arena *a) {
  joined *rows = ARENA_NEW(a, joined, d->n_edges);
  bool *gone = ARENA_ZERO(a, bool, d->n_edges);
  int32_t n = 0, w = width(d);
  if (!rows || !gone) return false;
  for (int32_t e = 0; e < d->n_edges; e++)
    if (d->pin_start[e + 1] - d->pin_start[e] == 2)
      rows[n++] = (joined){d->pin[d->pin_start[e]], d->pin[d->pin_start[e] + 1], e};
  if (n > 1) qsort(rows, (size_t)n, sizeof *rows, by_pins);
  for (int32_t i = 1, first = 0; i < n; i++) {
    if (rows[i].from != rows[first].from || rows[i].to != rows[first].to) {
      first = i;
      continue;
    }
    for (int32_t k = 0; k < w; k++)
      d->cost[(int64_t)rows[first].edge * w + k] += d->cost[(int64_t)rows[i].edge * w + k];
    d->loose[rows[first].edge] += d->loose[rows[i].edge];
    gone[rows[i].edge] = true;
  }
  int32_t kept = 0, pins = 0, first = 0;
  for (int32_t e = 0; e < d->n_edges; e++) {
    int32_t end = d->pin_start[e + 1], n_pins = end - first; /* kept <= e, so later starts are still the old ones */
    if (!gone[e]) {
      memmove(d->pin + pins, d->pin + first, (size_t)n_pins * sizeof *d->pin);
      memmove(d->cost + (int64_t)kept * w, d->cost + (int64_t)e * w, (size_t)w * sizeof *d->cost);
      d->loose[kept] = d->loose[e];
      pins += n_pins;
      d->pin_start[++kept] = pins;
    }
    first = end;
  }
  d->n_edges = kept;
  return true;
}

/* The graph as stages. */
static bool finish(stages *out, const coarse_graph *d, arena *a) {
  const stages *s = d->fine->stages;
  *out = (stages){.problem = s->problem,
                  .n = d->n,
                  .n_words = (d->n + 63) / 64,
                  .memory_is_free = true,
                  .n_types = s->n_types,
                  .n_rows = s->n_types,
                  .n_phases = 1,
                  .by_links = s->by_links,
                  .overlaps = s->overlaps,
                  .n_edges = d->n_edges,
                  .pin_start = d->pin_start,
                  .pin = d->pin};
  out->types = ARENA_COPY(a, s->types, device_type, s->n_types);
  if (!out->types ||
      !ARENA_ARRAYS(a, ZEROS(out->predecessors, (int64_t)d->n * out->n_words),
                    ARRAY(out->time_ns, (int64_t)s->n_types * d->n), ZEROS(out->weight_bytes, d->n),
                    ZEROS(out->footprint_bytes, d->n), ARRAY(out->in_ns, (int64_t)s->n_types * d->n_edges),
                    ARRAY(out->out_ns, (int64_t)s->n_types * d->n_edges)))
    return false;
  for (int32_t v = 0; v < d->n; v++)
    for (int32_t k = d->before_start[v]; k < d->before_start[v + 1]; k++)
      out->predecessors[(int64_t)v * out->n_words + d->before[k] / 64] |= 1ull << (d->before[k] % 64);
  for (int32_t t = 0; t < s->n_types; t++) {
    out->types[t].memory_bytes = SITU_UNLIMITED_BYTES;
    for (int32_t v = 0; v < d->n; v++) out->time_ns[(int64_t)t * d->n + v] = stages_time_ns(s, t, d->class_of[v]);
    for (int32_t e = 0; e < d->n_edges; e++) {
      out->in_ns[(int64_t)t * d->n_edges + e] = d->cost[(int64_t)e * width(d) + t];
      out->out_ns[(int64_t)t * d->n_edges + e] = d->cost[(int64_t)e * width(d) + s->n_types + t];
    }
  }
  return stages_list_touches(out, a);
}

bool coarse_find(stages *out, boundary_ranges *open, bool *folded, const boundary_ranges *fine, arena *a) {
  coarse_graph now, next;
  int32_t n_folded = 1;
  if (!coarse_start(&now, fine, a) || !join_edges(&now, a)) return false;
  while (n_folded > 0) {
    if (!fold(&next, &now, &n_folded, a) || !join_edges(&next, a)) return false;
    now = next;
  }
  *folded = now.n < fine->stages->n;
  if (!finish(out, &now, a)) return false;
  int64_t *prices, *in, *out_prices;
  if (!ARENA_ARRAYS(a, ARRAY(prices, now.n), ARRAY(in, now.n_edges), ARRAY(out_prices, now.n_edges))) return false;
  for (int32_t v = 0; v < now.n; v++) prices[v] = fine->price[now.class_of[v]];
  for (int32_t e = 0; e < now.n_edges; e++) {
    in[e] = now.cost[(int64_t)e * width(&now) + 2 * now.n_types];
    out_prices[e] = now.cost[(int64_t)e * width(&now) + 2 * now.n_types + 1];
  }
  return boundary_ranges_of(open, out, fine, prices, in, out_prices, now.loose, a);
}
