/* Elements to other places: no FLOPs, bytes read and written. What picks a part of its input reads that part only. */
#include <string.h>

#include "ops/kind.h"

static situ_status infer_transpose(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  situ_dtype dtype = kind_in_dtype(c->node, 0);
  const int64_t *perm;
  int64_t n, dims[OPS_MAX_RANK], own[OPS_MAX_RANK], strides[OPS_MAX_RANK];
  bool flags[OPS_MAX_RANK];
  TRY(kind_need_ints(c, "perm", kind_rank(t), &perm));
  ops_attr_ints(c->node, "perm", &n);
  if (perm && n > OPS_MAX_RANK) return kind_fail(c, "a permutation of %lld axes", (long long)n);
  if (perm) TRY(kind_axes(c, perm, n, (int32_t)n, flags));
  if (kind_rank(t) < 0) {
    for (int64_t d = 0; d < n; d++) dims[d] = -1;
    return kind_put(c, 0, dtype, perm ? (int32_t)n : -1, dims);
  }
  bool small = kind_small(t) >= 0;
  if (small) kind_strides(t->rank, t->dims, own);
  for (int32_t d = 0; d < t->rank; d++) {
    int64_t from = perm ? perm[d] : t->rank - 1 - d;
    if (from < 0) from += t->rank;
    dims[d] = t->dims[from];
    strides[d] = small ? own[from] : 0;
  }
  TRY(kind_put(c, 0, dtype, t->rank, dims));
  return kind_stride_values(c, 0, t, 0, strides);
}

/* ---- Concat and Split ---- */

/* Values of tensors joined along an axis: runs of each alternately. */
static situ_status concat_values(const kind_call *c, int32_t axis) {
  ops_tensor *out = &c->node->outputs[0];
  for (int32_t i = 0; i < c->node->n_inputs; i++) {
    const ops_tensor *t = kind_in(c->node, i);
    if (kind_small(t) < 0 || !(kind_is_real(out->dtype) ? t->reals != NULL : t->ints != NULL)) return SITU_STATUS_OK;
  }
  int64_t *ints, n, run = 1;
  double *reals;
  TRY(kind_values(c, 0, &ints, &reals, &n));
  if (n == 0) return SITU_STATUS_OK;
  for (int32_t d = axis + 1; d < out->rank; d++) run *= out->dims[d];
  for (int64_t done = 0, row = 0; done < n; row++)
    for (int32_t i = 0; i < c->node->n_inputs; i++) {
      const ops_tensor *t = kind_in(c->node, i);
      int64_t part = run * t->dims[axis];
      for (int64_t k = 0; k < part; k++, done++) {
        if (ints) ints[done] = t->ints[row * part + k];
        if (reals) reals[done] = t->reals[row * part + k];
      }
    }
  return SITU_STATUS_OK;
}

/* ConcatTraining has a second output: the length of each input along the axis. */
static situ_status infer_concat(const kind_call *c) {
  const ops_node *node = c->node;
  int64_t dims[OPS_MAX_RANK];
  int32_t rank = -1, axis = 0;
  TRY(kind_put_1d(c, 1, SITU_DTYPE_I64, node->n_inputs));
  for (int32_t i = 0; i < node->n_inputs && rank < 0; i++) rank = kind_rank(kind_in(node, i));
  if (rank < 0) return kind_put(c, 0, kind_in_dtype(node, 0), -1, NULL);
  TRY(kind_axis_attr(c, 1, rank, &axis));
  for (int32_t d = 0; d < rank; d++) dims[d] = d == axis ? 0 : -1;
  for (int32_t i = 0; i < node->n_inputs; i++) {
    const ops_tensor *t = kind_in(node, i);
    if (kind_rank(t) < 0) {
      dims[axis] = -1;
      continue;
    }
    TRY(kind_need_rank(c, i, rank));
    for (int32_t d = 0; d < rank; d++)
      if (d != axis) TRY(kind_same(c, dims[d], t->dims[d], "dimensions", &dims[d]));
    if (t->dims[axis] < 0)
      dims[axis] = -1;
    else if (dims[axis] >= 0)
      dims[axis] = sat_add(dims[axis], t->dims[axis]);
  }
  TRY(kind_put(c, 0, kind_in_dtype(node, 0), rank, dims));
  return node->n_outputs > 0 && kind_small(&node->outputs[0]) >= 0 ? concat_values(c, axis) : SITU_STATUS_OK;
}

