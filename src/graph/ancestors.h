/* graph/ancestors.h - which operators come before which: the transitive closure. */
#ifndef SITU_GRAPH_ANCESTORS_H
#define SITU_GRAPH_ANCESTORS_H

#include "base/bit_rows.h"
#include "graph/graph.h"

/* Row v: all operators from which a path leads to v. O(E V / 64), V^2 bits. False without memory. */
bool ancestors_find(bit_rows *out, const situ_graph *g, arena *a);

#endif
