/* view/footprint.h - the bytes of an operator that the memory rules of the pipeline and calls models add up
 * (docs/model.md). Sums saturate. */
#ifndef SITU_VIEW_FOOTPRINT_H
#define SITU_VIEW_FOOTPRINT_H

#include "problem/problem.h"

/* While it runs: workspace + inputs + outputs. */
int64_t footprint_bytes(const situ_graph *g, int32_t v);

/* Of the outputs of a forward operator, those that an operator of another phase uses; 0 for other operators. */
int64_t footprint_stash_bytes(const situ_graph *g, int32_t v);

/* While it runs in a training step, of its one input, beside the stash and what is recomputed. */
int64_t footprint_transient_bytes(const situ_graph *g, int32_t v);

/* Of the outputs of an operator, those that stay in a stream to its end or for long: without users, and the stash. */
int64_t footprint_staying_bytes(const situ_graph *g, int32_t v);

/* The memory that operator v needs on its device in a pipeline: permanently (weights, and the stash of all inputs in
 * flight), and while it runs. The latter is the transient bytes and what is recomputed for its segment where something
 * is trained, however many inputs are kept, else the footprint for each input in flight. Over all operators of a device
 * the first adds up, and the maximum of the second counts. */
int64_t footprint_held_bytes(const situ_problem *p, int32_t v);
int64_t footprint_running_bytes(const situ_problem *p, int32_t v);

/* Whether loads and memory of a pipeline follow from what each device holds alone: accelerators have memories of their
 * own, and hosts share one only where it has no limit. Devices that no plan may use do not count. O(V + devices^2). */
bool footprint_is_per_device(const situ_problem *p);

/* Whether memories that share a capacity might exceed it together, though each of them fits. O(V + E). */
bool footprint_pools_bind(const situ_problem *problem);
/* Whether no stream plan can take more room than there is: every memory could hold all weights, tensors and workspaces
 * at once. */
bool footprint_fits_always(const situ_problem *p);

#endif
