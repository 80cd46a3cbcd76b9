#include "read/safetensors_config.h"

#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "read/safetensors_layers.h"

static situ_dtype dtype_of(const char *word) {
  if (strcmp(word, "bfloat16") == 0) return SITU_DTYPE_BF16;
  return strcmp(word, "float32") == 0 ? SITU_DTYPE_F32 : SITU_DTYPE_F16;
}

/* What is said of quantised weights, by MLX or by others; it may be null. */
static const json_value *quantization_of(const json_value *root, const json_value *text) {
  const json_value *places[] = {json_get(root, "quantization"), json_get(root, "quantization_config"),
                                json_get(text, "quantization_config"), json_get(root, "compression_config")};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (json_kind_of(places[i]) == JSON_OBJECT_KIND) return places[i];
  return NULL;
}

/* An encoder and a decoder, each with its blocks: the trunk is the decoder. */
static void read_pair(hf_config *c, lm *m, const json_value *o, int64_t *blocks) {
  c->pair = json_bool(json_get(o, "is_encoder_decoder"), false);
  if (!c->pair) return;
  int64_t layers = HF_ANY(o, 0, "num_layers", "num_hidden_layers"),
          heads = HF_ANY(o, 0, "num_heads", "num_attention_heads");
  *blocks = HF_ANY(o, layers, "decoder_layers", "num_decoder_layers");
  int64_t encoder = HF_ANY(o, layers, "encoder_layers", "num_layers");
  m->n_encoder_blocks = (int32_t)(encoder <= LM_MAX_BLOCKS ? encoder : 0);
  c->heads = c->kv_heads = HF_ANY(o, heads, "decoder_attention_heads");
  m->encoder_heads = HF_ANY(o, heads, "encoder_attention_heads");
  c->head = c->value = HF_ANY(o, c->heads > 0 ? c->hidden / c->heads : 0, "d_kv");
  m->encoder_head = HF_ANY(o, m->encoder_heads > 0 ? c->hidden / m->encoder_heads : 0, "d_kv");
  m->source_trained = HF_ANY(o, 0, "max_source_positions", "max_position_embeddings");
}

situ_status hf_config_read(hf_config *out, lm *m, const json_value *root, const char *path, situ_error *error) {
  const json_value *o =
      json_kind_of(json_get(root, "text_config")) == JSON_OBJECT_KIND ? json_get(root, "text_config") : root;
  if (json_kind_of(o) != JSON_OBJECT_KIND)
    return fail_with(error, SITU_STATUS_BAD_INPUT, path, "is not an object; expected the configuration of a model");
  int64_t blocks = HF_ANY(o, 0, "num_hidden_layers", "n_layer", "num_layers", "n_layers");
  hf_config c = {.hidden = HF_ANY(o, 0, "hidden_size", "n_embd", "d_model", "dim"),
                 .heads = HF_ANY(o, 0, "num_attention_heads", "n_head", "n_heads"),
                 .vocab = HF_ANY(o, 0, "vocab_size"),
                 .experts = HF_ANY(o, 0, "num_local_experts", "n_routed_experts", "num_experts", "moe_num_experts"),
                 .q_rank = HF_ANY(o, 0, "q_lora_rank"),
                 .kv_rank = HF_ANY(o, 0, "kv_lora_rank"),
                 .nope = HF_ANY(o, 0, "qk_nope_head_dim"),
                 .rope = HF_ANY(o, 0, "qk_rope_head_dim"),
                 .gated = json_bool(json_get(o, "attn_output_gate"), false)};
  c.embedding = HF_ANY(o, c.hidden, "word_embed_proj_dim", "embedding_size");
  c.ff = HF_ANY(o, 4 * c.hidden, "intermediate_size_mlp", "intermediate_size", "n_inner", "ffn_dim", "hidden_dim");
  c.kv_heads = HF_ANY(o, c.heads, "num_key_value_heads", "num_attention_groups", "n_kv_heads");
  c.head = HF_ANY(o, c.heads > 0 ? c.hidden / c.heads : 0, "head_dim");
  c.value = HF_ANY(o, c.head, "v_head_dim");
  c.expert_ff = HF_ANY(o, c.ff, "moe_intermediate_size", "intermediate_size");
  c.shared_ff = HF_ANY(o, HF_ANY(o, 1, "n_shared_experts", "moe_num_shared_experts") * c.expert_ff,
                       "shared_expert_intermediate_size");
  c.dtype = dtype_of(json_text(json_get(o, "torch_dtype"), json_text(json_get(o, "dtype"), "float16")));
  read_pair(&c, m, o, &blocks);
  if (blocks > LM_MAX_BLOCKS)
    return fail_with(error, SITU_STATUS_BAD_INPUT, path, "has %" PRId64 " layers; expected at most %d", blocks,
                     LM_MAX_BLOCKS);
  const char *of_timm = json_text(json_get(root, "architecture"), "unknown");
  const char *class_name = json_text(json_get(root, "_class_name"), of_timm); /* of diffusers */
  const char *architecture = json_text(json_get(o, "model_type"), json_text(json_get(root, "model_type"), class_name));
  c.quantization = quantization_of(root, o);
  m->architecture = arena_string(m->arena, architecture);
  if (!m->architecture) return fail_no_memory(error);
  m->n_blocks = (int32_t)blocks;
  m->n_embd = c.hidden;
  m->vocab = c.vocab;
  m->trained_context = HF_ANY(o, 0, "max_target_positions", "max_position_embeddings", "n_positions");
  m->experts_used = HF_ANY(o, 0, "num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_k", "moe_top_k");
  m->experts = c.experts;
  m->latent_rank = c.kv_rank;
  m->index_heads = HF_ANY(o, 0, "index_n_heads");
  m->index_key = HF_ANY(o, 0, "index_head_dim");
  m->index_top = HF_ANY(o, 0, "index_topk");
  m->keys_are_values = json_bool(json_get(o, "attention_k_eq_v"), false);
  hf_config_state(m, o);
  *out = c;
  const lm_layer usual = {
      .heads = c.heads, .kv_heads = c.kv_heads, .key = c.kv_rank > 0 ? c.nope + c.rope : c.head, .value = c.value};
  return hf_config_layers(m, usual, o, error);
}

