/* Parts as OpenVINO IR: elements of the file, copied as they are. What changes are offsets into the data, which each
 * part has in a file of its own, and names of outputs by which engines find them; what is added are Parameter and
 * Result layers at the cuts. The document is known to be well-formed, without entities of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "split/ir_file.h"

enum { ALIGNMENT = 64, MAX_DEPTH = 256 };

typedef struct emitting {
  const model_file *file;
  const ir_detail *ir;
  const model_parts *parts;
  const model_part *part;
  int32_t k;
  bool named;
  arena *a;
  text_buffer layers, edges, data;
  string_map *copied;    /* where in the .bin -> where in the part's */
  bool *here;            /* [layer] copied into the part */
  bool *gives;           /* [value] an output of the part */
  int64_t *parameter_id; /* [value] of the Parameter layer that represents it; -1: none */
  int64_t next_id;
  situ_error *error;
} emitting;

/* ---- tags ---- */

typedef struct xml_tag {
  const char *begin, *end; /* from '<' behind '>' */
  bool closes, empty;      /* </x>, <x/> */
} xml_tag;

static const char *behind(const char *at, const char *end, const char *mark) {
  size_t n = strlen(mark);
  while (at + n <= end && memcmp(at, mark, n) != 0) at++;
  return at + n <= end ? at + n : end;
}

/* The next tag at or after *at, which advances past it; comments and similar are skipped. */
static bool next_tag(const char **at, const char *end, xml_tag *tag) {
  while (*at < end) {
    const char *open = memchr(*at, '<', (size_t)(end - *at));
    if (!open || open + 1 >= end) break;
    char quote = '\0';
    const char *to = open + 1;
    *at = *to != '!' && *to != '?'                               ? NULL
          : end - open >= 4 && memcmp(open, "<!--", 4) == 0      ? behind(open + 4, end, "-->")
          : end - open >= 9 && memcmp(open, "<![CDATA[", 9) == 0 ? behind(open + 9, end, "]]>")
                                                                 : behind(open, end, ">");
    if (*at) continue;
    for (; to < end && (quote || *to != '>'); to++)
      if (quote ? *to == quote : *to == '"' || *to == '\'') quote = quote ? '\0' : *to;
    *at = to < end ? to + 1 : end;
    *tag = (xml_tag){open, *at, open[1] == '/', to > open && to[-1] == '/'};
    return true;
  }
  return false;
}

static bool is_called(const xml_tag *tag, const char *name) {
  size_t n = strlen(name);
  return tag->end - tag->begin > (ptrdiff_t)n + 1 && memcmp(tag->begin + 1, name, n) == 0 &&
         strchr(" \t\r\n/>", tag->begin[1 + n]) != NULL;
}

/* The value of an attribute, within its quotes. */
static bool attribute(const xml_tag *tag, const char *name, const char **from, const char **to) {
  size_t n = strlen(name);
  const char *at = tag->begin + 1;
  while (at < tag->end && !strchr(" \t\r\n/>", *at)) at++;
  while (at < tag->end) {
    while (at < tag->end && strchr(" \t\r\n/>", *at)) at++;
    const char *key = at;
    while (at < tag->end && *at != '=' && !strchr(" \t\r\n/>", *at)) at++;
    bool same = (size_t)(at - key) == n && memcmp(key, name, n) == 0;
    while (at < tag->end && *at != '"' && *at != '\'') at++;
    if (at >= tag->end) return false;
    *from = at + 1;
    *to = memchr(*from, *at, (size_t)(tag->end - *from));
    if (!*to) return false;
    if (same) return true;
    at = *to + 1;
  }
  return false;
}

static bool attribute_is(const xml_tag *tag, const char *name, const char *value) {
  const char *from, *to;
  return attribute(tag, name, &from, &to) && (size_t)(to - from) == strlen(value) &&
         memcmp(from, value, (size_t)(to - from)) == 0;
}

/* A whole number of an attribute, -1 where there is none. */
static int64_t attribute_int(const xml_tag *tag, const char *name) {
  const char *from, *to;
  char text[24] = "", *end;
  if (!attribute(tag, name, &from, &to) || (size_t)(to - from) >= sizeof text) return -1;
  memcpy(text, from, (size_t)(to - from));
  long long value = strtoll(text, &end, 10);
  return *text && *end == '\0' ? value : -1;
}

