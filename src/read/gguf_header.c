#include "read/gguf_header.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/format.h"

enum {
  MAX_TENSORS = 1 << 20,
  MAX_KEYS = 1 << 16,
  MAX_ELEMENTS = 1 << 24,           /* of an array */
  MAX_TEXT = 200,                   /* of a text that is of interest */
  MAX_NAME = 1 << 16,               /* bytes of a key */
  MAX_TENSOR_NAME = 63,             /* as the reference has it */
  TENSOR_BYTES = 8 + 4 + 8 + 4 + 8, /* of the smallest info */
  KEY_BYTES = 8 + 1 + 4 + 1
};

/* Tensor types: elements and bytes of a block. From ggml/src/ggml-common.h. */
static const struct {
  const char *name;
  int16_t elements, bytes;
  situ_dtype dtype;
} types[] = {
    [0] = {"F32", 1, 4, SITU_DTYPE_F32},        [1] = {"F16", 1, 2, SITU_DTYPE_F16},
    [2] = {"Q4_0", 32, 18, SITU_DTYPE_I8},      [3] = {"Q4_1", 32, 20, SITU_DTYPE_I8},
    [6] = {"Q5_0", 32, 22, SITU_DTYPE_I8},      [7] = {"Q5_1", 32, 24, SITU_DTYPE_I8},
    [8] = {"Q8_0", 32, 34, SITU_DTYPE_I8},      [9] = {"Q8_1", 32, 36, SITU_DTYPE_I8},
    [10] = {"Q2_K", 256, 84, SITU_DTYPE_I8},    [11] = {"Q3_K", 256, 110, SITU_DTYPE_I8},
    [12] = {"Q4_K", 256, 144, SITU_DTYPE_I8},   [13] = {"Q5_K", 256, 176, SITU_DTYPE_I8},
    [14] = {"Q6_K", 256, 210, SITU_DTYPE_I8},   [15] = {"Q8_K", 256, 292, SITU_DTYPE_I8},
    [16] = {"IQ2_XXS", 256, 66, SITU_DTYPE_I8}, [17] = {"IQ2_XS", 256, 74, SITU_DTYPE_I8},
    [18] = {"IQ3_XXS", 256, 98, SITU_DTYPE_I8}, [19] = {"IQ1_S", 256, 50, SITU_DTYPE_I8},
    [20] = {"IQ4_NL", 32, 18, SITU_DTYPE_I8},   [21] = {"IQ3_S", 256, 110, SITU_DTYPE_I8},
    [22] = {"IQ2_S", 256, 82, SITU_DTYPE_I8},   [23] = {"IQ4_XS", 256, 136, SITU_DTYPE_I8},
    [24] = {"I8", 1, 1, SITU_DTYPE_I8},         [25] = {"I16", 1, 2, SITU_DTYPE_I16},
    [26] = {"I32", 1, 4, SITU_DTYPE_I32},       [27] = {"I64", 1, 8, SITU_DTYPE_I64},
    [28] = {"F64", 1, 8, SITU_DTYPE_F64},       [29] = {"IQ1_M", 256, 56, SITU_DTYPE_I8},
    [30] = {"BF16", 1, 2, SITU_DTYPE_BF16},     [34] = {"TQ1_0", 256, 54, SITU_DTYPE_I8},
    [35] = {"TQ2_0", 256, 66, SITU_DTYPE_I8},   [39] = {"MXFP4", 32, 17, SITU_DTYPE_I8},
    [40] = {"NVFP4", 64, 36, SITU_DTYPE_I8},    [41] = {"Q1_0", 128, 18, SITU_DTYPE_I8},
    [42] = {"Q2_0", 64, 18, SITU_DTYPE_I8},
};

static bool is_known(int32_t type) {
  return type >= 0 && (size_t)type < sizeof types / sizeof *types && types[type].name;
}
const char *gguf_type_name(int32_t type) { return is_known(type) ? types[type].name : NULL; }
situ_dtype gguf_dtype(int32_t type) { return is_known(type) ? types[type].dtype : SITU_DTYPE_UNKNOWN; }

static const uint8_t sizes[GGUF_TYPES] = {
    [GGUF_U8] = 1,  [GGUF_I8] = 1,   [GGUF_U16] = 2, [GGUF_I16] = 2, [GGUF_U32] = 4, [GGUF_I32] = 4,
    [GGUF_F32] = 4, [GGUF_BOOL] = 1, [GGUF_U64] = 8, [GGUF_I64] = 8, [GGUF_F64] = 8};

