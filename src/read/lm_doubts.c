#include "read/lm_doubts.h"

#include <string.h>

/* Architectures of Hugging Face whose steps are read as their code computes them. Most were held against PyTorch: FLOPs
 * of a small model of each (tests/python/test_transformers_files.py). */
static const char architectures[] =
    " afmoe apertus apertus1p5 arcee aria baichuan bailing_moe bamba beam biogpt bitnet bloom chatglm codegen "
    "cohere cohere2 cohere2_moe cwm deepseek deepseek_v2 deepseek_v3 deepseek_v32 doge dots1 ernie4_5 "
    "ernie4_5_moe exaone exaone4 exaone_moe falcon falcon_h1 falcon_mamba flex_olmo flint gemma gemma2 "
    "gemma3 gemma3_vl gemma3n gemma4 glm glm4 glm4_moe glm4_moe_lite glm4v glm4v_moe glm_moe_dsa gpt-sw3 "
    "gpt2 gpt_bigcode gpt_neo gpt_neox gpt_neox_japanese gpt_oss gptj granite granite_swa granitemoe "
    "granitemoe_swa granitemoehybrid granitemoeshared helium hunyuan_v1_dense hunyuan_v1_moe hy_v3 "
    "hyperclovax idefics3 internlm internlm2 internlm3 internvl iquestcoder jais jais2 jamba kimi_k2 "
    "kimi_linear kolibri1 laguna lfm2 lfm2_moe llama llama4 llava llava_next llava_onevision mamba mamba2 mellum "
    "mimo_v2_flash minicpm minicpm3 minimax_m2 minimax_m3_vl ministral ministral3 mistral mistral3 mixtral "
    "modernbert-decoder moshi mpt nanochat nemotron nemotron_h olmo olmo2 olmo3 olmoe opt paligemma "
    "persimmon phi phi3 phimoe pixtral qwen qwen2 qwen2_5_vl qwen2_moe qwen2_vl qwen3 qwen3_5 qwen3_5_moe "
    "qwen3_moe qwen3_next qwen3_vl qwen3_vl_moe rwkv sarvam_moe seed_oss smollm3 smolvlm solar_open stablelm "
    "starcoder2 step3p5 vaultgemma xglm yi zamba2 ";

/* Modules that weights of a block are below, and what is done in them: attention, recurrences, feed-forward parts,
 * experts. docs/formats/language-models.md */
static const char modules[] =
    " self_attn attn attention self_attention self encoder_attn EncDecAttention SelfAttention DenseReluDense "
    "multi_head_attention linear_attn mamba mixer mamba2 ssm conv shortconv short_conv temporal_block "
    "mlp feed_forward ffn output intermediate block_sparse_moe moe moe_block feed_forward_moe experts shared_experts "
    "shared_expert share_expert shared_mlp shared_head switch_mlp gate router mlp_moe dense dense_mlp wrapped_moe "
    "att crossattention layer lin indexer laurel altup time_mix channel_mix rotary_emb transformer "
    "q_proj k_proj v_proj o_proj gate_proj up_proj down_proj ";

/* Numbers that names of single modules end in. */
static const char numbered[] =
    " w1 w2 w3 v1 fc1 fc2 lin1 lin2 c_fc_0 c_fc_1 proj_1 proj_2 wi_0 wi_1 linear1 linear2 ln1 ln2 ln_1 ln_2 mamba2 "
    "conv1 "
    "conv2 time_mix_w1 time_mix_w2 ";

static bool is_listed(const char *list, const char *word, size_t n) {
  for (const char *at = list; (at = strchr(at, ' ')) && at[1]; at++)
    if (strncmp(at + 1, word, n) == 0 && at[1 + n] == ' ') return true;
  return false;
}

bool lm_doubts_architecture(const char *name) {
  size_t n = strlen(name);
  bool text = n > 5 && strcmp(name + n - 5, "_text") == 0; /* of a model for pictures, too */
  return !is_listed(architectures, name, text ? n - 5 : n);
}

/* The steps of a path but the last, which is the module itself. */
static bool is_below_known(const char *within) {
  for (const char *step = within, *dot; (dot = strchr(step, '.')); step = dot + 1) {
    size_t n = (size_t)(dot - step), digits = strspn(step, "0123456789");
    if (digits != n && !is_listed(modules, step, n)) return false;
  }
  return true;
}

/* "q_proj_2", "mlp2": one more of what there should be one of. GGUF's names end in no number of this kind. */
static bool is_numbered(const char *within) {
  const char *last = strrchr(within, '.');
  last = last ? last + 1 : within;
  size_t n = strlen(last);
  return n > 1 && last[n - 1] >= '0' && last[n - 1] <= '9' && strncmp(last, "time_mix_", 9) != 0 &&
         !is_listed(numbered, last, n);
}

bool lm_doubts_role(const lm *model, const lm_operator *op) {
  if (op->block < 0 || op->group == LM_CROSS) return false;
  bool narrow = op->role == LM_IN && op->group != LM_ROUTED && op->in > 0 && op->in != model->n_embd;
  return !is_below_known(op->within) || is_numbered(op->within) || narrow;
}

static bool has(const lm_operator *ops, int32_t n, const char *words) {
  for (int32_t i = 0; i < n; i++)
    if (ops[i].role != LM_NORM && ops[i].role != LM_INNER_NORM && lm_has_word(ops[i].within, words)) return true;
  return false;
}

static bool has_role(const lm_operator *ops, int32_t n, lm_group group, lm_role role) {
  for (int32_t i = 0; i < n; i++)
    if (ops[i].group == group && ops[i].role == role) return true;
  return false;
}

const char *lm_doubts_block(const lm *model, const lm_operator *ops, int32_t n) {
  bool attends = has(ops, n, lm_queries) && has(ops, n, lm_keys) && !has(ops, n, lm_latent);
  bool values = model->keys_are_values || has(ops, n, lm_values) || has(ops, n, lm_fused);
  bool routes = has_role(ops, n, LM_DENSE, LM_ROUTER) || has_role(ops, n, LM_ROUTED, LM_ROUTER) ||
                has_role(ops, n, LM_ATTENTION, LM_ROUTER) || has_role(ops, n, LM_SHARED, LM_ROUTER);
  if (attends && !values) return "values of attention";
  if (model->state == 0 && model->conv == 0 && has(ops, n, " conv conv1d shortconv ")) return "convolutions of blocks";
  bool enters = false, ends = false;
  for (lm_group group = LM_DENSE; group <= LM_SHARED; group++) {
    enters |= has_role(ops, n, group, LM_IN);
    ends |= has_role(ops, n, group, LM_OUT);
  }
  if (enters && !ends) return "outputs of feed-forward parts";
  for (int32_t i = 0; i < n; i++) {
    if (ops[i].group != LM_ROUTED || ops[i].role == LM_ROUTER || ops[i].role == LM_SMALL) continue;
    if (!routes) return "choice of experts";
    if (model->experts > 0 && ops[i].experts != model->experts) return "number of experts";
  }
  return NULL;
}
