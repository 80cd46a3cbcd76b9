/* situ/costs.h - the costs of a graph on a platform: the time of each operator on each class of device, and the time of
 * each tensor on each route, all in whole nanoseconds.
 *
 * Costs are frozen: any number of threads may read them. Texts belong to the costs; texts in info structs are
 * static. */
#ifndef SITU_COSTS_H
#define SITU_COSTS_H

#include "situ/graph.h"
#include "situ/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_costs situ_costs;

/* Which devices and links work at the same time while one input is processed in the stream model (docs/model.md,
 * "Overlap"). DEFAULT is the behaviour of the costs' engine, or FULL where that is unknown. */
typedef enum situ_overlap {
  SITU_OVERLAP_DEFAULT = 0,
  SITU_OVERLAP_FULL,          /* devices and links all work at once */
  SITU_OVERLAP_HOST_BLOCKING, /* a copy back to a host's memory occupies that host */
  SITU_OVERLAP_NONE           /* one operator or transfer at a time in the whole machine */
} situ_overlap;
/* "full", "host-blocking", "none"; static storage. */
SITU_API const char *situ_overlap_name(situ_overlap overlap);

/* The time of an operator on a device, and thereby on all of its class, as the program knows it: nanoseconds,
 * SITU_NEVER_NS where it cannot run there, or a negative number to keep the estimate. */
typedef int64_t situ_time_callback(void *context, int32_t op, int32_t device);

typedef struct situ_cost_options {
  size_t size;
  const char *model; /* the cost model by name (situ list costs); NULL means "roofline" */
  /* The share of a device's peak rate and of its memory bandwidth that real kernels reach, 0 < e <= 1. 0 means the
   * defaults of the cost model, which may differ between the two. */
  double efficiency;
  const char *table_path; /* measured times that replace estimates (docs/formats/costs.md), or NULL */
  situ_log_callback *log; /* reports where times come from and which of them are too low; may be NULL */
  void *log_context;
  /* The fusion profile, which says what an engine runs as one kernel: a name from situ_fusion_profile_at, or "none".
   * NULL: the profile of `engine`, else "generic". See docs/theory/models/fusion.md. */
  const char *fusion;
  /* The engine by name (situ_cost_engine_at). It sets the fusion, the launch costs as a multiple of those of the
   * devices, and the overlap. NULL: "generic". */
  const char *engine;
  /* Times from memory, for situ_costs_estimate only: asked once for each operator and class of devices, on the thread
   * of the call. They replace estimates and the times of table_path. An operator that has one is not fused. NULL: none.
   */
  situ_time_callback *time_of;
  void *time_context;
} situ_cost_options;
#define SITU_COST_OPTIONS_INIT SITU_SIZED(situ_cost_options)

/* Estimates the costs of `graph` on `platform`. options may be NULL. The result keeps no reference to either. */
SITU_API situ_status situ_costs_estimate(situ_costs **out, const situ_graph *graph, const situ_platform *platform,
                                         const situ_cost_options *options, situ_error *error);
SITU_API void situ_costs_free(situ_costs *costs);

/* A time that a program measured, or that changed: of operator `op` on the class of `device`. */
typedef struct situ_operator_time {
  int32_t op, device;
  int64_t time_ns; /* SITU_NEVER_NS: cannot run there */
} situ_operator_time;
/* The same costs with other times of some operators; situ_problem_change poses a problem with them. `platform` is that
 * of the costs. BAD_ARGUMENT if there is no such operator or device, if a time is negative or above 2^54 ns, or if an
 * operator's time is counted with another one's (situ_costs_kernel). */
SITU_API situ_status situ_costs_change(situ_costs **out, const situ_costs *costs, const situ_platform *platform,
                                       const situ_operator_time *times, int32_t n_times, situ_error *error);

/* The operator that carries the time of the fused kernel that `op` belongs to. All other operators of the kernel have 0
 * ns and share its device. Returns `op` itself if it is not fused, -1 if there is no such operator. */
SITU_API int32_t situ_costs_kernel(const situ_costs *costs, int32_t op);
typedef struct situ_costs_summary {
  size_t size;
  const char *source; /* where the costs come from, in words ("roofline at 50 % of peak", "workload file") */
  int64_t unit_ns;    /* nanoseconds in one time unit of the file that the costs were read from (1,000,000 for a
                         workload in ms), or 0 */
} situ_costs_summary;
#define SITU_COSTS_SUMMARY_INIT SITU_SIZED(situ_costs_summary)
/* False, and nothing is written, if the costs or `out` are NULL or `out` has no size. */
SITU_API bool situ_costs_get_summary(const situ_costs *costs, situ_costs_summary *out);
/* Time of operator `op` on `device`: SITU_NEVER_NS if it cannot run there, or if there is no such operator or
 * device. */
SITU_API int64_t situ_costs_time_ns(const situ_costs *costs, const situ_platform *platform, int32_t op, int32_t device);
/* Time to send `tensor` from one device to another without contention: 0 if they share a memory, SITU_NEVER_NS if there
 * is no such tensor or device. */
SITU_API int64_t situ_costs_transfer_ns(const situ_costs *costs, const situ_platform *platform, int32_t tensor,
                                        int32_t from_device, int32_t to_device);

/* Names of fusion profiles and of engines, the default first; NULL past the end. Static storage. */
SITU_API const char *situ_fusion_profile_at(int32_t index);
SITU_API const char *situ_cost_engine_at(int32_t index);

/* The table of cost models; the first is the default. */
typedef struct situ_cost_model_info {
  size_t size;
  const char *name, *title, *source;
} situ_cost_model_info;
#define SITU_COST_MODEL_INFO_INIT SITU_SIZED(situ_cost_model_info)
SITU_API int32_t situ_cost_model_count(void);
/* Row `index`; false when there is none. */
SITU_API bool situ_cost_model_at(int32_t index, situ_cost_model_info *out);

#ifdef __cplusplus
}
#endif
#endif
