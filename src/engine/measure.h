/* engine/measure.h - shared code of measuring calls, and the contents of their results. */
#ifndef SITU_ENGINE_MEASURE_H
#define SITU_ENGINE_MEASURE_H

#include "engine/executor.h"
#include "engine/part_costs.h"
#include "engine/race.h"
#include "plan/plan.h"

enum { MEASURE_NAME_BYTES = 64 };

/* What a measuring call asks for: the options of all such calls. */
typedef struct measure_options {
  const char *engine, *library, *device;
  const situ_read_options *read; /* NULL: defaults */
  double time_limit_s;
  situ_measure_callback *progress;
  void *context;
  uint64_t seed;
  situ_level level;
  int32_t threads, items, warm_up, queue;
  bool in_process;
  const char *map, *log, *replay, *memory;
} measure_options;

/* From the options of callers, which may be NULL. */
situ_status measure_take_profile(measure_options *out, const situ_profile_options *given, situ_error *error);
situ_status measure_take_run(measure_options *out, const situ_run_options *given, situ_error *error);
situ_status measure_take_race(measure_options *out, const situ_race_options *given, situ_error *error);

/* Options with all defaults filled in, and the engine that was found. */
typedef struct measuring {
  measure_options options;
  situ_read_options read;
  executor_options executor; /* each call sets names, copies and other fields of its own */
  arena *arena;
  int64_t begun_ns;
  bool threads_given;  /* by the caller, not the default */
  int32_t done, total; /* for the progress */
  const char *phase;
} measuring;

/* For the model file at `model`. Without a number of threads each device gets as many as the costs of the problem
 * assume, or one (always without a problem). `arena` is the caller's, and `m` must not move until the measurement ends.
 */
situ_status measure_begin(measuring *m, const measure_options *given, const situ_problem *problem, const char *model,
                          arena *a, situ_error *error);
/* Only the options, for calls without an engine. */
situ_status measure_options_take(measuring *m, const measure_options *given, situ_error *error);
/* Sets the lane of every device of a platform from options->map. In the arena. */
situ_status measure_lanes(executor_options *x, const measuring *m, const situ_platform *platform, arena *a,
                          situ_error *error);
/* Identifies a placement: the devices of operators, and their order (NULL: none). */
uint64_t measure_hash(const int32_t *device, const int32_t *order, int32_t n_operators);
/* A measured time of a log: item `at` of a list of whole numbers. -1 unless it is from 0 to 2^54 (208 days, the maximum
 * of a problem). */
int64_t measure_logged_ns(const json_value *list, int64_t at);
/* Whether the time limit has passed. */
bool measure_is_late(const measuring *m);
/* The version of the engine, from a worker. */
situ_status measure_version(char into[MEASURE_NAME_BYTES], const measuring *m, situ_error *error);

/* The contents of a profile. */
struct situ_profile {
  arena *arena;
  situ_model *model;
  char engine[2 * MEASURE_NAME_BYTES]; /* "onnxruntime 1.32.0" */
  int32_t threads, level, n_runs;      /* threads 0: not known */
  int64_t whole_ns, whole_half_ns;     /* of runs without a profile: median, half the interquartile range */
  int64_t kernels_ns;                  /* sum of all kernels by the profile */
  int64_t *time_ns;                    /* [operator] scaled to sum to whole_ns */
  int64_t *step_ns[2];      /* [operator] of one step of decoding, and of prefill; NULL: not measured apart */
  double *spread;           /* [operator] */
  int32_t *kernel, *next;   /* [operator] the first of its kernel; the next one in it, -1: none */
  int32_t n_timed;          /* operators with a time of their own */
  part_costs cut;           /* the cost of cutting the model; n_cuts 0: not measured */
  const char *device;       /* the engine's name of what was measured; NULL: read from a file */
  const char *made_up;      /* the file of weights that is not there; NULL: weights are those of the model */
  int64_t *workspace_bytes; /* [operator] scratch memory of its kernel; NULL: not known */
  int32_t n_memory_rows, n_memory_named; /* rows of the memory statistics; those of nodes of the model */
};

