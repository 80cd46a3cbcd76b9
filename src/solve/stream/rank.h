/* solve/stream/rank.h - priorities of operators for list scheduling.
 *
 * Upward rank (Topcuoglu, Hariri, Wu, TPDS 2002, eq. 5): rank_u(v) = w(v) + max over users x of (c(v,x) + rank_u(x)),
 * downward rank (eq. 7): rank_d(v) = max over producers u of (rank_d(u) + w(u) + c(u,v)). w and c are one number per
 * operator and tensor, derived from those of all devices in one of the ways below; for a tensor, over the ordered pairs
 * of different devices. */
#ifndef SITU_SOLVE_STREAM_RANK_H
#define SITU_SOLVE_STREAM_RANK_H

#include "problem/problem.h"

typedef enum rank_weight {
  RANK_MEAN = 0,
  RANK_MIN,
  RANK_MAX,
  RANK_SPREAD,
  RANK_NO_TRANSFER,
  N_RANK_WEIGHTS
} rank_weight;

/* The inputs of ranks: w[operator], c[tensor], in nanoseconds. */
typedef struct rank_costs {
  double *work, *transfer;
} rank_costs;

/* MEAN: w and c are means. MIN: the minimum w and c. MAX: the maximum. SPREAD: w is the standard deviation over the
 * devices added to the mean, c the mean. NO_TRANSFER: w is the mean, c is 0. False without memory. */
bool rank_costs_find(rank_costs *out, arena *a, const situ_problem *problem, rank_weight weight);

void rank_upward(double *rank, const situ_problem *problem, const rank_costs *costs);
void rank_downward(double *rank, const situ_problem *problem, const rank_costs *costs);

/* The operators by descending rank, ties by number: a topological order when no user outranks its producer. */
bool rank_order(int32_t *order, arena *scratch, const double *rank, int32_t n);

/* The longest time from the start of each operator to the end of everything, transfers included: the upward rank for
 * given devices. At least that of each consumer. */
void rank_tail(double *tail, const situ_problem *problem, const int32_t *device);

#endif
