/* From protobuf to plain structs; the only door to protobuf-c. Strings and arrays of the unpacked message are shared,
 * not copied: both live in the same arena. */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "read/onnx.pb-c.h"
#include "read/onnx_model.h"

typedef struct unpacking {
  arena *a;
  const char *path;
  onnx_model *model;
  situ_error *error;
} unpacking;

/* What protobuf-c allocates from. */
typedef struct lender {
  arena *a;
  bool failed;
} lender;

static void *lend(void *context, size_t n) {
  lender *l = context;
  void *at = n > INT64_MAX ? NULL : arena_alloc(l->a, (int64_t)n, 1);
  if (!at) l->failed = true;
  return at;
}

static void take_back(void *context, void *at) {}

static const char *text_or_empty(const char *text) { return text ? text : ""; }

/* Makes an array of n items and fills each by a function of the same shape. */
#define EACH(u, into, count, from, type, convert)              \
  do {                                                         \
    if ((from) > INT32_MAX) return fail_no_memory((u)->error); \
    (count) = (int32_t)(from);                                 \
    (into) = ARENA_ZERO((u)->a, type, (count));                \
    if (!(into)) return fail_no_memory((u)->error);            \
    for (int32_t each_ = 0; each_ < (count); each_++) {        \
      int32_t i = each_;                                       \
      TRY(convert);                                            \
    }                                                          \
  } while (0)

/* ---- tensors ---- */

static situ_status take_shape(const unpacking *u, ops_tensor *t, const char *name, size_t n, const int64_t *dims) {
  if (n > OPS_MAX_RANK)
    return fail_with(u->error, SITU_STATUS_BAD_INPUT, u->path, "tensor '%s' has %zu dimensions; at most %d are allowed",
                     name, n, OPS_MAX_RANK);
  static const int64_t none[1] = {0};
  t->rank = (int32_t)n;
  t->dims = n > 0 ? dims : none;
  for (size_t d = 0; d < n; d++)
    if (dims[d] < 0)
      return fail_with(u->error, SITU_STATUS_BAD_INPUT, u->path, "tensor '%s' has a dimension of size %lld", name,
                       (long long)dims[d]);
  return SITU_STATUS_OK;
}

situ_status onnx_decode(ops_tensor *t, arena *a, const unsigned char *bytes, size_t n_bytes, situ_error *error) {
  bool exact = true;
  int64_t n = ops_elements(t, &exact);
  int width = situ_dtype_bits(t->dtype) / 8;
  bool real = t->dtype == SITU_DTYPE_F32 || t->dtype == SITU_DTYPE_F64;
  bool whole = (t->dtype >= SITU_DTYPE_I64 && t->dtype <= SITU_DTYPE_I8) ||
               (t->dtype >= SITU_DTYPE_U64 && t->dtype <= SITU_DTYPE_BOOL);
  if (!exact || n > OPS_MAX_VALUES || (!real && !whole) || (size_t)n * (size_t)width != n_bytes) return SITU_STATUS_OK;
  int64_t *ints = whole ? ARENA_NEW(a, int64_t, n) : NULL;
  double *reals = real ? ARENA_NEW(a, double, n) : NULL;
  if (!ints && !reals) return fail_no_memory(error);
  bool is_signed = t->dtype >= SITU_DTYPE_I64 && t->dtype <= SITU_DTYPE_I8;
  for (int64_t i = 0; i < n; i++) {
    uint64_t word = 0;
    for (int b = 0; b < width; b++) word |= (uint64_t)bytes[i * width + b] << (8 * b);
    if (whole) {
      if (is_signed && width < 8 && word >> (8 * width - 1)) word |= UINT64_MAX << (8 * width);
      memcpy(&ints[i], &word, 8);
    } else if (width == 8) {
      memcpy(&reals[i], &word, 8);
    } else {
      uint32_t low = (uint32_t)word;
      float f;
      memcpy(&f, &low, 4);
      reals[i] = (double)f;
    }
  }
  t->ints = ints;
  t->reals = reals;
  return SITU_STATUS_OK;
}

