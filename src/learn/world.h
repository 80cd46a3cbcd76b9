/* learn/world.h - a problem as learned policies see it: units that get a device each, what may go where, and how
 * long the model takes then.
 *
 * Units are those of the problem at first (view/unit.h); they are numbered by their first operator, so nearly in
 * topological order. Colocation, support, pins and room for weights are masked, not punished (as GDP does them, Zhou et
 * al., 2019): a draw cannot break them. What a draw cannot see, tensors that live at the same time, makes a trial
 * invalid.
 *
 * The sequence on each device is settled by stream/sequence.h, as runtimes with ready queues do, so that policies
 * differ by their devices alone. */
#ifndef SITU_LEARN_WORLD_H
#define SITU_LEARN_WORLD_H

#include "nn/gemm.h"
#include "solve/common/solver.h"

/* How a trial is measured. The simulator is the one there is; an engine that runs models would be another. Returns the
 * time, SITU_NEVER_NS for a placement that cannot run. */
typedef int64_t world_measure_fn(void *context, const placement *where);

enum { WORLD_CURVE = 64 };

typedef struct world {
  const situ_problem *problem;
  int32_t n_units, n_devices;
  int32_t *unit_of;      /* [operator] */
  int32_t *member_start; /* operators of unit u: member[member_start[u] .. member_start[u + 1]), ascending */
  int32_t *member;
  bool *allowed; /* [unit * n_devices] by support, pins, unused devices; all false: the unit cannot run */
  simulator *simulator;
  arena *arena;             /* scratch of a trial is released after it */
  int64_t *weight_bytes;    /* [unit] what stays on its memory */
  int64_t *footprint_bytes; /* [unit] most that one of its operators needs beside */
  int64_t scale_ns;         /* the unit of rewards: all work on the device that does it in the least time; at least 1 */

  world_measure_fn *measure;
  void *context;
  solve_run *run; /* whose incumbent sees each trial, or NULL */
  int64_t n_trials, n_valid;
  int64_t early_ns[WORLD_CURVE], late_ns[WORLD_CURVE]; /* the first valid trials, and the last (a ring) */
  int64_t best_ns;                                     /* the best valid trial, SITU_NEVER_NS before the first */
  int32_t *best;                                       /* [unit] its devices */

  int32_t *device, *sequence;       /* [operator] scratch of trials */
  int64_t *held_bytes, *most_bytes; /* [memory] scratch of draws */
} world;

/* Makes the world of a problem; everything lives in the arena. Trials are simulated. False without memory. */
bool world_init(world *w, const situ_problem *problem, arena *a);
/* The world of a running solver: each trial is offered to its incumbent and counts a step. False without memory. */
bool world_init_run(world *w, solve_run *run);

/* Units with the same number of group (0 .. n_units-1) become one unit. Units are numbered anew. */
void world_join(world *w, const int32_t *group);

/* Measures devices given by unit. SITU_NEVER_NS when invalid. The best is kept. */
int64_t world_try(world *w, const int32_t *device);

/* Whether the solver that the world belongs to must stop; false in a world of its own. */
bool world_over(const world *w);

/* The reward of a time: -sqrt(time / scale_ns), and -10 for an invalid trial (Zhou et al.; the scale is ours, so that
 * graphs of all sizes weigh alike in one policy). */
double world_reward(const world *w, int64_t time_ns);

/* Draws a device for each unit in turn from the softmax of its scores ([unit * n_devices]) over the devices that are
 * allowed and have room left; where none has, those with the most room are open. random NULL: the best score, ties to
 * the lower number. open ([unit * n_devices], may be NULL) says what was to choose from. A unit that cannot run goes to
 * device 0. */
void world_draw(world *w, const nn_real *score, rng *random, int32_t *device, bool *open);

/* The same unit by unit, for policies whose scores hang on what was drawn before: memories without anything; what is
 * open to unit u; a draw (n devices, random as above); unit u goes to device d. */
void world_empty(world *w);
void world_open(const world *w, int32_t u, bool *open);
int32_t world_choose(const nn_real *score, const bool *open, int32_t n, rng *random);
void world_put(world *w, int32_t u, int32_t d);

/* Adds to the statistics of its run: trials, invalid trials, mean time of the first and of the last WORLD_CURVE valid
 * trials, by which it shows whether a policy has learned. */
void world_report(const world *w);

#endif
