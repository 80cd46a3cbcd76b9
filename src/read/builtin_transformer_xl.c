/* Transformer-XL: attention over the segment and a memory of the one before, with relative positions (paper, section
 * 3.3). The defaults are the 12-layer model for enwik8. Several consecutive segments share their weights. */
#include <math.h>

#include "read/builtin.h"

enum { BATCH, SEGMENTS, LENGTH, MEMORY, LAYERS, HIDDEN, HEADS, FFN, VOCAB, BITS };
enum { MAX_LAYERS = 1024 };

static const builtin_parameter parameters[] = {BUILTIN_BATCH,
                                               {"segments", 1, 1, 100, "segments in a row"},
                                               {"length", 512, 1, 65536, "tokens per segment"},
                                               {"memory", 512, 0, 65536, "cached tokens of earlier segments"},
                                               {"layers", 12, 1, MAX_LAYERS, "layers"},
                                               {"hidden", 512, 2, 65536, "width of a token"},
                                               {"heads", 8, 1, 1024, "attention heads; they divide hidden"},
                                               {"ffn", 2048, 1, 1048576, "inner width of the feed-forward part"},
                                               {"vocab", 204, 1, 10000000, "symbols"},
                                               BUILTIN_BITS,
                                               {0}};

/* A matrix with or without bias, or a norm's scale and bias. */
typedef struct pair {
  net_value weight, bias;
} pair;

typedef struct layer {
  pair qkv, position, out, inner, outer, norm1, norm2;
  net_value content_bias, position_bias; /* u and v of equation (5) */
  net_value memory;                      /* what this layer read in the segment before */
} layer;

/* in = 0 makes a norm. Weight and bias are one share: their readers sit together in any case. */
static pair pair_new(net *n, int64_t in, int64_t out, bool bias) {
  net_share(n);
  pair p = {.weight = net_weight(n, in > 0 ? NET_SHAPE(in, out) : NET_SHAPE(out)),
            .bias = bias ? net_weight(n, NET_SHAPE(out)) : NET_NONE};
  net_share_end(n);
  return p;
}

static net_value apply(net *n, const char *name, net_value x, pair p) {
  net_enter(n, "%s", name);
  net_value y = net_op2(n, "matmul", "MatMul", x, p.weight);
  if (p.bias != NET_NONE) y = net_op2(n, "bias", "Add", y, p.bias);
  net_leave(n);
  return y;
}

static net_value norm(net *n, const char *name, net_value x, pair p) {
  return net_op(n, name, "LayerNormalization", NET_ATTRS(NET_INT("axis", -1)), NET_VALUES(x, p.weight, p.bias));
}

static layer layer_new(net *n, const int64_t *v) {
  int64_t hidden = v[HIDDEN], width = hidden / v[HEADS];
  layer l = {.qkv = pair_new(n, hidden, 3 * hidden, false),
             .position = pair_new(n, hidden, hidden, false),
             .out = pair_new(n, hidden, hidden, false),
             .inner = pair_new(n, hidden, v[FFN], true),
             .outer = pair_new(n, v[FFN], hidden, true),
             .norm1 = pair_new(n, 0, hidden, true),
             .norm2 = pair_new(n, 0, hidden, true)};
  net_share(n);
  l.content_bias = net_weight(n, NET_SHAPE(v[HEADS], 1, width));
  net_share_end(n);
  net_share(n);
  l.position_bias = net_weight(n, NET_SHAPE(v[HEADS], 1, width));
  net_share_end(n);
  l.memory = v[MEMORY] > 0 ? net_input(n, NET_SHAPE(v[BATCH], v[MEMORY], hidden)) : NET_NONE;
  return l;
}

/* The sinusoids of the distances: [memory + length, hidden]. */
static net_value distances(net *n, const int64_t *v) {
  net_enter(n, "distances");
  net_value far = net_input(n, NET_SHAPE(v[MEMORY] + v[LENGTH], 1)), rates = net_input(n, NET_SHAPE(1, v[HIDDEN] / 2));
  net_value angles = net_op2(n, "angles", "Mul", far, rates);
  net_value both =
      net_concat(n, "concat", 1, NET_VALUES(net_op1(n, "sin", "Sin", angles), net_op1(n, "cos", "Cos", angles)));
  net_leave(n);
  return both;
}

/* Moves row i of [.., length, total] by length - 1 - i places to the left: pad, fold, cut, fold (appendix B). */
static net_value shift(net *n, net_value x, const int64_t *v) {
  int64_t total = v[MEMORY] + v[LENGTH];
  net_enter(n, "shift");
  x = net_op2(n, "pad", "Pad", x, net_ints(n, NET_SHAPE(0, 0, 0, 1, 0, 0, 0, 0)));
  x = net_reshape(n, "fold", x, NET_SHAPE(v[BATCH], v[HEADS], total + 1, v[LENGTH]));
  x = net_slice(n, "cut", x, 2, 1, total + 1);
  x = net_reshape(n, "unfold", x, NET_SHAPE(v[BATCH], v[HEADS], v[LENGTH], total));
  net_leave(n);
  return x;
}