static bool widen_int32(const unpacking *u, ops_tensor *t, const int32_t *from, size_t n) {
  int64_t *ints = ARENA_NEW(u->a, int64_t, (int64_t)n);
  for (size_t i = 0; ints && i < n; i++) ints[i] = from[i];
  t->ints = ints;
  return ints;
}

static bool widen_float(const unpacking *u, const double **out, const float *from, size_t n) {
  double *reals = ARENA_NEW(u->a, double, (int64_t)n);
  for (size_t i = 0; reals && i < n; i++) reals[i] = (double)from[i];
  *out = reals;
  return reals;
}

/* Values out of the typed fields, when there are exactly as many as elements. */
static situ_status take_typed(const unpacking *u, ops_tensor *t, const SituOnnx__Tensor *from) {
  bool exact = true, enough = true;
  int64_t n = ops_elements(t, &exact);
  if (!exact || n > OPS_MAX_VALUES || n == 0) return SITU_STATUS_OK;
  size_t count = (size_t)n;
  switch (t->dtype) {
    case SITU_DTYPE_I32:
    case SITU_DTYPE_I16:
    case SITU_DTYPE_I8:
    case SITU_DTYPE_U16:
    case SITU_DTYPE_U8:
    case SITU_DTYPE_BOOL:
      if (from->n_int32_data == count) enough = widen_int32(u, t, from->int32_data, count);
      break;
    case SITU_DTYPE_I64:
      if (from->n_int64_data == count) t->ints = from->int64_data;
      break;
    case SITU_DTYPE_U32:
    case SITU_DTYPE_U64:
      if (from->n_uint64_data == count) t->ints = (const int64_t *)from->uint64_data;
      break;
    case SITU_DTYPE_F32:
      if (from->n_float_data == count) enough = widen_float(u, &t->reals, from->float_data, count);
      break;
    case SITU_DTYPE_F64:
      if (from->n_double_data == count) t->reals = from->double_data;
      break;
    default: break;
  }
  return enough ? SITU_STATUS_OK : fail_no_memory(u->error);
}

static bool whole_number(const char *text, int64_t *value) {
  *value = 0;
  if (!*text) return false;
  for (; *text; text++) {
    if (*text < '0' || *text > '9' || *value > (INT64_MAX - 9) / 10) return false;
    *value = *value * 10 + (*text - '0');
  }
  return true;
}

static situ_status take_external(const unpacking *u, onnx_weight *w, const SituOnnx__Tensor *from) {
  w->length = -1;
  w->location = "";
  for (size_t i = 0; i < from->n_external_data; i++) {
    const char *key = text_or_empty(from->external_data[i]->key), *value = text_or_empty(from->external_data[i]->value);
    bool offset = strcmp(key, "offset") == 0, length = strcmp(key, "length") == 0;
    if (strcmp(key, "location") == 0) w->location = value;
    if ((offset || length) && !whole_number(value, offset ? &w->offset : &w->length))
      return fail_with(u->error, SITU_STATUS_BAD_INPUT, u->path,
                       "the external data of tensor '%s' have %s '%s', which is not a size in bytes", w->name, key,
                       value);
  }
  w->next_external = u->model->externals;
  u->model->externals = w;
  return SITU_STATUS_OK;
}

static situ_status take_tensor(const unpacking *u, onnx_weight *w, const SituOnnx__Tensor *from) {
  enum { EXTERNAL = 1 };
  ops_tensor *t = &w->tensor;
  w->name = text_or_empty(from->name);
  t->constant = true;
  t->dtype = ops_onnx_dtype(from->data_type);
  TRY(take_shape(u, t, w->name, from->n_dims, from->dims));
  w->size_bytes = ops_bytes(t, NULL);
  if (from->data_location == EXTERNAL) return take_external(u, w, from);
  if (t->dtype == SITU_DTYPE_STRING || t->dtype == SITU_DTYPE_UNKNOWN)
    w->size_bytes = max64(w->size_bytes, from->payload_bytes);
  if (from->raw_bytes == 0) return take_typed(u, t, from);
  if (t->dtype != SITU_DTYPE_UNKNOWN && from->raw_bytes != w->size_bytes)
    return fail_with(u->error, SITU_STATUS_BAD_INPUT, u->path,
                     "tensor '%s' has %lld bytes of data; its shape and type need %lld", w->name,
                     (long long)from->raw_bytes, (long long)w->size_bytes);
  if (!from->has_raw_data) return SITU_STATUS_OK;
  return onnx_decode(t, u->a, from->raw_data.data, from->raw_data.len, u->error);
}

