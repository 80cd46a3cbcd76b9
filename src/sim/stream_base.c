/* Runs of the stream model that reuse the common part of a base run, and end early if they are too long.
 *
 * With contention link the base saves checkpoints: the state of the event-driven run at the end of some instants. The
 * run of another placement is identical up to the instant at which the first event depends on a difference
 * (`divergence`); it starts from the last checkpoint before that. Without contention the run starts at the first
 * position that differs; with overlap none, where only sums matter, at the beginning.
 *
 * From its start an operator takes at least its tail to the end of everything, the longest way through operators that
 * follow on the same device and users of its tensors, without contention. A start at or after the limit minus
 * the tail ends the run. The tail of the last operator to end is at least its time, so a run is stopped exactly if its
 * value is at least the limit. docs/theory/models/trial_runs.md. */
#include "sim/stream.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"

typedef struct stream_base {
  bool valid;              /* there is a base */
  int32_t *device, *order; /* [operator] its placement */
  int64_t *start_ns, *finish_ns, *tail_ns;
  int32_t *next;                      /* as in the stream */
  int32_t *user_next, *first_sending; /* contention link, as in the stream */
  stream_checkpoints *checkpoints;    /* contention link */
  int64_t *trial_tail_ns;             /* [operator] of the current placement */
  int32_t low, high;                  /* the first and last position at which that differs; low > high: it does not */
} stream_base;

void *stream_base_new(void *model, arena *a) {
  stream *s = model;
  stream_base *b = ARENA_ZERO(a, stream_base, 1);
  if (!b) return NULL;
  int64_t n = s->n_operators;
  if (!ARENA_ARRAYS(a, ARRAY(b->device, n), ARRAY(b->order, n), ARRAY(b->start_ns, n), ARRAY(b->finish_ns, n),
                    ARRAY(b->tail_ns, n), ARRAY(b->trial_tail_ns, n), ARRAY(b->next, n + s->n_devices)))
    return NULL;
  if (s->problem->contention != SITU_CONTENTION_LINK || s->problem->overlap == SITU_OVERLAP_NONE) return b;
  if (!ARENA_ARRAYS(a, ARRAY(b->user_next, s->graph->n_uses), ARRAY(b->first_sending, s->graph->n_tensors)))
    return NULL;
  b->checkpoints = stream_checkpoints_new(s, a);
  return b->checkpoints ? b : NULL;
}

#define COPY(to, from, count) memcpy((to), (from), (size_t)(count) * sizeof *(to))

/* Restores the results before the checkpoint, after a complete run. */
static void restore_prefix(stream *s, const stream_base *b, int64_t point_ns) {
  for (int32_t v = 0; v < s->n_operators; v++) {
    if (b->start_ns[v] > point_ns) continue;
    s->start_ns[v] = b->start_ns[v];
    s->finish_ns[v] = b->finish_ns[v];
  }
  for (int32_t t = 0; t < s->graph->n_tensors; t++)
    if (b->finish_ns[s->graph->producer[t]] <= point_ns) s->link.first_sending[t] = b->first_sending[t];
}

/* ---- differences ---- */

static inline int32_t operator_at(const placement *where, int32_t i) { return where->order ? where->order[i] : i; }

/* Chains the placement and finds the range in which it differs from the base. False if it cannot run: the order is
 * topological outside of the range and must be so inside too. */
static bool compare(stream *s, stream_base *b, const placement *where) {
  const int64_t *in_start = s->graph->in_start;
  stream_chain(s, where);
  b->low = 0;
  b->high = s->n_operators - 1;
  while (b->valid && b->low <= b->high && operator_at(where, b->low) == b->order[b->low]) b->low++;
  while (b->valid && b->low <= b->high && operator_at(where, b->high) == b->order[b->high]) b->high--;
  if (b->low > b->high) b->high = -1;
  for (int32_t v = 0; b->valid && v < s->n_operators; v++) {
    if (where->device[v] == b->device[v]) continue;
    if (s->position[v] < b->low) b->low = s->position[v];
    if (s->position[v] > b->high) b->high = s->position[v];
  }
  for (int32_t i = b->low; i <= b->high; i++) {
    int32_t v = operator_at(where, i);
    for (int64_t k = in_start[v]; k < in_start[v + 1]; k++)
      if (s->position[s->input[k].producer] > i) return false;
  }
  return true;
}

/* The time at which the last producer of v ended in the base. */
static int64_t ready_ns(const stream *s, const stream_base *b, int32_t v) {
  int64_t ready = 0;
  for (int64_t k = s->graph->in_start[v]; k < s->graph->in_start[v + 1]; k++)
    ready = max64(ready, b->finish_ns[s->input[k].producer]);
  return ready;
}

/* A time before which the run equals the base. An operator on another device matters from the end of its first
 * producer, when its device is looked up. A different successor of x on its device matters from the end of x, but not
 * before the base's successor starts, or all producers of the new one have ended. */
