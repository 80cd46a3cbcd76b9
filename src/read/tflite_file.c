#include "read/tflite_file.h"

#include <string.h>

#include "base/fail.h"

enum { MAX_TEXT = 1024, MAX_ITEMS = 1 << 22, AVERAGE_POOL = 1, MAX_POOL = 17, L2_POOL = 12, CUSTOM = 32 };

/* The file, and the first byte that is wrong. */
typedef struct flat {
  const unsigned char *bytes;
  size_t n, wrong;
  uint64_t copies_left; /* how many bytes may still be copied: tables may share what they point to, but few do */
  bool failed;
  arena *a;
} flat;

static bool fits(flat *f, uint64_t at, uint64_t size) {
  bool good = !f->failed && at <= f->n && size <= f->n - at;
  if (!good && !f->failed) {
    f->failed = true;
    f->wrong = (size_t)(at < f->n ? at : f->n);
  }
  return good;
}

/* Counts the copy of what is at `at`. */
static bool count_copy(flat *f, uint64_t at, uint64_t size) {
  if (size > f->copies_left) return fits(f, at, UINT64_MAX);
  f->copies_left -= size;
  return true;
}

/* A little-endian number of `size` bytes; 0 where there is none. */
static uint64_t number(flat *f, uint64_t at, int size) {
  uint64_t value = 0;
  if (!fits(f, at, (uint64_t)size)) return 0;
  for (int i = 0; i < size; i++) value |= (uint64_t)f->bytes[at + (uint64_t)i] << (8 * i);
  return value;
}

static int32_t signed_at(flat *f, uint64_t at) { return (int32_t)(uint32_t)number(f, at, 4); }

/* Where field `index` of a table is; 0: it is absent. */
static uint64_t field(flat *f, uint64_t table, int index, int size) {
  if (table == 0 || f->failed) return 0;
  int64_t list = (int64_t)table - signed_at(f, table);
  if (list < 0 || !fits(f, (uint64_t)list, 4)) return 0;
  uint64_t length = number(f, (uint64_t)list, 2), entry = 4 + 2 * (uint64_t)index;
  if (entry + 2 > length) return 0;
  uint64_t offset = number(f, (uint64_t)list + entry, 2);
  return offset > 0 && fits(f, table + offset, (uint64_t)size) ? table + offset : 0;
}

/* What an offset at `at` points to. */
static uint64_t follow(flat *f, uint64_t at) {
  uint64_t to = at > 0 ? at + number(f, at, 4) : 0;
  return to > 0 && fits(f, to, 4) ? to : 0;
}

/* The first element of a vector field, and its length. */
static uint64_t vector(flat *f, uint64_t table, int index, int size, int64_t *n) {
  uint64_t at = follow(f, field(f, table, index, 4));
  *n = at > 0 ? (int64_t)number(f, at, 4) : 0;
  if (*n > 0 && !fits(f, at + 4, (uint64_t)*n * (uint64_t)size)) *n = 0;
  return at + 4;
}

static const char *string_of(flat *f, uint64_t table, int index) {
  int64_t n;
  uint64_t at = vector(f, table, index, 1, &n);
  if (n > MAX_TEXT) n = MAX_TEXT;
  if (!count_copy(f, at, (uint64_t)n)) n = 0;
  if (n > 0 && memchr(f->bytes + at, 0, (size_t)n)) n = (int64_t)strlen((const char *)f->bytes + at);
  return n > 0 ? arena_string_n(f->a, (const char *)f->bytes + at, (size_t)n) : arena_string(f->a, "");
}

static situ_dtype dtype_of(uint64_t type) {
  static const situ_dtype types[] = {
      [0] = SITU_DTYPE_F32,  [1] = SITU_DTYPE_F16,  [2] = SITU_DTYPE_I32,  [3] = SITU_DTYPE_I8,
      [4] = SITU_DTYPE_I64,  [6] = SITU_DTYPE_BOOL, [7] = SITU_DTYPE_I16,  [8] = SITU_DTYPE_C64,
      [9] = SITU_DTYPE_I8,   [10] = SITU_DTYPE_F64, [12] = SITU_DTYPE_I64, [15] = SITU_DTYPE_I32,
      [16] = SITU_DTYPE_I16, [17] = SITU_DTYPE_I8,  [18] = SITU_DTYPE_BF16};
  return type < sizeof types / sizeof *types ? types[type] : SITU_DTYPE_UNKNOWN;
}

/* The bytes that buffer `index` holds: in the file's tables, or behind them. */
static int64_t buffer_bytes(flat *f, uint64_t buffers, int64_t n_buffers, uint64_t index) {
  if (index == 0 || index >= (uint64_t)n_buffers) return 0;
  int64_t n;
  uint64_t table = follow(f, buffers + 4 * index), size = field(f, table, 2, 8);
  vector(f, table, 0, 1, &n);
  uint64_t outside = size > 0 ? number(f, size, 8) : 0;
  return outside > 1 && outside < INT64_MAX / 2 ? (int64_t)outside : n;
}

