/* engine/executor.h - the parts of a model, loaded by the workers of their devices, with tensors to run on. */
#ifndef SITU_ENGINE_EXECUTOR_H
#define SITU_ENGINE_EXECUTOR_H

#include "engine/engine.h"
#include "situ/read.h"
#include "split/onnx_parts.h"

/* Where a value lies in the shared memory. */
typedef struct tensor_place {
  int64_t at, bytes; /* at -1: it is not there */
  onnx_port port;    /* with all dimensions known */
} tensor_place;

/* What a device of the plan is on the engine. */
typedef struct executor_lane {
  int32_t threads;    /* each on a core of its own where the machine has as many as all lanes together need */
  int32_t slower;     /* how many times slower than it is, by waiting after each run; 0 means 1 */
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
  int32_t n_copies;              /* sets of tensors: inputs that may be under way at once */
  uint64_t seed;                 /* of the inputs */
  bool profile, named;           /* the engine writes a profile; node i is called "n<i>" */
  patience wait;
} executor_options;

typedef struct executor {
  arena *arena;
  const onnx_parts *parts;
  executor_options options;
  char folder[256]; /* temporary */
  unsigned char *shared;
  int64_t shared_bytes, used_bytes;
  worker **workers;         /* [n_workers] of devices that have parts */
  int32_t *devices, *cores; /* [n_workers]; core: -1 where it is not pinned */
  int32_t n_workers;
  int32_t *worker_of;   /* [part] */
  int64_t *session;     /* [part] */
  int32_t *binding;     /* [copy * n_parts + part] */
  tensor_place *places; /* [copy * n_values + value] */
} executor;

/* Writes the parts to a temporary folder, starts a worker for each device, opens and binds each part, which runs it
 * once for each copy. Inputs are random by the seed: floats in [0, 1), whole numbers 0 or 1, which are valid indices
 * nearly everywhere. Stop it with executor_stop, after failures too (*out is NULL then). */
situ_status executor_start(executor **out, const onnx_parts *parts, const executor_options *options, situ_error *error);
void executor_stop(executor *x);

/* Runs one input, alone: parts begin as soon as what they need is there. part_ns[part]: times of its run; the latency
 * is from the call to the last answer. */
typedef struct run_times {
  int64_t start_ns, finish_ns;
} run_times;
situ_status executor_latency(executor *x, int64_t *latency_ns, run_times *part_ns, situ_error *error);

/* For which part k waited last: one that makes an input of it, or the one before it on its device; -1: none. */
int32_t executor_awaited(const executor *x, const run_times *part_ns, int32_t k);

/* Runs n inputs through all parts with at most n_copies under way: finish_ns[n] is when each was done, and
 * part_sum_ns[part] the sum of its times. */
situ_status executor_pipeline(executor *x, int32_t n, int64_t *finish_ns, int64_t *part_sum_ns, situ_error *error);

/* Ends the profile of the only part: its file, in the temporary folder, and how many of its runs are to be left out;
 * -1: that of binding and those of the warm-up. The path is in the arena of the executor. */
situ_status executor_profile(executor *x, const char **path, int32_t *n_first, situ_error *error);

/* The greatest difference of an output from the same of another executor, by the greatest magnitude of that output;
 * infinite where shapes, types or places of NaN differ. */
double executor_difference(const executor *x, const executor *other);
/* Up to which difference outputs are equal: 1e-4, more where half floats are handed on, since an engine rounds to these
 * only where it has to (ONNX Runtime computes single ones between nodes that are not cut apart). */
double executor_tolerance(const executor *x);

#endif
