/* Weights of an OpenVINO IR that came without its .bin. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "split/ir_file.h"

/* Who reads a constant first, and at which input. */
typedef struct use {
  const ir_layer *reader;
  int64_t input;
} use;

static use first_use(const ir_net *net, const ir_layer *layer) {
  for (int64_t i = 0; i < net->n_layers; i++)
    for (int64_t k = 0; k < net->layers[i].n_inputs; k++)
      if (net->layers[i].inputs[k].layer == (int32_t)(layer - net->layers)) return (use){&net->layers[i], k};
  return (use){NULL, 0};
}

static bool is_one_of(const char *type, const char *const *types) {
  while (*types && strcmp(type, *types) != 0) types++;
  return *types != NULL;
}

/* ---- whole numbers ---- */

/* Dimensions of the second that are not of the first, in their order: axes that were added to or taken from a shape. */
static int32_t added_axes(int64_t axes[OPS_MAX_RANK], const ops_tensor *few, const ops_tensor *many) {
  int32_t n = 0, at = 0;
  for (int32_t d = 0; d < many->rank; d++) {
    int32_t left = many->rank - d, needed = few->rank - at;
    bool same = at < few->rank && few->dims[at] == many->dims[d];
    if (same || left <= needed)
      at++;
    else
      axes[n++] = d;
  }
  return n;
}

/* Axes along which two shapes of one rank differ. */
static int32_t other_axes(int64_t axes[OPS_MAX_RANK], const ops_tensor *a, const ops_tensor *b) {
  int32_t n = 0;
  for (int32_t d = 0; d < a->rank; d++)
    if (a->dims[d] != b->dims[d]) axes[n++] = d;
  return n;
}

/* The order that makes one shape of the other. */
static void find_order(int64_t order[OPS_MAX_RANK], const ops_tensor *from, const ops_tensor *to) {
  bool used[OPS_MAX_RANK] = {false};
  for (int32_t d = 0; d < to->rank; d++) {
    int32_t best = -1;
    for (int32_t i = 0; i < from->rank && best < 0; i++)
      if (!used[i] && from->dims[i] == to->dims[d]) best = i;
    for (int32_t i = 0; i < from->rank && best < 0; i++)
      if (!used[i]) best = i;
    order[d] = best < 0 ? 0 : best;
    if (best >= 0) used[best] = true;
  }
}

/* Where a slice begins or ends: at the front, or at the back where a mask says that its end is not read. */
static int64_t slice_end(const ir_layer *l, bool end, int32_t d, int64_t from, int64_t to) {
  int64_t mask[OPS_MAX_RANK];
  bool back = ir_ints(l, "end_mask", mask, OPS_MAX_RANK) > d && mask[d] == 1 && from >= to && to >= 0;
  if (!end) return back ? from - to : 0;
  return back ? from : to >= 0 ? to : INT32_MAX;
}

static const char *const reductions[] = {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd",
                                         "ReduceL1",   "ReduceL2",  "MVN",       NULL};

/* The elements [n] that the reader needs; false where any will do. */
static bool find_wholes(int64_t *out, int64_t n, const ir_layer *l, int64_t input) {
  if (n > OPS_MAX_RANK || l->n_outputs == 0 || l->n_inputs == 0) return false;
  const ops_tensor *from = &l->inputs[0].tensor, *to = &l->outputs[0].tensor;
  const char *t = l->type;
  int64_t axes[OPS_MAX_RANK] = {0};
  int32_t n_axes = 0, free = 0;
  if (input == 1 && (strcmp(t, "Reshape") == 0 || strcmp(t, "Broadcast") == 0) && n == to->rank) {
    for (int32_t d = 0; d < n; d++) out[d] = to->dims[d] >= 0 ? to->dims[d] : free++ == 0 ? -1 : 0;
    return true;
  }
  if (input == 1 && strcmp(t, "Transpose") == 0 && n == to->rank) {
    find_order(out, from, to);
    return true;
  }
  if (input == 1 && strcmp(t, "Unsqueeze") == 0) n_axes = added_axes(axes, from, to);
  if (input == 1 && strcmp(t, "Squeeze") == 0) n_axes = added_axes(axes, to, from);
  if (input == 1 && is_one_of(t, reductions))
    n_axes = from->rank == to->rank ? other_axes(axes, from, to) : added_axes(axes, to, from);
  if (input == 1 && (strcmp(t, "Split") == 0 || strcmp(t, "VariadicSplit") == 0)) n_axes = other_axes(axes, from, to);
  for (int64_t i = 0; i < n && n_axes == n; i++) out[i] = axes[i];
  if (n_axes > 0 && n_axes == n) return true;
  if (input == 2 && strcmp(t, "VariadicSplit") == 0 && n == l->n_outputs && other_axes(axes, from, to) == 1) {
    for (int64_t i = 0; i < n; i++) out[i] = l->outputs[i].tensor.dims[axes[0]];
    return true;
  }
  if (strcmp(t, "StridedSlice") == 0 && (input == 1 || input == 2) && from->rank == to->rank && n <= to->rank) {
    for (int32_t d = 0; d < n; d++) out[d] = slice_end(l, input == 2, d, from->dims[d], to->dims[d]);
    return true;
  }
  return false;
}