static void add_quoted(text_buffer *out, const char *text) {
  for (; *text; text++) {
    const char *as = *text == '&'   ? "&amp;"
                     : *text == '<' ? "&lt;"
                     : *text == '>' ? "&gt;"
                     : *text == '"' ? "&quot;"
                                    : NULL;
    if (as)
      text_add(out, "%s", as);
    else
      text_add_bytes(out, text, 1);
  }
}

/* Names of tensors are apart by commas, so one within a name is marked. */
static void add_tensor_name(text_buffer *out, const char *name) {
  for (size_t n; *name; name += n) {
    char piece[256];
    n = strcspn(name, ",");
    n = n > 0 && n < sizeof piece ? n : n > 0 ? sizeof piece - 1 : 1;
    memcpy(piece, name, n);
    piece[n] = '\0';
    if (*name == ',') text_add(out, "\\");
    add_quoted(out, piece);
  }
}

/* Copies a tag with another value of an attribute, or one more. */
static void add_changed(text_buffer *out, const xml_tag *tag, const char *name, const char *value) {
  const char *from, *to;
  bool there = attribute(tag, name, &from, &to);
  if (!there) from = to = tag->end - (tag->empty ? 2 : 1);
  text_add_bytes(out, tag->begin, (size_t)(from - tag->begin));
  text_add(out, there ? "%s" : " %s=\"", there ? value : name);
  if (!there) text_add(out, "%s\"", value);
  text_add_bytes(out, to, (size_t)(tag->end - to));
}

/* ---- data ---- */

/* Adds `size` bytes of the .bin at `offset` to that of the part, once; *at is where they are. */
static situ_status copy_data(emitting *e, const ir_net *net, const ir_layer *layer, int64_t offset, int64_t size,
                             int64_t *at) {
  const ir_detail *ir = e->ir;
  char *key = ARENA_NEW(e->a, char, 64);
  if (!key) return fail_no_memory(e->error);
  snprintf(key, 64, "%lld %lld", (long long)(e->file->made_up ? layer->place.begin : offset), (long long)size);
  int64_t known = string_map_get(e->copied, key);
  *at = known;
  if (known >= 0) return SITU_STATUS_OK;
  if (!e->file->made_up && (offset > (int64_t)ir->data.size_bytes || size > (int64_t)ir->data.size_bytes - offset))
    return fail_with(e->error, SITU_STATUS_BAD_INPUT, e->file->path,
                     "layer %lld (%s): its data, %lld bytes at %lld, are not in %s, which has %zu",
                     (long long)layer->id, layer->name, (long long)size, (long long)offset, ir->data_path,
                     ir->data.size_bytes);
  while (e->data.length % ALIGNMENT > 0 && !e->data.failed) text_add_bytes(&e->data, "", 1);
  *at = (int64_t)e->data.length;
  if (e->file->made_up) {
    unsigned char *made = size < ((int64_t)1 << 40) ? malloc((size_t)size + 1) : NULL;
    if (!made) return fail_no_memory(e->error);
    ir_make_up(made, size, net, layer);
    text_add_bytes(&e->data, (const char *)made, (size_t)size);
    free(made);
  } else {
    file_view *view = (file_view *)(uintptr_t)&ir->data; /* reads a value that was not read yet */
    file_need(view, (size_t)offset, (size_t)size);
    TRY(file_result(view, ir->data_path, e->error));
    text_add_bytes(&e->data, (const char *)ir->data.bytes + offset, (size_t)size);
  }
  return string_map_put(e->copied, key, *at) < 0 || e->data.failed ? fail_no_memory(e->error) : SITU_STATUS_OK;
}

/* The layer whose element begins there, in a net or a body of it, and its net. */
static const ir_layer *layer_at(const ir_net **net, int64_t begin) {
  const ir_net *within = *net;
  for (int64_t i = 0; i < within->n_layers; i++) {
    const ir_layer *l = &within->layers[i];
    if (l->place.begin == begin) return l;
    for (int32_t b = 0; b < l->n_bodies && begin > l->place.begin && begin < l->place.end; b++) {
      const ir_net *body = l->bodies[b];
      const ir_layer *found = layer_at(&body, begin);
      if (!found) continue;
      *net = body;
      return found;
    }
  }
  return NULL;
}

/* ---- layers ---- */

/* A copy of a layer under way. */
typedef struct copying {
  int32_t layer, node;
  const char *innermost; /* where the last <layer> began */
  bool constant;         /* that it is a Const */
  int depth;
  bool outputs; /* within <output> of the layer itself */
} copying;

