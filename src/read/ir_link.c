/* Edges of an OpenVINO IR: who reads what, in which order, and what is constant. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "read/ir_net.h"

typedef struct linker {
  ir_net *net;
  arena *a;
  const char *path;
  situ_error *error;
} linker;

static situ_status bad_layer(const linker *l, const ir_layer *layer, const char *what, int64_t port) {
  return fail_with(l->error, SITU_STATUS_BAD_INPUT, l->path, "layer %lld (%s): %s %lld", (long long)layer->id,
                   layer->name, what, (long long)port);
}

COMPARATOR(by_port_id, ir_port, UP(id))

static situ_status sort_ports(const linker *l, const ir_layer *layer, ir_port *ports, int64_t n) {
  bool sorted = true;
  for (int64_t i = 1; i < n; i++) sorted &= ports[i - 1].id < ports[i].id;
  if (!sorted) qsort(ports, (size_t)n, sizeof *ports, by_port_id);
  for (int64_t i = 1; i < n; i++)
    if (ports[i - 1].id == ports[i].id) return bad_layer(l, layer, "there are two ports", ports[i].id);
  return SITU_STATUS_OK;
}

int64_t ir_find_port(const ir_port *ports, int64_t n, int64_t id) {
  int64_t low = 0, high = n;
  while (low < high) {
    int64_t middle = low + (high - low) / 2;
    if (ports[middle].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n && ports[low].id == id ? low : -1;
}

typedef struct keyed {
  int64_t id;
  int32_t layer;
} keyed;

COMPARATOR(by_key, keyed, UP(id))

static situ_status index_layers(linker *l, keyed *index) {
  ir_net *net = l->net;
  for (int32_t i = 0; i < net->n_layers; i++) index[i] = (keyed){net->layers[i].id, i};
  qsort(index, (size_t)net->n_layers, sizeof *index, by_key);
  for (int64_t i = 1; i < net->n_layers; i++)
    if (index[i - 1].id == index[i].id)
      return fail_with(l->error, SITU_STATUS_BAD_INPUT, l->path, "two layers have the id %lld", (long long)index[i].id);
  for (int64_t i = 0; i < net->n_layers; i++) {
    ir_layer *layer = &net->layers[i];
    TRY(sort_ports(l, layer, layer->inputs, layer->n_inputs));
    TRY(sort_ports(l, layer, layer->outputs, layer->n_outputs));
  }
  return SITU_STATUS_OK;
}

static ir_layer *find_layer(const linker *l, const keyed *index, int64_t id) {
  const keyed wanted = {.id = id};
  const keyed *found = bsearch(&wanted, index, (size_t)l->net->n_layers, sizeof *index, by_key);
  return found ? &l->net->layers[found->layer] : NULL;
}

static situ_status follow(const linker *l, const keyed *index, const ir_edge *e) {
  ir_layer *from = find_layer(l, index, e->from_layer), *to = find_layer(l, index, e->to_layer);
  if (!from || !to)
    return fail_with(l->error, SITU_STATUS_BAD_INPUT, l->path,
                     "an edge leads from layer %lld to layer %lld, but there is no layer %lld",
                     (long long)e->from_layer, (long long)e->to_layer, (long long)(from ? e->to_layer : e->from_layer));
  int64_t output = ir_find_port(from->outputs, from->n_outputs, e->from_port);
  int64_t input = ir_find_port(to->inputs, to->n_inputs, e->to_port);
  if (output < 0) return bad_layer(l, from, "an edge leaves it at an output that does not exist, port", e->from_port);
  if (input < 0) return bad_layer(l, to, "an edge enters it at an input that does not exist, port", e->to_port);
  ir_port *port = &to->inputs[input];
  if (port->layer >= 0) return bad_layer(l, to, "two edges enter at port", e->to_port);
  port->layer = (int32_t)(from - l->net->layers);
  port->output = (int32_t)output;
  port->tensor = from->outputs[output].tensor;
  return SITU_STATUS_OK;
}

/* Kahn's algorithm: layers in the order of the file as far as that is topological. */
static situ_status order_layers(const linker *l) {
  ir_net *net = l->net;
  int64_t n = net->n_layers;
  int64_t *start, *missing;
  int32_t *reader;
  if (!ARENA_ARRAYS(l->a, ZEROS(start, n + 2), ARRAY(reader, net->n_edges), ZEROS(missing, n), ARRAY(net->order, n),
                    ARRAY(net->pending, n)))
    return fail_no_memory(l->error);
  for (int64_t i = 0; i < n; i++)
    for (int64_t k = 0; k < net->layers[i].n_inputs; k++)
      if (net->layers[i].inputs[k].layer >= 0) start[net->layers[i].inputs[k].layer + 2]++;
  for (int64_t i = 1; i < n + 2; i++) start[i] += start[i - 1];
  for (int32_t i = 0; i < n; i++) {
    for (int64_t k = 0; k < net->layers[i].n_inputs; k++) {
      int32_t from = net->layers[i].inputs[k].layer;
      if (from < 0) continue;
      reader[start[from + 1]++] = i;
      missing[i]++;
    }
  }
  int64_t n_ready = 0;
  for (int32_t i = 0; i < n; i++)
    if (missing[i] == 0) net->order[n_ready++] = i;
  for (int64_t at = 0; at < n_ready; at++) {
    int32_t v = net->order[at];
    for (int64_t k = start[v]; k < start[v + 1]; k++)
      if (--missing[reader[k]] == 0) net->order[n_ready++] = reader[k];
  }
  for (int64_t i = 0; i < n && n_ready < n; i++)
    if (missing[i] > 0)
      return fail_with(l->error, SITU_STATUS_BAD_INPUT, l->path, "layer %lld (%s) is on a cycle or depends on one",
                       (long long)net->layers[i].id, net->layers[i].name);
  return SITU_STATUS_OK;
}

