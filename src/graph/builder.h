/* graph/builder.h - the builder as readers use it: every call says whether it worked. The public calls
 * (situ/graph.h) keep the first failure instead. */
#ifndef SITU_GRAPH_BUILDER_H
#define SITU_GRAPH_BUILDER_H

#include "situ/graph.h"

/* As their public twins; *index may be NULL. op->size and tensor->size do not matter. */
situ_status builder_add_operator(situ_graph_builder *builder, const situ_operator *op, int32_t *index,
                                 situ_error *error);
situ_status builder_add_tensor(situ_graph_builder *builder, int32_t producer, const situ_tensor *tensor, int32_t *index,
                               situ_error *error);
situ_status builder_add_use(situ_graph_builder *builder, int32_t consumer, int32_t tensor, situ_error *error);

/* States a guess about operator `op`, which may be added later, or about all (GUESS_OF_ALL of graph/graph.h). Guesses
 * of one kind and subject are one. An operator that is not `inferred` and of which nothing was stated gets one when the
 * builder freezes: of its kind where src/ops does not know that, else of its shapes. */
situ_status builder_add_guess(situ_graph_builder *builder, situ_guess_kind kind, const char *subject, int32_t op,
                              situ_error *error);
/* The tensors of a graph and their uses, for operators that were added as its own from number `first` on. */
situ_status builder_add_tensors_of(situ_graph_builder *builder, const situ_graph *graph, int32_t first,
                                   situ_error *error);
/* The guesses of a graph about what is made of its operators: those about v hold for to[v] + shift (to[v] -1: for none;
 * NULL: v + shift). */
situ_status builder_add_guesses_of(situ_graph_builder *builder, const situ_graph *graph, const int32_t *to,
                                   int32_t shift, situ_error *error);

#endif
