/* graph/optimizer.h - what an optimizer keeps of each weight, and what a step of it costs. */
#ifndef SITU_GRAPH_OPTIMIZER_H
#define SITU_GRAPH_OPTIMIZER_H

#include <stdint.h>

#include "situ/read.h"

typedef struct optimizer_cost {
  int64_t flops, moved_bytes, state_bytes; /* of a step over some weights; what stays beside weights and gradients */
} optimizer_cost;

/* Of weights of `weight_bytes` in all, `element_bytes` each; DEFAULT is ADAM_MIXED. */
optimizer_cost optimizer_cost_of(situ_optimizer which, int64_t weight_bytes, int64_t element_bytes);

#endif
