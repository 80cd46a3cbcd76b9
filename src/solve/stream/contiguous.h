/* solve/stream/contiguous.h - plans that cut the network, taken as a chain of units (chain_of_units), into few
 * segments.
 *
 * On a chain whose elements need only the one before them the value of the chain is the latency, and so the plans found
 * are the best of their kind; elsewhere the simulator has the last word. docs/theory/heuristics/handover_search.md. */
#ifndef SITU_SOLVE_STREAM_CONTIGUOUS_H
#define SITU_SOLVE_STREAM_CONTIGUOUS_H

#include "chain/branch_chain.h"
#include "chain/chain.h"
#include "solve/common/solver.h"

/* The devices ([operator]) of the best plan along `path` (branch_chain_of `c`) in which every cut costs `price` ns in
 * addition to its transfers; a device may occur more than once. False if there is none. O(n * types^2). */
bool contiguous_by_price(int32_t *device, const chain *c, branch_chain *path, int64_t price);

enum { CONTIGUOUS_DEVICES = 6, CONTIGUOUS_CUTS = 192 };

/* The best chain on k = 1 .. CONTIGUOUS_DEVICES devices, each of which holds one segment that fits its memory:
 * device[k-1] ([operator]), value_ns[k-1] by the chain, SITU_NEVER_NS if there is none. If there are more devices, the
 * fastest are used; if there are more cuts, those crossed by the fewest bytes. False without memory. By chain_dp, on
 * the devices as one server: O(2^devices * devices^2 * cuts^2). */
bool contiguous_by_devices(int32_t **device, int64_t *value_ns, const chain *c, arena *a);

/* Offers these plans, with units that may be larger than those of the problem: the search of the row `contiguous`, and
 * the start of `layers`. */
situ_status contiguous_offer(solve_run *run, const unit_list *units);

#endif
