/* sim/stream.h - the stream model (docs/model.md): the state of a run, by concern, and what the files of the model do
 * with it. stream_model.c is its row. */
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

typedef struct stream_checkpoints stream_checkpoints; /* stream_checkpoints.c */
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

/* ---- stream.c: the placement as chains; the single pass without contention ---- */

/* The maximum number of copies of tensors in other memories that any placement needs. */
int64_t stream_max_sendings(const stream *s);

/* Chains the operators of each device in the given order. */
void stream_chain(stream *s, const placement *where);

/* One pass over the order, contention none, from position `first` on; earlier operators are done, later ones have
 * finish_ns -1. False if an input comes later in the order, a time is SITU_NEVER_NS, or the run is stopped. */
bool stream_run_free(stream *s, const placement *where, int32_t first);

/* ---- stream_link.c: the event-driven run with contention on channels; sequences by priority ---- */

/* Allocates for runs; false without memory. */
bool stream_link_make(stream *s, arena *a);

/* Runs the chains; returns whether the run completed. Fills start_ns, finish_ns. */
bool stream_run_link(stream *s);
/* The same from the end of an instant on. */
bool stream_continue(stream *s);

/* The same, but each device picks the ready operator of highest priority: see simulator_dispatch. */
int64_t stream_run_dispatch(void *model, const int32_t *device, const double *priority, int32_t *order,
                            int64_t limit_ns);

/* ---- stream_serial.c: the run with overlap none ---- */

/* Runs the chains in order, each operator followed by the transfers of its outputs. Returns whether the run completed:
 * false if an input comes later in the order, an operator cannot run on its device, or the run is stopped. Fills
 * start_ns, finish_ns and the sendings, as stream_run_link does. O(V + E + hops). */
bool stream_run_serial(stream *s);

/* ---- stream_checkpoints.c: the state of an event-driven run at the end of some instants, from which another may
 * continue ---- */

typedef struct stream_checkpoint stream_checkpoint;

/* Allocates; NULL without memory. */
stream_checkpoints *stream_checkpoints_new(const stream *s, arena *a);
/* Saves a checkpoint after the instant now_ns if enough operators have ended since the last one. */
void stream_checkpoints_save(stream *s, int64_t now_ns);
bool stream_checkpoints_empty(const stream_checkpoints *c);
/* The last checkpoint before a time, NULL if there is none; the time of a checkpoint. */
const stream_checkpoint *stream_checkpoints_before(const stream_checkpoints *c, int64_t time_ns);
int64_t stream_checkpoint_ns(const stream_checkpoint *point);
/* Drops all checkpoints after `point`, or all if it is NULL. */
void stream_checkpoints_cut(stream_checkpoints *c, const stream_checkpoint *point);
/* Restores the state of a checkpoint, except the user lists, which the caller restores. */
void stream_restore(stream *s, const stream_checkpoint *point);

/* ---- stream_memory.c: memory over time, after any run ---- */

/* Allocates for the memory of runs; NULL without memory. */
stream_memory *stream_memory_new(const stream *s, arena *a);

/* After a complete run: finds the peaks, and returns the bytes over the limits, summed over memories. */
int64_t stream_follow_memory(stream *s, const placement *where);
/* [memory] the result, borrowed until the next call. */
const int64_t *stream_peak_bytes(const stream *s);

/* The complete history in the form of simulator_memory; the array lives in the arena. NO_MEMORY or OK. */
situ_status stream_log_memory(stream *s, const placement *where, memory_change **out, int64_t *n, arena *a,
                              situ_error *error);

/* ---- stream_run.c: set-up; one run and its results ---- */

/* execution_model.make and .run */
void *stream_make(const situ_problem *problem, arena *a);
void stream_run(void *model, const placement *where, bool memory, simulation *out);

/* The results of a complete run. */
void stream_report(stream *s, const placement *where, bool memory, simulation *out);

/* ---- stream_base.c: runs that reuse the common part of an earlier run, and end early if they are too long:
 * docs/theory/models/trial_runs.md ---- */

/* execution_model.base_new, .run_base and .run_below */
void *stream_base_new(void *model, arena *a);
void stream_run_base(void *model, void *base, const placement *where, bool memory, simulation *out);
void stream_run_below(void *model, void *base, const placement *where, bool memory, int64_t limit_ns, simulation *out);

/* ---- stream_plan.c: the whole plan ---- */

/* execution_model.plan and .memory */
situ_status stream_fill_plan(void *model, const placement *where, situ_plan *plan, situ_error *error);
situ_status stream_report_memory(void *model, const placement *where, memory_change **out, int64_t *n, arena *a,
                                 situ_error *error);

#endif