/* A sparse tensor costs the memory of its values and indices; its shape is the dense one. */
static situ_status take_sparse(const unpacking *u, onnx_weight *w, const SituOnnx__SparseTensor *from) {
  onnx_weight *parts = ARENA_ZERO(u->a, onnx_weight, 2);
  if (!parts) return fail_no_memory(u->error);
  if (from->values) TRY(take_tensor(u, &parts[0], from->values));
  if (from->indices) TRY(take_tensor(u, &parts[1], from->indices));
  w->name = text_or_empty(parts[0].name);
  w->tensor = (ops_tensor){.dtype = parts[0].tensor.dtype, .constant = true};
  w->size_bytes = sat_add(parts[0].size_bytes, parts[1].size_bytes);
  return take_shape(u, &w->tensor, w->name, from->n_dims, from->dims);
}

/* ---- values ---- */

/* Whether a symbol is one: tools write these for any size, and two of them need not be equal. */
static bool names_size(const char *symbol) {
  static const char *const none[] = {"", "?", "None", "-1"};
  bool named = symbol != NULL;
  for (size_t i = 0; named && i < sizeof none / sizeof *none; i++) named = strcmp(symbol, none[i]) != 0;
  return named;
}

static situ_status take_value(const unpacking *u, onnx_value *v, const SituOnnx__ValueInfo *from) {
  *v = (onnx_value){.name = text_or_empty(from->name), .rank = -1};
  if (!from->type) return SITU_STATUS_OK;
  const SituOnnx__TensorType *type = from->type->tensor_type;
  v->no_tensor = !type;
  if (!type) return SITU_STATUS_OK;
  v->dtype = ops_onnx_dtype(type->elem_type);
  if (!type->shape) return SITU_STATUS_OK;
  size_t n = type->shape->n_dim;
  if (n > OPS_MAX_RANK)
    return fail_with(u->error, SITU_STATUS_BAD_INPUT, u->path, "value '%s' has %zu dimensions; at most %d are allowed",
                     v->name, n, OPS_MAX_RANK);
  int64_t *dims;
  if (!ARENA_ARRAYS(u->a, ARRAY(dims, (int64_t)n), ZEROS(v->dim_names, (int64_t)n))) return fail_no_memory(u->error);
  for (size_t d = 0; d < n; d++) {
    const SituOnnx__Dimension *dim = type->shape->dim[d];
    bool given = dim->has_dim_value && dim->dim_value >= 0;
    dims[d] = given ? dim->dim_value : -1;
    if (!given && names_size(dim->dim_param)) v->dim_names[d] = dim->dim_param;
  }
  v->rank = (int32_t)n;
  v->dims = dims;
  return SITU_STATUS_OK;
}

/* ---- nodes and graphs ---- */

static situ_status take_graph(const unpacking *u, onnx_graph *g, const SituOnnx__Graph *from);

static char *take_bytes(const unpacking *u, const ProtobufCBinaryData *from) {
  return arena_string_n(u->a, from->data ? (const char *)from->data : "", from->data ? from->len : 0);
}

/* The arrays and texts of an attribute. */
static situ_status take_payload(const unpacking *u, ops_attr *at, const SituOnnx__Attribute *from) {
  if (at->type == OPS_STRING) {
    at->s = take_bytes(u, &from->s);
    if (!at->s) return fail_no_memory(u->error);
  } else if (at->type == OPS_INTS) {
    at->n = (int64_t)from->n_ints;
    at->ints = from->ints;
  } else if (at->type == OPS_FLOATS) {
    at->n = (int64_t)from->n_floats;
    if (!widen_float(u, &at->floats, from->floats, from->n_floats)) return fail_no_memory(u->error);
  } else if (at->type == OPS_STRINGS) {
    const char **strings = ARENA_ZERO(u->a, const char *, (int64_t)from->n_strings);
    if (!strings) return fail_no_memory(u->error);
    at->n = (int64_t)from->n_strings;
    at->strings = strings;
    for (size_t i = 0; i < from->n_strings; i++)
      if (!(strings[i] = take_bytes(u, &from->strings[i]))) return fail_no_memory(u->error);
  }
  return SITU_STATUS_OK;
}

