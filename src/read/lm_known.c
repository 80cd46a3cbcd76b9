/* Whether weights are those of a language model: what a decoder has, and a role for every weight. Files of weights say
 * little of the network they belong to, and a plan of a network that was taken for another would be "optimal" too.
 * Names: the modelling files of transformers, and of the models' authors; docs/formats/language-models.md. */
#include <string.h>

#include "base/fail.h"
#include "read/lm_known.h"
#include "read/lm_operators.h"
#include "read/lm_pair.h"

enum { NAMED = 3 };

/* Matrices of blocks, beyond those that lm_role_of knows by name. */
static const char in_blocks[] =
    " attn_q attn_k attn_v attn_qkv attn_gate qkv_proj qkv query_key_value c_attn c_fc c_fc_0 c_fc_1 W_pack wqkv Wqkv "
    "wq wk wv wq_a "
    "wq_b wkv_a wkv_b att_proj q_a_proj kv_a_proj_with_mqa in_proj in_proj_qkvz in_proj_ba in_proj_qkv in_proj_z "
    "in_proj_a in_proj_b g_proj b_proj a_proj f_proj f_a_proj f_b_proj g_a_proj g_b_proj self.query self.key "
    "self.value q_proj k_proj v_proj query_proj key_proj value_proj q_lin k_lin v_lin multi_head_attention "
    "gate_proj up_proj gate_up_proj down_proj ffn_gate ffn_up ffn_gate_up fc1 fc2 fc_in fc_out proj_1 proj_2 w1 w2 w3 "
    "v1 wo "
    "input_linear output_linear router gate dense dense_h_to_4h dense_4h_to_h ff_proj ff_out attn_out "
    "intermediate.dense lin1 lin2 Wi Wo "
    "receptance time_mix_key time_mix_value time_mix_receptance time_mix_gate time_mix_output channel_mix_key "
    "channel_mix_value channel_mix_receptance att ffn attention.key attention.value attention.output feed_forward.key "
    "feed_forward.value per_layer_input_gate per_layer_projection altup laurel modality_router indexer shortconv "
    "attn.q attn.k attn.v "
    "shared_expert_gate sinks rotary_emb relative_attention_bias experts exps shexp "
    "attn_kv ssm_in ssm_ba ssm_alpha ssm_beta ssm_f_a ssm_f_b ssm_g_a ssm_g_b inp_gate "
    "time_mix_first time_mix_r_k time_mix_decay_w1 time_mix_decay_w2 time_mix_a1 time_mix_a2 time_mix_v1 time_mix_v2 "
    "time_mix_g1 time_mix_g2 ";
/* And outside of them. */
static const char tables[] =
    " token_embd per_layer_token_embd position_embd embed_tokens embed_tokens_per_layer embed_positions wte wpe "
    "tok_embeddings word_embeddings position_embeddings token_type_embeddings token_types embed_in ";
static const char outside[] =
    " lm_head embed_out proj_out output output_layer project_in project_out per_layer_model_projection "
    "per_layer_model_proj "
    "altup_projections altup_proj altup_unembd_proj dense_2 dense_3 "
    "altup_unembed_projections pooler score classifier cls predictions rotary_pos_emb relative_attention_bias "
    "rel_embeddings embeddings_project contact_head vocab_transform vocab_projector head.dense ";

/* Words of attention to another stack, in names of encoder-decoders. */
static const char crossing[] =
    " encoder_attn encoder_attn_layer_norm EncDecAttention crossattention encoder_decoder_attention ";
static const char closing[] =
    " o_proj out_proj wo attn_output attn_out c_proj dense out_lin Wo attention.dense self_attention.dense "
    "attention.output.dense multi_head_attention.linear attn.o ";
static const char recurrent[] =
    " mamba mixer linear_attn A_log ssm_a in_proj receptance time_mix_receptance shortconv conv ";

/* What has been seen. */
typedef struct evidence {
  bool embedding, query, key, value, latent, fused, closing, recurrent, feed_forward, crossing, convolution;
  const char *other; /* a second stack of blocks, or NULL */
  const char *stack; /* the first */
} evidence;

