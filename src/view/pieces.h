/* view/pieces.h - the parts of a placement, each of which an engine can run as one sub-graph. */
#ifndef SITU_VIEW_PIECES_H
#define SITU_VIEW_PIECES_H

#include "problem/problem.h"

/* A part is a set of operators on one device that no path leaves and enters again. Parts are those of the published
 * rule for calls (docs/model.md, calls), applied to every device, hosts too: each time a path leaves a device and comes
 * back, another part of that device begins. Fills of ([operator] 0 .. n-1, by device, then along paths) and returns n;
 * -1 without memory. O(V + E) for each device, between its first and last operator. */
int32_t pieces_find(int32_t *of, const situ_problem *p, const int32_t *device, arena *scratch);

#endif
