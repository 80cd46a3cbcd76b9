/* chain/chain.h - a graph as a chain of elements, each of which stays on one device: the layers of a
 * transformer, the blocks of a residual network, found from the edges alone.
 *
 * The main part is all that lies between the two ends of the longest path. A boundary follows an operator v of it that
 * is ancestor or descendant of every other, if only v's own tensors are used later. Operators that are not descendants
 * of the path's start (tables of positions, masks) go to the element of their first consumer, those that are not
 * ancestors of its end to that of their last producer; their tensors may cross boundaries. Elements that share a
 * colocation group are merged. All edges go forward, so intervals of elements are contiguous parts. On request elements
 * are divided further, at points where more than one tensor may cross. */
#ifndef SITU_CHAIN_CHAIN_H
#define SITU_CHAIN_CHAIN_H

#include "problem/problem.h"

typedef struct chain {
  const situ_problem *problem;
  int32_t n;
  bool joined;      /* there were more elements than wanted */
  int32_t *element; /* [operator] 0 .. n-1 */
  int32_t *order;   /* all operators by element, then number: topological */
  int32_t *first;   /* [n + 1] into order */
  /* Sums over the elements before k, [n + 1] each; time and never by class: [class * (n + 1) + k]. */
  int64_t *weight_bytes;
  int64_t *kept_bytes; /* stream: results, which stay once produced; pipeline: stashed activations */
  int64_t *time_ns;
  int32_t *never;      /* elements that the class cannot run */
  int64_t *peak_bytes; /* [n] stream: maximum live bytes inside, including own results; pipeline: maximum footprint */
  int32_t *pin;        /* [n] device, -1: free, -2: pinned to several */
  /* Tensors that cross the boundary after element k < n - 1: cut[cut_start[k] .. own_end[k]) are those of the main
   * part (of the operator at the boundary, unless elements were parted), .. cut_start[k + 1]) all others. */
  int32_t *cut_start, *own_end, *cut;
} chain;

/* NULL, or which of the invariants above does not hold (base/contracts.h). O(V + E + cuts). */
const char *chain_check(const chain *c);

/* Elements that are longer than 1 / parts of all work are parted (0: none). At most `most` elements, of about equal
 * work then. None (n = 0) where too many tensors cross boundaries. False without memory. */
bool chain_find(chain *out, const situ_problem *problem, int32_t most, int32_t parts, arena *a);

#endif
