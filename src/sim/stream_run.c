/* Set-up of the stream model; one run and its results. */
#include "sim/stream.h"

#include <string.h>

void *stream_make(const situ_problem *problem, arena *a) {
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
  if (!ARENA_ARRAYS(a, ARRAY(s->input, g->n_uses), ARRAY(s->start_ns, s->n_operators),
                    ARRAY(s->finish_ns, s->n_operators), ARRAY(s->load_ns, s->n_devices),
                    ARRAY(s->free_ns, s->n_devices), ARRAY(s->position, s->n_operators),
                    ARRAY(s->next, (int64_t)s->n_operators + s->n_devices), ARRAY(s->device_at, s->n_devices)))
    return NULL;
  for (int64_t i = 0; i < g->n_uses; i++) s->input[i] = (stream_input){g->in[i], g->producer[g->in[i]]};
  if (problem->contention == SITU_CONTENTION_LINK && !stream_link_make(s, a)) return NULL;
  return (s->memory = stream_memory_new(s, a)) ? s : NULL;
}

void stream_report(stream *s, const placement *where, bool memory, simulation *out) {
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
  out->peak_bytes = stream_peak_bytes(s);
}

void stream_run(void *model, const placement *where, bool memory, simulation *out) {
  stream *s = model;
  bool ran;
  if (s->problem->contention == SITU_CONTENTION_LINK) {
    stream_chain(s, where);
    ran = stream_run_link(s);
  } else {
    memset(s->finish_ns, 0xff, (size_t)s->n_operators * sizeof *s->finish_ns); /* -1: not yet run */
    ran = stream_run_free(s, where, 0);
  }
  if (ran) stream_report(s, where, memory, out);
}
