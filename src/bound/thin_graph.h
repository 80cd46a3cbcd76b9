/* bound/thin_graph.h - the operator graph as bounds of a single input see it: perhaps with some operators deleted, and
 * the cuts of it.
 *
 * Deleting operators and keeping the delays that they forced on the others ("relaxation by deletion") can only let a
 * schedule end sooner: the deleted operators still take their time on the way from one kept operator to another, each
 * where that is least, but no device is busy with them. */
#ifndef SITU_BOUND_THIN_GRAPH_H
#define SITU_BOUND_THIN_GRAPH_H

#include "problem/problem.h"

#define THIN_FAR_NS ((int64_t)1 << 55)

typedef struct thin_graph {
  const situ_problem *problem;
  int32_t n, n_tensors;
  int32_t *operator_of; /* [n] ascending, so that numbers are topological here too */
  int32_t *tensor_of;   /* [n_tensors] in order of producers; -1: a way over deleted operators */
  int64_t **way_ns;  /* [n_tensors] for such a way [from memory * memories + to memory], THIN_FAR_NS: none; else NULL */
  int32_t *producer; /* [n_tensors] 0 .. n-1 */
  int64_t *use_start; /* users of tensor t: use[use_start[t] .. use_start[t+1]), ascending; never none */
  int32_t *use;
} thin_graph;

/* NULL, or which of the invariants above does not hold (base/contracts.h). O(tensors + uses). */
const char *thin_check(const thin_graph *g);

/* The whole graph, without tensors that nobody uses. False without memory. */
bool thin_whole(thin_graph *out, const situ_problem *problem, arena *a);
/* The whole graph with operators numbered as in a topological order; position[order[k]] = k. False without memory. */
bool thin_ordered(thin_graph *out, const situ_problem *problem, const int32_t *order, const int32_t *position,
                  arena *a);
/* The whole graph without operators that take no time anywhere and are colocated with one that does: ways over deleted
 * operators keep colocation, which is all that they did. False without memory. */
bool thin_first(thin_graph *out, const situ_problem *problem, arena *a);
/* Without the operators v (numbers of `from`) for which deleted[v]. False without memory. */
bool thin_delete(thin_graph *out, const thin_graph *from, const bool *deleted, arena *a);
/* Deletes one operator after the other, always that with the most incomparable others for the least work, until no
 * block between two cuts has more than `largest` operators. `deleted` is [from->n]. False without memory. */
bool thin_until(bool *deleted, const thin_graph *from, int32_t largest, arena *a);

/* The cuts: operators that are ancestor or descendant of every other, ascending. Returns how many; cut is [n]. */
int32_t thin_cuts(int32_t *cut, const thin_graph *g, arena *a);

#endif
