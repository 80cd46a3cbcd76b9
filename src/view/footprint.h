/* view/footprint.h - the bytes of an operator that the memory rules of the pipeline and calls models add up
 * (docs/model.md). Sums saturate. */
#ifndef SITU_VIEW_FOOTPRINT_H
#define SITU_VIEW_FOOTPRINT_H

#include "problem/problem.h"

/* While it runs: workspace + inputs + outputs. */
int64_t footprint_bytes(const situ_graph *g, int32_t v);

/* Of the outputs of a forward operator, those that an operator of another phase uses; 0 for other operators. */
int64_t footprint_stash_bytes(const situ_graph *g, int32_t v);

/* Whether no stream plan can take more room than there is: every memory could hold all weights, tensors and workspaces
 * at once. */
bool footprint_fits_always(const situ_problem *p);

#endif
