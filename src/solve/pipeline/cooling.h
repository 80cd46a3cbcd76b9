/* solve/pipeline/cooling.h - simulated annealing of a partition.
 *
 * The energy is a sum over devices: the excess of the load over a target, plus a small part of the load itself on
 * devices that pay for tensors, plus a price of missing memory. The target lies below the best period known, by an
 * amount that shrinks with the temperature: when hot, all nearly full devices count; when cold, only the worst ones. */
#ifndef SITU_SOLVE_PIPELINE_COOLING_H
#define SITU_SOLVE_PIPELINE_COOLING_H

#include "base/budget.h"
#include "base/rng.h"
#include "solve/pipeline/partition.h"

enum { MOVES_OF_A_STEP = 64 };

typedef struct cooling {
  budget *budget; /* a step is MOVES_OF_A_STEP tried moves */
  rng *random;
  partition now;
  int64_t best_ns; /* the minimum period of a partition that fits, so far; lower it to accept only better ones */
  int32_t *best;   /* [unit] that partition, once there is one */
  double goal_ns;  /* the period to beat */

  double temperature_ns, target_ns;
  double *slope;  /* [device] part of its load that counts at any size */
  double *energy; /* [device] of its current units */
} cooling;

/* Room for partitions of a hypergraph; the fields down to goal_ns but for `now` are the caller's. False without memory.
 */
bool cooling_init(cooling *c, const hypergraph *h, arena *a);
/* Starts from a partition, which may be the best one. */
void cooling_start(cooling *c, const int32_t *device);
/* Cools from one temperature to another, both as parts of goal_ns, over that many tried moves or until the budget is
 * spent. */
void cooling_run(cooling *c, double hot, double cold, int64_t n_moves);

#endif