bool ir_is_boundary(const ir_layer *layer) {
  static const char *const types[] = {"Parameter", "Input", "Const", "Result"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(layer->type, types[i]) == 0) return true;
  return false;
}

/* Whether equal inputs always give equal outputs. */
static bool repeats(const ir_layer *layer) {
  static const char *const types[] = {"RandomUniform", "Multinomial", "ReadValue", "Assign", "Result"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(layer->type, types[i]) == 0) return false;
  return true;
}

/* The shape of something whose dimensions are all given is known before anything runs. */
static bool is_known_shape(const ir_layer *layer) {
  if (strcmp(layer->type, "ShapeOf") != 0 || layer->n_inputs != 1) return false;
  const ops_tensor *t = &layer->inputs[0].tensor;
  for (int32_t d = 0; d < t->rank; d++)
    if (t->dims[d] < 0) return false;
  return true;
}

static void find_constants(ir_net *net) {
  for (int64_t at = 0; at < net->n_layers; at++) {
    ir_layer *layer = &net->layers[net->order[at]];
    bool constant = layer->n_inputs > 0 && repeats(layer);
    for (int64_t k = 0; k < layer->n_inputs; k++)
      constant &= layer->inputs[k].layer >= 0 && net->layers[layer->inputs[k].layer].constant;
    layer->constant = constant || strcmp(layer->type, "Const") == 0 || is_known_shape(layer);
  }
}

/* How constants are held, and that their readers know it. False without memory. */
static bool hold_constants(ir_net *net, situ_dtype precision, arena *a) {
  for (int64_t at = 0; at < net->n_layers; at++) {
    ir_layer *layer = &net->layers[net->order[at]];
    const ops_tensor **sources = ARENA_NEW(a, const ops_tensor *, layer->n_inputs);
    if (!sources) return false;
    for (int64_t k = 0; k < layer->n_inputs; k++) {
      ir_port *port = &layer->inputs[k];
      if (port->layer >= 0) port->tensor = net->layers[port->layer].outputs[port->output].tensor;
      ops_set_precision(&port->tensor, precision);
      sources[k] = &port->tensor;
    }
    if (layer->constant && layer->n_outputs > 0 && strcmp(layer->type, "Const") == 0)
      layer->outputs[0].tensor.stored_bytes = ir_int(layer, "size", layer->blob_bytes);
    for (int64_t k = 0; k < layer->n_outputs; k++) ops_set_precision(&layer->outputs[k].tensor, precision);
    if (!layer->constant || strcmp(layer->type, "Const") == 0) continue;
    if (!is_known_shape(layer))
      for (int64_t k = layer->n_outputs - 1; k >= 0; k--)
        layer->of_sources = ops_hold(&layer->outputs[k].tensor, sources, (int32_t)layer->n_inputs);
  }
  return true;
}

