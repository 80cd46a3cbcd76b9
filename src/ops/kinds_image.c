/* Sampling of images and what detectors do with boxes. */
#include <math.h>
#include <string.h>

#include "ops/kind.h"

/* The size of dimension d after scaling: floor, as ONNX defines it; in float arithmetic, as its scales are. */
static situ_status scaled(const kind_call *c, int64_t dim, double scale, int64_t *out) {
  *out = -1;
  if (isnan(scale) || scale <= 0) return kind_fail(c, "a scale of %g", scale);
  if (dim < 0) return SITU_STATUS_OK;
  double size = floor((double)((float)dim * (float)scale));
  if (size > 9e18) return kind_fail(c, "a size beyond all bounds");
  *out = (int64_t)size;
  return SITU_STATUS_OK;
}

/* Where the scales and sizes are: Upsample has an attribute (operator set 7) or input 1; Resize has input 1 (set 10) or
 * inputs 2 and 3. */
static void resize_inputs(const kind_call *c, const ops_tensor **scales, const ops_tensor **sizes) {
  bool late = c->row->tag && c->node->opset >= 11;
  *scales = kind_in(c->node, late ? 2 : 1);
  *sizes = late ? kind_in(c->node, 3) : NULL;
  if (*scales && kind_dim(*scales, 0) == 0) *scales = NULL;
  if (*sizes && kind_dim(*sizes, 0) == 0) *sizes = NULL;
}

static situ_status resize_axes(const kind_call *c, int32_t rank, int32_t *axes, int64_t *n) {
  bool flags[OPS_MAX_RANK];
  const int64_t *named = ops_attr_ints(c->node, "axes", n);
  if (named) TRY(kind_axes(c, named, *n, rank, flags));
  if (!named) *n = rank;
  for (int64_t k = 0; k < *n; k++) axes[k] = (int32_t)(named ? named[k] < 0 ? named[k] + rank : named[k] : k);
  return SITU_STATUS_OK;
}

/* Sizes under keep_aspect_ratio_policy: one scale for all axes, the least or the largest. */
static void keep_aspect(const kind_call *c, const ops_tensor *t, const int32_t *axes, int64_t n, const int64_t *sizes,
                        int64_t *dims) {
  const char *policy = ops_attr_string(c->node, "keep_aspect_ratio_policy", "stretch");
  bool larger = strcmp(policy, "not_smaller") == 0;
  if (!larger && strcmp(policy, "not_larger") != 0) return;
  double scale = larger ? 0 : HUGE_VAL;
  for (int64_t k = 0; k < n; k++) {
    if (t->dims[axes[k]] <= 0) return;
    double own = (double)sizes[k] / (double)t->dims[axes[k]];
    scale = larger ? fmax(scale, own) : fmin(scale, own);
  }
  for (int64_t k = 0; k < n; k++) dims[axes[k]] = sat_round(scale * (double)t->dims[axes[k]]);
}

static situ_status infer_resize(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0), *scales, *sizes;
  situ_dtype dtype = kind_in_dtype(c->node, 0);
  int64_t dims[OPS_MAX_RANK], n, n_given;
  int32_t axes[OPS_MAX_RANK];
  if (kind_rank(t) < 0) return kind_put(c, 0, dtype, -1, NULL);
  resize_inputs(c, &scales, &sizes);
  TRY(resize_axes(c, t->rank, axes, &n));
  memcpy(dims, t->dims, (size_t)t->rank * sizeof *dims);
  const int64_t *wanted = kind_ints(sizes, &n_given);
  const ops_attr *attr = ops_find_attr(c->node, "scales");
  const double *factors = attr && attr->type == OPS_FLOATS ? attr->floats : NULL;
  n_given = factors ? attr->n : wanted ? n_given : kind_small(scales);
  if (!factors && scales && kind_small(scales) >= 0) factors = scales->reals;
  double old[2] = {ops_attr_float(c->node, "height_scale", 1), ops_attr_float(c->node, "width_scale", 1)};
  if (!factors && !wanted && ops_find_attr(c->node, "height_scale")) {
    TRY(kind_need_rank(c, 0, 4));
    for (int d = 0; d < 2; d++) TRY(scaled(c, t->dims[2 + d], old[d], &dims[2 + d]));
    return kind_put(c, 0, dtype, 4, dims);
  }
  if ((factors || wanted) && n_given != n)
    return kind_fail(c, "%lld scales or sizes for %lld axes", (long long)n_given, (long long)n);
  for (int64_t k = 0; k < n; k++) {
    int32_t d = axes[k];
    if (wanted && wanted[k] < 0) return kind_fail(c, "a size of %lld", (long long)wanted[k]);
    if (wanted)
      dims[d] = wanted[k];
    else if (factors)
      TRY(scaled(c, t->dims[d], factors[k], &dims[d]));
    else
      dims[d] = -1;
  }
  if (wanted) keep_aspect(c, t, axes, n, wanted, dims);
  return kind_put(c, 0, dtype, t->rank, dims);
}

