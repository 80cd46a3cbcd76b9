/* solve/pipeline/class_loads.h - the exact loads of a pipeline while classes are placed one by one and taken back in
 * reverse: O(degree x users) for each, for every kind of communication and schedule. Loads only grow while classes are
 * added, since a tensor is charged when both its ends are placed: the value of a part of a plan is a bound on the
 * whole. No replicas. No order of classes is
 * needed, so this is no chain. Tests compare it with sim/pipeline.c to the nanosecond. */
#ifndef SITU_SOLVE_PIPELINE_CLASS_LOADS_H
#define SITU_SOLVE_PIPELINE_CLASS_LOADS_H

#include "view/contract.h"

typedef struct class_change {
  int64_t *cell, before;
} class_change;

typedef struct class_loads {
  const situ_problem *problem;
  const contraction *classes;
  int32_t *device;  /* [class] -1: not placed */
  int64_t *time_ns; /* [(phase * n + class) * n_device_classes + device class]; SITU_NEVER_NS: cannot run there */
  bool *allowed;    /* [class * n_devices + device] */
  int64_t *class_bytes, *footprint_bytes;    /* [class] bytes always held; maximum while it runs */
  int32_t n_nets, *tensor;                   /* [net] a tensor with users outside its producer's class */
  int32_t *pin_start, *pin;                  /* [net] classes that it joins, the producer's first */
  int32_t *touch_start, *touch;              /* nets of each class */
  int64_t *compute_ns, *in_ns, *out_ns;      /* [phase * n_devices + device] */
  int64_t *channel_ns;                       /* [phase * n_channels + channel] */
  int64_t *held_bytes, *max_footprint_bytes; /* [memory] */
  int64_t max_load_ns[2];                    /* load of each phase so far */
  class_change *change;
  int64_t n_changes;
} class_loads;

/* Starts with no class placed. False without memory. */
bool class_loads_init(class_loads *out, const situ_problem *problem, const contraction *classes, arena *a);
/* Places an unplaced class on a device that may run it. Returns whether the memory of the device still suffices. */
bool class_loads_add(class_loads *l, int32_t class_index, int32_t device);
/* Undoes the last placement, that of this class; `mark` is n_changes before it. */
void class_loads_undo(class_loads *l, int32_t class_index, int64_t mark);
/* The period of the placed classes. */
int64_t class_loads_value(const class_loads *l);

#endif
