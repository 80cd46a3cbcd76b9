/* chain/branch_chain.h - streams as a chain of stops: the dynamic program of the bound unit_chain (bound/unit_chain.c
 * defines stops and has the proof), and prices of bytes that make its plan fit. */
#ifndef SITU_CHAIN_BRANCH_CHAIN_H
#define SITU_CHAIN_BRANCH_CHAIN_H

#include "base/budget.h"
#include "view/equal_devices.h"
#include "view/items.h"

typedef struct chain_stop {
  int32_t unit, before, first, last, next; /* chain operators; before: -1 at the start; next: after a detour */
  int32_t inside;                          /* the stop from which this is a detour, or -1; a lower number */
  bool counts;                             /* the first of its unit: it pays for the weights */
  const int64_t *way_in, *way_out;         /* [kind of route] of the tensors before it, and after a detour */
  const int64_t *other_in, *other_out;     /* the same by the other costs; NULL where these limit nothing */
} chain_stop;

/* The value of a plan of the program. */
typedef struct branch_chain_plan {
  int64_t value_ns, other_ns; /* times, ways and detours, units off the chain; by the other costs, 0 without them */
  double priced_ns;           /* value and prices of its weights, less those of the capacities; no price of other_ns */
} branch_chain_plan;

/* Equal devices (EQUAL_LINKED) cost the same at every point of the program, and staying on one never costs more than
 * moving to another of its type. So the program runs over types, and its plans use the first device of each. */
typedef struct branch_chain {
  const situ_problem *problem;
  arena *arena;
  equal_devices equal;
  bool sums;               /* the value is the sum of all operators */
  int32_t n_chain, *chain; /* operators */
  int32_t n, n_types;      /* stops; types of devices */
  int32_t *first;          /* [type] its first device */
  int32_t *kind;           /* [from type * types + to type] of route between their first devices */
  int32_t *from;           /* [stop * types + type] the type before it, or of the detour from there */
  chain_stop *stops;
  int64_t *time_ns;  /* [stop * types + type] SITU_NEVER_NS where it cannot be */
  int64_t *other_ns; /* the same by the other costs; NULL without them */
  items all, other;  /* units, their times and weights; by the other costs */
  bool *on_chain;    /* [unit] */
  bool *taken;       /* [tensor] some way counts it; NULL unless sums */
  int32_t *type_of;  /* [memory] of the first device that has it, for prices */
  double *price;     /* [type] ns a byte */
  int64_t *byte;     /* [memory] the same, of 2^-32 ns */
  double pace;       /* ns for a nanosecond by the other costs */
  int64_t hurry;     /* the same, of 2^-20 ns */
  double *held;      /* [memory] bytes held by the program's plan */
  __int128 *cost;    /* [stop * types + type] -1 where it cannot be */
  int32_t *at;       /* [stop] its device in the program's plan */
  branch_chain_plan plan;
} branch_chain;

enum {
  BRANCH_CHAIN_BITS = 32,      /* fractional bits of a price of bytes */
  BRANCH_CHAIN_OTHER_BITS = 20 /* of that of other costs */
};

/* Called for each list of prices with the bound that it proves; `at`, `byte`, `hurry`, `held` and `plan` are those of
 * its plan.
 */
typedef void branch_chain_visit(void *context, const branch_chain *chain, int64_t lower_ns);

/* Whether it serves: one input, latency, not too large. */
bool branch_chain_serves(const situ_problem *problem);
/* The longest chain, with the minimum time of each operator, and its stops. In the arena; NO_MEMORY or OK. */
situ_status branch_chain_find(branch_chain *out, const situ_problem *problem, arena *a, situ_error *error);
/* The time of a stop on a device, SITU_NEVER_NS where it cannot be. */
static inline int64_t branch_chain_time_ns(const branch_chain *s, int32_t stop, int32_t device) {
  int32_t type = s->equal.type_of[device];
  return type < s->n_types ? s->time_ns[(int64_t)stop * s->n_types + type] : SITU_NEVER_NS;
}
/* The cheapest place of a unit off the chain at the current prices, in *where; returns its cost, or -1 if it can be
 * nowhere. */
__int128 branch_chain_off(const branch_chain *chain, int32_t unit, int32_t *where);
/* Prices from none: that of other costs alone by intersecting lines (Handler and Zang, Networks 10, 1980), then all by
 * subgradient steps that shrink. The first step length is such that a price can change the cost of a unit from that on
 * the fastest device to that on the slowest. */
void branch_chain_ascend(branch_chain *chain, budget *budget, branch_chain_visit *visit, void *context);
/* The program at given prices. */
void branch_chain_at(branch_chain *chain, const int64_t *byte, int64_t hurry, branch_chain_visit *visit, void *context);

#endif
