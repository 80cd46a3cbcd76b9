/* Fourier transforms and the windows that go with them. */
#include <string.h>

#include "ops/kind.h"

static int64_t log2_up(int64_t n) {
  int64_t k = 0;
  while (k < 62 && ((int64_t)1 << k) < n) k++;
  return max64(k, 1);
}

/* The axis is an attribute before operator set 20 (default 1), then input 2 (default -2). *axis -1 when unknown. */
static situ_status dft_axis(const kind_call *c, int32_t rank, int32_t *axis) {
  const ops_tensor *given = kind_in(c->node, 2);
  int64_t value = c->node->opset < 20 ? 1 : -2;
  *axis = -1;
  if (given && !kind_scalar_int(given, &value)) return SITU_STATUS_OK;
  if (given) return kind_axis(c, value, rank, axis);
  return kind_axis_attr(c, value, rank, axis);
}

static situ_status infer_dft(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0), *length = kind_in(c->node, 1);
  int64_t dims[OPS_MAX_RANK], n;
  int32_t axis;
  bool one_sided = ops_attr_int(c->node, "onesided", 0) != 0;
  if (kind_rank(t) < 0) return kind_put(c, 0, kind_in_dtype(c->node, 0), -1, NULL);
  if (t->rank < 2) return kind_fail(c, "an input of rank %d has no complex axis", (int)t->rank);
  TRY(dft_axis(c, t->rank, &axis));
  memcpy(dims, t->dims, (size_t)t->rank * sizeof *dims);
  for (int32_t d = 0; d < t->rank; d++) {
    if (axis >= 0 ? d != axis : length == NULL && !one_sided) continue;
    if (length) dims[d] = kind_scalar_int(length, &n) ? n : -1;
    if (dims[d] < -1) return kind_fail(c, "a length of %lld", (long long)dims[d]);
    if (axis < 0) dims[d] = -1;
    if (one_sided && dims[d] >= 0) dims[d] = dims[d] / 2 + 1;
  }
  dims[t->rank - 1] = one_sided && ops_attr_int(c->node, "inverse", 0) ? 1 : 2;
  return kind_put(c, 0, kind_in_dtype(c->node, 0), t->rank, dims);
}

/* 5 N log2 N for each transform of N points (Cooley and Tukey; half of it for real input). */
static void count_dft(const ops_node *node, const ops_kind *row, ops_work *work) {
  kind_call c = {node, row, NULL, NULL};
  const ops_tensor *t = kind_in(node, 0);
  int32_t axis = -1;
  int64_t elements = kind_in_elements(node, 0, work);
  if (kind_rank(t) < 2 || dft_axis(&c, t->rank, &axis) != SITU_STATUS_OK || axis < 0) work->exact = false;
  int64_t n = axis >= 0 ? kind_count_dim(t, axis, work) : 1;
  work->flops = kind_mul3(5, elements, log2_up(n)) / 2;
}

/* Signal [batch, length, 1 or 2], frame step, window, frame length -> [batch, frames, bins, 2]. */
static situ_status infer_stft(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t step, frame, dims[4] = {kind_dim(t, 0), -1, -1, 2}, length = kind_dim(t, 1);
  TRY(kind_need_rank(c, 0, 3));
  if (!kind_scalar_int(kind_in(c->node, 3), &frame)) frame = kind_dim(kind_in(c->node, 2), 0);
  if (!kind_scalar_int(kind_in(c->node, 1), &step))
    step = -1;
  else if (step < 1)
    return kind_fail(c, "a frame_step of %lld", (long long)step);
  if (frame >= 0) dims[2] = ops_attr_int(c->node, "onesided", 1) ? frame / 2 + 1 : frame;
  if (frame >= 0 && length >= 0 && frame > length)
    return kind_fail(c, "a frame of %lld in a signal of %lld", (long long)frame, (long long)length);
  if (frame >= 0 && step > 0 && length >= 0) dims[1] = (length - frame) / step + 1;
  return kind_put(c, 0, kind_in_dtype(c->node, 0), 4, dims);
}

static void count_stft(const ops_node *node, const ops_kind *row, ops_work *work) {
  const ops_tensor *made = node->n_outputs > 0 ? &node->outputs[0] : NULL;
  work->flops = kind_mul3(5, kind_out_elements(node, work), log2_up(kind_count_dim(made, 2, work)));
}

static situ_status infer_window(const kind_call *c) {
  int64_t n = -1;
  if (kind_scalar_int(kind_in(c->node, 0), &n) && n < 0) return kind_fail(c, "a window of %lld", (long long)n);
  return kind_put_1d(c, 0, kind_dtype_attr(c->node, "output_datatype", SITU_DTYPE_F32), n);
}

/* Bins, length of the transform, ... -> [length / 2 + 1, bins]. */
static situ_status infer_mel(const kind_call *c) {
  int64_t bins, length, dims[2] = {-1, -1};
  if (kind_scalar_int(kind_in(c->node, 0), &bins)) dims[1] = bins;
  if (kind_scalar_int(kind_in(c->node, 1), &length)) dims[0] = length / 2 + 1;
  if (dims[0] < -1 || dims[1] < -1) return kind_fail(c, "a size below 0");
  return kind_put(c, 0, kind_dtype_attr(c->node, "output_datatype", SITU_DTYPE_F32), 2, dims);
}

static const ops_kind rows[] = {
    {KIND_ONNX, "DFT", infer_dft, count_dft, 0, 0, 0},
    {KIND_ONNX, "STFT", infer_stft, count_stft, 0, 0, 0},
    {KIND_ONNX, "HannWindow", infer_window, NULL, 8, 0, KIND_OF_OUTPUT},
    {KIND_ONNX, "HammingWindow", infer_window, NULL, 8, 0, KIND_OF_OUTPUT},
    {KIND_ONNX, "BlackmanWindow", infer_window, NULL, 14, 0, KIND_OF_OUTPUT},
    {KIND_ONNX, "MelWeightMatrix", infer_mel, NULL, 4, 0, KIND_OF_OUTPUT},
};

const ops_family ops_family_signal = {rows, sizeof rows / sizeof rows[0]};
