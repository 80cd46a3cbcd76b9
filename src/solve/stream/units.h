/* solve/stream/units.h - the operator graph as modular heuristics see it: chains that are hardly worth parting are one
 * unit, and units are joined by what it would take to part them. */
#ifndef SITU_SOLVE_STREAM_UNITS_H
#define SITU_SOLVE_STREAM_UNITS_H

#include "base/arena.h"
#include "problem/problem.h"

typedef struct unit_graph {
  int32_t n;
  int32_t *unit_of; /* [operator] */
  int32_t *member_start,
      *member; /* operators of unit u: member[member_start[u] .. member_start[u + 1]), ascending: a chain */
  int32_t *next_start, *next; /* units that use what u makes, distinct; they have higher numbers */
  int32_t *near_start, *near; /* both directions */
  double *weight;             /* beside near: mean time over all pairs of different devices of the tensors between */
  double *strength;           /* [unit] sum of its weights */
  double total;               /* of all strengths */
} unit_graph;

/* Two operators are one unit where the one has no other user and the other no other producer, both may run on the same
 * devices, and one of them takes no time; COARSE: also where from no device to any other the transfer is cheaper than
 * what either gains by it (a device may be relieved all the same, so this is no loss-free rule). */
typedef enum unit_grain { UNITS_FINE, UNITS_COARSE } unit_grain;

/* Numbers of units are topological. O((V + E) log E), and devices squared for each chain. False without memory. */
bool unit_graph_find(unit_graph *out, const situ_problem *problem, unit_grain grain, arena *a);

/* NULL, or which of the invariants above does not hold (base/contracts.h). O(V + E). */
const char *unit_graph_check(const unit_graph *u, int32_t n_operators);

#endif
