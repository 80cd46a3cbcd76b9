/* bound/latency_program.h - one input of a stream without contention as a linear program in whole numbers.
 *
 *     min C
 *     (1) sum over d of x[u,d] = 1
 *     (2) sum over w of z[i,j,m,w] = sum over d in m of x[i,d];  sum over m of z[i,j,m,w] = sum over d in w of x[j,d]
 *     (3) s[j] >= s[i] + sum over d of p[i,d] x[i,d] + sum over m, w of c[i,j,m,w] z[i,j,m,w]     j uses a tensor of i
 *     (6) C >= s[i] + sum over d of (p[i,d] + g[i,d]) x[i,d];  s[i] >= sum over d of (f[i,d] - p[i,d]) x[i,d]
 *     (7) C >= sum over i of p[i,d] x[i,d]
 *     (8) sum of weights on the devices of a memory <= its capacity
 *
 * where units u are those of the problem, x[i,d] is that of i's unit, f and g are the heads and tails of the critical
 * path (bound/bound.h), and z, the product of both ends' x, is continuous (the local polytope). x[i,d] is left out
 * where i may not run on d or f + g is above the known value. Every plan of that value or less is a solution,
 * contention or not: the value of this program is a bound. With x whole and the rows of baselines/milp_stream.c that
 * part operators of one device, it is the optimum where there is neither contention nor memory over time.
 * docs/theory/baselines/milp.md. */
#ifndef SITU_BOUND_LATENCY_PROGRAM_H
#define SITU_BOUND_LATENCY_PROGRAM_H

#include "lp/program.h"
#include "problem/problem.h"

typedef struct latency_program {
  const situ_problem *problem;
  int64_t upper_ns;     /* no plan of interest takes longer */
  int32_t makespan;     /* column */
  int32_t *x;           /* [unit * n_devices + device] column, -1: not there */
  int32_t *start;       /* [operator] column */
  int64_t *head, *tail; /* [operator * n_devices + device], of the critical path */

  /* Rows by their subject; -1: no such row. Uses of a tensor are positions in graph->in; the first of several uses
   * between the same operators represents all. */
  int32_t *edge_row; /* [use] row (3) */
  int32_t *from_row; /* [use] first row (2) of the producer, one for each memory; those of the user follow */
  int32_t *tail_row; /* [operator] rows (6): this, and its head's is the next */
  int32_t *area_row; /* [device] row (7) */
  int32_t *room_row; /* [memory] row (8) */
} latency_program;

/* Whether times and sizes are moderate, and the program has about `max_entries` at most. */
bool latency_program_fits(const situ_problem *problem, int64_t max_entries);
/* Writes rows (1) to (8). Columns of x are whole where asked for. False without memory. */
bool latency_program_write(latency_program *out, program *p, const situ_problem *problem, int64_t upper_ns, bool whole,
                           arena *a);
/* The column of x for an operator. */
static inline int32_t latency_x(const latency_program *l, int32_t v, int32_t d) {
  return l->x[(int64_t)l->problem->units.of[v] * l->problem->n_devices + d];
}

#endif
