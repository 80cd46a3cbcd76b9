/* GNMT, unrolled over its steps: an encoder whose first layer is bidirectional, a decoder whose bottom layer asks an
 * attention network at each step and whose layers all read the answer, residual connections from the third layer on
 * (paper, sections 3.1 and 3.2). The decoder is given its input words, as in training. Steps of a layer share its
 * weights, so their matrix products are colocated; all else is free. */
#include "read/builtin.h"
#include "read/net_cell.h"

enum { BATCH, STEPS, LAYERS, HIDDEN, VOCAB, BITS };
enum { MAX_LAYERS = 64 };

static const builtin_parameter parameters[] = {BUILTIN_BATCH,
                                               {"steps", 20, 1, 20000, "words per sentence, in both languages"},
                                               {"layers", 8, 2, MAX_LAYERS, "layers of the encoder and of the decoder"},
                                               {"hidden", 1024, 1, 65536, "width of a cell"},
                                               {"vocab", 32000, 1, 10000000, "word pieces of each language"},
                                               BUILTIN_BITS,
                                               {0}};

static net_cell cell_of(net *n, int64_t in, const int64_t *v) { return net_cell_new(n, v[BATCH], in, v[HIDDEN]); }

static net_value residual(net *n, int64_t layer, int64_t step, net_value h, net_value x) {
  if (layer < 2) return h;
  net_enter(n, "step%lld", (long long)step);
  net_value sum = net_op2(n, "residual", "Add", h, x);
  net_leave(n);
  return sum;
}

/* Replaces the word vectors in x by the outputs of the top layer. */
static void encode(net *n, net_value *x, net_value *backwards, const int64_t *v) {
  net_enter(n, "encoder.layer0");
  net_enter(n, "backward");
  net_cell back = cell_of(n, v[HIDDEN], v);
  for (int64_t i = v[STEPS] - 1; i >= 0; i--) backwards[i] = net_cell_step(n, &back, i, x[i], NET_NONE);
  net_leave(n);
  net_enter(n, "forward");
  net_cell ahead = cell_of(n, v[HIDDEN], v);
  for (int64_t i = 0; i < v[STEPS]; i++) x[i] = net_cell_step(n, &ahead, i, x[i], NET_NONE);
  net_leave(n);
  net_leave(n);
  for (int64_t layer = 1; layer < v[LAYERS]; layer++) {
    net_enter(n, "encoder.layer%lld", (long long)layer);
    net_cell k = cell_of(n, layer == 1 ? 2 * v[HIDDEN] : v[HIDDEN], v);
    for (int64_t i = 0; i < v[STEPS] && net_ok(n); i++)
      x[i] = residual(n, layer, i, net_cell_step(n, &k, i, x[i], layer == 1 ? backwards[i] : NET_NONE), x[i]);
    net_leave(n);
  }
}

/* The attention network: score = w . tanh(Q query + K memory), equations 4 of the paper. */
typedef struct attention {
  net_value memory, keys, query_matrix, score_vector;
} attention;

static attention attention_new(net *n, net_value memory, const int64_t *v) {
  net_enter(n, "attention");
  attention a = {.memory = memory, .keys = net_linear(n, "keys", memory, v[HIDDEN], false)};
  net_share(n);
  a.query_matrix = net_weight(n, NET_SHAPE(v[HIDDEN], v[HIDDEN]));
  a.score_vector = net_weight(n, NET_SHAPE(v[HIDDEN], 1));
  net_share_end(n);
  net_leave(n);
  return a;
}

static net_value attend(net *n, const attention *a, int64_t step, net_value h) {
  net_enter(n, "attention.step%lld", (long long)step);
  net_value query = net_unsqueeze(n, "unsqueeze", net_op2(n, "query", "MatMul", h, a->query_matrix), 1);
  net_value mixed = net_op1(n, "tanh", "Tanh", net_op2(n, "add", "Add", a->keys, query));
  net_value scores = net_squeeze(n, "squeeze", net_op2(n, "scores", "MatMul", mixed, a->score_vector), 2);
  net_value weights = net_unsqueeze(n, "weights", net_softmax(n, scores, 1), 1);
  net_value context = net_squeeze(n, "context", net_op2(n, "sum", "MatMul", weights, a->memory), 1);
  net_leave(n);
  return context;
}

/* Replaces the word vectors in x by the outputs of the top layer. */
static void decode(net *n, net_value *x, const attention *a, const int64_t *v) {
  net_cell cells[MAX_LAYERS];
  for (int64_t layer = 0; layer < v[LAYERS]; layer++) cells[layer] = cell_of(n, 2 * v[HIDDEN], v);
  for (int64_t i = 0; i < v[STEPS] && net_ok(n); i++) {
    net_value context = attend(n, a, i, cells[0].h); /* the bottom layer's state at the step before */
    for (int64_t layer = 0; layer < v[LAYERS]; layer++) {
      net_enter(n, "decoder.layer%lld", (long long)layer);
      x[i] = residual(n, layer, i, net_cell_step(n, &cells[layer], i, x[i], context), x[i]);
      net_leave(n);
    }
  }
}

static void generate(net *n, const int64_t *v) {
  net_set_bits(n, v[BITS]);
  net_value *source = net_array(n, v[STEPS]), *target = net_array(n, v[STEPS]), *scratch = net_array(n, v[STEPS]);
  if (!net_ok(n)) return;
  net_embed_steps(n, "encoder.embedding", source, v[BATCH], v[STEPS], v[VOCAB], v[HIDDEN]);
  encode(n, source, scratch, v);
  attention a = attention_new(n, net_stack_steps(n, "encoder.stack", source, scratch, v[STEPS]), v);
  net_embed_steps(n, "decoder.embedding", target, v[BATCH], v[STEPS], v[VOCAB], v[HIDDEN]);
  decode(n, target, &a, v);
  net_value tops = net_stack_steps(n, "decoder.stack", target, scratch, v[STEPS]);
  net_softmax(n, net_linear(n, "projection", tops, v[VOCAB], true), -1);
}

const builtin builtin_gnmt = {
    .name = "gnmt",
    .title = "recurrent translation network with attention (8 + 8 layers of 1024), unrolled",
    .source = "Wu et al.: Google's Neural Machine Translation System, 2016",
    .parameters = parameters,
    .generate = generate,
};
