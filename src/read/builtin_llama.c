/* A decoder of the Llama family: RMSNorm, rotary embeddings, grouped-query attention, SwiGLU. tokens > 1 is prefill,
 * tokens = 1 with context > 0 is one step of decoding; keys and values of the context stay with their layer as state.
 *
 *     Llama 2 7B   the defaults
 *     Llama 2 70B  layers=80 hidden=8192 heads=64 kv_heads=8 ffn=28672
 *     Llama 3 8B   kv_heads=8 ffn=14336 vocab=128256 */
#include <math.h>

#include "read/builtin.h"

enum { BATCH, TOKENS, CONTEXT, LAYERS, HIDDEN, HEADS, KV_HEADS, FFN, VOCAB, BITS, EXPERTS, CHOSEN };

#define COMMON(kv_heads_, ffn_)                                                                                        \
  BUILTIN_BATCH, {"tokens", 512, 1, 1048576, "new tokens: 1 for decoding, more for prefill"},                          \
      {"context", 0, 0, 1048576, "tokens already in the cache"}, {"layers", 32, 1, 100000, "decoder layers"},          \
      {"hidden", 4096, 2, 65536, "width of a token"}, {"heads", 32, 1, 1024, "query heads; they divide hidden"},       \
      {"kv_heads", kv_heads_, 1, 1024, "key and value heads; they divide heads"},                                      \
      {"ffn", ffn_, 1, 1048576, "inner width of the feed-forward part"}, {"vocab", 32000, 1, 10000000, "word pieces"}, \
      BUILTIN_HALF

static const builtin_parameter parameters[] = {COMMON(32, 11008), {0}};
static const builtin_parameter moe_parameters[] = {COMMON(8, 14336),
                                                   {"experts", 8, 2, 1024, "experts per layer"},
                                                   {"chosen", 2, 1, 1024, "experts active per token, on average"},
                                                   {0}};

/* Cosines and sines of the positions, made once for all layers. */
typedef struct rotary {
  net_value cosine, sine;
} rotary;

static rotary rotary_tables(net *n, const int64_t *v) {
  rotary r;
  int64_t half = v[HIDDEN] / v[HEADS] / 2;
  net_enter(n, "rotary");
  net_value places = net_input(n, NET_SHAPE(v[BATCH], 1, v[TOKENS], 1));
  net_value angles = net_op2(n, "angles", "Mul", places, net_input(n, NET_SHAPE(1, 1, 1, half)));
  net_value both = net_concat(n, "concat", -1, NET_VALUES(angles, angles));
  r.cosine = net_op1(n, "cos", "Cos", both);
  r.sine = net_op1(n, "sin", "Sin", both);
  net_leave(n);
  return r;
}

/* x * cos + (-second half, first half) * sin */
static net_value rotate(net *n, net_value x, rotary r) {
  int64_t width = net_dim(n, x, -1);
  net_value low = net_slice(n, "low", x, 3, 0, width / 2), high = net_slice(n, "high", x, 3, width / 2, width);
  net_value turned = net_concat(n, "turned", -1, NET_VALUES(net_op1(n, "neg", "Neg", high), low));
  return net_op2(n, "rotated", "Add", net_op2(n, "mul_cos", "Mul", x, r.cosine),
                 net_op2(n, "mul_sin", "Mul", turned, r.sine));
}

static net_value heads_of(net *n, net_value x, int64_t heads, const int64_t *v) {
  return net_heads(n, net_linear(n, "linear", x, heads * (v[HIDDEN] / v[HEADS]), false), heads, false);
}

/* The cached part, then the new part; each head repeated for the queries that share it. */
static net_value cached(net *n, net_value x, const int64_t *v) {
  int64_t width = net_dim(n, x, -1), length = v[CONTEXT] + v[TOKENS], share = v[HEADS] / v[KV_HEADS];
  if (v[CONTEXT] > 0) {
    net_value past = net_state(n, NET_SHAPE(v[BATCH], v[KV_HEADS], v[CONTEXT], width));
    x = net_concat(n, "cache", 2, NET_VALUES(past, x));
  }
  if (share == 1) return x;
  x = net_unsqueeze(n, "unsqueeze", x, 2);
  x = net_op2(n, "expand", "Expand", x, net_ints(n, NET_SHAPE(v[BATCH], v[KV_HEADS], share, length, width)));
  return net_reshape(n, "repeat", x, NET_SHAPE(v[BATCH], v[HEADS], length, width));
}

static net_value attention(net *n, net_value x, rotary r, net_value mask, const int64_t *v) {
  net_enter(n, "q");
  net_value query = rotate(n, heads_of(n, x, v[HEADS], v), r);
  net_leave(n);
  net_enter(n, "k");
  net_value key = cached(n, rotate(n, heads_of(n, x, v[KV_HEADS], v), r), v);
  key = net_transpose(n, "swap", key, NET_SHAPE(0, 1, 3, 2));
  net_leave(n);
  net_enter(n, "v");
  net_value value = cached(n, heads_of(n, x, v[KV_HEADS], v), v);
  net_leave(n);
  return net_linear(n, "o", net_attention(n, query, key, value, mask), v[HIDDEN], false);
}

static net_value feed_forward(net *n, net_value x, const int64_t *v) {
  net_value gate = net_linear(n, "gate", x, v[FFN], false), up = net_linear(n, "up", x, v[FFN], false);
  net_value swish = net_op2(n, "silu", "Mul", gate, net_op1(n, "sigmoid", "Sigmoid", gate));
  return net_linear(n, "down", net_op2(n, "mul", "Mul", swish, up), v[HIDDEN], false);
}

