/* situ/problem.h - the question: a graph on a platform with costs, an objective and constraints. docs/model.md defines
 * the execution models, loads and memory rules named below.
 *
 * A problem is frozen: any number of threads may read and solve it. It keeps its graph, platform and costs alive: the
 * program may free them before the problem. */
#ifndef SITU_PROBLEM_H
#define SITU_PROBLEM_H

#include "situ/costs.h"
#include "situ/graph.h"
#include "situ/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_problem situ_problem;

/* What is minimised. DEFAULT follows the execution model if one is given; else it is throughput if the costs come from
 * a workload file (situ_costs_summary.unit_ns > 0), else latency. */
typedef enum situ_objective {
  SITU_OBJECTIVE_DEFAULT = 0,
  SITU_OBJECTIVE_LATENCY,
  SITU_OBJECTIVE_THROUGHPUT
} situ_objective;

/* How the machine runs the model. DEFAULT is stream if there is a limit on period or latency; else pipeline for
 * throughput; for latency it is calls if the costs come from a workload file (unit_ns > 0), else stream. */
typedef enum situ_execution {
  SITU_EXECUTION_DEFAULT = 0,
  SITU_EXECUTION_STREAM,  /* one input; operators and transfers run in order on devices and links */
  SITU_EXECUTION_CALLS,   /* one input; an accelerator runs convex sub-graphs as single calls */
  SITU_EXECUTION_PIPELINE /* many inputs in flight; the value is the period */
} situ_execution;

/* stream: whether a directed link serves one transfer at a time. */
typedef enum situ_contention { SITU_CONTENTION_LINK = 0, SITU_CONTENTION_NONE } situ_contention;

/* pipeline: which resource is charged for the time of a transfer. DEFAULT is host-staged if the costs come from a
 * workload file, else link. */
typedef enum situ_communication {
  SITU_COMMUNICATION_DEFAULT = 0,
  SITU_COMMUNICATION_HOST_STAGED, /* the accelerators at both ends, once for each tensor and accelerator */
  SITU_COMMUNICATION_LINK         /* the links of its route, each a resource of its own */
} situ_communication;

/* pipeline, training: the definition of a plan's period. The first two differ only if the graph has operators that are
 * not forward.
 */
typedef enum situ_schedule {
  SITU_SCHEDULE_1F1B = 0, /* the maximum of forward + backward load of a resource: passes alternate */
  SITU_SCHEDULE_GPIPE,    /* the maximum forward + the maximum backward load: all forward passes, then all backward */
  SITU_SCHEDULE_ZB_H1,    /* as 1F1B, but gradients of weights wait until a device is idle or its memory is full */
  /* With several parts (chunks) of the model on each device, and fixed orders of passes: */
  SITU_SCHEDULE_INTERLEAVED, /* 1F1B by chunks, which go round the devices (Narayanan et al. 2021) */
  SITU_SCHEDULE_ZB_V         /* zero bubble by two chunks, which go there and back (Qi et al. 2024) */
} situ_schedule;

typedef struct situ_problem_options {
  size_t size;
  situ_objective objective;
  situ_execution execution;
  situ_contention contention;
  situ_overlap overlap; /* only for stream with one copy and contention link; others overlap fully */
  situ_communication communication;
  bool free;         /* pipeline: devices need not hold contiguous parts */
  bool async_copies; /* pipeline: a device's load is the maximum of compute, in and out, not their sum */
  situ_schedule schedule;
  bool replicate;         /* pipeline: several equal devices may share the inputs of one part */
  int32_t in_flight;      /* pipeline: number of inputs whose activations are in memory at once; 0 means 1 */
  int32_t copies;         /* stream: inputs in flight at once, each with its own placement; 0 means 1. The one-call
                             interface (situ/instance.h) makes the copies; any other graph posed with copies > 1 must
                             contain them consecutively, with weights in the first only. */
  int32_t max_calls;      /* calls: maximum number of calls (convex sub-graphs) per accelerator; 0: no limit */
  int32_t micro_batches;  /* pipeline, training: a step is so many inputs and one update, and its schedule says how many
                             of them a device keeps (docs/model.md, "Steps of several micro-batches"), so in_flight is
                             not given; 0: in_flight says it */
  int32_t chunks;         /* schedule interleaved: the parts of each device, at least 2; 0: 2. zb-v has 2 */
  int32_t zero;           /* pipeline, training, replicate: what the devices that share a part hold in shares: 1 states
                             of the optimizer, 2 gradients too, 3 weights too (ZeRO, FSDP); 0: nothing */
  int64_t max_period_ns;  /* stream, latency: limit on a plan's period; 0: none */
  int64_t max_latency_ns; /* stream, throughput: limit on a plan's latency; 0: none */
  const int32_t *pins;    /* [n_operators] a device, or -1 for not pinned; NULL: nothing is pinned. Copied. */
  const bool *unused;     /* [n_devices] devices that must stay empty; NULL: none. Copied. */
  const int32_t *keep_together; /* [n_operators] operators with equal keys, 0 .. n_operators-1, share a device, in
                                   addition to colocation groups and fused kernels; -1: no key; NULL: no keys at all.
                                   Copied. */
  /* stream, latency, one copy, overlap none: a limit on the latency of a plan by a second set of costs of the same
   * graph and platform, such as those of another step of the same model. NULL and 0: no limit. secondary_name says in
   * messages what the limit applies to; NULL: "latency by the secondary costs". Copied. */
  const situ_costs *secondary_costs;
  int64_t max_secondary_ns;
  const char *secondary_name;
  const char *keep_name; /* what keep_together keeps whole, for messages: "layers"; NULL: "given groups". Copied. */
  /* What llama.cpp calls the devices, for its writers: "gpu0=Vulkan0,gpu1=RPC[host:port]" or a back end alone,
   * "Vulkan". NULL: by the vendor of each device. Copied. */
  const char *names;
  /* The share of the time, in percent, up to which guesses (situ_problem_unknown_at) leave a claim one for "these
   * costs"; beyond it reports say "optimal for guessed costs". 0: 5 %. At most 100. */
  double max_unknown_percent;
} situ_problem_options;
#define SITU_PROBLEM_OPTIONS_INIT SITU_SIZED(situ_problem_options)

