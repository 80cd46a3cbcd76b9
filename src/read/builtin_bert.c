/* BERT, base size by default: encoder and pooler, without a task's head. */

#include "read/builtin.h"

enum { BATCH, SEQ, LAYERS, HIDDEN, HEADS, VOCAB, BITS };

static const builtin_parameter parameters[] = {BUILTIN_BATCH,
                                               {"seq", 128, 2, 65536, "tokens of an input"},
                                               {"layers", 12, 1, 10000, "encoder layers"},
                                               {"hidden", 768, 1, 65536, "width of a token"},
                                               {"heads", 12, 1, 1024, "attention heads; they divide hidden"},
                                               {"vocab", 30522, 1, 10000000, "word pieces"},
                                               BUILTIN_BITS,
                                               {0}};

static net_value embeddings(net *n, const int64_t *v) {
  net_enter(n, "embeddings");
  int64_t places = v[SEQ] > 512 ? v[SEQ] : 512; /* 512 in the paper */
  net_value tokens = net_int_input(n, NET_SHAPE(v[BATCH], v[SEQ])),
            kinds = net_int_input(n, NET_SHAPE(v[BATCH], v[SEQ]));
  net_value word = net_gather(n, "word", net_weight(n, NET_SHAPE(v[VOCAB], v[HIDDEN])), tokens);
  net_value kind = net_gather(n, "token_type", net_weight(n, NET_SHAPE(2, v[HIDDEN])), kinds);
  net_value place =
      net_gather(n, "position", net_weight(n, NET_SHAPE(places, v[HIDDEN])), net_int_input(n, NET_SHAPE(1, v[SEQ])));
  net_value sum = net_op2(n, "add_position", "Add", net_op2(n, "add", "Add", word, kind), place);
  net_value x = net_layer_norm(n, "norm", sum);
  net_leave(n);
  return x;
}

/* A projection split into heads: [batch, heads, seq, width], or with the last two axes swapped for keys. */
static net_value heads_of(net *n, const char *name, net_value x, const int64_t *v, bool keys) {
  net_enter(n, "%s", name);
  net_value y = net_linear(n, "linear", x, v[HIDDEN], true);
  y = net_heads(n, y, v[HEADS], keys);
  net_leave(n);
  return y;
}

static net_value attention(net *n, net_value x, net_value mask, const int64_t *v) {
  net_enter(n, "attention");
  net_value query = heads_of(n, "query", x, v, false), key = heads_of(n, "key", x, v, true);
  net_value value = heads_of(n, "value", x, v, false);
  net_value context = net_attention(n, query, key, value, mask);
  net_value out = net_op2(n, "add", "Add", net_linear(n, "output", context, v[HIDDEN], true), x);
  out = net_layer_norm(n, "norm", out);
  net_leave(n);
  return out;
}

static void generate(net *n, const int64_t *v) {
  if (v[HIDDEN] % v[HEADS] != 0)
    net_refuse(n, "heads must divide hidden; %lld does not divide %lld", (long long)v[HEADS], (long long)v[HIDDEN]);
  net_set_bits(n, v[BITS]);
  net_value mask = net_input(n, NET_SHAPE(v[BATCH], 1, 1, v[SEQ]));
  mask = net_op2(n, "mask.sub", "Sub", net_scalar(n, 1), mask);
  mask = net_op2(n, "mask.mul", "Mul", mask, net_scalar(n, -10000));
  net_value x = embeddings(n, v);
  for (int64_t layer = 0; layer < v[LAYERS] && net_ok(n); layer++) {
    net_enter(n, "layer%lld", (long long)layer);
    x = attention(n, x, mask, v);
    net_value y = net_gelu(n, "gelu", net_linear(n, "intermediate", x, 4 * v[HIDDEN], true));
    y = net_op2(n, "add", "Add", net_linear(n, "output", y, v[HIDDEN], true), x);
    x = net_layer_norm(n, "norm", y);
    net_leave(n);
  }
  net_enter(n, "pooler");
  net_value first = net_squeeze(n, "squeeze", net_slice(n, "first", x, 1, 0, 1), 1);
  net_op1(n, "tanh", "Tanh", net_linear(n, "dense", first, v[HIDDEN], true));
  net_leave(n);
}

const builtin builtin_bert = {
    .name = "bert-base",
    .title = "BERT encoder (12 layers of 768) for text",
    .source = "Devlin, Chang, Lee, Toutanova: BERT, NAACL 2019",
    .parameters = parameters,
    .generate = generate,
};
