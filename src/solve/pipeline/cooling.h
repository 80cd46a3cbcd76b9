/* solve/pipeline/cooling.h - simulated annealing of a partition.
 *
 * The energy is a sum over devices: the excess of the load over a target, plus a small part of the load itself on
 * devices that pay for tensors, plus a penalty for missing memory. The target lies below the best known period, by an
 * amount that shrinks with the temperature: at high temperatures all nearly full devices count, at low ones only the
 * fullest. */
#ifndef SITU_SOLVE_PIPELINE_COOLING_H
#define SITU_SOLVE_PIPELINE_COOLING_H

#include "solve/common/search.h"
#include "solve/pipeline/partition.h"

typedef struct cooling {
  search base; /* scale: the period to beat, in nanoseconds, which the caller sets; rng and schedule too */
  partition now;
  int64_t best_ns; /* the minimum period of a partition that fits, so far; a caller lowers it to accept only better
                      ones */
  int32_t *best;   /* [unit] that partition, if there is one */
  double target_ns;
  double *slope;  /* [device] share of its load that counts below the target too */
  double *energy; /* [device] with its current units */
} cooling;

/* Makes a search of partitions of h, from no partition yet, at temperatures from hot to cold in units of scale.
 * NO_MEMORY or OK. */
situ_status cooling_init(cooling *c, const hypergraph *h, solve_run *run, rng random, double scale);
/* Starts from a partition, which may be the best one. */
void cooling_start(cooling *c, const int32_t *device);
/* Then search_cycle cools from base.schedule.hot to cold. */

#endif
