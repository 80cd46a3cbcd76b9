/* What slides a window over space: convolutions, pools, normalisation over channels near by.
 *
 * Shapes are N, C, then space; kinds that say so hold channels last. A convolution is 2 FLOPs for each output element,
 * input channel of its group and kernel element, and 1 for each element that gets a bias. A pool is 1 for each output
 * element and kernel element. */
#include <string.h>

#include "ops/kind.h"

/* The attributes of a window over `n` spatial dimensions, with their defaults. */
typedef struct window {
  int32_t n;
  int64_t kernel[OPS_MAX_RANK]; /* -1 where unknown */
  int64_t stride[OPS_MAX_RANK], dilation[OPS_MAX_RANK], before[OPS_MAX_RANK], after[OPS_MAX_RANK];
  enum { EXPLICIT, SAME_UPPER, SAME_LOWER, VALID } pad;
  bool ceil;
} window;

static situ_status read_steps(const kind_call *c, const char *name, int32_t n, int64_t *into) {
  const int64_t *given;
  TRY(kind_need_ints(c, name, n, &given));
  for (int32_t d = 0; d < n; d++) {
    into[d] = given ? given[d] : 1;
    if (into[d] < 1)
      return kind_fail(c, "attribute %s has %lld where at least 1 is expected", name, (long long)into[d]);
  }
  return SITU_STATUS_OK;
}

