/* Open dimensions of an OpenVINO IR: inputs get sizes, and shapes and small values flow from them through the layers
 * (ir_rules.c says what each makes of them). Only what the file leaves open is filled.
 *
 * A net without open dimensions is left as it is. A tensor of any rank looks in the XML like a scalar; where a layer
 * with an open dimension makes more of it, that is its shape.
 *
 * As in the ONNX reader, sizes that were assumed may be wrong where the file is right: then a layer that they do not
 * fit keeps what the file states, the next assumption is tried (read/assume.h), and in the end a note says so. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/fail.h"
#include "base/hash.h"
#include "read/assume.h"
#include "read/ir_net.h"
#include "read/onnx_model.h"
#include "read/reader.h"

/* An output as the file states it, to start over from. */
typedef struct stated {
  ir_port *port;
  ops_tensor tensor;
  struct stated *next;
} stated;

enum { CLASHES_SHOWN = 3, MAX_VALUE_BYTES = 512 };

typedef struct shaping {
  const read_source *source;
  read_result *result;
  situ_graph_builder *builder;
  arena *a;
  situ_error *error;
  stated *open;
  string_map *given;               /* dimension -> the size that the caller gives */
  string_map *asked;               /* the open ones of the model */
  const char *names[ASSUME_NAMES]; /* the first of them, to suggest */
  int32_t assumption;              /* that is tried, see read/assume.h */
  int kinds;                       /* what depends on it */
  assumed *sizes;                  /* the last one first */
  int64_t past;                    /* tokens that states and past keys hold; -1: not asked for yet */
  text_buffer clashes;             /* notes on the first layers that do not fit */
  int64_t n_clashes;
  const char *data_path;
  file_view data; /* the constants; opened when one is needed */
  bool data_tried;
} shaping;

static bool is_type(const ir_layer *layer, const char *type) { return strcmp(layer->type, type) == 0; }
static bool is_real(situ_dtype dtype) { return dtype >= SITU_DTYPE_F64 && dtype <= SITU_DTYPE_F8; }

static int32_t count_open(const ops_tensor *t) {
  int32_t n = 0;
  for (int32_t d = 0; d < t->rank; d++) n += t->dims[d] < 0;
  return n;
}

/* ---- the constants ---- */

static double of_half(unsigned bits) {
  int exponent = (int)(bits >> 10 & 31);
  double mantissa = (double)(bits & 1023), sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return mantissa > 0 ? (double)NAN : sign * HUGE_VAL;
  return sign * ldexp(exponent > 0 ? mantissa + 1024 : mantissa, (exponent > 0 ? exponent : 1) - 25);
}

/* Half floats here, all else as the ONNX reader does. */
static situ_status decode(shaping *s, ops_tensor *t, const unsigned char *bytes, int64_t n) {
  if (t->dtype != SITU_DTYPE_F16) return onnx_decode(t, s->a, bytes, (size_t)n, s->error);
  double *reals = ARENA_NEW(s->a, double, n / 2);
  if (!reals) return fail_no_memory(s->error);
  for (int64_t k = 0; k < n / 2; k++) reals[k] = of_half((unsigned)(bytes[2 * k] | bytes[2 * k + 1] << 8));
  t->reals = reals;
  return SITU_STATUS_OK;
}

/* The elements of a constant of few bytes. Without the file, or when they are not in it, they stay unknown. */
static situ_status take_value(shaping *s, const ir_layer *layer) {
  if (layer->n_outputs != 1 || layer->outputs[0].tensor.ints || layer->outputs[0].tensor.reals) return SITU_STATUS_OK;
  ops_tensor *t = &layer->outputs[0].tensor;
  bool exact = true;
  int64_t size = ir_int(layer, "size", -1), at = ir_int(layer, "offset", -1), bits = situ_dtype_bits(t->dtype);
  int64_t n = ops_elements(t, &exact);
  static const int64_t none[1] = {0};
  if (exact && n == 0 && !is_real(t->dtype)) t->ints = none; /* a list of no axes is known */
  if (at < 0 || size < 1 || size > MAX_VALUE_BYTES || !exact || bits < 8 || sat_mul(n, bits / 8) != size)
    return SITU_STATUS_OK;
  if (!s->data_tried && file_exists(s->data_path)) {
    if (file_begin(&s->data, s->data_path, NULL) != SITU_STATUS_OK) s->data = (file_view){0};
  }
  s->data_tried = true;
  if (!s->data.bytes || (uint64_t)at > s->data.size_bytes || (uint64_t)size > s->data.size_bytes - (uint64_t)at)
    return SITU_STATUS_OK;
  file_need(&s->data, (size_t)at, (size_t)size);
  if (s->data.failed) return SITU_STATUS_OK;
  return decode(s, t, s->data.bytes + at, size);
}

