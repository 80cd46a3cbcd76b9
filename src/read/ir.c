/* The reader of OpenVINO IR: parse, join, fill shapes, settle constants, cost, build. docs/formats/openvino.md says
 * what becomes of what.
 *
 * Every layer becomes an operator but Parameter, Const and Result, which do no work. As in the ONNX reader a value
 * computed from constants alone is a weight: the layers that make it do no work, and its bytes are charged to the first
 * operator that computes with it. Bodies are costed into their owner. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/hash.h"
#include "graph/builder.h"
#include "read/ir_net.h"
#include "read/node_cost.h"
#include "read/reader.h"

typedef struct reading {
  arena *a;
  const read_source *source;
  read_result *result;
  situ_error *error;
  ir_net *net;
  situ_graph_builder *builder;
  int64_t n_dynamic, n_floors, n_endless;
  int32_t current; /* the operator under way, in the builder */
  bool no_memory;  /* for a guess */
  int64_t weight_bytes, shared_bytes;
} reading;

/* <net> within the first bytes, with nothing before it but the head of an XML file. */
static int recognise(const read_source *source) {
  size_t n = source->size_bytes < 4096 ? source->size_bytes : 4096;
  const char *text = (const char *)source->bytes;
  for (size_t at = 0; at + 5 < n; at++) {
    if (strncmp(text + at, "<net", 4) == 0 && strchr(" \t\r\n>", text[at + 4])) return 2;
    if (at == 0 && !strchr("<\xef \t\r\n", text[at])) return 0;
    if (text[at] == '<' && !strchr("?!", text[at + 1])) return 0;
  }
  return 0;
}

/* States a guess about the operator under way. */
static void guess(reading *r, situ_guess_kind kind, const char *subject) {
  r->no_memory |= builder_add_guess(r->builder, kind, subject, r->current, r->error) != SITU_STATUS_OK;
}

static const char *label_of(const ir_layer *layer) { return *layer->name ? layer->name : layer->type; }

/* ---- costs ---- */

/* Charges the constants that a layer reads, each to its first reader. */
static int64_t charge(reading *r, ir_net *net, const ir_layer *layer) {
  int64_t total = layer->blob_bytes;
  for (int64_t i = 0; i < layer->n_inputs; i++) {
    if (layer->inputs[i].layer < 0) continue;
    int32_t from = layer->inputs[i].layer;
    if (net->layers[from].constant) total = sat_add(total, ir_charge(net, from, &r->shared_bytes));
  }
  r->weight_bytes = sat_add(r->weight_bytes, total);
  return total;
}

static node_cost cost_of_layer(reading *r, ir_net *net, ir_layer *layer);

static node_cost cost_of_body(reading *r, ir_net *net) {
  node_cost whole = {.inferred = true};
  for (int64_t i = 0; i < net->n_layers; i++) {
    ir_layer *layer = &net->layers[net->order[i]];
    if (ir_is_boundary(layer)) continue;
    r->result->n_nested_operators++;
    node_cost own = cost_of_layer(r, net, layer);
    node_cost_add(&whole, &own, 1);
  }
  return whole;
}

/* If costs as its dearer branch, a loop as its body times its trips; weights count once. */
static node_cost cost_of_owner(reading *r, ir_layer *layer) {
  node_cost body[2] = {{.inferred = true}, {.inferred = true}};
  for (int32_t b = 0; b < layer->n_bodies; b++) body[b] = cost_of_body(r, layer->bodies[b]);
  node_cost whole = {.inferred = true};
  if (strcmp(layer->type, "If") == 0) {
    if (body[0].flops != body[1].flops || body[0].moved_bytes != body[1].moved_bytes)
      guess(r, SITU_GUESS_CONTROL, label_of(layer));
    int dearer =
        body[1].flops > body[0].flops || (body[1].flops == body[0].flops && body[1].moved_bytes > body[0].moved_bytes);
    node_cost_add(&whole, &body[dearer], 1);
    whole.weight_bytes = sat_add(whole.weight_bytes, body[!dearer].weight_bytes);
    return whole;
  }
  int64_t trips = ir_trips(layer);
  if (trips < 0) r->n_endless++;
  if (trips < 0) guess(r, SITU_GUESS_CONTROL, label_of(layer));
  node_cost_add(&whole, &body[0], trips < 0 ? 1 : trips);
  whole.inferred &= trips >= 0;
  return whole;
}

