/* chain/chain_dp.h - the best division of a chain into intervals, each on a slot: a device, a group of equal devices or
 * a whole server. A state counts what is used: the servers of each type, the devices of each type in the current one,
 * and the last slot. A label is a state and the elements done, with the minimum value of all ways there,
 *
 *     value(state, k) = min over intervals j .. k-1 that the slot may hold of
 *                         latency: value(before, j) + crossing(j) + time;  period: the maximum of these three.
 *
 * docs/theory/chain.md has the proof, and which plans it is exact for. Without servers, all devices are one. */
#ifndef SITU_CHAIN_CHAIN_DP_H
#define SITU_CHAIN_CHAIN_DP_H

#include "base/budget.h"
#include "chain/chain.h"
#include "view/server_types.h"

/* A device type of a server type, or a group of its devices: a choice of the recursion. */
typedef struct chain_slot {
  int32_t server_type, type; /* numbers */
  int32_t device;            /* the first one, which represents all */
  int32_t n_devices;         /* of the type, in a group; 1 unless the caller sets it before the run */
  const int64_t *time_ns;    /* sums over the elements before k */
  const int32_t *never;      /* likewise: elements that it cannot run */
  int64_t limit_bytes;       /* may be made narrower */
  int32_t stride;            /* in the numbers of inner states */
  int32_t first_state;       /* of its server type, within the inner states of all types */
  int64_t *in_ns, *out_ns;   /* [boundary, as in the chain] host-staged: what crossing it costs the device; else NULL */
} chain_slot;

typedef struct chain_cell {
  int64_t value_ns;
  int32_t state, element; /* where it came from; state -1: the beginning */
} chain_cell;

typedef struct chain_dp {
  const situ_problem *problem;
  arena *arena;
  budget *budget;
  bool latency, staged;
  chain chain;
  server_type *servers;
  int32_t n_server_types, n_slots;
  chain_slot *slots;
  int32_t *first_slot;   /* [server type + 1] */
  int32_t *outer_stride; /* [server type] */
  int32_t n_outer, n_inner, n_states;
  int32_t *inner_slot;   /* [inner state] the slot of its last device, -1: no such state */
  int32_t *inner_used;   /* [inner state] number of devices used, mixed radix over the types of its server type */
  int64_t **crossing_ns; /* [kind of route] -> [boundary] time of the crossing tensors; NULL: not computed yet */
  int64_t *rest_ns;      /* [element] latency: minimum time from there to the end */
  chain_cell *cells;     /* [state * (elements + 1) + element]: elements before it are done */
  int64_t upper_ns;      /* only plans below this are wanted */
} chain_dp;

/* Everything but the chain, from the server types: slots (times are of the chain's class of their device, limits those
 * of the memories) and states; n_states is 0 where they are too many. The budget is spent, and may be NULL. False
 * without memory. */
bool chain_dp_init(chain_dp *t, const situ_problem *problem, server_type *servers, int32_t n_server_types, arena *a,
                   budget *b);
/* How many elements the tables may have. */
int32_t chain_dp_max_elements(const chain_dp *t);
/* Takes the chain in, of so many elements at most. False without memory. */
bool chain_dp_set_chain(chain_dp *t, const chain *c);
/* The state in which the best plan below t->upper_ns ends; -1 if there is none, or the budget is spent. A step is a
 * state. False without memory. */
bool chain_dp_run(chain_dp *t, int32_t *best);
/* The same with so many devices of the last server; 0: any number. */
int32_t chain_dp_best(const chain_dp *t, int32_t n_devices);
static inline int64_t chain_dp_value_ns(const chain_dp *t, int32_t state) {
  return t->cells[(int64_t)state * (t->chain.n + 1) + t->chain.n].value_ns;
}
/* The device and the slot of each element in the plan of an end state; of a group its first device. False without
 * memory. */
bool chain_dp_expand(const chain_dp *t, int32_t best, int32_t *device_of_element, int32_t *slot_of_element);

#endif
