/* view/hypergraph.h - a pipeline problem as a hypergraph to be partitioned, without its contiguity: units that stay
 * together, devices, and one hyperedge for each tensor that joins two units or more and costs something.
 *
 * The load of a device that holds the units S is their time, plus for each hyperedge with a pin in S and a pin outside
 * the price of its tensor: on its way out where the producer is in S, else on its way in. Hosts pay nothing; a device
 * that shares its memory counts as if it paid nothing, since what it pays depends on more than S.
 *
 * This is the load of a host-staged pipeline. With link communication the load is the maximum of time, prices in and
 * prices out, with the minimum prices of view/link_prices.h: at most the loads of the device and of its channels, and
 * equal to them in a star of links where each tensor goes to one memory. */
#ifndef SITU_VIEW_HYPERGRAPH_H
#define SITU_VIEW_HYPERGRAPH_H

#include "view/equal_devices.h"

/* The price of a tensor for a device. */
typedef struct crossing {
  int64_t in_ns, out_ns;
} crossing;

/* A hyperedge at one of its units. */
typedef struct touch {
  int32_t edge;
  bool produces; /* the unit makes the tensor */
} touch;

typedef struct hypergraph {
  const situ_problem *problem;
  int32_t n_units, n_devices, n_edges, n_rows;
  const int32_t *unit_of; /* [operator] */
  bool overlaps;          /* a load is the maximum of time, in and out; else their sum */

  equal_devices equal;      /* at EQUAL_LOADS: a row for each type, those of unused devices last */
  const int32_t *row_of;    /* [device] devices of one row have the same times and prices */
  int64_t *time_ns;         /* [row * n_units + unit]; SITU_NEVER_NS: not allowed there */
  crossing *price;          /* [row * n_edges + edge] */
  int32_t *pin_start, *pin; /* units of an edge, distinct, the producer's first */
  int32_t *phase;           /* [edge] of its producer; edges of different phases do not merge */
  int32_t *touch_start;
  touch *touch; /* edges of a unit, ascending */

  bool memory_is_free; /* any device could hold everything */
  int64_t *bytes;      /* [unit] weights and stashed activations */
  int32_t n_footprints;
  int64_t *footprint_bytes; /* largest operator of a unit, times in_flight: the distinct values, ascending */
  int32_t *footprint;       /* [unit] index into footprint_bytes */
  int64_t *limit_bytes;     /* [device] */
} hypergraph;

/* Whether a problem can be seen so: a host-staged pipeline, every accelerator with a memory of its own, hosts that
 * share one only where it has no limit, and tables of reasonable size. */
bool hypergraph_serves_staged(const situ_problem *problem);
/* And whether nothing else matters: it is not contiguous and has one phase. */
bool hypergraph_serves(const situ_problem *problem);
/* The same with link communication: loads from below. */
bool hypergraph_serves_links(const situ_problem *problem);
/* Units are those of the problem. With `merge` edges with the same pins become one, at the sum of their prices. O(V +
 * E) times the number of rows, sorting aside. False without memory. */
bool hypergraph_find(hypergraph *out, const situ_problem *problem, bool merge, arena *a);
/* NULL, or which of the invariants above does not hold (base/contracts.h). O(pins + tables). */
const char *hypergraph_check(const hypergraph *h);
/* Whether all sums of times and sizes stay far from overflow, so that plain arithmetic is exact. */
bool hypergraph_fits(const hypergraph *h);
/* Unit u of `fine` becomes part of unit into[u] (0 .. n-1, none of them empty). Edges with the same pins become one.
 * False without memory. */
bool hypergraph_merge(hypergraph *out, const hypergraph *fine, const int32_t *into, int32_t n, arena *a);

#endif
