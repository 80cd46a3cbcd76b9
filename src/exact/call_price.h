/* exact/call_price.h - the bound on the latency of calls by a path, a price of memory and a toll on calls.
 *
 * Let a path go through the nodes, y >= 0 be a price of a byte and z >= 0 a toll on each call. A unit that lasts c
 * delays the path by c when the path enters it or starts in it, phi times. So
 *
 *     T  >=  sum over units of phi(unit) c(unit)  +  y (bytes in calls - bytes of all accelerators)
 *            +  z (calls - the most that all accelerators may run)
 *
 * and the minimum of the right side over all plans is a shortest path in the lattice of ideals: a bound, for any path
 * and any y and z. rest(I) is the least from ideal I to the end; it also bounds the completions in a search. Calls
 * that a colocation group ties to one device must fit into its memory together: where an ideal cuts groups, rest
 * depends on the bytes held so far. All computations are in integers. docs/theory/exact/call_dp.md. */
#ifndef SITU_EXACT_CALL_PRICE_H
#define SITU_EXACT_CALL_PRICE_H

#include "exact/call_lattice.h"

enum { CALL_PARTS = 1024, CALL_LEVELS = 16 };

typedef struct call_price {
  const call_lattice *lattice;
  int64_t *through, *flow_in; /* [node], [use] CALL_PARTS where the path goes, else 0 */
  int64_t *ending;            /* [node] CALL_PARTS where it ends */
  int64_t price;              /* of 2^shift bytes in a call, in ns / CALL_PARTS */
  int32_t shift;
  int64_t room;     /* of all accelerators, in 2^shift bytes */
  int64_t toll;     /* of a call, in ns / CALL_PARTS; 0 where their number has no limit */
  int32_t n_levels; /* 1, or CALL_LEVELS where groups tie calls */
  int64_t level_bytes;
  uint64_t ties; /* the groups that are followed: those that few ideals cut */
  /* [ideal * n_levels + level] ns / CALL_PARTS; level: bytes in the calls of every tie that the ideal cuts, in
   * level_bytes, rounded down */
  int64_t *rest;
  int32_t *rest_calls; /* in addition to rest: the number of calls on the shortest path */
  int64_t lower_ns;
  call_iterator iterator;
  int64_t n_calls; /* looked at */
} call_price;

/* A call (or a node on a host) between two ideals. */
typedef struct call_move {
  int32_t from, to;
  bool host;
  int64_t weight_bytes;
  uint64_t groups;
} call_move;

/* False without memory, or where times are too great to be counted in parts: `unsupported`. */
bool call_price_make(call_price *out, const call_lattice *l, bool *unsupported, arena *a);
/* Computes rest and the bound for the current price. False if the budget ends first. A step is 512 calls. */
bool call_price_solve(call_price *c, budget *b);
/* Raises the price, then the toll, while that raises the bound; solved for the best afterwards, unless the budget ends:
 * then false. */
bool call_price_improve(call_price *c, budget *b);
/* The price of a number of calls and bytes, in addition to their time; and the maximum that all calls pay in a plan
 * within the limits: in ns / CALL_PARTS. */
static inline int64_t call_price_paid(const call_price *c, int64_t weight_bytes, int32_t calls) {
  return c->price * (weight_bytes >> c->shift) + c->toll * calls;
}
static inline int64_t call_price_allowance(const call_price *c) {
  return (c->price > 0 ? c->price * c->room : 0) + (c->toll > 0 ? c->toll * c->lattice->graph->all_calls : 0);
}
/* The level after a move from an ideal at a level; -1 where the tied calls do not fit. */
int32_t call_price_level(const call_price *c, const call_move *move, int32_t level);

#endif
