/* GGUF: files of llama.cpp, whole or in numbered parts. Only headers are read. docs/formats/language-models.md */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "read/gguf_header.h"
#include "read/lm_known.h"
#include "read/lm_reader.h"

static int recognise(const read_source *source) {
  if (source->size_bytes < 4) return 0;
  read_need(source, source->bytes, 4);
  return memcmp(source->bytes, "GGUF", 4) == 0 ? 2 : 0;
}

enum { MAX_VALUE = 1 << 28 }; /* of a hyper-parameter; others count as absent */

typedef struct gguf_model {
  const gguf_header *first;
  const char *architecture;
  arena *a;
  lm *out;
} gguf_model;

/* The key ARCHITECTURE.name; NULL where there is none. */
static const gguf_key *own_key(const gguf_model *g, const char *name) {
  char full[300];
  snprintf(full, sizeof full, "%s.%s", g->architecture, name);
  return gguf_find(g->first, full);
}
static int64_t own(const gguf_model *g, const char *name, int64_t default_value) {
  int64_t value = gguf_int(own_key(g, name), 0, default_value);
  return value < 0 || value > MAX_VALUE ? default_value : value;
}
/* The value of a block: an element of a list, or one value for all. */
static int64_t of_block(const gguf_model *g, const char *name, int32_t block, int64_t default_value) {
  int64_t value = gguf_int(own_key(g, name), (uint64_t)block, default_value);
  return value < 0 || value > MAX_VALUE ? default_value : value;
}

static int64_t window_of(const gguf_model *g, int32_t block) {
  int64_t window = own(g, "attention.sliding_window", strcmp(g->architecture, "gemma2") == 0 ? 4096 : 0);
  const gguf_key *pattern = own_key(g, "attention.sliding_window_pattern");
  if (window == 0 || strcmp(g->architecture, "phi3") == 0) return 0;
  if (pattern && pattern->is_array) return gguf_int(pattern, (uint64_t)block, 0) ? window : 0;
  int64_t period = gguf_int(pattern, 0, lm_window_period(g->architecture));
  return period <= 0 || block % period < period - 1 ? window : 0;
}

static lm_layer layer_of(const gguf_model *g, int32_t block) {
  lm_layer l = {.heads = of_block(g, "attention.head_count", block, 0), .window = window_of(g, block)};
  l.kv_heads = of_block(g, "attention.head_count_kv", block, l.heads);
  int64_t width = l.heads > 0 ? g->out->n_embd / l.heads : 0;
  l.key = own(g, "attention.key_length", width);
  l.value = own(g, "attention.value_length", width);
  if (l.window > 0) l.key = own(g, "attention.key_length_swa", l.key);
  if (l.window > 0) l.value = own(g, "attention.value_length_swa", l.value);
  int64_t shared = own(g, "attention.shared_kv_layers", 0);
  if (strcmp(g->architecture, "gemma3n") == 0 && shared == 0 && g->out->n_blocks > 20) shared = g->out->n_blocks - 20;
  l.shares_cache = block >= g->out->n_blocks - shared;
  l.recurrent = own_key(g, "attention.head_count_kv") && l.kv_heads == 0; /* 0 of a list marks it */
  return l;
}

/* Behind the attention of its last block llama.cpp goes on with the tokens alone whose logits are wanted (`inp_out_ids`
 * of its src/models, October 2026). These architectures do so behind all blocks, or only with heads for further tokens.
 */
static bool crops_last(const char *architecture) {
  static const char *const whole[] = {"bailingmoe3", "cohere2moe", "deepseek2", "deepseek4", "gemma3n",   "gemma4",
                                      "glm4moe",     "gpt-oss",    "hrm_text",  "hy_v3",     "hy_v4",     "kimi-k3",
                                      "mistral4",    "nemotron_h", "qwen35",    "qwen35moe", "qwen3next", "step35"};
  for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
    if (strcmp(architecture, whole[i]) == 0) return false;
  return true;
}

