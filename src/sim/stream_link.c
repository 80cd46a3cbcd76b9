/* The stream model with contention: a discrete-event run.
 *
 * At most one operator per device and one hop per channel are in progress, so the heap of events holds few entries. An
 * instant has two parts. First all that ends now ends, with its immediate consequences: tensors become ready, hops of
 * no duration pass, operators start, those of no duration end. The result of this part does not depend on the order of
 * its events. Then the tensors that became ready for a hop join the queues, sorted by tensor and destination, and idle
 * channels serve the first of their queues. With overlap host-blocking a copy to a host occupies the host as well as
 * its channel: it counts as a busy device meanwhile. */
#include "sim/stream.h"

#include <string.h>

#include "base/checked.h"

/* Chains the hosts of each memory. Returns [memory] the first of them or -1; NULL without memory. */
static const int32_t *find_hosts(stream *s, arena *a) {
  int32_t *first;
  if (!ARENA_ARRAYS(a, ARRAY(first, s->n_memories), ARRAY(s->link.next_host, s->n_devices))) return NULL;
  for (int32_t m = 0; m < s->n_memories; m++) first[m] = -1;
  for (int32_t d = s->n_devices - 1; d >= 0; d--) {
    int32_t m = s->problem->memory_of[d];
    s->link.next_host[d] = first[m];
    if (s->platform->devices[d].is_host) first[m] = d;
  }
  return first;
}

bool stream_link_make(stream *s, arena *a) {
  int64_t max = stream_max_sendings(s);
  int32_t n_devices = s->n_devices, n_channels = s->n_channels;
  const situ_platform *q = s->platform;
  int32_t n_hops = q->route_start[(int64_t)s->n_memories * s->n_memories];
  s->link.hop = ARENA_NEW(a, stream_hop, n_hops);
  if (!s->link.hop) return false;
  const int32_t *host = find_hosts(s, a);
  if (!host) return false;
  for (int32_t i = 0; i < n_hops; i++) {
    int32_t link = q->route_link[i], from = host[q->link_from[link]], to = host[q->link_to[link]];
    bool blocks = s->problem->overlap == SITU_OVERLAP_HOST_BLOCKING && from < 0;
    s->link.hop[i] = (stream_hop){link, s->problem->costs->link_kind[link], q->links[link].channel, blocks ? to : -1};
  }
  return (s->link.waiting = ARENA_NEW(a, int32_t, s->n_operators)) &&
         (s->link.device_busy = ARENA_NEW(a, bool, n_devices)) &&
         (s->dispatch.ready = ARENA_NEW(a, ready_heap, n_devices)) &&
         (s->dispatch.room = ARENA_NEW(a, int32_t, s->n_operators)) &&
         (s->dispatch.left_ns = ARENA_NEW(a, int64_t, n_devices)) &&
         (s->link.sending = ARENA_NEW(a, stream_sending, max)) &&
         (s->link.user_next = ARENA_NEW(a, int32_t, s->graph->n_uses)) &&
         (s->link.slot = ARENA_NEW(a, int32_t, s->n_memories)) &&
         (s->link.channel_now = ARENA_NEW(a, int32_t, n_channels)) &&
         (s->link.queue_first = ARENA_NEW(a, int32_t, n_channels)) &&
         (s->link.queue_last = ARENA_NEW(a, int32_t, n_channels)) &&
         (s->link.heap = ARENA_NEW(a, stream_event, (int64_t)n_devices + n_channels)) &&
         (s->link.runnable = ARENA_NEW(a, int32_t, n_devices)) && (s->link.fresh = ARENA_NEW(a, int32_t, max)) &&
         (s->link.freed = ARENA_NEW(a, int32_t, n_channels)) &&
         (s->link.first_sending = ARENA_NEW(a, int32_t, s->graph->n_tensors));
}

static void event_push(stream *s, int64_t time_ns, int32_t who) {
  stream_event *h = s->link.heap;
  int32_t i = s->link.n_heap++;
  for (int32_t up; i > 0 && h[up = (i - 1) / 2].time_ns > time_ns; i = up) h[i] = h[up];
  h[i] = (stream_event){time_ns, who};
}

static stream_event event_pop(stream *s) {
  stream_event *h = s->link.heap, top = h[0], last = h[--s->link.n_heap];
  int32_t n = s->link.n_heap, i = 0;
  for (int32_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && h[child + 1].time_ns < h[child].time_ns) child++;
    if (h[child].time_ns >= last.time_ns) break;
    h[i] = h[child];
  }
  h[i] = last;
  return top;
}

