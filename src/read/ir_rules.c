/* What a layer of an OpenVINO IR makes of shapes and small values. Most kinds are inferred as the ONNX operator that
 * does the same (ops/ops.h), after its attributes and inputs are put into ONNX's terms; the rest has rules here, by the
 * pages of the operation sets (docs.openvino.ai). */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "read/ir_net.h"

struct ir_call {
  const ir_layer *layer;
  const ops_tensor **in;
  ops_tensor *out;
  int32_t n_in, n_out;
  const char *onnx; /* the kind that does the same */
  arena *a;
  situ_error *error;
};
typedef struct ir_call call;

/* ---- what comes in and goes out ---- */

static situ_status bad(const call *c, const char *what, int64_t value) {
  return fail_with(c->error, SITU_STATUS_BAD_INPUT, NULL, "%.80s: %s %lld", c->layer->type, what, (long long)value);
}

static const ops_tensor *in(const call *c, int32_t i) { return i < c->n_in ? c->in[i] : NULL; }
static int32_t rank_of(const ops_tensor *t) { return t ? t->rank : -1; }
static int64_t dim_of(const ops_tensor *t, int64_t d) { return t && d >= 0 && d < t->rank ? t->dims[d] : -1; }

/* The elements when all are known and there are at most OPS_MAX_VALUES, else -1. */
static int64_t count_of(const ops_tensor *t) {
  bool exact = true;
  int64_t n = t && t->rank >= 0 ? ops_elements(t, &exact) : -1;
  return exact && n <= OPS_MAX_VALUES ? n : -1;
}

/* All elements of input i, or NULL and 0. */
static const int64_t *ints_of(const call *c, int32_t i, int64_t *n) {
  const ops_tensor *t = in(c, i);
  int64_t count = count_of(t);
  *n = 0;
  if (count < 0 || !t->ints) return NULL;
  for (int64_t k = 0; k < count; k++)
    if (t->ints[k] == OPS_UNKNOWN_INT) return NULL;
  *n = count;
  return t->ints;
}

static bool scalar_of(const call *c, int32_t i, int64_t *value) {
  int64_t n;
  const int64_t *ints = ints_of(c, i, &n);
  if (n != 1) return false;
  *value = ints[0];
  return true;
}

static situ_status put(const call *c, int32_t i, int64_t rank, const int64_t *dims) {
  if (i >= c->n_out || rank < 0) return SITU_STATUS_OK;
  if (rank > OPS_MAX_RANK) return bad(c, "too many dimensions,", rank);
  ops_tensor *out = &c->out[i];
  int64_t *copy = ARENA_NEW(c->a, int64_t, rank);
  if (!copy) return fail_no_memory(c->error);
  for (int64_t d = 0; d < rank; d++) {
    if (dims[d] < -1 || dims[d] == INT64_MAX) return bad(c, "no dimension has a size of", dims[d]);
    copy[d] = dims[d] >= 0 ? dims[d] : out->rank == rank ? out->dims[d] : -1;
  }
  out->rank = (int32_t)rank;
  out->dims = copy;
  return SITU_STATUS_OK;
}

/* The shape of input 0 as a copy to be changed; returns its rank, -1 when it is not known. */
static int32_t copy_dims(const call *c, int64_t *dims) {
  const ops_tensor *t = in(c, 0);
  int32_t rank = rank_of(t);
  if (rank > OPS_MAX_RANK) return -1;
  for (int32_t d = 0; d < rank; d++) dims[d] = t->dims[d];
  return rank;
}

/* An axis of -rank .. rank-1 as one of 0 .. rank-1. */
static situ_status axis_of(const call *c, int64_t axis, int64_t rank, int64_t *out) {
  if (axis < -rank || axis >= rank) return bad(c, "the tensor has no axis", axis);
  *out = axis < 0 ? axis + rank : axis;
  return SITU_STATUS_OK;
}

#define INT_ATTR(key, value) ((ops_attr){.name = (key), .type = OPS_INT, .i = (value)})
#define INTS_ATTR(key, values, count) ((ops_attr){.name = (key), .type = OPS_INTS, .n = (count), .ints = (values)})

