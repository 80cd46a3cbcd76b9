/* safetensors: a file, or an index of files, with config.json in the same folder. Only headers are read.
 * docs/formats/language-models.md */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/fail.h"
#include "base/hash.h"
#include "read/lm_doubts.h"
#include "read/lm_known.h"
#include "read/lm_pair.h"
#include "read/lm_reader.h"
#include "read/network.h"
#include "read/safetensors_config.h"
#include "read/safetensors_unpack.h"

enum { MAX_HEADER = 100000000, MAX_FILES = 10000, MAX_TENSORS = 1 << 22, MAX_LOOKED_AT = 4096, MAX_NAMED = 3 };

/* ---- one file ---- */

static uint64_t header_length(const read_source *source) {
  uint64_t n = 0;
  read_need(source, source->bytes, 8);
  for (int i = 0; i < 8; i++) n |= (uint64_t)source->bytes[i] << (8 * i);
  return n;
}

static bool is_file(const read_source *source) {
  if (source->size_bytes < 9) return false;
  read_need(source, source->bytes, 9);
  return source->bytes[8] == '{' && header_length(source) <= MAX_HEADER;
}

/* Whether it is JSON with `key`, in quotes, near the beginning. */
static bool has_key(const read_source *source, const char *key) {
  size_t n = source->size_bytes < MAX_LOOKED_AT ? source->size_bytes : MAX_LOOKED_AT, length = strlen(key);
  read_need(source, source->bytes, n);
  for (size_t i = 0; i + length <= n; i++)
    if (memcmp(source->bytes + i, key, length) == 0) return source->bytes[0] == '{';
  return false;
}

static bool is_index(const read_source *source) { return has_key(source, "\"weight_map\""); }
/* The index of a pipeline of several networks, as diffusers writes it. */
static bool is_pipeline(const read_source *source) { return has_key(source, "\"_diffusers_version\""); }

static int recognise(const read_source *source) {
  return is_file(source) || is_index(source) || is_pipeline(source) ? 2 : 0;
}

typedef struct span {
  int64_t begin, end;
  const char *name;
} span;

/* What is being put together. */
typedef struct gathering {
  const read_source *source; /* what was named */
  arena *a;
  lm model;
  const stored_type **stored; /* [tensor] */
  hf_config config;
  json_value *config_root; /* NULL: there is none */
  int32_t capacity;
  string_map *by_name; /* tensor */
  int32_t n_unlike;    /* shapes that the configuration contradicts */
  text_buffer *notes;
  bool without_data;
  situ_error *error;
} gathering;

static const stored_type types[] = {
    {"F32", 32, SITU_DTYPE_F32},       {"F16", 16, SITU_DTYPE_F16},       {"BF16", 16, SITU_DTYPE_BF16},
    {"F8_E4M3", 8, SITU_DTYPE_F8},     {"F8_E5M2", 8, SITU_DTYPE_F8},     {"F8_E8M0", 8, SITU_DTYPE_F8},
    {"F8_E4M3FNUZ", 8, SITU_DTYPE_F8}, {"F8_E5M2FNUZ", 8, SITU_DTYPE_F8}, {"I8", 8, SITU_DTYPE_I8},
    {"U8", 8, SITU_DTYPE_F16},         {"BOOL", 8, SITU_DTYPE_BOOL},      {"I16", 16, SITU_DTYPE_I16},
    {"U16", 16, SITU_DTYPE_I16},       {"I32", 32, SITU_DTYPE_F16},       {"U32", 32, SITU_DTYPE_F16},
    {"I64", 64, SITU_DTYPE_I64},       {"U64", 64, SITU_DTYPE_I64},       {"F64", 64, SITU_DTYPE_F64},
    {"C64", 64, SITU_DTYPE_C64},       {"F4", 4, SITU_DTYPE_F16},         {"F6_E2M3", 6, SITU_DTYPE_F16},
    {"F6_E3M2", 6, SITU_DTYPE_F16}};

static int type_find(const char *name) {
  for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i].name, name) == 0) return (int)i;
  return -1;
}

