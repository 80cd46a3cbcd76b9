/* read/onnx_model.h - an ONNX model as plain structs: what src/read/onnx_unpack.c makes of the protobuf, and what
 * src/read/onnx_order.c adds. Everything lives in one arena. */
#ifndef SITU_READ_ONNX_MODEL_H
#define SITU_READ_ONNX_MODEL_H

#include "base/arena.h"
#include "base/hash.h"
#include "ops/ops.h"

typedef struct onnx_graph onnx_graph;

/* An initialiser, or the tensor of an attribute. */
typedef struct onnx_weight {
  const char *name;
  ops_tensor tensor;  /* constant; with values where they are few and were kept */
  int64_t size_bytes; /* as the file stores it: a sparse one by its values and indices */
  /* External data: relative path, or NULL; length -1 when the file does not say. */
  const char *location;
  int64_t offset, length;
  struct onnx_weight *next_external;
} onnx_weight;

/* A declared input, output or inner value. */
typedef struct onnx_value {
  const char *name;
  bool no_tensor;         /* a sequence, a map, an optional */
  situ_dtype dtype;       /* UNKNOWN when not declared */
  int32_t rank;           /* -1 when not declared */
  const int64_t *dims;    /* -1 where not given as a number */
  const char **dim_names; /* NULL where the dimension has no name */
} onnx_value;

typedef struct onnx_body {
  const char *attr; /* the name of the attribute that holds it */
  onnx_graph *graph;
} onnx_body;

/* An attribute of a node in a function that takes its value from an attribute of the call. */
typedef struct onnx_reference {
  const char *attr, *from;
} onnx_reference;

typedef struct onnx_node {
  const char *name, *kind, *domain, *overload; /* never NULL; domain "ai.onnx" is "" */
  const char *layer;                           /* or NULL */
  const char *const *inputs, *const *outputs;  /* "" for an omitted value */
  int32_t n_inputs, n_outputs;
  ops_attr *attrs;
  int32_t n_attrs;
  onnx_reference *references;
  int32_t n_references;
  onnx_body *bodies;
  int32_t n_bodies;
  int64_t bulk_bytes; /* of attributes too large to keep: weights in all but name */
} onnx_node;

typedef struct onnx_opset {
  const char *domain;
  int64_t version;
} onnx_opset;

/* A graph, or the body of a function (which has no weights, and inputs without types). */
struct onnx_graph {
  onnx_node *nodes;
  onnx_weight *weights;
  onnx_value *inputs, *outputs, *values;
  int32_t n_nodes, n_weights, n_inputs, n_outputs, n_values;
  /* Added by onnx_order: */
  int32_t *order;        /* the nodes, producers first */
  const char **captures; /* names taken from outside, in order of appearance */
  int32_t n_captures;
  int64_t n_all_nodes;  /* with those of graphs within */
  string_map *declared; /* name -> index into inputs, outputs, values taken as one list */
};

typedef struct onnx_function {
  const char *domain, *name, *overload;
  onnx_graph body;
  ops_attr *defaults;
  int32_t n_defaults;
  onnx_opset *opsets;
  int32_t n_opsets;
} onnx_function;

typedef struct onnx_model {
  int64_t ir_version;
  onnx_graph *graph;
  onnx_opset *opsets;
  int32_t n_opsets;
  onnx_function *functions;
  int32_t n_functions;
  onnx_weight *externals;  /* a list by next_external */
  string_map *function_of; /* "domain\nname\noverload" -> index; added by onnx_order */
} onnx_model;

/* Unpacks a skimmed message into the arena. BAD_INPUT if it is not a valid model. */
situ_status onnx_unpack(onnx_model **out, arena *a, const char *bytes, size_t size_bytes, const char *path,
                        situ_error *error);

/* Checks the places of external data against the folder of `path` and the files that are there, and reads the values
 * of small integer tensors. A file that is absent is fine. BAD_INPUT when a path leaves the folder or data lie beyond
 * the end of their file. */
situ_status onnx_external(onnx_model *model, arena *a, const char *path, situ_error *error);

/* Orders the nodes of all graphs and functions, producers first, and finds what sub-graphs capture. BAD_INPUT, naming
 * the node, when a value is made twice or never, or when nodes form a cycle. */
situ_status onnx_order(onnx_model *model, arena *a, const char *path, situ_error *error);

/* Decodes little-endian elements of an integer, boolean, F32 or F64 type into values of the tensor. Leaves it as it is
 * when it has more elements than OPS_MAX_VALUES, unknown dimensions or another type. */
situ_status onnx_decode(ops_tensor *tensor, arena *a, const unsigned char *bytes, size_t n, situ_error *error);

/* Declared value i of the list inputs, outputs, values. */
const onnx_value *onnx_declared(const onnx_graph *graph, int64_t i);

/* A name for messages: the node's own, or that of its first output, or its kind. */
const char *onnx_node_label(const onnx_node *node);

#endif
