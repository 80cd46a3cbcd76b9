/* Losses, gradients and updates: of ONNX, and of ONNX Runtime's training graphs. */
#include <string.h>

#include "ops/kind.h"

/* Output i has shape and type of the input named by the i-th of four digits of the tag, from the left; 9 for none. */
static situ_status infer_as_inputs(const kind_call *c) {
  static const int places[] = {1000, 100, 10, 1};
  for (int32_t i = 0; i < 4; i++) {
    int32_t from = c->row->tag / places[i] % 10;
    if (from != 9) TRY(kind_put_like(c, i, kind_in_dtype(c->node, from), kind_in(c->node, from)));
  }
  return SITU_STATUS_OK;
}

/* Scores [N, C, d...] and labels [N, d...] give a loss: a scalar, or one for each label. Output 1 may hold the
 * logarithms of the probabilities. */
static situ_status infer_loss(const kind_call *c) {
  const ops_tensor *scores = kind_in(c->node, 0), *labels = kind_in(c->node, 1);
  situ_dtype dtype = kind_dtype_attr(c->node, "output_type", kind_in_dtype(c->node, 0));
  if (kind_rank(scores) >= 0 && scores->rank < 2) return kind_fail(c, "scores of rank %d", (int)scores->rank);
  if (kind_rank(scores) >= 0) TRY(kind_need_rank(c, 1, scores->rank - 1));
  for (int32_t d = 0; d < kind_rank(labels); d++)
    TRY(kind_same(c, labels->dims[d], kind_dim(scores, d == 0 ? 0 : d + 1), "dimensions of labels and scores", NULL));
  TRY(kind_put_like(c, 1, kind_in_dtype(c->node, 0), scores));
  if (strcmp(ops_attr_string(c->node, "reduction", "mean"), "none") == 0) return kind_put_like(c, 0, dtype, labels);
  return kind_put_scalar(c, 0, dtype);
}

/* The axes over which gradients of two broadcast inputs are summed: those where a shape has 1 or nothing. */
static situ_status infer_gradient_axes(const kind_call *c) {
  int64_t n[2], *ints, room;
  double *reals;
  const int64_t *shape[2];
  for (int32_t i = 0; i < 2; i++) shape[i] = kind_ints(kind_in(c->node, i), &n[i]);
  if (!shape[0] || !shape[1] || n[0] > OPS_MAX_RANK || n[1] > OPS_MAX_RANK) {
    TRY(kind_put_1d(c, 0, SITU_DTYPE_I64, -1));
    return kind_put_1d(c, 1, SITU_DTYPE_I64, -1);
  }
  int64_t rank = max64(n[0], n[1]);
  for (int32_t i = 0; i < 2; i++) {
    int64_t axes[OPS_MAX_RANK], count = 0, other = 1 - i;
    for (int64_t d = rank - 1; d >= 0; d--) {
      int64_t own = d - (rank - n[i]), its = d - (rank - n[other]);
      bool stretched = own >= 0 && its >= 0 && shape[i][own] == 1 && shape[other][its] != 1;
      if (own < 0 || stretched) axes[count++] = d;
    }
    TRY(kind_put_1d(c, i, SITU_DTYPE_I64, count));
    TRY(kind_values(c, i, &ints, &reals, &room));
    if (ints && room == count) memcpy(ints, axes, (size_t)count * sizeof *ints);
  }
  return SITU_STATUS_OK;
}

/* Of the optimisers of ai.onnx.preview.training: rate and step, then groups of n tensors; tensors, gradients and
 * `tag` groups of state. The gradients do not come out again. */
static situ_status infer_optimiser(const kind_call *c) {
  int32_t n = (c->node->n_inputs - 2) / (2 + c->row->tag);
  for (int32_t i = 0; n > 0 && i < c->node->n_outputs; i++) {
    int32_t from = 2 + i + (i >= n ? n : 0);
    TRY(kind_put_like(c, i, kind_in_dtype(c->node, from), kind_in(c->node, from)));
  }
  return SITU_STATUS_OK;
}