/* One part of a plan, or one device of a pipeline. */
typedef struct run_stage {
  int32_t device, core, n_nodes, first, last; /* operators; -1: none */
  int64_t predicted_ns, measured_ns, half_ns;
} run_stage;

/* A value handed from part to part. */
typedef struct run_transfer {
  const char *name;
  int32_t from_part, to_part;
  int64_t bytes, predicted_ns, measured_ns; /* measured: from the end of the one to the start of the other */
} run_transfer;

/* Measurements of the link between two ranks. */
typedef struct run_link {
  int32_t from, to;
  int64_t latency_ns;
  double bytes_per_s;
} run_link;

/* A device of a served language model: memory by the plan, and all buffers of the engine's log. */
typedef struct run_buffer {
  int32_t device;
  const char *name; /* as the engine has it */
  int64_t predicted_bytes, measured_bytes;
} run_buffer;

/* A layer that is not where the plan has it. */
typedef struct run_stray {
  int32_t layer; /* the number of layers: the head */
  const char *planned, *found;
} run_stray;

/* A language model that an engine served: requests of a prompt and tokens to generate. */
typedef struct run_served {
  int64_t prompt, generate;
  double prefill, decode;                  /* tokens per second as predicted; 0: not known */
  int64_t prompt_ns, generate_ns, half_ns; /* medians of the requests; half the interquartile range of generating */
  int32_t n_layers, n_buffers, n_strays;
  run_buffer *buffers;
  run_stray *strays;
} run_served;

struct situ_run {
  arena *arena; /* holds that of the problem */
  const situ_problem *problem;
  int32_t rank, n_ranks; /* results are on rank 0 */
  char engine[2 * MEASURE_NAME_BYTES];
  int32_t threads, level, n_items;
  bool pipeline;
  int64_t predicted_ns, measured_ns, half_ns; /* latency, or period of a pipeline */
  int64_t by_parts_ns;                        /* the predicted latency with the overhead of parts in the costs; 0: the
                                                 costs have none */
  int64_t whole_ns, whole_half_ns;            /* latency of the whole model on one device of the engine */
  int64_t latency_ns;                         /* of one input alone */
  double difference, tolerance;               /* of outputs, by their magnitude; what counts as equal */
  const char *made_up;                        /* the file of weights that is not there; NULL: they are the model's */
  int32_t n_parts, n_transfers;
  run_stage *parts;
  run_transfer *transfers;
  int32_t n_links, *rank_of; /* [device]; NULL when alone */
  run_link *links;
  run_served *served; /* NULL: parts were run, as the other members say */
};

struct situ_race {
  arena *arena;
  char engine[2 * MEASURE_NAME_BYTES];
  bool pipeline; /* periods, not latencies */
  int32_t n, rounds, winner;
  race_lane *lanes;      /* [n] */
  const char **names;    /* [n] what each candidate is; static storage */
  const char **why;      /* [n] why the engine refused it; "" where it did not */
  uint64_t *hash;        /* [n] of the placement */
  int64_t *predicted_ns; /* [n] */
};

/* The race of plans of one problem of a model file at `model`. ENGINE or UNSUPPORTED where none of them runs. */
situ_status race_plans(situ_race **out, const situ_plan *const *plans, const char *const *names, int32_t n,
                       const situ_problem *problem, const char *model, const measure_options *options,
                       situ_error *error);
/* The measurements as JSON; NULL without memory. */
json_value *race_log(const situ_race *race);

/* situ_run_plan for a problem of a model file at `model`; dimensions as options->read has them. */
situ_status run_plan(situ_run **out, const situ_plan *plan, const char *model, const measure_options *options,
                     situ_error *error);

#endif
