#include "sim/stream_marks.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"

enum { MARKS = 16 };
static const int64_t MARKS_BYTES = (int64_t)1 << 26; /* of all marks together */

/* The state of stream_link.c at the end of an instant. */
struct stream_mark {
  int64_t now_ns;
  int32_t n_ended, n_sendings, n_heap;
  int32_t *waiting;   /* [operator] */
  int32_t *device_at; /* [device] */
  bool *device_busy;
  int32_t *channel_now, *queue_first, *queue_last; /* [channel] */
  stream_event *heap;
  stream_sending *sending;
};

struct stream_marks {
  stream_mark mark[MARKS]; /* by time */
  int32_t n, most, stride; /* stride: operators that end from one mark to the next, at least */
};

static bool make_mark(const stream *s, stream_mark *m, arena *a) {
  int32_t n_channels = s->n_channels;
  return (m->waiting = ARENA_NEW(a, int32_t, s->n_operators)) && (m->device_at = ARENA_NEW(a, int32_t, s->n_devices)) &&
         (m->device_busy = ARENA_NEW(a, bool, s->n_devices)) && (m->channel_now = ARENA_NEW(a, int32_t, n_channels)) &&
         (m->queue_first = ARENA_NEW(a, int32_t, n_channels)) && (m->queue_last = ARENA_NEW(a, int32_t, n_channels)) &&
         (m->heap = ARENA_NEW(a, stream_event, (int64_t)s->n_devices + n_channels)) &&
         (m->sending = ARENA_NEW(a, stream_sending, stream_most_sendings(s)));
}

static int64_t mark_bytes(const stream *s) {
  return 4 * (int64_t)s->n_operators + (int64_t)sizeof(stream_sending) * stream_most_sendings(s) +
         32 * ((int64_t)s->n_devices + s->n_channels);
}

stream_marks *stream_marks_new(const stream *s, arena *a) {
  stream_marks *m = ARENA_ZERO(a, stream_marks, 1);
  if (!m) return NULL;
  m->most = (int32_t)min64(MARKS, MARKS_BYTES / mark_bytes(s));
  m->stride = s->n_operators / (MARKS + 1) + 1;
  for (int32_t i = 0; i < m->most; i++)
    if (!make_mark(s, &m->mark[i], a)) return NULL;
  return m;
}

#define COPY(to, from, count) memcpy((to), (from), (size_t)(count) * sizeof *(to))

void stream_marks_leave(stream *s, int64_t now_ns) {
  const stream_link_run *run = &s->link;
  stream_marks *marks = run->marks;
  int32_t last = marks->n > 0 ? marks->mark[marks->n - 1].n_ended : 0;
  if (marks->n == marks->most || run->n_ended < last + marks->stride) return;
  ENSURE(marks->n == 0 || marks->mark[marks->n - 1].now_ns < now_ns); /* marks go by time */
  stream_mark *m = &marks->mark[marks->n++];
  m->now_ns = now_ns;
  m->n_ended = run->n_ended;
  m->n_sendings = run->n_sendings;
  m->n_heap = run->n_heap;
  COPY(m->waiting, run->waiting, s->n_operators);
  COPY(m->device_at, s->device_at, s->n_devices);
  COPY(m->device_busy, run->device_busy, s->n_devices);
  COPY(m->channel_now, run->channel_now, s->n_channels);
  COPY(m->queue_first, run->queue_first, s->n_channels);
  COPY(m->queue_last, run->queue_last, s->n_channels);
  COPY(m->heap, run->heap, run->n_heap);
  COPY(m->sending, run->sending, run->n_sendings);
}

bool stream_marks_empty(const stream_marks *marks) { return marks->n == 0; }

const stream_mark *stream_marks_before(const stream_marks *marks, int64_t time_ns) {
  int32_t n = 0;
  while (n < marks->n && marks->mark[n].now_ns < time_ns) n++;
  return n > 0 ? &marks->mark[n - 1] : NULL;
}

int64_t stream_mark_ns(const stream_mark *mark) { return mark->now_ns; }

void stream_marks_cut(stream_marks *marks, const stream_mark *mark) {
  REQUIRE(!mark || (mark >= marks->mark && mark < marks->mark + marks->n));
  marks->n = mark ? (int32_t)(mark - marks->mark) + 1 : 0;
}

void stream_go_to_mark(stream *s, const stream_mark *m) {
  stream_link_run *run = &s->link;
  s->dispatch.started = NULL;
  s->stopped = run->broken = false;
  run->n_ended = m->n_ended;
  run->n_sendings = m->n_sendings;
  run->n_heap = m->n_heap;
  run->n_runnable = run->n_fresh = run->n_freed = 0;
  run->n_hops = 0;
  COPY(run->waiting, m->waiting, s->n_operators);
  memset(run->slot, 0xff, (size_t)s->n_memories * sizeof *run->slot);
  COPY(s->device_at, m->device_at, s->n_devices);
  COPY(run->device_busy, m->device_busy, s->n_devices);
  COPY(run->channel_now, m->channel_now, s->n_channels);
  COPY(run->queue_first, m->queue_first, s->n_channels);
  COPY(run->queue_last, m->queue_last, s->n_channels);
  COPY(run->heap, m->heap, m->n_heap);
  COPY(run->sending, m->sending, m->n_sendings);
}