/* Infers as an ONNX operator of the default domain or, when its name begins with "Fused", of Microsoft's. */
static situ_status as_onnx(const call *c, const char *kind, const ops_tensor *const *inputs, int32_t n_inputs,
                           const ops_attr *attrs, int32_t n_attrs) {
  enum { OPSET = 18 };
  ops_node node = {.domain = strncmp(kind, "Fused", 5) == 0 ? "com.microsoft" : "",
                   .kind = kind,
                   .opset = OPSET,
                   .attrs = attrs,
                   .n_attrs = n_attrs,
                   .inputs = inputs,
                   .n_inputs = n_inputs,
                   .outputs = c->out,
                   .n_outputs = c->n_out};
  return ops_infer(&node, c->a, c->error);
}

/* ---- rules that are names ---- */

static situ_status same(const call *c) { return in(c, 0) ? put(c, 0, in(c, 0)->rank, in(c, 0)->dims) : SITU_STATUS_OK; }

/* All inputs in the same order, no attributes. */
static situ_status plain(const call *c) { return as_onnx(c, c->onnx, c->in, c->n_in, NULL, 0); }

/* The first input only. */
static situ_status unary(const call *c) {
  return c->n_in > 0 ? as_onnx(c, c->onnx, c->in, 1, NULL, 0) : SITU_STATUS_OK;
}

/* With the attribute axis. */
static situ_status along(const call *c) {
  ops_attr axis = INT_ATTR("axis", ir_int(c->layer, "axis", strcmp(c->layer->type, "OneHot") == 0 ? -1 : 0));
  return as_onnx(c, c->onnx, c->in, c->n_in, &axis, 1);
}

static situ_status compare(const call *c) {
  TRY(plain(c));
  if (strcmp(c->layer->type, "NotEqual") == 0 && c->n_out > 0) c->out[0].ints = NULL; /* the opposite of Equal */
  return SITU_STATUS_OK;
}

/* ---- products and windows ---- */

ops_tensor ir_without_groups(const ops_tensor *t, arena *a) {
  ops_tensor made = *t;
  int64_t *dims = t->rank > 1 ? ARENA_NEW(a, int64_t, t->rank) : NULL;
  if (!dims) return made;
  dims[0] = t->dims[0] < 0 || t->dims[1] < 0 ? -1 : sat_mul(t->dims[0], t->dims[1]);
  for (int32_t d = 2; d < t->rank; d++) dims[d - 1] = t->dims[d];
  made.rank--;
  made.dims = dims;
  return made;
}

static situ_status matrix(const call *c) {
  ops_attr attrs[2] = {INT_ATTR("transA", ir_is_true(c->layer, "transpose_a")),
                       INT_ATTR("transB", ir_is_true(c->layer, "transpose_b"))};
  return c->n_in > 1 ? as_onnx(c, "FusedMatMul", c->in, 2, attrs, 2) : SITU_STATUS_OK;
}

/* A list of one number for each axis of space; false when the file has another number of them. */
static bool list_of(const call *c, const char *key, int64_t default_value, int32_t n, int64_t *into) {
  int32_t found = ir_ints(c->layer, key, into, OPS_MAX_RANK);
  for (int32_t d = 0; found == 0 && d < n; d++) into[d] = default_value;
  return found == 0 || found == n;
}

static bool pads_itself(const call *c) {
  const char *mode = ir_text(c->layer, "auto_pad", "explicit");
  return strcmp(mode, "explicit") != 0 && strcmp(mode, "notset") != 0;
}

static bool pads_same(const call *c) { return strncmp(ir_text(c->layer, "auto_pad", ""), "same", 4) == 0; }

/* Convolutions: data, weights, and of those back in space the shape of the output. "Group..." has groups in front of
 * its weights. The file's zero pads of auto_pad do not count; back in space auto_pad means none. */
