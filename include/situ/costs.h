/* situ/costs.h - what a graph costs on a platform: time of each operator on each class of device, and time of each
 * tensor on each route, all in whole nanoseconds. */
#ifndef SITU_COSTS_H
#define SITU_COSTS_H

#include "situ/graph.h"
#include "situ/platform.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_costs situ_costs;

typedef struct situ_cost_options {
  const char *model; /* the cost model by name (situ list costs); NULL means "roofline" */
  /* The part of a device's peak and of its memory bandwidth that real kernels reach, 0 < e <= 1; 0 means the model's
   * defaults, which may differ between the two. */
  double efficiency;
  /* A file of measured operator times that replace estimates (docs/formats/costs.md), or NULL. */
  const char *table_path;
} situ_cost_options;

/* Estimates the costs of `graph` on `platform`. options may be NULL. The result refers to neither of them. */
SITU_API situ_status situ_costs_estimate(situ_costs **out, const situ_graph *graph, const situ_platform *platform,
                                         const situ_cost_options *options, situ_error *error);
SITU_API void situ_costs_free(situ_costs *costs);

/* Where the costs come from, in words ("roofline at 50 % of peak", "workload file"). */
SITU_API const char *situ_costs_source(const situ_costs *costs);
/* Nanoseconds of one unit of the file that the costs were read from (1,000,000 for a workload in ms), or 0. */
SITU_API int64_t situ_costs_unit_ns(const situ_costs *costs);
/* Time of operator `op` on `device`: SITU_NEVER_NS when it cannot run there. */
SITU_API int64_t situ_costs_time_ns(const situ_costs *costs, const situ_platform *platform, int32_t op, int32_t device);
/* Time of sending `tensor` from one device to another without contention; 0 when they share a memory. */
SITU_API int64_t situ_costs_transfer_ns(const situ_costs *costs, const situ_platform *platform, int32_t tensor,
                                        int32_t from_device, int32_t to_device);

/* One row of the table of cost models; strings are static. */
typedef struct situ_known_cost_model {
  const char *name, *title, *source;
} situ_known_cost_model;
SITU_API int32_t situ_cost_models_size(void);
/* Row `index`, 0 <= index < size; the first is the default. */
SITU_API situ_known_cost_model situ_cost_models_entry(int32_t index);

#ifdef __cplusplus
}
#endif
#endif
