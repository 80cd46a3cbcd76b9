/* solve/pipeline/relaxed.h - proofs that no plan has a period of U or less, from a coarser problem (coarse.h).
 *
 * A dynamic program over the ideals A of the coarse problem, with the maximum price X that the used devices may hold:
 *
 *     X[s + e_t][A] = max over A' < A of min(X[s][A'] + room_t(U - transfers of A \ A'), the price of all that is not
 * after A)
 *
 * where that is at least the price before A; otherwise A is unreachable. If the full ideal is unreachable in every
 * state, there is no such plan. */
#ifndef SITU_SOLVE_PIPELINE_RELAXED_H
#define SITU_SOLVE_PIPELINE_RELAXED_H

#include "solve/pipeline/ideals.h"

/* *refuted: whether that is proved with about max_work of work, counted as in ideals_find. False without memory. */
bool relaxed_refutes(bool *refuted, boundary_ranges *coarse, int64_t max_ns, int64_t max_work, int64_t max_bytes,
                     budget *b);

#endif
