/* solve/common/walks.h - parallel searches: independent walks, combined in their order (multiple-walk parallelism:
 * Verhoeven, Aarts, Journal of Heuristics 1995). The result does not depend on the number of threads.
 * docs/theory/heuristics/walks.md. */
#ifndef SITU_SOLVE_COMMON_WALKS_H
#define SITU_SOLVE_COMMON_WALKS_H

#include "solve/common/solver.h"

enum { WALKS_ROWS = 16 };

/* One walk. `run` is its own: simulator, arena, seed, a part of the budget, an incumbent that starts as the best plan
 * of all. It may modify the part of `context` for its number, and read the rest. */
typedef situ_status walk_function(solve_run *run, void *context, int32_t number);

/* Runs n walks on run->threads threads, each with an equal part of `share` (0 .. 1) of the remaining budget and a seed
 * drawn from `seeds`. *n_counted: how many count; those after one that met the bound do not. */
situ_status walks_run(solve_run *run, walk_function *walk, void *context, int32_t n, double share, rng *seeds,
                      int32_t *n_counted);

/* How many walks side by side are wanted: with a limit of steps as many as `fixed`, on any number of threads; else one
 * for each thread. */
int32_t walks_wanted(const solve_run *run, int32_t fixed);

/* Who takes part in rounds: rows that are multistart, at least one, and exact rows. */
typedef struct walks_cast {
  const solver *search[WALKS_ROWS], *proof[WALKS_ROWS];
  int32_t n_searches, n_proofs;
} walks_cast;

/* Runs the starts of the searches, then rounds until the budget is spent or the gap closed: of streams each four times
 * as long as the one before. In a round each search goes on from the best plan so far, then each proof begins anew
 * below it. Streams: after a round without gain the searches of the next one begin again from the plan before all
 * rounds, in several walks that do not know the best one. The searches of a round run one after the other where its
 * steps are few, or one thread has no limit of steps, and those of streams that gain have a second turn; else side by
 * side. What proofs of streams leave of the last round, searches have. */
situ_status walks_rounds(solve_run *run, const walks_cast *all);
/* The same for one search alone: solve_run.rounds. */
situ_status walks_rounds_of(solve_run *run, const solver *s);

#endif
