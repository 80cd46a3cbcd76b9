/* solve/pipeline/stages.h - a contiguous pipeline problem as the dynamic programs see it: classes of operators, types
 * of equal devices, and hyperedges between classes with their price at each end.
 *
 * Source: Tarnawski et al., "Efficient algorithms for device placement of DNN graph operators", NeurIPS 2020. */
#ifndef SITU_SOLVE_PIPELINE_STAGES_H
#define SITU_SOLVE_PIPELINE_STAGES_H

#include "view/contract.h"
#include "view/equal_devices.h"

enum { STAGES_MAX_CLASSES = 20000 }; /* sets of classes are bits: more take too much memory */

typedef struct stages {
  const situ_problem *problem;
  bool too_large; /* more classes than that: nothing below but n is filled */
  bool free;      /* of any plan, not only of contiguous ones: F says which classes are near, and constrains nothing */
  contraction classes;
  int32_t n;              /* classes; numbered so that every edge of F goes upwards */
  int32_t *class_at;      /* [0..n) number in `classes` */
  int32_t n_words;        /* of a set of classes as bits */
  uint64_t *predecessors; /* [class * n_words] */

  bool by_links;       /* loads are minimum loads: see view/link_prices.h */
  bool overlaps;       /* a load is the maximum of compute, in and out, not their sum */
  bool memory_is_free; /* everything fits on any single device */
  int32_t n_types;
  device_type *types;
  /* Costs are tabled by row: phase * n_types + type. There are two phases where forward and backward loads are
   * separate (problem_phase) and transfers are staged, else one. types[row] is the type of any row. */
  int32_t n_rows, n_phases;
  int64_t *time_ns;         /* [row * n + class]; SITU_NEVER_NS, in all rows of a type: cannot run there */
  int64_t *weight_bytes;    /* [class] weights and stashed activations */
  int64_t *footprint_bytes; /* [class] maximum that an operator takes while it runs */
  int64_t *trained_bytes;   /* [class] weights of forward operators that replicas synchronise; else 0 */
  int64_t *sharded_bytes;   /* [class] weights that replicas hold in shares */
  int64_t *update_ns;       /* [type * n + class] of time_ns, that of updates, with replicas */
  /* Where the inputs that a device keeps follow from its part, or replicas hold shares, for each possible number,
   * stages_kept(s, k): [k * n + class]. */
  int32_t n_depths;           /* 0: they do not, or memory is free */
  int64_t *deep_weight_bytes; /* as weight_bytes, without what is held in shares */
  int64_t *gathered_bytes;    /* [class] footprint_bytes of a device that holds shares, with what is whole meanwhile */

  /* Hyperedges: tensors whose producer and users lie in two classes or more, and that cost something. The pins of edge
   * e are pin[pin_start[e] .. pin_start[e+1]), distinct, the producer's class first. */
  int32_t n_edges;
  int32_t *pin_start, *pin;
  int64_t *in_ns, *out_ns;      /* [row * n_edges + edge]; 0 for hosts, and in rows of another phase */
  int32_t *touch_start, *touch; /* edges that touch a class, ascending */
} stages;

/* Whether the dynamic programs serve a problem: every accelerator has a memory of its own, and hosts share
 * one only if it has no limit. Free problems get contiguous plans too, but no bound from them. With links the
 * loads are lower bounds, forward and backward loads are one number, and gradients of replicas cost nothing. */
bool stages_serve(const situ_problem *problem);
/* O(V + E + classes^2 / 64). False without memory. */
bool stages_find(stages *out, const situ_problem *problem, arena *a);
/* The same for plans that need not be contiguous: nothing is fused, classes are what every plan keeps together. Of F
 * only edges from one class to a later one are kept. */
bool stages_find_free(stages *out, const situ_problem *problem, arena *a);
/* NULL, or which of the invariants above does not hold (base/contracts.h). O(pins + classes^2 / 64). */
const char *stages_check(const stages *s);

/* The inputs of a device with that many devices from its part to the end (1F1B), or of one of so many that share a part
 * (GPipe): k + 1 of them. */
int64_t stages_kept(const stages *s, int32_t k);
/* Whether each class directly precedes the next, so that parts follow each other one by one. */
bool stages_are_chain(const stages *s);

/* Whether all sums of times and sizes stay far from overflow, so that plain arithmetic is exact. */
bool stages_fit(const stages *s);
/* Fills touch_start and touch from the pins. False without memory. */
bool stages_list_touches(stages *s, arena *a);
/* Forgets the edges marked in drop[edge], whose costs then lack in all loads. False without memory. */
bool stages_drop_edges(stages *s, const bool *drop, arena *a);
/* F as lists: the direct predecessors of class v are before[start[v] .. start[v+1]). */
typedef struct stage_order {
  int32_t *start, *before;
} stage_order;
/* Lists the predecessors. False without memory. */
bool stage_order_find(stage_order *out, const stages *s, arena *a);
/* Time of a class on a type, over all phases; SITU_NEVER_NS: cannot run there. */
int64_t stages_time_ns(const stages *s, int32_t type, int32_t class_index);

/* What one row of a part costs a device that holds it alone. */
typedef struct stage_cost {
  int64_t compute_ns, in_ns, out_ns;
} stage_cost;

/* The load of that row for the device, or for each of r > 1 devices that share the part, whose trained bytes and time
 * of updates on its type are given. */
static inline int64_t stages_load(const stages *s, const stage_cost *whole) {
  if (!s->overlaps) return whole->compute_ns + whole->in_ns + whole->out_ns;
  int64_t max = whole->compute_ns > whole->in_ns ? whole->compute_ns : whole->in_ns;
  return max > whole->out_ns ? max : whole->out_ns;
}
int64_t stages_shared_load(const stages *s, int32_t row, const stage_cost *whole, int32_t r, int64_t trained_bytes,
                           int64_t update_ns);

#endif
