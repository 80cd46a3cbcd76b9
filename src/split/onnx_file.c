#include "split/onnx_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/resize.h"

enum { MAX_NESTING = 64, MAX_LISTED = 1 << 28 };
/* Fields of ONNX messages that are read. */
enum { MODEL_GRAPH = 7 };
enum { GRAPH_NODE = 1, GRAPH_WEIGHT = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, GRAPH_VALUE = 13, GRAPH_SPARSE = 15 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_NAME = 3, NODE_KIND = 4, NODE_ATTRIBUTE = 5 };
enum { ATTRIBUTE_TENSOR = 5, ATTRIBUTE_GRAPH = 6, ATTRIBUTE_TENSORS = 10, ATTRIBUTE_GRAPHS = 11 };
enum { TENSOR_NAME = 8, TENSOR_EXTERNAL = 13, SPARSE_VALUES = 1 };

/* A list of names or numbers that grows. */
typedef struct growing {
  void *items;
  int64_t n, room;
} growing;

typedef struct taking {
  model_file *file;
  arena *a;
  situ_error *error;
  growing reads, makes; /* int32_t each */
  string_map *externals;
  const char **free_names; /* of the node at hand: what its sub-graphs take from outside */
  int64_t n_free, free_room;
  bool has_body; /* the node at hand */
} taking;

static situ_status bad(const taking *t, const char *what) {
  return fail_with(t->error, SITU_STATUS_BAD_INPUT, t->file->path, "is not a valid ONNX file: %s", what);
}

static situ_status push(taking *t, growing *g, int32_t value) {
  if (g->n == g->room) {
    g->room = g->room ? 2 * g->room : 256;
    if (g->room > MAX_LISTED || !array_resize(&g->items, g->room, sizeof value)) return fail_no_memory(t->error);
  }
  ((int32_t *)g->items)[g->n++] = value;
  return SITU_STATUS_OK;
}

static char *text_of(const taking *t, const wire_field *f) {
  return arena_string_n(t->a, (const char *)f->value.at, (size_t)(f->value.end - f->value.at));
}

/* Takes the next field; false after reporting what is wrong. */
static bool next(const taking *t, wire_span *s, wire_field *f) {
  const char *wrong = wire_next(s, f);
  if (wrong) bad(t, wrong);
  return !wrong;
}

/* Walks the fields of a message: WALK(s, f) statement, with `s` used up; broken bytes end the function. */
#define WALK(span, f)               \
  while ((span).at < (span).end)    \
    if (!next(t, &(span), &(f)))    \
      return SITU_STATUS_BAD_INPUT; \
    else

/* The first text in field `number` of a message; "" where there is none. */
static situ_status text_field(taking *t, wire_span s, uint32_t number, const char **out) {
  wire_field f;
  *out = "";
  WALK(s, f)
  if (f.number == number && f.wire == WIRE_BYTES && !(*out = text_of(t, &f))) return fail_no_memory(t->error);
  return SITU_STATUS_OK;
}

/* ---- external data ---- */

/* Whether a path is relative and never climbs, whatever system wrote it. */
static bool stays_below(const char *path) {
  if (!*path || *path == '/' || *path == '\\' || path[1] == ':') return false;
  while (*path) {
    size_t n = strcspn(path, "/\\");
    if (n == 2 && path[0] == '.' && path[1] == '.') return false;
    path += n;
    path += *path != '\0';
  }
  return true;
}

static situ_status take_tensor(taking *t, wire_span s) {
  wire_field f;
  WALK(s, f) {
    if (f.number != TENSOR_EXTERNAL || f.wire != WIRE_BYTES) continue;
    const char *key, *value;
    TRY(text_field(t, f.value, 1, &key));
    TRY(text_field(t, f.value, 2, &value));
    if (strcmp(key, "location") != 0) continue;
    if (!stays_below(value))
      return fail_with(t->error, SITU_STATUS_BAD_INPUT, t->file->path,
                       "external data '%s' lie outside the model's folder", value);
    int64_t n = t->file->n_externals, i = string_map_put(t->externals, value, n);
    if (i < 0) return fail_no_memory(t->error);
    if (i < n) continue;
    if (n % 16 == 0 && !array_resize(&t->file->externals, n + 16, sizeof(char *))) return fail_no_memory(t->error);
    t->file->externals[t->file->n_externals++] = value;
  }
  return SITU_STATUS_OK;
}

/* ---- nodes and their sub-graphs ---- */

typedef situ_status per_name(taking *t, const char *name, void *context);

static situ_status free_names_of(taking *t, wire_span graph, int depth);

