/* api/granularity.h - what must stay together, as keys of operators (situ_problem_options.keep_together). */
#ifndef SITU_API_GRANULARITY_H
#define SITU_API_GRANULARITY_H

#include "graph/graph.h"
#include "situ/instance.h"

/* Whether the graph is that of a language model that makes one token after the other: at least two layers, each with
 * attention (a kind named Softmax or ...Attention...), an embedding looked up before them (Gather, Embed...), and after
 * them a product (MatMul, Gemm, ...) whose last dimension is a vocabulary, 1000 or more. An encoder whose head is a
 * vocabulary is taken for one too. */
bool granularity_is_decoder(const situ_graph *graph, arena *scratch);

/* Fills keys ([operator]): those of one layer, or block, have the same key, operators outside have -1; with other
 * granularities all have -1. Routed experts of a layer ("Experts..." kinds) have a key of their own: engines can hold
 * them elsewhere; what `kernel` ([operator] what the costs fuse, -1: nothing; NULL: none) fuses with them has it too.
 * `which` is not SITU_GRANULARITY_DEFAULT. Returns how many keys there are; -1 without memory. */
int32_t granularity_keys(int32_t *keys, const situ_graph *graph, situ_granularity which, const int32_t *kernel,
                         arena *scratch);

#endif
