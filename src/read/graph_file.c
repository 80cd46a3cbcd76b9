/* Graph files: any operator graph as JSON, for programs that know a network but no other format. docs/formats/graph.md
 * describes them. Operators and tensors are added in the order of the file; a tensor names its producer and its users.
 */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/json.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "platform/platform_fields.h"
#include "read/reader.h"

enum { FORMAT_VERSION = 1, PLACE_BYTES = 64, MAX_RANK = 64 };

typedef struct file_root {
  int64_t version;
  const char *name;
  const json_value *operators, *tensors, *guesses;
} file_root;

static const field root_fields[] = {
    {"situ_graph", FIELD_WHOLE, offsetof(file_root, version), 0, FORMAT_VERSION},
    {"name", FIELD_TEXT, offsetof(file_root, name), 0, 0},
    {"operators", FIELD_TREE, offsetof(file_root, operators), 0, 0},
    {"tensors", FIELD_TREE, offsetof(file_root, tensors), 0, 0},
    {"guesses", FIELD_TREE, offsetof(file_root, guesses), 0, 0},
};

typedef struct file_operator {
  const char *name, *kind, *layer, *phase, *dtype, *weight_type;
  int64_t weight_bytes, workspace_bytes, flops, moved_bytes, colocation, inferred, split_ways;
} file_operator;

static const field operator_fields[] = {
    {"name", FIELD_TEXT, offsetof(file_operator, name), 0, 0},
    {"kind", FIELD_TEXT, offsetof(file_operator, kind), 0, 0},
    {"layer", FIELD_TEXT, offsetof(file_operator, layer), 0, 0},
    {"phase", FIELD_TEXT, offsetof(file_operator, phase), 0, 0},
    {"dtype", FIELD_TEXT, offsetof(file_operator, dtype), 0, 0},
    {"weight_bytes", FIELD_WHOLE, offsetof(file_operator, weight_bytes), 0, 0},
    {"workspace_bytes", FIELD_WHOLE, offsetof(file_operator, workspace_bytes), 0, 0},
    {"split_ways", FIELD_WHOLE, offsetof(file_operator, split_ways), 0, 0},
    {"flops", FIELD_WHOLE, offsetof(file_operator, flops), 0, 0},
    {"moved_bytes", FIELD_WHOLE, offsetof(file_operator, moved_bytes), 0, 0},
    {"colocation", FIELD_WHOLE, offsetof(file_operator, colocation), 0, 0},
    {"inferred", FIELD_BOOL, offsetof(file_operator, inferred), 0, 0},
    {"weight_type", FIELD_TEXT, offsetof(file_operator, weight_type), 0, 0},
};

typedef struct file_tensor {
  const char *name, *from, *dtype;
  int64_t bytes;
  const json_value *to, *dims;
} file_tensor;

static const field tensor_fields[] = {
    {"name", FIELD_TEXT, offsetof(file_tensor, name), 0, 0},
    {"from", FIELD_TEXT, offsetof(file_tensor, from), 0, 0},
    {"dtype", FIELD_TEXT, offsetof(file_tensor, dtype), 0, 0},
    {"bytes", FIELD_WHOLE, offsetof(file_tensor, bytes), 0, 0},
    {"to", FIELD_TREE, offsetof(file_tensor, to), 0, 0},
    {"dims", FIELD_TREE, offsetof(file_tensor, dims), 0, 0},
};

typedef struct file_guess {
  const char *kind, *subject;
  const json_value *operators;
} file_guess;

static const field guess_fields[] = {
    {"kind", FIELD_TEXT, offsetof(file_guess, kind), 0, 0},
    {"subject", FIELD_TEXT, offsetof(file_guess, subject), 0, 0},
    {"operators", FIELD_TREE, offsetof(file_guess, operators), 0, 0},
};

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

typedef struct loader {
  const char *where;
  situ_dtype precision; /* that was asked for, or UNKNOWN */
  situ_graph_builder *builder;
  string_map *number; /* of an operator by its name */
  situ_error *error;
} loader;

/* The element type of that name; UNKNOWN for NULL. */
static situ_status read_dtype(const loader *l, situ_dtype *out, const char *name, const char *place) {
  *out = SITU_DTYPE_UNKNOWN;
  if (!name) return SITU_STATUS_OK;
  for (int i = 0; i < DTYPE_COUNT; i++) {
    *out = (situ_dtype)i;
    if (strcmp(situ_dtype_name(*out), name) == 0) return SITU_STATUS_OK;
  }
  return fields_fail(l->error, l->where, place, "no element type is called \"%.60s\" (f32, f16, bf16, i8, ...)", name);
}

static situ_status read_phase(const loader *l, situ_phase *out, const char *name, const char *place) {
  *out = SITU_PHASE_FORWARD;
  if (!name) return SITU_STATUS_OK;
  for (int i = 0; i <= SITU_PHASE_RECOMPUTE; i++) {
    *out = (situ_phase)i;
    if (strcmp(situ_phase_name(*out), name) == 0) return SITU_STATUS_OK;
  }
  return fields_fail(l->error, l->where, place, "no phase is called \"%.60s\" (forward, backward, update, recompute)",
                     name);
}