static situ_status convolve(const call *c) {
  bool back = strcmp(c->onnx, "ConvTranspose") == 0, deformed = strcmp(c->layer->type, "DeformableConvolution") == 0;
  bool grouped = strncmp(c->layer->type, "Group", 5) == 0;
  const ops_tensor *x = in(c, 0), *w = in(c, deformed ? 2 : 1);
  if (rank_of(x) < 3 || rank_of(w) < 2 || x->rank > OPS_MAX_RANK) return SITU_STATUS_OK;
  ops_tensor joined = grouped ? ir_without_groups(w, c->a) : *w;
  if (grouped && joined.dims == w->dims) return fail_no_memory(c->error);
  int32_t n = x->rank - 2, n_attrs = 0;
  int64_t strides[OPS_MAX_RANK], dilations[OPS_MAX_RANK], pads[2 * OPS_MAX_RANK], end[OPS_MAX_RANK];
  int64_t extra[OPS_MAX_RANK], n_wanted, group = grouped ? dim_of(w, 0) : ir_int(c->layer, "group", 1);
  if (!list_of(c, "strides", 1, n, strides) || !list_of(c, "dilations", 1, n, dilations) ||
      !list_of(c, "pads_begin", 0, n, pads) || !list_of(c, "pads_end", 0, n, end) ||
      !list_of(c, "output_padding", 0, n, extra) || group < 1)
    return SITU_STATUS_OK;
  memcpy(pads + n, end, (size_t)n * sizeof *pads);
  ops_attr attrs[6];
  attrs[n_attrs++] = INTS_ATTR("strides", strides, n);
  attrs[n_attrs++] = INTS_ATTR("dilations", dilations, n);
  attrs[n_attrs++] = INT_ATTR("group", group);
  if (!pads_itself(c)) attrs[n_attrs++] = INTS_ATTR("pads", pads, 2 * (int64_t)n);
  if (pads_same(c) && !back) attrs[n_attrs++] = (ops_attr){.name = "auto_pad", .type = OPS_STRING, .s = "SAME_UPPER"};
  const int64_t *wanted = back ? ints_of(c, 2, &n_wanted) : NULL;
  if (back && in(c, 2) && (!wanted || n_wanted != n)) return SITU_STATUS_OK;
  if (wanted) attrs[n_attrs++] = INTS_ATTR("output_shape", wanted, n);
  if (back && !wanted) attrs[n_attrs++] = INTS_ATTR("output_padding", extra, n);
  const ops_tensor *inputs[2] = {x, &joined};
  return as_onnx(c, c->onnx, inputs, 2, attrs, n_attrs);
}

/* The places of a window along one axis. "ceil" counts a last window that is not wholly inside; "ceil_torch" only when
 * it begins before the padding behind. */
static situ_status slide(const call *c, int64_t size, int64_t kernel, int64_t stride, const int64_t *pads,
                         int64_t *out) {
  const char *rounding = ir_text(c->layer, "rounding_type", "floor");
  if (pads_same(c)) {
    *out = size / stride + (size % stride != 0);
    return SITU_STATUS_OK;
  }
  int64_t before = pads_itself(c) ? 0 : pads[0], after = pads_itself(c) ? 0 : pads[1];
  int64_t room = sat_add(size, sat_add(before, after)), rest = room - kernel;
  if (rest < 0) return bad(c, "a window does not fit into a dimension of", size);
  *out = rest / stride + 1;
  if (strncmp(rounding, "ceil", 4) != 0 || rest % stride == 0) return SITU_STATUS_OK;
  bool counts = strcmp(rounding, "ceil_torch") != 0 || sat_mul(*out, stride) < sat_add(size, before);
  *out += counts;
  return SITU_STATUS_OK;
}