/* [batch, length, hidden] to [batch, heads, length, width], or with the last two swapped for keys. */
static net_value heads_of(net *n, const char *name, net_value x, bool keys, const int64_t *v) {
  net_enter(n, "%s", name);
  x = net_heads(n, x, v[HEADS], keys);
  net_leave(n);
  return x;
}

static net_value attention(net *n, net_value x, net_value far, net_value mask, const layer *l, const int64_t *v) {
  int64_t total = v[MEMORY] + v[LENGTH], width = v[HIDDEN] / v[HEADS];
  net_value qkv[3];
  net_split(n, "split", apply(n, "qkv", x, l->qkv), 2, qkv, 3);
  if (v[MEMORY] > 0) qkv[0] = net_slice(n, "queries", qkv[0], 1, v[MEMORY], total); /* memory asks nothing */
  net_value query = heads_of(n, "q", qkv[0], false, v), key = heads_of(n, "k", qkv[1], true, v);
  net_value value = heads_of(n, "v", qkv[2], false, v);
  far = net_reshape(n, "position_split", apply(n, "position", far, l->position), NET_SHAPE(total, v[HEADS], width));
  far = net_transpose(n, "position_transpose", far, NET_SHAPE(1, 2, 0));
  net_value content = net_op2(n, "content", "MatMul", net_op2(n, "add_u", "Add", query, l->content_bias), key);
  net_value position = net_op2(n, "place", "MatMul", net_op2(n, "add_v", "Add", query, l->position_bias), far);
  net_value scores = net_op2(n, "scores", "Add", content, shift(n, position, v));
  scores = net_op2(n, "scale", "Mul", scores, net_scalar(n, 1 / sqrt((double)width)));
  return apply(n, "out", net_attend(n, scores, mask, value), l->out);
}

static net_value layer_step(net *n, net_value x, net_value far, net_value mask, layer *l, const int64_t *v) {
  net_value seen = x;
  if (v[MEMORY] > 0) {
    seen = net_concat(n, "remember", 1, NET_VALUES(l->memory, x));
    l->memory = NET_NONE;
    if (v[SEGMENTS] > 1) l->memory = net_slice(n, "memory", seen, 1, v[LENGTH], v[MEMORY] + v[LENGTH]);
  }
  net_enter(n, "attention");
  net_value y = attention(n, seen, far, mask, l, v);
  net_leave(n);
  x = norm(n, "norm1", net_op2(n, "add1", "Add", x, y), l->norm1);
  y = net_op1(n, "relu", "Relu", apply(n, "inner", x, l->inner));
  return norm(n, "norm2", net_op2(n, "add2", "Add", x, apply(n, "outer", y, l->outer)), l->norm2);
}

static void generate(net *n, const int64_t *v) {
  if (v[HIDDEN] % 2 != 0 || v[HIDDEN] % v[HEADS] != 0) net_refuse(n, "hidden must be even and a multiple of heads");
  net_set_bits(n, v[BITS]);
  layer layers[MAX_LAYERS];
  for (int64_t i = 0; i < v[LAYERS]; i++) layers[i] = layer_new(n, v);
  pair table = pair_new(n, v[VOCAB], v[HIDDEN], false), projection = pair_new(n, v[HIDDEN], v[VOCAB], true);
  net_value mask = net_input(n, NET_SHAPE(v[LENGTH], v[MEMORY] + v[LENGTH]));
  for (int64_t segment = 0; segment < v[SEGMENTS]; segment++) {
    net_enter(n, "segment%lld", (long long)segment);
    net_value x = net_gather(n, "embed", table.weight, net_int_input(n, NET_SHAPE(v[BATCH], v[LENGTH])));
    net_value far = distances(n, v);
    for (int64_t i = 0; i < v[LAYERS] && net_ok(n); i++) {
      net_enter(n, "layer%lld", (long long)i);
      x = layer_step(n, x, far, mask, &layers[i], v);
      net_leave(n);
    }
    net_softmax(n, apply(n, "projection", x, projection), -1);
    net_leave(n);
  }
}

const builtin builtin_transformer_xl = {
    .name = "transformer-xl",
    .title = "Transformer-XL with relative attention and memory (12 layers of 512)",
    .source = "Dai, Yang, Yang, Carbonell, Le, Salakhutdinov: Transformer-XL, ACL 2019",
    .parameters = parameters,
    .generate = generate,
};