/* ---- notes ---- */

static void add_line(text_buffer *to, const char *text) {
  char line[600];
  snprintf(line, sizeof line, "%s", text);
  for (char *c = line; *c; c++)
    if ((unsigned char)*c < ' ') *c = ' ';
  text_add(to, "%s\n", line);
}

/* A layer that the sizes do not fit. An error when all sizes were given. */
static situ_status clash(shaping *s, const ir_layer *layer, const char *why) {
  char text[500];
  if (!s->sizes && s->source->options->n_dims > 0)
    return fail_with(s->error, SITU_STATUS_BAD_INPUT, layer->name, "%s (layer %lld of %s)", why, (long long)layer->id,
                     s->source->path);
  if (s->n_clashes++ >= CLASHES_SHOWN) return SITU_STATUS_OK;
  snprintf(text, sizeof text, "layer '%.100s' does not fit the assumed dimensions: %.300s", layer->name, why);
  add_line(&s->clashes, text);
  return SITU_STATUS_OK;
}

/* ---- sizes that are asked for ---- */

/* The size of the dimension `name`: given, by default, or `assumed_size`, with a note. `batch`: that of a batch. */
static situ_status ask(shaping *s, const char *name, int64_t assumed_size, bool batch, const char *meaning,
                       int64_t *size) {
  char text[400];
  *size = string_map_get(s->given, name);
  if (*size >= 0) return SITU_STATUS_OK;
  *size = s->source->options->default_dim;
  if (*size < 1) *size = assumed_size;
  assumed *more = ARENA_NEW(s->a, assumed, 1);
  if (!more) return fail_no_memory(s->error);
  *more = (assumed){{name, *size}, s->sizes, batch};
  s->sizes = more;
  snprintf(text, sizeof text, "dimension %s = %lld%s (set it with --dim '%s=N')", name, (long long)*size, meaning,
           name);
  add_line(&s->result->notes, text);
  return SITU_STATUS_OK;
}

/* Remembers that the model has this dimension. */
static situ_status mention(shaping *s, const char *name) {
  int64_t n = string_map_count(s->asked);
  if (!name || string_map_put(s->asked, name, 0) < 0) return fail_no_memory(s->error);
  if (string_map_count(s->asked) > n && n < ASSUME_NAMES) s->names[n] = name;
  return SITU_STATUS_OK;
}

/* The tokens before this step: one size for all states and past keys of a language model. */
static situ_status size_past(shaping *s, int64_t *size) {
  TRY(mention(s, "past"));
  if (s->past < 0) TRY(ask(s, "past", 1, false, ": tokens in states and past keys before this step", &s->past));
  *size = s->past;
  return SITU_STATUS_OK;
}

/* The size of an open dimension of an input: given, by default, or assumed. */
static situ_status size_of(shaping *s, const assume_input *of, int32_t d, const char *input, int64_t *size) {
  char made[160];
  snprintf(made, sizeof made, "%.128s[%d]", input, (int)d); /* as executors have it */
  const char *name = arena_string(s->a, made);
  TRY(mention(s, name));
  bool of_past = strncmp(input, "past", 4) == 0 && d > 0 && of->rank >= 3;
  if (of_past && string_map_get(s->given, name) < 0) return size_past(s, size);
  return ask(s, name, assume_size(of, d, NULL, s->assumption, &s->kinds), assume_is_batch(of, d, NULL), "", size);
}

/* ---- one layer ---- */

