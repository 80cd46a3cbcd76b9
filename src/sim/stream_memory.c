/* Memory over time in the stream model, after a run: every item takes its room at one time and gives it back at
 * another. The events are sorted by time, releases first, and added up; intervals are half open, so that what ends at
 * an instant makes room for what starts there. */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "sim/stream.h"

bool stream_make_memory(stream *s, arena *a) {
  const situ_graph *g = s->graph;
  int64_t copies = stream_most_sendings(s), items = copies;
  for (int32_t v = 0; v < s->n_operators; v++) items += g->workspace_bytes[v] > 0;
  for (int32_t t = 0; t < g->n_tensors; t++) items += g->size_bytes[t] > 0;
  return (s->until_ns = ARENA_NEW(a, int64_t, s->n_memories)) && (s->reached = ARENA_NEW(a, int32_t, s->n_memories)) &&
         (s->slot || (s->slot = ARENA_NEW(a, int32_t, s->n_memories))) &&
         (s->copy_tensor = ARENA_NEW(a, int32_t, copies)) && (s->copy_memory = ARENA_NEW(a, int32_t, copies)) &&
         (s->event_key = ARENA_NEW(a, uint64_t, 2 * items)) && (s->event_item = ARENA_NEW(a, int32_t, 2 * items)) &&
         (s->event_key_other = ARENA_NEW(a, uint64_t, 2 * items)) &&
         (s->event_item_other = ARENA_NEW(a, int32_t, 2 * items)) &&
         (s->held_bytes = ARENA_NEW(a, __int128, s->n_memories)) &&
         (s->peak_bytes = ARENA_NEW(a, int64_t, s->n_memories));
}

/* Item holds its room from start to end; an end of SITU_NEVER_NS means that it stays. */
static void hold(stream *s, int32_t item, int64_t start, int64_t end) {
  if (start >= end) return;
  s->event_item[s->n_events] = item;
  s->event_key[s->n_events++] = (uint64_t)start * 2 + 1;
  if (end == SITU_NEVER_NS) return;
  s->event_item[s->n_events] = item;
  s->event_key[s->n_events++] = (uint64_t)end * 2;
}

/* The times of tensor t of operator v between memories m and w: the end of its first hop, the start of its last. */
static void free_transfer(const stream *s, int32_t t, int32_t v, int32_t m, int32_t w, int64_t *left, int64_t *came) {
  const situ_problem *p = s->problem;
  const situ_platform *q = s->platform;
  const int64_t *cost = p->transfer_ns + (int64_t)t * p->n_kinds;
  const int32_t *route = q->route_start + (int64_t)m * s->n_memories + w, *kind = p->costs->link_kind;
  int64_t whole = cost[p->costs->pair_kind[(int64_t)m * s->n_memories + w]];
  *left = sat_add(s->finish_ns[v], cost[kind[q->route_link[route[0]]]]);
  *came = s->finish_ns[v] + whole - cost[kind[q->route_link[route[1] - 1]]];
}

static void hold_tensor(stream *s, const placement *where, int32_t t) {
  const situ_problem *p = s->problem;
  const situ_graph *g = s->graph;
  int32_t v = g->producer[t], m = p->memory_of[where->device[v]], n_reached = 0;
  int64_t local_end = s->finish_ns[v];
  if (g->use_start[t] == g->use_start[t + 1]) local_end = SITU_NEVER_NS;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    int32_t w = g->use[i], to = p->memory_of[where->device[w]];
    if (to == m) {
      local_end = max64(local_end, s->finish_ns[w]);
      continue;
    }
    int32_t k = s->slot[to];
    if (k < 0 || k >= n_reached || s->reached[k] != to) {
      k = s->slot[to] = n_reached++;
      s->reached[k] = to;
      s->until_ns[k] = 0;
    }
    s->until_ns[k] = max64(s->until_ns[k], s->finish_ns[w]);
  }
  for (int32_t k = 0; k < n_reached; k++) {
    int64_t left, came;
    if (p->contention == SITU_CONTENTION_LINK) {
      left = s->sending[s->first_sending[t] + k].left_ns;
      came = s->sending[s->first_sending[t] + k].came_ns;
    } else {
      free_transfer(s, t, v, m, s->reached[k], &left, &came);
    }
    local_end = max64(local_end, left);
    s->copy_tensor[s->n_copies] = t;
    s->copy_memory[s->n_copies] = s->reached[k];
    hold(s, s->n_operators + g->n_tensors + s->n_copies++, came, s->until_ns[k]);
  }
  hold(s, s->n_operators + t, s->start_ns[v], local_end);
}

