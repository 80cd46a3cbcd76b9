/* solve/pipeline/stage_energy.h - what the stages of a contiguous pipeline cost together at given prices, and the
 * assignment of classes to stages that costs least.
 *
 * The devices of a contiguous plan stand in an order; the k-th of them is stage k, and no edge of F goes to an earlier
 * stage. Let the prices of stages be 0 or more and 1 in sum: then the priced sum of all loads of a plan is at most its
 * period, and its least over all assignments is a bound on the period of every plan. An assignment may leave
 * stages empty. docs/theory/exact/stage_prices.md has the whole. */
#ifndef SITU_SOLVE_PIPELINE_STAGE_ENERGY_H
#define SITU_SOLVE_PIPELINE_STAGE_ENERGY_H

#include "solve/pipeline/elimination.h"
#include "solve/pipeline/stages.h"

enum { STAGE_MOST = 16 };

/* A sequence of devices, one for each stage: the type of each. */
typedef struct device_sequence {
  int32_t n;
  int32_t type[STAGE_MOST];
} device_sequence;

/* The price of a nanosecond of each kind of work at each stage, as parts of STAGE_PRICE_ONE. */
typedef struct stage_price {
  int64_t compute[STAGE_MOST], in[STAGE_MOST], out[STAGE_MOST];
} stage_price;

#define STAGE_PRICE_ONE ((int64_t)1 << 20)

/* F as a list: what comes directly before class v is before[start[v] .. start[v+1]). */
typedef struct stage_order {
  int32_t *start, *before;
} stage_order;

typedef struct stage_energy {
  const stages *s;
  const stage_order *order;
  const device_sequence *sequence;
  const uint16_t *may;       /* [class] stages, as bits */
  const uint16_t *held;      /* [edge] stages that receive or make its tensor in any case, as bits */
  int32_t n_variables;       /* classes with several stages, and edges whose receivers are open */
  int32_t *variable_of;      /* [class] -1: decided */
  int32_t *class_of;         /* [variable] or ~edge */
  int32_t *size;             /* [variable] */
  int64_t *start;            /* [variable + 1] its values are start[v] .. start[v+1]-1 */
  uint16_t *maker, *holders; /* [value] as bits: the stage of the class or producer; who receives the edge's tensor */
  int32_t n_factors;
  factor *factors;
  int32_t *source;             /* [factor] class, n + edge, or -1: says only what goes together */
  stage_cost base[STAGE_MOST]; /* what is decided */
  int64_t n_values;
  elimination tables;
} stage_energy;

bool stage_order_find(stage_order *out, const stages *s, arena *a);

/* The energy of a sequence of devices where each class may be at some stages (at least one). Too wide: its tables
 * would have more than most_entries. All lies in the arena; the other arguments are kept. */
elimination_made stage_energy_init(stage_energy *out, const stages *s, const stage_order *order,
                                   const device_sequence *sequence, const uint16_t *may, const uint16_t *held,
                                   int64_t most_entries, arena *a);
/* The least sum of priced loads, in nanoseconds * STAGE_PRICE_ONE, and an assignment of that cost, stage[class];
 * ELIMINATION_NEVER when the classes cannot be assigned. */
int64_t stage_energy_least(stage_energy *e, const stage_price *price, int32_t *value, uint8_t *stage);
/* After it: drops from may[class] each stage at which every assignment costs more than `most`, and adds to held[edge]
 * each without which every assignment does. Returns how many. May leave a class without any. */
int64_t stage_energy_drop(stage_energy *e, const stage_price *price, int64_t most, uint16_t *may, uint16_t *held,
                          int64_t *scratch);

/* The loads of an assignment, with those of stages where tensors are held though nobody uses them (`held`; NULL: none).
 */
void stage_loads(stage_cost *loads, const stages *s, const device_sequence *sequence, const uint8_t *stage,
                 const uint16_t *held);

#endif
