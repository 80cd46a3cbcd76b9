/* graph/match.h - which operators of two versions of a graph are the same. */
#ifndef SITU_GRAPH_MATCH_H
#define SITU_GRAPH_MATCH_H

#include "graph/graph.h"

/* other[v] is the operator of `old` that v of `graph` was, or -1; none is used twice. First those of one name whose
 * kind and work are the same, then those with equal structure before and after them, before them, or after them, in the
 * order of both graphs, then those of one name and kind. Unnamed operators are numbered in their order, so a name alone
 * says little. O((V + E) log V). False without memory. */
bool graph_match(int32_t *other, const situ_graph *graph, const situ_graph *old, arena *scratch);

#endif
