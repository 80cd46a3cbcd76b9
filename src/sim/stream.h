/* sim/stream.h - the stream model (docs/model.md): the state of a run, by concern, shared by the files of the model.
 *
 * - stream.c: the placement as chains; the single pass without contention
 * - stream_link.c: the event-driven run with contention on channels; sequences by priority
 * - stream_serial.c: the run with overlap none
 * - stream_checkpoints.c: the state of an event-driven run at some instants, from which another may continue
 * - stream_memory.c: memory over time, after any run
 * - stream_run.c: set-up; one run and its results
 * - stream_base.c: runs that reuse the common part of an earlier run, and end early if they are too long
 * - stream_plan.c: the whole plan
 * - stream_model.c: the row of the model */
#ifndef SITU_SIM_STREAM_H
#define SITU_SIM_STREAM_H

#include "base/heap.h"
#include "sim/simulation.h"

/* An input of an operator, with its producer. */
typedef struct stream_input {
  int32_t tensor, producer;
} stream_input;

/* contention link: a tensor on its way to one memory. */
typedef struct stream_sending {
  int32_t tensor, to_memory;
  int32_t hop, end_hop;     /* the current hop and the end of the route, as indices into the routes */
  int32_t first_user;       /* index into graph->use: its users there, chained by user_next; -1 ends */
  int32_t next_in_queue;    /* of the channel, or -1 */
  int64_t left_ns, came_ns; /* end of its first hop, start of its last; left_ns -1 before */
} stream_sending;

typedef struct stream_hop {
  int32_t link, kind, channel;
  int32_t host; /* the first of the hosts that it keeps busy (overlap host-blocking), or -1 */
} stream_hop;

typedef struct stream_event {
  int64_t time_ns;
  int32_t who; /* a device, or n_devices + a channel */
} stream_event;

typedef struct stream_checkpoints stream_checkpoints; /* stream_checkpoints.h */
typedef struct stream_memory stream_memory;           /* stream_memory.c */

/* The event-driven run with contention link; all NULL without it. */
typedef struct stream_link_run {
  stream_hop *hop;   /* parallel to platform->route_link */
  int32_t *waiting;  /* [operator] inputs that are not in its memory yet */
  bool *device_busy; /* [device] */
  int32_t n_ended;   /* operators */
  bool broken;       /* the order is not topological, or a time does not fit */

  stream_sending *sending; /* in order of creation: those of one tensor are neighbours, by first user */
  int32_t n_sendings;
  int32_t *user_next;     /* [use] */
  int32_t *first_sending; /* [tensor] */
  int32_t *slot;          /* [memory] the sending of the current tensor to it, unless older than the tensor */
  int32_t *channel_now, *queue_first, *queue_last; /* [channel] sending in service, and waiting; -1 for none */

  stream_event *heap;
  int32_t n_heap;
  int32_t *next_host;            /* [device] the next host of its memory, or -1 */
  int32_t *runnable, n_runnable; /* idle devices whose next operator has all its inputs */
  int32_t *fresh, n_fresh;       /* sendings that became ready for a hop at this instant */
  int32_t *freed, n_freed;       /* channels that ended a hop at this instant */

  int64_t n_hops;
  situ_transfer *hop_log;          /* NULL, or where each hop is written: n_hops of them */
  stream_checkpoints *checkpoints; /* NULL, or where the run saves its checkpoints */
} stream_link_run;

/* A run with contention link in which each device picks a ready operator by priority. */
typedef struct stream_dispatch {
  ready_heap *ready; /* [device] the operators that it could run next */
  int32_t *room;     /* [operator] where the heaps lie */
  int64_t *left_ns;  /* [device] the total time of its operators that have not started */
  int32_t *started;  /* [n_started] operators as they started, the caller's; NULL: the run follows the chains */
  int32_t n_started;
} stream_dispatch;

typedef struct stream {
  const situ_problem *problem;
  const situ_graph *graph;
  const situ_platform *platform;
  int32_t n_operators, n_devices, n_memories, n_channels;
  stream_input *input; /* parallel to graph->in */

  /* The placement as chains. After the operators `next` has an entry for each device: the first operator there. */
  const int32_t *device; /* [operator], the caller's */
  const int32_t *order;  /* [operator], the caller's; NULL: by number */
  int32_t *position;     /* [operator] in the given order */
  int32_t *next;         /* [operator, then device] the operator after it on its device, or -1 */
  int32_t *device_at;    /* [device] its current entry of `next`: the operator that it runs or ran last */

  /* The results of a run. */
  int64_t *start_ns, *finish_ns; /* [operator] */
  int64_t *load_ns;              /* [device] */
  int64_t *free_ns;              /* [device] contention none: when it finishes its current operators */

  const int64_t *tail_ns; /* NULL, or [operator] minimum time from its start to the end of everything: then the run */
  int64_t limit_ns;       /* ends as soon as it must take this long; so does a dispatch, without tails */
  bool stopped;           /* it has ended early */

  stream_link_run link;
  stream_dispatch dispatch;
  stream_memory *memory;
} stream;

/* The maximum number of copies of tensors in other memories that any placement needs. */
int64_t stream_max_sendings(const stream *s);

/* Chains the operators of each device in the given order. */
void stream_chain(stream *s, const placement *where);

/* One pass over the order, contention none, from position `first` on; earlier operators are done, later ones have
 * finish_ns -1. False if an input comes later in the order, a time is SITU_NEVER_NS, or the run is stopped. */
bool stream_run_free(stream *s, const placement *where, int32_t first);

#endif