/* Biases, scales and other non-weights. */
static bool is_weight(const char *name) {
  size_t n = strlen(name);
  return n > 7 && strcmp(name + n - 7, ".weight") == 0;
}

typedef struct shape_row {
  const char *words;
  int64_t out, in; /* in 0: a vector */
} shape_row;

bool hf_config_shape(int32_t *rank, int64_t dims[LM_MAX_RANK], const hf_config *c, const char *name) {
  bool latent = c->kv_rank > 0, shared = strstr(name, "shared_expert"), routed = lm_group_of(name) == LM_ROUTED;
  int64_t query = c->heads * (latent ? c->nope + c->rope : c->head), value = c->heads * (latent ? c->value : c->head);
  int64_t ff = routed ? c->expert_ff : shared ? c->shared_ff : c->ff, h = c->hidden;
  const shape_row rows[] = {{" q_a_layernorm ", c->q_rank, 0},
                            {" kv_a_layernorm ", c->kv_rank, 0},
                            {" q_norm k_norm ", c->head, 0},
                            {" q_a_proj ", c->q_rank, h},
                            {" q_b_proj ", query, c->q_rank},
                            {" kv_a_proj_with_mqa ", c->kv_rank + c->rope, h},
                            {" kv_b_proj ", c->heads * (c->nope + c->value), c->kv_rank},
                            {" q_proj ", c->gated ? 2 * query : query, h},
                            {" k_proj v_proj ", c->kv_heads * c->head, h},
                            {" o_proj ", h, value},
                            {" gate_up_proj ", 2 * ff, h},
                            {" gate_proj up_proj w1 w3 ", ff, h},
                            {" down_proj w2 ", h, ff},
                            {" block_sparse_moe.gate mlp.gate ", c->experts, h},
                            {" embed_tokens lm_head ", c->vocab, c->embedding},
                            {" input_layernorm post_attention_layernorm model.norm language_model.norm ", h, 0}};
  if (strstr(name, "linear_attn") || strstr(name, "mixer") || !is_weight(name)) return false;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!lm_has_word(name, rows[i].words)) continue;
    *rank = rows[i].in > 0 ? 2 : 1;
    dims[0] = rows[i].out;
    dims[1] = rows[i].in;
    return rows[i].out > 0;
  }
  return false;
}
