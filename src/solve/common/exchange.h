/* solve/common/exchange.h - what the ranks of a solve tell each other: plans, bounds and their proofs, whole numbers.
 * Alone, each function is what it is for one. All ranks call each as the next; who decides by the clock whether to call
 * one decides by exchange_best. docs/theory/heuristics/walks.md. */
#ifndef SITU_SOLVE_COMMON_EXCHANGE_H
#define SITU_SOLVE_COMMON_EXCHANGE_H

#include "bound/bound.h"
#include "ranks/islands.h"
#include "ranks/pack.h"
#include "solve/common/solver.h"

/* Sees that all solve the same problem with the same options, of which `more` stands for those that are not in the run,
 * and counts the threads of all (solve_run.at_once). BAD_ARGUMENT where they differ. */
situ_status exchange_meet(solve_run *run, uint64_t more);
/* Afterwards all have the best plan and the best bound of all; who has one as good keeps it. *done is the same for all:
 * the gap is closed, or the budget of one is spent. */
situ_status exchange_best(solve_run *run, bool *done);
/* *value becomes that of rank 0. */
situ_status exchange_whole(solve_run *run, int64_t *value);

/* Runs all bounds of the problem, or of a view of it, each on one rank. Those of a rank that is lost are run by others;
 * with a limit of time they are left out. */
situ_status exchange_bounds(bound_result results[BOUNDS], solve_run *run, const situ_problem *problem, arena *proofs);

/* What is told. */
typedef enum exchange_kind {
  EXCHANGE_MEET = 1,
  EXCHANGE_BEST,
  EXCHANGE_WHOLE,
  EXCHANGE_WALKS,
  EXCHANGE_BOUNDS
} exchange_kind;
/* islands_gather, which ends where the user stops the solve and for rank 0 soon after the limit of time, and logs who
 * was lost. */
situ_status exchange_gather(solve_run *run, islands_given *given, exchange_kind kind, const text_buffer *bytes);
/* An incumbent as bytes, and back into one that was made for the same problem: plan, value, bound, proof and
 * statistics. */
void exchange_pack(text_buffer *to, const incumbent *i, const situ_problem *problem);
situ_status exchange_unpack(incumbent *i, unpack *from, const situ_problem *problem, islands *all, situ_error *error);

#endif