static situ_status copy_tag(emitting *e, copying *c, const xml_tag *tag) {
  const ir_layer *own = &e->ir->net->layers[c->layer];
  text_buffer *out = &e->layers;
  int64_t offset = attribute_int(tag, "offset"), size = attribute_int(tag, "size"), at = 0;
  char text[32];
  if (is_called(tag, "layer")) {
    c->innermost = tag->begin;
    c->constant = attribute_is(tag, "type", "Const");
    snprintf(text, sizeof text, "n%d", (int)c->node);
    if (c->depth == 0 && e->named && c->node >= 0) {
      add_changed(out, tag, "name", text);
      return SITU_STATUS_OK;
    }
  }
  if (offset >= 0 && size > 0 && (c->constant || !is_called(tag, "data"))) {
    const ir_net *net = e->ir->net;
    const ir_layer *layer =
        c->depth > 0 ? layer_at(&net, (const char *)c->innermost - (const char *)e->file->view.bytes) : own;
    if (!layer) return fail_with(e->error, SITU_STATUS_INTERNAL, own->name, "a layer within it was not found");
    TRY(copy_data(e, net, layer, offset, size, &at));
    snprintf(text, sizeof text, "%lld", (long long)at);
    add_changed(out, tag, "offset", text);
    return SITU_STATUS_OK;
  }
  int64_t port = c->outputs && c->depth == 2 && is_called(tag, "port") ? attribute_int(tag, "id") : -1;
  for (int64_t i = 0; port >= 0 && i < own->n_outputs; i++) {
    int32_t v = e->ir->first_value[c->layer] + (int32_t)i;
    if (own->outputs[i].id != port || !(e->gives[v] || e->file->values[v].is_input)) continue;
    size_t n = strlen(e->file->values[v].name);
    const char *names = own->outputs[i].names;
    if (names && strncmp(names, e->file->values[v].name, n) == 0 && (names[n] == ',' || !names[n])) break;
    text_buffer name = {0};
    add_tensor_name(&name, e->file->values[v].name);
    if (!name.failed) add_changed(out, tag, "names", name.bytes ? name.bytes : "");
    out->failed |= name.failed;
    text_free(&name);
    return SITU_STATUS_OK;
  }
  text_add_bytes(out, tag->begin, (size_t)(tag->end - tag->begin));
  return SITU_STATUS_OK;
}

static situ_status copy_layer(emitting *e, int32_t layer) {
  const ir_layer *l = &e->ir->net->layers[layer];
  const char *bytes = (const char *)e->file->view.bytes, *end = bytes + l->place.end, *at = bytes + l->place.begin;
  copying c = {.layer = layer, .node = e->ir->node_of_layer[layer]};
  xml_tag tag;
  if (e->here[layer]) return SITU_STATUS_OK;
  e->here[layer] = true;
  for (const char *from = at; next_tag(&at, end, &tag); from = at) {
    text_add_bytes(&e->layers, from, (size_t)(tag.begin - from));
    if (tag.closes) {
      c.depth--;
      if (c.depth == 1) c.outputs = false;
      text_add_bytes(&e->layers, tag.begin, (size_t)(tag.end - tag.begin));
      continue;
    }
    if (c.depth == 1) c.outputs = is_called(&tag, "output");
    TRY(copy_tag(e, &c, &tag));
    c.depth += !tag.empty;
    if (c.depth > MAX_DEPTH) return fail_with(e->error, SITU_STATUS_BAD_INPUT, l->name, "is nested too deeply");
  }
  text_add(&e->layers, "\n");
  return SITU_STATUS_OK;
}

/* ---- what is added ---- */

/* The words of the format for element types of ONNX. */
static const char *const type_words[][2] = {
    {"", ""},        {"f32", "FP32"}, {"u8", "U8"},   {"i8", "I8"},         {"u16", "U16"},
    {"i16", "I16"},  {"i32", "I32"},  {"i64", "I64"}, {"string", "STRING"}, {"boolean", "BOOL"},
    {"f16", "FP16"}, {"f64", "FP64"}, {"u32", "U32"}, {"u64", "U64"},       {"", ""},
    {"", ""},        {"bf16", "BF16"}};

static situ_status find_type(emitting *e, int32_t value, model_port *port) {
  TRY(model_parts_port(e->parts, value, port, e->error));
  if (port->type >= (int32_t)(sizeof type_words / sizeof *type_words) || !*type_words[port->type][0] || port->rank < 0)
    return fail_with(e->error, SITU_STATUS_UNSUPPORTED, e->file->values[value].name,
                     "has a type or a number of dimensions that cannot cross a cut");
  return SITU_STATUS_OK;
}