/* The value of an attribute, by its type; files of IR version 1 have no type, so by the field that is present. */
static ops_attr_type type_of(const SituOnnx__Attribute *from) {
  static const ops_attr_type types[] = {
      [1] = OPS_FLOAT, [2] = OPS_INT,     [3] = OPS_STRING, [4] = OPS_TENSOR, [5] = OPS_OTHER,  [6] = OPS_FLOATS,
      [7] = OPS_INTS,  [8] = OPS_STRINGS, [9] = OPS_OTHER,  [10] = OPS_OTHER, [11] = OPS_TENSOR};
  if (from->type > 0 && from->type <= 11) return types[from->type];
  if (from->type != 0) return OPS_OTHER;
  return from->n_ints      ? OPS_INTS
         : from->n_floats  ? OPS_FLOATS
         : from->n_strings ? OPS_STRINGS
         : from->has_f     ? OPS_FLOAT
         : from->has_i     ? OPS_INT
         : from->has_s     ? OPS_STRING
         : from->t         ? OPS_TENSOR
                           : OPS_OTHER;
}

static situ_status take_attr(const unpacking *u, ops_attr *at, const SituOnnx__Attribute *from, int64_t *bulk_bytes) {
  *at = (ops_attr){.name = text_or_empty(from->name), .type = type_of(from), .i = from->i, .f = (double)from->f};
  if (from->payload_bytes > 0) {
    at->type = OPS_OTHER;
    *bulk_bytes = sat_add(*bulk_bytes, from->payload_bytes);
  }
  if (at->type == OPS_TENSOR && !from->t && !from->sparse_tensor) at->type = OPS_OTHER;
  if (at->type == OPS_TENSOR) {
    onnx_weight *w = ARENA_ZERO(u->a, onnx_weight, 1);
    if (!w) return fail_no_memory(u->error);
    TRY(from->t ? take_tensor(u, w, from->t) : take_sparse(u, w, from->sparse_tensor));
    at->tensor = &w->tensor;
  }
  return take_payload(u, at, from);
}

static situ_status take_body(const unpacking *u, onnx_node *n, const char *attr, const SituOnnx__Graph *from) {
  onnx_graph *g = ARENA_ZERO(u->a, onnx_graph, 1);
  if (!g) return fail_no_memory(u->error);
  n->bodies[n->n_bodies++] = (onnx_body){attr, g};
  return take_graph(u, g, from);
}

static situ_status take_attrs(const unpacking *u, onnx_node *n, const SituOnnx__Node *from) {
  int64_t n_attrs = (int64_t)from->n_attribute, n_bodies = 0;
  for (size_t i = 0; i < from->n_attribute; i++)
    n_bodies += (from->attribute[i]->g != NULL) + (int64_t)from->attribute[i]->n_graphs;
  if (n_attrs > INT32_MAX || n_bodies > INT32_MAX) return fail_no_memory(u->error);
  if (!ARENA_ARRAYS(u->a, ZEROS(n->attrs, n_attrs), ZEROS(n->references, n_attrs), ZEROS(n->bodies, n_bodies)))
    return fail_no_memory(u->error);
  for (size_t i = 0; i < from->n_attribute; i++) {
    const SituOnnx__Attribute *at = from->attribute[i];
    const char *name = text_or_empty(at->name);
    if (at->ref_attr_name && *at->ref_attr_name) {
      n->references[n->n_references++] = (onnx_reference){name, at->ref_attr_name};
      continue;
    }
    if (at->g) TRY(take_body(u, n, name, at->g));
    for (size_t k = 0; k < at->n_graphs; k++) TRY(take_body(u, n, name, at->graphs[k]));
    if (!at->g && !at->n_graphs) TRY(take_attr(u, &n->attrs[n->n_attrs++], at, &n->bulk_bytes));
  }
  return SITU_STATUS_OK;
}

