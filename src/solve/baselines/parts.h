/* solve/baselines/parts.h - a pipeline or a stream as a graph for partitioners, and the conversion of their parts to a
 * plan.
 *
 * Vertices are the classes of view/contract.h, with their time on an accelerator and the bytes that stay there; an edge
 * joins two classes with the time of the tensors between them, each once for a pair of classes. There are as many parts
 * as usable accelerators (usable devices, if there are none). Partitioners know nothing of support, pins, memory limits
 * and contiguity, so their parts are repaired (parts_offer). */
#ifndef SITU_SOLVE_BASELINES_PARTS_H
#define SITU_SOLVE_BASELINES_PARTS_H

#include "solve/common/solver.h"
#include "view/contract.h"

typedef struct parts {
  solve_run *run;
  contraction classes;
  int32_t n_parts;
  int32_t *device;          /* [part] */
  double *share;            /* [part] of the whole time: greater for faster devices; sums to 1 */
  int64_t *time_ns, *bytes; /* [class] on the device of part 0; weights and stashed activations */
  int64_t n_edges;          /* twice the number of joined pairs */
  int32_t *start, *to;      /* neighbours of class c: to[start[c] .. start[c + 1]), ascending */
  int64_t *transfer_ns;     /* beside `to` */
} parts;

/* O((V + E) log E). False without memory. */
bool parts_find(parts *out, solve_run *run);

/* Scales numbers into 1 .. 2^30 so that their sum stays below 2^30 + n: libraries of 32 bits want that. */
void parts_scale(int32_t *scaled, const int64_t *numbers, int64_t n);

/* Offers the plan that gives each class the device of its part, repaired:
 *
 * - free: a class stays where it may run and fits; the others go to the device of minimum compute time among those
 *   where they may run and fit.
 * - contiguous: the parts are ordered by the mean position of their time in a topological order, with spare devices
 *   after them. In topological order each class takes the first device from its own on that comes no earlier than those
 *   of its predecessors and where it may run and fits; else the last such device before its own. The mirror image of
 *   this, from the end, is offered too.
 *
 * A class that finds no device ends the attempt: then this solver has no plan.
 *
 * - stream: the schedules of list_by_rank, in which an operator stays on the device of its part if that may run it and
 *   has room; the others go where they finish first. */
situ_status parts_offer(const parts *g, const int32_t *part);

#endif
