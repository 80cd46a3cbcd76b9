/* Parts as files: bytes of the model, copied; only names of nodes and types of values are ever made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/os.h"
#include "split/onnx_file.h"

enum { MODEL_GRAPH = 7, MODEL_TRAINING = 20, QUANTISATION = 14, NODE_NAME = 3 };
enum {
  GRAPH_NODE = 1,
  GRAPH_NAME = 2,
  GRAPH_WEIGHT = 5,
  GRAPH_INPUT = 11,
  GRAPH_OUTPUT = 12,
  GRAPH_VALUE = 13,
  GRAPH_SPARSE = 15
};

/* A ValueInfo: that of the file if it has one with a type, else one made from known types and shapes. */
static situ_status add_value(text_buffer *out, const model_parts *p, uint32_t field, int32_t value, situ_error *error) {
  model_port port;
  const model_value *v = &p->file->values[value];
  bool whole = onnx_file_port(p->file, value, &port) && port.rank >= 0;
  if (whole || (v->is_output && v->info.at && string_map_get(p->tensor_of, v->name) < 0)) {
    wire_add_bytes(out, field, v->info.at, (size_t)(v->info.end - v->info.at));
    return SITU_STATUS_OK;
  }
  TRY(model_parts_port(p, value, &port, error));
  text_buffer shape = {0}, tensor = {0}, type = {0}, info = {0};
  for (int32_t d = 0; d < port.rank; d++) {
    text_buffer dim = {0};
    if (port.dims[d] >= 0) wire_add_number(&dim, 1, (uint64_t)port.dims[d]);
    wire_add_bytes(&shape, 1, dim.bytes, dim.length);
    text_free(&dim);
  }
  wire_add_number(&tensor, 1, (uint64_t)port.type);
  if (port.rank >= 0) wire_add_bytes(&tensor, 2, shape.bytes, shape.length);
  wire_add_bytes(&type, 1, tensor.bytes, tensor.length);
  wire_add_bytes(&info, 1, v->name, strlen(v->name));
  wire_add_bytes(&info, 2, type.bytes, type.length);
  wire_add_bytes(out, field, info.bytes, info.length);
  out->failed |= shape.failed || tensor.failed || type.failed || info.failed;
  text_free(&shape);
  text_free(&tensor);
  text_free(&type);
  text_free(&info);
  return SITU_STATUS_OK;
}

static void add_node(text_buffer *out, const model_file *f, int32_t v, bool named) {
  wire_span s = f->nodes[v].bytes;
  wire_field field;
  if (!named) {
    wire_add_bytes(out, GRAPH_NODE, s.at, (size_t)(s.end - s.at));
    return;
  }
  char name[16];
  text_buffer node = {0};
  snprintf(name, sizeof name, "n%d", (int)v);
  while (s.at < s.end && !wire_next(&s, &field))
    if (field.number != NODE_NAME)
      text_add_bytes(&node, (const char *)field.start, (size_t)(field.value.end - field.start));
  wire_add_bytes(&node, NODE_NAME, name, strlen(name));
  wire_add_bytes(out, GRAPH_NODE, node.bytes, node.length);
  out->failed |= node.failed;
  text_free(&node);
}

typedef struct emitting {
  text_buffer graph;
  const model_parts *parts;
  const model_part *part;
  int32_t k;
  bool *here;  /* [value] read, made or given in the part */
  bool *bound; /* [value] an input or output of the part */
  situ_error *error;
} emitting;

static void mark_values(emitting *e) {
  const model_file *f = e->parts->file;
  for (int32_t i = 0; i < e->part->n_nodes; i++) {
    int32_t v = e->part->nodes[i];
    for (int32_t r = f->reads.start[v]; r < f->reads.start[v + 1]; r++) e->here[f->reads.item[r]] = true;
    for (int32_t r = f->makes.start[v]; r < f->makes.start[v + 1]; r++) e->here[f->makes.item[r]] = true;
  }
  for (int32_t i = 0; i < e->part->n_outputs; i++) e->here[e->part->outputs[i]] = e->bound[e->part->outputs[i]] = true;
  for (int32_t i = 0; i < e->part->n_inputs; i++) e->here[e->part->inputs[i]] = e->bound[e->part->inputs[i]] = true;
}

