/* view/link_prices.h - lower bounds on channel loads in a pipeline that depend on one device only: the minimum time of
 * a tensor on the channel through which everything enters its memory, and on the one through which everything leaves.
 *
 * With link communication a device that holds a part S and its adjacent channels have at least the loads
 *
 *     sum of p over S,  sum of in over tensors that enter S,  sum of out over tensors that leave S (once each),
 *
 * whatever the other devices hold: a relaxation in which each device can be considered separately, in the form of a
 * host-staged pipeline with overlap. docs/theory/exact/ideal_dp.md has the proof, and the cases in which it is
 * exact. */
#ifndef SITU_VIEW_LINK_PRICES_H
#define SITU_VIEW_LINK_PRICES_H

#include "view/equal_devices.h"

/* Kinds of links, one of which a tensor crosses on the channel of a type of devices. None: nothing is known. */
typedef struct link_kinds {
  int32_t n;
  int32_t *kind;
} link_kinds;

typedef struct link_prices {
  const situ_problem *problem;
  link_kinds *in, *out; /* [type] */
} link_prices;

/* O(devices x memories x hops^2). False without memory. */
bool link_prices_find(link_prices *out, const situ_problem *problem, const device_type *types, int32_t n_types,
                      arena *a);
/* The minimum time of tensor t on those links. */
int64_t link_prices_ns(const link_prices *prices, const link_kinds *kinds, int32_t t);

#endif