/* Inputs are as their producers are now. */
static void take_inputs(const ir_net *net, ir_layer *layer) {
  for (int64_t k = 0; k < layer->n_inputs; k++) {
    ir_port *port = &layer->inputs[k];
    if (port->layer < 0) continue;
    const ir_port *from = &net->layers[port->layer].outputs[port->output];
    port->tensor = from->tensor;
    port->open = from->open;
  }
}

static bool touches_open(const ir_layer *layer) {
  bool open = false;
  for (int64_t k = 0; k < layer->n_inputs; k++) open |= layer->inputs[k].open;
  for (int64_t k = 0; k < layer->n_outputs; k++) open |= layer->outputs[k].open;
  return open;
}

static situ_status remember(shaping *s, ir_port *port) {
  stated *more = ARENA_NEW(s->a, stated, 1);
  if (!more) return fail_no_memory(s->error);
  *more = (stated){.port = port, .tensor = port->tensor, .next = s->open};
  s->open = more;
  port->open = true;
  return SITU_STATUS_OK;
}

/* Fills the open dimensions of an output by what was found. Values count when the shape is the one found. */
static situ_status fill(shaping *s, const ir_layer *layer, ir_port *port, const ops_tensor *found) {
  ops_tensor *t = &port->tensor;
  t->ints = NULL;
  t->reals = NULL;
  if (found->rank < 0) return SITU_STATUS_OK;
  if (t->rank == 0 && found->rank > 0 && touches_open(layer)) {
    TRY(remember(s, port));
    t->rank = found->rank;
    t->dims = found->dims;
    return SITU_STATUS_OK;
  }
  if (found->rank != t->rank)
    return touches_open(layer) ? clash(s, layer, "the file states another rank") : SITU_STATUS_OK;
  int64_t *dims = ARENA_NEW(s->a, int64_t, t->rank);
  if (!dims) return fail_no_memory(s->error);
  bool fits = true;
  for (int32_t d = 0; d < t->rank; d++) {
    fits &= t->dims[d] < 0 || found->dims[d] < 0 || t->dims[d] == found->dims[d];
    dims[d] = t->dims[d] >= 0 ? t->dims[d] : found->dims[d];
  }
  t->dims = dims;
  if (!fits) return touches_open(layer) ? clash(s, layer, "the file states other sizes") : SITU_STATUS_OK;
  t->ints = is_real(t->dtype) ? NULL : found->ints;
  t->reals = is_real(t->dtype) ? found->reals : NULL;
  return SITU_STATUS_OK;
}

