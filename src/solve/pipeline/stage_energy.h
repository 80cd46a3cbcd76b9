/* solve/pipeline/stage_energy.h - the priced sum of the loads of a contiguous pipeline, and the assignment of classes
 * to stages that minimises it.
 *
 * The devices of a contiguous plan have an order; the k-th of them is stage k, and no edge of F goes to an earlier
 * stage. Let the prices of stages be at least 0, with a sum of 1: then the priced sum of all loads of a plan is at most
 * its period, and the minimum over all assignments is a lower bound on the period of every plan. An assignment may
 * leave stages empty. docs/theory/exact/stage_prices.md has the details. */
#ifndef SITU_SOLVE_PIPELINE_STAGE_ENERGY_H
#define SITU_SOLVE_PIPELINE_STAGE_ENERGY_H

#include "solve/pipeline/elimination.h"
#include "solve/pipeline/stages.h"

enum { STAGES_MAX = 16 };

/* A sequence of devices, one for each stage: the type of each. */
typedef struct device_sequence {
  int32_t n;
  int32_t type[STAGES_MAX];
} device_sequence;

/* The price of a nanosecond of each kind of work at each stage, in units of 1 / STAGE_PRICE_ONE. */
typedef struct stage_price {
  int64_t compute[STAGES_MAX], in[STAGES_MAX], out[STAGES_MAX];
} stage_price;

#define STAGE_PRICE_ONE ((int64_t)1 << 20)

typedef struct stage_energy {
  const stages *s;
  const stage_order *order;
  const device_sequence *sequence;
  const uint16_t *may;  /* [class] stages, as bits */
  const uint16_t *held; /* [edge] stages that receive or make its tensor whatever is decided, as bits */
  int32_t n_variables;  /* classes with several stages, and edges with undecided receivers */
  int32_t *variable_of; /* [class] -1: decided */
  int32_t *class_of;    /* [variable] its class, or ~edge */
  int32_t *size;        /* [variable] */
  int64_t *start;       /* [variable + 1] its values are start[v] .. start[v+1]-1 */
  uint16_t *maker,
      *holders; /* [value] as bits: the stage of the class or producer; the stages that receive the tensor */
  int32_t n_factors;
  factor *factors;
  int32_t *source;             /* [factor] class, n + edge, or -1: a constraint without a price */
  stage_cost base[STAGES_MAX]; /* the loads of decided classes and edges */
  int64_t n_values;
  elimination tables;
} stage_energy;

/* Sets up the energy of a sequence of devices with the allowed stages of each class (at least one). TOO_WIDE: its
 * tables would have more than max_entries. All lies in the arena; the other arguments are borrowed. */
elimination_made stage_energy_init(stage_energy *out, const stages *s, const stage_order *order,
                                   const device_sequence *sequence, const uint16_t *may, const uint16_t *held,
                                   int64_t max_entries, arena *a);
/* The minimum sum of priced loads, in nanoseconds * STAGE_PRICE_ONE, and an assignment of that cost, stage[class];
 * ELIMINATION_NEVER if the classes cannot be assigned. */
int64_t stage_energy_minimise(stage_energy *e, const stage_price *price, int32_t *value, uint8_t *stage);
/* Call after it: drops from may[class] each stage at which every assignment costs more than `max`, and adds to
 * held[edge] each stage without which every assignment does. Returns how many. May leave a class without stages. */
int64_t stage_energy_drop(stage_energy *e, const stage_price *price, int64_t max, uint16_t *may, uint16_t *held,
                          int64_t *scratch);

/* The loads of an assignment. `held` (or NULL) names further stages that receive tensors. */
void stage_loads(stage_cost *loads, const stages *s, const device_sequence *sequence, const uint8_t *stage,
                 const uint16_t *held);

#endif