static int64_t divergence(const stream *s, const stream_base *b, const placement *where) {
  int64_t diverges = SITU_NEVER_NS;
  const int64_t *in_start = s->graph->in_start;
  for (int32_t i = b->low; i <= b->high; i++) {
    int32_t v = b->order[i];
    if (where->device[v] == b->device[v]) continue;
    for (int64_t k = in_start[v]; k < in_start[v + 1]; k++)
      diverges = min64(diverges, b->finish_ns[s->input[k].producer]);
  }
  for (int32_t x = 0; x < s->n_operators + s->n_devices; x++) {
    int32_t now = s->next[x], before = b->next[x];
    if (now == before) continue;
    int64_t end = x < s->n_operators ? b->finish_ns[x] : 0;
    if (end >= diverges) continue;
    int64_t starts = before >= 0 ? b->start_ns[before] : SITU_NEVER_NS;
    if (now >= 0) starts = min64(starts, ready_ns(s, b, now));
    diverges = min64(diverges, max64(end, starts));
  }
  return diverges;
}

/* The last checkpoint before the chained placement diverges from the base; NULL: there is none. */
static const stream_checkpoint *last_checkpoint(const stream *s, const stream_base *b, const placement *where) {
  if (!b->valid || !b->checkpoints || stream_checkpoints_empty(b->checkpoints)) return NULL;
  return stream_checkpoints_before(b->checkpoints, divergence(s, b, where));
}

/* ---- runs ---- */

/* Tails of operators at positions `first` to `last` that start in the base after `after`, or of all if there is no
 * base; those after `last` are known. */
static void find_tails(const stream *s, const stream_base *b, const placement *where, int64_t *tail_ns, int32_t first,
                       int32_t last, int64_t after) {
  const situ_problem *p = s->problem;
  const situ_graph *g = s->graph;
  for (int32_t i = last; i >= first; i--) {
    int32_t v = operator_at(where, i), d = where->device[v], next = s->next[v];
    if (b->valid && b->start_ns[v] <= after) continue;
    const int32_t *kind = p->device_kind + (int64_t)d * p->n_devices;
    int64_t max = next >= 0 ? tail_ns[next] : 0;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
      const int64_t *transfer_ns = p->transfer_ns[t];
      for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++) {
        int32_t w = g->use[k], way = kind[where->device[w]];
        max = max64(max, way ? sat_add(transfer_ns[way], tail_ns[w]) : tail_ns[w]);
      }
    }
    tail_ns[v] = sat_add(max, problem_time_ns(p, v, d));
  }
}

/* Runs a compared and chained placement, with contention link from the checkpoint on. */
static bool run_from(stream *s, const stream_base *b, const stream_checkpoint *point, const placement *where) {
  s->stopped = false;
  if (s->problem->contention == SITU_CONTENTION_LINK) {
    if (!point) return stream_run_link(s);
    stream_restore(s, point);
    COPY(s->link.user_next, b->user_next, s->graph->n_uses);
    if (!stream_continue(s)) return false;
    restore_prefix(s, b, stream_checkpoint_ns(point));
    return true;
  }
  for (int32_t i = 0; i < s->n_operators; i++) {
    int32_t v = operator_at(where, i);
    s->start_ns[v] = b->start_ns[v];
    s->finish_ns[v] = i < b->low ? b->finish_ns[v] : -1;
  }
  return stream_run_free(s, where, b->low);
}

void stream_run_base(void *model, void *base, const placement *where, bool memory, simulation *out) {
  REQUIRE(!((stream *)model)->link.checkpoints);
  stream *s = model;
  stream_base *b = base;
  if (!compare(s, b, where)) return;
  const stream_checkpoint *point = last_checkpoint(s, b, where);
  if (b->checkpoints) stream_checkpoints_cut(b->checkpoints, point); /* later ones belong to the previous base */
  s->link.checkpoints = b->checkpoints;
  bool ran = run_from(s, b, point, where);
  s->link.checkpoints = NULL;
  b->valid = ran;
  if (!ran) return;
  COPY(b->device, where->device, s->n_operators);
  for (int32_t i = 0; i < s->n_operators; i++) b->order[i] = operator_at(where, i);
  COPY(b->next, s->next, s->n_operators + s->n_devices);
  COPY(b->start_ns, s->start_ns, s->n_operators);
  COPY(b->finish_ns, s->finish_ns, s->n_operators);
  if (b->user_next) COPY(b->user_next, s->link.user_next, s->graph->n_uses);
  if (b->user_next) COPY(b->first_sending, s->link.first_sending, s->graph->n_tensors);
  find_tails(s, b, where, b->tail_ns, 0, s->n_operators - 1, -1);
  stream_report(s, where, memory, out);
}

void stream_run_below(void *model, void *base, const placement *where, bool memory, int64_t limit_ns, simulation *out) {
  REQUIRE(!((stream *)model)->tail_ns);
  stream *s = model;
  stream_base *b = base;
  if (!compare(s, b, where)) return;
  const stream_checkpoint *point = last_checkpoint(s, b, where);
  if (limit_ns != SITU_NEVER_NS) {
    if (b->valid) COPY(b->trial_tail_ns, b->tail_ns, s->n_operators);
    int32_t first = s->problem->contention == SITU_CONTENTION_LINK ? 0 : b->low;
    find_tails(s, b, where, b->trial_tail_ns, first, b->high, point ? stream_checkpoint_ns(point) : -1);
    s->tail_ns = b->trial_tail_ns;
    s->limit_ns = limit_ns;
  }
  bool ran = run_from(s, b, point, where);
  out->stopped = s->stopped;
  s->tail_ns = NULL;
  if (ran) stream_report(s, where, memory, out);
}
