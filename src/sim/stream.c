#include "sim/stream.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"

int64_t stream_max_sendings(const stream *s) {
  const situ_graph *g = s->graph;
  int64_t max = 0;
  for (int32_t t = 0; t < g->n_tensors; t++) max += min64(g->use_start[t + 1] - g->use_start[t], s->n_memories - 1);
  return max;
}

void stream_chain(stream *s, const placement *where) {
  const int32_t *device = where->device, *order = where->order;
  int32_t *last = s->device_at, *next = s->next;
  s->device = device;
  s->order = order;
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

/* Without contention an operator starts at the maximum of the end of the previous one on its device and the arrivals of
 * its inputs. */
bool stream_run_free(stream *s, const placement *where, int32_t first) {
  REQUIRE(first >= 0 && first <= s->n_operators);
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
      if (kind) ready = sat_add(ready, p->transfer_ns[in.tensor][kind]);
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
