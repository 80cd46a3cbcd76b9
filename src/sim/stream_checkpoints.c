#include "sim/stream.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"

enum { CHECKPOINTS = 16 };
static const int64_t CHECKPOINTS_BYTES = (int64_t)1 << 26; /* of all checkpoints together */

/* The state of stream_link.c at the end of an instant. */
struct stream_checkpoint {
  int64_t now_ns;
  int32_t n_ended, n_sendings, n_heap;
  int32_t *waiting;   /* [operator] */
  int32_t *device_at; /* [device] */
  bool *device_busy;
  int32_t *channel_now, *queue_first, *queue_last; /* [channel] */
  stream_event *heap;
  stream_sending *sending;
};

struct stream_checkpoints {
  stream_checkpoint at[CHECKPOINTS]; /* by time */
  int32_t n, max, stride;            /* stride: minimum number of operators that end between two checkpoints */
};

static bool make_checkpoint(const stream *s, stream_checkpoint *m, arena *a) {
  int32_t n_channels = s->n_channels;
  return (m->waiting = ARENA_NEW(a, int32_t, s->n_operators)) && (m->device_at = ARENA_NEW(a, int32_t, s->n_devices)) &&
         (m->device_busy = ARENA_NEW(a, bool, s->n_devices)) && (m->channel_now = ARENA_NEW(a, int32_t, n_channels)) &&
         (m->queue_first = ARENA_NEW(a, int32_t, n_channels)) && (m->queue_last = ARENA_NEW(a, int32_t, n_channels)) &&
         (m->heap = ARENA_NEW(a, stream_event, (int64_t)s->n_devices + n_channels)) &&
         (m->sending = ARENA_NEW(a, stream_sending, stream_max_sendings(s)));
}

static int64_t checkpoint_bytes(const stream *s) {
  return 4 * (int64_t)s->n_operators + (int64_t)sizeof(stream_sending) * stream_max_sendings(s) +
         32 * ((int64_t)s->n_devices + s->n_channels);
}

stream_checkpoints *stream_checkpoints_new(const stream *s, arena *a) {
  stream_checkpoints *m = ARENA_ZERO(a, stream_checkpoints, 1);
  if (!m) return NULL;
  m->max = (int32_t)min64(CHECKPOINTS, CHECKPOINTS_BYTES / checkpoint_bytes(s));
  m->stride = s->n_operators / (CHECKPOINTS + 1) + 1;
  for (int32_t i = 0; i < m->max; i++)
    if (!make_checkpoint(s, &m->at[i], a)) return NULL;
  return m;
}

#define COPY(to, from, count) memcpy((to), (from), (size_t)(count) * sizeof *(to))

void stream_checkpoints_save(stream *s, int64_t now_ns) {
  const stream_link_run *run = &s->link;
  stream_checkpoints *c = run->checkpoints;
  int32_t last = c->n > 0 ? c->at[c->n - 1].n_ended : 0;
  if (c->n == c->max || run->n_ended < last + c->stride) return;
  ENSURE(c->n == 0 || c->at[c->n - 1].now_ns < now_ns); /* checkpoints rise in time */
  stream_checkpoint *m = &c->at[c->n++];
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

bool stream_checkpoints_empty(const stream_checkpoints *c) { return c->n == 0; }

const stream_checkpoint *stream_checkpoints_before(const stream_checkpoints *c, int64_t time_ns) {
  int32_t n = 0;
  while (n < c->n && c->at[n].now_ns < time_ns) n++;
  return n > 0 ? &c->at[n - 1] : NULL;
}

int64_t stream_checkpoint_ns(const stream_checkpoint *point) { return point->now_ns; }

void stream_checkpoints_cut(stream_checkpoints *c, const stream_checkpoint *point) {
  REQUIRE(!point || (point >= c->at && point < c->at + c->n));
  c->n = point ? (int32_t)(point - c->at) + 1 : 0;
}

void stream_restore(stream *s, const stream_checkpoint *m) {
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
