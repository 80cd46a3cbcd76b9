/* graph/neighbours.h - whether an operator has one neighbour on a side. */
#ifndef SITU_GRAPH_NEIGHBOURS_H
#define SITU_GRAPH_NEIGHBOURS_H

#include "graph/graph.h"

/* The only operator that uses outputs of v, and the only one that produces inputs of v; -1 if there is none or more
 * than one. */
int32_t neighbours_only_user(const situ_graph *g, int32_t v);
int32_t neighbours_only_producer(const situ_graph *g, int32_t v);

#endif
