/* situ/graph.h - the operator graph: a directed acyclic graph of operators joined by tensors.
 *
 * A graph is built once by a builder, frozen, and then only read. Freezing renumbers the operators so that their
 * index order is a topological order (the order of the builder where that is topological), and numbers the tensors
 * by their producer: the tensors of operator v are consecutive.
 *
 * A tensor has one producer and any number of consumers; it is a hyperedge. Inputs of the whole model and weights are
 * not tensors here: weights are bytes that stay with their operator, and model inputs count as present wherever they
 * are needed. */
#ifndef SITU_GRAPH_H
#define SITU_GRAPH_H

#include <stdbool.h>

#include "situ/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_graph situ_graph;
typedef struct situ_graph_builder situ_graph_builder;

/* Limits of the builder: beyond them adding fails with SITU_STATUS_BAD_INPUT. */
#define SITU_MAX_OPERATORS 50000000
#define SITU_MAX_TENSORS 100000000
#define SITU_MAX_USES 500000000

/* An operator as given to a builder and as returned by a frozen graph. Strings given to a builder are copied; strings
 * returned by a graph belong to it. */
typedef struct situ_operator {
  const char *name;        /* unique in the graph; NULL or "" lets the builder make one from kind and number */
  const char *kind;        /* "Conv", "MatMul", ...; NULL means "Operator" */
  const char *layer;       /* the layer or module that it is part of, or NULL */
  situ_phase phase;        /* forward, backward or update */
  situ_dtype dtype;        /* the type that it computes in; selects the peak rate of a device */
  int64_t weight_bytes;    /* weights and other state that must stay on its device; >= 0 */
  int64_t workspace_bytes; /* scratch memory while it runs; >= 0 */
  int64_t flops;           /* floating point (or integer multiply-add) operations; >= 0 */
  int64_t moved_bytes;     /* bytes read and written, weights included; >= 0 */
  int64_t source_id;       /* the identity it has in its file, or -1 */
  int32_t colocation;      /* all operators with the same number >= 0 share a device; -1 for none */
  bool inferred;           /* false when shapes or kind were not understood, so that flops and bytes are lower bounds */
} situ_operator;

typedef struct situ_tensor {
  const char *name; /* may be NULL; need not be unique */
  situ_dtype dtype;
  int32_t rank;        /* number of dimensions; -1 when unknown */
  const int64_t *dims; /* rank entries, -1 where unknown; may be NULL when rank <= 0 */
  int64_t size_bytes;  /* >= 0 */
} situ_tensor;

/* A new, empty builder for a model of that name (copied). Free it with situ_graph_builder_free. */
SITU_API situ_status situ_graph_builder_new(situ_graph_builder **out, const char *model, situ_error *error);
SITU_API void situ_graph_builder_free(situ_graph_builder *builder);

/* Adds an operator; *index (may be NULL) is its number for the calls below. */
SITU_API situ_status situ_graph_builder_add_operator(situ_graph_builder *builder, const situ_operator *op,
                                                     int32_t *index, situ_error *error);
/* Adds a tensor that operator `producer` makes; *index (may be NULL) is its number for the call below. */
SITU_API situ_status situ_graph_builder_add_tensor(situ_graph_builder *builder, int32_t producer,
                                                   const situ_tensor *tensor, int32_t *index, situ_error *error);
/* States that operator `consumer` reads `tensor`. Stating it twice has no further effect. */
SITU_API situ_status situ_graph_builder_add_use(situ_graph_builder *builder, int32_t consumer, int32_t tensor,
                                                situ_error *error);

/* Freezes what was built. The builder is unchanged and still has to be freed. Fails with BAD_INPUT when the graph has a
 * cycle (the error names an operator on it) or when two operators have the same name. O(V + E). */
SITU_API situ_status situ_graph_freeze(situ_graph **out, const situ_graph_builder *builder, situ_error *error);
SITU_API void situ_graph_free(situ_graph *graph);

SITU_API const char *situ_graph_model(const situ_graph *graph);
SITU_API int32_t situ_graph_n_operators(const situ_graph *graph);
SITU_API int32_t situ_graph_n_tensors(const situ_graph *graph);
/* The number of (tensor, consumer) pairs. */
SITU_API int64_t situ_graph_n_uses(const situ_graph *graph);
/* The number of distinct (producer, consumer) pairs. */
SITU_API int64_t situ_graph_n_edges(const situ_graph *graph);

/* The description of operator `index` (0 <= index < n_operators) and of tensor `index`. */
SITU_API situ_operator situ_graph_operator(const situ_graph *graph, int32_t index);
SITU_API situ_tensor situ_graph_tensor(const situ_graph *graph, int32_t index);
SITU_API int32_t situ_graph_tensor_producer(const situ_graph *graph, int32_t tensor);
/* Tensors made by an operator: *first and the count returned; they are consecutive. */
SITU_API int32_t situ_graph_outputs(const situ_graph *graph, int32_t op, int32_t *first);
/* Tensors read by an operator, ascending and distinct; *tensors is borrowed. */
SITU_API int32_t situ_graph_inputs(const situ_graph *graph, int32_t op, const int32_t **tensors);
/* Operators that read a tensor, ascending and distinct; *operators is borrowed. */
SITU_API int32_t situ_graph_users(const situ_graph *graph, int32_t tensor, const int32_t **operators);
/* The operator of that name, or -1. O(1) on average. */
SITU_API int32_t situ_graph_find(const situ_graph *graph, const char *name);

#ifdef __cplusplus
}
#endif
#endif