static situ_status pool(const call *c) {
  int64_t dims[OPS_MAX_RANK], kernel[OPS_MAX_RANK], strides[OPS_MAX_RANK], dilations[OPS_MAX_RANK];
  int64_t begin[OPS_MAX_RANK], end[OPS_MAX_RANK];
  int32_t rank = copy_dims(c, dims), n = rank - 2;
  if (rank < 3 || ir_ints(c->layer, "kernel", kernel, OPS_MAX_RANK) != n || !list_of(c, "strides", 1, n, strides) ||
      !list_of(c, "dilations", 1, n, dilations) || !list_of(c, "pads_begin", 0, n, begin) ||
      !list_of(c, "pads_end", 0, n, end))
    return SITU_STATUS_OK;
  for (int32_t d = 0; d < n; d++) {
    if (kernel[d] < 1 || strides[d] < 1 || dilations[d] < 1 || begin[d] < 0 || end[d] < 0)
      return bad(c, "its window has a negative or no size along axis", d);
    int64_t span = sat_add(sat_mul(kernel[d] - 1, dilations[d]), 1), pads[2] = {begin[d], end[d]};
    if (dims[2 + d] >= 0) TRY(slide(c, dims[2 + d], span, strides[d], pads, &dims[2 + d]));
  }
  TRY(put(c, 0, rank, dims));
  return put(c, 1, rank, dims);
}

/* The size of space is the second input. */
static situ_status adaptive_pool(const call *c) {
  int64_t dims[OPS_MAX_RANK], n;
  int32_t rank = copy_dims(c, dims);
  const int64_t *sizes = ints_of(c, 1, &n);
  if (rank < 3 || (sizes && n != rank - 2)) return SITU_STATUS_OK;
  for (int32_t d = 2; d < rank; d++) dims[d] = sizes ? sizes[d - 2] : -1;
  TRY(put(c, 0, rank, dims));
  return put(c, 1, rank, dims);
}

/* Boxes of an image: one output for each box, its channels, and a size that attributes state. */
static situ_status boxes(const call *c) {
  bool by_place = strcmp(c->layer->type, "PSROIPooling") == 0;
  int64_t size = ir_int(c->layer, "group_size", -1);
  int64_t dims[4] = {dim_of(in(c, 1), 0), by_place ? ir_int(c->layer, "output_dim", -1) : dim_of(in(c, 0), 1),
                     by_place ? size : ir_int(c->layer, "pooled_h", -1),
                     by_place ? size : ir_int(c->layer, "pooled_w", -1)};
  return put(c, 0, 4, dims);
}

/* ---- views and moves ---- */

static situ_status reshape(const call *c) {
  ops_attr zero = INT_ATTR("allowzero", !ir_is_true(c->layer, "special_zero"));
  return c->n_in > 1 ? as_onnx(c, "Reshape", c->in, 2, &zero, 1) : SITU_STATUS_OK;
}

/* Squeeze and Unsqueeze: what axes are given has to be known. */
static situ_status by_axes(const call *c) {
  int64_t n;
  return in(c, 1) && !ints_of(c, 1, &n) ? SITU_STATUS_OK : plain(c);
}

static situ_status transpose(const call *c) {
  int64_t n;
  const int64_t *order = ints_of(c, 1, &n);
  ops_attr perm = INTS_ATTR("perm", order, n);
  return order ? as_onnx(c, "Transpose", c->in, 1, &perm, n > 0) : SITU_STATUS_OK;
}

static situ_status gather(const call *c) {
  int64_t axis, batch = ir_int(c->layer, "batch_dims", 0), dims[2 * OPS_MAX_RANK];
  const ops_tensor *t = in(c, 0), *index = in(c, 1);
  if (!scalar_of(c, 2, &axis) || rank_of(t) < 1 || rank_of(index) < 0) return SITU_STATUS_OK;
  TRY(axis_of(c, axis, t->rank, &axis));
  if (batch < 0) batch += index->rank;
  if (batch == 0) return as_onnx(c, c->onnx, c->in, 2, &INT_ATTR("axis", axis), 1);
  if (batch < 0 || batch > axis || batch > index->rank) return bad(c, "batch_dims is", batch);
  int64_t rank = 0;
  for (int64_t d = 0; d < axis; d++) dims[rank++] = t->dims[d];
  for (int64_t d = batch; d < index->rank; d++) dims[rank++] = index->dims[d];
  for (int64_t d = axis + 1; d < t->rank; d++) dims[rank++] = t->dims[d];
  return put(c, 0, rank, dims);
}

static situ_status gather_nd(const call *c) {
  ops_attr batch = INT_ATTR("batch_dims", ir_int(c->layer, "batch_dims", 0));
  return as_onnx(c, c->onnx, c->in, c->n_in, &batch, 1);
}