static situ_status split_sizes(const kind_call *c, int64_t whole, const int64_t *sizes, int64_t n, bool given) {
  int64_t sum = 0;
  if (!given || !sizes) return SITU_STATUS_OK;
  if (n != c->node->n_outputs) return kind_fail(c, "%lld parts for %d outputs", (long long)n, (int)c->node->n_outputs);
  for (int64_t k = 0; k < n; k++) {
    if (sizes[k] < 0) return kind_fail(c, "a part of %lld", (long long)sizes[k]);
    sum = sat_add(sum, sizes[k]);
  }
  return kind_same(c, sum, whole, "sum of the parts and dimension", NULL);
}

static situ_status infer_split(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t n, dims[OPS_MAX_RANK], own[OPS_MAX_RANK], n_parts = c->node->n_outputs, at = 0;
  int32_t axis;
  bool given;
  TRY(kind_need_type(c, "split", OPS_INTS));
  const int64_t *sizes = kind_list(c->node, "split", 1, &n, &given);
  if (kind_rank(t) < 0) {
    for (int32_t i = 0; i < n_parts; i++) TRY(kind_put(c, i, kind_in_dtype(c->node, 0), -1, NULL));
    return SITU_STATUS_OK;
  }
  TRY(kind_axis_attr(c, 0, t->rank, &axis));
  memcpy(dims, t->dims, (size_t)t->rank * sizeof *dims);
  int64_t whole = t->dims[axis], wanted = ops_attr_int(c->node, "num_outputs", n_parts);
  TRY(split_sizes(c, whole, sizes, n, given));
  if (!given && whole >= 0 && n_parts > 0 && !ops_find_attr(c->node, "num_outputs") && whole % n_parts != 0)
    return kind_fail(c, "%lld elements in %lld equal parts", (long long)whole, (long long)n_parts);
  if (wanted < 1 && n_parts > 0) return kind_fail(c, "num_outputs is %lld", (long long)wanted);
  int64_t part = whole < 0 || wanted < 1 ? -1 : whole / wanted + (whole % wanted != 0);
  if (kind_small(t) >= 0) kind_strides(t->rank, t->dims, own);
  for (int32_t i = 0; i < n_parts; i++) {
    dims[axis] = given ? (sizes ? sizes[i] : -1) : part < 0 ? -1 : max64(0, min64(part, whole - part * i));
    TRY(kind_put(c, i, kind_in_dtype(c->node, 0), t->rank, dims));
    if (kind_small(t) >= 0 && dims[axis] >= 0) TRY(kind_stride_values(c, i, t, at * own[axis], own));
    at += max64(dims[axis], 0);
  }
  return SITU_STATUS_OK;
}

/* ---- Slice ---- */

typedef struct slice_lists {
  const int64_t *starts, *ends, *axes, *steps;
  int64_t n;
  bool axes_given, steps_given;
} slice_lists;

/* `first` is the input of the starts: 1 for Slice, 2 for SliceGrad. */
static situ_status read_slice(const kind_call *c, int32_t first, slice_lists *s) {
  int64_t n_ends, n_axes, n_steps;
  bool given;
  TRY(kind_need_type(c, "starts", OPS_INTS));
  TRY(kind_need_type(c, "ends", OPS_INTS));
  TRY(kind_need_type(c, "axes", OPS_INTS));
  s->starts = kind_list(c->node, "starts", first, &s->n, &given);
  s->ends = kind_list(c->node, "ends", first + 1, &n_ends, &given);
  s->axes = kind_list(c->node, "axes", first + 2, &n_axes, &s->axes_given);
  s->steps = kind_list(c->node, "steps", first + 3, &n_steps, &s->steps_given);
  if ((s->starts && s->ends && n_ends != s->n) || (s->starts && s->axes && n_axes != s->n) ||
      (s->starts && s->steps && n_steps != s->n))
    return kind_fail(c, "starts, ends, axes and steps differ in number");
  return SITU_STATUS_OK;
}