static bool is_few_levels(const ir_layer *layer) {
  return strcmp(layer->type, "FakeQuantize") == 0 && ir_int(layer, "levels", INT64_MAX) <= 256;
}

/* The bytes that the file stores for a constant; for one with new elements, the bytes of these. */
static int64_t own_bytes(const ir_layer *layer) {
  if (layer->of_sources || is_known_shape(layer)) return 0;
  int64_t bytes = 0;
  for (int64_t i = 0; i < layer->n_outputs; i++) bytes = sat_add(bytes, ops_bytes(&layer->outputs[i].tensor, NULL));
  return bytes;
}

int64_t ir_charge(ir_net *net, int32_t constant, int64_t *shared_bytes) {
  int64_t total = 0;
  int32_t n = 0;
  if (net->layers[constant].charged) {
    *shared_bytes = sat_add(*shared_bytes, ops_bytes(&net->layers[constant].outputs[0].tensor, NULL));
    return 0;
  }
  net->layers[constant].charged = true;
  net->pending[n++] = constant;
  while (n > 0) {
    const ir_layer *layer = &net->layers[net->pending[--n]];
    total = sat_add(total, own_bytes(layer));
    for (int64_t i = 0; layer->of_sources && i < layer->n_inputs; i++) {
      int32_t from = layer->inputs[i].layer;
      if (net->layers[from].charged) continue;
      net->layers[from].charged = true;
      net->pending[n++] = from;
    }
  }
  return total;
}

bool ir_is_quantised(const ir_net *net, const ir_layer *layer) {
  static const char *const types[] = {"Convolution", "GroupConvolution", "MatMul"};
  bool multiplies = false;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) multiplies |= strcmp(layer->type, types[i]) == 0;
  if (!multiplies || layer->n_inputs < 2 || layer->inputs[0].layer < 0 || layer->inputs[1].layer < 0) return false;
  const ir_layer *weights = &net->layers[layer->inputs[1].layer];
  const ops_tensor *t = &layer->inputs[1].tensor;
  bool packed = weights->constant && t->stored_bytes > 0 && t->stored_bytes < 2 * ops_elements(t, NULL);
  return is_few_levels(&net->layers[layer->inputs[0].layer]) && (packed || is_few_levels(weights));
}

/* Parts of a dimension from start to end; negative values count from the end, the last element being -1 + size + 1. */
static int64_t parts_of(const ir_mapping *m, int64_t size) {
  int64_t start = m->start < 0 ? m->start + size + 1 : m->start, end = m->end < 0 ? m->end + size + 1 : m->end;
  if (start < 0 || start > size || end < 0 || end > size || m->stride == 0) return -1;
  int64_t span = start < end ? end - start : start - end, stride = m->stride < 0 ? -m->stride : m->stride;
  return span / stride;
}

int64_t ir_trips(const ir_layer *layer) {
  for (int64_t i = 0; i < layer->n_mappings; i++) {
    const ir_mapping *m = &layer->mappings[i];
    if (!m->sliced) continue;
    const ir_port *ports = m->input ? layer->inputs : layer->outputs;
    int64_t at = ir_find_port(ports, m->input ? layer->n_inputs : layer->n_outputs, m->external_port);
    if (at < 0) continue;
    const ops_tensor *t = &ports[at].tensor;
    int64_t axis = m->axis < 0 ? m->axis + t->rank : m->axis;
    int64_t parts = axis >= 0 && axis < t->rank && t->dims[axis] >= 0 ? parts_of(m, t->dims[axis]) : -1;
    if (parts >= 0) return parts;
  }
  return -1;
}

/* The first name that the file gives a tensor; NULL where it gives none, or one that is written in another way. */
static const char *first_name(const ir_port *port, arena *a) {
  size_t n = port->names ? strcspn(port->names, ",\\") : 0;
  return n == 0 || port->names[n] == '\\' ? NULL : arena_string_n(a, port->names, n);
}