/* Bytes of a floating type as the precision that was asked for has them, and that type. */
static int64_t in_precision(const loader *l, situ_dtype dtype, int64_t size_bytes) {
  bool floating = dtype >= SITU_DTYPE_F64 && dtype <= SITU_DTYPE_F8;
  if (size_bytes < 0) return 0;
  if (!l->precision || !floating) return size_bytes;
  return sat_mul(size_bytes, situ_dtype_bits(l->precision)) / situ_dtype_bits(dtype);
}

static situ_status read_operator(loader *l, const json_value *v, int32_t index) {
  char place[PLACE_BYTES];
  file_operator f;
  situ_operator op = SITU_OPERATOR_INIT;
  snprintf(place, sizeof place, "operators[%d]", (int)index);
  TRY(fields_read(&f, v, operator_fields, COUNT_OF(operator_fields), l->where, place, l->error));
  if (!f.name) return fields_fail(l->error, l->where, place, "\"name\" is missing");
  int64_t there = string_map_put(l->number, f.name, index);
  if (there < 0) return fail_no_memory(l->error);
  if (there != index)
    return fields_fail(l->error, l->where, place, "the name \"%.100s\" is that of operators[%d] too", f.name,
                       (int)there);
  TRY(read_dtype(l, &op.dtype, f.dtype, place));
  TRY(read_phase(l, &op.phase, f.phase, place));
  op.name = f.name;
  op.kind = f.kind;
  op.layer = f.layer;
  op.weight_type = f.weight_type;
  op.weight_bytes = in_precision(l, op.dtype, f.weight_bytes);
  op.workspace_bytes = in_precision(l, op.dtype, f.workspace_bytes);
  op.moved_bytes = in_precision(l, op.dtype, f.moved_bytes);
  op.flops = max64(f.flops, 0);
  op.split_ways = max64(f.split_ways, 0);
  op.source_id = index;
  op.inferred = f.inferred != 0;
  if (f.colocation > INT32_MAX) return fields_fail(l->error, l->where, place, "\"colocation\" must be below 2^31");
  op.colocation = (int32_t)f.colocation;
  if (l->precision && op.dtype >= SITU_DTYPE_F64 && op.dtype <= SITU_DTYPE_F8) op.dtype = l->precision;
  return builder_add_operator(l->builder, &op, NULL, l->error);
}

/* The number of the operator that a tensor names. */
static situ_status find_operator(const loader *l, int32_t *out, const char *name, const char *key, const char *place) {
  if (!name) return fields_fail(l->error, l->where, place, "\"%s\" must name an operator", key);
  *out = (int32_t)string_map_get(l->number, name);
  if (*out < 0)
    return fields_fail(l->error, l->where, place, "\"%s\" names \"%.100s\", which is not an operator", key, name);
  return SITU_STATUS_OK;
}

static situ_status read_dims(const loader *l, situ_tensor *t, int64_t dims[MAX_RANK], const json_value *v,
                             const char *place) {
  if (!v) return SITU_STATUS_OK;
  if (json_kind_of(v) != JSON_ARRAY_KIND || json_size(v) > MAX_RANK)
    return fields_fail(l->error, l->where, place, "\"dims\" must be a list of at most %d whole numbers", MAX_RANK);
  t->rank = (int32_t)json_size(v);
  t->dims = dims;
  for (int32_t d = 0; d < t->rank; d++) {
    dims[d] = json_int(json_at(v, (size_t)d), -2);
    if (dims[d] < -1)
      return fields_fail(l->error, l->where, place, "\"dims\" must hold whole numbers, at least 0, or -1 for unknown");
  }
  return SITU_STATUS_OK;
}

static situ_status read_tensor(loader *l, const json_value *v, size_t index) {
  char place[PLACE_BYTES];
  file_tensor f;
  situ_tensor t = SITU_TENSOR_INIT;
  int64_t dims[MAX_RANK];
  int32_t producer, tensor, user;
  snprintf(place, sizeof place, "tensors[%zu]", index);
  TRY(fields_read(&f, v, tensor_fields, COUNT_OF(tensor_fields), l->where, place, l->error));
  TRY(find_operator(l, &producer, f.from, "from", place));
  if (f.bytes < 0) return fields_fail(l->error, l->where, place, "\"bytes\" is missing");
  TRY(read_dtype(l, &t.dtype, f.dtype, place));
  TRY(read_dims(l, &t, dims, f.dims, place));
  t.name = f.name;
  t.size_bytes = in_precision(l, t.dtype, f.bytes);
  if (l->precision && t.dtype >= SITU_DTYPE_F64 && t.dtype <= SITU_DTYPE_F8) t.dtype = l->precision;
  TRY(builder_add_tensor(l->builder, producer, &t, &tensor, l->error));
  if (f.to && json_kind_of(f.to) != JSON_ARRAY_KIND)
    return fields_fail(l->error, l->where, place, "\"to\" must be a list of names of operators");
  for (size_t k = 0; k < json_size(f.to); k++) {
    TRY(find_operator(l, &user, json_text(json_at(f.to, k), NULL), "to", place));
    TRY(builder_add_use(l->builder, user, tensor, l->error));
  }
  return SITU_STATUS_OK;
}

