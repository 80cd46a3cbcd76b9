/* solve/pipeline/coarse.h - a coarser problem whose plans are never worse: chains of classes folded into edges.
 *
 * A class with one neighbour before and one after, and no other edges, is folded: the edges on its two sides become one
 * that costs the lesser of both, and its work is loose: it is on whatever side of a boundary between the ends it is
 * wanted. Edges that join the same two classes become one. Repeated until nothing changes. */
#ifndef SITU_SOLVE_PIPELINE_COARSE_H
#define SITU_SOLVE_PIPELINE_COARSE_H

#include "solve/pipeline/boundary_ranges.h"

/* The coarse problem, without limits of memory, and its ranges, which take the prices of the fine ones. Both lie in
 * the arena. *folded: whether it is smaller than the fine one. False without memory. */
bool coarse_find(stages *out, boundary_ranges *open, bool *folded, const boundary_ranges *fine, arena *a);

#endif
