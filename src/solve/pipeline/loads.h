/* solve/pipeline/loads.h - the exact loads of a pipeline while units of operators are placed, moved and removed:
 * O(degree x devices) for each, for every kind of communication and schedule, instead of O(E) for a simulation. A
 * tensor is charged while its producer's unit and a user's are placed, so the loads of a part of a placement are bounds
 * on those of the whole. No replicas. Tests compare them with sim/pipeline.c to the nanosecond.
 *
 * The measure of a placement is a soft maximum of all loads: the 16-norm of load / scale over all resources (devices,
 * and with link communication channels), so that a move is also rewarded for relieving a device that is not the
 * fullest. Where forward and backward loads are separate (GPipe) it is the sum of two such norms. */
#ifndef SITU_SOLVE_PIPELINE_LOADS_H
#define SITU_SOLVE_PIPELINE_LOADS_H

#include "view/contract.h"

typedef struct loads {
  const situ_problem *problem;
  const contraction *units;
  bool is_link;
  int32_t *device;                      /* [unit] -1: not placed */
  int64_t *time_ns;                     /* [(phase * n_units + unit) * n_device_classes + device class] */
  bool *allowed;                        /* [unit * n_devices + device] */
  int64_t *held_bytes, *running_bytes;  /* [unit] what its memory always holds; the maximum beside it */
  int64_t max_running_bytes;            /* of any unit: an upper bound for each memory */
  int32_t n_nets, *tensor, *maker;      /* [net] a tensor with users outside its producer's unit, and that unit */
  int32_t *own_start;                   /* nets of each unit: own_start[u] .. own_start[u + 1] - 1 */
  int32_t *use_start, *use;             /* nets that each unit uses of others */
  int32_t n_spots;                      /* places where users are counted: devices, with link communication memories */
  int32_t *users, *n_places;            /* [net * n_spots + spot] units there that use it; [net] spots with some */
  int64_t *compute_ns, *in_ns, *out_ns; /* [phase * n_devices + device] */
  int64_t *channel_ns;                  /* [phase * n_channels + channel] */
  int64_t *used_bytes;                  /* [memory] of what it always holds */
  int32_t n_resources;                  /* devices of each phase, then channels of each phase */
  double scale, *energy;                /* [resource] (load / scale)^16 */
  int32_t n_touched, *touched;          /* resources changed since the last loads_settle or loads_raise */
  bool *is_touched;
} loads;

/* Whether the counts of users take a reasonable amount of memory. */
bool loads_serve(const situ_problem *problem);
/* Starts with no unit placed. False without memory. */
bool loads_init(loads *s, const situ_problem *problem, const contraction *units, arena *a);
/* Moves a unit to a device where it is allowed, or from all (-1). */
void loads_move(loads *s, int32_t unit, int32_t to);
/* Places all units, [unit]; sets scale to the maximum load, and brings energies up to date. */
void loads_set(loads *s, const int32_t *device);
/* Brings energies up to date, and returns the soft maximum in nanoseconds. */
double loads_settle(loads *s);
/* Raises the maximum load of each phase to those that have changed. */
void loads_raise(loads *s, int64_t max_ns[2]);
/* The true period: the sum over phases of the maximum load. */
int64_t loads_period(const loads *s);
/* Whether memory m suffices. Visits all units if the upper bound does not decide. */
bool loads_fit(const loads *s, int32_t m);

#endif
