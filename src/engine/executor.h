/* engine/executor.h - the parts of a model, loaded by the workers of their devices, with tensors to run on. */
#ifndef SITU_ENGINE_EXECUTOR_H
#define SITU_ENGINE_EXECUTOR_H

#include "engine/cores.h"
#include "engine/engine.h"
#include "engine/ranks.h"
#include "situ/read.h"
#include "split/model_parts.h"

enum { EXECUTOR_ALIGNMENT = 64 }; /* of tensors in the shared memory */

/* The place of a value in the shared memory. */
typedef struct tensor_place {
  int64_t at, bytes; /* at -1: none */
  model_port port;   /* with all dimensions known */
} tensor_place;

/* The engine's settings for a device of the plan. */
typedef struct executor_lane {
  int32_t threads;    /* each on a core of its own if the machine has enough for all lanes */
  int32_t slower;     /* factor by which the device is slowed down, by waiting after each run; 0 means 1 */
  const char *device; /* of the engine, NULL: its CPU */
} executor_lane;

typedef struct executor_options {
  const engine *engine;
  const char *library;
  executor_lane lane;            /* of every device, unless lanes are given */
  const executor_lane *lanes;    /* [device]; may be NULL */
  const situ_read_options *read; /* sizes of dynamic dimensions; may be NULL */
  const char *const *names;      /* [device] for messages; NULL: "whole" */
  int32_t level;                 /* of graph optimisation */
  int32_t n_copies;              /* number of tensor sets: inputs that may be in flight at once */
  uint64_t seed;                 /* of the inputs */
  bool in_process;               /* engines run on the thread of the caller, one part after another */
  bool profile, named;           /* the engine writes a profile; node i is called "n<i>" */
  core_set cores;                /* available to its workers */
  ranks *ranks;                  /* this process is one of them; NULL: alone */
  const int32_t *rank_of;        /* [device] which rank runs its parts; NULL when alone */
  const int32_t *replica_of;     /* [n_devices] the device whose parts this one runs as a replica; -1: its own. May be
                                    NULL */
  int32_t n_devices;
  wait_limit wait;
} executor_options;

/* A value that one rank makes and another reads: sent once, however many parts read it there. */
typedef struct executor_channel {
  int32_t value, from, to;
} executor_channel;

typedef struct executor {
  arena *arena;
  const model_parts *parts;
  executor_options options;
  char folder[256]; /* temporary */
  unsigned char *shared;
  int64_t shared_bytes, used_bytes;
  worker **workers;         /* [n_workers] of devices that have parts */
  int32_t *devices, *cores; /* [n_workers]; core -1: not pinned */
  int32_t n_workers;
  int32_t *worker_of;   /* [copy * n_parts + part]; -1: another rank runs it */
  int64_t *session;     /* [copy * n_parts + part] */
  int32_t *binding;     /* [copy * n_parts + part] */
  tensor_place *places; /* [copy * n_values + value] */
  int32_t n_own;        /* parts of this process */
  int32_t n_channels;
  executor_channel *channels; /* the same on all ranks */
} executor;

/* The rank that runs part k, and whether it is this one. */
static inline int32_t executor_rank(const executor *x, int32_t k) {
  return x->options.ranks ? x->options.rank_of[x->parts->parts[k].device] : 0;
}
static inline bool executor_owns(const executor *x, int32_t k) {
  return executor_rank(x, k) == ranks_own(x->options.ranks);
}

/* Sets how many inputs of a pipeline are in flight at once: `queue` for each part on each of the devices that run it,
 * by replica_of [n_devices] (NULL: no device runs the parts of another). */
void executor_queue(executor_options *options, const model_parts *parts, const int32_t *replica_of, int32_t n_devices,
                    int32_t queue);

/* Writes the parts to a temporary folder, starts a worker for each device, opens and binds each part, which runs it
 * once for each copy. With ranks each does so with its own parts, and all must start together. Inputs are random by
 * the seed: floats in [0, 1), integers 0 or 1, which are nearly always valid indices. Stop it with
 * executor_stop, after failures too (*out is NULL then). */
situ_status executor_start(executor **out, const model_parts *parts, const executor_options *options,
                           situ_error *error);
void executor_stop(executor *x);

/* Runs a single input: parts start as soon as their inputs are available. part_ns[part]: the time of each part,
 * unchanged for parts of other ranks. The latency is from the start of the first own part to the end of the last, so
 * that it includes the messages between parts but not the first request and the last answer. All ranks must make this
 * call together. */
typedef struct run_times {
  int64_t start_ns, finish_ns;
} run_times;
situ_status executor_latency(executor *x, int64_t *latency_ns, run_times *part_ns, situ_error *error);

/* The part that k waited for last: one that makes an input of it, or the one before it on its device; -1: none. */
int32_t executor_awaited(const executor *x, const run_times *part_ns, int32_t k);

/* From the end of a run to the start of the next on its worker, for runs requested before that end: the time that the
 * worker needs to answer and to read the next request. ns[max], of which n are filled. */
typedef struct run_gaps {
  int64_t *ns;
  int32_t n, max;
} run_gaps;

/* Runs n inputs through all parts with at most n_copies in flight (on each rank): finish_ns[n] is when each was done
 * here, in ascending order, and part_sum_ns[part] the sum of its times. Adds gaps to `gaps` unless it is NULL. */
situ_status executor_pipeline(executor *x, int32_t n, int64_t *finish_ns, int64_t *part_sum_ns, run_gaps *gaps,
                              situ_error *error);

/* Ends the profile of the only part: its file, in the temporary folder, and how many of its runs to skip; -1: that of
 * binding and those of the warm-up. The path is in the arena of the executor. */
situ_status executor_profile(executor *x, const char **path, int32_t *n_first, situ_error *error);

/* Finds x->channels, the tensors between ranks (engine/channels.c); none without ranks. */
situ_status channels_find(executor *x, situ_error *error);
/* All ranks call it after part k was bound: sends its values to other ranks, and places those received here in the
 * shared memory, so that parts that read them can be bound. */
situ_status channels_send_part(executor *x, int32_t copy, int32_t k, situ_error *error);
/* Sends one value with its type and shape from rank to rank; does nothing on all other ranks. Received data is stored
 * after everything else in the shared memory. */
situ_status channels_send_value(executor *x, int32_t copy, int32_t value, int32_t from, int32_t to, situ_error *error);

/* The maximum difference of an output from that of another executor, relative to the maximum magnitude of that output;
 * infinite if shapes, types or positions of NaN differ. */
double executor_difference(const executor *x, const executor *other);
/* The difference up to which outputs count as equal: 1e-4, more if half-precision values pass between parts, since
 * an engine need not round to half precision within a part (ONNX Runtime computes in single precision there). */
double executor_tolerance(const executor *x);

#endif
