/* cost/training_split.h - operators of a training step split over the members of a group of devices: what
 * cost/tensor_split.h finds of the forward pass, and what follows from it for the others. */
#ifndef SITU_COST_TRAINING_SPLIT_H
#define SITU_COST_TRAINING_SPLIT_H

#include "cost/tensor_split.h"

/* The forward operator of which v is the gradient, the update or a copy; v itself in the forward pass; -1: none. */
int32_t training_split_forward(const situ_graph *graph, int32_t v);

/* Finds how each operator of a graph splits, of a training step or not: tensor_split_find, and the rest. */
bool training_split_find(tensor_split *out, const situ_graph *graph, arena *a);

/* The bytes of tensor t that k members hold together: as often as they are, unless each has its part of it. */
int64_t training_split_held_bytes(const tensor_split *split, int32_t t, int32_t k);

#endif