static situ_status read_window(const kind_call *c, int32_t n, window *w) {
  static const char *const pads_by_name[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
  const int64_t *kernel, *pads;
  *w = (window){.n = n, .ceil = ops_attr_int(c->node, "ceil_mode", 0) != 0};
  TRY(read_steps(c, "strides", n, w->stride));
  TRY(read_steps(c, "dilations", n, w->dilation));
  TRY(kind_need_ints(c, "kernel_shape", n, &kernel));
  TRY(kind_need_ints(c, "pads", 2 * (int64_t)n, &pads));
  for (int32_t d = 0; d < n; d++) {
    w->kernel[d] = kernel ? kernel[d] : -1;
    if (kernel && kernel[d] < 1) return kind_fail(c, "a kernel of size %lld", (long long)kernel[d]);
    w->before[d] = pads ? pads[d] : 0;
    w->after[d] = pads ? pads[n + d] : 0;
    if (w->before[d] < -(1 << 30) || w->after[d] < -(1 << 30)) return kind_fail(c, "pads far below 0");
  }
  TRY(kind_need_type(c, "auto_pad", OPS_STRING));
  const char *name = ops_attr_string(c->node, "auto_pad", "NOTSET");
  int found = *name == '\0' ? EXPLICIT : -1;
  for (int k = 0; k < 4; k++)
    if (strcmp(name, pads_by_name[k]) == 0) found = k;
  if (found < 0) return kind_fail(c, "auto_pad is none of NOTSET, SAME_UPPER, SAME_LOWER, VALID");
  w->pad = found;
  return SITU_STATUS_OK;
}

/* Elements that a dilated kernel spans. */
static int64_t span(const window *w, int32_t d) { return sat_add(sat_mul(w->kernel[d] - 1, w->dilation[d]), 1); }

/* The number of places of the window along dimension d of size `in`. In ceil mode a last window that would start
 * beyond the input and its leading pad does not count (ONNX operator sets 19 and later, and what engines do). */
static situ_status slide(const kind_call *c, const window *w, int32_t d, int64_t in, int64_t *out) {
  *out = -1;
  if (in < 0) return SITU_STATUS_OK;
  int64_t stride = w->stride[d];
  if (w->pad == SAME_UPPER || w->pad == SAME_LOWER) {
    *out = in / stride + (in % stride != 0);
    return SITU_STATUS_OK;
  }
  if (w->kernel[d] < 0) return SITU_STATUS_OK;
  bool padded = w->pad == EXPLICIT;
  int64_t room = sat_add(in, padded ? sat_add(w->before[d], w->after[d]) : 0), need = span(w, d);
  bool partial = w->ceil && room < need && need - room < stride; /* one place, not wholly inside */
  if (room < need && !partial)
    return kind_fail(c, "a window of %lld does not fit into %lld elements", (long long)need, (long long)room);
  *out = partial ? 1 : (room - need) / stride + 1;
  if (w->ceil && !partial && (room - need) % stride != 0 &&
      sat_mul(*out, stride) < sat_add(in, padded ? w->before[d] : 0))
    ++*out;
  return SITU_STATUS_OK;
}

/* ---- Convolution ---- */

/* Where weights and bias are, and whether channels come last: in the data, in the weights. */
typedef struct conv_places {
  int w, bias;
  bool channels_last, weights_last;
} conv_places;

enum { CONV, CONV_INTEGER, QLINEAR_CONV, NHWC_CONV, NHWC_FUSED_CONV, DEFORM_CONV };

static conv_places places_of(const ops_node *node, const ops_kind *row) {
  switch (row->tag) {
    case CONV_INTEGER: return (conv_places){1, -1, false, false};
    case QLINEAR_CONV: return (conv_places){3, 8, ops_attr_int(node, "channels_last", 0) != 0, false};
    case NHWC_CONV: return (conv_places){1, 2, true, true};
    case NHWC_FUSED_CONV: return (conv_places){1, 2, true, false};
    case DEFORM_CONV: return (conv_places){1, 3, false, false};
    default: return (conv_places){1, 2, false, false};
  }
}

static situ_dtype conv_makes(const ops_node *node, const ops_kind *row) {
  return row->tag == CONV_INTEGER ? SITU_DTYPE_I32 : kind_in_dtype(node, row->tag == QLINEAR_CONV ? 7 : 0);
}

/* Weights are M, C / group, kernel, or M, kernel, C / group. */
static situ_status conv_channels(const kind_call *c, const ops_tensor *x, const ops_tensor *w, conv_places at,
                                 int64_t *made) {
  TRY(kind_need_type(c, "group", OPS_INT));
  int64_t group = ops_attr_int(c->node, "group", 1);
  if (group < 1) return kind_fail(c, "group is %lld", (long long)group);
  int64_t in = kind_dim(x, at.channels_last ? -1 : 1), each = kind_dim(w, at.weights_last ? -1 : 1);
  *made = kind_dim(w, 0);
  if (in >= 0 && each >= 0 && sat_mul(each, group) != in)
    return kind_fail(c, "%lld input channels, but %lld groups of weights for %lld", (long long)in, (long long)group,
                     (long long)each);
  if (*made >= 0 && *made % group != 0)
    return kind_fail(c, "%lld output channels in %lld groups", (long long)*made, (long long)group);
  return kind_same(c, kind_dim(kind_in(c->node, at.bias), 0), *made, "bias and output channels", NULL);
}

static situ_status infer_conv(const kind_call *c) {
  conv_places at = places_of(c->node, c->row);
  const ops_tensor *x = kind_in(c->node, 0), *weights = kind_in(c->node, at.w);
  int32_t rank = kind_rank(x) >= 0 ? kind_rank(x) : kind_rank(weights);
  if (rank < 0) return kind_put(c, 0, conv_makes(c->node, c->row), -1, NULL);
  if (rank < 3) return kind_fail(c, "an input of rank %d has no space", (int)rank);
  TRY(kind_need_rank(c, at.w, rank));
  window w;
  TRY(read_window(c, rank - 2, &w));
  int64_t dims[OPS_MAX_RANK], made = -1;
  TRY(conv_channels(c, x, weights, at, &made));
  int32_t space = at.channels_last ? 1 : 2;
  for (int32_t d = 0; d < w.n; d++) {
    TRY(kind_same(c, kind_dim(weights, d + (at.weights_last ? 1 : 2)), w.kernel[d], "kernel sizes", &w.kernel[d]));
    if (w.kernel[d] == 0) return kind_fail(c, "a kernel of size 0");
    TRY(slide(c, &w, d, kind_dim(x, space + d), &dims[space + d]));
  }
  dims[0] = kind_dim(x, 0);
  dims[at.channels_last ? rank - 1 : 1] = made;
  return kind_put(c, 0, conv_makes(c->node, c->row), rank, dims);
}

/* Multiply-adds of one output element are the weights of one output channel. */
static void count_conv(const ops_node *node, const ops_kind *row, ops_work *work) {
  conv_places at = places_of(node, row);
  const ops_tensor *w = kind_in(node, at.w);
  int64_t made = kind_out_elements(node, work), each = 1;
  for (int32_t d = 1; d < kind_rank(w); d++) each = sat_mul(each, kind_count_dim(w, d, work));
  if (kind_rank(w) < 0) work->exact = false;
  int extra = row->cost + (at.bias >= 0 && kind_in(node, at.bias) != NULL);
  work->flops = sat_add(kind_mul3(2, made, each), sat_mul(extra, made));
}

static int64_t transposed_size(const window *w, int32_t d, int64_t in, int64_t extra) {
  if (in < 0) return -1;
  if (w->pad == SAME_UPPER || w->pad == SAME_LOWER) return sat_mul(in, w->stride[d]);
  if (w->kernel[d] < 0) return -1;
  int64_t size = sat_add(sat_add(sat_mul(w->stride[d], in - 1), extra), span(w, d));
  if (w->pad == EXPLICIT && size < INT64_MAX) size = sat_add(size, -w->before[d]) - w->after[d];
  return size;
}

static situ_status infer_conv_transpose(const kind_call *c) {
  const ops_tensor *x = kind_in(c->node, 0), *weights = kind_in(c->node, 1);
  situ_dtype dtype = kind_in_dtype(c->node, 0);
  if (kind_rank(x) < 0) return kind_put(c, 0, dtype, -1, NULL);
  if (x->rank < 3) return kind_fail(c, "an input of rank %d has no space", (int)x->rank);
  TRY(kind_need_rank(c, 1, x->rank));
  TRY(kind_need_type(c, "group", OPS_INT));
  window w;
  TRY(read_window(c, x->rank - 2, &w));
  int64_t group = ops_attr_int(c->node, "group", 1), each = kind_dim(weights, 1), dims[OPS_MAX_RANK], n_wanted;
  if (group < 1) return kind_fail(c, "group is %lld", (long long)group);
  TRY(kind_same(c, kind_dim(x, 1), kind_dim(weights, 0), "input channels", NULL));
  const int64_t *extra, *wanted;
  TRY(kind_need_ints(c, "output_padding", w.n, &extra));
  TRY(kind_need_type(c, "output_shape", OPS_INTS));
  wanted = ops_attr_ints(c->node, "output_shape", &n_wanted);
  if (wanted && n_wanted != w.n && n_wanted != x->rank)
    return kind_fail(c, "attribute output_shape has %lld values where %d are expected", (long long)n_wanted, (int)w.n);
  for (int32_t d = 0; d < w.n; d++) {
    TRY(kind_same(c, kind_dim(weights, 2 + d), w.kernel[d], "kernel sizes", &w.kernel[d]));
    if (extra && extra[d] < 0) return kind_fail(c, "an output_padding below 0");
    dims[2 + d] = transposed_size(&w, d, kind_dim(x, 2 + d), extra ? extra[d] : 0);
    if (wanted) dims[2 + d] = wanted[n_wanted - w.n + d];
    if (dims[2 + d] < (wanted ? 0 : -1) || (dims[2 + d] == -1 && kind_dim(x, 2 + d) >= 0 && w.kernel[d] >= 0))
      return kind_fail(c, "an output of size %lld", (long long)dims[2 + d]);
  }
  dims[0] = kind_dim(x, 0);
  dims[1] = each < 0 ? -1 : sat_mul(each, group);
  return kind_put(c, 0, dtype, x->rank, dims);
}

/* Each input element meets the weights of its input channel. */
static void count_conv_transpose(const ops_node *node, const ops_kind *row, ops_work *work) {
  const ops_tensor *w = kind_in(node, 1);
  int64_t each = 1;
  for (int32_t d = 1; d < kind_rank(w); d++) each = sat_mul(each, kind_count_dim(w, d, work));
  work->flops = kind_mul3(2, kind_in_elements(node, 0, work), each);
  if (kind_in(node, 2)) work->flops = sat_add(work->flops, kind_out_elements(node, work));
}

/* ---- Pools ---- */

enum { POOL, QLINEAR_POOL, NHWC_POOL };

static bool pool_channels_last(const ops_node *node, const ops_kind *row) {
  return row->tag == NHWC_POOL || ops_attr_int(node, "channels_last", 0) != 0;
}

static situ_status infer_pool(const kind_call *c) {
  const ops_tensor *x = kind_in(c->node, 0);
  situ_dtype dtype = kind_in_dtype(c->node, 0);
  if (kind_rank(x) < 0) return kind_put(c, 0, dtype, -1, NULL);
  if (x->rank < 3) return kind_fail(c, "an input of rank %d has no space", (int)x->rank);
  window w;
  TRY(read_window(c, x->rank - 2, &w));
  int32_t space = pool_channels_last(c->node, c->row) ? 1 : 2;
  int64_t dims[OPS_MAX_RANK];
  memcpy(dims, x->dims, (size_t)x->rank * sizeof *dims);
  for (int32_t d = 0; d < w.n; d++) TRY(slide(c, &w, d, x->dims[space + d], &dims[space + d]));
  TRY(kind_put(c, 0, dtype, x->rank, dims));
  return kind_put(c, 1, SITU_DTYPE_I64, x->rank, dims);
}

static void count_pool(const ops_node *node, const ops_kind *row, ops_work *work) {
  int64_t n, each = 1;
  const int64_t *kernel = ops_attr_ints(node, "kernel_shape", &n);
  for (int64_t d = 0; d < n; d++) each = sat_mul(each, max64(kernel[d], 1));
  if (!kernel) work->exact = false;
  work->flops = kind_mul3(row->cost, kind_out_elements(node, work), each);
}

static situ_status infer_global_pool(const kind_call *c) {
  const ops_tensor *x = kind_in(c->node, 0);
  situ_dtype dtype = kind_in_dtype(c->node, 0);
  if (kind_rank(x) < 0) return kind_put(c, 0, dtype, -1, NULL);
  if (x->rank < 2) return kind_fail(c, "an input of rank %d has no channels", (int)x->rank);
  int64_t dims[OPS_MAX_RANK];
  bool last = pool_channels_last(c->node, c->row);
  for (int32_t d = 0; d < x->rank; d++) dims[d] = d == 0 || d == (last ? x->rank - 1 : 1) ? x->dims[d] : 1;
  return kind_put(c, 0, dtype, x->rank, dims);
}

static situ_status infer_unpool(const kind_call *c) {
  const ops_tensor *x = kind_in(c->node, 0), *shape = kind_in(c->node, 2);
  int64_t n, dims[OPS_MAX_RANK];
  if (shape) {
    const int64_t *wanted = kind_ints(shape, &n);
    return kind_put(c, 0, kind_in_dtype(c->node, 0), wanted && n <= OPS_MAX_RANK ? (int32_t)n : -1, wanted);
  }
  if (kind_rank(x) < 0) return kind_infer_same(c);
  if (x->rank < 3) return kind_fail(c, "an input of rank %d has no space", (int)x->rank);
  window w;
  TRY(read_window(c, x->rank - 2, &w));
  memcpy(dims, x->dims, (size_t)x->rank * sizeof *dims);
  for (int32_t d = 0; d < w.n; d++) {
    dims[2 + d] = transposed_size(&w, d, x->dims[2 + d], 0);
    if (dims[2 + d] < -1) return kind_fail(c, "an output of size %lld", (long long)dims[2 + d]);
  }
  return kind_put(c, 0, kind_in_dtype(c->node, 0), x->rank, dims);
}

/* A square and a sum for each of `size` channels, and a power and a division at the end. */
static void count_lrn(const ops_node *node, const ops_kind *row, ops_work *work) {
  int64_t size = max64(ops_attr_int(node, "size", 1), 1);
  work->flops = sat_mul(sat_add(sat_mul(2, size), row->cost), kind_out_elements(node, work));
}

#define POOL_ROW(domain, name, cost, tag, flags) \
  { domain, name, infer_pool, count_pool, cost, tag, flags }
#define GLOBAL_ROW(domain, name, cost, tag, flags) \
  { domain, name, infer_global_pool, kind_count_inputs, cost, tag, flags }

static const ops_kind rows[] = {
    {KIND_ONNX, "Conv", infer_conv, count_conv, 0, CONV, 0},
    {KIND_ONNX, "ConvTranspose", infer_conv_transpose, count_conv_transpose, 0, 0, 0},
    {KIND_ONNX, "ConvInteger", infer_conv, count_conv, 0, CONV_INTEGER, KIND_QUANTISED},
    {KIND_ONNX, "QLinearConv", infer_conv, count_conv, 0, QLINEAR_CONV, KIND_QUANTISED},
    {KIND_ONNX, "DeformConv", infer_conv, count_conv, 0, DEFORM_CONV, 0},
    {KIND_MS, "FusedConv", infer_conv, count_conv, 1, CONV, 0},
    {KIND_MS, "NhwcFusedConv", infer_conv, count_conv, 1, NHWC_FUSED_CONV, 0},
    {KIND_MS, "NhwcConv", infer_conv, count_conv, 0, NHWC_CONV, 0},
    {KIND_MS, "QLinearConv", infer_conv, count_conv, 0, QLINEAR_CONV, KIND_QUANTISED},
    POOL_ROW(KIND_ONNX, "MaxPool", 1, POOL, 0),
    POOL_ROW(KIND_ONNX, "AveragePool", 1, POOL, 0),
    POOL_ROW(KIND_ONNX, "LpPool", 2, POOL, 0),
    POOL_ROW(KIND_MS, "QLinearAveragePool", 1, QLINEAR_POOL, KIND_QUANTISED),
    POOL_ROW(KIND_MS, "NhwcMaxPool", 1, NHWC_POOL, 0),
    POOL_ROW(KIND_MS, "MaxpoolWithMask", 1, POOL, 0),
    GLOBAL_ROW(KIND_ONNX, "GlobalAveragePool", 1, POOL, 0),
    GLOBAL_ROW(KIND_ONNX, "GlobalMaxPool", 1, POOL, 0),
    GLOBAL_ROW(KIND_ONNX, "GlobalLpPool", 2, POOL, 0),
    GLOBAL_ROW(KIND_MS, "QLinearGlobalAveragePool", 1, QLINEAR_POOL, KIND_QUANTISED),
    {KIND_ONNX, "MaxUnpool", infer_unpool, kind_count_move, 0, 0, 0},
    {KIND_ONNX, "LRN", kind_infer_same, count_lrn, 6, 0, 0},
};

const ops_family ops_family_window = {rows, sizeof rows / sizeof rows[0]};