/* Calls back for each value that a node reads (its own inputs first); omitted names are empty. */
static situ_status node_reads(taking *t, wire_span node, per_name *each, void *context, int depth) {
  wire_field f, g;
  wire_span s = node;
  WALK(s, f) {
    if (f.number != NODE_INPUT || f.wire != WIRE_BYTES) continue;
    const char *name = text_of(t, &f);
    if (!name) return fail_no_memory(t->error);
    if (*name) TRY(each(t, name, context));
  }
  WALK(node, f) {
    if (f.number != NODE_ATTRIBUTE || f.wire != WIRE_BYTES) continue;
    wire_span attribute = f.value;
    WALK(attribute, g) {
      if (g.wire != WIRE_BYTES) continue;
      if (g.number == ATTRIBUTE_TENSOR || g.number == ATTRIBUTE_TENSORS) TRY(take_tensor(t, g.value));
      if (g.number != ATTRIBUTE_GRAPH && g.number != ATTRIBUTE_GRAPHS) continue;
      int64_t first = t->n_free;
      t->has_body = true;
      TRY(free_names_of(t, g.value, depth + 1));
      for (int64_t i = first; i < t->n_free; i++) TRY(each(t, t->free_names[i], context));
      t->n_free = first;
    }
  }
  return SITU_STATUS_OK;
}

static situ_status add_free(taking *t, const char *name, void *context) {
  string_map *inside = context;
  if (string_map_get(inside, name) >= 0) return SITU_STATUS_OK;
  if (string_map_put(inside, name, 1) < 0) return fail_no_memory(t->error); /* once is enough */
  if (t->n_free == t->free_room) {
    t->free_room = t->free_room ? 2 * t->free_room : 64;
    if (!array_resize(&t->free_names, t->free_room, sizeof *t->free_names)) return fail_no_memory(t->error);
  }
  t->free_names[t->n_free++] = name;
  return SITU_STATUS_OK;
}

/* Values that a graph itself provides: inputs, weights, outputs of its nodes. */
static situ_status names_inside(taking *t, wire_span graph, string_map *inside) {
  wire_field f, g;
  WALK(graph, f) {
    if (f.wire != WIRE_BYTES) continue;
    wire_span s = f.value;
    const char *name = "";
    if (f.number == GRAPH_WEIGHT) {
      TRY(take_tensor(t, s));
      TRY(text_field(t, s, TENSOR_NAME, &name));
    } else if (f.number == GRAPH_SPARSE) {
      WALK(s, g) {
        if (g.number == SPARSE_VALUES && g.wire == WIRE_BYTES) TRY(text_field(t, g.value, TENSOR_NAME, &name));
      }
    } else if (f.number == GRAPH_INPUT) {
      TRY(text_field(t, s, 1, &name));
    } else if (f.number == GRAPH_NODE) {
      WALK(s, g) {
        if (g.number != NODE_OUTPUT || g.wire != WIRE_BYTES) continue;
        const char *made = text_of(t, &g);
        if (!made || string_map_put(inside, made, 0) < 0) return fail_no_memory(t->error);
      }
    }
    if (string_map_put(inside, name, 0) < 0) return fail_no_memory(t->error);
  }
  return SITU_STATUS_OK;
}

/* Adds the names that a sub-graph takes from outside to t->free_names. */
static situ_status free_names_of(taking *t, wire_span graph, int depth) {
  wire_field f;
  if (depth > MAX_NESTING) return bad(t, "sub-graphs are nested too deeply");
  string_map *inside = string_map_new(t->a, 16);
  if (!inside) return fail_no_memory(t->error);
  TRY(names_inside(t, graph, inside));
  WALK(graph, f) {
    if (f.wire != WIRE_BYTES) continue;
    if (f.number == GRAPH_NODE) TRY(node_reads(t, f.value, add_free, inside, depth));
    const char *name = "";
    if (f.number == GRAPH_OUTPUT) TRY(text_field(t, f.value, 1, &name));
    if (*name) TRY(add_free(t, name, inside));
  }
  return SITU_STATUS_OK;
}

/* ---- the main graph ---- */

static situ_status value_of(taking *t, const char *name, int32_t *out) {
  model_file *file = t->file;
  int64_t i = string_map_put(file->by_name, name, file->n_values);
  if (i < 0) return fail_no_memory(t->error);
  *out = (int32_t)i;
  if (i < file->n_values) return SITU_STATUS_OK;
  if (file->n_values % 1024 == 0 && !array_resize(&file->values, file->n_values + 1024, sizeof *file->values))
    return fail_no_memory(t->error);
  file->values[file->n_values++] = (model_value){.name = name, .maker = -1, .weight = -1};
  return SITU_STATUS_OK;
}

