/* graph/topological.h - topological orders of a graph other than the index order. */
#ifndef SITU_GRAPH_TOPOLOGICAL_H
#define SITU_GRAPH_TOPOLOGICAL_H

#include "base/rng.h"
#include "graph/graph.h"

/* Depth first: of the operators that are ready, the one that became ready last, so that branches stay together. With r
 * the users of an operator become ready in random order. False without memory. */
bool topological_deep(int32_t *order, const situ_graph *g, rng *r, arena *scratch);

/* Depth first from the operators without users, along inputs: every operator, even a constant, comes shortly before its
 * first user. False without memory. */
bool topological_late(int32_t *order, const situ_graph *g, arena *scratch);

#endif