/* The axis that a split is along, by the sizes that the file states for its parts; -1 when they do not tell. */
static int64_t stated_axis(const call *c) {
  const ops_tensor *t = in(c, 0);
  int64_t found = -1;
  for (int32_t i = 0; i < c->n_out; i++) {
    if (c->out[i].rank != t->rank) return -1;
    for (int32_t d = 0; d < t->rank; d++) {
      if (c->out[i].dims[d] < 0 || t->dims[d] < 0 || c->out[i].dims[d] == t->dims[d]) continue;
      if (found >= 0 && found != d) return -1;
      found = d;
    }
  }
  return found;
}

/* All but the size along the axis, which is as stated, or what the list says. */
static situ_status put_parts(const call *c, int64_t axis, const int64_t *sizes) {
  int64_t dims[OPS_MAX_RANK], rank = copy_dims(c, dims);
  for (int32_t i = 0; i < c->n_out && rank >= 0; i++) {
    dims[axis] = sizes ? max64(sizes[i], -1) : -1;
    TRY(put(c, i, rank, dims));
  }
  return SITU_STATUS_OK;
}

/* Parts of one axis, equal ones or of given lengths, of which one may be -1: the rest. */
static situ_status split(const call *c) {
  int64_t axis, n = c->n_out, rest = -1, sum = 0, sizes[OPS_MAX_VALUES];
  const ops_tensor *t = in(c, 0);
  if (rank_of(t) < 1) return SITU_STATUS_OK;
  if (!scalar_of(c, 1, &axis)) return (axis = stated_axis(c)) < 0 ? SITU_STATUS_OK : put_parts(c, axis, NULL);
  TRY(axis_of(c, axis, t->rank, &axis));
  ops_attr attrs[2] = {INT_ATTR("axis", axis)};
  if (strcmp(c->layer->type, "Split") == 0) return as_onnx(c, "Split", c->in, 1, attrs, 1);
  const int64_t *given = ints_of(c, 2, &n);
  if (!given || n != c->n_out) return put_parts(c, axis, NULL);
  for (int64_t k = 0; k < n; k++) {
    sizes[k] = given[k];
    if (given[k] < 0) rest = k;
    sum = sat_add(sum, max64(given[k], 0));
  }
  if (rest >= 0 && t->dims[axis] < 0) return put_parts(c, axis, sizes);
  if (rest >= 0 && t->dims[axis] < sum) return bad(c, "too few elements to split,", t->dims[axis]);
  if (rest >= 0) sizes[rest] = t->dims[axis] - sum;
  attrs[1] = INTS_ATTR("split", sizes, n);
  return as_onnx(c, "Split", c->in, 1, attrs, 2);
}

/* Data, start, stop, step, axes: ONNX has the axes before the steps. */
static situ_status slice(const call *c) {
  if (c->n_in < 4) return SITU_STATUS_OK;
  const ops_tensor *inputs[5] = {c->in[0], c->in[1], c->in[2], in(c, 4), c->in[3]};
  return as_onnx(c, c->onnx, inputs, 5, NULL, 0);
}

/* A StridedSlice as a Slice and, in `shape`, what becomes of its dimensions: axes that fall away or come in. */
typedef struct sliced {
  int64_t starts[OPS_MAX_RANK], ends[OPS_MAX_RANK], axes[OPS_MAX_RANK], steps[OPS_MAX_RANK];
  int64_t shape[2 * OPS_MAX_RANK]; /* an axis of the data, or -1: new, of size 1 */
  int64_t n, rank;
} sliced;

/* A bit of a mask; one that the file does not write is 0. */
static bool masked(const call *c, const char *key, int64_t k) {
  int64_t bits[OPS_MAX_RANK];
  return k < ir_ints(c->layer, key, bits, OPS_MAX_RANK) && bits[k] != 0;
}

