/* cost/efficiency.h - which part of its peak and of its bandwidth a device reaches. */
#ifndef SITU_COST_EFFICIENCY_H
#define SITU_COST_EFFICIENCY_H

#include "cost/fusion.h"
#include "situ/platform.h"

/* The resource that limits an operator, as far as efficiencies differ. */
typedef enum efficiency_work {
  EFFICIENCY_OTHER,     /* element by element, pooling, normalisation: streams */
  EFFICIENCY_MATMUL,    /* matrix products */
  EFFICIENCY_EXPERTS,   /* ... of routed experts, each with few of the tokens */
  EFFICIENCY_ATTENTION, /* attention to a cache */
  EFFICIENCY_STATE,     /* recurrences, one token after another */
  EFFICIENCY_CONV,      /* convolutions */
  EFFICIENCY_WORKS
} efficiency_work;

typedef struct efficiency {
  double compute, memory; /* 0 < e <= 1 */
} efficiency;

/* The family of a device; of one that does not say it, by whether it is a host. */
situ_device_family efficiency_family_of(const situ_device *device);

/* Of a kind of operator, by its name. */
efficiency_work efficiency_work_of(const char *kind);

/* By the table of docs/theory/models/roofline.md, or by that of the engine; a device's own efficiency holds for all. */
efficiency efficiency_of(const situ_device *device, const cost_engine *engine, efficiency_work work, situ_dtype dtype);
/* What products with weights of that type ("q4_K") reach of the rate for their bits. */
double efficiency_of_type(const situ_device *device, const cost_engine *engine, const char *weight_type);
/* How many times as long experts compute that have so many tokens each in a step as with many: engines whose rates are
 * their own. */
double efficiency_tiles(double tokens);
/* The part of the possible overlap of micro-batches on several such devices that llama.cpp reaches. `through_host`:
 * they have no link of their own. */
double efficiency_overlap(const situ_device *device, bool through_host);
/* The time to start an operator: that of the device times the engine's factor, or the engine's own table. */
int64_t efficiency_launch_ns(const situ_device *device, const cost_engine *engine, bool language_model);

#endif
