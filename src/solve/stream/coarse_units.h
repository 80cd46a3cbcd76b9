/* solve/stream/coarse_units.h - larger units than the problem's, for searches of large stream problems.
 *
 * Source: the heavy-edge first-choice clustering of multilevel partitioners (Karypis, Kumar, "Multilevel k-way
 * hypergraph partitioning", DAC 1999), on operators and tensors: a unit joins the neighbour to which the most expensive
 * transfers relative to its work connect it. The graph stays as it is: a plan of the coarse units is a plan of the
 * problem. */
#ifndef SITU_SOLVE_STREAM_COARSE_UNITS_H
#define SITU_SOLVE_STREAM_COARSE_UNITS_H

#include "problem/problem.h"
#include "solve/stream/rank.h"

typedef struct coarse_rules {
  double max_work_ns; /* of a joined unit, mean times */
  int64_t max_bytes;  /* of its weights and outputs */
} coarse_rules;

/* Joins units of `fine` (unions of units of p) that all classes of devices treat alike; those with pins stay as they
 * are. O(V + E), sorting aside. False without memory. */
bool coarse_units_find(unit_list *out, const situ_problem *p, const unit_list *fine, const rank_costs *costs,
                       const coarse_rules *rules, arena *a);

/* Levels of larger and larger units, of about 32,768, 8,192, 2,048, 512, 128 and 32, as far as they are fewer than
 * those of the problem; a unit of a level with k units has at most 1/k of all work, and at most 1/16 of the smallest
 * memory. */
enum { COARSE_LEVELS = 6 };
typedef struct coarse_levels {
  unit_list of[COARSE_LEVELS]; /* the coarsest last */
  int32_t n;
} coarse_levels;
bool coarse_levels_find(coarse_levels *out, const situ_problem *p, const rank_costs *costs, arena *a);

/* Puts each unit on the device of most of its work if that is allowed, else on that of its first operator. */
void coarse_units_gather(int32_t *device, const situ_problem *p, const unit_list *units, const rank_costs *costs,
                         double *scratch /* [device] */);

#endif
