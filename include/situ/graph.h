/* situ/graph.h - the operator graph: a directed acyclic graph of operators connected by tensors.
 *
 * A graph is built once by a builder, frozen, and then only read. Freezing renumbers the operators so that their index
 * order is a topological order (the builder's order if that is topological), and numbers the tensors by producer: the
 * tensors of operator v are consecutive.
 *
 * A tensor has one producer and any number of consumers; it is a hyperedge. Model inputs and weights are not tensors
 * here: weights are bytes that stay with their operator, and model inputs are assumed to be present wherever they are
 * needed.
 *
 * A graph is frozen: any number of threads may read it. A builder may be used by one thread at a time. Strings given to
 * a builder are copied; strings and arrays returned by a graph belong to it. */
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

/* What a reader guessed where the file does not say it. Later versions may name more. */
typedef enum situ_guess_kind {
  SITU_GUESS_KIND = 0,  /* a kind of operators without a rule that counts its work; subject: the kind */
  SITU_GUESS_SHAPE,     /* dimensions that nothing determines count as 1; subject: the kind of the operators */
  SITU_GUESS_SIZE,      /* an open dimension got a size that nobody gave; subject: the dimension */
  SITU_GUESS_CONTROL,   /* how often a loop runs, or which branch is taken; subject: the operator */
  SITU_GUESS_TYPE,      /* an element type; subject: the kind of the operators, or the tensor */
  SITU_GUESS_PACKING,   /* how weights are packed; subject: the tensor */
  SITU_GUESS_ROLE,      /* what a tensor of weights is used for; subject: the tensor */
  SITU_GUESS_STRUCTURE, /* what the weights of a network do not show (heads, experts); subject: that */
  SITU_GUESS_WORK       /* FLOPs and bytes, from something else; subject: the kind of the operators */
} situ_guess_kind;
/* "kind", "shape", ...; "unknown" for any other value. Static storage. */
SITU_API const char *situ_guess_kind_name(situ_guess_kind kind);

/* An operator as given to a builder and as returned by a frozen graph. */
typedef struct situ_operator {
  size_t size;
  const char *name;        /* unique in the graph; if it is NULL, "" or not UTF-8, the builder makes one from kind and
                              number */
  const char *kind;        /* "Conv", "MatMul", ...; NULL means "Operator"; bytes that are not UTF-8 become '?' */
  const char *layer;       /* the layer or module that it belongs to, or NULL */
  situ_phase phase;        /* forward, backward, update or recompute */
  situ_dtype dtype;        /* the element type that it computes in; selects the peak rate of a device */
  int64_t weight_bytes;    /* weights and other state that must stay on its device; >= 0 */
  int64_t workspace_bytes; /* scratch memory while it runs; >= 0 */
  int64_t flops;           /* floating point (or integer multiply-add) operations; >= 0 */
  int64_t moved_bytes;     /* bytes read and written, weights included; >= 0 */
  int64_t source_id;       /* its identifier in the model file, or -1 */
  bool inferred;           /* false when shapes or kind were not understood, so that flops and bytes are lower bounds:
                              the operator is then unknown (situ_problem_unknown) */
  int32_t colocation;      /* all operators with the same number >= 0 share a device; -1 for none */
  int64_t split_ways;      /* into how many equal parts it splits at most (heads of an attention), if a group of devices
                              runs it; 0: as its kind and its shapes say; 1: it does not split */
  const char *weight_type; /* how its weights or caches are stored, as GGUF names it ("Q4_K"), for rates by type; NULL:
                              as dtype says */
} situ_operator;

typedef struct situ_tensor {
  size_t size;
  const char *name; /* may be NULL; need not be unique; dropped if it is not UTF-8 */
  situ_dtype dtype;
  int32_t rank;        /* number of dimensions; -1 when unknown */
  const int64_t *dims; /* rank entries, -1 where unknown; may be NULL when rank <= 0 */
  int64_t size_bytes;  /* >= 0 */
} situ_tensor;

/* Defaults: an operator without colocation group or identifier, with `inferred` set; a tensor of unknown rank. All
 * other fields are 0. */
#ifdef __cplusplus
inline situ_operator situ_operator_init() {
  situ_operator made = situ_sized<situ_operator>();
  made.source_id = made.colocation = -1;
  made.inferred = true;
  return made;
}
inline situ_tensor situ_tensor_init() {
  situ_tensor made = situ_sized<situ_tensor>();
  made.rank = -1;
  return made;
}
#define SITU_OPERATOR_INIT situ_operator_init()
#define SITU_TENSOR_INIT situ_tensor_init()
#else
#define SITU_OPERATOR_INIT \
  { .size = sizeof(situ_operator), .source_id = -1, .colocation = -1, .inferred = true }
#define SITU_TENSOR_INIT \
  { .size = sizeof(situ_tensor), .rank = -1 }
