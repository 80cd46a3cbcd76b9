/* Runs of the stream model that reuse the common part of a base run, and end early if they are too long.
 *
 * With contention link the base leaves marks: all that the event-driven run holds at the end of some instants. The run
 * of another placement is identical up to the instant at which the first event depends on a difference (`parting`); its
 * run starts from the last mark before that. Without contention the run starts at the first position that differs; with
 * overlap none, where only sums matter, at the beginning.
 *
 * From its start an operator takes at least its tail to the end of everything, the longest way through operators that
 * follow on the same device and users of its tensors, without contention. A start that is no less than the limit minus
 * the tail ends the run. The last operator to end has a tail of its time or more: so a run is stopped exactly where its
 * value is the limit or more. docs/theory/models/trial_runs.md. */
#include "sim/stream_base.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "sim/stream_link.h"
#include "sim/stream_marks.h"
#include "sim/stream_run.h"

typedef struct stream_base {
  bool valid;              /* there is a base */
  int32_t *device, *order; /* [operator] its placement */
  int64_t *start_ns, *finish_ns, *tail_ns;
  int32_t *next;                      /* as in the stream */
  int32_t *user_next, *first_sending; /* contention link, as in the stream */
  stream_marks *marks;                /* contention link */
  int64_t *trial_tail_ns;             /* [operator] of the placement at hand */
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
  b->marks = stream_marks_new(s, a);
  return b->marks ? b : NULL;
}

#define COPY(to, from, count) memcpy((to), (from), (size_t)(count) * sizeof *(to))

/* Restores the part before the mark, after a complete run. */
static void take_over(stream *s, const stream_base *b, int64_t mark_ns) {
  for (int32_t v = 0; v < s->n_operators; v++) {
    if (b->start_ns[v] > mark_ns) continue;
    s->start_ns[v] = b->start_ns[v];
    s->finish_ns[v] = b->finish_ns[v];
  }
  for (int32_t t = 0; t < s->graph->n_tensors; t++)
    if (b->finish_ns[s->graph->producer[t]] <= mark_ns) s->link.first_sending[t] = b->first_sending[t];
}

/* ---- what differs ---- */

static inline int32_t operator_at(const placement *where, int32_t i) { return where->order ? where->order[i] : i; }

/* Chains the placement and finds where it differs from the base. False when it cannot run: the order, which is
 * topological outside of the range, must be so inside too. */
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

/* When the last producer of v ended in the base. */
static int64_t ready_ns(const stream *s, const stream_base *b, int32_t v) {
  int64_t ready = 0;
  for (int64_t k = s->graph->in_start[v]; k < s->graph->in_start[v + 1]; k++)
    ready = max64(ready, b->finish_ns[s->input[k].producer]);
  return ready;
}

/* A time before which all is as in the base. An operator on another device counts from where its first producer ends:
 * then it is asked where it is. Another operator that follows x on its device counts from the end of x, and not before
 * the one that follows in the base starts there, or all producers of the one that follows now have ended. */
static int64_t parting(const stream *s, const stream_base *b, const placement *where) {
  int64_t parting = SITU_NEVER_NS;
  const int64_t *in_start = s->graph->in_start;
  for (int32_t i = b->low; i <= b->high; i++) {
    int32_t v = b->order[i];
    if (where->device[v] == b->device[v]) continue;
    for (int64_t k = in_start[v]; k < in_start[v + 1]; k++)
      parting = min64(parting, b->finish_ns[s->input[k].producer]);
  }
  for (int32_t x = 0; x < s->n_operators + s->n_devices; x++) {
    int32_t now = s->next[x], before = b->next[x];
    if (now == before) continue;
    int64_t end = x < s->n_operators ? b->finish_ns[x] : 0;
    if (end >= parting) continue;
    int64_t starts = before >= 0 ? b->start_ns[before] : SITU_NEVER_NS;
    if (now >= 0) starts = min64(starts, ready_ns(s, b, now));
    parting = min64(parting, max64(end, starts));
  }
  return parting;
}

/* The last mark before the placement, which is chained, parts from the base; NULL: there is none. */
static const stream_mark *last_mark(const stream *s, const stream_base *b, const placement *where) {
  if (!b->valid || !b->marks || stream_marks_empty(b->marks)) return NULL;
  return stream_marks_before(b->marks, parting(s, b, where));
}

/* ---- runs ---- */

/* Tails of operators at positions `first` to `last` that start in the base after `after`, or of all where there is
 * none; those behind `last` are there. */
static void find_tails(const stream *s, const stream_base *b, const placement *where, int64_t *tail_ns, int32_t first,
                       int32_t last, int64_t after) {
  const situ_problem *p = s->problem;
  const situ_graph *g = s->graph;
  for (int32_t i = last; i >= first; i--) {
    int32_t v = operator_at(where, i), d = where->device[v], next = s->next[v];
    if (b->valid && b->start_ns[v] <= after) continue;
    const int32_t *kind = p->device_kind + (int64_t)d * p->n_devices;
    int64_t most = next >= 0 ? tail_ns[next] : 0;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
      const int64_t *transfer_ns = p->transfer_ns[t];
      for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++) {
        int32_t w = g->use[k], way = kind[where->device[w]];
        most = max64(most, way ? sat_add(transfer_ns[way], tail_ns[w]) : tail_ns[w]);
      }
    }
    tail_ns[v] = sat_add(most, problem_time_ns(p, v, d));
  }
}

/* Runs what is compared and chained, contention link from the mark on. */
static bool run_from(stream *s, const stream_base *b, const stream_mark *mark, const placement *where) {
  s->stopped = false;
  if (s->problem->contention == SITU_CONTENTION_LINK) {
    if (!mark) return stream_run_link(s);
    stream_go_to_mark(s, mark);
    COPY(s->link.user_next, b->user_next, s->graph->n_uses);
    if (!stream_go_on(s)) return false;
    take_over(s, b, stream_mark_ns(mark));
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
  REQUIRE(!((stream *)model)->link.marks);
  stream *s = model;
  stream_base *b = base;
  if (!compare(s, b, where)) return;
  const stream_mark *mark = last_mark(s, b, where);
  if (b->marks) stream_marks_cut(b->marks, mark); /* the others belong to the previous base */
  s->link.marks = b->marks;
  bool ran = run_from(s, b, mark, where);
  s->link.marks = NULL;
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
  stream_tell(s, where, memory, out);
}

void stream_run_below(void *model, void *base, const placement *where, bool memory, int64_t limit_ns, simulation *out) {
  REQUIRE(!((stream *)model)->tail_ns);
  stream *s = model;
  stream_base *b = base;
  if (!compare(s, b, where)) return;
  const stream_mark *mark = last_mark(s, b, where);
  if (limit_ns != SITU_NEVER_NS) {
    if (b->valid) COPY(b->trial_tail_ns, b->tail_ns, s->n_operators);
    int32_t first = s->problem->contention == SITU_CONTENTION_LINK ? 0 : b->low;
    find_tails(s, b, where, b->trial_tail_ns, first, b->high, mark ? stream_mark_ns(mark) : -1);
    s->tail_ns = b->trial_tail_ns;
    s->limit_ns = limit_ns;
  }
  bool ran = run_from(s, b, mark, where);
  out->stopped = s->stopped;
  s->tail_ns = NULL;
  if (ran) stream_tell(s, where, memory, out);
}