/* A guess about the operators that it lists, or about all. */
static situ_status read_guess(loader *l, const json_value *v, size_t index) {
  char place[PLACE_BYTES];
  file_guess f;
  int32_t op, kind = 0;
  snprintf(place, sizeof place, "guesses[%zu]", index);
  TRY(fields_read(&f, v, guess_fields, COUNT_OF(guess_fields), l->where, place, l->error));
  while (f.kind && kind <= SITU_GUESS_WORK && strcmp(situ_guess_kind_name((situ_guess_kind)kind), f.kind) != 0) kind++;
  if (!f.kind || kind > SITU_GUESS_WORK)
    return fields_fail(l->error, l->where, place,
                       "\"kind\" must be kind, shape, size, control, type, packing, role, "
                       "structure or work");
  if (!f.subject) return fields_fail(l->error, l->where, place, "\"subject\" is missing");
  if (!f.operators) return builder_add_guess(l->builder, (situ_guess_kind)kind, f.subject, GUESS_OF_ALL, l->error);
  if (json_kind_of(f.operators) != JSON_ARRAY_KIND || json_size(f.operators) == 0)
    return fields_fail(l->error, l->where, place, "\"operators\" must be a list of names of operators");
  for (size_t k = 0; k < json_size(f.operators); k++) {
    TRY(find_operator(l, &op, json_text(json_at(f.operators, k), NULL), "operators", place));
    TRY(builder_add_guess(l->builder, (situ_guess_kind)kind, f.subject, op, l->error));
  }
  return SITU_STATUS_OK;
}

static situ_status read_parts(loader *l, const json_value *root, read_result *result) {
  file_root f;
  TRY(fields_read(&f, root, root_fields, COUNT_OF(root_fields), l->where, "graph", l->error));
  if (f.version != FORMAT_VERSION)
    return fields_fail(l->error, l->where, "graph", "\"situ_graph\" must be %d, the version of the format",
                       FORMAT_VERSION);
  if (json_kind_of(f.operators) != JSON_ARRAY_KIND || json_size(f.operators) > SITU_MAX_OPERATORS)
    return fields_fail(l->error, l->where, "graph", "\"operators\" must be a list of at most %d", SITU_MAX_OPERATORS);
  if (f.tensors && json_kind_of(f.tensors) != JSON_ARRAY_KIND)
    return fields_fail(l->error, l->where, "graph", "\"tensors\" must be a list");
  TRY(situ_graph_builder_new(&l->builder, f.name ? f.name : read_base_name(l->where), l->error));
  for (size_t i = 0; i < json_size(f.operators); i++) TRY(read_operator(l, json_at(f.operators, i), (int32_t)i));
  for (size_t i = 0; i < json_size(f.tensors); i++) TRY(read_tensor(l, json_at(f.tensors, i), i));
  if (f.guesses && json_kind_of(f.guesses) != JSON_ARRAY_KIND)
    return fields_fail(l->error, l->where, "graph", "\"guesses\" must be a list");
  for (size_t i = 0; i < json_size(f.guesses); i++) TRY(read_guess(l, json_at(f.guesses, i), i));
  return situ_graph_freeze(&result->graph, l->builder, l->error);
}

static situ_status read_graph(read_result *result, const read_source *source, situ_error *error) {
  arena *scratch = arena_new();
  loader l = {.where = source->path,
              .precision = read_precision(source->options->precision),
              .number = scratch ? string_map_new(scratch, 1024) : NULL,
              .error = error};
  json_value *root = NULL;
  situ_status status = l.number
                           ? json_parse(&root, (const char *)source->bytes, source->size_bytes, source->path, error)
                           : fail_no_memory(error);
  if (status == SITU_STATUS_OK) status = read_parts(&l, root, result);
  situ_graph_builder_free(l.builder);
  json_free(root);
  arena_free(scratch);
  return status;
}

/* The key of the format is near the beginning. */
static int recognise_graph(const read_source *source) {
  static const char key[] = "\"situ_graph\"";
  size_t n = source->size_bytes < 4096 ? source->size_bytes : 4096;
  for (size_t i = 0; i + sizeof key - 1 <= n; i++)
    if (memcmp(source->bytes + i, key, sizeof key - 1) == 0) return 2;
  return -1;
}

const reader graph_reader = {.name = "graph",
                             .title = "situ graph file: operators and tensors as JSON",
                             .suffixes = ".json",
                             .recognise = recognise_graph,
                             .read = read_graph};