static situ_status describe(const gguf_model *g, situ_error *error) {
  lm *m = g->out;
  int64_t blocks = own(g, "block_count", 0) - own(g, "nextn_predict_layers", 0);
  if (blocks < 0 || blocks > LM_MAX_BLOCKS)
    return fail_with(error, SITU_STATUS_BAD_INPUT, m->model, "has %" PRId64 " blocks; expected at most %d", blocks,
                     LM_MAX_BLOCKS);
  m->n_blocks = (int32_t)blocks;
  m->n_ahead = (int32_t)own(g, "nextn_predict_layers", 0);
  m->n_embd = own(g, "embedding_length", 0);
  const gguf_key *tokens = gguf_find(g->first, "tokenizer.ggml.tokens");
  m->vocab = own(g, "vocab_size", tokens && tokens->is_array ? (int64_t)tokens->count : 0);
  m->trained_context = own(g, "context_length", 0);
  m->experts_used = own(g, "expert_used_count", 0);
  m->latent_rank = own(g, "attention.kv_lora_rank", 0);
  m->conv = own(g, "ssm.conv_kernel", own(g, "shortconv.l_cache", 0));
  m->inner = own(g, "ssm.inner_size", 0);
  m->state = own(g, "ssm.state_size", own(g, "wkv.head_size", 0));
  m->groups = own(g, "ssm.group_count", 0);
  int64_t alike = own(g, "kda.head_dim", 0); /* of Kimi: keys and values alike */
  if (alike > 0) {
    m->state = alike;
    m->groups = own(g, "attention.head_count", 0);
    m->inner = m->groups * alike;
  }
  m->index_heads = own(g, "attention.indexer.head_count", 0);
  m->index_key = own(g, "attention.indexer.key_length", 0);
  m->index_top = own(g, "attention.indexer.top_k", 0);
  m->keys_are_values = strncmp(g->architecture, "gemma4", 6) == 0;
  m->activation_bytes = 4;
  m->masks = true;
  m->crops_last = crops_last(g->architecture);
  m->layers = ARENA_ZERO(g->a, lm_layer, m->n_blocks);
  if (!m->layers) return fail_no_memory(error);
  for (int32_t b = 0; b < m->n_blocks; b++) m->layers[b] = layer_of(g, b);
  return SITU_STATUS_OK;
}

/* The width of the model by its embedding, where no key says it. */
static int64_t width_by_tensors(const lm *m) {
  for (int32_t i = 0; i < m->n_tensors; i++)
    if (m->tensors[i].rank == 2 && strstr(m->tensors[i].name, "embd")) return m->tensors[i].dims[1];
  return m->n_tensors > 0 && m->tensors[0].rank > 0 ? m->tensors[0].dims[m->tensors[0].rank - 1] : 1;
}

static void add_tensors(lm *m, const gguf_header *h) {
  for (int32_t i = 0; i < h->n_tensors; i++) {
    const gguf_tensor *t = &h->tensors[i];
    lm_tensor *to = &m->tensors[m->n_tensors++];
    *to = (lm_tensor){.name = t->name,
                      .rank = t->rank,
                      .bytes = t->bytes,
                      .dtype = gguf_dtype(t->type),
                      .stored = gguf_type_name(t->type)};
    while (to->rank > 1 && t->dims[to->rank - 1] == 1 && to->rank > 2) to->rank--;
    for (int32_t k = 0; k < to->rank; k++) to->dims[k] = t->dims[to->rank - 1 - k];
  }
}

/* ---- parts ---- */

enum { MAX_PARTS = 10000, TAIL = sizeof "-00001-of-00001.gguf" - 1 };

/* Writes the path of part `no` (from 1) of `count`; false where the path does not end as those of parts do. */
static bool part_path(char *into, size_t capacity, const char *path, int32_t no, int32_t count) {
  size_t n = strlen(path);
  if (n < TAIL || n >= capacity) return false;
  unsigned first, all;
  int used = 0;
  if (sscanf(path + n - TAIL, "-%5u-of-%5u.gguf%n", &first, &all, &used) != 2 || used != TAIL) return false;
  if (all != (unsigned)count) return false;
  snprintf(into, capacity, "%.*s-%05d-of-%05d.gguf", (int)(n - TAIL), path, (int)no, (int)count);
  return true;
}

static situ_status read_part(gguf_header *out, const char *path, const situ_read_options *options, arena *a,
                             situ_error *error) {
  file_view view;
  TRY(file_begin(&view, path, error));
  read_source source = {
      .path = path, .bytes = view.bytes, .size_bytes = view.size_bytes, .view = &view, .options = options};
  situ_status status = gguf_header_read(out, &source, a, error);
  if (file_result(&view, path, NULL) != SITU_STATUS_OK) status = file_result(&view, path, error);
  out->keys = NULL; /* they point into the file */
  out->n_keys = 0;
  file_close(&view);
  return status;
}