static bool is_untyped(const ir_port *ports, int64_t n) {
  bool any = false;
  for (int64_t i = 0; i < n; i++) any |= situ_dtype_bits(ports[i].tensor.dtype) == 0;
  return any;
}

/* States what of the work of a layer is guessed. */
static void guess_work(reading *r, const ir_layer *layer, bool exact) {
  bool sized = layer->unsized && r->source->options->default_dim < 1;
  if (!exact && !ir_is_known(layer))
    guess(r, SITU_GUESS_KIND, layer->type);
  else if (!exact)
    guess(r,
          is_untyped(layer->inputs, layer->n_inputs) || is_untyped(layer->outputs, layer->n_outputs) ? SITU_GUESS_TYPE
                                                                                                     : SITU_GUESS_SHAPE,
          layer->type);
  else if (sized)
    guess(r, SITU_GUESS_SHAPE, layer->type);
}

static node_cost cost_of_layer(reading *r, ir_net *net, ir_layer *layer) {
  if (layer->constant) return (node_cost){.inferred = true};
  node_cost own = {.inferred = true};
  if (layer->n_bodies > 0) {
    own = cost_of_owner(r, layer);
  } else {
    ops_work work = ir_count(layer, r->a);
    own = (node_cost){.flops = work.flops,
                      .moved_bytes = sat_add(sat_add(work.read_bytes, work.written_bytes), layer->blob_bytes),
                      .dtype = ir_is_quantised(net, layer) ? SITU_DTYPE_I8 : work.dtype,
                      .dtype_flops = work.flops,
                      .inferred = work.exact};
    guess_work(r, layer, work.exact);
  }
  own.weight_bytes = sat_add(own.weight_bytes, charge(r, net, layer));
  return own;
}

/* ---- building ---- */

/* The size of dimensions that follow from nothing. */
static int64_t size_of_open(const reading *r) { return max64(r->source->options->default_dim, 1); }

/* Gives what is still open a size, in place: linked inputs share the dimensions of the outputs that they read. */
static void size_tensor(reading *r, const ops_tensor *t) {
  int64_t *dims = (int64_t *)(uintptr_t)t->dims;
  for (int32_t d = 0; d < t->rank; d++) {
    if (dims[d] >= 0) continue;
    dims[d] = size_of_open(r);
    r->n_dynamic++;
  }
}

static void size_dims(reading *r, ir_net *net) {
  for (int64_t i = 0; i < net->n_layers; i++) {
    ir_layer *layer = &net->layers[i];
    int64_t before = r->n_dynamic;
    for (int64_t k = 0; k < layer->n_outputs; k++) size_tensor(r, &layer->outputs[k].tensor);
    for (int64_t k = 0; k < layer->n_inputs; k++)
      if (layer->inputs[k].layer < 0) size_tensor(r, &layer->inputs[k].tensor);
    layer->unsized = r->n_dynamic > before;
    for (int32_t b = 0; b < layer->n_bodies; b++) size_dims(r, layer->bodies[b]);
  }
}

static situ_status build_layer(reading *r, ir_layer *layer, const char *name) {
  node_cost own = cost_of_layer(r, r->net, layer);
  if (r->no_memory) return fail_no_memory(r->error);
  if (!own.inferred) r->n_floors++;
  const char *slash = strrchr(name, '/');
  const char *folders = slash && slash > name ? arena_string_n(r->a, name, (size_t)(slash - name)) : NULL;
  if (slash && slash > name && !folders) return fail_no_memory(r->error);
  situ_operator op = {.name = name,
                      .kind = layer->type,
                      .layer = folders,
                      .dtype = own.dtype,
                      .weight_bytes = own.weight_bytes,
                      .flops = own.flops,
                      .moved_bytes = own.moved_bytes,
                      .source_id = layer->id,
                      .colocation = -1,
                      .inferred = own.inferred};
  int32_t index;
  TRY(builder_add_operator(r->builder, &op, &index, r->error));
  r->current = index + 1;
  for (int64_t i = 0; i < layer->n_inputs; i++) {
    const ir_layer *from = &r->net->layers[layer->inputs[i].layer];
    if (from->constant || layer->constant || ir_is_boundary(from)) continue;
    TRY(builder_add_use(r->builder, index, from->outputs[layer->inputs[i].output].made, r->error));
  }
  for (int64_t i = 0; i < layer->n_outputs; i++) {
    const ops_tensor *t = &layer->outputs[i].tensor;
    situ_tensor tensor = {.name = layer->outputs[i].name,
                          .dtype = t->dtype,
                          .rank = t->rank,
                          .dims = t->dims,
                          .size_bytes = layer->constant ? 0 : ops_bytes(t, NULL)};
    TRY(builder_add_tensor(r->builder, index, &tensor, &layer->outputs[i].made, r->error));
  }
  return SITU_STATUS_OK;
}

