/* The XML of an OpenVINO IR, by expat. Documents must not declare types, and so no entities; depth, numbers and sizes
 * are checked while parsing. Unknown content (metadata, run-time information) is skipped. */
#include <expat.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/checked.h"
#include "base/fail.h"
#include "read/ir_net.h"
#include "read/reader.h"

enum {
  FIRST_VERSION = 6,
  LAST_VERSION = 11,
  MAX_DEPTH = 200,
  MAX_BODIES = 16,
  CHUNK_BYTES = 1 << 20,
  MAX_LIST = 1 << 28
};

/* The kind of an element, given its parent. */
typedef enum element {
  OTHER,
  NET,
  LAYERS,
  LAYER,
  DATA,
  INPUTS,
  OUTPUTS,
  PORT,
  DIM,
  BLOBS,
  BLOB,
  MAPPINGS,
  MAPPING,
  BODY,
  EDGES,
  EDGE
} element;

typedef struct parser {
  XML_Parser xml;
  arena *a;
  const char *path;
  situ_error *error;
  situ_status status;
  element stack[MAX_DEPTH];
  int depth;
  ir_net *nets[MAX_BODIES]; /* the main net and the bodies under way */
  int n_nets;
  ir_net *main;
  bool default_value; /* the ports under way are those of the else body */
  char text[32];      /* of the dimension under way */
  size_t n_text;
} parser;

static void refuse(parser *p, const char *what, const char *detail) {
  if (p->status != SITU_STATUS_OK) return;
  p->status = fail_with(p->error, SITU_STATUS_BAD_INPUT, p->path, "line %lu: %s%s",
                        (unsigned long)XML_GetCurrentLineNumber(p->xml), what, detail);
  XML_StopParser(p->xml, XML_FALSE);
}

static void no_memory(parser *p) {
  if (p->status != SITU_STATUS_OK) return;
  p->status = fail_no_memory(p->error);
  XML_StopParser(p->xml, XML_FALSE);
}

/* An array of n elements with room for one more: it doubles when n is a power of two. NULL after an error. */
static void *room(parser *p, void *old, int64_t n, size_t size) {
  if (n >= MAX_LIST) {
    refuse(p, "too many elements of one kind", "");
    return NULL;
  }
  if (n & (n - 1)) return old;
  void *more = arena_alloc(p->a, n > 0 ? 2 * n : 1, size);
  if (!more) no_memory(p);
  if (more && n > 0) memcpy(more, old, (size_t)n * size);
  return more;
}

static const char *kept(parser *p, const char *text) {
  const char *copy = arena_string(p->a, text);
  if (!copy) no_memory(p);
  return copy;
}

static const char *find(const char **attrs, const char *key) {
  for (int i = 0; attrs[i]; i += 2)
    if (strcmp(attrs[i], key) == 0) return attrs[i + 1];
  return NULL;
}

/* A whole number of at most 18 digits; false when the text is none. */
static bool whole(const char *text, int64_t *value) {
  bool minus = *text == '-';
  const char *at = text + (minus || *text == '+');
  size_t n = strspn(at, "0123456789");
  if (n == 0 || n > 18 || at[n] != '\0') return false;
  int64_t found = 0;
  for (size_t i = 0; i < n; i++) found = 10 * found + (at[i] - '0');
  *value = minus ? -found : found;
  return true;
}

/* An attribute that is a whole number of at least `least`; `otherwise` when it is absent. */
static int64_t number(parser *p, const char **attrs, const char *key, int64_t min, int64_t default_value) {
  const char *text = find(attrs, key);
  int64_t value = default_value;
  if (text && (!whole(text, &value) || value < min)) refuse(p, "a whole number is expected as attribute ", key);
  return value;
}

static int64_t needed(parser *p, const char **attrs, const char *key) {
  if (!find(attrs, key)) refuse(p, "there is no attribute ", key);
  return number(p, attrs, key, 0, 0);
}

static const struct {
  const char *name;
  situ_dtype dtype;
} precisions[] = {
    {"fp32", SITU_DTYPE_F32},  {"f32", SITU_DTYPE_F32},      {"fp16", SITU_DTYPE_F16},      {"f16", SITU_DTYPE_F16},
    {"bf16", SITU_DTYPE_BF16}, {"fp64", SITU_DTYPE_F64},     {"f64", SITU_DTYPE_F64},       {"f8e4m3", SITU_DTYPE_F8},
    {"f8e5m2", SITU_DTYPE_F8}, {"i64", SITU_DTYPE_I64},      {"i32", SITU_DTYPE_I32},       {"i16", SITU_DTYPE_I16},
    {"i8", SITU_DTYPE_I8},     {"i4", SITU_DTYPE_I4},        {"u4", SITU_DTYPE_I4},         {"nf4", SITU_DTYPE_I4},
    {"u64", SITU_DTYPE_U64},   {"u32", SITU_DTYPE_U32},      {"u16", SITU_DTYPE_U16},       {"u8", SITU_DTYPE_U8},
    {"bool", SITU_DTYPE_BOOL}, {"boolean", SITU_DTYPE_BOOL}, {"string", SITU_DTYPE_STRING},
};

