/* solve/pipeline/coarsen.h - which units of a hypergraph to merge, so that good partitions of the smaller hypergraph
 * are good for it too.
 *
 * Source: the heavy-edge first-choice clustering of multilevel partitioners (Karypis, Kumar, "Multilevel k-way
 * hypergraph partitioning", DAC 1999): units in random order, each joins the neighbour to which the most expensive
 * tensors connect it. */
#ifndef SITU_SOLVE_PIPELINE_COARSEN_H
#define SITU_SOLVE_PIPELINE_COARSEN_H

#include "base/rng.h"
#include "view/hypergraph.h"

typedef struct coarsen_rules {
  const int32_t *label; /* [unit] only units of one label join; NULL: any */
  int32_t n_wanted;     /* units after the merge */
  double max_time_ns;   /* of a merged unit, on the most common device */
} coarsen_rules;

/* Fills into[unit] with the number of its cluster and returns how many there are; -1 without memory. O(pins). */
int32_t coarsen_units(int32_t *into, const hypergraph *h, const coarsen_rules *rules, rng *random, arena *a);

#endif