#endif

/* A new, empty builder for a model of the given name (copied; NULL: "model"). */
SITU_API situ_status situ_graph_builder_new(situ_graph_builder **out, const char *model, situ_error *error);
SITU_API void situ_graph_builder_free(situ_graph_builder *builder);

/* The calls below do not report failures themselves. The builder remembers the first failure, ignores all later calls,
 * and situ_graph_freeze reports it, so that a program checks only once. */

/* Adds an operator and returns its number for the calls below; -1 after a failure. */
SITU_API int32_t situ_graph_builder_add_operator(situ_graph_builder *builder, const situ_operator *op);
/* Adds a tensor made by operator `producer` and returns its number for the call below; -1 after a failure. */
SITU_API int32_t situ_graph_builder_add_tensor(situ_graph_builder *builder, int32_t producer,
                                               const situ_tensor *tensor);
/* States that operator `consumer` reads `tensor`. Repeating it has no effect. */
SITU_API void situ_graph_builder_add_use(situ_graph_builder *builder, int32_t consumer, int32_t tensor);
/* States a guess about operator `op`, or about all operators (-1). Guesses of one kind and subject are one. An operator
 * that is not `inferred` needs none: it is guessed by its kind. */
SITU_API void situ_graph_builder_add_guess(situ_graph_builder *builder, situ_guess_kind kind, const char *subject,
                                           int32_t op);
/* The first failure so far: BAD_ARGUMENT for a number that was never returned or a struct without its size, BAD_INPUT
 * for values out of range or beyond the limits above, NO_MEMORY. OK if there is none. */
SITU_API situ_status situ_graph_builder_status(const situ_graph_builder *builder, situ_error *error);

/* Freezes what was built. The builder is unchanged and must still be freed. Fails with the builder's first failure, and
 * with BAD_INPUT if the graph is empty, has a cycle (the error names an operator on it) or two operators have the same
 * name. O(V + E). */
SITU_API situ_status situ_graph_freeze(situ_graph **out, const situ_graph_builder *builder, situ_error *error);
SITU_API void situ_graph_free(situ_graph *graph);

typedef struct situ_graph_summary {
  size_t size;
  const char *model; /* its name */
  int32_t n_operators, n_tensors;
  int64_t n_uses;  /* (tensor, consumer) pairs */
  int64_t n_edges; /* distinct (producer, consumer) pairs */
} situ_graph_summary;
#define SITU_GRAPH_SUMMARY_INIT SITU_SIZED(situ_graph_summary)
/* False, and nothing is written, if the graph or `out` is NULL or `out` has no size. */
SITU_API bool situ_graph_get_summary(const situ_graph *graph, situ_graph_summary *out);

/* The description of operator `index` and of tensor `index`; false when there is none. */
SITU_API bool situ_graph_operator(const situ_graph *graph, int32_t index, situ_operator *out);
SITU_API bool situ_graph_tensor(const situ_graph *graph, int32_t index, situ_tensor *out);
/* The name of operator `index` alone; "" when there is none. */
SITU_API const char *situ_graph_operator_name(const situ_graph *graph, int32_t index);
/* The operator that produces a tensor; -1 if there is no such tensor. */
SITU_API int32_t situ_graph_tensor_producer(const situ_graph *graph, int32_t tensor);
/* Tensors produced by an operator: the first in *first, and the count returned; they are consecutive. 0 if there is no
 * such operator.
 */
SITU_API int32_t situ_graph_outputs(const situ_graph *graph, int32_t op, int32_t *first);
/* Tensors read by an operator, ascending and distinct; *tensors is borrowed. */
SITU_API int32_t situ_graph_inputs(const situ_graph *graph, int32_t op, const int32_t **tensors);
/* Operators that read a tensor, ascending and distinct; *operators is borrowed. */
SITU_API int32_t situ_graph_users(const situ_graph *graph, int32_t tensor, const int32_t **operators);
/* A guess that was stated when the graph was built; false when there is none of this index. Texts and arrays belong to
 * the graph. situ_problem_unknown_at has their shares of the time. */
typedef struct situ_guess {
  size_t size;
  situ_guess_kind kind;
  int32_t n_operators; /* that it is about; -1: all */
  const char *subject;
  const int32_t *operators; /* ascending; NULL for all */
} situ_guess;
#define SITU_GUESS_INIT SITU_SIZED(situ_guess)
SITU_API int32_t situ_graph_guess_count(const situ_graph *graph);
SITU_API bool situ_graph_guess_at(const situ_graph *graph, int32_t index, situ_guess *out);
/* The operator of that name, or -1. O(1) on average. */
SITU_API int32_t situ_graph_find(const situ_graph *graph, const char *name);

#ifdef __cplusplus
}
#endif
#endif