/* numpy's rule: negative ends count from the end, then both are clamped to what the direction can reach. */
static int64_t slice_size(int64_t dim, int64_t *start, int64_t end, int64_t step) {
  if (*start < 0) *start = *start < -dim ? -1 : *start + dim;
  if (end < 0) end = end < -dim ? -1 : end + dim;
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1;
  *start = max64(step > 0 ? 0 : min64(0, dim - 1), min64(*start, high));
  end = max64(low, min64(end, high));
  int64_t reach = step > 0 ? end - *start : *start - end, stride = step > 0 ? step : -(step + 1);
  if (reach <= 0) return 0;
  return step > 0 ? (reach - 1) / stride + 1 : stride == INT64_MAX ? 1 : (reach - 1) / (stride + 1) + 1;
}

static situ_status infer_slice(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  situ_dtype dtype = kind_in_dtype(c->node, 0);
  slice_lists s = {0};
  int64_t dims[OPS_MAX_RANK], strides[OPS_MAX_RANK], offset = 0;
  bool flags[OPS_MAX_RANK], small = kind_small(t) >= 0;
  TRY(read_slice(c, 1, &s));
  if (kind_rank(t) < 0) return kind_put(c, 0, dtype, -1, NULL);
  memcpy(dims, t->dims, (size_t)t->rank * sizeof *dims);
  if (small) kind_strides(t->rank, t->dims, strides);
  bool known = s.starts && s.ends && (!s.axes_given || s.axes) && (!s.steps_given || s.steps);
  if (!known) { /* only the axes that are named can change */
    int64_t n_named;
    bool given;
    const int64_t *named = kind_list(c->node, "axes", 3, &n_named, &given);
    if (named) TRY(kind_axes(c, named, n_named, t->rank, flags));
    for (int32_t d = 0; d < t->rank; d++)
      if (!named || flags[d]) dims[d] = -1;
    return kind_put(c, 0, dtype, t->rank, dims);
  }
  if (s.n > t->rank) return kind_fail(c, "%lld axes of a tensor of rank %d", (long long)s.n, (int)t->rank);
  if (s.axes) TRY(kind_axes(c, s.axes, s.n, t->rank, flags));
  for (int64_t k = 0; k < s.n; k++) {
    int64_t axis = s.axes ? s.axes[k] < 0 ? s.axes[k] + t->rank : s.axes[k] : k;
    int64_t step = s.steps ? s.steps[k] : 1, start = s.starts[k];
    if (step == 0) return kind_fail(c, "a step of 0");
    if (dims[axis] < 0) continue;
    dims[axis] = slice_size(t->dims[axis], &start, s.ends[k], step);
    if (!small || dims[axis] == 0) continue;
    offset += start * strides[axis];
    strides[axis] = dims[axis] > 1 ? strides[axis] * step : 0;
  }
  TRY(kind_put(c, 0, dtype, t->rank, dims));
  return small ? kind_stride_values(c, 0, t, offset, strides) : SITU_STATUS_OK;
}

/* The gradient of Slice: dY, the shape of the input, and the parameters of the Slice. */
static situ_status infer_put_shape(const kind_call *c) {
  const ops_tensor *shape = kind_in(c->node, c->row->tag);
  int64_t n = kind_rank(shape) == 1 ? shape->dims[0] : -1, dims[OPS_MAX_RANK];
  situ_dtype dtype = kind_in_dtype(c->node, c->row->tag == 0 ? 2 : 0);
  if (n > OPS_MAX_RANK) return kind_fail(c, "a shape of %lld dimensions", (long long)n);
  for (int64_t d = 0; d < n; d++) dims[d] = shape->ints && shape->ints[d] >= 0 ? shape->ints[d] : -1;
  return kind_put(c, 0, dtype, (int32_t)n, dims);
}

/* ---- Pad, Tile, Expand ---- */