typedef struct cursor {
  const read_source *source;
  size_t at;
  arena *a;
  situ_error *error;
} cursor;

static size_t left(const cursor *c) { return c->source->size_bytes - c->at; }

static situ_status cut_off(const cursor *c, const char *what) {
  return fail_with(c->error, SITU_STATUS_BAD_INPUT, c->source->path,
                   "is not a valid GGUF file: at byte %zu %s begins, but the file ends at byte %zu", c->at, what,
                   c->source->size_bytes);
}

#define REFUSE(c, ...) return refuse_at((c), __VA_ARGS__)
static situ_status refuse_at(const cursor *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static situ_status refuse_at(const cursor *c, const char *format, ...) {
  char text[300];
  FORMAT_INTO(text, format);
  return fail_with(c->error, SITU_STATUS_BAD_INPUT, c->source->path, "is not a valid GGUF file: before byte %zu, %s",
                   c->at, text);
}

/* The next n bytes. */
static situ_status take(cursor *c, const unsigned char **out, uint64_t n, const char *what) {
  if (n > left(c)) return cut_off(c, what);
  *out = c->source->bytes + c->at;
  read_need(c->source, *out, (size_t)n);
  c->at += (size_t)n;
  return SITU_STATUS_OK;
}

static uint64_t little(const unsigned char *at, size_t n) {
  uint64_t value = 0;
  for (size_t i = 0; i < n; i++) value |= (uint64_t)at[i] << (8 * i);
  return value;
}

static situ_status take_number(cursor *c, uint64_t *out, size_t n, const char *what) {
  const unsigned char *at;
  TRY(take(c, &at, n, what));
  *out = little(at, n);
  return SITU_STATUS_OK;
}

static situ_status take_name(cursor *c, const char **out, uint64_t max, const char *what) {
  uint64_t n;
  const unsigned char *at;
  TRY(take_number(c, &n, 8, what));
  if (n == 0) REFUSE(c, "%s is empty", what);
  if (n > max) REFUSE(c, "%s has %" PRIu64 " bytes; expected at most %" PRIu64, what, n, max);
  TRY(take(c, &at, n, what));
  if (memchr(at, '\0', (size_t)n)) REFUSE(c, "%s holds a zero byte", what);
  *out = arena_string_n(c->a, (const char *)at, (size_t)n);
  return *out ? SITU_STATUS_OK : fail_no_memory(c->error);
}

static situ_status skip_text(cursor *c) {
  uint64_t n;
  TRY(take_number(c, &n, 8, "the length of a text"));
  if (n > left(c)) return cut_off(c, "a text");
  if (n <= MAX_TEXT) read_need(c->source, c->source->bytes + c->at, (size_t)n);
  c->at += (size_t)n;
  return SITU_STATUS_OK;
}

/* The value of a key, or all elements of an array. */
static situ_status take_value(cursor *c, gguf_key *key) {
  uint64_t type;
  const unsigned char *at;
  TRY(take_number(c, &type, 4, "the type of a value"));
  key->count = 1;
  key->is_array = type == GGUF_ARRAY;
  if (key->is_array) {
    TRY(take_number(c, &type, 4, "the type of an array"));
    TRY(take_number(c, &key->count, 8, "the length of an array"));
    if (type == GGUF_ARRAY) REFUSE(c, "key %s holds an array of arrays; expected plain elements", key->name);
  }
  if (type >= GGUF_TYPES) REFUSE(c, "key %s has a value of type %" PRIu64 "; expected 0 to 12", key->name, type);
  key->type = (gguf_type)type;
  key->at = c->source->bytes + c->at;
  if (key->count > MAX_ELEMENTS)
    REFUSE(c, "key %s has %" PRIu64 " elements; expected at most %d", key->name, key->count, MAX_ELEMENTS);
  uint64_t size = key->type == GGUF_STRING ? 8 : sizes[key->type];
  if (key->count > left(c) / size) return cut_off(c, "an array");
  if (key->type != GGUF_STRING) return take(c, &at, size * key->count, "a value");
  for (uint64_t i = 0; i < key->count; i++) TRY(skip_text(c));
  uint64_t n = key->is_array ? 0 : little(key->at, 8); /* a token of a vocabulary may be a zero byte */
  if (n > 0 && n <= MAX_TEXT && memchr(key->at + 8, '\0', (size_t)n))
    REFUSE(c, "key %s has a text that holds a zero byte", key->name);
  return SITU_STATUS_OK;
}

static situ_status take_keys(cursor *c, gguf_header *h, uint64_t n) {
  if (n > MAX_KEYS || n > left(c) / KEY_BYTES)
    REFUSE(c, "it has %" PRIu64 " keys; expected at most %d, and no more than the file has room for", n, MAX_KEYS);
  h->keys = ARENA_NEW(c->a, gguf_key, (int64_t)n);
  h->key_by_name = string_map_new(c->a, (int64_t)n);
  if (!h->keys || !h->key_by_name) return fail_no_memory(c->error);
  for (; h->n_keys < (int32_t)n; h->n_keys++) {
    gguf_key *key = &h->keys[h->n_keys];
    *key = (gguf_key){0};
    TRY(take_name(c, &key->name, MAX_NAME, "the name of a key"));
    TRY(take_value(c, key));
    int64_t there = string_map_put(h->key_by_name, key->name, h->n_keys);
    if (there < 0) return fail_no_memory(c->error);
    if (there != h->n_keys) REFUSE(c, "key %s stands twice", key->name);
  }
  return SITU_STATUS_OK;
}

/* Bytes of a tensor, checked against overflow. */
static situ_status measure(const cursor *c, gguf_tensor *t) {
  if (!is_known(t->type))
    return fail_with(c->error, SITU_STATUS_UNSUPPORTED, c->source->path,
                     "holds tensor %s of type %d, which is not known; expected F32 (0) to Q2_0 (42)", t->name,
                     (int)t->type);
  int64_t elements = 1;
  for (int32_t i = 0; i < t->rank; i++) {
    if (t->dims[i] < 0) REFUSE(c, "tensor %s has a dimension of %" PRId64, t->name, t->dims[i]);
    elements = sat_mul(elements, t->dims[i]);
  }
  int64_t block = types[t->type].elements, bytes = types[t->type].bytes;
  if (t->dims[0] % block != 0)
    REFUSE(c, "tensor %s has rows of %" PRId64 " elements; expected a multiple of %" PRId64 ", a block of %s", t->name,
           t->dims[0], block, types[t->type].name);
  t->bytes = sat_mul(elements / block, bytes);
  if (elements == INT64_MAX || t->bytes == INT64_MAX) REFUSE(c, "tensor %s has more than 2^63 elements", t->name);
  return SITU_STATUS_OK;
}

static situ_status take_tensor(cursor *c, gguf_tensor *t) {
  uint64_t rank, value;
  *t = (gguf_tensor){.dims = {1, 1, 1, 1}};
  TRY(take_name(c, &t->name, MAX_TENSOR_NAME, "the name of a tensor"));
  TRY(take_number(c, &rank, 4, "a tensor"));
  if (rank > 4) REFUSE(c, "tensor %s has %" PRIu64 " dimensions; expected at most 4", t->name, rank);
  t->rank = (int32_t)rank;
  for (int32_t i = 0; i < t->rank; i++) {
    TRY(take_number(c, &value, 8, "a dimension"));
    t->dims[i] = (int64_t)value;
  }
  TRY(take_number(c, &value, 4, "the type of a tensor"));
  t->type = (int32_t)(uint32_t)value;
  TRY(take_number(c, &value, 8, "the offset of a tensor"));
  t->offset = (int64_t)value;
  return measure(c, t);
}

static int64_t padded(int64_t bytes, int64_t alignment) {
  int64_t over = bytes % alignment;
  return over ? sat_add(bytes, alignment - over) : bytes;
}

static situ_status take_tensors(cursor *c, gguf_header *h, uint64_t n, int64_t alignment) {
  if (n > MAX_TENSORS || n > left(c) / TENSOR_BYTES + 1)
    REFUSE(c, "it has %" PRIu64 " tensors; expected at most %d, and no more than the file has room for", n,
           MAX_TENSORS);
  h->tensors = ARENA_NEW(c->a, gguf_tensor, (int64_t)n);
  string_map *seen = string_map_new(c->a, (int64_t)n);
  if (!h->tensors || !seen) return fail_no_memory(c->error);
  for (; h->n_tensors < (int32_t)n; h->n_tensors++) {
    gguf_tensor *t = &h->tensors[h->n_tensors];
    TRY(take_tensor(c, t));
    int64_t there = string_map_put(seen, t->name, h->n_tensors);
    if (there < 0) return fail_no_memory(c->error);
    if (there != h->n_tensors) REFUSE(c, "tensor %s stands twice", t->name);
    if (t->offset != h->data_bytes)
      REFUSE(c, "tensor %s is at offset %" PRId64 " of the data; expected %" PRId64 ", where the one before it ends",
             t->name, t->offset, h->data_bytes);
    h->data_bytes = padded(sat_add(h->data_bytes, t->bytes), alignment);
  }
  return SITU_STATUS_OK;
}

/* Whether all data are there, or none. */
static situ_status measure_file(const cursor *c, gguf_header *h, int64_t alignment) {
  h->end = c->at;
  h->data_start = (size_t)padded((int64_t)c->at, alignment);
  if (h->n_tensors == 0) return SITU_STATUS_OK;
  const gguf_tensor *last = &h->tensors[h->n_tensors - 1];
  int64_t end = sat_add(sat_add((int64_t)h->data_start, last->offset), last->bytes);
  h->without_data = c->source->size_bytes <= h->data_start && end > (int64_t)h->data_start;
  if (!h->without_data && end > (int64_t)c->source->size_bytes)
    return fail_with(c->error, SITU_STATUS_BAD_INPUT, c->source->path,
                     "is cut off: tensor %s ends at byte %" PRId64 ", the file at byte %zu", last->name, end,
                     c->source->size_bytes);
  return SITU_STATUS_OK;
}

situ_status gguf_header_read(gguf_header *out, const read_source *source, arena *a, situ_error *error) {
  cursor c = {.source = source, .a = a, .error = error};
  uint64_t version, n_tensors, n_keys;
  const unsigned char *at;
  *out = (gguf_header){0};
  TRY(take(&c, &at, 4, "the mark"));
  if (memcmp(at, "GGUF", 4) != 0) REFUSE(&c, "the mark is not GGUF");
  TRY(take_number(&c, &version, 4, "the version"));
  if (version != 2 && version != 3)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, source->path, "is GGUF of %s %" PRIu64 "; expected 2 or 3",
                     (version & 0xffff) == 0 ? "the other byte order, version" : "version",
                     (version & 0xffff) == 0 ? version >> 24 : version);
  TRY(take_number(&c, &n_tensors, 8, "the number of tensors"));
  TRY(take_number(&c, &n_keys, 8, "the number of keys"));
  TRY(take_keys(&c, out, n_keys));
  const gguf_key *key = gguf_find(out, "general.alignment");
  int64_t alignment = gguf_int(key, 0, key ? 0 : 32);
  if (alignment <= 0 || alignment > 1 << 30 || (alignment & (alignment - 1)) != 0)
    REFUSE(&c, "general.alignment is %" PRId64 "; expected a power of two", alignment);
  TRY(take_tensors(&c, out, n_tensors, alignment));
  return measure_file(&c, out, alignment);
}

