/* view/handovers.h - how often a placement changes devices, and the pieces into which it cuts the network. */
#ifndef SITU_VIEW_HANDOVERS_H
#define SITU_VIEW_HANDOVERS_H

#include "problem/problem.h"

typedef struct handovers {
  int32_t n;                  /* hand-overs: one for each tensor and device that receives it */
  int64_t bytes;              /* of these tensors, once for each of them */
  int32_t n_parts;            /* view/pieces.h */
  int32_t min_units;          /* of the smallest of several parts; INT32_MAX where there is one */
  int32_t n_islands, *island; /* [operator] 0 .. n_islands-1, by first operator */
} handovers;

/* Islands are operators of one device that tensors connect; a search moves an island as a whole. An island without any
 * hand-over is merged with another of its device, if there is one. `island` lives in the arena, with scratch. O(V + E)
 * for each device. False without memory. */
bool handovers_find(handovers *out, const situ_problem *p, const int32_t *device, arena *a);

/* Only n and bytes. stamp: [device] scratch. */
void handovers_count(handovers *out, const situ_problem *p, const int32_t *device, int32_t *stamp);

#endif