/* Each expert takes the same number of tokens, those that the router rates highest for it (expert choice, Zhou et al.,
 * NeurIPS 2022): all shapes are fixed and every expert has its share of the work.
 *
 * Costs are expected values. All experts together work on `chosen` rows for each token, however the shares round up. A
 * token leaves a given one of E experts out with probability 1 - k/E, so that E (1 - (1 - k/E)^T) experts read their
 * weights for T tokens; the memory holds all. Real routing is skewed, so that this is an upper estimate. */
static net_value experts(net *n, net_value x, const int64_t *v) {
  int64_t tokens = v[BATCH] * v[TOKENS], share = (tokens * v[CHOSEN] + v[EXPERTS] - 1) / v[EXPERTS];
  net_value *rows = net_array(n, v[EXPERTS]), *rates = net_array(n, v[EXPERTS]), best[2];
  if (!net_ok(n)) return NET_NONE;
  net_value flat = net_reshape(n, "flatten", x, NET_SHAPE(tokens, v[HIDDEN]));
  net_value scores = net_softmax(n, net_linear(n, "router", flat, v[EXPERTS], false), -1);
  net_call(n, "topk", "TopK", NET_ATTRS(NET_INT("axis", 0)), NET_VALUES(scores, net_ints(n, NET_SHAPE(share))), best,
           2);
  net_split(n, "split_rates", best[0], 1, rates, (int32_t)v[EXPERTS]); /* [share, 1] each */
  net_split(n, "split_rows", best[1], 1, rows, (int32_t)v[EXPERTS]);
  double used = (double)v[CHOSEN] / (double)v[EXPERTS];
  net_expect(n, used * (double)tokens / (double)share, 1 - pow(1 - used, (double)tokens));
  for (int64_t e = 0; e < v[EXPERTS] && net_ok(n); e++) {
    net_enter(n, "expert%lld", (long long)e);
    net_value mine = net_gather(n, "gather", flat, net_squeeze(n, "squeeze", rows[e], 1));
    rates[e] = net_op2(n, "rate", "Mul", feed_forward(n, mine, v), rates[e]);
    net_leave(n);
  }
  net_expect(n, 1, 1);
  net_value all = net_concat(n, "concat", 0, rates, (int32_t)v[EXPERTS]);
  net_value places = net_concat(n, "places", 0, rows, (int32_t)v[EXPERTS]); /* [experts * share, 1] */
  net_value sum = net_op(n, "combine", "ScatterND", NET_NO_ATTRS,
                         NET_VALUES(net_input(n, NET_SHAPE(tokens, v[HIDDEN])), places, all));
  return net_reshape(n, "unflatten", sum, NET_SHAPE(v[BATCH], v[TOKENS], v[HIDDEN]));
}

static net_value layer(net *n, net_value x, rotary r, net_value mask, const int64_t *v, bool mixture) {
  net_value normed = net_rms_norm(n, "input_norm", x);
  net_enter(n, "attention");
  net_value y = attention(n, normed, r, mask, v);
  net_leave(n);
  x = net_op2(n, "attention_add", "Add", x, y);
  normed = net_rms_norm(n, "post_norm", x);
  net_enter(n, "mlp");
  y = mixture ? experts(n, normed, v) : feed_forward(n, normed, v);
  net_leave(n);
  return net_op2(n, "mlp_add", "Add", x, y);
}

static void decoder(net *n, const int64_t *v, bool mixture) {
  if (v[HIDDEN] % (2 * v[HEADS]) != 0 || v[HEADS] % v[KV_HEADS] != 0)
    net_refuse(n, "hidden must be an even multiple of heads, and heads a multiple of kv_heads");
  net_set_bits(n, v[BITS]);
  net_value tokens = net_int_input(n, NET_SHAPE(v[BATCH], v[TOKENS]));
  net_value x = net_gather(n, "embed", net_weight(n, NET_SHAPE(v[VOCAB], v[HIDDEN])), tokens);
  rotary r = rotary_tables(n, v);
  net_value mask = NET_NONE; /* one new token sees all */
  if (v[TOKENS] > 1) mask = net_input(n, NET_SHAPE(v[BATCH], 1, v[TOKENS], v[CONTEXT] + v[TOKENS]));
  for (int64_t i = 0; i < v[LAYERS] && net_ok(n); i++) {
    net_enter(n, "layer%lld", (long long)i);
    x = layer(n, x, r, mask, v, mixture);
    net_leave(n);
  }
  net_linear(n, "lm_head", net_rms_norm(n, "norm", x), v[VOCAB], false);
}

static void generate(net *n, const int64_t *v) { decoder(n, v, false); }

static void generate_mixture(net *n, const int64_t *v) {
  if (v[CHOSEN] > v[EXPERTS]) net_refuse(n, "chosen must be at most experts (%lld)", (long long)v[EXPERTS]);
  decoder(n, v, true);
}

const builtin builtin_llama = {
    .name = "llama",
    .title = "Llama-style decoder (7B by default), prefill or decoding",
    .source = "Touvron et al.: Llama 2, 2023; Ainslie et al.: GQA, EMNLP 2023",
    .parameters = parameters,
    .generate = generate,
};
const builtin builtin_moe = {
    .name = "moe",
    .title = "Llama-style decoder with a mixture of experts (Mixtral 8x7B by default)",
    .source = "Jiang et al.: Mixtral of Experts, 2024",
    .parameters = moe_parameters,
    .generate = generate_mixture,
};