static situ_status infer_pad(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t n, n_axes, dims[OPS_MAX_RANK];
  bool given, axes_given, flags[OPS_MAX_RANK];
  const char *name = ops_find_attr(c->node, "paddings") ? "paddings" : "pads"; /* the word of operator set 1 */
  TRY(kind_need_type(c, name, OPS_INTS));
  const int64_t *pads = kind_list(c->node, name, 1, &n, &given);
  const int64_t *axes = kind_list(c->node, "axes", 3, &n_axes, &axes_given);
  if (kind_rank(t) < 0) return kind_put(c, 0, kind_in_dtype(c->node, 0), -1, NULL);
  memcpy(dims, t->dims, (size_t)t->rank * sizeof *dims);
  if (axes) TRY(kind_axes(c, axes, n_axes, t->rank, flags));
  int64_t n_padded = axes ? n_axes : t->rank;
  if (!pads || (axes_given && !axes)) {
    for (int32_t d = 0; d < t->rank; d++) dims[d] = -1;
    return kind_put(c, 0, kind_in_dtype(c->node, 0), t->rank, dims);
  }
  if (n != 2 * n_padded) return kind_fail(c, "%lld pads for %lld axes", (long long)n, (long long)n_padded);
  for (int64_t k = 0; k < n_padded; k++) {
    int64_t axis = axes ? axes[k] < 0 ? axes[k] + t->rank : axes[k] : k, both;
    if (dims[axis] < 0) continue;
    if (__builtin_add_overflow(pads[k], pads[n_padded + k], &both) || __builtin_add_overflow(dims[axis], both, &both))
      return kind_fail(c, "pads beyond all bounds");
    if (both < 0) return kind_fail(c, "%lld elements are padded to %lld", (long long)dims[axis], (long long)both);
    dims[axis] = both;
  }
  return kind_put(c, 0, kind_in_dtype(c->node, 0), t->rank, dims);
}

static situ_status infer_tile(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0), *repeats = kind_in(c->node, 1);
  int64_t dims[OPS_MAX_RANK], source[OPS_MAX_VALUES];
  if (kind_rank(t) < 0) return kind_put(c, 0, kind_in_dtype(c->node, 0), -1, NULL);
  if (c->node->opset >= 6) TRY(kind_need_rank(c, 1, 1));
  if (c->node->opset >= 6) TRY(kind_same(c, kind_dim(repeats, 0), t->rank, "repeats and rank", NULL));
  bool known = kind_small(repeats) == t->rank && repeats->ints && kind_rank(repeats) == 1;
  for (int32_t d = 0; d < t->rank; d++) {
    int64_t times = known ? repeats->ints[d] : OPS_UNKNOWN_INT;
    if (times < 0 && times != OPS_UNKNOWN_INT) return kind_fail(c, "%lld repeats", (long long)times);
    dims[d] = times == OPS_UNKNOWN_INT || t->dims[d] < 0 ? -1 : sat_mul(times, t->dims[d]);
  }
  TRY(kind_put(c, 0, kind_in_dtype(c->node, 0), t->rank, dims));
  int64_t n = kind_volume(t->rank, dims);
  if (n < 0 || n > OPS_MAX_VALUES || kind_small(t) < 0) return SITU_STATUS_OK;
  for (int64_t k = 0; k < n; k++) {
    int64_t rest = k, step = 1;
    source[k] = 0;
    for (int32_t d = t->rank - 1; d >= 0; rest /= dims[d--]) {
      source[k] += rest % dims[d] % t->dims[d] * step;
      step *= t->dims[d];
    }
  }
  return kind_pick_values(c, 0, t, source);
}

static situ_status infer_expand(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0), *shape = kind_in(c->node, 1);
  int64_t wanted[OPS_MAX_RANK], dims[OPS_MAX_RANK], own[OPS_MAX_RANK], strides[OPS_MAX_RANK];
  TRY(kind_need_rank(c, 1, 1));
  int64_t n = kind_rank(shape) == 1 ? shape->dims[0] : -1;
  if (n > OPS_MAX_RANK) return kind_fail(c, "a shape of %lld dimensions", (long long)n);
  if (kind_rank(t) < 0 || n < 0) return kind_put(c, 0, kind_in_dtype(c->node, 0), -1, NULL);
  for (int64_t d = 0; d < n; d++) {
    wanted[d] = shape->ints && shape->ints[d] != OPS_UNKNOWN_INT ? shape->ints[d] : -1;
    if (wanted[d] < -1) return kind_fail(c, "dimension %d is %lld", (int)d, (long long)wanted[d]);
  }
  ops_tensor target = {.rank = (int32_t)n, .dims = wanted};
  const ops_tensor *both[2] = {t, &target};
  int32_t rank;
  TRY(kind_broadcast(c, both, 2, dims, &rank));
  TRY(kind_put(c, 0, kind_in_dtype(c->node, 0), rank, dims));
  if (kind_small(t) < 0 || c->node->n_outputs < 1 || kind_small(&c->node->outputs[0]) < 0) return SITU_STATUS_OK;
  kind_strides(t->rank, t->dims, own);
  for (int32_t d = 0; d < rank; d++) {
    int32_t from = d - (rank - t->rank);
    strides[d] = from < 0 || t->dims[from] == 1 ? 0 : own[from];
  }
  return kind_stride_values(c, 0, t, 0, strides);
}