/* Weights without a role. */
typedef struct strangers {
  const char *name[NAMED];
  int64_t n;
} strangers;

static bool ends_in(const char *name, const char *end) {
  size_t n = strlen(name), m = strlen(end);
  return n >= m && strcmp(name + n - m, end) == 0 && (n == m || name[n - m - 1] == '.');
}

bool lm_is_table(const char *name) {
  return lm_has_word(name, tables) || ends_in(name, "embeddings") || ends_in(name, "emb") || ends_in(name, "shared");
}

bool lm_is_of_tokens(const char *table) {
  return !strstr(table, "pos") && !strstr(table, "type") && !strstr(table, "wpe") && !strstr(table, "per_layer");
}

static bool has_role(const lm_tensor *t, const lm_place *p) {
  lm_role role = lm_role_of(p->within, t->rank, true, false);
  if (role == LM_NORM || role == LM_INNER_NORM || role == LM_SMALL || role == LM_ROUTER) return true;
  if (p->block < 0) return lm_is_table(p->op) || lm_has_word(p->op, outside);
  if (t->rank == 2 && p->expert < 0 && lm_group_of(p->within) == LM_ROUTED) return false; /* of how many experts? */
  bool by_layer = strcmp(p->within, "proj") == 0; /* of embeddings by layer, in GGUF */
  return role == LM_OUT || role == LM_MIDDLE || by_layer || lm_has_word(p->within, in_blocks);
}

/* A kernel that is moved over an image, or over sound; that of one channel each, over text, is part of recurrences. */
static bool is_convolution(const lm_tensor *t, const lm_place *p) {
  bool stacked = lm_group_of(p->within) == LM_ROUTED || lm_has_word(p->op, " A_log ");
  bool one_channel = t->rank == 3 && t->dims[1] == 1;
  return !stacked && (t->rank >= 4 || (t->rank == 3 && !one_channel && strstr(p->op, "conv")));
}

static void see_block(evidence *e, const lm_tensor *t, const lm_place *p) {
  const char *w = p->within;
  bool other = e->stack && strcmp(e->stack, p->stack) != 0;
  if (!e->stack) e->stack = p->stack;
  if (other && !e->other) e->other = p->stack;
  e->query |= lm_has_word(w, lm_queries);
  e->key |= lm_has_word(w, lm_keys);
  e->value |= lm_has_word(w, lm_values);
  e->latent |= lm_has_word(w, lm_latent);
  e->fused |= lm_has_word(w, lm_fused);
  e->closing |= lm_has_word(w, closing);
  e->recurrent |= lm_has_word(w, recurrent) && !is_convolution(t, p);
  e->crossing |= lm_has_word(w, crossing);
  lm_group group = lm_group_of(w);
  e->feed_forward |= t->rank >= 2 && group != LM_ATTENTION && group != LM_CROSS;
}

bool lm_is_known(const lm_tensor *t, const lm_place *p) { return !is_convolution(t, p) && has_role(t, p); }

static void see(evidence *e, strangers *others, const lm *model, const lm_tensor *t, const lm_place *p) {
  if (p->part || lm_pair_listens(model, p)) return;
  if (p->block >= 0) see_block(e, t, p);
  if (p->block < 0 && t->rank == 2) e->embedding |= lm_is_table(p->op) && lm_is_of_tokens(p->op);
  e->convolution |= is_convolution(t, p);
  if (lm_is_known(t, p)) return;
  if (others->n < NAMED) others->name[others->n] = t->name;
  others->n++;
}

static void add_lack(text_buffer *t, bool lacks, const char *what) {
  if (lacks) text_add(t, "%s%s", t->length ? ", " : "it has ", what);
}

situ_status lm_count_absent(int64_t *absent, const lm *model, arena *a, situ_error *error) {
  bool *seen = ARENA_ZERO(a, bool, model->n_blocks + 1);
  *absent = 0;
  if (!seen) return fail_no_memory(error);
  for (int32_t i = 0; i < model->n_tensors; i++) {
    lm_place p;
    if (!lm_find_place(&p, model->tensors[i].name, a)) return fail_no_memory(error);
    bool encodes = model->encoder && p.block >= 0 && strcmp(p.stack, model->encoder) == 0;
    if (p.block >= 0 && p.block < model->n_blocks && !encodes && !lm_is_of_another_input(model->tensors[i].name))
      seen[p.block] = true;
  }
  for (int32_t k = 0; k < model->n_blocks; k++) *absent += !seen[k];
  return SITU_STATUS_OK;
}

