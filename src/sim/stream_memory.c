/* Memory over time in the stream model, after a run: every item is allocated at one time and released at another. The
 * events are sorted by time, releases first, and summed; intervals are half-open, so that a release at an instant comes
 * before an allocation. */
#include "sim/stream.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"

struct stream_memory {
  /* Items: the workspace of an operator (its number), a tensor in the memory of its producer (n_operators + its
   * number), then copies in other memories. */
  int32_t *copy_tensor, *copy_memory; /* [copy] */
  int32_t n_copies;
  uint64_t *event_key, *event_key_other;  /* 2 * time, + 1 for allocations, so that releases come first; _other: */
  int32_t *event_item, *event_item_other; /* buffers of the sort */
  int64_t n_events;
  int64_t *peak_bytes; /* [memory] */

  /* scratch, [memory] */
  int64_t *until_ns; /* end of the last user of the tensor there */
  int32_t *reached;  /* memories that have users of the tensor, in order of first user */
  int32_t *slot;     /* the index of a memory in `reached`, if it is there */
  __int128 *held_bytes;

  memory_change *change_log; /* NULL, or where each change is written: n_changes of them */
  int64_t n_changes;
};

stream_memory *stream_memory_new(const stream *s, arena *a) {
  stream_memory *f = ARENA_ZERO(a, stream_memory, 1);
  if (!f) return NULL;
  const situ_graph *g = s->graph;
  int64_t copies = stream_max_sendings(s), items = copies;
  for (int32_t v = 0; v < s->n_operators; v++) items += g->workspace_bytes[v] > 0;
  for (int32_t t = 0; t < g->n_tensors; t++) items += g->size_bytes[t] > 0;
  bool made =
      (f->until_ns = ARENA_NEW(a, int64_t, s->n_memories)) && (f->reached = ARENA_NEW(a, int32_t, s->n_memories)) &&
      (f->slot = ARENA_NEW(a, int32_t, s->n_memories)) && (f->copy_tensor = ARENA_NEW(a, int32_t, copies)) &&
      (f->copy_memory = ARENA_NEW(a, int32_t, copies)) && (f->event_key = ARENA_NEW(a, uint64_t, 2 * items)) &&
      (f->event_item = ARENA_NEW(a, int32_t, 2 * items)) && (f->event_key_other = ARENA_NEW(a, uint64_t, 2 * items)) &&
      (f->event_item_other = ARENA_NEW(a, int32_t, 2 * items)) &&
      (f->held_bytes = ARENA_NEW(a, __int128, s->n_memories)) && (f->peak_bytes = ARENA_NEW(a, int64_t, s->n_memories));
  return made ? f : NULL;
}

/* The item is held from start to end; with an end of SITU_NEVER_NS it is never released. */
static void hold(stream_memory *f, int32_t item, int64_t start, int64_t end) {
  if (start >= end) return;
  f->event_item[f->n_events] = item;
  f->event_key[f->n_events++] = (uint64_t)start * 2 + 1;
  if (end == SITU_NEVER_NS) return;
  f->event_item[f->n_events] = item;
  f->event_key[f->n_events++] = (uint64_t)end * 2;
}

/* The times of tensor t of operator v between memories m and w: the end of its first hop, the start of its last. */
static void free_transfer(const stream *s, int32_t t, int32_t v, int32_t m, int32_t w, int64_t *left, int64_t *came) {
  const situ_problem *p = s->problem;
  const situ_platform *q = s->platform;
  const int64_t *cost = p->transfer_ns[t];
  const int32_t *route = q->route_start + (int64_t)m * s->n_memories + w, *kind = p->costs->link_kind;
  int64_t whole = cost[p->costs->pair_kind[(int64_t)m * s->n_memories + w]];
  *left = sat_add(s->finish_ns[v], cost[kind[q->route_link[route[0]]]]);
  *came = s->finish_ns[v] + whole - cost[kind[q->route_link[route[1] - 1]]];
}

static void hold_tensor(stream_memory *f, const stream *s, const placement *where, int32_t t) {
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
    int32_t k = f->slot[to];
    if (k < 0 || k >= n_reached || f->reached[k] != to) {
      k = f->slot[to] = n_reached++;
      f->reached[k] = to;
      f->until_ns[k] = 0;
    }
    f->until_ns[k] = max64(f->until_ns[k], s->finish_ns[w]);
  }
  for (int32_t k = 0; k < n_reached; k++) {
    int64_t left, came;
    if (p->contention == SITU_CONTENTION_LINK) {
      left = s->link.sending[s->link.first_sending[t] + k].left_ns;
      came = s->link.sending[s->link.first_sending[t] + k].came_ns;
    } else {
      free_transfer(s, t, v, m, f->reached[k], &left, &came);
    }
    local_end = max64(local_end, left);
    f->copy_tensor[f->n_copies] = t;
    f->copy_memory[f->n_copies] = f->reached[k];
    hold(f, s->n_operators + g->n_tensors + f->n_copies++, came, f->until_ns[k]);
  }
  hold(f, s->n_operators + t, s->start_ns[v], local_end);
}

