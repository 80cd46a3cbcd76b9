/* api/granularity.h - what must stay together, as keys of operators (situ_problem_options.keep_together). */
#ifndef SITU_API_GRANULARITY_H
#define SITU_API_GRANULARITY_H

#include "graph/graph.h"
#include "situ/instance.h"

/* Whether the graph looks like an autoregressive language model: at least two layers, each with attention (a kind named
 * Softmax or ...Attention...), an embedding lookup before them (Gather, Embed...), and after them a product (MatMul,
 * Gemm, ...) whose last dimension is a vocabulary, 1000 or more. An encoder with a vocabulary head also counts. */
bool granularity_is_decoder(const situ_graph *graph, arena *scratch);

/* Fills keys ([operator]): those of one layer, or block, have the same key, operators outside have -1; with other
 * granularities all have -1. Routed experts of a layer ("Experts..." kinds) have a key of their own, since engines can
 * place them elsewhere; operators that `joined` (disjoint sets of operators, base/disjoint.h: kernels, runs of split
 * operators) keeps with them have it too. `which` is not SITU_GRANULARITY_DEFAULT. Returns the number of keys; -1
 * without memory. */
int32_t granularity_keys(int32_t *keys, const situ_graph *graph, situ_granularity which, int32_t *joined,
                         arena *scratch);

#endif
