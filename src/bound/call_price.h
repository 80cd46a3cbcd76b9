/* bound/call_price.h - the bound on the latency of calls by a flow and a price of memory.
 *
 * Let f be a flow of size 1 through the nodes, from sources on, and y >= 0 a price of a byte. A unit that lasts c and into
 * which f brings phi delays every path by c, so
 *
 *     T  >=  sum over units of phi(unit) c(unit)  +  y (bytes in calls - bytes of all accelerators)
 *
 * and the least of the right side over all plans is a shortest path in the lattice of ideals: a bound, for any f and y.
 * rest(I) is the least from ideal I to the end; it also tells a search what is at least to come. Flows are whole parts of
 * CALL_PARTS and everything is in whole numbers of ns / CALL_PARTS, so the bound is exact. docs/theory/call_dp.md. */
#ifndef SITU_BOUND_CALL_PRICE_H
#define SITU_BOUND_CALL_PRICE_H

#include "bound/call_lattice.h"

enum { CALL_PARTS = 1024, CALL_PATHS = 64 };

/* A path of the flow: nodes, and the uses between them. */
typedef struct call_path {
  int32_t parts, n;
  int32_t *use; /* [n - 1] index into call_graph.use */
  int32_t first; /* node */
} call_path;

typedef struct call_price {
  const call_lattice *lattice;
  call_path path[CALL_PATHS];
  int32_t n_paths;
  int64_t *through, *flow_in; /* [node], [use] in parts */
  int64_t price;              /* of 2^shift bytes in a call, in ns / CALL_PARTS */
  int32_t shift;
  int64_t room;               /* of all accelerators, in 2^shift bytes */
  int64_t *rest;              /* [ideal] ns / CALL_PARTS */
  int32_t *choice;            /* [ideal] the ideal after the unit that rest is made of */
  bool *choice_host;          /* [ideal] that unit is a node on a host */
  int64_t lower_ns;           /* of the flow and the price at hand */
  bool solved;                /* lower_ns and rest are those of the flow and the price at hand */
  call_walk walk;
  int64_t n_calls;            /* looked at */
  call_path best_path[CALL_PATHS]; /* the best flow and price so far, while they are improved */
  int32_t n_best_paths;
  int64_t best_price, best_lower_ns;
  int64_t *reach_ns, *node_ns; /* [node] scratch */
  int32_t *reach_use, *unit;  /* [node] scratch */
} call_price;

/* False without memory, or where times are too great to be counted in parts (see `unfit`). */
bool call_price_make(call_price *out, const call_lattice *l, bool *unfit, arena *a);
/* Solves for the flow and the price at hand. False when the budget ends first. A step is 512 calls. */
bool call_price_solve(call_price *c, budget *b);
/* Bytes in calls of the plan behind the bound, in 2^shift bytes. */
int64_t call_price_used(const call_price *c);
/* Raises the bound towards `upper_ns` in at most `rounds` solutions, by price and flow; leaves the best, solved. */
bool call_price_improve(call_price *c, int32_t rounds, int64_t upper_ns, budget *b);

#endif