static situ_dtype dtype_of(const char *name) {
  for (size_t i = 0; name && i < sizeof precisions / sizeof *precisions; i++)
    if (ascii_same(name, precisions[i].name)) return precisions[i].dtype;
  return SITU_DTYPE_UNKNOWN;
}

/* ---- elements ---- */

static int64_t begin_of_element(const parser *p) { return XML_GetCurrentByteIndex(p->xml); }
static int64_t end_of_element(const parser *p) {
  return XML_GetCurrentByteIndex(p->xml) + XML_GetCurrentByteCount(p->xml);
}

static ir_net *net_of(parser *p) { return p->nets[p->n_nets - 1]; }
static ir_layer *layer_of(parser *p) { return &net_of(p)->layers[net_of(p)->n_layers - 1]; }

static void begin_net(parser *p) {
  if (p->n_nets == MAX_BODIES) {
    refuse(p, "bodies are nested too deeply", "");
    return;
  }
  ir_net *net = ARENA_ZERO(p->a, ir_net, 1);
  if (!net) {
    no_memory(p);
    return;
  }
  net->name = "";
  p->nets[p->n_nets++] = net;
}

static void begin_main(parser *p, const char **attrs) {
  begin_net(p);
  if (p->status != SITU_STATUS_OK) return;
  p->main = net_of(p);
  const char *name = find(attrs, "name");
  if (name) p->main->name = kept(p, name);
  p->main->version = needed(p, attrs, "version");
  if (p->main->version < FIRST_VERSION || p->main->version > LAST_VERSION)
    refuse(p, "IR versions 6 to 11 can be read; this file has version ",
           find(attrs, "version") ? find(attrs, "version") : "?");
}

static void begin_body(parser *p, const char *name) {
  ir_layer *owner = layer_of(p);
  begin_net(p);
  if (p->status != SITU_STATUS_OK) return;
  net_of(p)->default_value = strcmp(name, "else_body") == 0;
  if (owner->n_bodies == 2)
    refuse(p, "a third body in layer ", owner->name);
  else
    owner->bodies[owner->n_bodies++] = net_of(p);
}

static void begin_list(parser *p, ir_place *place, const char *name) {
  if (place->begin > 0) refuse(p, "a second list of ", name);
  place->begin = begin_of_element(p);
}

static void begin_layer(parser *p, const char **attrs) {
  ir_net *net = net_of(p);
  ir_layer *grown = room(p, net->layers, net->n_layers, sizeof *grown);
  if (!grown) return;
  net->layers = grown;
  const char *name = find(attrs, "name"), *type = find(attrs, "type");
  if (!type) {
    refuse(p, "there is no attribute ", "type");
    return;
  }
  ir_layer made = {.id = needed(p, attrs, "id"),
                   .name = kept(p, name ? name : ""),
                   .type = kept(p, type),
                   .place = {.begin = begin_of_element(p)},
                   .dtype = dtype_of(find(attrs, "precision"))};
  net->layers[net->n_layers++] = made;
}

static void begin_data(parser *p, const char **attrs) {
  ir_layer *l = layer_of(p);
  for (int i = 0; attrs[i] && p->status == SITU_STATUS_OK; i += 2) {
    ir_attr *grown = room(p, l->attrs, l->n_attrs, sizeof *grown);
    if (!grown) return;
    l->attrs = grown;
    l->attrs[l->n_attrs++] = (ir_attr){kept(p, attrs[i]), kept(p, attrs[i + 1])};
  }
}

static void begin_port(parser *p, const char **attrs, bool input) {
  ir_layer *l = layer_of(p);
  ir_port **list = input ? &l->inputs : &l->outputs;
  int64_t *n = input ? &l->n_inputs : &l->n_outputs;
  ir_port *grown = room(p, *list, *n, sizeof *grown);
  if (!grown) return;
  *list = grown;
  situ_dtype dtype = dtype_of(find(attrs, "precision"));
  const char *names = input ? NULL : find(attrs, "names");
  grown[(*n)++] = (ir_port){.id = needed(p, attrs, "id"),
                            .tensor = {.dtype = dtype != SITU_DTYPE_UNKNOWN ? dtype : l->dtype},
                            .layer = -1,
                            .output = -1,
                            .made = -1,
                            .names = names ? kept(p, names) : NULL};
}

/* The port under way: the parent of a dimension. */
static ir_port *port_of(parser *p) {
  ir_layer *l = layer_of(p);
  return p->stack[p->depth - 2] == INPUTS ? &l->inputs[l->n_inputs - 1] : &l->outputs[l->n_outputs - 1];
}