/* Nearest 1, linear 3 for each of the (mostly two) axes and 2 more, cubic 4 x 4 neighbours at 2 and their weights. */
static void count_resize(const ops_node *node, const ops_kind *row, ops_work *work) {
  const char *mode = ops_attr_string(node, "mode", "nearest");
  int each = strcmp(mode, "linear") == 0 || strcmp(mode, "bilinear") == 0 ? 8 : strcmp(mode, "cubic") == 0 ? 48 : 1;
  work->flops = sat_mul(each, kind_out_elements(node, work));
}

/* Data N, C, space and a grid N, space out, number of axes. */
static situ_status infer_grid_sample(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0), *grid = kind_in(c->node, 1);
  int32_t rank = kind_rank(t) >= 0 ? t->rank : kind_rank(grid);
  int64_t dims[OPS_MAX_RANK];
  if (rank < 0) return kind_put(c, 0, kind_in_dtype(c->node, 0), -1, NULL);
  if (rank < 3) return kind_fail(c, "an input of rank %d has no space", (int)rank);
  TRY(kind_need_rank(c, 1, rank));
  TRY(kind_same(c, kind_dim(grid, -1), rank - 2, "length of grid points and axes", NULL));
  TRY(kind_same(c, kind_dim(t, 0), kind_dim(grid, 0), "batches", &dims[0]));
  dims[1] = kind_dim(t, 1);
  for (int32_t d = 2; d < rank; d++) dims[d] = kind_dim(grid, d - 1);
  return kind_put(c, 0, kind_in_dtype(c->node, 0), rank, dims);
}

static situ_status infer_affine_grid(const kind_call *c) {
  int64_t n, dims[OPS_MAX_RANK];
  const ops_tensor *size = kind_in(c->node, 1);
  const int64_t *sizes = kind_ints(size, &n);
  int64_t rank = kind_dim(size, 0);
  if (rank < 3 || rank > OPS_MAX_RANK) return kind_put(c, 0, kind_in_dtype(c->node, 0), -1, NULL);
  dims[0] = sizes ? sizes[0] : kind_dim(kind_in(c->node, 0), 0);
  for (int64_t d = 2; d < rank; d++) dims[d - 1] = sizes ? sizes[d] : -1;
  for (int64_t d = 0; d < rank - 1; d++)
    if (dims[d] < -1) return kind_fail(c, "a size of %lld", (long long)dims[d]);
  dims[rank - 1] = rank - 2;
  return kind_put(c, 0, kind_in_dtype(c->node, 0), (int32_t)rank, dims);
}

static situ_status infer_roi_align(const kind_call *c) {
  TRY(kind_need_rank(c, 0, 4));
  TRY(kind_need_rank(c, 1, 2));
  TRY(kind_same(c, kind_dim(kind_in(c->node, 1), 1), 4, "length of a box and", NULL));
  int64_t dims[4] = {kind_dim(kind_in(c->node, 1), 0), kind_dim(kind_in(c->node, 0), 1),
                     ops_attr_int(c->node, "output_height", 1), ops_attr_int(c->node, "output_width", 1)};
  TRY(kind_same(c, dims[0], kind_dim(kind_in(c->node, 2), 0), "numbers of boxes", &dims[0]));
  if (dims[2] < 1 || dims[3] < 1)
    return kind_fail(c, "an output of %lld x %lld", (long long)dims[2], (long long)dims[3]);
  return kind_put(c, 0, kind_in_dtype(c->node, 0), 4, dims);
}