/* How many of each, to make room. */
static situ_status count(taking *t) {
  model_file *file = t->file;
  wire_span s = file->graph;
  wire_field f;
  int64_t n[GRAPH_SPARSE + 1] = {0};
  WALK(s, f) if (f.number <= GRAPH_SPARSE && f.wire == WIRE_BYTES) n[f.number]++;
  int64_t n_weights = n[GRAPH_WEIGHT] + n[GRAPH_SPARSE];
  if (n[GRAPH_NODE] > INT32_MAX / 4 || n_weights > INT32_MAX / 4) return bad(t, "it has too many nodes or weights");
  file->by_name = string_map_new(t->a, 2 * n[GRAPH_NODE] + n_weights);
  bool room = file->by_name &&
              ARENA_ARRAYS(t->a, ARRAY(file->nodes, n[GRAPH_NODE]), ARRAY(file->weights, n_weights),
                           ARRAY(file->kind, n[GRAPH_NODE]), ZEROS(file->has_body, n[GRAPH_NODE]),
                           ZEROS(file->reads.start, n[GRAPH_NODE] + 1), ZEROS(file->makes.start, n[GRAPH_NODE] + 1),
                           ARRAY(file->inputs, n[GRAPH_INPUT]), ARRAY(file->outputs, n[GRAPH_OUTPUT]));
  return room ? SITU_STATUS_OK : fail_no_memory(t->error);
}

static situ_status add_weight(taking *t, const wire_field *f) {
  model_file *file = t->file;
  model_item *w = &file->weights[file->n_weights];
  wire_span tensor = f->value, s = f->value;
  wire_field g;
  *w = (model_item){.bytes = f->value, .sparse = f->number == GRAPH_SPARSE};
  if (w->sparse) {
    WALK(s, g) if (g.number == SPARSE_VALUES && g.wire == WIRE_BYTES) tensor = g.value;
  }
  TRY(text_field(t, tensor, TENSOR_NAME, &w->name));
  TRY(take_tensor(t, tensor));
  TRY(value_of(t, w->name, &w->value));
  file->values[w->value].weight = file->n_weights++;
  return SITU_STATUS_OK;
}

/* Weights, inputs, outputs and declared types. */
static situ_status take_values(taking *t) {
  model_file *file = t->file;
  wire_span s = file->graph;
  wire_field f;
  int32_t v;
  const char *name;
  WALK(s, f) {
    if (f.wire != WIRE_BYTES) continue;
    if (f.number == GRAPH_WEIGHT || f.number == GRAPH_SPARSE) TRY(add_weight(t, &f));
    if (f.number != GRAPH_INPUT && f.number != GRAPH_OUTPUT && f.number != GRAPH_VALUE) continue;
    TRY(text_field(t, f.value, 1, &name));
    if (!*name) continue;
    TRY(value_of(t, name, &v));
    model_value *value = &file->values[v];
    if (!value->info.at) value->info = f.value;
    value->is_input |= f.number == GRAPH_INPUT;
    if (f.number == GRAPH_OUTPUT && !value->is_output) file->outputs[file->n_outputs++] = v;
    value->is_output |= f.number == GRAPH_OUTPUT;
    if (f.number == GRAPH_INPUT) file->inputs[file->n_inputs++] = v;
  }
  int32_t n = 0;
  for (int32_t i = 0; i < file->n_inputs; i++)
    if (file->values[file->inputs[i]].weight < 0) file->inputs[n++] = file->inputs[i];
  file->n_inputs = n;
  return SITU_STATUS_OK;
}

static situ_status add_read(taking *t, const char *name, void *context) {
  int32_t v, first = *(int32_t *)context;
  TRY(value_of(t, name, &v));
  for (int64_t i = first; i < t->reads.n; i++)
    if (((int32_t *)t->reads.items)[i] == v) return SITU_STATUS_OK;
  return push(t, &t->reads, v);
}

static situ_status add_node(taking *t, wire_span node) {
  model_file *file = t->file;
  int32_t k = file->n_nodes++, v, first = (int32_t)t->reads.n;
  wire_field f;
  file->nodes[k] = (model_item){.bytes = node};
  TRY(text_field(t, node, NODE_NAME, &file->nodes[k].name));
  TRY(text_field(t, node, NODE_KIND, &file->kind[k]));
  wire_span s = node;
  WALK(s, f) {
    if (f.number != NODE_OUTPUT || f.wire != WIRE_BYTES || f.value.at == f.value.end) continue;
    const char *name = text_of(t, &f);
    if (!name) return fail_no_memory(t->error);
    TRY(value_of(t, name, &v));
    model_value *value = &file->values[v];
    bool twice = value->maker >= 0 || value->weight >= 0 || value->is_input;
    if (twice && !(value->maker >= 0 && strcmp(file->kind[k], "Constant") == 0))
      return fail_with(t->error, SITU_STATUS_BAD_INPUT, t->file->path, "value '%s' is produced twice", name);
    value->maker = k; /* of two equal Constants the later one counts, as engines take it */
    TRY(push(t, &t->makes, v));
  }
  t->has_body = false;
  TRY(node_reads(t, node, add_read, &first, 0));
  file->has_body[k] = t->has_body;
  file->reads.start[k + 1] = (int32_t)t->reads.n;
  file->makes.start[k + 1] = (int32_t)t->makes.n;
  return SITU_STATUS_OK;
}

