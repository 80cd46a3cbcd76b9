/* cost/tensor_split.h - operators split over the members of a group of devices (tensor parallelism).
 *
 * M. Shoeybi et al., "Megatron-LM: Training Multi-Billion Parameter Language Models Using Model Parallelism", 2019: a
 * product splits by columns where every member has its whole input, by rows where each has a part of it. Columns need
 * no communication; rows leave each member a term of the sum, which an all-reduce adds up. What lies between (attention
 * by heads, activations by element) is split like its input, and what cannot be split runs whole on every member. Rules
 * by kind of operator, and why each is legal: docs/theory/models/groups.md. */
#ifndef SITU_COST_TENSOR_SPLIT_H
#define SITU_COST_TENSOR_SPLIT_H

#include "base/arena.h"
#include "graph/graph.h"
#include "situ/platform.h"

/* What a member of a group has of a tensor: all of it, a part, or a term of a sum. */
typedef enum tensor_holding { HOLDS_ALL, HOLDS_PART, HOLDS_TERM } tensor_holding;

typedef struct tensor_split {
  const situ_graph *graph; /* borrowed */
  int64_t *ways; /* [operator] the most members that have equal parts of it (heads, columns); 1: it is whole */
  /* [operator] bytes that members put together for its users: sums of terms, or a tensor of which each has a part. */
  int64_t *reduced_bytes, *gathered_bytes;
  bool *scattered; /* [operator] no member has its outputs whole: its users are on the same group */
  /* [operator] tensor_holding: of its outputs when it has run, and of what its users get. */
  uint8_t *made, *given;
} tensor_split;

/* Finds how each forward operator of a graph splits, in one pass in topological order; others are whole
 * (cost/training_split.h knows them). O(V + E). Arrays in the arena. False without memory. */
bool tensor_split_find(tensor_split *out, const situ_graph *graph, arena *a);

/* The part of operator v that the busiest of k members has: 1 where it is whole. Eight heads on three members are
 * three, three and two. */
static inline double tensor_split_share(const tensor_split *s, int32_t v, int32_t k) {
  return (double)((s->ways[v] + k - 1) / k) / (double)s->ways[v];
}

/* The same for member i of k with these shares ([k], sum 1). Whole units (heads, columns) are assigned in order, with
 * rounded boundaries. */
double tensor_split_part(const tensor_split *s, int32_t v, const double *share, int32_t k, int32_t i);

/* Joins operators with those that leave them parts or terms, in disjoint sets of [operator] (base/disjoint.h). */
void tensor_split_join(const tensor_split *split, int32_t *into);

/* Bytes that the members of a group of k hold beyond one copy of the model: weights that they do not share evenly, and
 * tensors that are whole on each, as many as one device with the whole model holds at once. */
int64_t tensor_split_extra_bytes(const tensor_split *s, int32_t k);

/* The same of member i of k with such shares: beyond its share of what all hold. */
int64_t tensor_split_member_bytes(const tensor_split *s, const double *share, int32_t k, int32_t i);

/* The same with sums of many 32-bit numbers, of a prompt rather than of a token, that k members of a group send in 16
 * bits: llama.cpp with NCCL, ik_llama.cpp. The arrays of the result but one are those of `from`. False without memory.
 */
bool tensor_split_narrow(tensor_split *out, const tensor_split *from, int32_t k, arena *a);

/* Time of the collectives of operator v on a device that is a group; 0 on others. An all-reduce by recursive doubling
 * or by halving and doubling, whichever is faster: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective
 * Communication Operations in MPICH", IJHPCA 19(1), 2005; `engine_ns` is what the engine adds to each. */
int64_t tensor_split_collective_ns(const tensor_split *s, int32_t v, const situ_device *device, int64_t engine_ns);

#endif