static void add_dims(text_buffer *out, const model_port *port) {
  for (int32_t d = 0; d < port->rank; d++) text_add(out, "<dim>%lld</dim>", (long long)port->dims[d]);
}

/* A Parameter for what another part makes. */
static situ_status add_parameter(emitting *e, int32_t value) {
  text_buffer *out = &e->layers;
  const char *name = e->file->values[value].name;
  model_port port;
  TRY(find_type(e, value, &port));
  e->parameter_id[value] = e->next_id++;
  text_add(out, "<layer id=\"%lld\" name=\"", (long long)e->parameter_id[value]);
  add_quoted(out, name);
  text_add(out, "\" type=\"Parameter\" version=\"opset1\"><data shape=\"");
  for (int32_t d = 0; d < port.rank; d++)
    text_add(out, port.dims[d] < 0 ? "%s?" : "%s%lld", d > 0 ? "," : "", (long long)port.dims[d]);
  text_add(out, "\" element_type=\"%s\"/><output><port id=\"0\" precision=\"%s\" names=\"", type_words[port.type][0],
           type_words[port.type][1]);
  add_tensor_name(out, name);
  text_add(out, "\">");
  add_dims(out, &port);
  text_add(out, "</port></output></layer>\n");
  return SITU_STATUS_OK;
}

static void add_edge(emitting *e, int64_t from, int64_t from_port, int64_t to, int64_t to_port) {
  text_add(&e->edges, "<edge from-layer=\"%lld\" from-port=\"%lld\" to-layer=\"%lld\" to-port=\"%lld\"/>\n",
           (long long)from, (long long)from_port, (long long)to, (long long)to_port);
}

/* The edge into `to` of whatever has the value in this part. */
static void add_use(emitting *e, int32_t value, int64_t to, int64_t to_port) {
  int32_t layer = e->ir->layer_of_value[value];
  const ir_layer *maker = &e->ir->net->layers[layer];
  if (e->parameter_id[value] >= 0)
    add_edge(e, e->parameter_id[value], 0, to, to_port);
  else
    add_edge(e, maker->id, maker->outputs[value - e->ir->first_value[layer]].id, to, to_port);
}

/* A Result for every value that other parts read. */
static situ_status add_result(emitting *e, int32_t value) {
  model_port port;
  TRY(find_type(e, value, &port));
  int64_t id = e->next_id++;
  text_add(&e->layers, "<layer id=\"%lld\" name=\"", (long long)id);
  add_quoted(&e->layers, e->file->values[value].name);
  text_add(&e->layers, "/result\" type=\"Result\" version=\"opset1\"><input><port id=\"0\" precision=\"%s\">",
           type_words[port.type][1]);
  add_dims(&e->layers, &port);
  text_add(&e->layers, "</port></input></layer>\n");
  add_use(e, value, id, 0);
  return SITU_STATUS_OK;
}

/* Edges into a layer of the file, from the weights that it reads too, which are copied. */
static situ_status add_reads(emitting *e, const ir_layer *layer) {
  for (int64_t i = 0; i < layer->n_inputs; i++) {
    int32_t from = layer->inputs[i].layer, value = e->ir->first_value[from] + layer->inputs[i].output;
    if (e->file->values[value].weight >= 0) TRY(copy_layer(e, from));
    add_use(e, value, layer->id, layer->inputs[i].id);
  }
  return SITU_STATUS_OK;
}

static situ_status add_layers(emitting *e) {
  const model_part *part = e->part;
  const ir_detail *ir = e->ir;
  for (int32_t i = 0; i < part->n_inputs; i++) {
    int32_t value = part->inputs[i];
    if (e->file->values[value].is_input)
      TRY(copy_layer(e, ir->layer_of_value[value]));
    else
      TRY(add_parameter(e, value));
  }
  for (int32_t i = 0; i < part->n_nodes; i++) {
    TRY(add_reads(e, &ir->net->layers[ir->layer_of_node[part->nodes[i]]]));
    TRY(copy_layer(e, ir->layer_of_node[part->nodes[i]]));
  }
  for (int32_t i = 0; i < part->n_outputs; i++) {
    int32_t value = part->outputs[i];
    if (!e->file->values[value].is_output) TRY(add_result(e, value));
  }
  for (int32_t i = 0; i < ir->net->n_layers; i++) { /* results of the model that this part gives */
    const ir_layer *layer = &ir->net->layers[i];
    if (strcmp(layer->type, "Result") != 0 || layer->n_inputs != 1) continue;
    if (!e->gives[ir->first_value[layer->inputs[0].layer] + layer->inputs[0].output]) continue;
    TRY(add_reads(e, layer));
    TRY(copy_layer(e, i));
  }
  return e->layers.failed || e->edges.failed ? fail_no_memory(e->error) : SITU_STATUS_OK;
}

