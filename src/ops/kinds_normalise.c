/* Normalisations and softmax. FLOPs of an element, the statistics included: softmax 5 (maximum, difference, exp taken
 * as one more, sum, quotient), layer normalisation 8 (mean 1, variance 3, difference, quotient, scale, shift), root
 * mean square 5, batch normalisation 2 (folded to scale and shift; 8 when it trains). */
#include <string.h>

#include "ops/kind.h"

/* Axis 1 before operator set 13, the last from then on. */
static situ_status infer_softmax(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int32_t axis;
  if (kind_rank(t) > 0) TRY(kind_axis_attr(c, c->node->opset < 13 && t->rank > 1 ? 1 : -1, t->rank, &axis));
  return kind_infer_same(c);
}

/* A vector of parameters (input i) must have `n` elements. */
static situ_status need_vector(const kind_call *c, int32_t i, int64_t n) {
  TRY(kind_need_rank(c, i, 1));
  return kind_same(c, kind_dim(kind_in(c->node, i), 0), n, "channels and parameters", NULL);
}

static bool batch_trains(const ops_node *node) {
  return ops_attr_int(node, "training_mode", 0) != 0 ||
         (ops_find_attr(node, "is_test") && ops_attr_int(node, "is_test", 0) == 0);
}

static situ_status infer_batch(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t channels = kind_rank(t) == 1 ? 1 : kind_dim(t, 1);
  if (kind_rank(t) == 0) return kind_fail(c, "a scalar has no channels");
  for (int32_t i = 1; i < 5; i++) {
    /* Operator sets before 9 may take statistics for each place (spatial = 0). */
    if (ops_attr_int(c->node, "spatial", 1) != 0) TRY(need_vector(c, i, channels));
    TRY(kind_put_like(c, i, kind_in_dtype(c->node, i < 3 && c->node->opset >= 14 ? i + 2 : i), kind_in(c->node, i)));
  }
  return kind_infer_same(c);
}

static void count_batch(const ops_node *node, const ops_kind *row, ops_work *work) {
  work->flops = sat_mul(batch_trains(node) ? 8 : 2, kind_out_elements(node, work));
}

static situ_status infer_by_channel(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  if (kind_rank(t) >= 0 && t->rank < 2) return kind_fail(c, "an input of rank %d has no channels", (int)t->rank);
  for (int32_t i = 1; i < 3; i++) TRY(need_vector(c, i, kind_dim(t, 1)));
  return kind_infer_same(c);
}

/* Parameters by channel, or in operator sets 18 to 20 by group. */
static situ_status infer_group(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  bool last = ops_attr_int(c->node, "channels_last", 0) != 0;
  int64_t channels = kind_dim(t, last ? -1 : 1), groups = ops_attr_int(c->node, last ? "groups" : "num_groups", 1);
  if (kind_rank(t) >= 0 && t->rank < 3) return kind_fail(c, "an input of rank %d has no space", (int)t->rank);
  if (groups < 1 || (channels >= 0 && channels % groups != 0))
    return kind_fail(c, "%lld channels in %lld groups", (long long)channels, (long long)groups);
  return kind_infer_same(c);
}

/* The statistics (outputs from 1 on) have size 1 along the normalised axes. */
static situ_status infer_layer(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  situ_dtype stash = kind_dtype_attr(c->node, "stash_type", SITU_DTYPE_F32);
  TRY(kind_infer_same(c));
  if (kind_rank(t) < 0) return SITU_STATUS_OK;
  int32_t axis;
  int64_t dims[OPS_MAX_RANK];
  TRY(kind_axis_attr(c, -1, t->rank, &axis));
  const ops_tensor *scale = kind_in(c->node, 1), *both[2] = {t, scale};
  int32_t rank;
  TRY(kind_broadcast(c, both, scale ? 2 : 1, dims, &rank));
  if (rank > t->rank) return kind_fail(c, "a scale of rank %d for an input of rank %d", (int)rank, (int)t->rank);
  for (int32_t d = 0; d < t->rank; d++) dims[d] = d < axis ? t->dims[d] : 1;
  for (int32_t i = 1; i < 3; i++) TRY(kind_put(c, i, stash, t->rank, dims));
  return SITU_STATUS_OK;
}

/* ONNX Runtime's: the sum of input and skip, normalised; the sum itself may be output 3. */
static situ_status infer_skip_layer(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0), *skip = kind_in(c->node, 1);
  int64_t dims[OPS_MAX_RANK], width = kind_dim(t, -1);
  TRY(kind_same(c, width, kind_dim(skip, -1), "last dimensions", NULL));
  TRY(kind_same(c, width, kind_dim(kind_in(c->node, 2), 0), "last dimension and scale", NULL));
  TRY(kind_infer_same(c));
  TRY(kind_put_like(c, 3, kind_in_dtype(c->node, 0), t));
  if (kind_rank(t) < 1) return SITU_STATUS_OK;
  memcpy(dims, t->dims, (size_t)t->rank * sizeof *dims);
  dims[t->rank - 1] = 1;
  for (int32_t i = 1; i < 3; i++) TRY(kind_put(c, i, SITU_DTYPE_F32, t->rank, dims));
  return SITU_STATUS_OK;
}

static const ops_kind rows[] = {
    {KIND_ONNX, "Softmax", infer_softmax, NULL, 5, 0, 0},
    {KIND_ONNX, "LogSoftmax", infer_softmax, NULL, 6, 0, 0},
    {KIND_ONNX, "Hardmax", infer_softmax, NULL, 2, 0, 0},
    {KIND_ONNX, "BatchNormalization", infer_batch, count_batch, 0, 0, 0},
    {KIND_ONNX, "InstanceNormalization", infer_by_channel, NULL, 8, 0, 0},
    {KIND_ONNX, "GroupNormalization", infer_group, NULL, 8, 0, 0},
    {KIND_ONNX, "LayerNormalization", infer_layer, NULL, 8, 0, 0},
    {KIND_ONNX, "SimplifiedLayerNormalization", infer_layer, NULL, 5, 0, 0},
    {KIND_ONNX, "RMSNormalization", infer_layer, NULL, 5, 0, 0},
    {KIND_ONNX, "LpNormalization", kind_infer_same, NULL, 3, 0, 0},
    {KIND_ONNX, "MeanVarianceNormalization", kind_infer_same, NULL, 6, 0, 0},
    {KIND_MS, "LayerNormalization", infer_layer, NULL, 8, 0, 0},
    {KIND_MS, "SimplifiedLayerNormalization", infer_layer, NULL, 5, 0, 0},
    {KIND_MS, "SkipLayerNormalization", infer_skip_layer, NULL, 10, 0, 0},
    {KIND_MS, "SkipSimplifiedLayerNormalization", infer_skip_layer, NULL, 7, 0, 0},
    {KIND_MS, "GroupNorm", infer_group, NULL, 8, 0, 0},
    {KIND_MS, "SkipGroupNorm", infer_group, NULL, 10, 0, 0},
    {KIND_MS, "BiasSoftmax", kind_infer_same, NULL, 6, 0, 0},
};

const ops_family ops_family_normalise = {rows, sizeof rows / sizeof rows[0]};