/* The scope before the last of "['', 'layers.0', 'layers.0.attention', 'matmul']", or of
 * "layers.0: Layer/layers.0.attention: Attention/matmul: aten.matmul"; its length, 0 when there is none. */
static size_t find_scope(const char *text, bool is_list, const char **found) {
  const char *last = NULL;
  size_t n_found = 0, n_last = 0;
  while (*text) {
    if (is_list) text += strcspn(text, "'\"");
    if (is_list && *text) text++;
    if (!*text) break;
    size_t n = strcspn(text, is_list ? "'\"" : "/");
    *found = last;
    n_found = n_last;
    last = text;
    n_last = n;
    text += n;
    if (*text) text++;
  }
  for (size_t i = 0; !is_list && i < n_found; i++)
    if ((*found)[i] == ':') n_found = i;
  return n_found;
}

/* The layer of a node: an annotation, else the scope that the exporter noted, else the folders of its name. */
static situ_status take_layer(const unpacking *u, onnx_node *n, const SituOnnx__Node *from) {
  enum { NAMESPACE = 1, SCOPES, ANNOTATION };
  const char *layer = NULL;
  size_t length = 0;
  int best = 0;
  for (size_t i = 0; i < from->n_metadata_props; i++) {
    const char *key = text_or_empty(from->metadata_props[i]->key), *text = from->metadata_props[i]->value, *at = text;
    int rank = strcmp(key, "layer_ann") == 0 ? ANNOTATION : strcmp(key, "namespace") == 0 ? NAMESPACE : SCOPES;
    if (!text || rank <= best) continue;
    size_t found = rank == ANNOTATION ? strlen(text) : find_scope(text, rank == SCOPES, &at);
    if (found == 0) continue;
    layer = at;
    length = found;
    best = rank;
  }
  const char *slash = layer ? NULL : strrchr(n->name, '/');
  if (slash) {
    layer = n->name;
    length = (size_t)(slash - n->name);
  }
  if (length > 0) n->layer = arena_string_n(u->a, layer, length);
  return length > 0 && !n->layer ? fail_no_memory(u->error) : SITU_STATUS_OK;
}

static const char *domain_of(const char *domain) { return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain; }

static situ_status take_node(const unpacking *u, onnx_node *n, const SituOnnx__Node *from) {
  enum { MAX_VALUES = 1 << 24 };
  if (from->n_input > MAX_VALUES || from->n_output > MAX_VALUES)
    return fail_with(u->error, SITU_STATUS_BAD_INPUT, u->path, "a node has more than %d inputs or outputs", MAX_VALUES);
  *n = (onnx_node){.name = text_or_empty(from->name),
                   .kind = text_or_empty(from->op_type),
                   .domain = domain_of(from->domain),
                   .overload = text_or_empty(from->overload),
                   .inputs = (const char *const *)from->input,
                   .outputs = (const char *const *)from->output,
                   .n_inputs = (int32_t)from->n_input,
                   .n_outputs = (int32_t)from->n_output};
  if (!*n->kind)
    return fail_with(u->error, SITU_STATUS_BAD_INPUT, u->path, "node '%s' has no op_type", onnx_node_label(n));
  TRY(take_layer(u, n, from));
  return take_attrs(u, n, from);
}

static situ_status take_graph(const unpacking *u, onnx_graph *g, const SituOnnx__Graph *from) {
  EACH(u, g->nodes, g->n_nodes, from->n_node, onnx_node, take_node(u, &g->nodes[i], from->node[i]));
  EACH(u, g->inputs, g->n_inputs, from->n_input, onnx_value, take_value(u, &g->inputs[i], from->input[i]));
  EACH(u, g->outputs, g->n_outputs, from->n_output, onnx_value, take_value(u, &g->outputs[i], from->output[i]));
  EACH(u, g->values, g->n_values, from->n_value_info, onnx_value, take_value(u, &g->values[i], from->value_info[i]));
  int32_t dense = (int32_t)from->n_initializer;
  EACH(u, g->weights, g->n_weights, from->n_initializer + from->n_sparse_initializer, onnx_weight,
       i < dense ? take_tensor(u, &g->weights[i], from->initializer[i])
                 : take_sparse(u, &g->weights[i], from->sparse_initializer[i - dense]));
  return SITU_STATUS_OK;
}