/* The headers of all parts, the first being there already. */
static situ_status read_parts(gguf_header *parts, int32_t n, const read_source *source, arena *a, situ_error *error) {
  char path[4096];
  for (int32_t k = 1; k < n; k++) {
    if (!part_path(path, sizeof path, source->path, k + 1, n))
      return fail_with(error, SITU_STATUS_BAD_INPUT, source->path,
                       "is one of %d parts; expected a name that ends in -00001-of-%05d.gguf", (int)n, (int)n);
    TRY(read_part(&parts[k], path, source->options, a, error));
  }
  return SITU_STATUS_OK;
}

/* Files that go with a model: their type by the file, what they are. */
static situ_status check_type(const gguf_header *h, const char *architecture, const char *path, arena *a,
                              situ_error *error) {
  static const struct {
    const char *type, *architecture, *what;
  } others[] = {
      {"adapter", NULL, "an adapter (LoRA), whose weights are added to those of a model"},
      {"mmproj", "clip", "a projector of images or sound (mmproj), which goes with a language model"},
      {"imatrix", "imatrix", "a matrix of importance, by which weights of a model are quantised"},
  };
  const char *type = gguf_text(gguf_find(h, "general.type"), a, "model");
  if (!type) return fail_no_memory(error);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(type, others[i].type) == 0 ||
        (others[i].architecture && strcmp(architecture, others[i].architecture) == 0))
      return fail_with(error, SITU_STATUS_UNSUPPORTED, path, "is %s; expected the file of that model", others[i].what);
  return SITU_STATUS_OK;
}

static situ_status read_all(read_result *result, const read_source *source, arena *a, situ_error *error) {
  gguf_header first;
  TRY(gguf_header_read(&first, source, a, error));
  int64_t n = gguf_int(gguf_find(&first, "split.count"), 0, 1), no = gguf_int(gguf_find(&first, "split.no"), 0, 0);
  if (n < 1 || n > MAX_PARTS || no < 0 || no >= n)
    return fail_with(error, SITU_STATUS_BAD_INPUT, source->path,
                     "is part %" PRId64 " of %" PRId64 "; expected at most %d", no, n, MAX_PARTS);
  if (no != 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, source->path,
                     "is part %" PRId64 " of %" PRId64 "; expected the first, which describes the model", no + 1, n);
  gguf_header *parts = ARENA_ZERO(a, gguf_header, n);
  if (!parts) return fail_no_memory(error);
  parts[0] = first;
  TRY(read_parts(parts, (int32_t)n, source, a, error));
  lm m = {.arena = a};
  gguf_model g = {.first = &first, .a = a, .out = &m};
  g.architecture = m.architecture = gguf_text(gguf_find(&first, "general.architecture"), a, "unknown");
  m.model = gguf_text(gguf_find(&first, "general.name"), a, read_base_name(source->path));
  if (!g.architecture || !m.model) return fail_no_memory(error);
  TRY(check_type(&first, g.architecture, source->path, a, error));
  TRY(lm_check_architecture(&m, source->path, error));
  int64_t n_tensors = 0;
  bool without = false;
  for (int32_t k = 0; k < n; k++) {
    n_tensors += parts[k].n_tensors;
    without |= parts[k].without_data;
  }
  int64_t stated = gguf_int(gguf_find(&first, "split.tensors.count"), 0, n_tensors);
  if (n_tensors == 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, source->path, "holds no weights: only a vocabulary");
  if (n_tensors > INT32_MAX || stated != n_tensors)
    return fail_with(error, SITU_STATUS_BAD_INPUT, source->path,
                     "has %" PRId64 " tensors in all parts; expected %" PRId64, n_tensors, stated);
  m.reads_whole = lm_is_encoder(g.architecture);
  m.tensors = ARENA_NEW(a, lm_tensor, n_tensors);
  if (!m.tensors) return fail_no_memory(error);
  TRY(describe(&g, error));
  for (int32_t k = 0; k < n; k++) add_tensors(&m, &parts[k]);
  if (m.n_embd == 0) m.n_embd = width_by_tensors(&m);
  if (without) text_add(&result->notes, "the file contains only its header; its weights are absent\n");
  result->steps.engine = "llama.cpp";
  result->header_bytes = first.end;
  return lm_read(result, &m, source, error);
}

static situ_status read_gguf(read_result *result, const read_source *source, situ_error *error) {
  arena *a = arena_new();
  situ_status status = a ? read_all(result, source, a, error) : fail_no_memory(error);
  arena_free(a);
  return status;
}

const reader gguf_reader = {.name = "gguf",
                            .title = "llama.cpp language models: GGUF 2 and 3, in one file or split",
                            .suffixes = ".gguf",
                            .recognise = recognise,
                            .in_parts = true,
                            .takes_load = true,
                            .read = read_gguf};
