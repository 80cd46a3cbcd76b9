/* sim/stream.h - the stream model (docs/model.md): what its files share.
 *
 *   stream.c         set-up, the single pass without contention, and the row of the model
 *   stream_base.c    runs that take over from a run before them what is the same, and end where they are too long
 *   stream_link.c    the event-driven run with contention on channels
 *   stream_memory.c  memory over time, after either
 *   stream_plan.c    the whole plan */
#ifndef SITU_SIM_STREAM_H
#define SITU_SIM_STREAM_H

#include "base/heap.h"
#include "sim/models.h"

/* An input of an operator, with its producer beside it. */
typedef struct stream_input {
  int32_t tensor, producer;
} stream_input;

/* contention link: a tensor on its way to one memory. */
typedef struct stream_sending {
  int32_t tensor, to_memory;
  int32_t hop, end_hop;     /* the present hop and the end of the route, as indices into the routes */
  int32_t first_user;       /* index into graph->use: its users there, chained by user_next; -1 ends */
  int32_t next_in_queue;    /* of the channel, or -1 */
  int64_t left_ns, came_ns; /* end of its first hop, start of its last; left_ns -1 before */
} stream_sending;

typedef struct stream_hop {
  int32_t link, kind, channel;
} stream_hop;

typedef struct stream_event {
  int64_t time_ns;
  int32_t who; /* a device, or n_devices + a channel */
} stream_event;

typedef struct stream_base stream_base; /* stream_base.c */

typedef struct stream {
  const situ_problem *problem;
  const situ_graph *graph;
  const situ_platform *platform;
  int32_t n_operators, n_devices, n_memories, n_channels;

  stream_input *input;           /* beside graph->in */
  int64_t *start_ns, *finish_ns; /* [operator] */
  int64_t *load_ns;              /* [device] */
  int64_t *free_ns;              /* [device] contention none: when it ends what it has */
  /* The placement, chained. Behind the operators `next` has an entry for each device: the first operator there. */
  const int32_t *device; /* [operator], the caller's */
  int32_t *position;     /* [operator] in the given order */
  int32_t *next;         /* [operator, then device] the operator after it on its device, or -1 */
  int32_t *device_at;    /* [device] the entry of `next` that it is at: what it runs or ran last */

  const int64_t *tail_ns; /* NULL, or [operator] least time from its start to the end of everything: then the run */
  int64_t limit_ns;       /* ends as soon as it is sure to take this long */
  bool stopped;           /* it ended so */
  stream_base *recording; /* NULL, or where the run leaves its marks */

  /* contention link; NULL without it */
  stream_hop *hop;     /* beside platform->route_link */
  int32_t *waiting;    /* [operator] inputs that are not in its memory yet */
  bool *device_busy;   /* [device] */
  ready_heap *ready;   /* [device] dispatch: what it could run next */
  int32_t *ready_room; /* [operator] where the heaps lie */
  int32_t *started;    /* dispatch: [n_started] operators as they started, the caller's; else NULL */
  int32_t n_started;
  stream_sending *sending; /* in order of creation: those of one tensor are neighbours, by first user */
  int32_t n_sendings;
  int32_t *user_next; /* [use] */
  int32_t *slot;      /* [memory] the sending of the present tensor to it, if not older than the tensor */
  int32_t *channel_now, *queue_first, *queue_last; /* [channel] sending in service, and waiting; -1 for none */
  stream_event *heap;
  int32_t n_heap;
  int32_t *runnable, n_runnable; /* idle devices whose next operator has all its inputs */
  int32_t *fresh, n_fresh;       /* sendings that became ready for a hop at this instant */
  int32_t *freed, n_freed;       /* channels that ended a hop at this instant */
  bool broken;                   /* the order is not topological, or a time does not fit */
  int32_t n_ended;
  int64_t n_hops;
  situ_transfer *hop_log; /* NULL, or where each hop is written: n_hops of them */

  /* memory over time. The first only with contention link. Items are what takes room for a while: workspace of
   * an operator (its number), a tensor with its producer (n_operators + its number), then copies elsewhere. */
  int32_t *first_sending; /* [tensor] */
  int64_t *until_ns;      /* scratch [memory]: end of the last user there */
  int32_t *reached;       /* scratch [memory]: memories that have users of the tensor, in order of first user */
  int32_t *copy_tensor, *copy_memory; /* [copy] */
  int32_t n_copies;
  uint64_t *event_key, *event_key_other;  /* 2 * time, + 1 where room is taken, so that releases go first; _other: */
  int32_t *event_item, *event_item_other; /* room to sort */
  int64_t n_events;
  __int128 *held_bytes;      /* scratch [memory] */
  int64_t *peak_bytes;       /* [memory] */
  memory_change *change_log; /* NULL, or where each change is written: n_changes of them */
  int64_t n_changes;
} stream;

/* Chains the operators of each device in the given order. */
void stream_chain(stream *s, const placement *where);
/* One pass over the order, contention none, from position `first` on; finish_ns is -1 from there on, and what is before
 * is done. False when an input comes later in the order, a time is SITU_NEVER_NS, or the run is stopped. */
bool stream_run_free(stream *s, const placement *where, int32_t first);

/* Runs what is chained, contention link: whether it came to its end. Fills start_ns, finish_ns. */
bool stream_run_link(stream *s);
/* The same from the end of an instant on. */
bool stream_go_on(stream *s);
bool stream_make_link(stream *s, arena *a);
/* The same where each device takes, of what it could run, the operator of highest priority: see simulator_dispatch. */
int64_t stream_dispatch(void *model, const int32_t *device, const double *priority, int32_t *order);

/* After a run: fills peak_bytes and gives the bytes over the limits. */
int64_t stream_follow_memory(stream *s, const placement *where);
bool stream_make_memory(stream *s, arena *a);
situ_status stream_log_memory(void *model, const placement *where, memory_change **out, int64_t *n, arena *a,
                              situ_error *error);

situ_status stream_fill_plan(void *model, const placement *where, situ_plan *plan, situ_error *error);
void stream_run(void *model, const placement *where, bool memory, simulation *out);
/* What a run to the end found. */
void stream_tell(stream *s, const placement *where, bool memory, simulation *out);

/* simulator_base_new, simulator_run_base, simulator_run_below. */
void *stream_base_new(void *model, arena *a);
void stream_run_base(void *model, void *base, const placement *where, bool memory, simulation *out);
void stream_run_below(void *model, void *base, const placement *where, bool memory, int64_t limit_ns, simulation *out);
/* Leaves a mark if it is time for one: an instant is over. */
void stream_base_mark(stream *s, int64_t now_ns);

/* The greatest number of copies of tensors in memories of others that any placement needs. */
int64_t stream_most_sendings(const stream *s);

#endif
