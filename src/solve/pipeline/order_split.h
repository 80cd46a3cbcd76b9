/* solve/pipeline/order_split.h - the best contiguous split of one linear order of classes (the "linearised" dynamic
 * program of Tarnawski et al., NeurIPS 2020).
 *
 * A placement is a sequence of devices, each with a segment of the order. With best(s, j) the minimum period of
 * the first j classes on s_k devices of each type k,
 *
 *     best(s, j) = min over types k with s_k > 0 and i <= j of max(best(s - e_k, i), load_k(i .. j)).
 *
 * The loads of all segments that end at j are found by growing the segment backwards one class at a time, while
 * counting for each tensor how many of its ends lie inside. All pairs together take O(classes * (V + E)).
 *
 * Exact for its order, among plans with one segment for each device, with host-staged communication where no two
 * accelerators share a memory and no two devices a limited one, and with up to some thousand classes; longer orders
 * are cut at fewer places. With links, the load of a device is the maximum of compute, incoming and outgoing transfers,
 * which is the load of its links in a star. The simulator evaluates every split that is offered.
 *
 * Not a call of chain_dp (docs/theory/chain.md): the load of a segment is no difference of sums along a chain, since a
 * tensor with both ends inside is not transferred, and states need no last device.
 *
 * A step is one end of a segment, with all beginnings. */
#ifndef SITU_SOLVE_PIPELINE_ORDER_SPLIT_H
#define SITU_SOLVE_PIPELINE_ORDER_SPLIT_H

#include "solve/common/solver.h"
#include "view/contract.h"

typedef struct order_split order_split;

/* For orders of these classes, which are borrowed; all memory comes from the run's arena. NULL without memory. */
order_split *order_split_new(solve_run *run, const contraction *classes);
/* Offers the best split of an order (a permutation of the classes in which F goes forward) if it is better than the
 * incumbent. Returns whether the incumbent has improved; then place[class] is the number of its device in the sequence,
 * from 0, unless place is NULL. */
bool order_split_offer(order_split *s, const int32_t *order, int32_t *place);
/* Work done so far: proportional to the time taken, but the same on every machine. */
int64_t order_split_work(const order_split *s);

#endif