/* Experts that are stored [in, out], and the Conv1D of GPT-2, which is a matrix of this form. */
static void turn_shape(const gathering *g, lm_tensor *t) {
  int64_t h = g->model.n_embd;
  bool turned = t->rank == 3 && ((strstr(t->name, "gate_up_proj") && t->dims[1] == h && t->dims[2] != h) ||
                                 (strstr(t->name, "down_proj") && t->dims[2] == h && t->dims[1] != h));
  bool into = t->rank == 2 && lm_has_word(t->name, " c_attn c_fc ") && t->dims[0] == h && t->dims[1] != h;
  bool back = t->rank == 2 && lm_has_word(t->name, " c_proj ") && t->dims[1] == h && t->dims[0] != h;
  if (turned || into || back) {
    int64_t last = t->dims[t->rank - 1];
    t->dims[t->rank - 1] = t->dims[t->rank - 2];
    t->dims[t->rank - 2] = last;
  }
}

/* Whether a tensor is of attention in a block that has other heads than most, or none. */
static bool is_of_other_heads(const gathering *g, const char *name) {
  lm_place p;
  if (!lm_find_place(&p, name, g->a) || p.block < 0 || p.block >= g->model.n_blocks) return false;
  const lm_layer *l = &g->model.layers[p.block];
  int64_t key = g->config.kv_rank > 0 ? g->config.nope + g->config.rope : g->config.head;
  bool usual = l->heads == g->config.heads && l->kv_heads == g->config.kv_heads && l->key == key;
  return lm_group_of(p.within) == LM_ATTENTION && (l->recurrent || !usual);
}

/* Says where the configuration has another shape. */
static void compare(gathering *g, const lm_tensor *t) {
  int32_t rank;
  int64_t dims[LM_MAX_RANK] = {0};
  if (!g->config_root || !hf_config_shape(&rank, dims, &g->config, t->name)) return;
  if (rank == 1 && lm_has_word(t->name, " q_norm k_norm ")) return; /* of a head, or of all of them */
  bool stacked = t->rank == 3 && rank == 2 && lm_group_of(t->name) == LM_ROUTED;
  if (stacked && dims[0] == t->dims[1] && dims[1] == t->dims[2]) return;
  if (rank == t->rank && dims[0] == t->dims[0] && (rank < 2 || dims[1] == t->dims[1])) return;
  if (is_of_other_heads(g, t->name)) return;
  if (g->n_unlike++ < MAX_NAMED)
    text_add(g->notes,
             "dimensions of %s are [%" PRId64 "%s%.0" PRId64 "] in the file, but [%" PRId64 "%s%.0" PRId64
             "] by config.json\n",
             t->name, t->dims[0], t->rank > 1 ? ", " : "", t->rank > 1 ? t->dims[1] : 0, dims[0], rank > 1 ? ", " : "",
             rank > 1 ? dims[1] : 0);
}

static situ_status add_tensor(gathering *g, const lm_tensor *t, const stored_type *type, const char *path) {
  int32_t at = g->model.n_tensors;
  if (at == g->capacity)
    return fail_with(g->error, SITU_STATUS_BAD_INPUT, path, "has more tensors than its index; expected %d",
                     (int)g->capacity);
  int64_t put = string_map_put(g->by_name, t->name, at);
  if (put < 0) return fail_no_memory(g->error);
  if (put != at) return fail_with(g->error, SITU_STATUS_BAD_INPUT, path, "holds tensor %s twice", t->name);
  g->stored[at] = type;
  g->model.tensors[g->model.n_tensors++] = *t;
  return SITU_STATUS_OK;
}

/* Room for the tensors of a header or an index. */
static situ_status reserve(gathering *g, int64_t n) {
  g->capacity = (int32_t)n;
  g->model.tensors = ARENA_NEW(g->a, lm_tensor, n);
  g->stored = ARENA_NEW(g->a, const stored_type *, n);
  return g->model.tensors && g->stored ? SITU_STATUS_OK : fail_no_memory(g->error);
}

static situ_status wrong(const gathering *g, const char *path, const char *name, const char *what) {
  return fail_with(g->error, SITU_STATUS_BAD_INPUT, path, "is not a valid safetensors file: tensor %s %s", name, what);
}

