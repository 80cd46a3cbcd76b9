/* The meaning of tensor names: those of GGUF and of the usual PyTorch modules. Sources: llama.cpp, src/llama-arch.cpp;
 * docs/formats/language-models.md. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "read/lm.h"
#include "read/quantisers.h"

static const char blocks[] = " blk layers h blocks layer block ";
const char lm_queries[] =
    " q_proj wq wq_a q_a_proj attn_q self.query query_proj q_lin multi_head_attention.query attn.q ";
const char lm_keys[] = " k_proj wk attn_k self.key key_proj k_lin multi_head_attention.key attn.k ";
const char lm_values[] = " v_proj wv attn_v self.value value_proj v_lin multi_head_attention.value attn.v ";
const char lm_latent[] = " kv_a_proj_with_mqa wkv_a attn_kv_a_mqa ";
const char lm_fused[] = " qkv_proj qkv query_key_value c_attn W_pack wqkv Wqkv att_proj attn_qkv ";

static bool is_listed(const char *list, const char *word, size_t n) {
  for (const char *at = list; (at = strchr(at, ' ')) && at[1]; at++)
    if (strncmp(at + 1, word, n) == 0 && at[1 + n] == ' ') return true;
  return false;
}

bool lm_has_word(const char *within, const char *words) {
  for (const char *at = words; at[0] && at[1];) {
    size_t n = strcspn(at + 1, " ");
    for (const char *s = within; *s; s++) {
      bool starts = s == within || s[-1] == '.' || s[-1] == '_';
      if (starts && *s == at[1] && strncmp(s, at + 1, n) == 0 && (!s[n] || s[n] == '.' || s[n] == '_')) return true;
    }
    at += 1 + n;
  }
  return false;
}

/* The number that is the whole step of a path which starts here, or -1. */
static int32_t number_at(const char *step) {
  size_t n = strspn(step, "0123456789");
  if (n == 0 || n > 6 || (step[n] && step[n] != '.')) return -1;
  return (int32_t)strtol(step, NULL, 10);
}

/* Takes the number of an expert out of a path: experts.7.w1 -> experts.w1, ffn_gate.7 -> ffn_gate. */
static int32_t take_expert(char *within) {
  char *at = strstr(within, "experts.");
  at = at ? at + strlen("experts.") : strrchr(within, '.');
  if (at && *at == '.') at++;
  int32_t expert = at ? number_at(at) : -1;
  if (expert < 0) return -1;
  size_t n = strspn(at, "0123456789");
  if (at[n])
    memmove(at, at + n + 1, strlen(at + n + 1) + 1);
  else
    at[-1] = '\0';
  return expert;
}

/* T5 numbers the parts of a block: layer.0.SelfAttention.q, of decoders layer.1.EncDecAttention.q, layer.1 or layer.2
 * for DenseReluDense, and the norm of each. NULL where it is not one of these. */
static const char *of_t5(const char *within, const char *stack) {
  static const char *const pairs[][2] = {{"SelfAttention.q", "self_attn.q_proj"},
                                         {"SelfAttention.k", "self_attn.k_proj"},
                                         {"SelfAttention.v", "self_attn.v_proj"},
                                         {"SelfAttention.o", "self_attn.o_proj"},
                                         {"SelfAttention.relative_attention_bias", "self_attn.relative_attention_bias"},
                                         {"EncDecAttention.q", "encoder_attn.q_proj"},
                                         {"EncDecAttention.k", "encoder_attn.k_proj"},
                                         {"EncDecAttention.v", "encoder_attn.v_proj"},
                                         {"EncDecAttention.o", "encoder_attn.o_proj"},
                                         {"DenseReluDense.wi", "mlp.up_proj"},
                                         {"DenseReluDense.wi_0", "mlp.gate_proj"},
                                         {"DenseReluDense.wi_1", "mlp.up_proj"},
                                         {"DenseReluDense.wo", "mlp.down_proj"}};
  static const char numbered[] = "layer.";
  size_t n = sizeof numbered - 1;
  if (strncmp(within, numbered, n) != 0 || within[n] < '0' || within[n] > '2' || within[n + 1] != '.') return NULL;
  const char *rest = within + n + 2;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    if (strcmp(rest, pairs[i][0]) == 0) return pairs[i][1];
  if (strcmp(rest, "layer_norm") != 0) return NULL;
  bool crosses = within[n] == '1' && strstr(stack, "decoder");
  return within[n] == '0' ? "self_attn_layer_norm" : crosses ? "encoder_attn_layer_norm" : "final_layer_norm";
}

bool lm_find_place(lm_place *out, const char *name, arena *a) {
  char *op = arena_string(a, name), *stack = arena_string(a, "");
  if (!op || !stack) return false;
  *out = (lm_place){.stack = stack, .block = -1, .op = op, .within = op, .expert = -1};
  quantisers_cut(op, &out->part);
  for (char *step = op; step; step = strchr(step, '.') ? strchr(step, '.') + 1 : NULL) {
    char *next = strchr(step, '.');
    if (!next || !is_listed(blocks, step, (size_t)(next - step))) continue;
    int32_t block = number_at(next + 1);
    if (block < 0) continue;
    out->block = block;
    out->stack = arena_string_n(a, name, (size_t)(next - op));
    char *within = next + 1 + strspn(next + 1, "0123456789");
    if (*within == '.') within++;
    if (!out->stack) return false;
    out->expert = take_expert(within);
    const char *known = of_t5(within, out->stack);
    out->within = known ? known : within;
    return true;
  }
  return true;
}

