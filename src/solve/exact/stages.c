#include "solve/exact/stages.h"

#include <string.h>

#include "base/checked.h"

static bool same_device(const situ_problem *p, int32_t a, int32_t b) {
  const situ_platform *m = p->platform;
  int64_t nd = p->n_devices;
  return p->class_of[a] == p->class_of[b] && m->devices[a].is_host == m->devices[b].is_host &&
         m->memory_bytes[p->memory_of[a]] == m->memory_bytes[p->memory_of[b]] &&
         p->device_kind[a * nd + p->host] == p->device_kind[b * nd + p->host] &&
         p->device_kind[p->host * nd + a] == p->device_kind[p->host * nd + b];
}

bool stages_serve(const situ_problem *p) {
  if (p->execution != SITU_EXECUTION_PIPELINE || p->communication != SITU_COMMUNICATION_HOST_STAGED || !p->contiguous)
    return false;
  for (int32_t a = 0; a < p->n_devices; a++)
    for (int32_t b = 0; b < a; b++)
      if (p->memory_of[a] == p->memory_of[b] && !p->unused[a] && !p->unused[b] &&
          p->platform->memory_bytes[p->memory_of[a]] != SITU_UNLIMITED_BYTES)
        return false;
  return true;
}

/* Devices with a pin stand alone, all others with their equals. */
static bool find_types(stages *s, arena *a) {
  const situ_problem *p = s->problem;
  bool *alone = ARENA_ZERO(a, bool, p->n_devices);
  s->types = ARENA_ZERO(a, device_type, p->n_devices);
  if (!alone || !s->types) return false;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] >= 0) alone[p->pin[v]] = true;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (p->unused[d] && !alone[d]) continue;
    int32_t t = 0;
    while (t < s->n_types && (alone[d] || alone[s->types[t].devices[0]] || !same_device(p, d, s->types[t].devices[0]))) t++;
    device_type *type = &s->types[t];
    if (t == s->n_types) {
      s->n_types++;
      type->devices = ARENA_NEW(a, int32_t, p->n_devices);
      if (!type->devices) return false;
      type->is_host = problem_is_host(p, d);
      type->memory_bytes = p->platform->memory_bytes[p->memory_of[d]];
    }
    type->devices[type->n_devices++] = d;
  }
  return true;
}

/* Renumbers the classes so that F goes upwards, by Kahn's algorithm with a stack: a
 * depth-first order, whose prefixes cut few tensors. */
static bool order_classes(stages *s, arena *a) {
  int32_t n = s->n = s->classes.n_classes;
  const constraint_graph *f = &s->classes.forward;
  int32_t *waiting = ARENA_ZERO(a, int32_t, n), *rank = ARENA_NEW(a, int32_t, n), *stack = ARENA_NEW(a, int32_t, n);
  s->class_at = ARENA_NEW(a, int32_t, n);
  s->n_words = (n + 63) / 64;
  s->predecessors = ARENA_ZERO(a, uint64_t, (int64_t)n * s->n_words);
  if (!waiting || !rank || !stack || !s->class_at || !s->predecessors) return false;
  for (int64_t i = 0; i < f->start[n]; i++) waiting[f->to[i]]++;
  int32_t depth = 0, done = 0;
  for (int32_t c = n - 1; c >= 0; c--)
    if (waiting[c] == 0) stack[depth++] = c;
  while (depth > 0) {
    int32_t c = stack[--depth];
    rank[c] = done;
    s->class_at[done++] = c;
    for (int64_t i = f->start[c + 1] - 1; i >= f->start[c]; i--)
      if (--waiting[f->to[i]] == 0) stack[depth++] = f->to[i];
  }
  for (int32_t c = 0; c < n; c++)
    for (int64_t i = f->start[c]; i < f->start[c + 1]; i++) {
      int32_t u = rank[c], v = rank[f->to[i]];
      s->predecessors[(int64_t)v * s->n_words + u / 64] |= 1ull << (u % 64);
    }
  return done == n;
}

/* Times, weights and footprints of the classes. */
static bool sum_classes(stages *s, arena *a) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  s->time_ns = ARENA_ZERO(a, int64_t, (int64_t)s->n_types * s->n);
  s->weight_bytes = ARENA_ZERO(a, int64_t, s->n);
  s->footprint_bytes = ARENA_ZERO(a, int64_t, s->n);
  if (!s->time_ns || !s->weight_bytes || !s->footprint_bytes) return false;
  for (int32_t i = 0; i < s->n; i++) {
    int32_t c = s->class_at[i];
    for (int32_t m = s->classes.member_start[c]; m < s->classes.member_start[c + 1]; m++) {
      int32_t v = s->classes.member[m];
      int64_t footprint = g->workspace_bytes[v], stash = 0;
      for (int64_t k = g->in_start[v]; k < g->in_start[v + 1]; k++)
        footprint = sat_add(footprint, g->size_bytes[g->in[k]]);
      for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
        footprint = sat_add(footprint, g->size_bytes[t]);
        bool kept = false;
        for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++)
          kept |= g->phase[v] == SITU_PHASE_FORWARD && g->phase[g->use[k]] != SITU_PHASE_FORWARD;
        if (kept) stash = sat_add(stash, g->size_bytes[t]);
      }
      s->footprint_bytes[i] = max64(s->footprint_bytes[i], sat_mul(footprint, p->in_flight));
      s->weight_bytes[i] = sat_add(s->weight_bytes[i], sat_add(g->weight_bytes[v], sat_mul(stash, p->in_flight)));
      for (int32_t t = 0; t < s->n_types; t++) {
        int32_t d = s->types[t].devices[0];
        int64_t *sum = &s->time_ns[(int64_t)t * s->n + i];
        *sum = problem_allows(p, v, d) ? sat_add(*sum, problem_time_ns(p, v, d)) : SITU_NEVER_NS;
      }
    }
  }
  return true;
}

