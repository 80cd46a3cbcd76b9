/* solve/stream/matching.h - the heaviest matching of a sparse bipartite graph. */
#ifndef SITU_SOLVE_STREAM_MATCHING_H
#define SITU_SOLVE_STREAM_MATCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

/* Edges of left vertex u: to[start[u]] .. to[start[u+1]-1], right vertices, with weights >= 0 whose sum fits 62 bits.
 */
typedef struct matching_graph {
  int32_t n_left, n_right;
  const int64_t *start;
  const int32_t *to;
  const int64_t *weight;
} matching_graph;

/* A matching of maximum weight: mate[u] is the right vertex of u, or -1. Exact, in integers: shortest augmenting paths
 * with prices (Kuhn, Naval Research Logistics Quarterly 2, 1955; with Dijkstra's search as in Fredman and Tarjan, J.
 * ACM 34, 1987), O(V E log V) in the worst case, near linear if components are small. False without memory. */
bool matching_find(int32_t *mate, const matching_graph *g, arena *scratch);

#endif
