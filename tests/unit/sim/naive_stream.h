/* A second simulator of the stream model, as plain as can be: it looks at every nanosecond, and at everything. It
 * shares nothing with the one in src/sim but the tables of the problem. For small problems with small numbers. */
#ifndef SITU_TESTS_NAIVE_STREAM_H
#define SITU_TESTS_NAIVE_STREAM_H

#include "../../lab/lab.h"
#include "../../lab/test.h"

enum { NAIVE_TENSORS = 2 * LAB_MAX_OPERATORS, NAIVE_HOPS = 8 };

typedef struct naive_way { /* of a tensor to a memory */
  bool wanted, there, under_way;
  int32_t hop, n_hops, link[NAIVE_HOPS];
  int64_t ready, start[NAIVE_HOPS], finish[NAIVE_HOPS];
} naive_way;

typedef struct naive {
  int64_t start[LAB_MAX_OPERATORS], finish[LAB_MAX_OPERATORS]; /* -1: not yet */
  bool ended[LAB_MAX_OPERATORS];
  naive_way way[NAIVE_TENSORS][8];
  int64_t value;
  int64_t peak[8];
} naive;

static inline int64_t naive_hop_time(const lab *s, int32_t t, int32_t link) {
  return s->costs->transfer_ns[t][s->costs->link_kind[link]];
}

static inline void naive_prepare(naive *n, const lab *s, const int32_t *device) {
  const situ_graph *g = s->graph;
  const situ_platform *p = s->platform;
  memset(n, 0, sizeof *n);
  for (int32_t v = 0; v < g->n_operators; v++) n->start[v] = n->finish[v] = -1;
  for (int32_t t = 0; t < g->n_tensors; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t from = p->memory_of[device[g->producer[t]]], to = p->memory_of[device[g->use[i]]];
      naive_way *w = &n->way[t][to];
      w->wanted = true;
      w->ready = -1;
      int32_t first = p->route_start[from * p->n_memories + to];
      w->n_hops = p->route_start[from * p->n_memories + to + 1] - first;
      assert_true(w->n_hops <= NAIVE_HOPS);
      for (int32_t h = 0; h < w->n_hops; h++) w->link[h] = p->route_link[first + h];
    }
}

/* One look at instant `now`: whether anything changed. Channels begin nothing here but hops of no duration, and all
 * hops when nothing is contended for. */
static inline bool naive_step(naive *n, const lab *s, const int32_t *device, const int32_t *order, int64_t now,
                              bool contention) {
  const situ_graph *g = s->graph;
  bool changed = false, busy[8] = {false}, passed[8] = {false};
  for (int32_t i = 0; i < g->n_operators; i++) {
    int32_t v = order[i], d = device[v];
    if (n->start[v] >= 0 && !n->ended[v] && n->finish[v] == now) n->ended[v] = changed = true;
    if (n->start[v] >= 0 && !n->ended[v]) busy[d] = true;
    if (n->start[v] >= 0 || busy[d] || passed[d]) continue;
    passed[d] = true; /* the first that did not start is the only one that may */
    bool may = true;
    for (int64_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
      may = may && n->way[g->in[k]][s->platform->memory_of[d]].there;
    if (!may) continue;
    n->start[v] = now;
    n->finish[v] = now + s->costs->time_ns[v * s->costs->n_classes + s->platform->class_of[d]];
    changed = busy[d] = true;
  }
  for (int32_t t = 0; t < g->n_tensors; t++)
    for (int32_t m = 0; m < s->platform->n_memories; m++) {
      naive_way *w = &n->way[t][m];
      if (!w->wanted || w->there || !n->ended[g->producer[t]]) continue;
      if (w->ready < 0) {
        w->ready = now;
        changed = true;
      }
      if (w->under_way && w->finish[w->hop] == now) {
        w->under_way = false;
        w->hop++;
        w->ready = now;
        changed = true;
      }
      if (!w->under_way && w->hop == w->n_hops) {
        w->there = changed = true;
      } else if (!w->under_way && (!contention || naive_hop_time(s, t, w->link[w->hop]) == 0)) {
        w->start[w->hop] = now;
        w->finish[w->hop] = now + naive_hop_time(s, t, w->link[w->hop]);
        w->under_way = changed = true;
      }
    }
  return changed;
}

/* Every idle channel takes the first by (ready, tensor, memory). */
static inline void naive_choose(naive *n, const lab *s, int64_t now) {
  for (int32_t c = 0; c < s->platform->n_channels; c++) {
    naive_way *first = NULL;
    int32_t of_tensor = -1;
    bool busy = false;
    for (int32_t t = 0; t < s->graph->n_tensors; t++)
      for (int32_t m = 0; m < s->platform->n_memories; m++) {
        naive_way *w = &n->way[t][m];
        if (!w->wanted || w->there || w->ready < 0 || s->platform->links[w->link[w->hop]].channel != c) continue;
        busy = busy || w->under_way;
        if (!w->under_way && (!first || w->ready < first->ready)) {
          first = w;
          of_tensor = t;
        }
      }
    if (busy || !first) continue;
    first->under_way = true;
    first->start[first->hop] = now;
    first->finish[first->hop] = now + naive_hop_time(s, of_tensor, first->link[first->hop]);
  }
}

/* What memory m holds at `now`, by the text of docs/model.md. */
static inline int64_t naive_held(const naive *n, const lab *s, const int32_t *device, int32_t m, int64_t now) {
  const situ_graph *g = s->graph;
  int64_t held = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (s->platform->memory_of[device[v]] != m) continue;
    held += g->weight_bytes[v];
    if (n->start[v] <= now && now < n->finish[v]) held += g->workspace_bytes[v];
  }
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t v = g->producer[t];
    bool home = s->platform->memory_of[device[v]] == m;
    if (!home && !n->way[t][m].wanted) continue;
    const naive_way *w = &n->way[t][m];
    int64_t from = home ? n->start[v] : w->start[w->n_hops - 1], to = home ? n->finish[v] : 0;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      if (s->platform->memory_of[device[g->use[i]]] == m && n->finish[g->use[i]] > to) to = n->finish[g->use[i]];
    for (int32_t other = 0; home && other < s->platform->n_memories; other++)
      if (n->way[t][other].wanted && n->way[t][other].n_hops > 0 && n->way[t][other].finish[0] > to)
        to = n->way[t][other].finish[0];
    if (g->use_start[t] == g->use_start[t + 1]) to = INT64_MAX;
    if (from <= now && now < to) held += g->size_bytes[t];
  }
  return held;
}

static inline void naive_run(naive *n, const lab *s, const int32_t *device, const int32_t *order, bool contention) {
  naive_prepare(n, s, device);
  n->value = SITU_NEVER_NS;
  for (int64_t now = 0; now < 5000 && n->value == SITU_NEVER_NS; now++) {
    while (naive_step(n, s, device, order, now, contention)) continue;
    if (contention) naive_choose(n, s, now);
    bool all = true;
    for (int32_t v = 0; v < s->graph->n_operators; v++) all = all && n->ended[v];
    if (all) n->value = now;
  }
  for (int64_t now = 0; n->value != SITU_NEVER_NS && now <= n->value; now++)
    for (int32_t m = 0; m < s->platform->n_memories; m++) {
      int64_t held = naive_held(n, s, device, m, now);
      if (held > n->peak[m]) n->peak[m] = held;
    }
}

#endif
