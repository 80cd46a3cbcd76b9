/* solve/stream/chain_labels.h - labels along a chain of layers, for who looks for plans of a form. */
#ifndef SITU_SOLVE_STREAM_CHAIN_LABELS_H
#define SITU_SOLVE_STREAM_CHAIN_LABELS_H

#include "solve/common/solver.h"

/* Whether labels can be made at all: the latency of one input, at most 32 devices. Where operators overlap they bound
 * values from below, as the chain does. */
bool chain_labels_takes(const situ_problem *problem);

/* The search of the row `chain_labels`. With a form, labels are of plans that have it, whose layers, experts of layers,
 * and what comes before and behind are units each, as in solve/formed.h. */
situ_status chain_labels_run(solve_run *run);

#endif