static void end_dim(parser *p) {
  int64_t size;
  p->text[p->n_text] = '\0';
  if (!whole(p->text, &size) || size < -1) {
    refuse(p, "a size of at least 0, or -1 for a dynamic one, is expected as dimension, not ", p->text);
    return;
  }
  ops_tensor *t = &port_of(p)->tensor;
  if (t->rank == OPS_MAX_RANK) {
    refuse(p, "too many dimensions", "");
    return;
  }
  int64_t *grown = room(p, (void *)(uintptr_t)t->dims, t->rank, sizeof *grown);
  if (!grown) return;
  grown[t->rank++] = size;
  t->dims = grown;
}

static void begin_mapping(parser *p, const char **attrs, bool input) {
  ir_layer *l = layer_of(p);
  ir_mapping *grown = room(p, l->mappings, l->n_mappings, sizeof *grown);
  if (!grown) return;
  l->mappings = grown;
  const int64_t any = INT64_MIN;
  l->mappings[l->n_mappings++] = (ir_mapping){.input = input,
                                              .external_port = number(p, attrs, "external_port_id", -1, -1),
                                              .internal_layer = number(p, attrs, "internal_layer_id", -1, -1),
                                              .default_value = p->default_value,
                                              .sliced = find(attrs, "axis") != NULL,
                                              .axis = number(p, attrs, "axis", any, 0),
                                              .start = number(p, attrs, "start", any, 0),
                                              .end = number(p, attrs, "end", any, -1),
                                              .stride = number(p, attrs, "stride", any, 1),
                                              .part_size = number(p, attrs, "part_size", 1, 1)};
}

static void begin_edge(parser *p, const char **attrs) {
  ir_net *net = net_of(p);
  ir_edge *grown = room(p, net->edges, net->n_edges, sizeof *grown);
  if (!grown) return;
  net->edges = grown;
  net->edges[net->n_edges++] = (ir_edge){needed(p, attrs, "from-layer"), needed(p, attrs, "from-port"),
                                         needed(p, attrs, "to-layer"), needed(p, attrs, "to-port")};
}

/* ---- the walk ---- */

/* The allowed children of each element; a name of NULL is any. */
static const struct {
  element parent;
  const char *name;
  element is;
} grammar[] = {
    {NET, "layers", LAYERS},
    {BODY, "layers", LAYERS},
    {NET, "edges", EDGES},
    {BODY, "edges", EDGES},
    {LAYERS, "layer", LAYER},
    {LAYER, "data", DATA},
    {LAYER, "input", INPUTS},
    {LAYER, "output", OUTPUTS},
    {INPUTS, "port", PORT},
    {OUTPUTS, "port", PORT},
    {PORT, "dim", DIM},
    {LAYER, "blobs", BLOBS},
    {LAYER, "weights", BLOB},
    {LAYER, "biases", BLOB},
    {BLOBS, NULL, BLOB},
    {LAYER, "port_map", MAPPINGS},
    {LAYER, "then_port_map", MAPPINGS},
    {LAYER, "else_port_map", MAPPINGS},
    {MAPPINGS, "input", MAPPING},
    {MAPPINGS, "output", MAPPING},
    {LAYER, "body", BODY},
    {LAYER, "then_body", BODY},
    {LAYER, "else_body", BODY},
    {EDGES, "edge", EDGE},
};

static element element_of(element parent, const char *name) {
  for (size_t i = 0; i < sizeof grammar / sizeof *grammar; i++)
    if (grammar[i].parent == parent && (!grammar[i].name || strcmp(grammar[i].name, name) == 0)) return grammar[i].is;
  return OTHER;
}

static void XMLCALL on_start(void *data, const char *name, const char **attrs) {
  parser *p = data;
  if (p->status != SITU_STATUS_OK) return;
  element is = OTHER;
  if (p->depth == 0) {
    if (strcmp(name, "net") != 0)
      refuse(p, "a file of this kind begins with <net>, not ", name);
    else
      is = NET;
  } else {
    is = element_of(p->stack[p->depth - 1], name);
  }
  if (p->depth == MAX_DEPTH) refuse(p, "elements are nested too deeply", "");
  if (p->status != SITU_STATUS_OK) return;
  p->stack[p->depth++] = is;
  switch (is) {
    case NET: begin_main(p, attrs); break;
    case LAYERS: begin_list(p, &net_of(p)->layers_place, name); break;
    case EDGES: begin_list(p, &net_of(p)->edges_place, name); break;
    case LAYER: begin_layer(p, attrs); break;
    case DATA: begin_data(p, attrs); break;
    case PORT: begin_port(p, attrs, p->stack[p->depth - 2] == INPUTS); break;
    case DIM: p->n_text = 0; break;
    case BLOB: layer_of(p)->blob_bytes = sat_add(layer_of(p)->blob_bytes, number(p, attrs, "size", 0, 0)); break;
    case MAPPING: begin_mapping(p, attrs, strcmp(name, "input") == 0); break;
    case BODY: begin_body(p, name); break;
    case MAPPINGS: p->default_value = strcmp(name, "else_port_map") == 0; break;
    case EDGE: begin_edge(p, attrs); break;
    default: break;
  }
}

