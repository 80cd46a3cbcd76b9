/* Attention within windows, and the gated recurrent unit. */
#include <assert.h>
#include <string.h>
#include <tgmath.h> /* sqrt of float is sqrtf */

#include "nn/functions.h"
#include "nn/quick.h"

/* ---- attention ---- */

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
  assert(n_heads > 0 && length > 0 && shape.cols % n_heads == 0);
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

/* ---- gated recurrent unit: out = (1 - z) * c + z * h ---- */

/* `extra` is reset, update and new gate of each row. */
static void gru_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  const nn_real *gates = extra;
  int32_t n = out.cols;
  for (int32_t row = 0; row < out.rows; row++) {
    int64_t wide = (int64_t)row * 3 * n, narrow = (int64_t)row * n;
    for (int32_t i = 0; i < n; i++) {
      nn_real r = gates[wide + i], z = gates[wide + n + i], c = gates[wide + 2 * n + i], g = out.grad[narrow + i];
      nn_real state = in[2].value[narrow + i], product = in[1].value[wide + 2 * n + i];
      nn_real to_c = g * (1 - z) * (1 - c * c), to_z = g * (state - c) * z * (1 - z),
              to_r = to_c * product * r * (1 - r);
      for (int k = 0; k < 2; k++) {
        if (!in[k].grad) continue;
        in[k].grad[wide + i] += to_r;
        in[k].grad[wide + n + i] += to_z;
        in[k].grad[wide + 2 * n + i] += k == 0 ? to_c : to_c * r;
      }
      if (in[2].grad) in[2].grad[narrow + i] += g * z;
    }
  }
}

nn_var nn_gru(tape *t, nn_var x_gates, nn_var h_gates, nn_var h) {
  nn_matrix x = tape_at(t, x_gates), u = tape_at(t, h_gates), state = tape_at(t, h);
  assert(x.cols == 3 * state.cols && u.cols == x.cols && x.rows == u.rows && u.rows == state.rows);
  nn_real *gates = TAPE_NEW(t, nn_real, (int64_t)x.rows * x.cols);
  nn_var v =
      gates ? tape_record(t, state.rows, state.cols, (nn_var[]){x_gates, h_gates, h}, 3, gru_backward, gates) : NN_NONE;
  nn_matrix out = tape_at(t, v);
  int32_t n = out.cols;
  for (int32_t row = 0; row < out.rows; row++) {
    int64_t wide = (int64_t)row * 3 * n, narrow = (int64_t)row * n;
    for (int32_t i = 0; i < n; i++) {
      nn_real r = quick_sigmoid(x.value[wide + i] + u.value[wide + i]);
      nn_real z = quick_sigmoid(x.value[wide + n + i] + u.value[wide + n + i]);
      nn_real c = quick_tanh(x.value[wide + 2 * n + i] + r * u.value[wide + 2 * n + i]);
      gates[wide + i] = r;
      gates[wide + n + i] = z;
      gates[wide + 2 * n + i] = c;
      out.value[narrow + i] = (1 - z) * c + z * state.value[narrow + i];
    }
  }
  return v;
}