/* The distinct classes that tensor t joins, the producer's first, into `pins`. */
static int32_t pins_of(const situ_graph *g, const int32_t *rank_of, int32_t t, int32_t *seen, int32_t mark,
                       int32_t *pins) {
  int32_t n = 0;
  pins[n++] = rank_of[g->producer[t]];
  seen[pins[0]] = mark;
  for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++) {
    int32_t c = rank_of[g->use[k]];
    if (seen[c] == mark) continue;
    seen[c] = mark;
    pins[n++] = c;
  }
  return n;
}

static bool list_touches(stages *s, arena *a) {
  s->touch_start = ARENA_ZERO(a, int32_t, (int64_t)s->n + 2);
  s->touch = ARENA_NEW(a, int32_t, s->pin_start[s->n_edges]);
  if (!s->touch_start || !s->touch) return false;
  for (int32_t i = 0; i < s->pin_start[s->n_edges]; i++) s->touch_start[s->pin[i] + 2]++;
  for (int32_t c = 0; c < s->n; c++) s->touch_start[c + 2] += s->touch_start[c + 1];
  for (int32_t e = 0; e < s->n_edges; e++)
    for (int32_t i = s->pin_start[e]; i < s->pin_start[e + 1]; i++) s->touch[s->touch_start[s->pin[i] + 1]++] = e;
  return true;
}

static bool find_edges(stages *s, arena *a) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  int32_t *rank_of = ARENA_NEW(a, int32_t, g->n_operators), *seen = ARENA_ZERO(a, int32_t, s->n);
  s->pin_start = ARENA_ZERO(a, int32_t, (int64_t)g->n_tensors + 1);
  s->pin = ARENA_NEW(a, int32_t, g->n_uses + g->n_tensors);
  s->in_ns = ARENA_ZERO(a, int64_t, (int64_t)s->n_types * g->n_tensors);
  s->out_ns = ARENA_ZERO(a, int64_t, (int64_t)s->n_types * g->n_tensors);
  if (!rank_of || !seen || !s->pin_start || !s->pin || !s->in_ns || !s->out_ns) return false;
  for (int32_t i = 0; i < s->n; i++)
    for (int32_t m = s->classes.member_start[s->class_at[i]]; m < s->classes.member_start[s->class_at[i] + 1]; m++)
      rank_of[s->classes.member[m]] = i;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t at = s->pin_start[s->n_edges], n_pins = pins_of(g, rank_of, t, seen, t + 1, s->pin + at);
    bool costs = false;
    for (int32_t k = 0; k < s->n_types && n_pins > 1; k++) {
      int32_t d = s->types[k].devices[0];
      if (s->types[k].is_host) continue;
      int64_t in_ns = problem_transfer_ns(p, t, p->host, d), out_ns = problem_transfer_ns(p, t, d, p->host);
      s->in_ns[(int64_t)k * g->n_tensors + s->n_edges] = in_ns;
      s->out_ns[(int64_t)k * g->n_tensors + s->n_edges] = out_ns;
      costs |= in_ns > 0 || out_ns > 0;
    }
    if (costs) s->pin_start[++s->n_edges] = at + n_pins;
  }
  for (int32_t k = 1; k < s->n_types; k++) { /* close up the rows */
    memmove(s->in_ns + (int64_t)k * s->n_edges, s->in_ns + (int64_t)k * g->n_tensors, (size_t)s->n_edges * 8);
    memmove(s->out_ns + (int64_t)k * s->n_edges, s->out_ns + (int64_t)k * g->n_tensors, (size_t)s->n_edges * 8);
  }
  return list_touches(s, a);
}

bool stages_find(stages *s, const situ_problem *problem, arena *a) {
  *s = (stages){.problem = problem};
  return contract(&s->classes, problem, a) && find_types(s, a) && order_classes(s, a) && sum_classes(s, a) &&
         find_edges(s, a);
}

bool stages_fit(const stages *s) {
  const int64_t most = INT64_MAX / 8;
  int64_t weights = 0;
  for (int32_t t = 0; t < s->n_types; t++) {
    int64_t sum = 0;
    for (int32_t i = 0; i < s->n; i++)
      if (s->time_ns[(int64_t)t * s->n + i] != SITU_NEVER_NS) sum = sat_add(sum, s->time_ns[(int64_t)t * s->n + i]);
    for (int32_t e = 0; e < s->n_edges; e++)
      sum = sat_add(sum, sat_add(s->in_ns[(int64_t)t * s->n_edges + e], s->out_ns[(int64_t)t * s->n_edges + e]));
    if (sum > most) return false;
  }
  for (int32_t i = 0; i < s->n; i++) weights = sat_add(weights, sat_add(s->weight_bytes[i], s->footprint_bytes[i]));
  return weights < most;
}