static void XMLCALL on_end(void *data, const char *name) {
  (void)name;
  parser *p = data;
  if (p->status != SITU_STATUS_OK) return;
  element is = p->stack[--p->depth];
  if (is == DIM) end_dim(p);
  if (is == BODY) p->n_nets--;
  if (is == LAYER) layer_of(p)->place.end = end_of_element(p);
  if (is == LAYERS && p->n_nets == 1) p->main->layers_place.end = end_of_element(p);
  if (is == EDGES && p->n_nets == 1) p->main->edges_place.end = end_of_element(p);
}

static void XMLCALL on_text(void *data, const char *text, int n) {
  parser *p = data;
  if (p->status != SITU_STATUS_OK || p->depth == 0 || p->stack[p->depth - 1] != DIM) return;
  for (int i = 0; i < n; i++) {
    if (strchr(" \t\r\n", text[i])) continue;
    if (p->n_text + 1 < sizeof p->text) p->text[p->n_text++] = text[i];
  }
}

static void XMLCALL on_doctype(void *data, const char *name, const char *system, const char *public, int internal) {
  (void)name, (void)system, (void)public, (void)internal;
  refuse(data, "document type declarations are not allowed", "");
}

static situ_status parse_all(parser *p, const read_source *s) {
  XML_SetUserData(p->xml, p);
  XML_SetElementHandler(p->xml, on_start, on_end);
  XML_SetCharacterDataHandler(p->xml, on_text);
  XML_SetStartDoctypeDeclHandler(p->xml, on_doctype);
  for (size_t at = 0;;) {
    size_t n = s->size_bytes - at < CHUNK_BYTES ? s->size_bytes - at : CHUNK_BYTES;
    read_need(s, s->bytes + at, n);
    enum XML_Status parsed = XML_Parse(p->xml, (const char *)s->bytes + at, (int)n, at + n == s->size_bytes);
    if (p->status != SITU_STATUS_OK) return p->status;
    if (parsed != XML_STATUS_OK && XML_GetErrorCode(p->xml) == XML_ERROR_NO_MEMORY) return fail_no_memory(p->error);
    if (parsed != XML_STATUS_OK)
      return fail_with(p->error, SITU_STATUS_BAD_INPUT, p->path, "line %lu: this is not well-formed XML: %s",
                       (unsigned long)XML_GetCurrentLineNumber(p->xml), XML_ErrorString(XML_GetErrorCode(p->xml)));
    at += n;
    if (at == s->size_bytes) return SITU_STATUS_OK;
  }
}

situ_status ir_parse(ir_net **out, arena *a, const read_source *source, situ_error *error) {
  parser p = {.xml = XML_ParserCreate(NULL), .a = a, .path = source->path, .error = error};
  if (!p.xml) return fail_no_memory(error);
  situ_status status = parse_all(&p, source);
  XML_ParserFree(p.xml);
  if (status != SITU_STATUS_OK) return status;
  *out = p.main;
  return SITU_STATUS_OK;
}

/* ---- attributes ---- */

const char *ir_text(const ir_layer *layer, const char *key, const char *default_value) {
  for (int64_t i = 0; i < layer->n_attrs; i++)
    if (strcmp(layer->attrs[i].key, key) == 0) return layer->attrs[i].value;
  return default_value;
}

/* The numbers of a list "3,3" (at most `max`); returns how many, 0 when there is no such list. */
int32_t ir_ints(const ir_layer *layer, const char *key, int64_t *into, int32_t max) {
  int32_t n = 0;
  const char *at = ir_text(layer, key, "");
  while (n < max) {
    while (*at == ' ' || *at == ',') at++;
    bool minus = *at == '-';
    at += minus;
    if (*at < '0' || *at > '9') break;
    int64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) value = sat_add(sat_mul(value, 10), *at - '0');
    into[n++] = minus ? -value : value;
  }
  return n;
}

int64_t ir_int(const ir_layer *layer, const char *key, int64_t default_value) {
  int64_t value;
  return ir_ints(layer, key, &value, 1) == 1 ? value : default_value;
}

bool ir_is_true(const ir_layer *layer, const char *key) {
  const char *text = ir_text(layer, key, "false");
  return strcmp(text, "true") == 0 || strcmp(text, "True") == 0 || strcmp(text, "1") == 0;
}