/* What a decoder has and these weights do not, in words. Of an encoder-decoder that alone. */
static void list_lacks(text_buffer *t, const evidence *e) {
  bool attends = e->fused || e->latent || (e->query && e->key && e->value);
  bool mixes = e->recurrent || (attends && e->closing), pair = e->crossing || e->other;
  add_lack(t, pair, "two stacks of blocks, as an encoder-decoder, where one is expected");
  add_lack(t, e->convolution && !pair, "convolutions");
  add_lack(t, !e->embedding && !pair, "no embedding of tokens");
  add_lack(t, !mixes && !pair, "no attention (query, key and value or all in one, and output)");
  add_lack(t, !e->feed_forward && !e->recurrent && !pair, "no feed-forward part or experts");
}

/* What encoder and decoder lack, each with a stack of its own. */
static void list_lacks_of_pair(text_buffer *t, const evidence *encoder, const evidence *decoder) {
  add_lack(t, decoder->convolution || encoder->convolution, "convolutions");
  add_lack(t, !decoder->embedding, "no embedding of tokens");
  for (int32_t k = 0; k < 2; k++) {
    const evidence *e = k ? encoder : decoder;
    bool attends = (e->fused || (e->query && e->key && e->value)) && e->closing;
    add_lack(t, !attends, k ? "an encoder without attention" : "a decoder without attention");
    add_lack(t, !e->feed_forward,
             k ? "an encoder without a feed-forward part" : "a decoder without a feed-forward part");
  }
}

situ_status lm_check_known(const lm *model, const char *where, arena *a, situ_error *error) {
  evidence e = {0}, of_encoder = {0};
  strangers others = {0};
  text_buffer why = {0};
  for (int32_t i = 0; i < model->n_tensors; i++) {
    const lm_tensor *t = &model->tensors[i];
    lm_place p;
    if (lm_is_of_another_input(t->name)) continue;
    if (!lm_find_place(&p, t->name, a)) return fail_no_memory(error);
    bool encodes = model->encoder && p.block >= 0 && strcmp(p.stack, model->encoder) == 0;
    bool beyond = model->n_blocks > 0 && p.block >= model->n_blocks && !model->encoder; /* predicts further tokens */
    if (!beyond) see(encodes ? &of_encoder : &e, &others, model, t, &p);
  }
  if (model->encoder)
    list_lacks_of_pair(&why, &of_encoder, &e);
  else
    list_lacks(&why, &e);
  situ_status status = SITU_STATUS_OK;
  for (int64_t i = 0; i < others.n && i < NAMED; i++)
    text_add(&why, "%s%.80s",
             i > 0        ? ", "
             : why.length ? "; weights without a role: "
                          : "weights without a role: ",
             others.name[i]);
  if (others.n > NAMED) text_add(&why, " and %lld more", (long long)others.n - NAMED);
  if (why.failed) status = fail_no_memory(error);
  if (status == SITU_STATUS_OK && why.length > 0)
    status = fail_with(error, SITU_STATUS_UNSUPPORTED, where,
                       "is not a language model as situ reads them (architecture %.60s): %s", model->architecture,
                       why.bytes);
  text_free(&why);
  return status;
}

situ_status lm_check_architecture(const lm *model, const char *where, situ_error *error) {
  static const char *const others[] = {
      "t5",   "t5encoder", "whisper", "wavtokenizer-dec", "flux",   "sd1",    "sdxl", "sd3", "wan", "hyvid", "ltxv",
      "aura", "pig",       "bart",    "hidream",          "cosmos", "lumina2"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(others[i], model->architecture) == 0)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, where,
                       "is not a language model as situ reads them (architecture %s); expected a decoder, or an "
                       "encoder such as BERT",
                       others[i]);
  return SITU_STATUS_OK;
}