/* ---- Other permutations ---- */

enum { TO_SPACE, TO_DEPTH };

static situ_status infer_blocks(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t block = ops_attr_int(c->node, "blocksize", -1);
  TRY(kind_need_rank(c, 0, 4));
  if (block < 1 || block > (1 << 30)) return kind_fail(c, "a blocksize of %lld", (long long)block);
  int64_t dims[4], area = block * block;
  for (int32_t d = 0; d < 4; d++) {
    int64_t by = d == 0 ? 1 : d == 1 ? area : block;
    bool grows = (d == 1) == (c->row->tag == TO_DEPTH);
    dims[d] = kind_dim(t, d);
    if (dims[d] < 0 || d == 0) continue;
    if (!grows && dims[d] % by != 0)
      return kind_fail(c, "a dimension of %lld in blocks of %lld", (long long)dims[d], (long long)by);
    dims[d] = grows ? sat_mul(dims[d], by) : dims[d] / by;
  }
  return kind_put(c, 0, kind_in_dtype(c->node, 0), 4, dims);
}

static situ_status infer_compress(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t dims[OPS_MAX_RANK], n, kept = -1, n_flags;
  int32_t axis;
  const int64_t *flags = kind_ints(kind_in(c->node, 1), &n_flags);
  for (int64_t k = 0; flags && k < n_flags; k++) kept = max64(kept, 0) + (flags[k] != 0);
  if (flags && n_flags == 0) kept = 0;
  TRY(kind_need_rank(c, 1, 1));
  if (!ops_find_attr(c->node, "axis")) return kind_put_1d(c, 0, kind_in_dtype(c->node, 0), kept);
  if (kind_rank(t) < 0) return kind_put(c, 0, kind_in_dtype(c->node, 0), -1, NULL);
  TRY(kind_axis_attr(c, 0, t->rank, &axis));
  memcpy(dims, t->dims, (size_t)t->rank * sizeof *dims);
  n = kind_dim(kind_in(c->node, 1), 0);
  if (n >= 0 && dims[axis] >= 0 && n > dims[axis])
    return kind_fail(c, "%lld conditions for %lld elements", (long long)n, (long long)dims[axis]);
  dims[axis] = kept;
  return kind_put(c, 0, kind_in_dtype(c->node, 0), t->rank, dims);
}

/* The operator of the first sets: a border of left, top, right, bottom is cut off, or a scale states the size. */
static situ_status infer_crop(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  const int64_t *border, *scale;
  TRY(kind_need_rank(c, 0, 4));
  TRY(kind_need_ints(c, "border", 4, &border));
  TRY(kind_need_ints(c, "scale", 2, &scale));
  int64_t dims[4];
  for (int32_t d = 0; d < 4; d++) {
    dims[d] = kind_dim(t, d);
    if (d < 2 || dims[d] < 0) continue;
    int64_t low = border ? border[3 - d] : 0, high = border ? border[5 - d] : 0;
    if (low < 0 || high < 0 || sat_add(low, high) > dims[d]) return kind_fail(c, "a border outside of the image");
    dims[d] = scale ? scale[d - 2] : dims[d] - low - high;
    if (dims[d] < 0) return kind_fail(c, "a size of %lld", (long long)dims[d]);
  }
  return kind_put(c, 0, kind_in_dtype(c->node, 0), 4, dims);
}

