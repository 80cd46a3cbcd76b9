/* chain/chain.h - a graph as a chain of elements, each of which stays on one device: what intervals of it take, by sums
 * along it, and what crosses the boundaries between them.
 *
 * Three ways to find one:
 * - chain_find, from the edges alone: the layers of a transformer, the blocks of a residual network. The main part is
 *   all that lies between the two ends of the longest path. A boundary follows an operator v of it that is ancestor or
 *   descendant of every other, if only v's own tensors are used later. Operators that are not descendants of the path's
 *   start (tables of positions, masks) go to the element of their first consumer, those that are not ancestors of its
 *   end to that of their last producer; their tensors may cross boundaries. Elements that share a unit are merged. On
 *   request elements are divided further, at points where more than one tensor may cross.
 * - chain_of_units, units in a topological order: exact where each needs only the one before it.
 * - chain_sum, any division.
 *
 * docs/theory/chain.md says what the dynamic programs along it (chain/chain_dp.h, solve/stream/contiguous.h,
 * bound/runs.c) minimise. */
#ifndef SITU_CHAIN_CHAIN_H
#define SITU_CHAIN_CHAIN_H

#include "problem/problem.h"

typedef struct chain {
  const situ_problem *problem;
  int32_t n;
  bool joined;                   /* there were more elements than wanted */
  int32_t *element;              /* [operator] 0 .. n-1; -1: in none (chain_sum only) */
  int32_t *order;                /* all operators by element, then number */
  int32_t *first;                /* [n + 1] into order */
  int32_t n_columns, *column_of; /* [device] sorts of devices as in view/items.h; -1: no plan may use it */
  /* Sums over the elements before k, [n + 1] each; by column: [column * (n + 1) + k]. */
  int64_t *weight_bytes;
  int64_t *kept_bytes; /* stream: results, which stay once produced; pipeline: stashed activations */
  int64_t *time_ns;    /* of the elements that may run there */
  int32_t *never;      /* how many may not */
  int64_t *peak_bytes; /* [n] stream: maximum live bytes inside, including own results; pipeline: maximum that an
                          operator takes while it runs, of all inputs in flight */
  /* [boundary * kinds of routes + kind] of the tensors made before element `boundary` and used from it on: in all, and
   * those of the main part (with chain_of_units all). With unlimited links and one input, the slowest of the main part
   * instead of their sum, since these are sent together. NULL with chain_sum. */
  int64_t *crossing_ns, *main_ns;
} chain;

/* The time of elements i .. j-1 on a device that plans may use; SITU_NEVER_NS where one cannot run there. */
static inline int64_t chain_time_ns(const chain *c, int32_t device, int32_t i, int32_t j) {
  int64_t at = (int64_t)c->column_of[device] * (c->n + 1);
  return c->never[at + j] > c->never[at + i] ? SITU_NEVER_NS : c->time_ns[at + j] - c->time_ns[at + i];
}

/* NULL, or which of the invariants above does not hold (base/contracts.h). O(V + E). */
const char *chain_check(const chain *c);

/* Elements that are longer than 1 / parts of all work are divided (0: none). At most `max` elements, of about equal
 * work then. In the arena; O(V columns + E + n kinds). False without memory. */
bool chain_find(chain *out, const situ_problem *problem, int32_t max, int32_t parts, arena *a);

/* Elements are `units`, which may be larger than those of the problem, by the positions of their last operators in a
 * topological order; edges may go backward inside. Memory is a bound from above: the peak is the maximum of an
 * operator, and nothing is kept. False without memory. */
bool chain_of_units(chain *out, const situ_problem *problem, const unit_list *units, arena *a);

/* Sums over given elements, 0 .. n-1 (operators of none: -1); element is borrowed. False without memory. */
bool chain_sum(chain *out, const situ_problem *problem, int32_t *element, int32_t n, arena *a);

/* The same chain with elements joined: element k of `out` begins at begin[k], 0 first. Borrows what does not change.
 * False without memory. */
bool chain_join(chain *out, const chain *c, const int32_t *begin, int32_t n, arena *a);

#endif
