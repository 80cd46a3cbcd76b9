/* solve/pipeline/cooling.h - simulated annealing of a partition.
 *
 * The energy is a sum over devices: the excess of the load over a target, plus a small part of the load itself on
 * devices that pay for tensors, plus a penalty for missing memory. The target lies below the best known period, by an
 * amount that shrinks with the temperature: at high temperatures all nearly full devices count, at low ones only the
 * fullest. */
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
  int64_t
      best_ns; /* the minimum period of a partition that fits, so far; a caller lowers it to accept only better ones */
  int32_t *best;  /* [unit] that partition, if there is one */
  double goal_ns; /* the period to beat */

  double temperature_ns, target_ns;
  double *slope;  /* [device] share of its load that counts below the target too */
  double *energy; /* [device] with its current units */
} cooling;

/* Allocates for partitions of a hypergraph; the caller sets the fields down to goal_ns except `now`. False without
 * memory. */
bool cooling_init(cooling *c, const hypergraph *h, arena *a);
/* Starts from a partition, which may be the best one. */
void cooling_start(cooling *c, const int32_t *device);
/* Cools from one temperature to another, both as multiples of goal_ns, for n_moves tried moves or until the budget is
 * spent. */
void cooling_run(cooling *c, double hot, double cold, int64_t n_moves);

#endif