/* A name that no other output has: that of the file, else that of the layer, with the output's number where it has
 * several, and as many bars as it takes. */
static situ_status name_output(string_map *taken, const ir_layer *layer, ir_port *port, int64_t output, arena *a,
                               situ_error *error) {
  const char *own = first_name(port, a);
  size_t n = own ? strlen(own) : strlen(layer->name), room = n + 64;
  for (int bars = -1; bars < 32; bars++) {
    char *name = ARENA_NEW(a, char, (int64_t)room);
    if (!name) return fail_no_memory(error);
    if (bars >= 0 || !(own || *layer->name))
      snprintf(name, room, "%s_%.*s%lld.%lld", own ? own : layer->name, bars > 0 ? bars : 0,
               "________________________________", (long long)layer->id, (long long)output);
    else if (own || layer->n_outputs == 1)
      snprintf(name, room, "%s", own ? own : layer->name);
    else
      snprintf(name, room, "%s.%lld", layer->name, (long long)output);
    int64_t before = string_map_count(taken);
    if (string_map_put(taken, name, 0) < 0) return fail_no_memory(error);
    port->name = name;
    if (string_map_count(taken) > before) break;
  }
  return SITU_STATUS_OK;
}

static situ_status name_outputs(ir_net *net, arena *a, situ_error *error) {
  string_map *taken = string_map_new(a, net->n_layers);
  if (!taken) return fail_no_memory(error);
  for (int64_t i = 0; i < net->n_layers; i++)
    for (int64_t k = 0; k < net->layers[i].n_outputs; k++)
      TRY(name_output(taken, &net->layers[i], &net->layers[i].outputs[k], k, a, error));
  return SITU_STATUS_OK;
}

static situ_status join_net(ir_net *net, bool body, arena *a, const char *path, situ_error *error) {
  linker l = {.net = net, .a = a, .path = path, .error = error};
  keyed *index = ARENA_NEW(a, keyed, net->n_layers);
  if (!index) return fail_no_memory(error);
  TRY(index_layers(&l, index));
  for (int64_t i = 0; i < net->n_edges; i++) TRY(follow(&l, index, &net->edges[i]));
  for (int64_t i = 0; i < net->n_layers && !body; i++)
    for (int64_t k = 0; k < net->layers[i].n_inputs; k++)
      if (net->layers[i].inputs[k].layer < 0)
        return bad_layer(&l, &net->layers[i], "no edge enters at port", net->layers[i].inputs[k].id);
  TRY(order_layers(&l));
  for (int64_t i = 0; i < net->n_layers; i++)
    for (int32_t b = 0; b < net->layers[i].n_bodies; b++) TRY(join_net(net->layers[i].bodies[b], true, a, path, error));
  return SITU_STATUS_OK;
}

situ_status ir_join(ir_net *net, arena *a, const char *path, situ_error *error) {
  TRY(join_net(net, false, a, path, error));
  return name_outputs(net, a, error);
}

situ_status ir_settle(ir_net *net, situ_dtype precision, arena *a, situ_error *error) {
  find_constants(net);
  if (!hold_constants(net, precision, a)) return fail_no_memory(error);
  for (int64_t i = 0; i < net->n_layers; i++)
    for (int32_t b = 0; b < net->layers[i].n_bodies; b++) TRY(ir_settle(net->layers[i].bodies[b], precision, a, error));
  return SITU_STATUS_OK;
}

situ_status ir_link(ir_net *net, situ_dtype precision, arena *a, const char *path, situ_error *error) {
  TRY(ir_join(net, a, path, error));
  return ir_settle(net, precision, a, error);
}

const char *ir_data_path(arena *a, const char *path) {
  const char *dot = strrchr(file_name(path), '.');
  size_t n = dot ? (size_t)(dot - path) : strlen(path);
  char *made = ARENA_NEW(a, char, (int64_t)n + 5);
  if (!made) return NULL;
  memcpy(made, path, n);
  memcpy(made + n, ".bin", 5);
  return made;
}
