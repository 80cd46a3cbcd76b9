/* Attention within windows. */
#include <string.h>
#include <tgmath.h> /* sqrt of float is sqrtf */

#include "base/contracts.h"
#include "nn/functions.h"
#include "nn/quick.h"

typedef struct windows {
  int32_t n_heads, length, width; /* numbers of a head */
  nn_real scale;
  nn_real *weight; /* [head][row][2 * length]: the softmax of a row over its window */
} windows;

/* A segment and what it sees: rows [first, end) see [from, end). */
typedef struct window {
  int32_t first, end, from;
} window;

static window window_at(const windows *w, int32_t first, int32_t rows) {
  return (window){first, first + w->length < rows ? first + w->length : rows,
                  first >= w->length ? first - w->length : 0};
}

static nn_real *weights_of(const windows *w, int32_t head, int32_t row, int32_t rows) {
  return w->weight + ((int64_t)head * rows + row) * 2 * w->length;
}

/* Head `head` of rows from `row` on. */
static nn_factor part(const nn_real *at, int32_t row, int32_t head, const windows *w, int32_t cols, bool transposed) {
  return (nn_factor){at + (int64_t)row * cols + (int64_t)head * w->width, cols, transposed};
}

static void attend(nn_matrix out, nn_matrix q, nn_matrix k, nn_matrix v, const windows *w) {
  int32_t d = out.cols, stride = 2 * w->length;
  for (int32_t first = 0; first < out.rows; first += w->length)
    for (int32_t head = 0; head < w->n_heads; head++) {
      window at = window_at(w, first, out.rows);
      int32_t n = at.end - at.first, seen = at.end - at.from;
      nn_real *weight = weights_of(w, head, first, out.rows);
      nn_gemm(weight, stride, n, seen, w->width, part(q.value, first, head, w, d, false),
              part(k.value, at.from, head, w, d, true), w->scale, 0);
      for (int32_t r = 0; r < n; r++) quick_soften(weight + (int64_t)r * stride, seen);
      nn_gemm(out.value + (int64_t)first * d + (int64_t)head * w->width, d, n, w->width, seen,
              (nn_factor){weight, stride, false}, part(v.value, at.from, head, w, d, false), 1, 0);
    }
}

/* Turns the gradient of weights into that of scores, in place. */
static void unsoften(nn_real *restrict grad, const nn_real *restrict weight, int32_t n, nn_real scale) {
  nn_real inner = quick_inner(grad, weight, n);
  for (int32_t c = 0; c < n; c++) grad[c] = scale * weight[c] * (grad[c] - inner);
}

static void attention_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  const windows *w = extra;
  nn_matrix q = in[0], k = in[1], v = in[2];
  int32_t d = out.cols, stride = 2 * w->length;
  nn_real *scores = TAPE_NEW(t, nn_real, (int64_t)w->length * stride);
  if (!scores) return;
  for (int32_t first = 0; first < out.rows; first += w->length)
    for (int32_t head = 0; head < w->n_heads; head++) {
      window at = window_at(w, first, out.rows);
      int32_t n = at.end - at.first, seen = at.end - at.from;
      int64_t column = (int64_t)head * w->width;
      const nn_real *weight = weights_of(w, head, first, out.rows);
      nn_factor made = part(out.grad, first, head, w, d, false), asked = part(q.value, first, head, w, d, false);
      if (v.grad)
        nn_gemm(v.grad + (int64_t)at.from * d + column, d, seen, w->width, n, (nn_factor){weight, stride, true}, made,
                1, 1);
      if (!q.grad && !k.grad) continue;
      nn_gemm(scores, stride, n, seen, w->width, made, part(v.value, at.from, head, w, d, true), 1, 0);
      for (int32_t r = 0; r < n; r++)
        unsoften(scores + (int64_t)r * stride, weight + (int64_t)r * stride, seen, w->scale);
      if (q.grad)
        nn_gemm(q.grad + (int64_t)first * d + column, d, n, w->width, seen, (nn_factor){scores, stride, false},
                part(k.value, at.from, head, w, d, false), 1, 1);
      if (k.grad)
        nn_gemm(k.grad + (int64_t)at.from * d + column, d, seen, w->width, n, (nn_factor){scores, stride, true}, asked,
                1, 1);
    }
}

nn_var nn_attention(tape *t, nn_var q, nn_var k, nn_var v, int32_t n_heads, int32_t length) {
  nn_matrix shape = tape_at(t, q);
  windows *w = TAPE_NEW(t, windows, 1);
  REQUIRE(n_heads > 0 && length > 0 && shape.cols % n_heads == 0);
  if (!w) return NN_NONE;
  if (length > shape.rows) length = shape.rows > 0 ? shape.rows : 1;
  *w = (windows){.n_heads = n_heads, .length = length, .width = shape.cols / n_heads};
  w->scale = 1 / sqrt((nn_real)w->width);
  w->weight = TAPE_NEW(t, nn_real, (int64_t)n_heads * shape.rows * 2 * length);
  if (!w->weight) return NN_NONE;
  nn_var made = tape_record(t, shape.rows, shape.cols, (nn_var[]){q, k, v}, 3, attention_backward, w);
  if (made != NN_NONE) attend(tape_at(t, made), shape, tape_at(t, k), tape_at(t, v), w);
  return made;
}
