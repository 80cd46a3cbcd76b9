/* split/onnx_parts.h - a placed ONNX model as parts, each a valid model of its own for one device.
 *
 * Operators that the engine folds (whatever is computed from weights alone) are copied into every part that reads them;
 * all others are in one part each. Parts are numbered so that each needs lower ones only. Without a sequence they are
 * as large as can be: from what is ready, one device runs all that it can, then another; a contiguous placement gives
 * one part for each of its pieces. With a sequence a part ends after a node that another device waits for and begins
 * before one that waits for another device, so that parts run side by side as their nodes would. */
#ifndef SITU_SPLIT_ONNX_PARTS_H
#define SITU_SPLIT_ONNX_PARTS_H

#include "graph/graph.h"
#include "split/onnx_file.h"

typedef struct onnx_part {
  int32_t device;
  int32_t n_nodes, n_inputs, n_outputs;
  const int32_t *nodes;            /* in an order that runs; folded ones first */
  const int32_t *inputs, *outputs; /* values */
} onnx_part;

typedef struct onnx_parts {
  arena *arena;
  const onnx_file *file;   /* borrowed, like the graph */
  const situ_graph *graph; /* types of values that the file does not declare; may be NULL */
  string_map *tensor_of;
  int32_t n_parts;
  onnx_part *parts;
  int32_t *part_of;    /* [node]; -1: folded, in any number of parts */
  int32_t *order;      /* all nodes, producers first */
  int32_t *value_part; /* [value] that makes it; -1: an input, a weight, or folded */
} onnx_parts;

/* device[n_nodes]; -1: wherever what it reads is made. rank[n_nodes]: nodes run in the order of their ranks, as far as
 * their values allow; NULL: without a sequence. BAD_INPUT when nodes form a cycle. */
situ_status onnx_parts_find(onnx_parts **out, const onnx_file *file, const situ_graph *graph, const int32_t *device,
                            const int32_t *rank, situ_error *error);
void onnx_parts_free(onnx_parts *parts);

/* Gives a device to nodes that have none (-1), as onnx_parts_find does: that of the first value that they read, else
 * that of their first reader. */
situ_status onnx_devices_fill(int32_t *device, const onnx_file *file, situ_error *error);

/* The type of a value: as declared, else as the graph has it. UNSUPPORTED where neither knows its element type, or it
 * is no tensor. */
situ_status onnx_parts_port(const onnx_parts *parts, int32_t value, onnx_port *out, situ_error *error);

/* Adds part k as a model: everything of the file that concerns its nodes, inputs and outputs with types. With `named`,
 * node i of the file is called "n<i>". UNSUPPORTED as onnx_parts_port. */
situ_status onnx_part_emit(text_buffer *out, const onnx_parts *parts, int32_t k, bool named, situ_error *error);

/* Writes part k to FOLDER/part<k>.onnx, and external data beside it. The folder must be there. */
situ_status onnx_part_write(const onnx_parts *parts, int32_t k, const char *folder, bool named, situ_error *error);
situ_status onnx_externals_write(const onnx_file *file, const char *folder, situ_error *error);

/* How a copy of a model differs from it. */
typedef struct onnx_edit {
  void (*add)(text_buffer *node, int32_t v, void *context); /* adds fields to node v */
  bool (*drops)(const wire_field *field);                   /* fields of nodes that are left out */
  bool (*model_drops)(const wire_field *field);             /* of the model; may be NULL */
  const text_buffer *model;                                 /* fields that the model gets; may be NULL */
  void *context;
} onnx_edit;

/* Writes the whole model so changed to FOLDER/model.onnx, and external data beside it. The folder is made. */
situ_status onnx_edit_write(const onnx_file *file, const onnx_edit *edit, const char *folder, situ_error *error);
/* Writes a file of a folder. */
situ_status onnx_joined_write(const char *folder, const char *name, const void *bytes, size_t n, situ_error *error);

#endif
