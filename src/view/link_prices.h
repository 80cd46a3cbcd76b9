/* view/link_prices.h - what the links of a pipeline let a device know for sure: the least time that a tensor
 * takes on the channel through which everything comes into its memory, and on that through which everything leaves.
 *
 * With link communication a device that holds a part S and the channels beside it have at least the loads
 *
 *     sum of p over S,  sum of in over tensors that enter S,  sum of out over tensors that leave S (once each),
 *
 * whatever the other devices hold: a relaxation in which each device can be looked at alone, in the form of a
 * host-staged pipeline with overlap. docs/theory/exact/ideal_dp.md has the proof, and when it is exact. */
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
/* The least time of tensor t on those links. */
int64_t link_prices_ns(const link_prices *prices, const link_kinds *kinds, int32_t t);

#endif