static bool keeps_elements(const ir_layer *layer) {
  static const char *const types[] = {"Reshape",      "Squeeze",      "Unsqueeze", "Transpose",
                                      "DepthToSpace", "SpaceToDepth", "ReorgYolo"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (is_type(layer, types[i])) return true;
  return false;
}

/* The only open dimension of what has as many elements as the first input. */
static situ_status fill_by_count(shaping *s, const ir_layer *layer) {
  if (!keeps_elements(layer) || layer->n_outputs != 1 || layer->n_inputs < 1) return SITU_STATUS_OK;
  ops_tensor *t = &layer->outputs[0].tensor;
  bool exact = true;
  int64_t have = ops_elements(&layer->inputs[0].tensor, &exact), known = 1;
  if (!exact || have == INT64_MAX || count_open(t) != 1) return SITU_STATUS_OK;
  for (int32_t d = 0; d < t->rank; d++)
    if (t->dims[d] >= 0) known = sat_mul(known, t->dims[d]);
  if (known == 0 || have % known != 0) return SITU_STATUS_OK;
  int64_t *dims = ARENA_NEW(s->a, int64_t, t->rank);
  if (!dims) return fail_no_memory(s->error);
  for (int32_t d = 0; d < t->rank; d++) dims[d] = t->dims[d] >= 0 ? t->dims[d] : have / known;
  t->dims = dims;
  return SITU_STATUS_OK;
}

/* A state that begins empty has grown to the length of the past: its dimensions that the file leaves open, but are zero
 * at the beginning or not known. */
static situ_status grow_state(shaping *s, const ir_layer *layer, ops_tensor *found) {
  const ops_tensor *t = &layer->outputs[0].tensor;
  if (!is_type(layer, "ReadValue") || layer->n_outputs != 1 || t->rank < 3) return SITU_STATUS_OK;
  int64_t *dims = ARENA_NEW(s->a, int64_t, t->rank);
  if (!dims) return fail_no_memory(s->error);
  for (int32_t d = 0; d < t->rank; d++) {
    bool known = found->rank == t->rank && found->dims[d] > 0;
    dims[d] = known ? found->dims[d] : t->dims[d];
    if (dims[d] < 0 && d > 0) TRY(size_past(s, &dims[d]));
  }
  *found = (ops_tensor){.dtype = t->dtype, .rank = t->rank, .dims = dims};
  return SITU_STATUS_OK;
}

static situ_status shape_layer(shaping *s, ir_layer *layer) {
  ops_tensor *found = ARENA_ZERO(s->a, ops_tensor, layer->n_outputs);
  if (!found) return fail_no_memory(s->error);
  for (int64_t k = 0; k < layer->n_outputs; k++) {
    found[k] = layer->outputs[k].tensor;
    found[k].ints = NULL;
    found[k].reals = NULL;
    if (found[k].rank == 0) found[k].rank = -1;
  }
  situ_error inner = {0};
  situ_status status = ir_infer(layer, found, s->a, &inner);
  if (status == SITU_STATUS_NO_MEMORY) return fail_no_memory(s->error);
  for (int64_t k = 0; k < layer->n_outputs; k++) {
    if (status != SITU_STATUS_OK) found[k] = (ops_tensor){.rank = -1};
    if (k == 0) TRY(grow_state(s, layer, &found[k]));
    TRY(fill(s, layer, &layer->outputs[k], &found[k]));
  }
  if (status != SITU_STATUS_OK && touches_open(layer)) TRY(clash(s, layer, inner.text));
  return fill_by_count(s, layer);
}

/* ---- bodies ---- */

static situ_status shape_net(shaping *s, ir_net *net);

typedef struct boundary {
  int64_t id;
  ir_layer *layer;
} boundary;

COMPARATOR(by_id, boundary, UP(id))

/* What goes in and out of a body, by id. */
typedef struct gates {
  boundary *list;
  int64_t n;
} gates;

static situ_status find_gates(shaping *s, const ir_net *body, gates *g) {
  g->list = ARENA_NEW(s->a, boundary, body->n_layers);
  if (!g->list) return fail_no_memory(s->error);
  for (int64_t i = 0; i < body->n_layers; i++)
    if (ir_is_boundary(&body->layers[i])) g->list[g->n++] = (boundary){body->layers[i].id, &body->layers[i]};
  qsort(g->list, (size_t)g->n, sizeof *g->list, by_id);
  return SITU_STATUS_OK;
}

static ir_layer *gate(const gates *g, int64_t id) {
  const boundary wanted = {.id = id};
  const boundary *found = g->n > 0 ? bsearch(&wanted, g->list, (size_t)g->n, sizeof *g->list, by_id) : NULL;
  return found ? found->layer : NULL;
}

/* A copy of a shape with another size along an axis, which may count from behind. */
static situ_status with_axis(shaping *s, ops_tensor *t, int64_t axis, int64_t size) {
  if (axis < 0) axis += t->rank;
  if (axis < 0 || axis >= t->rank) return SITU_STATUS_OK;
  int64_t *dims = ARENA_NEW(s->a, int64_t, t->rank);
  if (!dims) return fail_no_memory(s->error);
  memcpy(dims, t->dims, (size_t)t->rank * sizeof *dims);
  dims[axis] = size;
  t->dims = dims;
  return SITU_STATUS_OK;
}

/* The value that enters a body: a part of it where the body gets a part. What may change from run to run of a loop has
 * no value. */
static situ_status enter(shaping *s, const ir_layer *owner, const ir_mapping *m, const gates *g) {
  int64_t at = ir_find_port(owner->inputs, owner->n_inputs, m->external_port);
  ir_layer *into = gate(g, m->internal_layer);
  if (at < 0 || !into || !is_type(into, "Parameter") || into->n_outputs != 1) return SITU_STATUS_OK;
  ops_tensor t = owner->inputs[at].tensor;
  if (m->sliced) TRY(with_axis(s, &t, m->axis, m->part_size));
  if (m->sliced || !is_type(owner, "If")) t.ints = NULL, t.reals = NULL;
  ir_port *port = &into->outputs[0];
  bool any_rank = port->tensor.rank == 0 && t.rank > 0 && owner->inputs[at].open;
  if (any_rank) TRY(remember(s, port));
  if (any_rank) port->tensor.rank = t.rank, port->tensor.dims = t.dims;
  return port->tensor.rank == t.rank ? fill(s, owner, port, &t) : SITU_STATUS_OK;
}

/* The value that leaves a body. Of two branches the larger one counts. */
static situ_status leave(shaping *s, ir_layer *owner, const ir_mapping *m, const gates *g, ops_tensor *found) {
  int64_t at = ir_find_port(owner->outputs, owner->n_outputs, m->external_port);
  const ir_layer *from = gate(g, m->internal_layer);
  if (at < 0 || !from || !is_type(from, "Result") || from->n_inputs != 1) return SITU_STATUS_OK;
  ops_tensor t = from->inputs[0].tensor;
  t.ints = NULL;
  t.reals = NULL;
  int64_t trips = m->sliced ? ir_trips(owner) : 1;
  if (m->sliced) TRY(with_axis(s, &t, m->axis, trips < 0 ? -1 : sat_mul(trips, m->part_size)));
  if (t.rank >= 0 && ops_elements(&t, NULL) >= ops_elements(&found[at], NULL)) found[at] = t;
  return SITU_STATUS_OK;
}

static situ_status shape_owner(shaping *s, ir_layer *owner) {
  ops_tensor *found = ARENA_ZERO(s->a, ops_tensor, owner->n_outputs);
  if (!found) return fail_no_memory(s->error);
  for (int64_t k = 0; k < owner->n_outputs; k++) found[k].rank = -1;
  for (int32_t b = 0; b < owner->n_bodies; b++) {
    ir_net *body = owner->bodies[b];
    gates g = {0};
    TRY(find_gates(s, body, &g));
    for (int64_t i = 0; i < owner->n_mappings; i++) {
      const ir_mapping *m = &owner->mappings[i];
      if (m->input && m->default_value == body->default_value) TRY(enter(s, owner, m, &g));
    }
    TRY(shape_net(s, body));
    for (int64_t i = 0; i < owner->n_mappings; i++) {
      const ir_mapping *m = &owner->mappings[i];
      if (!m->input && m->default_value == body->default_value) TRY(leave(s, owner, m, &g, found));
    }
  }
  for (int64_t k = 0; k < owner->n_outputs; k++)
    if (found[k].rank == owner->outputs[k].tensor.rank || owner->outputs[k].tensor.rank == 0)
      TRY(fill(s, owner, &owner->outputs[k], &found[k]));
  return SITU_STATUS_OK;
}

static situ_status shape_net(shaping *s, ir_net *net) {
  for (int64_t i = 0; i < net->n_layers; i++) {
    ir_layer *layer = &net->layers[net->order[i]];
    take_inputs(net, layer);
    if (is_type(layer, "Const"))
      TRY(take_value(s, layer));
    else if (layer->n_bodies > 0)
      TRY(shape_owner(s, layer));
    else if (!ir_is_boundary(layer))
      TRY(shape_layer(s, layer));
  }
  return SITU_STATUS_OK;
}

/* ---- inputs ---- */

static situ_status size_inputs(shaping *s, ir_net *net) {
  bool first = true;
  for (int64_t i = 0; i < net->n_layers; i++) {
    ir_layer *layer = &net->layers[i];
    if (!is_type(layer, "Parameter") && !is_type(layer, "Input")) continue;
    for (int64_t k = 0; k < layer->n_outputs; k++) {
      ops_tensor *t = &layer->outputs[k].tensor;
      assume_input of = {.dtype = t->dtype, .rank = t->rank, .dims = t->dims, .first = first};
      first = false;
      if (count_open(t) == 0) continue;
      int64_t *dims = ARENA_NEW(s->a, int64_t, t->rank);
      if (!dims) return fail_no_memory(s->error);
      for (int32_t d = 0; d < t->rank; d++) {
        dims[d] = t->dims[d];
        if (dims[d] < 0) TRY(size_of(s, &of, d, layer->outputs[k].name, &dims[d]));
      }
      t->dims = dims;
    }
  }
  return SITU_STATUS_OK;
}

/* ---- the whole ---- */

static situ_status find_open(shaping *s, ir_net *net) {
  for (int64_t i = 0; i < net->n_layers; i++) {
    ir_layer *layer = &net->layers[i];
    for (int64_t k = 0; k < layer->n_outputs; k++)
      if (count_open(&layer->outputs[k].tensor) > 0) TRY(remember(s, &layer->outputs[k]));
    for (int32_t b = 0; b < layer->n_bodies; b++) TRY(find_open(s, layer->bodies[b]));
  }
  return SITU_STATUS_OK;
}

/* Counts are by shapes, as they are of a file that states them. */
static void forget_values(ir_net *net) {
  for (int64_t i = 0; i < net->n_layers; i++) {
    ir_layer *layer = &net->layers[i];
    for (int64_t k = 0; k < layer->n_outputs; k++)
      layer->outputs[k].tensor.ints = NULL, layer->outputs[k].tensor.reals = NULL;
    take_inputs(net, layer);
    for (int32_t b = 0; b < layer->n_bodies; b++) forget_values(layer->bodies[b]);
  }
}

static situ_status try_sizes(shaping *s, ir_net *net, size_t notes_before) {
  text_buffer *notes = &s->result->notes;
  for (stated *o = s->open; o; o = o->next) o->port->tensor = o->tensor;
  notes->length = notes_before;
  if (notes->bytes) notes->bytes[notes_before] = '\0';
  s->clashes.length = 0;
  s->n_clashes = 0;
  s->sizes = NULL;
  s->kinds = 0;
  s->past = -1;
  TRY(size_inputs(s, net));
  return shape_net(s, net);
}

static void note_clashes(const shaping *s) {
  if (s->n_clashes == 0) return;
  text_add(&s->result->notes, "%.*slayers that do not fit the assumed dimensions: %lld; set these with --dim\n",
           (int)s->clashes.length, s->clashes.bytes ? s->clashes.bytes : "", (long long)s->n_clashes);
}

static situ_status shape_all(shaping *s, ir_net *net) {
  size_t notes_before = s->result->notes.length;
  s->asked = string_map_new(s->a, 16);
  if (!s->asked) return fail_no_memory(s->error);
  TRY(assume_given(&s->given, s->source->options, s->a, s->error));
  TRY(find_open(s, net));
  if (s->open) {
    do TRY(try_sizes(s, net, notes_before));
    while (s->n_clashes > 0 && (s->assumption = assume_next(s->assumption, s->kinds)) >= 0);
    forget_values(net);
    note_clashes(s);
    if (s->data_tried && !s->data.bytes)
      text_add(&s->result->notes, "the constants, which shapes may depend on, are not there: no file %.300s\n",
               read_base_name(s->data_path));
  }
  TRY(assume_state(s->builder, s->sizes, s->source->options, s->asked, s->error));
  TRY(assume_refuse_unknown(s->source->options, s->asked, s->names, s->source->path, s->error));
  return assume_keep(s->result, s->sizes, s->source->options, s->error);
}

situ_status ir_shape(ir_net *net, const read_source *source, read_result *result, situ_graph_builder *builder, arena *a,
                     situ_error *error) {
  shaping s = {.source = source,
               .result = result,
               .builder = builder,
               .a = a,
               .error = error,
               .data_path = ir_data_path(a, source->path)};
  if (!s.data_path) return fail_no_memory(error);
  situ_status status = shape_all(&s, net);
  if (status == SITU_STATUS_OK && s.clashes.failed) status = fail_no_memory(error);
  text_free(&s.clashes);
  if (s.data.bytes) file_close(&s.data);
  return status;
}
