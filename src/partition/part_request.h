/* partition/part_request.h - what is asked of a partition: units, where each may run, and what that costs.
 *
 * A unit is an operator or a colocation group. The cost of a choice of devices is that of all units plus
 * crossing_cost for each tensor and each device that receives it. */
#ifndef SITU_PARTITION_PART_REQUEST_H
#define SITU_PARTITION_PART_REQUEST_H

#include "graph/graph.h"

typedef struct part_request {
  const situ_graph *graph;
  int32_t n_devices, n_units;
  int32_t *unit;                /* [operator] */
  int32_t *unit_start, *member; /* operators of each unit */
  bool *allowed;                /* [unit * n_devices + device] */
  int64_t *cost;                /* the same; finite where it is allowed */
  int64_t crossing_cost, part_cost;
  int32_t *min_operators; /* [device] of each part, at least 1 */
} part_request;

static inline bool part_allows(const part_request *q, int32_t u, int32_t d) {
  return q->allowed[(int64_t)u * q->n_devices + d];
}
static inline int64_t part_unit_cost(const part_request *q, int32_t u, int32_t d) {
  return q->cost[(int64_t)u * q->n_devices + d];
}

#endif