/* One entry of a header. */
static situ_status read_entry(gathering *g, span *where, const char *path, const char *key, const json_value *entry) {
  lm_tensor t = {.name = arena_string(g->a, key)};
  const json_value *shape = json_get(entry, "shape"), *offsets = json_get(entry, "data_offsets");
  int type = type_find(json_text(json_get(entry, "dtype"), NULL));
  int64_t elements = 1;
  if (!t.name) return fail_no_memory(g->error);
  if (type < 0) return wrong(g, path, key, "has a dtype that is not known; expected F32, F16, BF16, I8, ...");
  if (json_kind_of(shape) != JSON_ARRAY_KIND || json_size(offsets) != 2)
    return wrong(g, path, key, "lacks its shape or its data_offsets; expected a list, and two numbers");
  for (size_t i = 0; i < json_size(shape); i++) {
    int64_t n = json_int(json_at(shape, i), -1);
    if (n < 0) return wrong(g, path, key, "has a dimension that is not a whole number of at least 0");
    elements = sat_mul(elements, n);
    if (t.rank < LM_MAX_RANK)
      t.dims[t.rank++] = n;
    else
      t.dims[LM_MAX_RANK - 1] = sat_mul(t.dims[LM_MAX_RANK - 1], n);
  }
  *where = (span){json_int(json_at(offsets, 0), -1), json_int(json_at(offsets, 1), -1), t.name};
  int64_t bits = sat_mul(elements, types[type].bits);
  if (bits == INT64_MAX || bits % 8 != 0) return wrong(g, path, key, "has a shape of too many or of broken bytes");
  if (where->begin < 0 || where->end < where->begin || where->end - where->begin != bits / 8)
    return wrong(g, path, key, "has data_offsets that do not fit its shape");
  t.bytes = bits / 8;
  t.dtype = types[type].dtype;
  return add_tensor(g, &t, &types[type], path);
}

COMPARATOR(by_begin, span, UP(begin) UP(end))

/* Data of all tensors lie side by side up to the end of the file, or are absent altogether. */
static situ_status check_spans(gathering *g, span *spans, int64_t n, int64_t data_bytes, const char *path) {
  int64_t end = 0;
  qsort(spans, (size_t)n, sizeof *spans, by_begin);
  for (int64_t i = 0; i < n; i++) {
    if (spans[i].begin != end) return wrong(g, path, spans[i].name, "does not begin where the one before it ends");
    end = spans[i].end;
  }
  if (data_bytes == 0 && end > 0) g->without_data = true;
  if (end == data_bytes || data_bytes == 0) return SITU_STATUS_OK;
  return fail_with(g->error, SITU_STATUS_BAD_INPUT, path,
                   "has %" PRId64 " bytes of data; its header describes %" PRId64, data_bytes, end);
}

static situ_status read_header(gathering *g, const read_source *source) {
  uint64_t n = header_length(source);
  json_value *root = NULL;
  if (n > source->size_bytes - 8)
    return fail_with(g->error, SITU_STATUS_BAD_INPUT, source->path,
                     "is cut off: its header ends at byte %" PRIu64 ", the file at byte %zu", n + 8,
                     source->size_bytes);
  read_need(source, source->bytes + 8, (size_t)n);
  TRY(json_parse(&root, (const char *)source->bytes + 8, (size_t)n, source->path, g->error));
  arena *scratch = arena_new();
  span *spans = scratch ? ARENA_NEW(scratch, span, (int64_t)json_size(root)) : NULL;
  situ_status status = spans ? SITU_STATUS_OK : fail_no_memory(g->error);
  if (status == SITU_STATUS_OK && g->capacity == 0) status = reserve(g, (int64_t)json_size(root)); /* a file alone */
  int64_t n_spans = 0;
  json_member m = {0};
  while (status == SITU_STATUS_OK && json_next(root, &m))
    if (strcmp(m.key, "__metadata__") != 0) status = read_entry(g, &spans[n_spans++], source->path, m.key, m.value);
  if (status == SITU_STATUS_OK)
    status = check_spans(g, spans, n_spans, (int64_t)(source->size_bytes - 8 - n), source->path);
  arena_free(scratch);
  json_free(root);
  return status;
}

/* ---- the index ---- */

static const char *beside(const gathering *g, const char *name) {
  char *folder = file_folder(g->a, g->source->path);
  size_t n = folder ? strlen(folder) : 0;
  char *path = folder ? ARENA_NEW(g->a, char, (int64_t)(n + strlen(name) + 1)) : NULL;
  if (path) snprintf(path, n + strlen(name) + 1, "%s%s", folder, name);
  return path;
}

static situ_status read_shard(gathering *g, const char *path) {
  file_view view;
  TRY(file_begin(&view, path, g->error));
  read_source source = {
      .path = path, .bytes = view.bytes, .size_bytes = view.size_bytes, .view = &view, .options = g->source->options};
  situ_status status = is_file(&source) ? read_header(g, &source)
                                        : fail_with(g->error, SITU_STATUS_BAD_INPUT, path, "is not a safetensors file");
  if (file_result(&view, path, NULL) != SITU_STATUS_OK) status = file_result(&view, path, g->error);
  file_close(&view);
  return status;
}