static bool read_tensor(flat *f, tflite_tensor *out, uint64_t table, uint64_t buffers, int64_t n_buffers) {
  int64_t rank, n_signature;
  uint64_t shape = vector(f, table, 0, 4, &rank), signature = vector(f, table, 7, 4, &n_signature);
  uint64_t type = field(f, table, 1, 1), buffer = field(f, table, 2, 4);
  *out = (tflite_tensor){.name = string_of(f, table, 3), .rank = (int32_t)(rank <= TFLITE_MAX_RANK ? rank : -1)};
  out->dtype = dtype_of(type > 0 ? number(f, type, 1) : 0);
  for (int32_t d = 0; d < out->rank; d++) {
    int32_t size = signed_at(f, shape + 4 * (uint64_t)d);
    bool open = n_signature == rank && signed_at(f, signature + 4 * (uint64_t)d) < 0;
    out->dims[d] = size < 0 ? 1 : size;
    out->open[d] = open || size < 0;
  }
  if (buffer > 0) out->stored_bytes = buffer_bytes(f, buffers, n_buffers, number(f, buffer, 4));
  return out->name != NULL;
}

/* Indexes of tensors. */
static const int32_t *read_indexes(flat *f, uint64_t table, int index, int32_t n_tensors, int32_t *n) {
  int64_t count;
  uint64_t at = vector(f, table, index, 4, &count);
  if (!count_copy(f, at, 4 * (uint64_t)count)) count = 0;
  int32_t *made = ARENA_NEW(f->a, int32_t, count + 1);
  for (int64_t i = 0; made && i < count; i++) {
    made[i] = signed_at(f, at + 4 * (uint64_t)i);
    if (made[i] < -1 || made[i] >= n_tensors) fits(f, at + 4 * (uint64_t)i, UINT64_MAX); /* marks the byte */
  }
  *n = (int32_t)count;
  return made;
}

static bool read_operator(flat *f, tflite_operator *out, uint64_t table, uint64_t codes, int64_t n_codes,
                          int32_t n_tensors) {
  uint64_t at = field(f, table, 0, 4), index = at > 0 ? number(f, at, 4) : 0;
  *out = (tflite_operator){0};
  if (index >= (uint64_t)n_codes) {
    fits(f, at, UINT64_MAX);
    return true;
  }
  uint64_t code = follow(f, codes + 4 * index), old = field(f, code, 0, 1), new = field(f, code, 3, 4);
  int32_t of_old = old > 0 ? (int32_t)number(f, old, 1) : 0, of_new = new > 0 ? signed_at(f, new) : 0;
  out->code = of_new > of_old ? of_new : of_old; /* files before 2020 have the old field alone, of 127 codes */
  if (out->code == CUSTOM) out->custom = string_of(f, code, 1);
  out->inputs = read_indexes(f, table, 1, n_tensors, &out->n_inputs);
  out->outputs = read_indexes(f, table, 2, n_tensors, &out->n_outputs);
  uint64_t options = follow(f, field(f, table, 4, 4));
  if (options > 0 && (out->code == AVERAGE_POOL || out->code == MAX_POOL || out->code == L2_POOL)) {
    uint64_t width = field(f, options, 3, 4), height = field(f, options, 4, 4);
    out->window[0] = height > 0 ? signed_at(f, height) : 0;
    out->window[1] = width > 0 ? signed_at(f, width) : 0;
  }
  return out->inputs && out->outputs && (out->code != CUSTOM || out->custom);
}

bool tflite_recognise(const read_source *source) {
  if (source->size_bytes < 16) return false;
  read_need(source, source->bytes, 8);
  return memcmp(source->bytes + 4, "TFL3", 4) == 0;
}

static situ_status read_graph(flat *f, tflite_graph *out, uint64_t model, situ_error *error) {
  int64_t n_codes, n_graphs, n_buffers, n_tensors, n_operators;
  uint64_t codes = vector(f, model, 1, 4, &n_codes), graphs = vector(f, model, 2, 4, &n_graphs);
  uint64_t buffers = vector(f, model, 4, 4, &n_buffers), graph = n_graphs > 0 ? follow(f, graphs) : 0;
  uint64_t tensors = vector(f, graph, 0, 4, &n_tensors), operators = vector(f, graph, 3, 4, &n_operators);
  if (n_tensors > MAX_ITEMS || n_operators > MAX_ITEMS || n_graphs > MAX_ITEMS) fits(f, graph, UINT64_MAX);
  if (f->failed) n_tensors = n_operators = n_graphs = 0;
  *out = (tflite_graph){.name = string_of(f, graph, 4),
                        .n_tensors = (int32_t)n_tensors,
                        .n_operators = (int32_t)n_operators,
                        .n_graphs = (int32_t)n_graphs};
  out->tensors = ARENA_NEW(f->a, tflite_tensor, n_tensors + 1);
  out->operators = ARENA_NEW(f->a, tflite_operator, n_operators + 1);
  bool memory = out->name && out->tensors && out->operators;
  for (int64_t i = 0; memory && i < n_tensors && !f->failed; i++)
    memory = read_tensor(f, &out->tensors[i], follow(f, tensors + 4 * (uint64_t)i), buffers, n_buffers);
  for (int64_t i = 0; memory && i < n_operators && !f->failed; i++)
    memory =
        read_operator(f, &out->operators[i], follow(f, operators + 4 * (uint64_t)i), codes, n_codes, out->n_tensors);
  return memory ? SITU_STATUS_OK : fail_no_memory(error);
}

situ_status tflite_parse(tflite_graph *out, const read_source *source, arena *a, situ_error *error) {
  flat f = {
      .bytes = source->bytes, .n = source->size_bytes, .copies_left = 4 * (uint64_t)source->size_bytes + 65536, .a = a};
  TRY(read_graph(&f, out, number(&f, 0, 4), error));
  if (f.failed)
    return fail_with(
        error, SITU_STATUS_BAD_INPUT, source->path,
        "is not a valid TFLite file, or cut off: what byte %zu names is not in it, or has been named before", f.wrong);
  return SITU_STATUS_OK;
}