static situ_status read_slices(const call *c, int64_t rank, sliced *s) {
  int64_t n, n_ends, n_steps, axis = 0, n_own = 0;
  const int64_t *begin = ints_of(c, 1, &n), *end = ints_of(c, 2, &n_ends), *step = ints_of(c, 3, &n_steps);
  if (n != n_ends || (step && n_steps != n) || n > OPS_MAX_RANK) return bad(c, "its lists differ in length:", n);
  for (int64_t k = 0; k < n; k++) n_own += !masked(c, "new_axis_mask", k) && !masked(c, "ellipsis_mask", k);
  for (int64_t k = 0; k < n; k++) {
    if (masked(c, "ellipsis_mask", k)) {
      for (int64_t left = rank - n_own; left > 0 && axis < rank; left--) s->shape[s->rank++] = axis++;
      n_own = rank;
      continue;
    }
    if (masked(c, "new_axis_mask", k)) {
      s->shape[s->rank++] = -1;
      continue;
    }
    if (axis == rank) return bad(c, "more slices than dimensions:", n);
    bool shrinks = masked(c, "shrink_axis_mask", k);
    int64_t by = step ? step[k] : 1, at = s->n++;
    bool open_begin = masked(c, "begin_mask", k) && !shrinks, open_end = masked(c, "end_mask", k);
    s->axes[at] = axis;
    s->steps[at] = shrinks ? 1 : by;
    s->starts[at] = open_begin ? (by < 0 ? INT64_MAX : 0) : begin[k];
    s->ends[at] = open_end ? (by < 0 ? INT64_MIN : INT64_MAX) : end[k];
    if (shrinks) s->ends[at] = begin[k] == -1 || begin[k] == INT64_MAX ? INT64_MAX : begin[k] + 1;
    if (!shrinks) s->shape[s->rank++] = axis;
    axis++;
  }
  for (; axis < rank; axis++) s->shape[s->rank++] = axis;
  return SITU_STATUS_OK;
}

static situ_status strided_slice(const call *c) {
  int64_t n, dims[2 * OPS_MAX_RANK];
  const ops_tensor *t = in(c, 0);
  bool known = ints_of(c, 1, &n) && ints_of(c, 2, &n) && (!in(c, 3) || ints_of(c, 3, &n));
  if (!known || rank_of(t) < 0 || t->rank > OPS_MAX_RANK || c->n_out < 1) return SITU_STATUS_OK;
  sliced s = {.n = 0};
  TRY(read_slices(c, t->rank, &s));
  ops_attr attrs[4] = {INTS_ATTR("starts", s.starts, s.n), INTS_ATTR("ends", s.ends, s.n),
                       INTS_ATTR("axes", s.axes, s.n), INTS_ATTR("steps", s.steps, s.n)};
  ops_tensor cut = {.dtype = t->dtype, .rank = -1};
  call inner = *c;
  inner.out = &cut;
  inner.n_out = 1;
  TRY(as_onnx(&inner, c->onnx, c->in, 1, attrs, 4));
  if (cut.rank != t->rank) return SITU_STATUS_OK;
  for (int64_t d = 0; d < s.rank; d++) dims[d] = s.shape[d] < 0 ? 1 : cut.dims[s.shape[d]];
  TRY(put(c, 0, s.rank, dims));
  if (count_of(&c->out[0]) != count_of(&cut)) return SITU_STATUS_OK;
  c->out[0].ints = cut.ints;
  c->out[0].reals = cut.reals;
  return SITU_STATUS_OK;
}

/* Without the axes: a dimension that is reduced and kept has the size 1, which the file states, so the open ones are
 * those of the input. */
static situ_status reduce(const call *c) {
  int64_t n, dims[OPS_MAX_RANK];
  bool keep = ir_is_true(c->layer, "keep_dims");
  const int64_t *axes = ints_of(c, 1, &n);
  ops_attr attrs[3] = {INT_ATTR("keepdims", keep), INT_ATTR("noop_with_empty_axes", 1), INTS_ATTR("axes", axes, n)};
  if (axes) return as_onnx(c, c->onnx, c->in, 1, attrs, 3);
  int32_t rank = copy_dims(c, dims);
  if (!keep || c->n_out != 1 || c->out[0].rank != rank) return SITU_STATUS_OK;
  for (int32_t d = 0; d < rank; d++)
    if (c->out[0].dims[d] >= 0) dims[d] = c->out[0].dims[d];
  return put(c, 0, rank, dims);
}

