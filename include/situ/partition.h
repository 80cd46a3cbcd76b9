/* situ/partition.h - a graph cut into sub-graphs by what each device supports: what a runtime asks that hands
 * sub-graphs to back ends (execution providers, delegates), with sets of operators instead of a platform and times.
 *
 * Each operator goes to one device that supports it, and each part is a set of operators of one device, at least as
 * many as that device asks for. No cycle leads through parts, so they can run one after the other. Minimised is
 *
 *     costs of operators + crossing_cost * crossings + part_cost * parts
 *
 * where a crossing is a tensor and a device that receives it. A partition is frozen: any number of threads may read it.
 * It keeps its graph alive; its arrays belong to it. */
#ifndef SITU_PARTITION_H
#define SITU_PARTITION_H

#include "situ/graph.h"
#include "situ/plan.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SITU_PARTITION_MAX_DEVICES 64

typedef struct situ_partition situ_partition;

typedef struct situ_partition_options {
  size_t size;
  const int32_t *min_operators; /* [n_devices] of each part on a device; NULL: 1 for all */
  /* [n_operators * n_devices] what an operator costs there, >= 0. NULL: the number of the device, so that lower ones
   * are preferred, as execution providers are by their order. Only sums matter; they may reach 2^54. */
  const int64_t *costs;
  int64_t crossing_cost; /* 0: 1 */
  int64_t part_cost;
  int64_t max_steps;   /* a step is an operator or an edge looked at; 0: enough for some ms with 2,000 operators */
  double time_limit_s; /* 0: none */
} situ_partition_options;
#define SITU_PARTITION_OPTIONS_INIT SITU_SIZED(situ_partition_options)

/* supported[n_operators * n_devices]: whether a device runs an operator; operators of a colocation group share a
 * device. options may be NULL. BAD_ARGUMENT for numbers out of range, BAD_INPUT if no device supports an operator, or
 * all of a colocation group: the error names it. That parts cannot have their minimum is not an error: see outcome. */
SITU_API situ_status situ_partition_find(situ_partition **out, const situ_graph *graph, int32_t n_devices,
                                         const bool *supported, const situ_partition_options *options,
                                         situ_error *error);
SITU_API void situ_partition_free(situ_partition *partition);

typedef struct situ_partition_summary {
  size_t size;
  /* OPTIMAL: no partition has less cost. INFEASIBLE: it is proved that there is none; LIMIT: none was found whose parts
   * have their minimum. Both have no parts. */
  situ_outcome outcome;
  int32_t n_parts, n_devices;
  int64_t n_crossings;
  int64_t cost, lower_bound; /* of every partition; cost is SITU_NEVER_NS without parts */
} situ_partition_summary;
#define SITU_PARTITION_SUMMARY_INIT SITU_SIZED(situ_partition_summary)
/* False, and nothing is written, if either is NULL or `out` has no size. */
SITU_API bool situ_partition_get_summary(const situ_partition *partition, situ_partition_summary *out);

/* A sub-graph. Parts are in an order in which they can run: each reads what earlier ones make. */
typedef struct situ_subgraph {
  size_t size;
  int32_t device, n_operators, n_inputs, n_outputs;
  const int32_t *operators; /* ascending, which is an order that runs */
  const int32_t *inputs;    /* tensors that other parts make, ascending */
  const int32_t *outputs;   /* tensors that other parts read, or nobody, ascending */
} situ_subgraph;
#define SITU_SUBGRAPH_INIT SITU_SIZED(situ_subgraph)
/* False, and nothing is written, if there is no such part or `out` has no size. */
SITU_API bool situ_partition_part(const situ_partition *partition, int32_t part, situ_subgraph *out);
/* The part of an operator; -1 if there is none. */
SITU_API int32_t situ_partition_part_of(const situ_partition *partition, int32_t op);

#ifdef __cplusplus
}
#endif
#endif
