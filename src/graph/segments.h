/* graph/segments.h - the segments of a forward pass, whose inputs activation checkpointing keeps. */
#ifndef SITU_GRAPH_SEGMENTS_H
#define SITU_GRAPH_SEGMENTS_H

#include "graph/graph.h"

typedef struct segment_list {
  int32_t n;   /* segments, numbered along the network; 0 where none were found */
  int32_t *of; /* [operator] its segment, or -1 */
} segment_list;

/* The layers of a network (graph/layers.h) if they have two operators with weights on average, as people checkpoint
 * transformers block by block. Any other network is cut where one tensor crosses, into about sqrt(operators with
 * weights) segments of about equal activations (T. Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016),
 * or has its layers where it cannot be cut. Contracting every segment to one node leaves an acyclic graph. False
 * without memory. */
bool segments_find(segment_list *out, const situ_graph *g, arena *a);

/* Whether an operator reads nothing and does no work: a constant, which is kept rather than made again. */
bool segments_is_constant(const situ_graph *g, int32_t v);

#endif