/* To the shape of the second input, both ways only in the mode that says so. */
static situ_status broadcast(const call *c) {
  int64_t n;
  const char *mode = ir_text(c->layer, "mode", "numpy");
  const int64_t *target = ints_of(c, 1, &n);
  if (c->n_in < 2) return SITU_STATUS_OK;
  return strcmp(mode, "explicit") == 0 ? put(c, 0, target ? n : -1, target) : as_onnx(c, c->onnx, c->in, 2, NULL, 0);
}

/* Repeats for the last axes, or for axes to be put in front. */
static situ_status tile(const call *c) {
  int64_t n, dims[OPS_MAX_RANK], own[OPS_MAX_RANK];
  const int64_t *repeats = ints_of(c, 1, &n);
  int32_t rank = copy_dims(c, own);
  if (repeats && n == rank) return as_onnx(c, c->onnx, c->in, 2, NULL, 0);
  int64_t made = max64(n, rank);
  if (!repeats || rank < 0 || made > OPS_MAX_RANK) return SITU_STATUS_OK;
  for (int64_t d = 0; d < made; d++) {
    int64_t times = d - (made - n) >= 0 ? repeats[d - (made - n)] : 1,
            size = d - (made - rank) >= 0 ? own[d - (made - rank)] : 1;
    if (times < 0) return bad(c, "repeats are", times);
    dims[d] = size < 0 ? -1 : sat_mul(size, times);
  }
  return put(c, 0, made, dims);
}

static situ_status pad(const call *c) {
  int64_t n, n_end, pads[2 * OPS_MAX_RANK];
  const int64_t *begin = ints_of(c, 1, &n), *end = ints_of(c, 2, &n_end);
  if (!begin || !end || n != n_end || n > OPS_MAX_RANK) return SITU_STATUS_OK;
  for (int64_t k = 0; k < n; k++) {
    pads[k] = begin[k];
    pads[n + k] = end[k];
  }
  return as_onnx(c, c->onnx, c->in, 1, &INTS_ATTR("pads", pads, 2 * n), 1);
}

/* Version 0 has sizes for the axes of an attribute. Version 4 has sizes, scales and then axes as inputs, version 11 one
 * of the two and axes. Scales count in float arithmetic, rounded down. */
static situ_status interpolate(const call *c) {
  int64_t dims[OPS_MAX_RANK], axes[OPS_MAX_RANK], begin[OPS_MAX_RANK], end[OPS_MAX_RANK], n_axes, n_sizes;
  int32_t rank = copy_dims(c, dims);
  const char *mode = ir_text(c->layer, "shape_calculation_mode", "");
  bool is_fourth =
      c->n_in == 4 || (c->n_in == 3 && in(c, 2)->dtype >= SITU_DTYPE_F64 && in(c, 2)->dtype <= SITU_DTYPE_F8);
  bool scales = strcmp(mode, "scales") == 0;
  const ops_tensor *by = in(c, scales && is_fourth ? 2 : 1);
  const int64_t *sizes = scales ? NULL : ints_of(c, 1, &n_sizes), *given = ints_of(c, is_fourth ? 3 : 2, &n_axes);
  if (rank < 0 || (in(c, is_fourth ? 3 : 2) && !given) || n_axes > OPS_MAX_RANK) return SITU_STATUS_OK;
  if (!*mode) n_axes = ir_ints(c->layer, "axes", axes, OPS_MAX_RANK);
  if (*mode && !given) n_axes = rank;
  if (!list_of(c, "pads_begin", 0, rank, begin)) memset(begin, 0, sizeof begin);
  if (!list_of(c, "pads_end", 0, rank, end)) memset(end, 0, sizeof end);
  bool known = scales ? count_of(by) == n_axes && by->reals : sizes && n_sizes == n_axes;
  for (int64_t k = 0; k < n_axes; k++) {
    int64_t axis = given ? given[k] : *mode ? k : axes[k];
    TRY(axis_of(c, axis, rank, &axis));
    if (!known || (scales && dims[axis] < 0)) {
      dims[axis] = -1;
    } else if (scales) {
      double made = floor((double)((float)sat_add(dims[axis], sat_add(begin[axis], end[axis])) * (float)by->reals[k]));
      if (!(made >= 0 && made < 9e18)) return bad(c, "a scale is out of bounds, of axis", axis);
      dims[axis] = (int64_t)made;
    } else {
      dims[axis] = sizes[k];
    }
  }
  return put(c, 0, rank, dims);
}

