/* graph/components.h - strongly connected components of any directed graph. */
#ifndef SITU_GRAPH_COMPONENTS_H
#define SITU_GRAPH_COMPONENTS_H

#include "base/arena.h"

/* Nodes 0 .. n-1 with successors to[start[v] .. start[v+1]). component[v] becomes the number of its component, 0 ..
 * *n_components-1, a component after all that it leads to. O(V + E), without recursion (Tarjan, SIAM J. Comput. 1,
 * 1972). False without memory. */
bool components_find(int32_t *component, int32_t *n_components, const int32_t *start, const int32_t *to, int32_t n,
                     arena *scratch);

#endif