/* A tensor of a part that is absent: its shape is that of the configuration. */
static situ_status assume_tensor(gathering *g, const char *name, const char *shard) {
  lm_tensor t = {.name = arena_string(g->a, name), .dtype = g->config.dtype};
  if (!t.name) return fail_no_memory(g->error);
  if (!g->config_root || g->config.quantization || !hf_config_shape(&t.rank, t.dims, &g->config, name))
    return fail_with(g->error, SITU_STATUS_BAD_INPUT, g->source->path, "names %s in %s, which is absent, and %s", name,
                     shard,
                     g->config_root ? "config.json does not give its shape"
                                    : "so is config.json, which would give its shape; put either next to it");
  t.bytes = situ_dtype_bits(t.dtype) / 8;
  for (int32_t i = 0; i < t.rank; i++) t.bytes = sat_mul(t.bytes, t.dims[i]);
  return add_tensor(g, &t, NULL, g->source->path);
}

static situ_status read_map(gathering *g, const json_value *map) {
  int32_t n_absent = 0, n_files = 0;
  json_member m = {0};
  string_map *files = string_map_new(g->a, 64); /* 1: read, 0: absent */
  if (!files) return fail_no_memory(g->error);
  while (json_next(map, &m)) {
    const char *shard = json_text(m.value, NULL);
    if (!shard || !*shard || strchr(shard, '/') || strlen(shard) > 255)
      return fail_with(g->error, SITU_STATUS_BAD_INPUT, g->source->path,
                       "names no file for %s; expected the name of one in the same folder", m.key);
    int64_t there = string_map_get(files, shard);
    if (there < 0) {
      if (++n_files > MAX_FILES)
        return fail_with(g->error, SITU_STATUS_BAD_INPUT, g->source->path, "names more than %d files", MAX_FILES);
      const char *path = beside(g, shard);
      if (!path) return fail_no_memory(g->error);
      there = file_exists(path);
      n_absent += !there;
      if (string_map_put(files, arena_string(g->a, shard), there) < 0) return fail_no_memory(g->error);
      if (there) TRY(read_shard(g, path));
    }
    if (!there) TRY(assume_tensor(g, m.key, shard));
    if (there && string_map_get(g->by_name, m.key) < 0)
      return fail_with(g->error, SITU_STATUS_BAD_INPUT, g->source->path, "names %s in %s, which does not hold it",
                       m.key, shard);
  }
  if (n_absent > 0)
    text_add(g->notes, "%d of %d files are absent; the shapes of their tensors are those of config.json\n",
             (int)n_absent, (int)n_files);
  return SITU_STATUS_OK;
}

static situ_status read_index(gathering *g) {
  json_value *root = NULL;
  const read_source *s = g->source;
  read_need(s, s->bytes, s->size_bytes);
  TRY(json_parse(&root, (const char *)s->bytes, s->size_bytes, s->path, g->error));
  const json_value *map = json_get(root, "weight_map");
  int64_t n = (int64_t)json_size(map), total = json_int(json_get(json_get(root, "metadata"), "total_size"), -1);
  situ_status status = SITU_STATUS_OK;
  if (json_kind_of(map) != JSON_OBJECT_KIND || n == 0 || n > MAX_TENSORS)
    status = fail_with(g->error, SITU_STATUS_BAD_INPUT, s->path, "has no weight_map of 1 to %d tensors", MAX_TENSORS);
  if (status == SITU_STATUS_OK) status = reserve(g, n);
  if (status == SITU_STATUS_OK) status = read_map(g, map);
  json_free(root);
  int64_t sum = 0;
  for (int32_t i = 0; i < g->model.n_tensors; i++) sum = sat_add(sum, g->model.tensors[i].bytes);
  if (status == SITU_STATUS_OK && total >= 0 && total != sum)
    text_add(g->notes, "its tensors have %" PRId64 " bytes; the index says %" PRId64 "\n", sum, total);
  return status;
}

/* ---- what is no model ---- */

