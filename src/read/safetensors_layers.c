/* What config.json says of single blocks: whether they attend, how far back, over which heads, or keep a state. Every
 * family has keys of its own for it; transformers, models/.../configuration_*.py. */
#include "read/safetensors_layers.h"

#include <string.h>

#include "base/fail.h"

enum { MAX_VALUE = 1 << 28 }; /* others count as absent */

int64_t hf_config_any(const json_value *o, const char *const *keys, int64_t default_value) {
  for (; *keys; keys++) {
    const json_value *said = json_get(o, *keys);
    if (json_kind_of(said) == JSON_ARRAY_KIND) said = json_at(said, json_size(said) / 2); /* one for each block */
    int64_t value = json_int(said, -1);
    if (value >= 0 && value <= MAX_VALUE) return value;
  }
  return default_value;
}

typedef enum mixing { WHOLE, SLIDING, RECURRENT } mixing; /* chunks count as windows of their length */

static mixing of_word(const char *word) {
  static const struct {
    const char *word;
    mixing is;
  } rows[] = {{"sliding_attention", SLIDING},
              {"chunked_attention", SLIDING},
              {"linear_attention", RECURRENT},
              {"mamba", RECURRENT},
              {"conv", RECURRENT},
              {"recurrent", RECURRENT}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (strcmp(rows[i].word, word) == 0) return rows[i].is;
  return WHOLE;
}

static bool holds(const json_value *list, int64_t number) {
  for (size_t i = 0; i < json_size(list); i++)
    if (json_int(json_at(list, i), -1) == number) return true;
  return false;
}

/* By a list with one entry for each block: words, or numbers that stand for one mixing. */
static bool by_list(mixing *out, const json_value *o, int32_t block) {
  static const struct {
    const char *key;
    int64_t number;
    mixing is;
  } lists[] = {{"layer_types", -1, WHOLE},
               {"hybrid_layer_pattern", 1, SLIDING},
               {"attn_type_list", 0, RECURRENT},
               {"no_rope_layers", 1, SLIDING}};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    const json_value *at = json_at(json_get(o, lists[i].key), (size_t)block);
    const char *word = json_text(at, NULL);
    int64_t number = json_int(at, -1);
    if (!word && number < 0) continue;
    *out = word ? of_word(word) : number == lists[i].number ? lists[i].is : WHOLE;
    return true;
  }
  const json_value *full = json_get(json_get(o, "linear_attn_config"), "full_attn_layers"); /* from 1 on */
  if (json_size(full) > 0) *out = holds(full, block + 1) ? WHOLE : RECURRENT;
  return json_size(full) > 0;
}

/* By a period: every so many blocks one looks back to the beginning. Of EXAONE letters, L where it does not. */
static bool by_period(mixing *out, const json_value *o, const char *architecture, int32_t block) {
  const json_value *pattern = json_get(o, "sliding_window_pattern");
  const char *letters = json_text(pattern, NULL);
  int64_t linear = json_int(json_get(o, "full_attention_interval"), 0);
  int64_t period = json_int(pattern, lm_window_period(architecture));
  if (linear > 0) *out = (block + 1) % linear != 0 ? RECURRENT : WHOLE;
  if (linear > 0) return true;
  if (letters && *letters) *out = letters[(size_t)block % strlen(letters)] == 'L' ? SLIDING : WHOLE;
  if (letters && *letters) return true;
  if (period > 1) *out = (block + 1) % period != 0 ? SLIDING : WHOLE;
  return period > 1;
}

static mixing mixing_of(const json_value *o, const char *architecture, int32_t block) {
  mixing m = WHOLE;
  if (by_list(&m, o, block) || by_period(&m, o, architecture, block)) return m;
  return json_bool(json_get(o, "use_sliding_window"), true) ? SLIDING : WHOLE; /* all, if there is a window */
}

/* Heads of blocks that have others than most: those with a window, or those without. */
static void set_heads(lm_layer *l, const json_value *o, mixing m) {
  const json_value *other = json_get(o, "attention_other_setting"); /* of Step, which says of which */
  const char *of = json_text(json_get(other, "attention_type"), NULL);
  if (of && of_word(of) == m) {
    l->heads = HF_ANY(other, l->heads, "num_attention_heads");
    l->kv_heads = HF_ANY(other, l->kv_heads, "num_attention_groups");
  }
  if (m == SLIDING) {
    l->heads = HF_ANY(o, l->heads, "swa_num_attention_heads");
    l->kv_heads = HF_ANY(o, l->kv_heads, "swa_num_key_value_heads");
    l->key = HF_ANY(o, l->key, "swa_head_dim");
    l->value = HF_ANY(o, l->value, "swa_v_head_dim");
  }
  if (m == WHOLE) {
    l->kv_heads = HF_ANY(o, l->kv_heads, "num_global_key_value_heads");
    l->key = HF_ANY(o, l->key, "global_head_dim");
    l->value = HF_ANY(o, l->value, "global_head_dim");
  }
}

situ_status hf_config_layers(lm *m, lm_layer usual, const json_value *o, situ_error *error) {
  int64_t window = HF_ANY(o, 0, "sliding_window", "sliding_window_size", "attention_chunk_size");
  int64_t shared = HF_ANY(o, 0, "num_kv_shared_layers");
  m->layers = ARENA_ZERO(m->arena, lm_layer, m->n_blocks);
  if (!m->layers) return fail_no_memory(error);
  for (int32_t b = 0; b < m->n_blocks; b++) {
    mixing is = mixing_of(o, m->architecture, b);
    lm_layer *l = &m->layers[b];
    *l = usual;
    l->window = is == SLIDING ? window : 0;
    l->shares_cache = b >= m->n_blocks - shared;
    l->recurrent = is == RECURRENT;
    set_heads(l, o, is);
  }
  return SITU_STATUS_OK;
}

/* Recurrent blocks: their state has a row of `state` elements for each of `inner` channels. */
void hf_config_state(lm *m, const json_value *o) {
  const json_value *kda = json_get(o, "linear_attn_config"); /* of Kimi: keys and values alike */
  bool alike = json_size(json_get(kda, "full_attn_layers")) > 0;
  int64_t heads = HF_ANY(o, 0, "linear_num_value_heads", "mamba_num_heads", "mamba_n_heads");
  int64_t head = HF_ANY(o, 0, "linear_value_head_dim", "mamba_head_dim", "mamba_d_head");
  if (strcmp(m->architecture, "mamba2") == 0) {
    heads = HF_ANY(o, 0, "num_heads");
    head = HF_ANY(o, 0, "head_dim");
  }
  if (alike) {
    heads = HF_ANY(kda, 0, "num_heads");
    head = HF_ANY(kda, 0, "head_dim");
  }
  int64_t expand = HF_ANY(o, 0, "mamba_expand");
  m->state = alike ? head : HF_ANY(o, 0, "linear_key_head_dim", "ssm_state_size", "mamba_d_state", "state_size");
  m->inner = heads > 0 ? heads * head : expand > 0 ? expand * m->n_embd : HF_ANY(o, 0, "intermediate_size", "d_inner");
  m->groups = alike ? heads : HF_ANY(o, 0, "linear_num_key_heads", "n_groups", "mamba_n_groups");
  m->conv = alike ? HF_ANY(kda, 0, "short_conv_kernel_size")
                  : HF_ANY(o, 0, "linear_conv_kernel_dim", "conv_kernel", "mamba_d_conv", "conv_L_cache");
}
