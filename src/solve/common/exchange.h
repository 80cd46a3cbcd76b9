/* solve/common/exchange.h - what the ranks of a solve exchange: plans, bounds and their proofs, integers. In a single
 * process each function is trivial. All ranks must make the same calls in the same order; if a call depends on the
 * clock, the decision must be made with exchange_best. docs/theory/heuristics/walks.md. */
#ifndef SITU_SOLVE_COMMON_EXCHANGE_H
#define SITU_SOLVE_COMMON_EXCHANGE_H

#include "bound/bound.h"
#include "ranks/islands.h"
#include "ranks/pack.h"
#include "solve/common/solver.h"

/* Verifies that all ranks solve the same problem with the same options (`more` is a hash of options that are not in the
 * run), and counts the threads of all (solve_run.at_once). BAD_ARGUMENT if they differ. */
situ_status exchange_meet(solve_run *run, uint64_t more);
/* Afterwards all have the best plan and the best bound of all; a rank with an equally good one keeps it. *done is the
 * same for all: the gap is closed, or the budget of one rank is spent. */
situ_status exchange_best(solve_run *run, bool *done);
/* *value becomes that of rank 0. */
situ_status exchange_int(solve_run *run, int64_t *value);

/* Runs all bounds of the problem, or of a view of it, each on one rank. Those of a rank that is lost are run by others;
 * with a limit of time they are left out. */
situ_status exchange_bounds(bound_result results[BOUNDS], solve_run *run, const situ_problem *problem, arena *proofs);

/* The message. */
typedef enum exchange_kind {
  EXCHANGE_MEET = 1,
  EXCHANGE_BEST,
  EXCHANGE_INT,
  EXCHANGE_WALKS,
  EXCHANGE_BOUNDS
} exchange_kind;
/* islands_gather, which ends if the user stops the solve, on rank 0 also soon after the time limit, and logs lost
 * ranks. */
situ_status exchange_gather(solve_run *run, islands_given *given, exchange_kind kind, const text_buffer *bytes);
/* An incumbent as bytes, and back into one that was made for the same problem: plan, value, bound, proof and
 * statistics. */
void exchange_pack(text_buffer *to, const incumbent *i, const situ_problem *problem);
situ_status exchange_unpack(incumbent *i, unpack *from, const situ_problem *problem, islands *all, situ_error *error);

#endif
