/* split/ir_file.h - OpenVINO IR split into its elements: layers are nodes, outputs of layers are values, Const layers
 * are weights, and Parameter and Result layers are the inputs and outputs of the model. Nodes are numbered in the order
 * of the file; the reader's operators have the ids of layers. */
#ifndef SITU_SPLIT_IR_FILE_H
#define SITU_SPLIT_IR_FILE_H

#include "read/ir_net.h"
#include "split/model_parts.h"

typedef struct ir_id {
  int64_t id;
  int32_t layer;
} ir_id;

typedef struct ir_detail {
  ir_net *net;
  const char *data_path; /* the .bin */
  file_view data;        /* not opened where the file is not there */
  int64_t first_free_id;
  ir_id *ids;              /* [n_layers] ascending */
  int32_t *node_of_layer;  /* -1: no node */
  int32_t *layer_of_node;  /* [node] */
  int32_t *first_value;    /* [layer] of its outputs, which are numbered from there */
  int32_t *layer_of_value; /* [value] */
} ir_detail;

situ_status ir_file_open(model_file **out, const char *path, situ_error *error);
/* Closes the data. */
void ir_file_close(model_file *file);
/* Orders ids. */
int ir_id_compare(const void *x, const void *y);

/* Makes up the bytes of a Const layer if the .bin is missing. Integers are chosen so that shapes match those that the
 * first reader of the layer has in the file; floats are small random numbers, seeded by layer, the same in every part.
 * `net` is the layer's own. */
void ir_make_up(unsigned char *into, int64_t bytes, const ir_net *net, const ir_layer *layer);

/* Writes part k as an IR and, if it has data, a .bin next to it with the data that its layers read. */
situ_status ir_part_write(const model_parts *parts, int32_t k, const char *folder, bool named, situ_error *error);

#endif