/* The value that an annotation of quantisation is about is of the part. */
static bool is_here(const emitting *e, wire_span annotation) {
  wire_field f;
  char name[512];
  while (annotation.at < annotation.end && !wire_next(&annotation, &f)) {
    size_t n = (size_t)(f.value.end - f.value.at);
    if (f.number != 1 || f.wire != WIRE_BYTES || n >= sizeof name) continue;
    memcpy(name, f.value.at, n);
    name[n] = '\0';
    int64_t value = string_map_get(e->parts->file->by_name, name);
    return value >= 0 && e->here[value];
  }
  return false;
}

/* Fields of the graph other than the lists of its elements: name, documentation, whatever later versions add. */
static void add_rest(emitting *e) {
  wire_span s = e->parts->file->graph;
  wire_field f;
  while (s.at < s.end && !wire_next(&s, &f)) {
    bool made = f.number == GRAPH_NODE || f.number == GRAPH_WEIGHT || f.number == GRAPH_SPARSE ||
                (f.number >= GRAPH_INPUT && f.number <= GRAPH_VALUE);
    if (made || (f.number == QUANTISATION && !is_here(e, f.value))) continue;
    text_add_bytes(&e->graph, (const char *)f.start, (size_t)(f.value.end - f.start));
  }
}

static situ_status emit_graph(emitting *e, bool named) {
  const model_file *f = e->parts->file;
  const model_part *part = e->part;
  mark_values(e);
  for (int32_t i = 0; i < part->n_nodes; i++) add_node(&e->graph, f, part->nodes[i], named);
  for (int32_t w = 0; w < f->n_weights; w++) {
    const model_item *weight = &f->weights[w];
    if (!e->here[weight->value]) continue;
    wire_add_bytes(&e->graph, weight->sparse ? GRAPH_SPARSE : GRAPH_WEIGHT, weight->bytes.at,
                   (size_t)(weight->bytes.end - weight->bytes.at));
    if (f->values[weight->value].is_input) TRY(add_value(&e->graph, e->parts, GRAPH_INPUT, weight->value, e->error));
  }
  for (int32_t i = 0; i < part->n_inputs; i++)
    TRY(add_value(&e->graph, e->parts, GRAPH_INPUT, part->inputs[i], e->error));
  for (int32_t i = 0; i < part->n_outputs; i++)
    TRY(add_value(&e->graph, e->parts, GRAPH_OUTPUT, part->outputs[i], e->error));
  for (int32_t v = 0; v < f->n_values; v++)
    if (e->here[v] && !e->bound[v] && !f->values[v].is_input && f->values[v].info.at)
      wire_add_bytes(&e->graph, GRAPH_VALUE, f->values[v].info.at,
                     (size_t)(f->values[v].info.end - f->values[v].info.at));
  add_rest(e);
  return e->graph.failed ? fail_no_memory(e->error) : SITU_STATUS_OK;
}

situ_status onnx_part_emit(text_buffer *out, const model_parts *p, int32_t k, bool named, situ_error *error) {
  arena *a = arena_new();
  emitting e = {.parts = p, .part = &p->parts[k], .k = k, .error = error};
  bool room = a && ARENA_ARRAYS(a, ZEROS(e.here, p->file->n_values), ZEROS(e.bound, p->file->n_values));
  situ_status status = room ? emit_graph(&e, named) : fail_no_memory(error);
  wire_span s = p->file->model;
  wire_field f;
  while (status == SITU_STATUS_OK && s.at < s.end && !wire_next(&s, &f)) {
    if (f.number == MODEL_GRAPH)
      wire_add_bytes(out, MODEL_GRAPH, e.graph.bytes, e.graph.length);
    else if (f.number != MODEL_TRAINING)
      text_add_bytes(out, (const char *)f.start, (size_t)(f.value.end - f.start));
  }
  text_free(&e.graph);
  arena_free(a);
  return status == SITU_STATUS_OK && out->failed ? fail_no_memory(error) : status;
}

/* ---- files ---- */

situ_status onnx_joined_write(const char *folder, const char *name, const void *bytes, size_t n, situ_error *error) {
  text_buffer path = {0};
  text_add(&path, "%s/%s", folder, name);
  situ_status status = path.failed ? fail_no_memory(error) : file_write(path.bytes, bytes, n, error);
  text_free(&path);
  return status;
}

