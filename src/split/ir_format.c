/* OpenVINO IR: models of the reader openvino, cut by their elements. */
#include <stdlib.h>
#include <string.h>

#include "split/ir_file.h"

/* No ONNX file begins with '<': as the tag of a field it would end a group. */
static bool recognise(const unsigned char *bytes, size_t n) {
  size_t at = n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (at < n && strchr(" \t\r\n", bytes[at]) && bytes[at]) at++;
  return at < n && bytes[at] == '<';
}

static bool port(const model_file *f, int32_t value, model_port *out) {
  const ir_layer *layer = &f->ir->net->layers[f->ir->layer_of_value[value]];
  const ops_tensor *t = &layer->outputs[value - f->ir->first_value[f->ir->layer_of_value[value]]].tensor;
  *out = (model_port){.type = model_type_number(t->dtype), .rank = t->rank > MODEL_MAX_RANK ? -1 : t->rank};
  for (int64_t i = 0; i < layer->n_attrs; i++) /* any rank: the port then has no dimensions */
    if (strcmp(layer->attrs[i].key, "shape") == 0 && strcmp(layer->attrs[i].value, "...") == 0) out->rank = -1;
  for (int32_t d = 0; d < out->rank; d++) out->dims[d] = t->dims[d];
  return out->type > 0;
}

static bool typed(const model_file *f, int32_t value) {
  (void)f, (void)value;
  return false;
}

static int32_t node_of(const model_file *f, int64_t source_id) {
  const ir_id wanted = {.id = source_id};
  const ir_id *found = bsearch(&wanted, f->ir->ids, (size_t)f->ir->net->n_layers, sizeof *f->ir->ids, ir_id_compare);
  return found ? f->ir->node_of_layer[found->layer] : -1;
}

const model_format openvino_format = {.reader = "openvino",
                                      .title = "OpenVINO",
                                      .suffix = ".xml",
                                      .recognise = recognise,
                                      .open = ir_file_open,
                                      .close = ir_file_close,
                                      .port = port,
                                      .typed = typed,
                                      .node = node_of,
                                      .write_part = ir_part_write};
