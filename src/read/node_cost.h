/* read/node_cost.h - what one operator of a file costs, and what others inside it add. */
#ifndef SITU_READ_NODE_COST_H
#define SITU_READ_NODE_COST_H

#include "base/checked.h"
#include "situ/types.h"

typedef struct node_cost {
  int64_t flops, moved_bytes, weight_bytes;
  situ_dtype dtype; /* of most FLOPs */
  int64_t dtype_flops;
  bool inferred;
} node_cost;

/* `more`, so many times; its weights once. */
static inline void node_cost_add(node_cost *to, const node_cost *more, int64_t times) {
  int64_t dtype_flops = sat_mul(more->dtype_flops, times);
  if (to->dtype == SITU_DTYPE_UNKNOWN || dtype_flops > to->dtype_flops) {
    to->dtype = more->dtype;
    to->dtype_flops = dtype_flops;
  }
  to->flops = sat_add(to->flops, sat_mul(more->flops, times));
  to->moved_bytes = sat_add(to->moved_bytes, sat_mul(more->moved_bytes, times));
  to->weight_bytes = sat_add(to->weight_bytes, more->weight_bytes);
  to->inferred &= more->inferred;
}

#endif