/* The layer's own name where that is the first of its kind, else with its id, which is unique, and as many bars as it
 * takes. */
static const char *name_of(reading *r, string_map *taken, const ir_layer *layer) {
  const char *base = *layer->name ? layer->name : layer->type;
  size_t room = strlen(base) + 64;
  for (int bars = *layer->name ? -1 : 0; bars < 32; bars++) {
    char *name = ARENA_NEW(r->a, char, (int64_t)room);
    if (!name) return NULL;
    if (bars < 0)
      snprintf(name, room, "%s", base);
    else
      snprintf(name, room, "%s_%.*s%lld", base, bars, "________________________________", (long long)layer->id);
    int64_t before = string_map_count(taken);
    if (string_map_put(taken, name, 0) < 0) return NULL;
    if (string_map_count(taken) > before) return name;
  }
  return NULL;
}

static situ_status build(reading *r) {
  string_map *taken = string_map_new(r->a, r->net->n_layers);
  if (!taken) return fail_no_memory(r->error);
  for (int64_t i = 0; i < r->net->n_layers; i++) {
    ir_layer *layer = &r->net->layers[r->net->order[i]];
    if (ir_is_boundary(layer)) continue;
    const char *name = name_of(r, taken, layer);
    if (!name) return fail_no_memory(r->error);
    TRY(build_layer(r, layer, name));
  }
  return situ_graph_freeze(&r->result->graph, r->builder, r->error);
}

static void remark(reading *r) {
  text_buffer *notes = &r->result->notes;
  if (r->n_dynamic > 0)
    text_add(notes, "dimensions without a size, %lld, count as %lld (set another size with --default-dim)\n",
             (long long)r->n_dynamic, (long long)size_of_open(r));
  if (r->n_endless > 0)
    text_add(notes, "%lld loops do not state how often they run: they are counted once\n", (long long)r->n_endless);
  if (r->n_floors > 0)
    text_add(notes, "%lld operators have shapes or kinds that are not fully known: their work is a lower bound\n",
             (long long)r->n_floors);
  if (r->shared_bytes > r->weight_bytes / 100)
    text_add(notes,
             "%lld bytes of weights are read again by further operators; the first in order is charged for them\n",
             (long long)r->shared_bytes);
}

static situ_status read_into(reading *r) {
  const read_source *s = r->source;
  TRY(ir_parse(&r->net, r->a, s, r->error));
  TRY(ir_join(r->net, r->a, s->path, r->error));
  TRY(situ_graph_builder_new(&r->builder, *r->net->name ? r->net->name : s->path, r->error));
  TRY(ir_shape(r->net, s, r->result, r->builder, r->a, r->error));
  TRY(ir_settle(r->net, read_precision(s->options->precision), r->a, r->error));
  size_dims(r, r->net);
  TRY(build(r));
  remark(r);
  return r->result->notes.failed ? fail_no_memory(r->error) : SITU_STATUS_OK;
}

static situ_status read_ir(read_result *result, const read_source *source, situ_error *error) {
  reading r = {.a = arena_new(), .source = source, .result = result, .error = error};
  if (!r.a) return fail_no_memory(error);
  situ_status status = read_into(&r);
  if (status == SITU_STATUS_OK && result->notes.failed) status = fail_no_memory(error);
  situ_graph_builder_free(r.builder);
  arena_free(r.a);
  return status;
}

const reader openvino_reader = {.name = "openvino",
                                .title = "OpenVINO IR (versions 6 to 11)",
                                .suffixes = ".xml",
                                .recognise = recognise,
                                .in_parts = true,
                                .names_dims = true,
                                .read = read_ir};