/* A Gather of the shape of weights asks for the last size, by which they are multiplied. */
static int64_t gathered(const ir_net *net, const ir_layer *l, int64_t input) {
  const ir_layer *shape = l->inputs[0].layer >= 0 ? &net->layers[l->inputs[0].layer] : NULL;
  if (input != 1 || !shape || strcmp(shape->type, "ShapeOf") != 0 || shape->inputs[0].layer < 0) return 0;
  bool weights = net->layers[shape->inputs[0].layer].constant;
  return weights && shape->inputs[0].tensor.rank > 0 ? shape->inputs[0].tensor.rank - 1 : 0;
}

/* The value of all elements unless a shape requires more: axes and starts are 0, a size to be inferred is -1, strides
 * and everything else 1. */
static int64_t plain_whole(const ir_net *net, const ir_layer *l, int64_t input) {
  static const char *const at_zero[] = {"GatherElements", "GatherND", "CumSum", NULL};
  if (!l) return 1;
  if (strcmp(l->type, "Gather") == 0) return gathered(net, l, input);
  if (is_one_of(l->type, at_zero)) return 0;
  if (strcmp(l->type, "Range") == 0 && input == 0) return 0;
  if (strcmp(l->type, "Concat") == 0) {
    const ir_layer *next = first_use(net, l).reader;
    return next && strcmp(next->type, "Reshape") == 0 ? -1 : 1;
  }
  if (is_one_of(l->type, reductions)) return -1;
  if (strcmp(l->type, "Loop") == 0 && input == 0) return ir_trips(l) > 0 ? ir_trips(l) : 2;
  return 1;
}

static void fill_wholes(unsigned char *into, int64_t bytes, int64_t each, const ir_net *net, use u) {
  int64_t wanted[OPS_MAX_RANK], n = bytes / each;
  bool found = u.reader && find_wholes(wanted, n, u.reader, u.input);
  for (int64_t i = 0; i < n; i++) {
    int64_t value = found ? wanted[i] : plain_whole(net, u.reader, u.input);
    memcpy(into + i * each, &value, (size_t)each); /* the low bytes first, as in the .bin */
  }
}

/* ---- floats ---- */

/* Of a matrix or filters, so drawn that values neither grow nor fade from layer to layer; positive otherwise, as
 * variances have to be. Limits of a FakeQuantize are those of a range around 0. */
static void range_of(double *low, double *high, const ir_layer *layer, use u) {
  const ops_tensor *t = &layer->outputs[0].tensor;
  double n = 1;
  for (int32_t d = 1; d < t->rank; d++) n *= (double)(t->dims[d] > 0 ? t->dims[d] : 1);
  *low = n > 1 && t->rank > 1 && t->dims[0] > 1 ? -sqrt(6 / n) : 0.5;
  *high = *low < 0 ? -*low : 1;
  if (!u.reader || strcmp(u.reader->type, "FakeQuantize") != 0 || u.input == 0) return;
  *low = u.input % 2 == 1 ? -4 : 3.5;
  *high = *low + 0.5;
}

static void put_float(unsigned char *into, situ_dtype dtype, double value) {
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  uint16_t brain = (uint16_t)(bits >> 16);
  uint16_t half = (uint16_t)((bits >> 16 & 0x8000) | ((bits >> 23 & 0xff) - 112) << 10 | (bits >> 13 & 0x3ff));
  if ((bits >> 23 & 0xff) <= 112) half = 0;
  if (dtype == SITU_DTYPE_F64) memcpy(into, &value, sizeof value);
  if (dtype == SITU_DTYPE_F32) memcpy(into, &single, sizeof single);
  if (dtype == SITU_DTYPE_F16) memcpy(into, &half, sizeof half);
  if (dtype == SITU_DTYPE_BF16) memcpy(into, &brain, sizeof brain);
}

static int64_t bytes_of(situ_dtype dtype) {
  switch (dtype) {
    case SITU_DTYPE_F64:
    case SITU_DTYPE_I64:
    case SITU_DTYPE_U64: return 8;
    case SITU_DTYPE_F32:
    case SITU_DTYPE_I32:
    case SITU_DTYPE_U32: return 4;
    case SITU_DTYPE_F16:
    case SITU_DTYPE_BF16:
    case SITU_DTYPE_I16:
    case SITU_DTYPE_U16: return 2;
    default: return 1;
  }
}

void ir_make_up(unsigned char *into, int64_t bytes, const ir_net *net, const ir_layer *layer) {
  rng r = rng_new((uint64_t)layer->place.begin);
  situ_dtype dtype = layer->n_outputs > 0 ? layer->outputs[0].tensor.dtype : SITU_DTYPE_U8;
  int64_t each = bytes_of(dtype);
  bool real = dtype == SITU_DTYPE_F64 || dtype == SITU_DTYPE_F32 || dtype == SITU_DTYPE_F16 || dtype == SITU_DTYPE_BF16;
  use u = first_use(net, layer);
  double low, high;
  memset(into, 0, (size_t)bytes);
  if (real) {
    range_of(&low, &high, layer, u);
    for (int64_t at = 0; at + each <= bytes; at += each) put_float(into + at, dtype, low + (high - low) * rng_unit(&r));
  } else if (each > 1 || dtype == SITU_DTYPE_BOOL) {
    fill_wholes(into, bytes, each, net, u);
  } else {
    for (int64_t i = 0; i < bytes; i++) into[i] = (unsigned char)rng_below(&r, 256);
  }
}
