/* bound/stop_chain.h - streams as a chain of stops: the dynamic program of the bound unit_chain (bound/unit_chain.c
 * says what a stop is and why it bounds), and prices of bytes that make its plan fit. */
#ifndef SITU_BOUND_STOP_CHAIN_H
#define SITU_BOUND_STOP_CHAIN_H

#include "base/budget.h"
#include "bound/items.h"
#include "view/equal_devices.h"

typedef struct chain_stop {
  int32_t unit, before, first, last, next; /* chain operators; before: -1 at the start; next: after a detour */
  int32_t inside;                          /* the stop from which this is a detour, or -1; a lower number */
  bool counts;                             /* the first of its unit: it pays for the weights */
  const int64_t *way_in, *way_out;         /* [kind of route] of the tensor before it, and behind a detour */
} chain_stop;

typedef struct stop_chain {
  const situ_problem *problem;
  arena *arena;
  equal_devices equal;
  bool sums;               /* the value is the sum of all operators */
  int32_t n_chain, *chain; /* operators */
  int32_t n, *from;        /* stops; [stop * devices + device] the device before it, or of the detour from there */
  chain_stop *stops;
  int64_t *time_ns; /* [stop * devices + device] SITU_NEVER_NS where it cannot be */
  items all;        /* units, their times and weights */
  bool *on_chain;   /* [unit] */
  int32_t *type_of; /* [memory] of the first device that has it, for prices */
  double *price;    /* [type] ns a byte */
  int64_t *byte;    /* [memory] the same, of 2^-32 ns */
  double *held;     /* [memory] what the program's plan holds */
  __int128 *cost;   /* [stop * devices + device] -1 where it cannot be */
  int32_t *at;      /* [stop] its device in the program's plan */
} stop_chain;

enum { STOP_CHAIN_BITS = 32 }; /* of a price behind the point */

/* What is told of each list of prices: what it proves; `at`, `byte` and `held` are those of its plan. */
typedef void stop_chain_visit(void *context, const stop_chain *chain, int64_t lower_ns);

/* Whether it serves: one input, latency, not too large. */
bool stop_chain_serves(const situ_problem *problem);
/* The longest chain where each operator takes its least time, and its stops. In the arena; NO_MEMORY or OK. */
situ_status stop_chain_find(stop_chain *out, const situ_problem *problem, arena *a, situ_error *error);
/* Where a unit off the chain is cheapest at the present prices, in *where; returns what it costs, -1: it can be
 * nowhere. */
__int128 stop_chain_off(const stop_chain *chain, int32_t unit, int32_t *where);
/* Subgradient steps that shrink, from no prices. The first length is such that a price may move what a unit takes from
 * the fastest device to the slowest. */
void stop_chain_ascend(stop_chain *chain, budget *budget, stop_chain_visit *visit, void *context);

#endif
