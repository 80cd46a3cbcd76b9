/* solve/stream/baechi.h - earliest start with memory, as in Baechi (Jeon et al., SoCC 2020): what m_etf and m_sct
 * share.
 *
 * The schedule is made once for each choice of three, and the best by simulation stays: units are those of the problem
 * or co-placed ones (view/level.h); hosts are devices like others, or only take what nothing else can (Baechi knows
 * accelerators only, and earliest start fills slow devices like fast ones); where links serve one transfer
 * at a time, transfers wait for their channels or do not. */
#ifndef SITU_SOLVE_STREAM_BAECHI_H
#define SITU_SOLVE_STREAM_BAECHI_H

#include "solve/common/solver.h"

/* Finds the favourite consumer of each operator, or -1, for these units. */
typedef situ_status favourites_finder(int32_t *favourite, solve_run *run, const unit_list *units);

/* find may be NULL: there are no favourites. */
situ_status baechi_solve(solve_run *run, favourites_finder *find);

#endif
