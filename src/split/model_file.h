/* split/model_file.h - a model file as its raw bytes: the position of each node, weight and declared value, and the
 * inputs and outputs of nodes. Parts of models are assembled from these bytes, so that content that situ does not know
 * is preserved. Each format is a row of the table below. */
#ifndef SITU_SPLIT_MODEL_FILE_H
#define SITU_SPLIT_MODEL_FILE_H

#include "base/arena.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/wire.h"
#include "situ/types.h"

/* A value of the main graph: an input, a weight or an output of a node. */
typedef struct model_value {
  const char *name;
  int32_t maker;  /* node, or -1 */
  int32_t weight; /* index into weights, or -1 */
  bool is_input, is_output;
  wire_span info; /* ONNX: its ValueInfo message; at NULL where the file declares none */
} model_value;

typedef struct model_item {
  wire_span bytes; /* ONNX: the message; OpenVINO IR: the element */
  const char *name;
  int32_t value; /* of weights: the value that it is */
  bool sparse;   /* of weights of ONNX */
} model_item;

/* Lists by node: of distinct values, ascending in order of appearance. */
typedef struct model_lists {
  int32_t *start; /* [n_nodes + 1] */
  int32_t *item;
} model_lists;

typedef struct model_format model_format;

typedef struct model_file {
  const model_format *format;
  arena *arena;
  const char *path;
  file_view view;
  wire_span model; /* the whole file */
  model_item *nodes, *weights;
  const char **kind; /* [node] */
  bool *has_body;    /* [node] */
  model_value *values;
  string_map *by_name;
  model_lists reads; /* with what sub-graphs take from outside */
  model_lists makes;
  int32_t n_nodes, n_weights, n_values, n_inputs, n_outputs;
  int32_t *inputs, *outputs; /* values; inputs that are weights are left out */
  /* Of ONNX: */
  wire_span graph;
  const char **externals; /* files of external data, each once, as the model names them */
  int32_t n_externals;
  /* Of OpenVINO IR (split/ir_file.h): */
  struct ir_detail *ir;
  const char *made_up; /* the missing file of weights, which are made up instead; NULL: no file is missing */
} model_file;

/* The declared type of a value: number of the element type in ONNX and dimensions (-1 where free, with a name or "").
 */
enum { MODEL_MAX_RANK = 64 };
typedef struct model_port {
  int32_t type, rank;
  int64_t dims[MODEL_MAX_RANK];
  char dim_name[MODEL_MAX_RANK][64];
} model_port;

/* The number of an element type in ONNX (TensorProto.DataType), 0 where it has none or several. */
int32_t model_type_number(situ_dtype dtype);

struct model_parts;

struct model_format {
  const char *reader; /* the name of the reader that makes graphs of such files */
  const char *title;  /* "ONNX" */
  const char *suffix; /* of files of parts */
  /* Whether a file that begins with these bytes, and has at least `n`, has this format. */
  bool (*recognise)(const unsigned char *bytes, size_t n);
  situ_status (*open)(model_file **out, const char *path, situ_error *error); /* all but out->format */
  void (*close)(model_file *file); /* frees memory outside of its arena, `view` and `values`; may be NULL */
  /* False if it has no type, or is not a tensor; out->rank is -1 if no shape is declared. */
  bool (*port)(const model_file *file, int32_t value, model_port *out);
  /* Whether a value is declared with any type, that of a tensor or another. */
  bool (*typed)(const model_file *file, int32_t value);
  /* The node with the reader's `source_id`; -1 if there is none. */
  int32_t (*node)(const model_file *file, int64_t source_id);
  /* Writes part k to a file of the folder, named part<k> and the suffix, with what belongs to this part alone. With
   * `named` node i of the file is called "n<i>". UNSUPPORTED as model_parts_port. */
  situ_status (*write_part)(const struct model_parts *parts, int32_t k, const char *folder, bool named,
                            situ_error *error);
  /* Writes the files that all parts share; may be NULL. */
  situ_status (*write_shared)(const model_file *file, const char *folder, situ_error *error);
};

#define MODEL_FORMAT_ROWS(ROW) \
  ROW(openvino)                \
  ROW(onnx)
#define MODEL_FORMAT_DECLARE(NAME) extern const model_format NAME##_format;
MODEL_FORMAT_ROWS(MODEL_FORMAT_DECLARE)

/* UNSUPPORTED if no model of this reader can be cut and run; the one in question is at `path`. */
situ_status model_format_need(const char *reader, const char *path, situ_error *error);
/* The format of a file, by how it begins. */
situ_status model_format_find(const model_format **out, const char *path, situ_error *error);

/* Reads and splits a model, whose format is detected from its first bytes. BAD_INPUT if it is invalid, a value is
 * produced twice, a node reads a value that nothing produces, or data would lie outside the model's folder. Cycles are
 * detected later. */
situ_status model_file_open(model_file **out, const char *path, situ_error *error);
void model_file_free(model_file *file);

static inline int32_t model_file_node(const model_file *file, int64_t source_id) {
  return file->format->node(file, source_id);
}

#endif