static situ_status take_nodes(taking *t) {
  model_file *file = t->file;
  wire_span s = file->graph;
  wire_field f;
  WALK(s, f) if (f.number == GRAPH_NODE && f.wire == WIRE_BYTES) TRY(add_node(t, f.value));
  file->reads.item = ARENA_COPY(t->a, t->reads.items, int32_t, t->reads.n);
  file->makes.item = ARENA_COPY(t->a, t->makes.items, int32_t, t->makes.n);
  if (!file->reads.item || !file->makes.item) return fail_no_memory(t->error);
  for (int64_t i = 0; i < t->reads.n + file->n_outputs; i++) {
    const model_value *v = &file->values[i < t->reads.n ? file->reads.item[i] : file->outputs[i - t->reads.n]];
    if (v->maker < 0 && v->weight < 0 && !v->is_input)
      return fail_with(t->error, SITU_STATUS_BAD_INPUT, file->path, "value '%s' is read, but nothing produces it",
                       v->name);
  }
  return SITU_STATUS_OK;
}

static situ_status take_apart(taking *t) {
  model_file *file = t->file;
  wire_span s = file->model;
  wire_field f;
  WALK(s, f) if (f.number == MODEL_GRAPH && f.wire == WIRE_BYTES) {
    if (file->graph.at) return bad(t, "it has two graphs");
    file->graph = f.value;
  }
  if (!file->graph.at) return bad(t, "it has no graph");
  t->externals = string_map_new(t->a, 4);
  if (!t->externals) return fail_no_memory(t->error);
  TRY(count(t));
  TRY(take_values(t));
  return take_nodes(t);
}

situ_status onnx_file_open(model_file **out, const char *path, situ_error *error) {
  *out = NULL;
  arena *a = arena_new();
  model_file *file = a ? ARENA_ZERO(a, model_file, 1) : NULL;
  if (!file) {
    arena_free(a);
    return fail_no_memory(error);
  }
  file->arena = a;
  file->path = arena_string(a, path);
  taking t = {.file = file, .a = a, .error = error};
  situ_status status = file->path ? file_open(&file->view, path, error) : fail_no_memory(error);
  file->model = (wire_span){file->view.bytes, file->view.bytes + file->view.size_bytes};
  if (status == SITU_STATUS_OK) status = take_apart(&t);
  free(t.reads.items);
  free(t.makes.items);
  free(t.free_names);
  if (status == SITU_STATUS_OK)
    *out = file;
  else
    model_file_free(file);
  return status;
}

/* ---- types ---- */

/* The last message in field `number`; false where there is none. */
static bool inner(wire_span s, uint32_t number, wire_span *out) {
  wire_field f;
  out->at = NULL;
  while (s.at < s.end && !wire_next(&s, &f))
    if (f.number == number && f.wire == WIRE_BYTES) *out = f.value;
  return out->at != NULL;
}

bool onnx_file_typed(const model_file *file, int32_t value) {
  wire_span type;
  return file->values[value].info.at && inner(file->values[value].info, 2, &type) && type.at < type.end;
}

bool onnx_file_port(const model_file *file, int32_t value, model_port *out) {
  wire_span type, tensor, shape;
  wire_field f, g;
  *out = (model_port){.rank = -1};
  if (!file->values[value].info.at || !inner(file->values[value].info, 2, &type) || !inner(type, 1, &tensor))
    return false;
  for (wire_span s = tensor; s.at < s.end && !wire_next(&s, &f);)
    if (f.number == 1 && f.wire == WIRE_VARINT) out->type = (int32_t)(f.varint & 0xff);
  if (!inner(tensor, 2, &shape)) return out->type > 0;
  out->rank = 0;
  while (shape.at < shape.end && !wire_next(&shape, &f)) {
    if (f.number != 1 || f.wire != WIRE_BYTES) continue;
    if (out->rank == MODEL_MAX_RANK) return false;
    int32_t d = out->rank++;
    out->dims[d] = -1;
    for (wire_span s = f.value; s.at < s.end && !wire_next(&s, &g);) {
      if (g.number == 1 && g.wire == WIRE_VARINT) out->dims[d] = g.varint > INT64_MAX ? -1 : (int64_t)g.varint;
      size_t n = (size_t)(g.value.end - g.value.at), max = sizeof out->dim_name[d] - 1;
      if (g.number == 2 && g.wire == WIRE_BYTES) memcpy(out->dim_name[d], g.value.at, n < max ? n : max);
    }
  }
  return out->type > 0;
}