static situ_status infer_center_crop(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0);
  int64_t dims[OPS_MAX_RANK], n, n_axes;
  bool flags[OPS_MAX_RANK];
  const int64_t *wanted = kind_ints(kind_in(c->node, 1), &n), *axes = ops_attr_ints(c->node, "axes", &n_axes);
  if (kind_rank(t) < 0) return kind_put(c, 0, kind_in_dtype(c->node, 0), -1, NULL);
  memcpy(dims, t->dims, (size_t)t->rank * sizeof *dims);
  if (axes) TRY(kind_axes(c, axes, n_axes, t->rank, flags));
  if (wanted && n != (axes ? n_axes : t->rank)) return kind_fail(c, "%lld sizes do not match the axes", (long long)n);
  for (int64_t k = 0; k < (axes ? n_axes : t->rank); k++) {
    int64_t axis = axes ? axes[k] < 0 ? axes[k] + t->rank : axes[k] : k;
    if (wanted && wanted[k] < 0) return kind_fail(c, "a size of %lld", (long long)wanted[k]);
    dims[axis] = wanted ? wanted[k] : -1;
  }
  return kind_put(c, 0, kind_in_dtype(c->node, 0), t->rank, dims);
}

/* Blocks of columns back into an image: [N, C * block, L] to [N, C, image]. */
static situ_status infer_col2im(const kind_call *c) {
  const ops_tensor *t = kind_in(c->node, 0), *image = kind_in(c->node, 1), *block = kind_in(c->node, 2);
  int64_t n_image, n_block, dims[OPS_MAX_RANK], each = 1, rank = sat_add(2, kind_dim(image, 0));
  const int64_t *sizes = kind_ints(image, &n_image), *blocks = kind_ints(block, &n_block);
  TRY(kind_need_rank(c, 0, 3));
  if (kind_dim(image, 0) < 0 || rank > OPS_MAX_RANK) return kind_put(c, 0, kind_in_dtype(c->node, 0), -1, NULL);
  for (int64_t d = 0; blocks && d < n_block; d++) each = sat_mul(each, blocks[d]);
  for (int64_t d = 2; d < rank; d++) {
    dims[d] = sizes ? sizes[d - 2] : -1;
    if (dims[d] < -1) return kind_fail(c, "an image of size %lld", (long long)dims[d]);
  }
  dims[0] = kind_dim(t, 0);
  dims[1] = blocks && kind_dim(t, 1) >= 0 && each > 0 ? t->dims[1] / each : -1;
  return kind_put(c, 0, kind_in_dtype(c->node, 0), (int32_t)rank, dims);
}

#define MOVE(domain, name, infer) \
  { domain, name, infer, kind_count_move, 0, 0, 0 }
#define PART(domain, name, infer) \
  { domain, name, infer, kind_count_part, 0, 0, 0 }

static const ops_kind rows[] = {
    MOVE(KIND_ONNX, "Transpose", infer_transpose),
    MOVE(KIND_ONNX, "Concat", infer_concat),
    MOVE(KIND_MS, "ConcatTraining", infer_concat),
    MOVE(KIND_ONNX, "Split", infer_split),
    MOVE(KIND_MS, "SplitTraining", infer_split),
    PART(KIND_ONNX, "Slice", infer_slice),
    {KIND_MS, "SliceGrad", infer_put_shape, kind_count_move, 0, 1, 0},
    {KIND_MS, "GatherElementsGrad", infer_put_shape, kind_count_inputs, 1, 1, 0},
    {KIND_MS, "GatherGrad", infer_put_shape, kind_count_inputs, 1, 0, KIND_OF_OUTPUT},
    MOVE(KIND_ONNX, "Pad", infer_pad),
    MOVE(KIND_MS, "Pad", infer_pad),
    MOVE(KIND_ONNX, "Tile", infer_tile),
    MOVE(KIND_ONNX, "Expand", infer_expand),
    {KIND_ONNX, "DepthToSpace", infer_blocks, kind_count_move, 0, TO_SPACE, 0},
    {KIND_ONNX, "SpaceToDepth", infer_blocks, kind_count_move, 0, TO_DEPTH, 0},
    MOVE(KIND_ONNX, "ReverseSequence", kind_infer_same),
    MOVE(KIND_ONNX, "Trilu", kind_infer_same),
    MOVE(KIND_MS, "Trilu", kind_infer_same),
    PART(KIND_ONNX, "Compress", infer_compress),
    PART(KIND_ONNX, "Crop", infer_crop),
    PART(KIND_ONNX, "CenterCropPad", infer_center_crop),
    {KIND_ONNX, "Col2Im", infer_col2im, kind_count_inputs, 1, 0, 0},
};

const ops_family ops_family_move = {rows, sizeof rows / sizeof rows[0]};