/* ---- files ---- */

/* The text before the lists. Engines give outputs of version 10 different types from the file (32-bit integers instead
 * of 64-bit ones), so version 10 is written as 11, which is otherwise the same. */
static void add_head(text_buffer *out, const emitting *e, int64_t end) {
  const char *from = (const char *)e->file->view.bytes, *to = from + end, *at = from;
  xml_tag tag;
  while (e->ir->net->version == 10 && next_tag(&at, to, &tag)) {
    if (!is_called(&tag, "net")) continue;
    text_add_bytes(out, from, (size_t)(tag.begin - from));
    add_changed(out, &tag, "version", "11");
    from = tag.end;
    break;
  }
  text_add_bytes(out, from, (size_t)(to - from));
}

/* The document, with other lists of layers and edges. */
static situ_status put_together(emitting *e, text_buffer *out) {
  const char *bytes = (const char *)e->file->view.bytes;
  const ir_net *net = e->ir->net;
  ir_place first = net->layers_place, second = net->edges_place;
  if (second.end == 0) second = (ir_place){first.end, first.end}; /* a model without edges */
  bool swapped = second.begin < first.begin;
  ir_place lists[2] = {swapped ? second : first, swapped ? first : second};
  for (int i = 0; i < 2; i++) {
    bool edges = (i == 1) != swapped;
    if (i == 0)
      add_head(out, e, lists[0].begin);
    else
      text_add_bytes(out, bytes + lists[0].end, (size_t)(lists[1].begin - lists[0].end));
    const text_buffer *list = edges ? &e->edges : &e->layers;
    text_add(out, "<%s>\n", edges ? "edges" : "layers");
    text_add_bytes(out, list->bytes, list->length);
    text_add(out, "</%s>", edges ? "edges" : "layers");
  }
  text_add_bytes(out, bytes + lists[1].end, e->file->view.size_bytes - (size_t)lists[1].end);
  return out->failed ? fail_no_memory(e->error) : SITU_STATUS_OK;
}

static situ_status write_file(const emitting *e, const char *folder, const char *suffix, const text_buffer *bytes) {
  text_buffer path = {0};
  text_add(&path, "%s/part%d%s", folder, (int)e->k, suffix);
  situ_status status =
      path.failed ? fail_no_memory(e->error) : file_write(path.bytes, bytes->bytes, bytes->length, e->error);
  text_free(&path);
  return status;
}

static situ_status emit(emitting *e, const char *folder) {
  text_buffer whole = {0};
  const model_file *f = e->file;
  e->copied = string_map_new(e->a, f->n_weights);
  if (!e->copied || !ARENA_ARRAYS(e->a, ZEROS(e->here, e->ir->net->n_layers), ZEROS(e->gives, f->n_values),
                                  ARRAY(e->parameter_id, f->n_values)))
    return fail_no_memory(e->error);
  for (int32_t v = 0; v < f->n_values; v++) e->parameter_id[v] = -1;
  for (int32_t i = 0; i < e->part->n_outputs; i++) e->gives[e->part->outputs[i]] = true;
  TRY(add_layers(e));
  situ_status status = put_together(e, &whole);
  if (status == SITU_STATUS_OK && e->data.length > 0) status = write_file(e, folder, ".bin", &e->data);
  if (status == SITU_STATUS_OK) status = write_file(e, folder, ".xml", &whole);
  text_free(&whole);
  return status;
}

situ_status ir_part_write(const model_parts *p, int32_t k, const char *folder, bool named, situ_error *error) {
  emitting e = {.file = p->file,
                .ir = p->file->ir,
                .parts = p,
                .part = &p->parts[k],
                .k = k,
                .named = named,
                .a = arena_new(),
                .next_id = p->file->ir->first_free_id,
                .error = error};
  situ_status status = e.a ? emit(&e, folder) : fail_no_memory(error);
  text_free(&e.layers);
  text_free(&e.edges);
  text_free(&e.data);
  arena_free(e.a);
  return status;
}
