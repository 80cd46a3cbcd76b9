/* exact/thin_graph.h - the operator graph for bounds of a single input, possibly with some operators deleted, and its
 * cuts.
 *
 * Deleting operators and keeping the delays that they force on the others ("relaxation by deletion") can only make a
 * schedule shorter: deleted operators still take time on the path from one kept operator to another, each at its
 * minimum, but occupy no device. */
#ifndef SITU_EXACT_THIN_GRAPH_H
#define SITU_EXACT_THIN_GRAPH_H

#include "problem/problem.h"

#define THIN_FAR_NS ((int64_t)1 << 55)

typedef struct thin_graph {
  const situ_problem *problem;
  int32_t n, n_tensors;
  int32_t *operator_of;  /* [n] ascending, so that numbers are topological here too */
  int32_t *tensor_of;    /* [n_tensors] in order of producers; -1: a path over deleted operators */
  int64_t **transfer_ns; /* [n_tensors] for such a path [from memory * memories + to memory], THIN_FAR_NS: none; else
                       NULL */
  int32_t *producer;     /* [n_tensors] 0 .. n-1 */
  int64_t *use_start;    /* users of tensor t: use[use_start[t] .. use_start[t+1]), ascending; never none */
  int32_t *use;
} thin_graph;

/* NULL, or which of the invariants above does not hold (base/contracts.h). O(tensors + uses). */
const char *thin_check(const thin_graph *g);

/* The whole graph, without unused tensors. False without memory. */
bool thin_whole(thin_graph *out, const situ_problem *problem, arena *a);
/* The whole graph without operators that take no time anywhere and are colocated with one that does: paths over deleted
 * operators keep colocation, which was their only effect. False without memory. */
bool thin_first(thin_graph *out, const situ_problem *problem, arena *a);
/* Without the operators v (numbers of `from`) for which deleted[v]. False without memory. */
bool thin_delete(thin_graph *out, const thin_graph *from, const bool *deleted, arena *a);
/* Deletes operators one by one, always the one with the most incomparable operators per unit of work, until no block
 * between two cuts has more than `largest` operators. `deleted` is [from->n]. False without memory. */
bool thin_until(bool *deleted, const thin_graph *from, int32_t largest, arena *a);

/* The cuts: operators that are ancestor or descendant of every other, ascending. Returns how many; -1 without
 * memory. cut is [n]. */
int32_t thin_cuts(int32_t *cut, const thin_graph *g, arena *a);

#endif
