/* solve/stream/excess.h - what searches pay for memory that is missing, so that they may pass through placements that
 * do not fit: value + price x bytes over the limits. A byte over, times the smallest memory's size, costs ten times the
 * value at the start. */
#ifndef SITU_SOLVE_STREAM_EXCESS_H
#define SITU_SOLVE_STREAM_EXCESS_H

#include "base/checked.h"
#include "solve/common/solver.h"

/* Nanoseconds for each byte, from the incumbent at the start of a search. */
static inline double excess_price(const solve_run *run) {
  int64_t room = SITU_UNLIMITED_BYTES, value = run->incumbent->value_ns;
  for (int32_t m = 0; m < run->problem->n_memories; m++)
    room = min64(room, max64(run->problem->platform->memory_bytes[m], 1));
  return 10.0 * (double)(value < SITU_NEVER_NS ? value : 1000000000) / (double)room + 1e-3;
}

/* Nanoseconds beyond a limit of latency or period count OVER_PRICE times. */
static inline double excess_cost(double price, const simulation *found) {
  if (found->value_ns == SITU_NEVER_NS) return 1e300;
  return (double)found->value_ns + OVER_PRICE * (double)found->over_ns + (double)found->excess_bytes * price;
}

#endif
