/* view/handovers.h - how often a placement changes devices, and the parts that it cuts the network into. */
#ifndef SITU_VIEW_HANDOVERS_H
#define SITU_VIEW_HANDOVERS_H

#include "problem/problem.h"

typedef struct handovers {
  int32_t n;     /* hand-overs: one for each tensor and device that receives it */
  int64_t bytes; /* of these tensors, once for each of them */
  int32_t n_parts;
  int32_t least_units; /* of the smallest of several parts; INT32_MAX where there is one */
  int32_t *part;       /* [operator] 0 .. n_parts-1, by first operator */
} handovers;

/* Parts are what tensors connect on one device; a piece without any hand-over belongs to another part of its device,
 * if there is one. `part` lives in the arena. O(V + E). False without memory. */
bool handovers_find(handovers *out, const situ_problem *p, const int32_t *device, arena *a);

/* Only n and bytes. stamp: [device] scratch. */
void handovers_count(handovers *out, const situ_problem *p, const int32_t *device, int32_t *stamp);

#endif