/* Another input of w has arrived in its memory. */
static inline void deliver(stream *s, int32_t w) {
  if (--s->link.waiting[w] > 0) return;
  int32_t d = s->device[w];
  if (s->dispatch.started) heap_push(&s->dispatch.ready[d], w);
  if ((s->dispatch.started ? s->dispatch.ready[d].n == 1 : s->next[s->device_at[d]] == w) && !s->link.device_busy[d])
    s->link.runnable[s->link.n_runnable++] = d;
}

static inline stream_hop hop_of(const stream *s, int32_t k) { return s->link.hop[s->link.sending[k].hop]; }

static inline int64_t hop_time(const stream *s, int32_t k) {
  return s->problem->transfer_ns[s->link.sending[k].tensor][hop_of(s, k).kind];
}

static inline void log_hop(stream *s, int32_t k, int64_t start, int64_t finish) {
  stream_sending *x = &s->link.sending[k];
  if (x->left_ns < 0) x->left_ns = finish;
  x->came_ns = start; /* the last hop writes last */
  if (s->link.hop_log) {
    s->link.hop_log[s->link.n_hops] = (situ_transfer){x->tensor, hop_of(s, k).link, x->to_memory, start, finish};
  }
  s->link.n_hops++;
}

/* Sending k is ready for its current hop, or has arrived. */
static void advance(stream *s, int32_t k, int64_t now) {
  stream_sending *x = &s->link.sending[k];
  for (; x->hop < x->end_hop; x->hop++) {
    if (hop_time(s, k) > 0) {
      s->link.fresh[s->link.n_fresh++] = k;
      return;
    }
    log_hop(s, k, now, now);
  }
  for (int32_t i = x->first_user; i >= 0; i = s->link.user_next[i]) deliver(s, s->graph->use[i]);
}

/* Tensor t of operator v, which is at `position` in the order, is ready in memory m. */
static void send(stream *s, int32_t t, int32_t position, int32_t m, int64_t now) {
  const situ_graph *g = s->graph;
  int32_t first = s->link.n_sendings;
  bool chained = !s->dispatch.started;
  s->link.first_sending[t] = first;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    int32_t w = g->use[i];
    int32_t to = s->problem->memory_of[s->device[w]];
    if (chained && s->position[w] < position) s->link.broken = true;
    if (to == m) {
      deliver(s, w);
      continue;
    }
    int32_t k = s->link.slot[to];
    if (k < first) {
      k = s->link.slot[to] = s->link.n_sendings++;
      const int32_t *route = s->platform->route_start + (int64_t)m * s->n_memories + to;
      s->link.sending[k] = (stream_sending){t, to, route[0], route[1], -1, -1, -1, -1};
    }
    s->link.user_next[i] = s->link.sending[k].first_user;
    s->link.sending[k].first_user = (int32_t)i;
  }
  for (int32_t k = first; k < s->link.n_sendings; k++) advance(s, k, now);
}

/* The operator that device d runs ends. */
static void end_operator(stream *s, int32_t d, int64_t now) {
  const situ_graph *g = s->graph;
  int32_t v = s->device_at[d];
  s->link.n_ended++;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    send(s, t, s->position[v], s->problem->memory_of[d], now);
}

/* The operator that device d starts next; -1 if it must wait. A dispatch is stopped if the remaining work of the device
 * cannot end before the limit. */
static inline int32_t next_operator(stream *s, int32_t d, int64_t now) {
  if (!s->dispatch.started) {
    int32_t next = s->next[s->device_at[d]];
    return next >= 0 && s->link.waiting[next] == 0 ? next : -1;
  }
  if (s->dispatch.ready[d].n == 0) return -1;
  int32_t v = heap_pop(&s->dispatch.ready[d]);
  if (now >= s->limit_ns - s->dispatch.left_ns[d]) s->stopped = true;
  s->dispatch.left_ns[d] -= problem_time_ns(s->problem, v, d);
  s->dispatch.started[s->dispatch.n_started++] = v;
  return v;
}

/* Starts operators of the idle device d. It counts as busy meanwhile, so that it is not listed as runnable. */
static void run_device(stream *s, int32_t d, int64_t now) {
  const situ_problem *p = s->problem;
  s->link.device_busy[d] = true;
  for (int32_t v; (v = next_operator(s, d, now)) >= 0;) {
    int64_t time = p->time_ns[(int64_t)v * p->n_classes + p->class_of[d]];
    s->device_at[d] = v;
    if (s->tail_ns && s->tail_ns[v] >= s->limit_ns - now) s->stopped = true;
    s->start_ns[v] = now;
    s->finish_ns[v] = sat_add(now, time);
    if (time > 0) {
      event_push(s, s->finish_ns[v], d);
      return;
    }
    end_operator(s, d, now);
  }
  s->link.device_busy[d] = false;
}

