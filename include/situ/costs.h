/* situ/costs.h - what a graph costs on a platform: time of each operator on each class of device, and time of each
 * tensor on each route, all in whole nanoseconds.
 *
 * Costs are frozen: any number of threads may read them. Texts belong to the costs, those of infos are static. */
#ifndef SITU_COSTS_H
#define SITU_COSTS_H

#include "situ/graph.h"
#include "situ/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_costs situ_costs;

/* Which devices work at the same time while one input goes through a stream (docs/model.md, "Overlap"). DEFAULT is what
 * the engine of the costs does, FULL where that is unknown. */
typedef enum situ_overlap {
  SITU_OVERLAP_DEFAULT = 0,
  SITU_OVERLAP_FULL,          /* devices and links all work at once */
  SITU_OVERLAP_HOST_BLOCKING, /* a copy back to a host's memory keeps that host busy */
  SITU_OVERLAP_NONE           /* one operator or transfer at a time in the whole machine */
} situ_overlap;
/* "full", "host-blocking", "none"; static storage. */
SITU_API const char *situ_overlap_name(situ_overlap overlap);

typedef struct situ_cost_options {
  size_t size;
  const char *model; /* the cost model by name (situ list costs); NULL means "roofline" */
  /* The part of a device's peak and of its memory bandwidth that real kernels reach, 0 < e <= 1; 0 means the model's
   * defaults, which may differ between the two. */
  double efficiency;
  const char *table_path; /* measured times that replace estimates (docs/formats/costs.md), or NULL */
  situ_log_callback *log; /* is told where times come from, and which are too low; may be NULL */
  void *log_context;
  /* What engines run as one kernel, by the name of a profile (situ_fusion_profile_at), or "none"; NULL: that of the
   * engine, else "generic". docs/theory/models/fusion.md */
  const char *fusion;
  /* The engine by name (situ_cost_engine_at): its fusion, its launch costs as a multiple of those of the devices, and
   * its overlap; NULL: "generic". */
  const char *engine;
} situ_cost_options;
#define SITU_COST_OPTIONS_INIT SITU_SIZED(situ_cost_options)

/* Estimates the costs of `graph` on `platform`. options may be NULL. The result refers to neither of them. */
SITU_API situ_status situ_costs_estimate(situ_costs **out, const situ_graph *graph, const situ_platform *platform,
                                         const situ_cost_options *options, situ_error *error);
SITU_API void situ_costs_free(situ_costs *costs);

/* The operator that has the time of the fused kernel that `op` is in; all others in it have 0 ns, and share its device.
 * `op` itself where it is in none, -1 where there is no such operator. */
SITU_API int32_t situ_costs_kernel(const situ_costs *costs, int32_t op);
/* Where the costs come from, in words ("roofline at 50 % of peak", "workload file"). */
SITU_API const char *situ_costs_source(const situ_costs *costs);
/* Nanoseconds of one unit of the file that the costs were read from (1,000,000 for a workload in ms), or 0. */
SITU_API int64_t situ_costs_unit_ns(const situ_costs *costs);
/* Time of operator `op` on `device`: SITU_NEVER_NS when it cannot run there, or there is no such operator or device. */
SITU_API int64_t situ_costs_time_ns(const situ_costs *costs, const situ_platform *platform, int32_t op, int32_t device);
/* Time of sending `tensor` from one device to another without contention; 0 when they share a memory, SITU_NEVER_NS
 * when there is no such tensor or device. */
SITU_API int64_t situ_costs_transfer_ns(const situ_costs *costs, const situ_platform *platform, int32_t tensor,
                                        int32_t from_device, int32_t to_device);

/* Names of profiles of fusion and of engines, the default first; NULL when there is no such row. Static storage. */
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
