/* solve/stream/contiguous.h - plans that cut the network, taken as a chain, into few parts.
 *
 * Elements of the chain are units in a topological order. Work adds up along it, and each cut costs the transfers of
 * the tensors that cross it. On a chain whose elements need only the one before them this is the latency, and so the
 * plans found are the best of their kind; elsewhere the simulator has the last word.
 * docs/theory/heuristics/fewer.md. */
#ifndef SITU_SOLVE_STREAM_CONTIGUOUS_H
#define SITU_SOLVE_STREAM_CONTIGUOUS_H

#include "problem/problem.h"

typedef struct contiguous {
  const situ_problem *problem;
  int32_t n;         /* elements */
  int32_t *unit;     /* [element] */
  int64_t *work;     /* [device * (n + 1) + i] ns of the elements before i; those that cannot run there count 0 */
  int32_t *refused;  /* likewise: how many of them cannot run there */
  int64_t *crossing; /* [i * n_kinds + kind] ns of the tensors made before element i and used from it on */
  int64_t *weights;  /* [i] bytes of the elements before i */
  int64_t *running;  /* [element] the most that an operator of it takes while it runs */
} contiguous;

/* In the arena; O(V + E + n * (devices + kinds)). False without memory. */
bool contiguous_find(contiguous *out, const situ_problem *problem, arena *a);

/* The devices ([operator]) of the best chain in which every cut costs `price` ns in addition to its transfers; a device
 * may occur more than once. False if there is none, or without memory. O(n * devices^2). */
bool contiguous_by_price(int32_t *device, const contiguous *c, int64_t price, arena *scratch);

enum { CONTIGUOUS_DEVICES = 6, CONTIGUOUS_CUTS = 192 };

/* The best chain on k = 1 .. CONTIGUOUS_DEVICES devices, each of which holds one part that fits its memory: device[k-1]
 * ([operator]), value_ns[k-1] by the chain, SITU_NEVER_NS if there is none. If there are more devices, the fastest are
 * used; if there are more cuts, those crossed by the fewest bytes. False without memory. O(2^devices * devices^2 *
 * cuts^2). */
bool contiguous_by_parts(int32_t **device, int64_t *value_ns, const contiguous *c, arena *a);

#endif