static void run_runnable(stream *s, int64_t now) {
  while (s->link.n_runnable > 0) {
    int32_t d = s->link.runnable[--s->link.n_runnable];
    if (!s->link.device_busy[d]) run_device(s, d, now);
  }
}

static inline uint64_t turn(const stream *s, int32_t k) {
  return (uint64_t)s->link.sending[k].tensor << 32 | (uint32_t)s->link.sending[k].to_memory;
}

static void sift_down(stream *s, int32_t i, int32_t n) {
  int32_t k = s->link.fresh[i];
  uint64_t key = turn(s, k);
  for (int32_t child; (child = 2 * i + 1) < n; i = child) {
    if (child + 1 < n && turn(s, s->link.fresh[child + 1]) > turn(s, s->link.fresh[child])) child++;
    if (turn(s, s->link.fresh[child]) <= key) break;
    s->link.fresh[i] = s->link.fresh[child];
  }
  s->link.fresh[i] = k;
}

/* Sorts the fresh sendings by tensor, then destination. Usually they are sorted; else heapsort, as there may be many.
 */
static void sort_fresh(stream *s) {
  int32_t n = s->link.n_fresh, i = 1;
  while (i < n && turn(s, s->link.fresh[i - 1]) < turn(s, s->link.fresh[i])) i++;
  if (i >= n) return;
  for (i = n / 2 - 1; i >= 0; i--) sift_down(s, i, n);
  for (i = n - 1; i > 0; i--) {
    int32_t max = s->link.fresh[0];
    s->link.fresh[0] = s->link.fresh[i];
    s->link.fresh[i] = max;
    sift_down(s, 0, i);
  }
}

/* Whether all hosts of a memory, from `host` on, are idle; -1: it has none. */
static bool hosts_are_idle(const stream *s, int32_t host) {
  while (host >= 0 && !s->link.device_busy[host]) host = s->link.next_host[host];
  return host < 0;
}

/* An idle channel serves the first of its queue, unless that must wait for its hosts. */
static void serve(stream *s, int32_t c, int64_t now) {
  int32_t k = s->link.queue_first[c];
  if (s->link.channel_now[c] >= 0 || k < 0 || !hosts_are_idle(s, hop_of(s, k).host)) return;
  for (int32_t h = hop_of(s, k).host; h >= 0; h = s->link.next_host[h]) s->link.device_busy[h] = true;
  s->link.queue_first[c] = s->link.sending[k].next_in_queue;
  s->link.channel_now[c] = k;
  int64_t finish = sat_add(now, hop_time(s, k));
  log_hop(s, k, now, finish);
  event_push(s, finish, s->n_devices + c);
}

static void serve_channels(stream *s, int64_t now) {
  sort_fresh(s);
  for (int32_t i = 0; i < s->link.n_fresh; i++) {
    int32_t k = s->link.fresh[i], c = hop_of(s, k).channel;
    s->link.sending[k].next_in_queue = -1;
    if (s->link.queue_first[c] < 0)
      s->link.queue_first[c] = k;
    else
      s->link.sending[s->link.queue_last[c]].next_in_queue = k;
    s->link.queue_last[c] = k;
  }
  if (s->problem->overlap == SITU_OVERLAP_HOST_BLOCKING) { /* each of them may have waited for its host */
    for (int32_t c = 0; c < s->n_channels; c++) serve(s, c, now);
  } else {
    for (int32_t i = 0; i < s->link.n_fresh; i++) serve(s, hop_of(s, s->link.fresh[i]).channel, now);
    for (int32_t i = 0; i < s->link.n_freed; i++) serve(s, s->link.freed[i], now);
  }
  s->link.n_fresh = s->link.n_freed = 0;
}

static void end_event(stream *s, int32_t who, int64_t now) {
  if (who < s->n_devices) {
    end_operator(s, who, now);
    run_device(s, who, now);
    return;
  }
  int32_t c = who - s->n_devices, k = s->link.channel_now[c], host = hop_of(s, k).host;
  s->link.channel_now[c] = -1;
  s->link.freed[s->link.n_freed++] = c;
  s->link.sending[k].hop++;
  advance(s, k, now);
  for (int32_t h = host; h >= 0; h = s->link.next_host[h]) run_device(s, h, now);
}

