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

#endif
