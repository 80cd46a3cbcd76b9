/* solve/stream/chain_labels.h - label setting along a chain of layers, for searches of plans of a form. */
#ifndef SITU_SOLVE_STREAM_CHAIN_LABELS_H
#define SITU_SOLVE_STREAM_CHAIN_LABELS_H

#include "solve/common/solver.h"

/* Whether labels are applicable: the latency of one input, at most 32 devices. If operators overlap, labels are lower
 * bounds, like the chain. */
bool chain_labels_takes(const situ_problem *problem);

/* The search of the row `chain_labels`. With a form, labels represent plans that have it, in which each layer, the
 * experts of each layer, and the operators before and after the layers are units, as in solve/answer/form_search.h. */
situ_status chain_labels_run(solve_run *run);

#endif
