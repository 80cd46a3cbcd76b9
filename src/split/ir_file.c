#include "split/ir_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/resize.h"
#include "read/reader.h"

typedef struct taking {
  model_file *file;
  ir_detail *ir;
  arena *a;
  situ_error *error;
} taking;

static bool is_type(const ir_layer *layer, const char *type) { return strcmp(layer->type, type) == 0; }
static bool is_input(const ir_layer *layer) { return is_type(layer, "Parameter") || is_type(layer, "Input"); }

int ir_id_compare(const void *x, const void *y) {
  const ir_id *a = x, *b = y;
  return a->id < b->id ? -1 : a->id > b->id;
}

/* How many of each there are, and room for them. */
static situ_status count(taking *t) {
  model_file *f = t->file;
  ir_detail *ir = t->ir;
  const ir_net *net = ir->net;
  int64_t n_reads = 0, n_values = 0, n = net->n_layers;
  for (int64_t i = 0; i < n; i++) {
    n_reads += net->layers[i].n_inputs;
    n_values += net->layers[i].n_outputs;
  }
  if (n > INT32_MAX / 4 || n_reads > INT32_MAX / 4 || n_values > INT32_MAX / 4)
    return fail_with(t->error, SITU_STATUS_BAD_INPUT, f->path, "has too many layers");
  f->by_name = string_map_new(t->a, n_values);
  bool room = f->by_name && array_resize(&f->values, n_values + 1, sizeof *f->values) &&
              ARENA_ARRAYS(t->a, ARRAY(f->nodes, n), ARRAY(f->weights, n), ARRAY(f->kind, n), ZEROS(f->has_body, n),
                           ZEROS(f->reads.start, n + 1), ZEROS(f->makes.start, n + 1), ARRAY(f->reads.item, n_reads),
                           ARRAY(f->makes.item, n_values), ARRAY(f->inputs, n), ARRAY(f->outputs, n), ARRAY(ir->ids, n),
                           ARRAY(ir->node_of_layer, n), ARRAY(ir->layer_of_node, n), ARRAY(ir->first_value, n),
                           ARRAY(ir->layer_of_value, n_values));
  return room ? SITU_STATUS_OK : fail_no_memory(t->error);
}

static wire_span bytes_of(const model_file *f, ir_place place) {
  return (wire_span){f->view.bytes + place.begin, f->view.bytes + place.end};
}

/* State is kept from run to run, so a run would not be like the one before it. */
static situ_status check_layer(const taking *t, const ir_layer *layer) {
  if (is_type(layer, "ReadValue") || is_type(layer, "Assign"))
    return fail_with(t->error, SITU_STATUS_UNSUPPORTED, t->file->path,
                     "layer %lld (%s) keeps state between runs, so the model can be neither cut nor compared",
                     (long long)layer->id, layer->name);
  return SITU_STATUS_OK;
}

/* Layers as nodes and weights, their outputs as values. */
static situ_status take_layer(taking *t, int32_t i) {
  model_file *f = t->file;
  ir_detail *ir = t->ir;
  const ir_layer *layer = &ir->net->layers[i];
  bool weight = is_type(layer, "Const"), boundary = ir_is_boundary(layer);
  int32_t node = boundary ? -1 : f->n_nodes;
  TRY(check_layer(t, layer));
  ir->ids[i] = (ir_id){layer->id, i};
  ir->node_of_layer[i] = node;
  ir->first_value[i] = f->n_values;
  if (layer->id >= ir->first_free_id) ir->first_free_id = layer->id + 1; /* ids have 18 digits at most */
  for (int64_t k = 0; k < layer->n_outputs; k++) {
    int32_t v = f->n_values++;
    ir->layer_of_value[v] = i;
    f->values[v] = (model_value){.name = layer->outputs[k].name,
                                 .maker = node,
                                 .weight = weight ? f->n_weights : -1,
                                 .is_input = is_input(layer)};
    if (string_map_put(f->by_name, layer->outputs[k].name, v) < 0) return fail_no_memory(t->error);
    if (is_input(layer)) f->inputs[f->n_inputs++] = v;
    if (node >= 0) f->makes.item[f->makes.start[node] + k] = v;
  }
  if (weight)
    f->weights[f->n_weights++] = (model_item){
        .bytes = bytes_of(f, layer->place), .name = layer->name, .value = layer->n_outputs > 0 ? f->n_values - 1 : -1};
  if (node < 0) return SITU_STATUS_OK;
  f->nodes[node] = (model_item){.bytes = bytes_of(f, layer->place), .name = layer->name};
  f->kind[node] = layer->type;
  f->has_body[node] = layer->n_bodies > 0;
  f->makes.start[node + 1] = f->makes.start[node] + (int32_t)layer->n_outputs;
  ir->layer_of_node[node] = i;
  f->n_nodes++;
  return SITU_STATUS_OK;
}

