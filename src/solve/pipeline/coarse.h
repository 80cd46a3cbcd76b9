/* solve/pipeline/coarse.h - a relaxation with fewer classes, whose optimum is at most that of the problem: chains of
 * classes are folded into edges.
 *
 * A class with one predecessor, one successor and no other edges is folded: the edges on its two sides become one that
 * costs the minimum of both, and its work is loose: it counts on either side of a boundary between the ends. Edges that
 * join the same two classes become one. Repeated until nothing changes. */
#ifndef SITU_SOLVE_PIPELINE_COARSE_H
#define SITU_SOLVE_PIPELINE_COARSE_H

#include "solve/pipeline/boundary_ranges.h"

/* The coarse problem, without memory limits, and its ranges, with the prices of the fine ones. Both lie in the arena.
 * *folded: whether it is smaller than the fine one. False without memory. */
bool coarse_find(stages *out, boundary_ranges *open, bool *folded, const boundary_ranges *fine, arena *a);

#endif