/* A pipeline is several networks; the message names them. */
static situ_status refuse_pipeline(const gathering *g) {
  const read_source *s = g->source;
  json_value *root = NULL;
  text_buffer parts = {0};
  read_need(s, s->bytes, s->size_bytes);
  TRY(json_parse(&root, (const char *)s->bytes, s->size_bytes, s->path, g->error));
  json_member m = {0};
  while (json_next(root, &m)) {
    const char *kind = json_text(json_at(m.value, 1), NULL); /* [library, class] */
    if (kind) text_add(&parts, "%s%.60s (%.60s)", parts.length > 0 ? ", " : "", m.key, kind);
  }
  fail_with(g->error, SITU_STATUS_UNSUPPORTED, s->path,
            "is a pipeline of several networks (%.60s): %.600s; expected one network: name the folder or the ONNX file "
            "of one of them",
            json_text(json_get(root, "_class_name"), "diffusers"), parts.bytes ? parts.bytes : "none is named");
  text_free(&parts);
  json_free(root);
  return SITU_STATUS_UNSUPPORTED;
}

/* Weights of an adapter are added to those of a model. */
static situ_status check_adapter(const gathering *g) {
  const char *path = beside(g, "adapter_config.json"), *found = NULL;
  json_value *root = NULL;
  for (int32_t i = 0; i < g->model.n_tensors && !found; i++)
    if (lm_has_word(g->model.tensors[i].name, " lora_A lora_B lora_down lora_up lokr_w1 hada_w1_a "))
      found = g->model.tensors[i].name;
  if (!found) return SITU_STATUS_OK;
  if (!path) return fail_no_memory(g->error);
  if (file_exists(path)) TRY(json_read(&root, path, g->error));
  const char *base = json_text(json_get(root, "base_model_name_or_path"), NULL);
  fail_with(g->error, SITU_STATUS_UNSUPPORTED, g->source->path,
            "is an adapter (%.80s), whose weights are added to those of a model; expected that model%s%.100s", found,
            base ? ": " : "", base ? base : "");
  json_free(root);
  return SITU_STATUS_UNSUPPORTED;
}

static situ_status read_config(gathering *g) {
  const char *path = beside(g, "config.json"), *of_mistral = beside(g, "params.json");
  if (!path || !of_mistral) return fail_no_memory(g->error);
  if (!file_exists(path) && file_exists(of_mistral)) path = of_mistral;
  if (!file_exists(path)) {
    text_add(g->notes, "config.json is absent: heads, experts and windows are guessed from shapes\n");
    return SITU_STATUS_OK;
  }
  TRY(json_read(&g->config_root, path, g->error));
  TRY(hf_config_read(&g->config, &g->model, g->config_root, path, g->error));
  if (path == of_mistral) g->model.architecture = "mistral"; /* which names none in this form */
  return SITU_STATUS_OK;
}

/* The width of the model by its embedding. */
static int64_t width_by_tensors(const lm *m) {
  for (int32_t i = 0; i < m->n_tensors; i++)
    if (m->tensors[i].rank == 2 && lm_has_word(m->tensors[i].name, " embed_tokens wte tok_embeddings word_embeddings "))
      return m->tensors[i].dims[1];
  return m->n_tensors > 0 && m->tensors[0].rank > 0 ? m->tensors[0].dims[m->tensors[0].rank - 1] : 1;
}

/* That of the file, or of its folder where every model's file has the same name. */
static const char *name_of_model(arena *a, const char *path) {
  const char *base = read_base_name(path), *end = base;
  bool usual = strncmp(base, "model.safetensors", 17) == 0 || strncmp(base, "diffusion_pytorch_model.", 24) == 0;
  if (!usual) return arena_string(a, base);
  while (end > path && end[-1] == '/') end--;
  const char *start = end;
  while (start > path && start[-1] != '/') start--;
  size_t n = (size_t)(end - start);
  bool named = n > 0 && strspn(start, ".") < n;
  return named ? arena_string_n(a, start, n) : arena_string(a, base);
}

static situ_status find_packed(gathering *g) {
  stored_tensors stored = {&g->model, g->stored, g->by_name, g->config_root ? &g->config : NULL};
  return safetensors_unpack(&stored, g->source->path, g->notes, g->error);
}

/* From what the file holds to the shapes of the weights. */
static situ_status find_shapes(gathering *g) {
  for (int32_t i = 0; i < g->model.n_tensors; i++) {
    if (!g->stored[i]) continue; /* by the configuration */
    turn_shape(g, &g->model.tensors[i]);
    compare(g, &g->model.tensors[i]);
  }
  return SITU_STATUS_OK;
}

