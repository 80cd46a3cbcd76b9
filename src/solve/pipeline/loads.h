/* solve/pipeline/loads.h - the loads of a pipeline under moves of single operators: O(degree x devices) for each move
 * instead of O(E) for a simulation. Tests compare it with sim/pipeline.c to the nanosecond.
 *
 * The measure of a placement is a soft maximum of all loads: the 16-norm of load / scale over all resources (devices,
 * and with link communication channels), so that a move is also rewarded for relieving a device that is not the
 * fullest. Where forward and backward loads are separate (GPipe) it is the sum of two such norms. No replicas. */
#ifndef SITU_SOLVE_PIPELINE_LOADS_H
#define SITU_SOLVE_PIPELINE_LOADS_H

#include "problem/problem.h"

typedef struct loads {
  const situ_problem *problem;
  int32_t n_spots;     /* places where users are counted: devices, or memories with link communication */
  int32_t n_resources; /* devices of each phase, then channels of each phase */
  int32_t *device;     /* [operator] */
  int32_t *users;      /* [tensor * n_spots + spot] */
  int64_t *compute_ns, *in_ns, *out_ns;       /* [phase * n_devices + device] */
  int64_t *channel_ns;                        /* [phase * n_channels + channel] */
  int64_t *weights, *stashed;                 /* [memory] bytes */
  int64_t *operator_stash, *operator_running; /* [operator] bytes: of one input; while it runs, of all in flight */
  int64_t max_running;                        /* of any operator: an upper bound for each memory */
  double scale;
  double *energy;              /* [resource] (load / scale)^16 */
  int32_t *touched, n_touched; /* resources changed since the last loads_settle */
  bool *is_touched;
} loads;

/* Whether the counts of users take a reasonable amount of memory. */
bool loads_serve(const situ_problem *problem);
bool loads_init(loads *s, const situ_problem *problem, arena *a);
/* Starts from a placement; sets scale to its maximum load. */
void loads_set(loads *s, const int32_t *device);
/* Moves one operator; call loads_settle after the last of a group of moves. */
void loads_move(loads *s, int32_t v, int32_t to);
/* Brings energies up to date, and returns the soft maximum in nanoseconds. */
double loads_settle(loads *s);
/* The true period: the maximum load. */
int64_t loads_period(const loads *s);
/* Whether memory m suffices. Visits all operators if the upper bound does not decide. */
bool loads_fit(const loads *s, int32_t m);

#endif
