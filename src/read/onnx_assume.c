/* Sizes for the dimensions that a model leaves open and the caller does not give.
 *
 * One is right for a batch, and for a decoder's next token. A picture of one pixel, or a recording of one sample, is
 * not: windows do not fit, and all costs are those of launches. So sides of pictures get a usual size, and where some
 * operator does not fit, larger ones are tried, also for the lengths of other inputs. */
#include <ctype.h>
#include <string.h>

#include "read/onnx_eval.h"

enum { SIDE = 1, LENGTH = 2 };

/* In the order in which they are tried until all operators fit. A later one is tried where it changes what the model
 * has: sides of pictures, or lengths. 224 is a picture of ImageNet, 48 a line of text; multiples of 32 suit detectors.
 * Where none fits
 * all dimensions count as one. */
static const struct assumption {
  int64_t side, length;
  int changes;
} assumptions[] = {{224, 1, SIDE | LENGTH}, {320, 1, SIDE},       {640, 1, SIDE},       {48, 1, SIDE},
                   {224, 512, LENGTH},      {224, 16000, LENGTH}, {1, 1, SIDE | LENGTH}};

int32_t onnx_next_assumption(const onnx_reading *r, int32_t at) {
  int32_t n = (int32_t)(sizeof assumptions / sizeof *assumptions);
  for (at++; at < n; at++)
    if (assumptions[at].changes & r->assumed_kinds) return at;
  return -1;
}

/* The first of the two sides of a picture: a tensor of rank 4 with one to four channels, before or behind the sides. */
static int32_t first_side(const onnx_value *v) {
  bool numbers = v->dtype == SITU_DTYPE_F32 || v->dtype == SITU_DTYPE_F16 || v->dtype == SITU_DTYPE_U8;
  if (v->rank != 4 || !numbers) return -1;
  if (v->dims[1] >= 1 && v->dims[1] <= 4) return 2;
  return v->dims[3] >= 1 && v->dims[3] <= 4 ? 1 : -1;
}

static bool names_batch(const char *name) {
  static const char batch[] = "batch";
  for (size_t i = 0; i < sizeof batch - 1; i++)
    if (!name || tolower((unsigned char)name[i]) != batch[i]) return false;
  return true;
}

int64_t onnx_assumed_size(onnx_reading *r, const onnx_value *v, int32_t d) {
  if (r->options->default_dim > 0) return r->options->default_dim;
  const struct assumption *a = &assumptions[r->assumption];
  int32_t side = first_side(v);
  if (side >= 0 && d != side && d != side + 1) return 1;
  if (side >= 0) {
    int64_t other = v->dims[d == side ? side + 1 : side];
    if (other >= 0) return other > 0 ? other : 1;
    r->assumed_kinds |= SIDE;
    return a->side;
  }
  bool real = v->dtype == SITU_DTYPE_F32 || v->dtype == SITU_DTYPE_F16;
  bool first = v == r->model->graph->inputs; /* those behind it are states and masks */
  if (!first || !real || v->rank > 3 || (d == 0 && v->rank > 1) || names_batch(v->dim_names[d])) return 1;
  r->assumed_kinds |= LENGTH;
  return a->length;
}