const gguf_key *gguf_find(const gguf_header *h, const char *name) {
  int64_t at = h->n_keys > 0 ? string_map_get(h->key_by_name, name) : -1;
  return at >= 0 ? &h->keys[at] : NULL;
}

int64_t gguf_int(const gguf_key *key, uint64_t i, int64_t default_value) {
  if (!key || (key->is_array && i >= key->count)) return default_value;
  size_t size = sizes[key->type];
  if (size == 0 || key->type == GGUF_F32 || key->type == GGUF_F64) return default_value;
  uint64_t value = little(key->at + (key->is_array ? i : 0) * size, size);
  if (key->type == GGUF_I8) return (int8_t)value;
  if (key->type == GGUF_I16) return (int16_t)value;
  if (key->type == GGUF_I32) return (int32_t)value;
  if (key->type == GGUF_U64 && value > INT64_MAX) return default_value;
  return (int64_t)value;
}

const char *gguf_text(const gguf_key *key, arena *a, const char *default_value) {
  if (!key || key->is_array || key->type != GGUF_STRING) return default_value;
  uint64_t n = little(key->at, 8);
  if (n == 0 || n > MAX_TEXT || memchr(key->at + 8, '\0', (size_t)n)) return default_value;
  return arena_string_n(a, (const char *)key->at + 8, (size_t)n);
}