static int32_t value_read(const ir_detail *ir, const ir_port *input) {
  return ir->first_value[input->layer] + input->output;
}

static void take_reads(taking *t, int32_t i) {
  model_file *f = t->file;
  const ir_layer *layer = &t->ir->net->layers[i];
  int32_t node = t->ir->node_of_layer[i];
  bool result = is_type(layer, "Result");
  int32_t at = node >= 0 ? f->reads.start[node] : 0, first = at;
  for (int64_t k = 0; k < layer->n_inputs; k++) {
    int32_t v = value_read(t->ir, &layer->inputs[k]), j = first;
    if (result && !f->values[v].is_output) f->outputs[f->n_outputs++] = v;
    f->values[v].is_output |= result;
    if (node < 0) continue;
    while (j < at && f->reads.item[j] != v) j++;
    if (j == at) f->reads.item[at++] = v;
  }
  if (node >= 0) f->reads.start[node + 1] = at;
}

/* ---- the data ---- */

static bool needs_data(const ir_net *net) {
  for (int64_t i = 0; i < net->n_layers; i++) {
    const ir_layer *layer = &net->layers[i];
    if (layer->blob_bytes > 0 || (is_type(layer, "Const") && ir_int(layer, "size", 0) > 0)) return true;
    for (int32_t b = 0; b < layer->n_bodies; b++)
      if (needs_data(layer->bodies[b])) return true;
  }
  return false;
}

static situ_status open_data(taking *t) {
  ir_detail *ir = t->ir;
  ir->data_path = ir_data_path(t->a, t->file->path);
  if (!ir->data_path) return fail_no_memory(t->error);
  if (file_exists(ir->data_path)) return file_begin(&ir->data, ir->data_path, t->error);
  if (needs_data(ir->net)) t->file->made_up = ir->data_path;
  return SITU_STATUS_OK;
}

/* ---- the whole ---- */

static situ_status take_apart(taking *t) {
  model_file *f = t->file;
  read_source source = {.path = f->path, .bytes = f->view.bytes, .size_bytes = f->view.size_bytes};
  ir_net *net;
  TRY(ir_parse(&t->ir->net, t->a, &source, t->error));
  net = t->ir->net;
  TRY(ir_link(net, SITU_DTYPE_UNKNOWN, t->a, f->path, t->error));
  TRY(count(t));
  for (int32_t i = 0; i < net->n_layers; i++) TRY(take_layer(t, i));
  for (int32_t i = 0; i < net->n_layers; i++) take_reads(t, i);
  qsort(t->ir->ids, (size_t)net->n_layers, sizeof *t->ir->ids, ir_id_compare);
  return open_data(t);
}

void ir_file_close(model_file *file) { file_close(&file->ir->data); }

situ_status ir_file_open(model_file **out, const char *path, situ_error *error) {
  *out = NULL;
  arena *a = arena_new();
  model_file *file = a ? ARENA_ZERO(a, model_file, 1) : NULL;
  ir_detail *ir = file ? ARENA_ZERO(a, ir_detail, 1) : NULL;
  if (!ir) {
    arena_free(a);
    return fail_no_memory(error);
  }
  *file = (model_file){.arena = a, .path = arena_string(a, path), .ir = ir};
  taking t = {.file = file, .ir = ir, .a = a, .error = error};
  situ_status status = file->path ? file_open_text(&file->view, path, error) : fail_no_memory(error);
  file->model = (wire_span){file->view.bytes, file->view.bytes + file->view.size_bytes};
  if (status == SITU_STATUS_OK) status = take_apart(&t);
  if (status == SITU_STATUS_OK)
    *out = file;
  else {
    ir_file_close(file);
    model_file_free(file);
  }
  return status;
}
