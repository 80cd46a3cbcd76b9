/* RNN, GRU and LSTM over whole sequences.
 *
 * With T steps, batch B, input I, hidden H, D directions and G gates: 2 T B G H (I + H) D FLOPs for the products, and
 * for each hidden element of each step the biases (2 a gate), an activation (4) a gate and the update of the state. */
#include <string.h>

#include "ops/kind.h"

typedef struct cell {
  int32_t gates, update; /* FLOPs of an element of the state update */
} cell;

enum { RNN, GRU, LSTM };

/* LSTM: two products, a sum, a tanh (4) and a product; GRU: a product, and 3 to mix. */
static const cell cells[] = {[RNN] = {1, 0}, [GRU] = {3, 4}, [LSTM] = {4, 8}};

/* [T, B, I] and [D, G H, I], [D, G H, H]; layout 1 puts the batch first. Quantised kinds hold weights transposed and
 * are read from hidden_size and direction alone. */
static situ_status read_sizes(const kind_call *c, int64_t *steps, int64_t *batch, int64_t *hidden,
                              int64_t *directions) {
  const ops_tensor *x = kind_in(c->node, 0), *w = kind_in(c->node, 1), *r = kind_in(c->node, 2);
  bool batch_first = ops_attr_int(c->node, "layout", 0) != 0, plain = strcmp(c->row->domain, KIND_ONNX) == 0;
  int64_t gates = cells[c->row->tag].gates;
  const char *direction = ops_attr_string(c->node, "direction", "forward");
  for (int32_t i = 0; i < 3; i++) TRY(kind_need_rank(c, i, 3));
  TRY(kind_need_type(c, "hidden_size", OPS_INT));
  *steps = kind_dim(x, batch_first ? 1 : 0);
  *batch = kind_dim(x, batch_first ? 0 : 1);
  *hidden = ops_attr_int(c->node, "hidden_size", -1);
  *directions = strcmp(direction, "bidirectional") == 0 ? 2 : 1;
  if (ops_find_attr(c->node, "hidden_size") && *hidden < 1)
    return kind_fail(c, "hidden_size is %lld", (long long)*hidden);
  if (!plain) return SITU_STATUS_OK;
  TRY(kind_same(c, *hidden, kind_dim(r, 2), "hidden_size and recurrent weights", hidden));
  int64_t gated = *hidden < 0 ? -1 : sat_mul(gates, *hidden);
  TRY(kind_same(c, kind_dim(w, 1), gated, "gates of the weights and of hidden_size", NULL));
  TRY(kind_same(c, kind_dim(r, 1), gated, "gates of the recurrent weights and of hidden_size", NULL));
  TRY(kind_same(c, kind_dim(x, 2), kind_dim(w, 2), "input sizes", NULL));
  TRY(kind_same(c, kind_dim(w, 0), *directions, "directions", NULL));
  return kind_same(c, kind_dim(r, 0), *directions, "directions", NULL);
}

static situ_status infer_recurrent(const kind_call *c) {
  situ_dtype dtype = kind_in_dtype(c->node, 0);
  int64_t t, b, h, d;
  TRY(read_sizes(c, &t, &b, &h, &d));
  bool batch_first = ops_attr_int(c->node, "layout", 0) != 0;
  int64_t all[4] = {t, d, b, h}, all_batch[4] = {b, t, d, h}, last[3] = {d, b, h}, last_batch[3] = {b, d, h};
  TRY(kind_put(c, 0, dtype, 4, batch_first ? all_batch : all));
  for (int32_t i = 1; i < 3; i++) TRY(kind_put(c, i, dtype, 3, batch_first ? last_batch : last));
  return SITU_STATUS_OK;
}

static void count_recurrent(const ops_node *node, const ops_kind *row, ops_work *work) {
  kind_call c = {node, row, NULL, NULL};
  const cell *kind = &cells[row->tag];
  int64_t size[4] = {-1, -1, -1, 1}, input = kind_count_dim(kind_in(node, 0), 2, work);
  if (read_sizes(&c, &size[0], &size[1], &size[2], &size[3]) != SITU_STATUS_OK) work->exact = false;
  int64_t states = 1;
  for (int i = 0; i < 4; i++) {
    if (size[i] < 0)
      work->exact = false;
    else
      states = sat_mul(states, size[i]);
  }
  int64_t products = kind_mul3(2 * kind->gates, states, sat_add(input, max64(size[2], 1)));
  work->flops = sat_add(products, sat_mul(states, kind->gates * 6 + kind->update));
}

static const ops_kind rows[] = {
    {KIND_ONNX, "RNN", infer_recurrent, count_recurrent, 0, RNN, 0},
    {KIND_ONNX, "GRU", infer_recurrent, count_recurrent, 0, GRU, 0},
    {KIND_ONNX, "LSTM", infer_recurrent, count_recurrent, 0, LSTM, 0},
    {KIND_MS, "DynamicQuantizeLSTM", infer_recurrent, count_recurrent, 0, LSTM, KIND_QUANTISED},
};

const ops_family ops_family_recurrent = {rows, sizeof rows / sizeof rows[0]};
