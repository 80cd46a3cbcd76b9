/* chain/branch_chain.h - a stream as a chain of elements with branches (the experts of a layer), and the shortest path
 * along it at multipliers of memory and of secondary costs: the dynamic program of the bound unit_chain, lower bounds
 * of what completes a label along the chain (solve/stream/chain_labels.c), and the best cuts at a price
 * (solve/stream/contiguous.h). docs/theory/chain.md has the proof.
 *
 * branch_chain_find's elements are the units of one path only, what they take does not add up (two segments of one unit
 * make one element), and it goes into each branch and back: so this is no chain of chain/chain.h, but such a chain is
 * one of these. */
#ifndef SITU_CHAIN_BRANCH_CHAIN_H
#define SITU_CHAIN_BRANCH_CHAIN_H

#include "base/budget.h"
#include "view/equal_devices.h"
#include "view/items.h"

enum {
  CHAIN_PRICE_BITS = 32,    /* fractional bits of costs and of the price of a byte */
  CHAIN_SECONDARY_BITS = 20 /* of that of a nanosecond by the secondary costs */
};

/* What a plan costs, in 2^-32 ns. */
typedef struct chain_multipliers {
  bool time;           /* whether times count */
  int64_t secondary;   /* of a nanosecond by the secondary costs, in 2^-20 */
  const int64_t *byte; /* [memory] of a byte of weights, in 2^-32 ns; NULL: 0 */
  int64_t cut_ns;      /* of each change of type along the chain, in ns */
} chain_multipliers;

static inline __int128 chain_cost(const chain_multipliers *by, int64_t time_ns, int64_t secondary_ns) {
  __int128 sum = by->time ? (__int128)time_ns << CHAIN_PRICE_BITS : 0;
  return by->secondary > 0 ? sum + ((__int128)by->secondary * secondary_ns << (CHAIN_PRICE_BITS - CHAIN_SECONDARY_BITS))
                           : sum;
}

static inline __int128 chain_rent(const chain_multipliers *by, int32_t memory, int64_t bytes) {
  return by->byte ? (__int128)by->byte[memory] * bytes : 0;
}

typedef struct chain_element {
  int32_t unit, before, first, last, next; /* chain operators; before: -1 at the start; next: after a branch */
  int32_t parent;                          /* the element from which this is a branch, or -1; a lower number */
  bool holds_weights;                      /* the first of its unit: it pays for the weights */
  const int64_t *in_ns, *out_ns;           /* [kind of route] of the tensors before it, and after a branch */
  const int64_t *secondary_in_ns,
      *secondary_out_ns; /* the same by the secondary costs; NULL where these limit nothing */
} chain_element;

/* The value of a plan of the program. */
typedef struct branch_chain_plan {
  int64_t value_ns;     /* times, transfers and branches, units off the chain */
  int64_t secondary_ns; /* the same by the secondary costs, 0 without them */
  double priced_ns;     /* value and prices of its weights, less those of the capacities; no price of secondary_ns */
} branch_chain_plan;

/* Equal devices (EQUAL_LINKED) cost the same at every point of the program, and staying on one never costs more than
 * moving to another of its type. So the program runs over types, and its plans use the first device of each. */
typedef struct branch_chain {
  const situ_problem *problem;
  arena *arena;
  equal_devices equal;
  bool sums;               /* the value is the sum of all operators */
  int32_t n_chain, *chain; /* operators */
  int32_t n, n_types;      /* elements; types of devices */
  int32_t *first;          /* [type] its first device */
  int32_t *kind;           /* [from type * types + to type] of route between their first devices */
  int32_t *from;           /* [element * types + type] the type before it, or of the branch from there */
  chain_element *elements;
  int64_t *time_ns;            /* [element * types + type] SITU_NEVER_NS where it cannot be */
  int64_t *secondary_ns;       /* the same by the secondary costs; NULL without them */
  items all, secondary;        /* units, their times and weights; by the secondary costs */
  bool *on_chain;              /* [unit] */
  bool *taken;                 /* [tensor] some transfer counts it; NULL unless sums */
  int32_t *type_of;            /* [memory] of the first device that has it, for prices */
  double *price;               /* [type] ns a byte */
  int64_t *byte;               /* [memory] the same, of 2^-32 ns */
  double secondary_multiplier; /* ns for a nanosecond by the secondary costs */
  chain_multipliers by;        /* the current ones, of `byte` and secondary_multiplier */
  double *used_bytes;          /* [memory] bytes of weights in the program's plan */
  __int128 *cost;              /* [element * types + type] -1 where it cannot be */
  __int128 *before; /* [element * types + type] of all before the element if that is there; of a branch: its own
                       minimum, with transfers, if its parent is there; -1: impossible */
  int32_t *at;      /* [element] its device in the program's plan */
  branch_chain_plan plan;
} branch_chain;

/* Called for each list of multipliers with the bound that it proves; `at`, `by`, `used_bytes` and `plan` are those of
 * its plan. */
typedef void branch_chain_report(void *context, const branch_chain *chain, int64_t lower_ns);

/* Whether it serves: one input, latency, not too large. */
bool branch_chain_serves(const situ_problem *problem);
/* The longest chain, with the minimum time of each operator, and its elements. In the arena; NO_MEMORY or OK. */
situ_status branch_chain_find(branch_chain *out, const situ_problem *problem, arena *a, situ_error *error);
/* A chain without branches, whose elements pay no rent: for branch_chain_run. In the arena; false without memory. */
struct chain;
bool branch_chain_of(branch_chain *out, const struct chain *c, arena *a);
/* The time of an element on a device, SITU_NEVER_NS where it cannot be. */
static inline int64_t branch_chain_time_ns(const branch_chain *s, int32_t element, int32_t device) {
  int32_t type = s->equal.type_of[device];
  return type < s->n_types ? s->time_ns[(int64_t)element * s->n_types + type] : SITU_NEVER_NS;
}
static inline int64_t branch_chain_secondary_ns(const branch_chain *s, int32_t element, int32_t device) {
  return s->secondary_ns ? s->secondary_ns[(int64_t)element * s->n_types + s->equal.type_of[device]] : 0;
}
static inline int64_t branch_chain_weight_bytes(const branch_chain *s, int32_t element) {
  return s->all.weight_bytes[s->elements[element].unit];
}
/* A row of transfers ([kind of route], NULL: 0) from device to device. */
static inline int64_t branch_chain_transfer_ns(const branch_chain *s, const int64_t *row, int32_t from, int32_t to) {
  return row ? row[s->problem->device_kind[(int64_t)from * s->problem->n_devices + to]] : 0;
}
/* The minimum cost of a unit off the chain, and its device in *where; -1 if it can be nowhere. */
__int128 branch_chain_off(const branch_chain *chain, const chain_multipliers *by, int32_t unit, int32_t *where);
/* The same at the current multipliers; times count only where nothing overlaps. */
__int128 branch_chain_off_now(const branch_chain *chain, int32_t unit, int32_t *where);
/* The minimum cost of the chain, or -1; fills `before`, and `at` with types. */
__int128 branch_chain_run(branch_chain *chain, const chain_multipliers *by);
/* Prices from none: that of secondary costs alone by intersecting lines (Handler and Zang, Networks 10, 1980), then all
 * by subgradient steps that shrink. The first step length is such that a price can change the cost of a unit from that
 * on the fastest device to that on the slowest. */
void branch_chain_ascend(branch_chain *chain, budget *budget, branch_chain_report *report, void *context);
/* The program at given prices. */
void branch_chain_at(branch_chain *chain, const int64_t *byte, int64_t secondary, branch_chain_report *report,
                     void *context);

#endif
