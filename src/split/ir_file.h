/* split/ir_file.h - OpenVINO IR taken apart: layers are nodes, and outputs of layers are values; Const layers are
 * weights, and Parameter and Result layers the inputs and outputs of the model. Nodes are numbered in the order of the
 * file; operators of the reader have the ids of layers. */
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

/* Fills the bytes of a Const layer that the .bin would have. Whole numbers are such that shapes come out as the first
 * reader of the layer has them in the file; floats are small, drawn anew for each layer, the same in every part. `net`
 * is the layer's own. */
void ir_make_up(unsigned char *into, int64_t bytes, const ir_net *net, const ir_layer *layer);

/* Writes part k as an IR and, where it has data, a .bin beside it, with what its layers read of the model's. */
situ_status ir_part_write(const model_parts *parts, int32_t k, const char *folder, bool named, situ_error *error);

#endif
