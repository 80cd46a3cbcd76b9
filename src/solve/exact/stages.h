/* solve/exact/stages.h - a contiguous pipeline problem as the dynamic programs see it: classes of operators, types of
 * equal devices, and hyperedges between classes with their price at each end.
 *
 * Source: Tarnawski et al., "Efficient algorithms for device placement of DNN graph operators", NeurIPS 2020. */
#ifndef SITU_SOLVE_EXACT_STAGES_H
#define SITU_SOLVE_EXACT_STAGES_H

#include "problem/contract.h"
#include "solve/kit/device_types.h"

enum { STAGES_MOST_CLASSES = 20000 }; /* sets of classes are kept as bits: beyond this they take too much room */

typedef struct stages {
  const situ_problem *problem;
  bool too_large; /* more classes than that: nothing below but n is filled */
  contraction classes;
  int32_t n; /* classes; numbered so that every edge of F goes upwards */
  int32_t *class_at; /* [0..n) number in `classes` */
  int32_t n_words;   /* of a set of classes as bits */
  uint64_t *predecessors; /* [class * n_words] */

  bool memory_is_free; /* everything fits on any one device */
  int32_t n_types;
  device_type *types;
  int64_t *time_ns;         /* [type * n + class]; SITU_NEVER_NS: cannot run there */
  int64_t *weight_bytes;    /* [class] weights and stashed activations */
  int64_t *footprint_bytes; /* [class] greatest footprint of an operator, times in_flight */

  /* Hyperedges: tensors whose producer and users lie in two classes or more, and that cost something. The pins of edge
   * e are pin[pin_start[e] .. pin_start[e+1]), distinct, the producer's class first. */
  int32_t n_edges;
  int32_t *pin_start, *pin;
  int64_t *in_ns, *out_ns;      /* [type * n_edges + edge]; 0 for hosts */
  int32_t *touch_start, *touch; /* edges that touch a class, ascending */
} stages;

/* Whether the dynamic programs serve a problem: host-staged, every accelerator with a memory of its own and hosts that
 * share one only where it has no limit. Free problems get contiguous plans too, but no bound from them. */
bool stages_serve(const situ_problem *problem);
/* O(V + E + classes^2 / 64). False without memory. */
bool stages_find(stages *out, const situ_problem *problem, arena *a);
/* Whether all sums of times and sizes stay far from overflow, so that plain arithmetic is exact. */
bool stages_fit(const stages *s);
/* Fills touch_start and touch from the pins. False without memory. */
bool stages_list_touches(stages *s, arena *a);
/* The load of a device of one type that holds these sums. */
static inline int64_t stages_load(const stages *s, int64_t compute_ns, int64_t in_ns, int64_t out_ns) {
  if (!s->problem->overlap) return compute_ns + in_ns + out_ns;
  int64_t most = compute_ns > in_ns ? compute_ns : in_ns;
  return most > out_ns ? most : out_ns;
}

#endif
