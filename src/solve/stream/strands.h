/* solve/stream/strands.h - the operator graph for modular heuristics: a chain that is hardly worth splitting is one
 * strand, and edges between strands are weighted by the cost of separating them. */
#ifndef SITU_SOLVE_STREAM_STRANDS_H
#define SITU_SOLVE_STREAM_STRANDS_H

#include "base/arena.h"
#include "problem/problem.h"

typedef struct strand_graph {
  int32_t n;
  int32_t *strand_of; /* [operator] */
  int32_t *member_start,
      *member; /* operators of strand u: member[member_start[u] .. member_start[u + 1]), ascending: a chain */
  int32_t *next_start, *next; /* strands that use what u makes, distinct; they have higher numbers */
  int32_t *near_start, *near; /* both directions */
  double *weight;             /* parallel to near: mean time, over all pairs of different devices, of the tensors
                                 between */
  double *strength;           /* [strand] sum of its weights */
  double total;               /* of all strengths */
} strand_graph;

/* Two operators form one strand if the one has no other user and the other no other producer, both may run on the same
 * devices, and one of them takes no time; COARSE: also if no transfer between two devices costs less than what either
 * operator gains by it (separating them could still relieve a device, so this rule can lose solutions). */
typedef enum strand_grain { STRANDS_FINE, STRANDS_COARSE } strand_grain;

/* Numbers of strands are topological. O((V + E) log E), and devices squared for each chain. False without memory. */
bool strand_graph_find(strand_graph *out, const situ_problem *problem, strand_grain grain, arena *a);
/* NULL, or which of the invariants above does not hold (base/contracts.h). O(V + E). */
const char *strand_graph_check(const strand_graph *u, int32_t n_operators);

#endif