static void count_optimiser(const ops_node *node, const ops_kind *row, ops_work *work) {
  int32_t n = (node->n_inputs - 2) / (2 + row->tag);
  for (int32_t i = 0; i < n; i++)
    work->flops = sat_add(work->flops, sat_mul(row->cost, kind_in_elements(node, 2 + i, work)));
}

/* Both gradients of a convolution are convolutions of the same amount. */
static void count_conv_grad(const ops_node *node, const ops_kind *row, ops_work *work) {
  const ops_tensor *w = kind_in(node, 2);
  int64_t each = 1;
  if (kind_rank(w) < 0) work->exact = false;
  for (int32_t d = 1; d < kind_rank(w); d++) each = sat_mul(each, kind_count_dim(w, d, work));
  work->flops = kind_mul3(4, kind_in_elements(node, 0, work), each);
}

static situ_status infer_flag(const kind_call *c) { return kind_put_1d(c, 0, SITU_DTYPE_BOOL, 1); }

#define PREVIEW "ai.onnx.preview.training"
/* A gradient whose only output is like input `from`. */
#define GRAD(name, from, cost) \
  { KIND_MS, name, infer_as_inputs, NULL, cost, from * 1000 + 999, 0 }

/* clang-format off */
static const ops_kind rows[] = {
    {KIND_ONNX, "NegativeLogLikelihoodLoss", infer_loss, kind_count_inputs, 1, 0, 0},
    {KIND_ONNX, "SoftmaxCrossEntropyLoss", infer_loss, kind_count_inputs, 7, 0, 0},
    {KIND_MS, "SoftmaxCrossEntropyLossInternal", infer_loss, kind_count_inputs, 7, 0, 0},
    GRAD("SoftmaxCrossEntropyLossInternalGrad", 1, 6),
    GRAD("SoftmaxCrossEntropyLossGrad", 1, 6),
    GRAD("SoftmaxGrad", 0, 4), GRAD("SoftmaxGrad_13", 0, 4), GRAD("LogSoftmaxGrad", 0, 7),
    GRAD("LogSoftmaxGrad_13", 0, 7), GRAD("ReluGrad", 0, 1), GRAD("SigmoidGrad", 0, 3), GRAD("TanhGrad", 0, 3),
    GRAD("QuickGeluGrad", 0, 9), GRAD("GeluGrad", 0, 14), GRAD("FastGeluGrad", 0, 16),
    GRAD("BiasGeluGrad_dX", 0, 15), GRAD("BiasFastGeluGrad_dX", 0, 17), GRAD("DropoutGrad", 0, 2),
    GRAD("LeakyReluGrad", 0, 2), GRAD("EluGrad", 0, 5),
    /* dY, X, scale, mean, 1 / deviation -> dX, d scale, d bias */
    {KIND_MS, "LayerNormalizationGrad", infer_as_inputs, NULL, 14, 1229, 0},
    {KIND_MS, "SimplifiedLayerNormalizationGrad", infer_as_inputs, NULL, 10, 1299, 0},
    {KIND_MS, "InvertibleLayerNormalizationGrad", infer_as_inputs, NULL, 16, 1229, 0},
    {KIND_MS, "BatchNormalizationGrad", infer_as_inputs, NULL, 12, 1229, 0},
    {KIND_MS, "ConvGrad", infer_as_inputs, count_conv_grad, 0, 1299, 0},
    {KIND_MS, "BroadcastGradientArgs", infer_gradient_axes, kind_count_view, 0, 0, 0},
    {KIND_MS, "InPlaceAccumulator", infer_as_inputs, NULL, 1, 999, 0},
    {KIND_MS, "InPlaceAccumulatorV2", infer_flag, kind_count_inputs, 1, 0, 0},
    {PREVIEW, "Gradient", NULL, kind_count_move, 0, 0, KIND_NOT_TENSORS},
    {PREVIEW, "Adagrad", infer_optimiser, count_optimiser, 8, 1, 0},
    {PREVIEW, "Adam", infer_optimiser, count_optimiser, 12, 2, 0},
    {PREVIEW, "Momentum", infer_optimiser, count_optimiser, 6, 1, 0},
};
/* clang-format on */

const ops_family ops_family_training = {rows, sizeof rows / sizeof rows[0]};
