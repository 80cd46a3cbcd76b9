#include "partition/part_search.h"

#include <string.h>

bool part_sequence_new(part_sequence *s, const situ_graph *g, int32_t n_devices, arena *a) {
  int32_t n = g->n_operators;
  *s = (part_sequence){.graph = g, .n_devices = n_devices};
  return ARENA_ARRAYS(a, ARRAY(s->part, n), ARRAY(s->device, n), ARRAY(s->size, n), ARRAY(s->waits, n),
                      ARRAY(s->next, n), ARRAY(s->queue, n), ARRAY(s->log, g->n_uses), ARRAY(s->first, n_devices),
                      ARRAY(s->n_left, n_devices));
}

typedef struct walk {
  part_sequence *s;
  const int32_t *device;
  bool backward;
  int32_t n_log, n_queue;
} walk;

/* One edge less is waited for. Operators that become ready are queued if they are on device d, else kept in the list of
 * theirs unless this is a trial. */
static void reach(walk *w, int32_t u, int32_t d, bool trial) {
  part_sequence *s = w->s;
  if (trial) s->log[w->n_log++] = u;
  if (--s->waits[u] > 0) return;
  if (w->device[u] == d) {
    s->queue[w->n_queue++] = u;
  } else if (!trial) {
    s->next[u] = s->first[w->device[u]];
    s->first[w->device[u]] = u;
  }
}

static void leave(walk *w, int32_t v, int32_t d, bool trial) {
  const situ_graph *g = w->s->graph;
  if (w->backward) {
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) reach(w, g->producer[g->in[i]], d, trial);
    w->s->work += g->in_start[v + 1] - g->in_start[v] + 1;
    return;
  }
  int64_t from = g->use_start[g->out_start[v]], to = g->use_start[g->out_start[v + 1]];
  for (int64_t i = from; i < to; i++) reach(w, g->use[i], d, trial);
  w->s->work += to - from + 1;
}

/* What device d can run now, and with it; returns how many operators. A trial changes nothing. */
static int32_t closure(walk *w, int32_t d, bool trial) {
  part_sequence *s = w->s;
  w->n_queue = w->n_log = 0;
  for (int32_t v = s->first[d]; v >= 0; v = s->next[v]) s->queue[w->n_queue++] = v;
  if (!trial) s->first[d] = -1;
  for (int32_t i = 0; i < w->n_queue; i++) leave(w, s->queue[i], d, trial);
  for (int32_t i = 0; i < w->n_log; i++) s->waits[s->log[i]]++;
  return w->n_queue;
}

/* The device that comes next: one that can run all that it has left, else the one that can run most. */
static int32_t choose(walk *w) {
  part_sequence *s = w->s;
  int32_t n = 0, best = -1, best_n = -1;
  for (int32_t d = 0; d < s->n_devices; d++)
    if (s->first[d] >= 0) n++, best = d;
  for (int32_t d = 0; d < s->n_devices && n > 1; d++) {
    if (s->first[d] < 0) continue;
    int32_t can = closure(w, d, true);
    if (can == s->n_left[d]) can = INT32_MAX;
    if (can > best_n) best = d, best_n = can;
  }
  return best;
}

static void begin(walk *w) {
  part_sequence *s = w->s;
  const situ_graph *g = s->graph;
  for (int32_t d = 0; d < s->n_devices; d++) s->first[d] = -1, s->n_left[d] = 0;
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    s->waits[v] = (int32_t)(w->backward ? g->use_start[g->out_start[v + 1]] - g->use_start[g->out_start[v]]
                                        : g->in_start[v + 1] - g->in_start[v]);
    s->n_left[w->device[v]]++;
    if (s->waits[v] > 0) continue;
    s->next[v] = s->first[w->device[v]];
    s->first[w->device[v]] = v;
  }
  s->work += g->n_operators;
  s->n_parts = 0;
}

static void turn_round(part_sequence *s) {
  for (int32_t v = 0; v < s->graph->n_operators; v++) s->part[v] = s->n_parts - 1 - s->part[v];
  for (int32_t i = 0, k = s->n_parts - 1; i < k; i++, k--) {
    int32_t device = s->device[i], size = s->size[i];
    s->device[i] = s->device[k];
    s->size[i] = s->size[k];
    s->device[k] = device;
    s->size[k] = size;
  }
}

void part_sequence_find(part_sequence *s, const int32_t *device, int32_t first, bool backward) {
  walk w = {.s = s, .device = device, .backward = backward};
  begin(&w);
  for (int32_t n_left = s->graph->n_operators; n_left > 0;) {
    int32_t d = s->n_parts == 0 && s->first[first] >= 0 ? first : choose(&w);
    int32_t n = closure(&w, d, false), part = s->n_parts++;
    for (int32_t i = 0; i < n; i++) s->part[s->queue[i]] = part;
    s->device[part] = d;
    s->size[part] = n;
    s->n_left[d] -= n;
    n_left -= n;
  }
  if (backward) turn_round(s);
}

void part_sequence_copy(part_sequence *to, const part_sequence *from) {
  to->n_parts = from->n_parts;
  memcpy(to->part, from->part, (size_t)from->graph->n_operators * sizeof *to->part);
  memcpy(to->device, from->device, (size_t)from->n_parts * sizeof *to->device);
  memcpy(to->size, from->size, (size_t)from->n_parts * sizeof *to->size);
}