situ_status onnx_part_write(const model_parts *p, int32_t k, const char *folder, bool named, situ_error *error) {
  char name[32];
  text_buffer bytes = {0};
  snprintf(name, sizeof name, "part%d.onnx", (int)k);
  situ_status status = onnx_part_emit(&bytes, p, k, named, error);
  if (status == SITU_STATUS_OK) status = onnx_joined_write(folder, name, bytes.bytes, bytes.length, error);
  text_free(&bytes);
  return status;
}

/* Makes the folders above a path. */
static void make_folders(char *path, size_t from) {
  for (char *slash = strchr(path + from, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    os_make_folder(path);
    *slash = '/';
  }
}

/* Copies one file of external data, unless the folder is that of the model. */
static situ_status copy_external(const char *from, char *to, size_t folder_length, situ_error *error) {
  file_view view = {0};
  if (os_is_same(from, to)) return SITU_STATUS_OK;
  TRY(file_open(&view, from, error));
  make_folders(to, folder_length + 1);
  situ_status status = file_write(to, view.bytes, view.size_bytes, error);
  file_close(&view);
  return status;
}

static situ_status place_external(const model_file *f, const char *own, const char *folder, const char *name,
                                  situ_error *error) {
  text_buffer from = {0}, to = {0};
  text_add(&from, "%s%s", own, name);
  text_add(&to, "%s/%s", folder, name);
  char *real = from.failed ? NULL : os_real_path(from.bytes), *real_own = os_real_path(*own ? own : ".");
  size_t n = real_own ? strlen(real_own) : 0;
  bool inside = real && n > 0 && strncmp(real, real_own, n) == 0 && (real[n] == '/' || real_own[n - 1] == '/');
  situ_status status = SITU_STATUS_OK;
  if (from.failed || to.failed)
    status = fail_no_memory(error);
  else if (!inside)
    status = fail_with(error, SITU_STATUS_IO, f->path, "external data '%s' are not in the model's folder", name);
  else
    status = copy_external(real, to.bytes, strlen(folder), error);
  free(real);
  free(real_own);
  text_free(&from);
  text_free(&to);
  return status;
}

situ_status onnx_externals_write(const model_file *f, const char *folder, situ_error *error) {
  arena *a = arena_new();
  const char *own = a ? file_folder(a, f->path) : NULL;
  situ_status status = own ? SITU_STATUS_OK : fail_no_memory(error);
  for (int32_t i = 0; i < f->n_externals && status == SITU_STATUS_OK; i++)
    status = place_external(f, own, folder, f->externals[i], error);
  arena_free(a);
  return status;
}

/* ---- a model with notes on its nodes ---- */

static void copy_field(text_buffer *out, const wire_field *f) {
  text_add_bytes(out, (const char *)f->start, (size_t)(f->value.end - f->start));
}

static void edit_node(text_buffer *out, wire_span s, int32_t v, const onnx_edit *edit) {
  text_buffer node = {0};
  wire_field f;
  while (s.at < s.end && !wire_next(&s, &f))
    if (!edit->drops(&f)) copy_field(&node, &f);
  edit->add(&node, v, edit->context);
  wire_add_bytes(out, GRAPH_NODE, node.bytes, node.length);
  out->failed |= node.failed;
  text_free(&node);
}

situ_status onnx_edit_write(const model_file *file, const onnx_edit *edit, const char *folder, situ_error *error) {
  text_buffer graph = {0}, model = {0};
  wire_span s = file->graph, m = file->model;
  wire_field f;
  int32_t v = 0;
  TRY(file_make_folder(folder, error));
  while (s.at < s.end && !wire_next(&s, &f)) {
    if (f.number == GRAPH_NODE && f.wire == WIRE_BYTES)
      edit_node(&graph, f.value, v++, edit);
    else
      copy_field(&graph, &f);
  }
  while (m.at < m.end && !wire_next(&m, &f)) {
    if (f.number == MODEL_GRAPH)
      wire_add_bytes(&model, MODEL_GRAPH, graph.bytes, graph.length);
    else if (!edit->model_drops || !edit->model_drops(&f))
      copy_field(&model, &f);
  }
  if (edit->model) text_add_bytes(&model, edit->model->bytes, edit->model->length);
  bool failed = graph.failed || model.failed;
  situ_status status =
      failed ? fail_no_memory(error) : onnx_joined_write(folder, "model.onnx", model.bytes, model.length, error);
  text_free(&graph);
  text_free(&model);
  return status == SITU_STATUS_OK ? onnx_externals_write(file, folder, error) : status;
}
