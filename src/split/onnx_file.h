/* split/onnx_file.h - an ONNX model as the bytes that it is made of: where in the file each node, weight and declared
 * value lies, what nodes read and make, and nothing more. Parts of models are put together from these bytes, so that
 * what situ does not know stays as it is. The numbers of nodes are those of the file, which operators of the reader
 * keep as source_id. */
#ifndef SITU_SPLIT_ONNX_FILE_H
#define SITU_SPLIT_ONNX_FILE_H

#include "base/arena.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/wire.h"

/* A value of the main graph: an input, a weight or an output of a node. */
typedef struct onnx_name {
  const char *name;
  int32_t maker;  /* node, or -1 */
  int32_t weight; /* index into weights, or -1 */
  bool is_input, is_output;
  wire_span info; /* its ValueInfo message; at NULL where the file declares none */
} onnx_name;

typedef struct onnx_item {
  wire_span bytes; /* the message */
  const char *name;
  int32_t value; /* of weights: the value that it is */
  bool sparse;   /* of weights */
} onnx_item;

/* Lists by node: of distinct values, ascending in order of appearance. */
typedef struct onnx_lists {
  int32_t *start; /* [n_nodes + 1] */
  int32_t *item;
} onnx_lists;

typedef struct onnx_file {
  arena *arena;
  const char *path;
  file_view view;
  wire_span model, graph;
  onnx_item *nodes, *weights;
  const char **kind; /* [node] */
  bool *has_body;    /* [node] */
  onnx_name *values;
  string_map *by_name;
  onnx_lists reads; /* with what sub-graphs take from outside */
  onnx_lists makes;
  int32_t n_nodes, n_weights, n_values, n_inputs, n_outputs;
  int32_t *inputs, *outputs; /* values; inputs that are weights are left out */
  const char **externals;    /* files of external data, each once, as the model names them */
  int32_t n_externals;
} onnx_file;

/* Reads and takes apart a model. BAD_INPUT where the file is no ONNX model, a value is made twice, a node reads what
 * nobody makes, or external data would leave the model's folder. Whether nodes form a cycle is seen later. */
situ_status onnx_file_open(onnx_file **out, const char *path, situ_error *error);
void onnx_file_free(onnx_file *file);

/* The declared type of a value: number of the element type and dimensions (-1 where free, with a name or NULL). False
 * where there is none or it is no tensor; *rank is -1 where no shape is declared. At most 64 dimensions. */
enum { ONNX_MOST_RANK = 64 };
typedef struct onnx_port {
  int32_t type, rank;
  int64_t dims[ONNX_MOST_RANK];
  char dim_name[ONNX_MOST_RANK][64];
} onnx_port;
bool onnx_file_port(const onnx_file *file, int32_t value, onnx_port *out);
/* Whether a value is declared with any type, that of a tensor or another. */
bool onnx_file_typed(const onnx_file *file, int32_t value);

#endif
