/* exact/shares.h - the possible contents of one device of a host-staged pipeline: units of operators, types of equal
 * devices, and the tensors between units as hyperedges with their price at each end: view/hypergraph.h, in the order of
 * a sweep.
 *
 * A device that holds the set S of units has the load
 *
 *     sum over S of p + sum over edges made in S and used outside of c_out + sum over edges made outside and used in S
 * of c_in,
 *
 * whatever the other devices hold, so that a bound can consider one device at a time
 * (docs/theory/bounds/configuration.md). */
#ifndef SITU_EXACT_SHARES_H
#define SITU_EXACT_SHARES_H

#include "problem/problem.h"

typedef struct shares {
  int32_t n, n_types;
  int32_t *n_devices; /* [type] */
  int64_t *time_ns;   /* [type * n + unit]; SITU_NEVER_NS: cannot run there */

  /* The pins of edge e are pin[pin_start[e] .. pin_start[e+1]), distinct, ascending, two or more. */
  int32_t n_edges;
  int32_t *pin_start, *pin;
  int32_t *producer;            /* [edge] one of its pins */
  int64_t *in_ns, *out_ns;      /* [type * n_edges + edge]; 0 where nothing is paid */
  int32_t *touch_start, *touch; /* edges that touch a unit, ascending */
} shares;

/* Whether loads are as above: a host-staged pipeline without overlap and replicas. Where forward and backward loads are
 * two numbers (GPipe), their sum is at least this, so that bounds from below hold. */
bool shares_serve(const situ_problem *problem);
/* Units are numbered so that few edges join [0, i) with [i, n). False without memory. */
bool shares_find(shares *out, const situ_problem *problem, arena *a);
/* NULL, or which of the invariants above does not hold (base/contracts.h). */
const char *shares_check(const shares *s);

/* Whether all sums of times stay far from overflow. */
bool shares_fit(const shares *s);

#endif
