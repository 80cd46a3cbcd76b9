/* write/layer_plan.h - a plan as formats by layer see it: a device for each layer, for what comes before and behind. */
#ifndef SITU_WRITE_LAYER_PLAN_H
#define SITU_WRITE_LAYER_PLAN_H

#include "graph/layers.h"
#include "plan/plan.h"
#include "problem/problem.h"

typedef struct layer_plan {
  layer_list layers;
  int32_t n, *device;  /* [n] of the layer, its routed experts apart */
  bool *spilled;       /* [n] its routed experts are on the host, the rest is not */
  int32_t first, head; /* devices of what comes before and behind the layers; -1 where there is nothing */
} layer_plan;

/* UNSUPPORTED, in the name of the format, where the graph has no layers, or one of these is on several devices (routed
 * experts on a host excepted where `experts` is set). */
situ_status layer_plan_find(layer_plan *out, const situ_plan *plan, const situ_problem *problem, bool experts,
                            const char *format, arena *a, situ_error *error);

/* How often the device changes from layer to layer, where each device has one run of layers; else UNSUPPORTED. The runs
 * are in `run`, of devices, and `count`, of layers: arrays of n_devices. */
situ_status layer_plan_runs(int32_t *n_runs, int32_t *run, int32_t *count, const layer_plan *l,
                            const situ_problem *problem, const char *format, situ_error *error);

/* The number of a device among those of the platform that are no hosts; -1 for hosts. */
int32_t layer_plan_gpu(const situ_problem *problem, int32_t device);

#endif