/* Sorts the events by key: least significant digit first, only as many digits as the largest key has. */
static void sort_events(stream_memory *f) {
  enum { BITS = 11, BUCKETS = 1 << BITS };
  uint64_t all = 0;
  for (int64_t i = 0; i < f->n_events; i++) all |= f->event_key[i];
  for (int shift = 0; shift < 64 && all >> shift; shift += BITS) {
    int64_t at[BUCKETS] = {0}, sum = 0;
    for (int64_t i = 0; i < f->n_events; i++) at[f->event_key[i] >> shift & (BUCKETS - 1)]++;
    for (int32_t b = 0; b < BUCKETS; b++) {
      int64_t count = at[b];
      at[b] = sum;
      sum += count;
    }
    for (int64_t i = 0; i < f->n_events; i++) {
      int64_t to = at[f->event_key[i] >> shift & (BUCKETS - 1)]++;
      f->event_key_other[to] = f->event_key[i];
      f->event_item_other[to] = f->event_item[i];
    }
    uint64_t *key = f->event_key;
    int32_t *item = f->event_item;
    f->event_key = f->event_key_other;
    f->event_item = f->event_item_other;
    f->event_key_other = key;
    f->event_item_other = item;
  }
}

/* Logs what memory m holds now; a later change at the same instant replaces it. */
static void log_change(stream_memory *f, int64_t time_ns, int32_t m) {
  int64_t held = f->held_bytes[m] > INT64_MAX ? INT64_MAX : (int64_t)f->held_bytes[m];
  for (int64_t i = f->n_changes - 1; i >= 0 && f->change_log[i].time_ns == time_ns; i--)
    if (f->change_log[i].memory == m) {
      f->change_log[i].held_bytes = held;
      return;
    }
  f->change_log[f->n_changes++] = (memory_change){time_ns, held, m};
}

/* Weights of the first copy on each memory where only later copies are. */
static void hold_shared_weights(stream_memory *f, const situ_problem *p, const placement *where) {
  int32_t n = p->n_operators / p->n_copies;
  for (int32_t v = n; v < p->n_operators; v++) {
    int64_t bytes = problem_shared_bytes(p, v);
    int32_t m = p->memory_of[where->device[v]], u = v % n;
    while (bytes > 0 && u < v && p->memory_of[where->device[u]] != m) u += n;
    if (bytes > 0 && u == v) f->held_bytes[m] += bytes;
  }
}

static void add_up(stream_memory *f, const stream *s, const placement *where) {
  const situ_graph *g = s->graph;
  const int32_t *memory_of = s->problem->memory_of;
  for (int32_t m = 0; m < s->n_memories; m++) f->held_bytes[m] = 0;
  for (int32_t v = 0; v < s->n_operators; v++) f->held_bytes[memory_of[where->device[v]]] += g->weight_bytes[v];
  if (s->problem->n_copies > 1) hold_shared_weights(f, s->problem, where);
  for (int32_t m = 0; m < s->n_memories; m++)
    f->peak_bytes[m] = f->held_bytes[m] > INT64_MAX ? INT64_MAX : (int64_t)f->held_bytes[m];
  for (int32_t m = 0; f->change_log && m < s->n_memories; m++) log_change(f, 0, m);
  for (int64_t i = 0; i < f->n_events; i++) {
    int32_t item = f->event_item[i], m;
    int64_t bytes;
    if (item < s->n_operators) {
      bytes = g->workspace_bytes[item];
      m = memory_of[where->device[item]];
    } else if ((item -= s->n_operators) < g->n_tensors) {
      bytes = g->size_bytes[item];
      m = memory_of[where->device[g->producer[item]]];
    } else {
      item -= g->n_tensors;
      bytes = g->size_bytes[f->copy_tensor[item]];
      m = f->copy_memory[item];
    }
    if (f->event_key[i] & 1) {
      f->held_bytes[m] += bytes;
      if (f->held_bytes[m] > f->peak_bytes[m])
        f->peak_bytes[m] = f->held_bytes[m] > INT64_MAX ? INT64_MAX : (int64_t)f->held_bytes[m];
    } else {
      f->held_bytes[m] -= bytes;
    }
    if (f->change_log) log_change(f, (int64_t)(f->event_key[i] / 2), m);
  }
}

int64_t stream_follow_memory(stream *s, const placement *where) {
  stream_memory *f = s->memory;
  const situ_graph *g = s->graph;
  f->n_events = 0;
  f->n_copies = 0;
  memset(f->slot, 0xff, (size_t)s->n_memories * sizeof *f->slot);
  for (int32_t v = 0; v < s->n_operators; v++)
    if (g->workspace_bytes[v] > 0) hold(f, v, s->start_ns[v], s->finish_ns[v]);
  for (int32_t t = 0; t < g->n_tensors; t++)
    if (g->size_bytes[t] > 0) hold_tensor(f, s, where, t);
  sort_events(f);
  add_up(f, s, where);
  for (int32_t m = 0; m < s->n_memories; m++) ENSURE(f->held_bytes[m] >= 0);
  return platform_excess_bytes(s->platform, f->peak_bytes);
}

const int64_t *stream_peak_bytes(const stream *s) { return s->memory->peak_bytes; }

situ_status stream_log_memory(stream *s, const placement *where, memory_change **out, int64_t *n, arena *a,
                              situ_error *error) {
  stream_memory *f = s->memory;
  f->change_log = ARENA_NEW(a, memory_change, f->n_events + s->n_memories);
  if (!f->change_log) return fail_no_memory(error);
  f->n_changes = 0;
  add_up(f, s, where); /* the events of the run are still there, sorted */
  *out = f->change_log;
  ENSURE(f->n_changes <= f->n_events + s->n_memories);
  *n = f->n_changes;
  f->change_log = NULL;
  return SITU_STATUS_OK;
}
