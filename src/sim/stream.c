/* The stream model: set-up, the run without contention, and its row. */
#include "sim/stream.h"

#include <string.h>

#include "base/checked.h"

int64_t stream_most_sendings(const stream *s) {
  const situ_graph *g = s->graph;
  int64_t most = 0;
  for (int32_t t = 0; t < g->n_tensors; t++) most += min64(g->use_start[t + 1] - g->use_start[t], s->n_memories - 1);
  return most;
}

static void *make(const situ_problem *problem, arena *a) {
  stream *s = ARENA_ZERO(a, stream, 1);
  if (!s) return NULL;
  const situ_graph *g = problem->graph;
  s->problem = problem;
  s->graph = g;
  s->platform = problem->platform;
  s->n_operators = problem->n_operators;
  s->n_devices = problem->n_devices;
  s->n_memories = problem->n_memories;
  s->n_channels = problem->platform->n_channels;
  s->input = ARENA_NEW(a, stream_input, g->n_uses);
  s->start_ns = ARENA_NEW(a, int64_t, s->n_operators);
  s->finish_ns = ARENA_NEW(a, int64_t, s->n_operators);
  s->load_ns = ARENA_NEW(a, int64_t, s->n_devices);
  s->free_ns = ARENA_NEW(a, int64_t, s->n_devices);
  s->position = ARENA_NEW(a, int32_t, s->n_operators);
  s->next = ARENA_NEW(a, int32_t, (int64_t)s->n_operators + s->n_devices);
  s->device_at = ARENA_NEW(a, int32_t, s->n_devices);
  if (!s->input || !s->start_ns || !s->finish_ns || !s->load_ns || !s->free_ns || !s->position || !s->next ||
      !s->device_at)
    return NULL;
  for (int64_t i = 0; i < g->n_uses; i++) s->input[i] = (stream_input){g->in[i], g->producer[g->in[i]]};
  if (problem->contention == SITU_CONTENTION_LINK && !stream_make_link(s, a)) return NULL;
  return stream_make_memory(s, a) ? s : NULL;
}

void stream_chain(stream *s, const placement *where) {
  const int32_t *device = where->device, *order = where->order;
  int32_t *last = s->device_at, *next = s->next;
  s->device = device;
  for (int32_t d = 0; d < s->n_devices; d++) last[d] = s->n_operators + d;
  for (int32_t i = 0; i < s->n_operators; i++) {
    int32_t v = order ? order[i] : i, d = device[v];
    s->position[v] = i;
    next[last[d]] = v;
    last[d] = v;
  }
  for (int32_t d = 0; d < s->n_devices; d++) {
    next[last[d]] = -1;
    last[d] = s->n_operators + d;
  }
}

/* Without contention an operator starts at the greatest of the end of its device's last one and the arrivals of its
 * inputs. */
bool stream_run_free(stream *s, const placement *where, int32_t first) {
  const situ_problem *p = s->problem;
  const int64_t *in_start = s->graph->in_start;
  const int32_t *device = where->device, n_devices = s->n_devices;
  int64_t *finish_ns = s->finish_ns;
  memset(s->free_ns, 0, (size_t)n_devices * sizeof *s->free_ns);
  for (int32_t i = 0; i < s->n_operators; i++) {
    int32_t v = where->order ? where->order[i] : i, d = device[v];
    int64_t time = p->time_ns[(int64_t)v * p->n_classes + p->class_of[d]], start = s->free_ns[d];
    if (i < first) {
      s->free_ns[d] = finish_ns[v];
      continue;
    }
    for (int64_t k = in_start[v]; k < in_start[v + 1]; k++) {
      stream_input in = s->input[k];
      int64_t ready = finish_ns[in.producer];
      if (ready < 0) return false;
      int32_t kind = p->device_kind[(int64_t)device[in.producer] * n_devices + d];
      if (kind) ready = sat_add(ready, p->transfer_ns[(int64_t)in.tensor * p->n_kinds + kind]);
      start = max64(start, ready);
    }
    int64_t finish = sat_add(start, time);
    s->stopped = s->tail_ns && s->tail_ns[v] >= s->limit_ns - start;
    if (finish == SITU_NEVER_NS || s->stopped) return false;
    s->start_ns[v] = start;
    finish_ns[v] = s->free_ns[d] = finish;
  }
  return true;
}

void stream_tell(stream *s, const placement *where, bool memory, simulation *out) {
  out->value_ns = 0;
  out->worst_device = where->device[0];
  memset(s->load_ns, 0, (size_t)s->n_devices * sizeof *s->load_ns);
  for (int32_t v = 0; v < s->n_operators; v++) {
    s->load_ns[where->device[v]] += s->finish_ns[v] - s->start_ns[v]; /* at most the value */
    if (s->finish_ns[v] <= out->value_ns) continue;
    out->value_ns = s->finish_ns[v];
    out->worst_device = where->device[v];
  }
  out->start_ns = s->start_ns;
  out->finish_ns = s->finish_ns;
  out->load_ns = s->load_ns;
  if (!memory) return;
  out->excess_bytes = stream_follow_memory(s, where);
  out->peak_bytes = s->peak_bytes;
}

void stream_run(void *model, const placement *where, bool memory, simulation *out) {
  stream *s = model;
  bool ran;
  if (s->problem->contention == SITU_CONTENTION_LINK) {
    stream_chain(s, where);
    ran = stream_run_link(s);
  } else {
    memset(s->finish_ns, 0xff, (size_t)s->n_operators * sizeof *s->finish_ns); /* -1: not placed yet */
    ran = stream_run_free(s, where, 0);
  }
  if (ran) stream_tell(s, where, memory, out);
}

const execution_model stream_model = {.execution = SITU_EXECUTION_STREAM,
                                      .make = make,
                                      .run = stream_run,
                                      .base_new = stream_base_new,
                                      .run_base = stream_run_base,
                                      .run_below = stream_run_below,
                                      .plan = stream_fill_plan,
                                      .memory = stream_log_memory,
                                      .dispatch = stream_dispatch};