/* Each output is the mean of sampling_ratio^2 bilinear samples (8 each); ratio 0 adapts and is taken for 2. */
static void count_roi_align(const ops_node *node, const ops_kind *row, ops_work *work) {
  int64_t ratio = ops_attr_int(node, "sampling_ratio", 0);
  if (ratio < 1) ratio = 2;
  work->flops = kind_mul3(8, kind_out_elements(node, work), sat_mul(ratio, ratio));
}

static situ_status infer_max_roi(const kind_call *c) {
  const int64_t *pooled;
  TRY(kind_need_rank(c, 0, 4));
  TRY(kind_need_rank(c, 1, 2));
  TRY(kind_need_ints(c, "pooled_shape", 2, &pooled));
  int64_t dims[4] = {kind_dim(kind_in(c->node, 1), 0), kind_dim(kind_in(c->node, 0), 1), pooled ? pooled[0] : -1,
                     pooled ? pooled[1] : -1};
  if (pooled && (dims[2] < 1 || dims[3] < 1)) return kind_fail(c, "a pooled_shape below 1");
  return kind_put(c, 0, kind_in_dtype(c->node, 0), 4, dims);
}

static situ_status infer_suppression(const kind_call *c) {
  const int64_t dims[2] = {-1, 3};
  TRY(kind_need_rank(c, 0, 3));
  TRY(kind_need_rank(c, 1, 3));
  TRY(kind_same(c, kind_dim(kind_in(c->node, 0), 0), kind_dim(kind_in(c->node, 1), 0), "batches", NULL));
  TRY(kind_same(c, kind_dim(kind_in(c->node, 0), 1), kind_dim(kind_in(c->node, 1), 2), "numbers of boxes", NULL));
  return kind_put(c, 0, SITU_DTYPE_I64, 2, dims);
}

/* At most max_output boxes for each class are kept, and each score meets each kept box: 16 for an overlap. */
static void count_suppression(const ops_node *node, const ops_kind *row, ops_work *work) {
  int64_t max = 1;
  if (!kind_scalar_int(kind_in(node, 2), &max) || max < 1) work->exact = false, max = 1;
  work->flops = kind_mul3(16, max, kind_in_elements(node, 1, work));
}

static situ_status infer_decode(const kind_call *c) {
  const char *format = ops_attr_string(c->node, "pixel_format", "RGB");
  const int64_t dims[3] = {-1, -1, strcmp(format, "Grayscale") == 0 ? 1 : 3};
  return kind_put(c, 0, SITU_DTYPE_U8, 3, dims);
}

static situ_status infer_encode(const kind_call *c) { return kind_put_1d(c, 0, SITU_DTYPE_U8, -1); }

static const ops_kind rows[] = {
    {KIND_ONNX, "Resize", infer_resize, count_resize, 0, 1, 0},
    {KIND_ONNX, "Upsample", infer_resize, count_resize, 0, 0, 0},
    {KIND_ONNX, "GridSample", infer_grid_sample, NULL, 8, 0, 0},
    {KIND_MS, "GridSample", infer_grid_sample, NULL, 8, 0, 0},
    {KIND_ONNX, "AffineGrid", infer_affine_grid, NULL, 6, 0, 0},
    {KIND_ONNX, "RoiAlign", infer_roi_align, count_roi_align, 0, 0, 0},
    {KIND_ONNX, "MaxRoiPool", infer_max_roi, kind_count_inputs, 1, 0, 0},
    {KIND_ONNX, "NonMaxSuppression", infer_suppression, count_suppression, 0, 0, 0},
    {KIND_ONNX, "ImageDecoder", infer_decode, NULL, 100, 0, KIND_NOT_TENSORS},
    {"com.microsoft.extensions", "DecodeImage", infer_decode, NULL, 100, 0, KIND_NOT_TENSORS},
    {"com.microsoft.extensions", "EncodeImage", infer_encode, kind_count_inputs, 100, 0, KIND_NOT_TENSORS},
};

const ops_family ops_family_image = {rows, sizeof rows / sizeof rows[0]};