/* Sorts the events by key: least significant digit first, only as many digits as the greatest key has. */
static void sort_events(stream *s) {
  enum { BITS = 11, BUCKETS = 1 << BITS };
  uint64_t all = 0;
  for (int64_t i = 0; i < s->n_events; i++) all |= s->event_key[i];
  for (int shift = 0; shift < 64 && all >> shift; shift += BITS) {
    int64_t at[BUCKETS] = {0}, sum = 0;
    for (int64_t i = 0; i < s->n_events; i++) at[s->event_key[i] >> shift & (BUCKETS - 1)]++;
    for (int32_t b = 0; b < BUCKETS; b++) {
      int64_t count = at[b];
      at[b] = sum;
      sum += count;
    }
    for (int64_t i = 0; i < s->n_events; i++) {
      int64_t to = at[s->event_key[i] >> shift & (BUCKETS - 1)]++;
      s->event_key_other[to] = s->event_key[i];
      s->event_item_other[to] = s->event_item[i];
    }
    uint64_t *key = s->event_key;
    int32_t *item = s->event_item;
    s->event_key = s->event_key_other;
    s->event_item = s->event_item_other;
    s->event_key_other = key;
    s->event_item_other = item;
  }
}

/* Writes down what memory m holds now; a later change at the same instant takes its place. */
static void log_change(stream *s, int64_t time_ns, int32_t m) {
  int64_t held = s->held_bytes[m] > INT64_MAX ? INT64_MAX : (int64_t)s->held_bytes[m];
  for (int64_t i = s->n_changes - 1; i >= 0 && s->change_log[i].time_ns == time_ns; i--)
    if (s->change_log[i].memory == m) {
      s->change_log[i].held_bytes = held;
      return;
    }
  s->change_log[s->n_changes++] = (memory_change){time_ns, held, m};
}

/* Weights of the first copy on each memory where only later copies are. */
static void hold_shared_weights(stream *s, const placement *where) {
  const situ_problem *p = s->problem;
  int32_t n = p->n_operators / p->n_copies;
  for (int32_t v = n; v < p->n_operators; v++) {
    int64_t bytes = problem_shared_bytes(p, v);
    int32_t m = p->memory_of[where->device[v]], u = v % n;
    while (bytes > 0 && u < v && p->memory_of[where->device[u]] != m) u += n;
    if (bytes > 0 && u == v) s->held_bytes[m] += bytes;
  }
}

static void add_up(stream *s, const placement *where) {
  const situ_graph *g = s->graph;
  const int32_t *memory_of = s->problem->memory_of;
  for (int32_t m = 0; m < s->n_memories; m++) s->held_bytes[m] = 0;
  for (int32_t v = 0; v < s->n_operators; v++) s->held_bytes[memory_of[where->device[v]]] += g->weight_bytes[v];
  if (s->problem->n_copies > 1) hold_shared_weights(s, where);
  for (int32_t m = 0; m < s->n_memories; m++)
    s->peak_bytes[m] = s->held_bytes[m] > INT64_MAX ? INT64_MAX : (int64_t)s->held_bytes[m];
  for (int32_t m = 0; s->change_log && m < s->n_memories; m++) log_change(s, 0, m);
  for (int64_t i = 0; i < s->n_events; i++) {
    int32_t item = s->event_item[i], m;
    int64_t bytes;
    if (item < s->n_operators) {
      bytes = g->workspace_bytes[item];
      m = memory_of[where->device[item]];
    } else if ((item -= s->n_operators) < g->n_tensors) {
      bytes = g->size_bytes[item];
      m = memory_of[where->device[g->producer[item]]];
    } else {
      item -= g->n_tensors;
      bytes = g->size_bytes[s->copy_tensor[item]];
      m = s->copy_memory[item];
    }
    if (s->event_key[i] & 1) {
      s->held_bytes[m] += bytes;
      if (s->held_bytes[m] > s->peak_bytes[m])
        s->peak_bytes[m] = s->held_bytes[m] > INT64_MAX ? INT64_MAX : (int64_t)s->held_bytes[m];
    } else {
      s->held_bytes[m] -= bytes;
    }
    if (s->change_log) log_change(s, (int64_t)(s->event_key[i] / 2), m);
  }
}

int64_t stream_follow_memory(stream *s, const placement *where) {
  const situ_graph *g = s->graph;
  s->n_events = 0;
  s->n_copies = 0;
  memset(s->slot, 0xff, (size_t)s->n_memories * sizeof *s->slot);
  for (int32_t v = 0; v < s->n_operators; v++)
    if (g->workspace_bytes[v] > 0) hold(s, v, s->start_ns[v], s->finish_ns[v]);
  for (int32_t t = 0; t < g->n_tensors; t++)
    if (g->size_bytes[t] > 0) hold_tensor(s, where, t);
  sort_events(s);
  add_up(s, where);
  int64_t excess = 0;
  for (int32_t m = 0; m < s->n_memories; m++)
    excess = sat_add(excess, max64(0, s->peak_bytes[m] - s->platform->memory_bytes[m]));
  return excess;
}

situ_status stream_log_memory(void *model, const placement *where, memory_change **out, int64_t *n, arena *a,
                              situ_error *error) {
  stream *s = model;
  simulation found = {.value_ns = SITU_NEVER_NS};
  stream_run(s, where, true, &found);
  if (found.value_ns == SITU_NEVER_NS) return SITU_STATUS_OK;
  s->change_log = ARENA_NEW(a, memory_change, s->n_events + s->n_memories);
  if (!s->change_log) return fail_no_memory(error);
  s->n_changes = 0;
  add_up(s, where); /* the events of the run are still there, sorted */
  *out = s->change_log;
  *n = s->n_changes;
  s->change_log = NULL;
  return SITU_STATUS_OK;
}
