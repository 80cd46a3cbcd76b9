/* solve/pipeline/relaxed.h - proofs that no plan has a period of U or less, from a coarser problem (coarse.h).
 *
 * A dynamic program over the ideals A of the coarse problem, with the greatest price X that the devices used may hold:
 *
 *     X[s + e_t][A] = max over A' < A of min(X[s][A'] + room_t(U - transfers of A \ A'), all that is not after A)
 *
 * as far as that is at least what is before A. Where everything is out of reach, there is no plan. */
#ifndef SITU_SOLVE_PIPELINE_RELAXED_H
#define SITU_SOLVE_PIPELINE_RELAXED_H

#include "solve/pipeline/ideals.h"

/* Says in *refuted whether that is proved, with at most about most_work of work, counted as in ideals_find. False
 * without memory. */
bool relaxed_refutes(bool *refuted, boundary_ranges *coarse, int64_t most_ns, int64_t most_work, int64_t most_bytes,
                     budget *b);

#endif
