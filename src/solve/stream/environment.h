/* solve/stream/environment.h - a stream problem as a reinforcement learning environment: units that each get a device
 * (actions), allowed devices (masks), and the resulting time (rewards). Learned policies and random placements use the
 * same environment.
 *
 * Units are those of the problem at first (view/unit.h); they are numbered by their first operator, so nearly in
 * topological order. Colocation, support, pins and room for weights are masked, not punished (as GDP does them, Zhou et
 * al., 2019): a draw cannot break them. A trial is invalid if tensors that live at the same time do not fit, which a
 * draw cannot foresee.
 *
 * The sequence on each device is determined by solve/stream/sequence.h, as in runtimes with ready queues, so that
 * policies differ only in their devices. */
#ifndef SITU_SOLVE_STREAM_ENVIRONMENT_H
#define SITU_SOLVE_STREAM_ENVIRONMENT_H

#include "solve/common/solver.h"

enum { ENVIRONMENT_CURVE = 64 };

/* What times trials that fit in place of the simulator: an engine, say. */
typedef struct environment_judge {
  /* SITU_NEVER_NS: it cannot run. */
  int64_t (*time)(void *context, const placement *where);
  void *context;
  int64_t scale_ns; /* the unit of rewards; at least 1 */
  bool over;        /* no more trials, please */
} environment_judge;

typedef struct environment {
  const situ_problem *problem;
  int32_t n_units, n_devices;
  int32_t *unit_of;      /* [operator] */
  int32_t *member_start; /* operators of unit u: member[member_start[u] .. member_start[u + 1]), ascending */
  int32_t *member;
  bool *allowed; /* [unit * n_devices] by support, pins, unused devices; all false: the unit cannot run */
  simulator *simulator;
  arena *arena;             /* scratch of a trial is released after it */
  int64_t *weight_bytes;    /* [unit] what stays on its memory */
  int64_t *footprint_bytes; /* [unit] maximum additional memory of one of its operators */
  int64_t scale_ns;         /* the unit of rewards: all work on the device that does it fastest; at least 1 */

  solve_run *run;           /* whose incumbent sees each trial, or NULL */
  environment_judge *judge; /* may be NULL */
  int64_t n_trials, n_valid;
  int64_t early_ns[ENVIRONMENT_CURVE], late_ns[ENVIRONMENT_CURVE]; /* the first valid trials, and the last (a ring) */
  int64_t best_ns; /* the best valid trial, SITU_NEVER_NS before the first */
  int32_t *best;   /* [unit] its devices */

  int32_t *device, *sequence;      /* [operator] scratch of trials */
  int64_t *held_bytes, *max_bytes; /* [memory] scratch of draws */
} environment;

/* Makes the environment of a problem; everything lives in the arena. Trials are simulated. False without memory. */
bool environment_init(environment *env, const situ_problem *problem, arena *a);
/* The environment of a running solver: each trial is offered to its incumbent and counts a step. False without memory.
 */
bool environment_init_run(environment *env, solve_run *run);

/* NULL, or which of the invariants above does not hold (base/contracts.h). O(V). */
const char *environment_check(const environment *env);

/* Units with the same group number (0 .. n_units-1) become one unit. Units are renumbered. */
void environment_join(environment *env, const int32_t *group);
/* Joins units (level_groups of view/level.h) until at most max_units are left, or more where constraints keep them
 * separate. O(E log E). False without memory. */
bool environment_group(environment *env, int32_t max_units, arena *a);
/* As many as the baselines that group at the start learn to place within some thousands of trials. */
enum { ENVIRONMENT_GROUPS = 64 };

/* Devices by unit from devices by operator: of those that the unit may use that of most of its time, the first of
 * equals; 0 where it can run nowhere. */
void environment_follow(const environment *env, const int32_t *device, int32_t *of_unit);

/* Trials are timed by the judge from now on. */
void environment_judge_by(environment *env, environment_judge *judge);

/* Measures devices given by unit. SITU_NEVER_NS when invalid. The best is kept. */
int64_t environment_try(environment *env, const int32_t *device);

/* Whether the solver that the environment belongs to must stop, or its judge is over. */
bool environment_over(const environment *env);

/* The reward of a time: -sqrt(time / scale_ns), and -10 for an invalid trial (Zhou et al.; the scale is ours, so that
 * graphs of all sizes weigh alike in one policy). */
double environment_reward(const environment *env, int64_t time_ns);

/* Actions: empty all memories; the devices open to unit u (n_devices), which are those allowed with room left, or the
 * ones with the most room if none fits, or device 0 for a unit that cannot run; put unit u on device d. */
void environment_empty(environment *env);
void environment_open(const environment *env, int32_t u, bool *open);
void environment_put(environment *env, int32_t u, int32_t d);

/* Adds to the statistics of its run: trials, invalid trials, mean time of the first and of the last ENVIRONMENT_CURVE
 * valid trials, by which it shows whether a policy has learned. */
void environment_report(const environment *env);

#endif
