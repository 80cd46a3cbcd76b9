/* GPT-2, small by default. The table of words is read by the first and by the last operator, which are therefore
 * colocated; 124,439,808 parameters with it counted once. */

#include "read/builtin.h"

enum { BATCH, SEQ, LAYERS, HIDDEN, HEADS, VOCAB, BITS };

static const builtin_parameter parameters[] = {BUILTIN_BATCH,
                                               {"seq", 1024, 1, 65536, "tokens of an input"},
                                               {"layers", 12, 1, 10000, "decoder layers"},
                                               {"hidden", 768, 1, 65536, "width of a token"},
                                               {"heads", 12, 1, 1024, "attention heads; they divide hidden"},
                                               {"vocab", 50257, 1, 10000000, "word pieces"},
                                               BUILTIN_BITS,
                                               {0}};

/* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */
static net_value gelu_tanh(net *n, net_value x) {
  net_enter(n, "gelu");
  net_value cube = net_op2(n, "scale", "Mul", net_op2(n, "pow", "Pow", x, net_scalar(n, 3)), net_scalar(n, 0.044715));
  net_value inner = net_op2(n, "inner", "Mul", net_op2(n, "add", "Add", x, cube), net_scalar(n, 0.7978845608028654));
  net_value gate = net_op2(n, "add_one", "Add", net_op1(n, "tanh", "Tanh", inner), net_scalar(n, 1));
  net_value y = net_op2(n, "mul", "Mul", net_op2(n, "half", "Mul", x, net_scalar(n, 0.5)), gate);
  net_leave(n);
  return y;
}

static net_value heads_of(net *n, const char *name, net_value x, bool keys, const int64_t *v) {
  net_enter(n, "%s", name);
  x = net_heads(n, x, v[HEADS], keys);
  net_leave(n);
  return x;
}

static net_value attention(net *n, net_value x, net_value mask, const int64_t *v) {
  net_value qkv[3];
  net_enter(n, "attention");
  net_split(n, "split", net_linear(n, "qkv", x, 3 * v[HIDDEN], true), 2, qkv, 3);
  net_value query = heads_of(n, "q", qkv[0], false, v), key = heads_of(n, "k", qkv[1], true, v);
  net_value value = heads_of(n, "v", qkv[2], false, v);
  net_value out = net_linear(n, "output", net_attention(n, query, key, value, mask), v[HIDDEN], true);
  net_leave(n);
  return out;
}

static void generate(net *n, const int64_t *v) {
  if (v[HIDDEN] % v[HEADS] != 0)
    net_refuse(n, "heads must divide hidden; %lld does not divide %lld", (long long)v[HEADS], (long long)v[HIDDEN]);
  net_set_bits(n, v[BITS]);
  int64_t places = v[SEQ] > 1024 ? v[SEQ] : 1024; /* 1024 in the paper */
  net_share(n);
  net_value table = net_weight(n, NET_SHAPE(v[VOCAB], v[HIDDEN]));
  net_share_end(n);
  net_value mask = net_input(n, NET_SHAPE(1, 1, v[SEQ], v[SEQ]));
  net_value x = net_gather(n, "word", table, net_int_input(n, NET_SHAPE(v[BATCH], v[SEQ])));
  net_value place =
      net_gather(n, "position", net_weight(n, NET_SHAPE(places, v[HIDDEN])), net_int_input(n, NET_SHAPE(1, v[SEQ])));
  x = net_op2(n, "add", "Add", x, place);
  for (int64_t layer = 0; layer < v[LAYERS] && net_ok(n); layer++) {
    net_enter(n, "layer%lld", (long long)layer);
    x = net_op2(n, "add1", "Add", attention(n, net_layer_norm(n, "norm1", x), mask, v), x);
    net_value y = gelu_tanh(n, net_linear(n, "fc1", net_layer_norm(n, "norm2", x), 4 * v[HIDDEN], true));
    x = net_op2(n, "add2", "Add", net_linear(n, "fc2", y, v[HIDDEN], true), x);
    net_leave(n);
  }
  x = net_reshape(n, "flatten", net_layer_norm(n, "norm", x), NET_SHAPE(v[BATCH] * v[SEQ], v[HIDDEN]));
  net_op(n, "head", "Gemm", NET_ATTRS(NET_INT("transB", 1)), NET_VALUES(x, table));
}

const builtin builtin_gpt2 = {
    .name = "gpt2",
    .title = "GPT-2 decoder (12 layers of 768) for text",
    .source = "Radford et al.: Language Models are Unsupervised Multitask Learners, 2019",
    .parameters = parameters,
    .generate = generate,
};