/* ---- the rest ---- */

/* Batch, directions, steps, hidden size; and the state after the last step. */
static situ_status sequence(const call *c) {
  const ops_tensor *x = in(c, 0);
  int64_t directions = strcmp(ir_text(c->layer, "direction", ""), "bidirectional") == 0 ? 2 : 1;
  int64_t hidden = ir_int(c->layer, "hidden_size", -1), state[3] = {dim_of(x, 0), directions, hidden};
  const int64_t all[4] = {dim_of(x, 0), directions, dim_of(x, 1), hidden};
  if (rank_of(x) != 3) return SITU_STATUS_OK;
  TRY(put(c, 0, 4, all));
  for (int32_t i = 1; i < c->n_out; i++) TRY(put(c, i, 3, state));
  return SITU_STATUS_OK;
}

static situ_status cell(const call *c) {
  const int64_t state[2] = {dim_of(in(c, 0), 0), ir_int(c->layer, "hidden_size", -1)};
  for (int32_t i = 0; i < c->n_out && rank_of(in(c, 0)) == 2; i++) TRY(put(c, i, 2, state));
  return SITU_STATUS_OK;
}

/* The queries' shape with the length of values. */
static situ_status attention(const call *c) {
  int64_t dims[OPS_MAX_RANK];
  int32_t rank = copy_dims(c, dims);
  const ops_tensor *v = in(c, 2);
  if (rank < 2 || rank_of(v) < 2) return SITU_STATUS_OK;
  dims[rank - 1] = dim_of(v, v->rank - 1);
  return put(c, 0, rank, dims);
}

/* The best k: the number is the second input. */
static situ_status top(const call *c) { return c->n_in > 1 ? along(c) : SITU_STATUS_OK; }

/* The shape is the value of an input. */
static situ_status filled(const call *c) {
  int64_t n;
  const int64_t *shape = ints_of(c, 0, &n);
  return put(c, 0, shape ? n : -1, shape);
}

static situ_status blocks(const call *c) {
  ops_attr size = INT_ATTR("blocksize", ir_int(c->layer, "block_size", 1));
  return rank_of(in(c, 0)) == 4 ? as_onnx(c, c->onnx, c->in, 1, &size, 1) : SITU_STATUS_OK;
}

static situ_status einsum(const call *c) {
  ops_attr equation = {.name = "equation", .type = OPS_STRING, .s = ir_text(c->layer, "equation", "")};
  return as_onnx(c, c->onnx, c->in, c->n_in, &equation, 1);
}

/* ---- the table ---- */

#define ROW(type, onnx, infer, rule, cost) {type, onnx, infer, IR_##rule, cost},
static const ir_kind kinds[] = {
#include "read/ir_rows.h"
};

const ir_kind *ir_kind_of(const char *type) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(kinds[i].type, type) == 0) return &kinds[i];
  return NULL;
}

situ_status ir_infer(const ir_layer *l, ops_tensor *outputs, arena *a, situ_error *error) {
  const ir_kind *kind = ir_kind_of(l->type);
  if (!kind || !kind->infer || l->n_inputs > INT32_MAX || l->n_outputs > INT32_MAX) return SITU_STATUS_OK;
  call c = {.layer = l,
            .out = outputs,
            .n_in = (int32_t)l->n_inputs,
            .n_out = (int32_t)l->n_outputs,
            .onnx = kind->onnx ? kind->onnx : l->type,
            .a = a,
            .error = error};
  c.in = ARENA_NEW(a, const ops_tensor *, l->n_inputs);
  if (!c.in) return fail_no_memory(error);
  for (int32_t i = 0; i < c.n_in; i++) c.in[i] = &l->inputs[i].tensor;
  return kind->infer(&c);
}