bool lm_is_encoder(const char *architecture) {
  static const char *const names[] = {"bert",       "roberta",     "xlm-roberta",  "camembert",      "electra",
                                      "distilbert", "mpnet",       "albert",       "deberta",        "deberta-v2",
                                      "modernbert", "nomic-bert",  "nomic_bert",   "nomic-bert-moe", "jina-bert-v2",
                                      "neo-bert",   "modern-bert", "jina-bert-v3", "eurobert"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(names[i], architecture) == 0) return true;
  return false;
}

int64_t lm_window_period(const char *architecture) {
  static const struct {
    const char *name;
    int64_t period;
  } rows[] = {{"gemma2", 2}, {"gemma3", 6},  {"gemma3n", 5}, {"gpt-oss", 2},
              {"llama4", 4}, {"cohere2", 4}, {"olmo2", 4},   {"exaone4", 4}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    size_t n = strlen(rows[i].name);
    bool same = strncmp(rows[i].name, architecture, n) == 0;
    if (same && (!architecture[n] || strcmp(architecture + n, "_text") == 0)) return rows[i].period;
  }
  return 0;
}

lm_group lm_group_of(const char *w) {
  if (lm_has_word(w, " encoder_attn encoder_attn_layer_norm ")) return LM_CROSS;
  if (strstr(w, "shexp") || strstr(w, "shared_expert") || strstr(w, "shared_mlp") || lm_has_word(w, " share_expert "))
    return LM_SHARED;
  if (strstr(w, "exps") || strstr(w, "experts") || lm_has_word(w, " switch_mlp input_linear output_linear "))
    return LM_ROUTED;
  static const char feed_forward[] = "intermediate.", closing[] = "output."; /* of BERT, whose attention is below it */
  if (strncmp(w, feed_forward, sizeof feed_forward - 1) == 0 || strncmp(w, closing, sizeof closing - 1) == 0)
    return LM_DENSE;
  if (strstr(w, "ffn") || strstr(w, "mlp") || strstr(w, "feed_forward") || strstr(w, "feedforward") ||
      strstr(w, "moe") || strstr(w, "channel_mix") || strstr(w, "post_attention") || strstr(w, "ffw"))
    return LM_DENSE;
  if (lm_has_word(
          w,
          " up_proj down_proj gate_proj fc1 fc2 ln_2 dense_h_to_4h dense_4h_to_h post_norm router final_layer_norm "))
    return LM_DENSE;
  return LM_ATTENTION;
}

lm_role lm_role_of(const char *w, int32_t rank, bool wide, bool back) {
  static const char inner[] =
      " q_norm k_norm q_a_norm kv_a_norm ssm_norm q_layernorm k_layernorm q_a_layernorm "
      "kv_a_layernorm ssm_dt_norm ssm_b_norm ssm_c_norm attn_sub_norm ffn_sub_norm "
      "linear_attn.norm mixer.norm mamba.norm ";
  if (lm_has_word(w, inner)) return LM_INNER_NORM;
  if (strstr(w, "norm") || strstr(w, "Norm") || lm_has_word(w, " ln_1 ln_2 ln1 ln2 ")) return LM_NORM;
  size_t n = strlen(w);
  static const char kernel[] = "conv"; /* products around it are below a module of this name, too */
  bool convolves = n >= sizeof kernel - 1 && strcmp(w + n - (sizeof kernel - 1), kernel) == 0;
  if (rank < 2 || convolves || strstr(w, "conv1d") ||
      lm_has_word(w, " ssm_a ssm_d A_log rope_freqs relative_attention_bias "))
    return LM_SMALL;
  bool gate = n >= 5 && strcmp(w + n - 5, ".gate") == 0;
  if (gate || lm_has_word(w, " ffn_gate_inp ffn_gate_inp_shexp router shared_expert_gate gate.wg ")) return LM_ROUTER;
  if (lm_has_word(w,
                  " attn_output attn_out o_proj out_proj ssm_out c_proj wo time_mix_output ffn_down ffn_down_exps "
                  "ffn_down_shexp ffn_down_chexps down_proj w2 w2_weight fc2 dense_4h_to_h channel_mix_value "
                  "attention.dense self_attention.dense output.dense out_lin lin2 Wo attn.o "))
    return LM_OUT;
  if (lm_has_word(w,
                  " attn_q_b attn_kv_b attn_k_b attn_v_b q_b_proj kv_b_proj k_b_proj v_b_proj ssm_x ssm_dt x_proj "
                  "dt_proj "))
    return LM_MIDDLE;
  bool known = lm_has_word(w,
                           " attn_q attn_k attn_v attn_qkv ffn_gate ffn_up ffn_gate_up q_proj k_proj v_proj qkv_proj "
                           "up_proj gate_proj gate_up_proj w1 w3 self.query self.key self.value query_proj key_proj "
                           "value_proj q_lin k_lin v_lin intermediate.dense lin1 Wqkv Wi ");
  return !known && !wide && back ? LM_OUT : !known && !wide ? LM_MIDDLE : LM_IN;
}