/* Poses the problem. options may be NULL (all defaults). BAD_ARGUMENT if graph, platform and costs do not belong
 * together, if objective and execution model cannot be combined (latency with pipeline; throughput with calls or,
 * without a limit on latency, with stream), if an option of pipelines is given for another execution model, or if
 * secondary_costs allow an operator on other devices than the costs do. BAD_INPUT if all times add up to more than 2^54
 * ns or all sizes to more than 2^56 bytes (docs/model.md, "Limits"). Constraints that cannot be met are not an error
 * here: see `conflict` of situ_problem_summary. */
SITU_API situ_status situ_problem_pose(situ_problem **out, const situ_graph *graph, const situ_platform *platform,
                                       const situ_costs *costs, const situ_problem_options *options, situ_error *error);
SITU_API void situ_problem_free(situ_problem *problem);
/* The same question with other costs of its graph and platform (situ_costs_change). Plans of the old problem may start
 * the search in the new one (situ_solve_options.starts). Errors as of situ_problem_pose. */
SITU_API situ_status situ_problem_change(situ_problem **out, const situ_problem *problem, const situ_costs *costs,
                                         situ_error *error);

typedef struct situ_problem_summary {
  size_t size;
  situ_objective objective; /* this and the next three are never DEFAULT */
  situ_execution execution;
  situ_communication communication;
  situ_overlap overlap;
  situ_contention contention;
  situ_schedule schedule;
  int32_t copies;    /* at least 1 */
  int32_t max_calls; /* 0: no limit */
  bool free, replicate;
  bool guessed; /* more is unknown (below) than max_unknown_percent of the options allows */
  /* One line naming a constraint that no plan can meet ("operator x can run on no device", "a and b are colocated but
   * pinned apart"), or NULL. */
  const char *conflict;
  /* The space in which bounds, OPTIMAL and INFEASIBLE hold, in words: "plans that keep every operator whole on one
   * device and leave gpu1 unused". It names every restriction of the problem. */
  const char *scope;
  /* What is unknown: the rows of situ_problem_unknown_at, the operators of all of them, and their share of the time. */
  int32_t n_unknown, n_unknown_operators;
  double unknown_share;
} situ_problem_summary;
#define SITU_PROBLEM_SUMMARY_INIT SITU_SIZED(situ_problem_summary)
/* False, and nothing is written, if the problem or `out` is NULL or `out` has no size. Texts belong to the problem. */
SITU_API bool situ_problem_get_summary(const situ_problem *problem, situ_problem_summary *out);

/* A guess that costs rest on: something that the model's file does not say and the reader assumed. */
typedef struct situ_unknown {
  size_t size;
  situ_guess_kind kind;
  const char *subject; /* a kind of operators, a tensor, a dimension, ... as the kind says */
  int32_t n_operators; /* that it concerns; at least 1 */
  double share; /* of the time: that of the kernels with such an operator over that of all kernels, each on its fastest
                   device, without transfers. Where all times are 0, of the operators. */
} situ_unknown;
#define SITU_UNKNOWN_INIT SITU_SIZED(situ_unknown)
/* The guesses of a problem, by falling share; false if there is none of this index. An operator is not among them if
 * its time is measured (situ_cost_options.table_path) or given by the model's file for every device that can run it.
 * Texts belong to the problem. */
SITU_API int32_t situ_problem_unknown_count(const situ_problem *problem);
SITU_API bool situ_problem_unknown_at(const situ_problem *problem, int32_t index, situ_unknown *out);
/* GUESSED, with one line that says what is unknown and what to do, if the share of all guesses is more than
 * max_percent (0: that of the problem's options). */
SITU_API situ_status situ_problem_require_known(const situ_problem *problem, double max_percent, situ_error *error);

/* What it was posed of: borrowed, and alive as long as the problem. */
SITU_API const situ_graph *situ_problem_graph(const situ_problem *problem);
SITU_API const situ_platform *situ_problem_platform(const situ_problem *problem);
SITU_API const situ_costs *situ_problem_costs(const situ_problem *problem);

/* "latency", "stream", "host-staged", "link", ...; static storage. */
SITU_API const char *situ_objective_name(situ_objective objective);
SITU_API const char *situ_execution_name(situ_execution execution);
SITU_API const char *situ_communication_name(situ_communication communication);
SITU_API const char *situ_contention_name(situ_contention contention);
SITU_API const char *situ_schedule_name(situ_schedule schedule); /* "1f1b", "gpipe", "zb-h1", ... */

#ifdef __cplusplus
}
#endif
#endif