/* The state before time 0. */
static void prepare(stream *s) {
  const int64_t *in_start = s->graph->in_start;
  for (int32_t v = 0; v < s->n_operators; v++) s->link.waiting[v] = (int32_t)(in_start[v + 1] - in_start[v]);
  for (int32_t d = 0; d < s->n_devices; d++) s->device_at[d] = s->n_operators + d;
  memset(s->link.device_busy, 0, (size_t)s->n_devices * sizeof *s->link.device_busy);
  memset(s->link.slot, 0xff, (size_t)s->n_memories * sizeof *s->link.slot);
  memset(s->link.channel_now, 0xff, (size_t)s->n_channels * sizeof *s->link.channel_now);
  memset(s->link.queue_first, 0xff, (size_t)s->n_channels * sizeof *s->link.queue_first);
  s->link.n_sendings = s->link.n_heap = s->link.n_runnable = s->link.n_fresh = s->link.n_freed = s->link.n_ended = 0;
  s->link.n_hops = 0;
  s->link.broken = s->stopped = false;
}

/* Starts what is ready at time 0. */
static void run_start(stream *s) {
  for (int32_t d = 0; d < s->n_devices; d++) {
    if (!s->link.device_busy[d]) run_device(s, d, 0);
    run_runnable(s, 0);
  }
  serve_channels(s, 0);
}

bool stream_continue(stream *s) {
  while (s->link.n_heap > 0 && !s->stopped) {
    int64_t now = s->link.heap[0].time_ns;
    if (now == SITU_NEVER_NS) return false;
    while (s->link.n_heap > 0 && s->link.heap[0].time_ns == now) {
      end_event(s, event_pop(s).who, now);
      run_runnable(s, now);
    }
    serve_channels(s, now);
    if (s->link.checkpoints) stream_checkpoints_save(s, now);
  }
  return s->link.n_ended == s->n_operators && !s->link.broken && !s->stopped;
}

bool stream_run_link(stream *s) {
  if (s->problem->overlap == SITU_OVERLAP_NONE) return stream_run_serial(s);
  s->dispatch.started = NULL;
  prepare(s);
  run_start(s);
  return stream_continue(s);
}

/* Heaps in one array, each with room for all operators of its device. */
static void prepare_heaps(stream *s, const double *priority) {
  int32_t before = 0;
  for (int32_t d = 0; d < s->n_devices; d++) {
    s->dispatch.ready[d] = (ready_heap){.key = priority};
    s->dispatch.left_ns[d] = 0;
  }
  for (int32_t v = 0; v < s->n_operators; v++) {
    int32_t d = s->device[v];
    s->dispatch.ready[d].n++;
    s->dispatch.left_ns[d] = sat_add(s->dispatch.left_ns[d], problem_time_ns(s->problem, v, d));
  }
  for (int32_t d = 0; d < s->n_devices; d++) {
    s->dispatch.ready[d].at = s->dispatch.room + before;
    before += s->dispatch.ready[d].n;
    s->dispatch.ready[d].n = 0;
  }
  for (int32_t v = 0; v < s->n_operators; v++)
    if (s->link.waiting[v] == 0) heap_push(&s->dispatch.ready[s->device[v]], v);
}

/* With overlap none the event-driven run only finds the sequence; its times do not matter, so it has no limit. */
static bool dispatch(stream *s, const double *priority, int32_t *order, int64_t limit_ns) {
  bool serial = s->problem->overlap == SITU_OVERLAP_NONE;
  prepare(s);
  prepare_heaps(s, priority);
  s->limit_ns = serial ? SITU_NEVER_NS : limit_ns;
  s->dispatch.started = order;
  s->dispatch.n_started = 0;
  run_start(s);
  if (!stream_continue(s)) return false;
  if (!serial) return true;
  stream_chain(s, &(placement){.device = (int32_t *)(uintptr_t)s->device, .order = order});
  return stream_run_serial(s);
}

int64_t stream_run_dispatch(void *model, const int32_t *device, const double *priority, int32_t *order,
                            int64_t limit_ns) {
  stream *s = model;
  if (s->problem->contention != SITU_CONTENTION_LINK) return SITU_NEVER_NS;
  s->device = device;
  if (!dispatch(s, priority, order, limit_ns)) return limit_ns;
  int64_t end = 0;
  for (int32_t v = 0; v < s->n_operators; v++) end = max64(end, s->finish_ns[v]);
  return min64(end, limit_ns);
}
