/* Attention within windows. */
#include <tgmath.h> /* sqrt of float is sqrtf */

#include "base/contracts.h"
#include "nn/functions.h"
#include "nn/quick.h"

typedef struct windows {
  int32_t n_heads, length, width; /* numbers of a head */
  nn_real scale;
  nn_real *weight; /* [head][row][2 * length]: the softmax of a row over its window */
} windows;

/* A segment and the rows it attends to: rows [first, end) attend to [from, end). */
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

/* The two parts that a segment attends to: rows of the memory, then its own. `at` counts columns of the weights. */
typedef struct seen_part {
  int32_t input, from, n, at;
} seen_part;

enum { QUERY, KEY, VALUE, KEY_BEFORE, VALUE_BEFORE, INPUTS };

static int32_t parts_of(seen_part *to, window at) {
  int32_t before = at.first - at.from;
  to[0] = (seen_part){KEY_BEFORE, at.from, before, 0};
  to[before > 0] = (seen_part){KEY, at.first, at.end - at.first, before};
  return 1 + (before > 0);
}

static void attend(nn_matrix out, const nn_matrix *in, const windows *w) {
  int32_t d = out.cols, stride = 2 * w->length;
  for (int32_t first = 0; first < out.rows; first += w->length)
    for (int32_t head = 0; head < w->n_heads; head++) {
      window at = window_at(w, first, out.rows);
      seen_part parts[2];
      int32_t n = at.end - at.first, n_parts = parts_of(parts, at);
      nn_real *weight = weights_of(w, head, first, out.rows);
      for (const seen_part *p = parts; p < parts + n_parts; p++)
        nn_gemm(weight + p->at, stride, n, p->n, w->width, part(in[QUERY].value, first, head, w, d, false),
                part(in[p->input].value, p->from, head, w, d, true), w->scale, 0);
      for (int32_t r = 0; r < n; r++) quick_soften(weight + (int64_t)r * stride, at.end - at.from);
      for (const seen_part *p = parts; p < parts + n_parts; p++)
        nn_gemm(out.value + (int64_t)first * d + (int64_t)head * w->width, d, n, w->width, p->n,
                (nn_factor){weight + p->at, stride, false}, part(in[p->input + 1].value, p->from, head, w, d, false), 1,
                p > parts);
    }
}

/* Turns the gradient of weights into that of scores, in place. */
static void unsoften(nn_real *restrict grad, const nn_real *restrict weight, int32_t n, nn_real scale) {
  nn_real inner = quick_inner(grad, weight, n);
  for (int32_t c = 0; c < n; c++) grad[c] = scale * weight[c] * (grad[c] - inner);
}

/* Of the rows [first, ...) of a head: `made` is the gradient of their output. */
static void attend_backward(const windows *w, const nn_matrix *in, nn_matrix out, window at, int32_t head,
                            nn_real *scores) {
  seen_part parts[2];
  int32_t d = out.cols, stride = 2 * w->length, n = at.end - at.first, n_parts = parts_of(parts, at);
  int64_t column = (int64_t)head * w->width;
  const nn_real *weight = weights_of(w, head, at.first, out.rows);
  nn_factor made = part(out.grad, at.first, head, w, d, false),
            asked = part(in[QUERY].value, at.first, head, w, d, false);
  for (const seen_part *p = parts; p < parts + n_parts; p++) {
    nn_matrix v = in[p->input + 1];
    if (v.grad)
      nn_gemm(v.grad + (int64_t)p->from * d + column, d, p->n, w->width, n, (nn_factor){weight + p->at, stride, true},
              made, 1, 1);
    nn_gemm(scores + p->at, stride, n, p->n, w->width, made, part(v.value, p->from, head, w, d, true), 1, 0);
  }
  for (int32_t r = 0; r < n; r++)
    unsoften(scores + (int64_t)r * stride, weight + (int64_t)r * stride, at.end - at.from, w->scale);
  for (const seen_part *p = parts; p < parts + n_parts; p++) {
    nn_matrix k = in[p->input];
    if (in[QUERY].grad)
      nn_gemm(in[QUERY].grad + (int64_t)at.first * d + column, d, n, w->width, p->n,
              (nn_factor){scores + p->at, stride, false}, part(k.value, p->from, head, w, d, false), 1, 1);
    if (k.grad)
      nn_gemm(k.grad + (int64_t)p->from * d + column, d, p->n, w->width, n, (nn_factor){scores + p->at, stride, true},
              asked, 1, 1);
  }
}

static void attention_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  const windows *w = extra;
  nn_real *scores = TAPE_NEW(t, nn_real, (int64_t)w->length * 2 * w->length);
  for (int32_t first = 0; scores && first < out.rows; first += w->length)
    for (int32_t head = 0; head < w->n_heads; head++)
      attend_backward(w, in, out, window_at(w, first, out.rows), head, scores);
}

nn_var nn_still(tape *t, nn_var x) {
  nn_matrix at = tape_at(t, x);
  return x == NN_NONE ? x : tape_constant(t, at.rows, at.cols, at.value);
}

nn_var nn_attention(tape *t, nn_var q, nn_var k, nn_var v, nn_var k_before, nn_var v_before, int32_t n_heads,
                    int32_t length) {
  nn_matrix shape = tape_at(t, q), in[INPUTS];
  nn_var inputs[INPUTS] = {q, k, v, k_before, v_before};
  windows *w = TAPE_NEW(t, windows, 1);
  REQUIRE(n_heads > 0 && length > 0 && shape.cols % n_heads == 0);
  if (!w) return NN_NONE;
  if (length > shape.rows) length = shape.rows > 0 ? shape.rows : 1;
  *w = (windows){.n_heads = n_heads, .length = length, .width = shape.cols / n_heads};
  w->scale = 1 / sqrt((nn_real)w->width);
  w->weight = TAPE_NEW(t, nn_real, (int64_t)n_heads * shape.rows * 2 * length);
  if (!w->weight) return NN_NONE;
  nn_var made = tape_record(t, shape.rows, shape.cols, inputs, INPUTS, attention_backward, w);
  if (made == NN_NONE) return made;
  for (int i = 0; i < INPUTS; i++) in[i] = tape_at(t, inputs[i]);
  attend(tape_at(t, made), in, w);
  return made;
}