/* Whether the blocks have the modules of BERT, and nothing says that they decode. */
static bool is_of_bert(const gathering *g) {
  bool decodes = g->config_root && json_bool(json_get(g->config_root, "is_decoder"), false), found = false;
  for (int32_t i = 0; i < g->model.n_tensors && !decodes; i++)
    found |= strstr(g->model.tensors[i].name, ".attention.self.query.") != NULL;
  return found && !g->model.encoder;
}

/* t5, mt5, umt5 */
static bool ends_in_t5(const char *architecture) {
  size_t n = strlen(architecture);
  return n >= 2 && strcmp(architecture + n - 2, "t5") == 0;
}

/* As a language model. Where it is none, and no list has its architecture, it may look like a network for pictures. */
static situ_status read_language_model(gathering *g, read_result *result) {
  const read_source *source = g->source;
  TRY(find_shapes(g));
  if (g->n_unlike > MAX_NAMED)
    text_add(g->notes, "%d more tensors have dimensions that differ from config.json\n", (int)g->n_unlike - MAX_NAMED);
  if (g->n_unlike > 0 || g->model.n_embd == 0) g->model.n_embd = width_by_tensors(&g->model);
  TRY(lm_pair_find(&g->model, g->a, g->error));
  /* An encoder that was saved without its decoder. */
  bool alone = (g->config.pair || ends_in_t5(g->model.architecture)) && !g->model.encoder;
  g->model.reads_whole = alone || lm_is_encoder(g->model.architecture) || is_of_bert(g);
  if (alone) g->model.n_blocks = g->model.n_encoder_blocks;
  g->model.doubted = !g->model.encoder && !g->model.reads_whole && lm_doubts_architecture(g->model.architecture);
  situ_status status = lm_check_known(&g->model, source->path, g->a, g->error);
  const network *like = status == SITU_STATUS_UNSUPPORTED ? network_like(&g->model) : NULL;
  situ_error other;
  if (like) {
    situ_status read = network_read(result, like, &g->model, g->config_root, source, false, &other);
    if (read == SITU_STATUS_OK) return read;
    if (read == SITU_STATUS_NO_MEMORY) return fail_no_memory(g->error);
  }
  TRY(status);
  if (source->options->n_dims > 0)
    return fail_with(g->error, SITU_STATUS_BAD_ARGUMENT, source->path,
                     "has no dynamic dimension %s; prompt, context and batch give the sizes of a language model",
                     source->options->dims[0].name);
  if (g->model.doubted)
    text_add(g->notes, "architecture %.60s is in no list: its structure is guessed from names\n",
             g->model.architecture);
  TRY(lm_count_absent(&g->model.absent_blocks, &g->model, g->a, g->error));
  if (g->model.absent_blocks > 0)
    text_add(g->notes, "%lld of the %d blocks that config.json counts have no weights in the file, and are left out\n",
             (long long)g->model.absent_blocks, (int)g->model.n_blocks);
  return lm_read(result, &g->model, source, g->error);
}

static situ_status read_all(gathering *g, read_result *result) {
  const read_source *source = g->source;
  g->by_name = string_map_new(g->a, 1024);
  g->model = (lm){.arena = g->a, .architecture = "unknown", .activation_bytes = 2};
  g->model.model = name_of_model(g->a, source->path);
  if (!g->by_name || !g->model.model) return fail_no_memory(g->error);
  if (is_pipeline(source)) return refuse_pipeline(g);
  TRY(read_config(g));
  TRY(is_file(source) ? read_header(g, source) : read_index(g));
  TRY(check_adapter(g));
  TRY(find_packed(g));
  if (g->without_data) text_add(g->notes, "a file contains only its header; its weights are absent\n");
  if (is_file(source)) result->header_bytes = 8 + (size_t)header_length(source);
  const network *family = network_find(g->config_root);
  return family ? network_read(result, family, &g->model, g->config_root, source, true, g->error)
                : read_language_model(g, result);
}

static situ_status read_safetensors(read_result *result, const read_source *source, situ_error *error) {
  gathering g = {.source = source, .a = arena_new(), .notes = &result->notes, .error = error};
  situ_status status = g.a ? read_all(&g, result) : fail_no_memory(error);
  json_free(g.config_root);
  arena_free(g.a);
  return status;
}

const reader safetensors_reader = {.name = "safetensors",
                                   .title = "Hugging Face models: safetensors or their index, with config.json",
                                   .suffixes = ".safetensors",
                                   .recognise = recognise,
                                   .in_parts = true,
                                   .names_dims = true,
                                   .takes_load = true,
                                   .read = read_safetensors};
