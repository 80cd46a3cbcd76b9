/* read/onnx_eval.h - walking through a model as if it ran: shapes and small values flow from the inputs, each node
 * yields its work. onnx_eval.c has nodes, scopes and weights; onnx_nested.c has sub-graphs and functions; onnx.c walks
 * the main graph and builds.
 *
 * Contradictions. Shapes that do not fit are an error that names the operator. But where a dynamic dimension got an
 * assumed size, the file may well be right and the size wrong: then the operator's outputs are taken as declared, it
 * counts as not understood, and a note says so.
 *
 * Weights. A value computed from weights alone is itself a weight: the nodes that make it do no work, and the bytes of
 * the weights that it is computed from (ops_hold) are charged to the first operator (in topological order) that reads
 * it as something to compute with. A weight that several operators read is charged to the first one only. So a weight
 * that is unpacked, converted and dequantised takes the bytes of its packed form, which is what engines hold. */
#ifndef SITU_READ_ONNX_EVAL_H
#define SITU_READ_ONNX_EVAL_H

#include "base/text.h"
#include "read/assume.h"
#include "read/node_cost.h"
#include "read/onnx_model.h"
#include "situ/read.h"

/* A value in scope. */
typedef struct onnx_held {
  ops_tensor t;
  int32_t tensor;                   /* of the builder, when an operator of the main graph makes it; else -1 */
  int64_t weight_bytes;             /* when t.constant: its own, without those of its sources */
  int32_t owner;                    /* the operator that was charged for it, -1 for none yet */
  bool shared;                      /* and another one reads it too */
  bool dequantised;                 /* made by DequantizeLinear from integers of at most 8 bits */
  struct onnx_held *const *sources; /* of a weight: the tensors that it is stored as instead, or NULL; entries may be
                                       NULL */
  int32_t n_sources;
  struct onnx_held *next; /* to be charged */
} onnx_held;

/* A function call in progress. */
typedef struct onnx_call {
  const onnx_function *function;
  const ops_attr *attrs; /* given by the call */
  int32_t n_attrs;
  const struct onnx_call *outer;
  int depth; /* of the scope that it opens */
} onnx_call;

typedef struct onnx_scope {
  const struct onnx_scope *outer; /* whose values are seen too; NULL for the main graph and functions */
  const onnx_graph *graph;
  const onnx_call *call; /* or NULL */
  string_map *names;     /* -> index into held */
  onnx_held **held;      /* NULL for an input that a call leaves out */
  int64_t n_held;
  int depth;
} onnx_scope;

typedef struct onnx_reading {
  arena *a;
  const onnx_model *model;
  const char *path;
  const situ_read_options *options;
  situ_dtype precision; /* UNKNOWN: as stored */
  text_buffer *notes;
  string_map *noted;                     /* remarks made once */
  string_map *dims;                      /* dynamic dimension -> its size */
  string_map *asked;                     /* those of them that the model has */
  const char *asked_names[ASSUME_NAMES]; /* the first of them, to suggest */
  situ_error *error;
  situ_graph_builder *builder;
  int32_t current; /* current operator of the main graph, and in the builder */
  int32_t *uses;   /* tensors that it reads; free() it */
  int64_t n_uses, uses_capacity;
  int64_t n_nested;
  bool assumed;       /* some dimension got a size that nobody gave */
  int32_t assumption; /* by which of them (read/assume.h) */
  int assumed_kinds;  /* what of the model depends on that */
  assumed *sizes;     /* all that were assumed, the last one first */
  int strict;         /* > 0: a contradiction of shapes is an error even then */
  int64_t n_contradictions;
  int64_t weight_bytes, shared_bytes;
} onnx_reading;

/* ---- onnx_eval.c ---- */

enum { ONNX_KIND_BYTES = 168 };

/* Opens a scope for a graph: its weights, and its inputs: given[i] where i < n_given, else as declared. In the
 * outermost graph dimensions without a size get one, and a note says so. */
situ_status onnx_scope_open(onnx_reading *r, onnx_scope *s, const onnx_scope *outer, const onnx_call *call,
                            const onnx_graph *graph, onnx_held *const *given, int32_t n_given);
/* The value of a name, seen from a scope; NULL when left out. */
onnx_held *onnx_scope_find(const onnx_scope *s, const char *name);
/* Evaluates a node: (*outs)[i] is output i, in scope under its name too. *cost is set. */
situ_status onnx_eval_node(onnx_reading *r, onnx_scope *s, const onnx_node *n, onnx_held ***outs, node_cost *cost);
/* ops_infer with errors reported in the form of the reader. !*fits: the shapes contradict each other, which is
 * tolerated; the outputs are as declared. */
situ_status onnx_infer(onnx_reading *r, const onnx_scope *s, const onnx_node *n, const ops_node *shown, bool *fits);
/* Reads a value for work: a weight is charged, a tensor of the main graph is used. */
situ_status onnx_consume(onnx_reading *r, onnx_held *h, node_cost *cost);
/* Says that a weight is held as others are; the array stays with the reading. */
void onnx_hold_as(onnx_held *h, onnx_held *const *sources, int32_t n_sources);
/* A new value that is not a weight, of an unknown tensor. */
onnx_held *onnx_held_new(onnx_reading *r);
/* Adds a remark unless `key` was remarked upon. When memory runs out the notes are marked as failed. */
void onnx_note(onnx_reading *r, const char *key, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* States a guess about the operator under way. */
situ_status onnx_guess(const onnx_reading *r, situ_guess_kind kind, const char *subject);
/* The kind of a node with its domain, unless that is ONNX's own: "com.microsoft:Foo". Written into `into`, returned. */
const char *onnx_full_kind(char into[ONNX_KIND_BYTES], const onnx_node *n);
situ_status onnx_fail(const onnx_reading *r, const onnx_node *n, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- onnx_nested.c ---- */

/* The local function that a node calls, or NULL. */
const onnx_function *onnx_find_function(const onnx_reading *r, const onnx_node *n);
/* Evaluate a call, and a node with sub-graphs, into outs (which holds n->n_outputs new values). */
situ_status onnx_eval_call(onnx_reading *r, const onnx_scope *s, const onnx_node *n, const onnx_function *f,
                           const ops_node *shown, onnx_held *const *ins, onnx_held **outs, node_cost *cost);
situ_status onnx_eval_control(onnx_reading *r, const onnx_scope *s, const onnx_node *n, const ops_node *shown,
                              onnx_held *const *ins, onnx_held **outs, node_cost *cost);

#endif