static situ_status take_opset(const unpacking *u, onnx_opset *o, const SituOnnx__OperatorSet *from) {
  *o = (onnx_opset){domain_of(from->domain), from->version};
  return SITU_STATUS_OK;
}

static situ_status name_value(const unpacking *u, onnx_value *v, const char *name) {
  *v = (onnx_value){.name = name, .rank = -1};
  return SITU_STATUS_OK;
}

static situ_status take_function(const unpacking *u, onnx_function *f, const SituOnnx__Function *from) {
  onnx_graph *g = &f->body;
  int64_t bulk_bytes = 0;
  f->domain = domain_of(from->domain);
  f->name = text_or_empty(from->name);
  f->overload = text_or_empty(from->overload);
  EACH(u, g->nodes, g->n_nodes, from->n_node, onnx_node, take_node(u, &g->nodes[i], from->node[i]));
  EACH(u, g->inputs, g->n_inputs, from->n_input, onnx_value, name_value(u, &g->inputs[i], from->input[i]));
  EACH(u, g->outputs, g->n_outputs, from->n_output, onnx_value, name_value(u, &g->outputs[i], from->output[i]));
  EACH(u, g->values, g->n_values, from->n_value_info, onnx_value, take_value(u, &g->values[i], from->value_info[i]));
  EACH(u, f->defaults, f->n_defaults, from->n_attribute_proto, ops_attr,
       take_attr(u, &f->defaults[i], from->attribute_proto[i], &bulk_bytes));
  EACH(u, f->opsets, f->n_opsets, from->n_opset_import, onnx_opset,
       take_opset(u, &f->opsets[i], from->opset_import[i]));
  return SITU_STATUS_OK;
}

situ_status onnx_unpack(onnx_model **out, arena *a, const char *bytes, size_t size_bytes, const char *path,
                        situ_error *error) {
  lender l = {.a = a};
  ProtobufCAllocator allocator = {.alloc = lend, .free = take_back, .allocator_data = &l};
  onnx_model *m = *out = ARENA_ZERO(a, onnx_model, 1);
  if (!m) return fail_no_memory(error);
  unpacking u = {.a = a, .path = path, .model = m, .error = error};
  const SituOnnx__Model *from = (const SituOnnx__Model *)protobuf_c_message_unpack(
      &situ_onnx__model__descriptor, &allocator, size_bytes, (const uint8_t *)bytes);
  if (l.failed) return fail_no_memory(error);
  if (!from)
    return fail_with(error, SITU_STATUS_BAD_INPUT, path, "is not a valid ONNX file: its messages cannot be unpacked");
  if (!from->graph) return fail_with(error, SITU_STATUS_BAD_INPUT, path, "holds no graph; an ONNX model has one");
  m->ir_version = from->ir_version;
  m->graph = ARENA_ZERO(a, onnx_graph, 1);
  if (!m->graph) return fail_no_memory(error);
  EACH(&u, m->opsets, m->n_opsets, from->n_opset_import, onnx_opset,
       take_opset(&u, &m->opsets[i], from->opset_import[i]));
  EACH(&u, m->functions, m->n_functions, from->n_functions, onnx_function,
       take_function(&u, &m->functions[i], from->functions[i]));
  return take_graph(&u, m->graph, from->graph);
}

const onnx_value *onnx_declared(const onnx_graph *g, int64_t i) {
  if (i < g->n_inputs) return &g->inputs[i];
  i -= g->n_inputs;
  return i < g->n_outputs ? &g->outputs[i] : &g->values[i - g->n_outputs];
}

const char *onnx_node_label(const onnx_node *n) {
  if (*n->name) return n->name;
  for (int32_t i = 0; i < n->n_outputs; i++)
    if (*n->outputs[i]) return n->outputs[i];
  return n->kind;
}
