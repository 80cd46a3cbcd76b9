/* Functions of nn/functions.h that go element by element. */

#include "base/contracts.h"
#include "nn/functions.h"
#include "nn/quick.h"

static int64_t size_of(nn_matrix x) { return (int64_t)x.rows * x.cols; }

/* A record of the shape of x. */
static nn_var like(tape *t, nn_var x, const nn_var *inputs, int32_t n, tape_backward_fn *backward, const void *extra) {
  nn_matrix shape = tape_at(t, x);
  return tape_record(t, shape.rows, shape.cols, inputs, n, backward, extra);
}

/* A number that a function carries. */
static const void *keep_number(tape *t, nn_real x) {
  nn_real *kept = TAPE_NEW(t, nn_real, 2);
  if (kept) kept[0] = x;
  return kept;
}

/* ---- two sides ---- */

static void add_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  for (int k = 0; k < 2; k++) {
    nn_real *restrict to = in[k].grad;
    const nn_real *restrict from = out.grad;
    for (int64_t i = 0, n = to ? size_of(out) : 0; i < n; i++) to[i] += from[i];
  }
}

nn_var nn_add(tape *t, nn_var x, nn_var y) {
  nn_var v = like(t, x, (nn_var[]){x, y}, 2, add_backward, NULL);
  nn_matrix out = tape_at(t, v), a = tape_at(t, x), b = tape_at(t, y);
  REQUIRE(v == NN_NONE || (a.rows == b.rows && a.cols == b.cols));
  const nn_real *x_at = a.value, *y_at = b.value;
  nn_real *restrict to = out.value;
  for (int64_t i = 0, n = size_of(out); i < n; i++) to[i] = x_at[i] + y_at[i];
  return v;
}

static void multiply_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  for (int k = 0; k < 2; k++)
    for (int64_t i = 0; in[k].grad && i < size_of(out); i++) in[k].grad[i] += out.grad[i] * in[1 - k].value[i];
}

nn_var nn_multiply(tape *t, nn_var x, nn_var y) {
  nn_var v = like(t, x, (nn_var[]){x, y}, 2, multiply_backward, NULL);
  nn_matrix out = tape_at(t, v), a = tape_at(t, x), b = tape_at(t, y);
  REQUIRE(v == NN_NONE || (a.rows == b.rows && a.cols == b.cols));
  for (int64_t i = 0; i < size_of(out); i++) out.value[i] = a.value[i] * b.value[i];
  return v;
}

/* ---- a row or a column on the other side ---- */

static void add_row_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  for (int64_t i = 0; in[0].grad && i < size_of(out); i++) in[0].grad[i] += out.grad[i];
  for (int32_t r = 0; in[1].grad && r < out.rows; r++)
    for (int32_t c = 0; c < out.cols; c++) in[1].grad[c] += out.grad[(int64_t)r * out.cols + c];
}

nn_var nn_add_row(tape *t, nn_var x, nn_var y) {
  nn_var v = like(t, x, (nn_var[]){x, y}, 2, add_row_backward, NULL);
  nn_matrix out = tape_at(t, v), a = tape_at(t, x), b = tape_at(t, y);
  REQUIRE(v == NN_NONE || (b.rows == 1 && a.cols == b.cols));
  for (int32_t r = 0; r < out.rows; r++)
    for (int64_t i = (int64_t)r * out.cols, c = 0; c < out.cols; c++, i++) out.value[i] = a.value[i] + b.value[c];
  return v;
}

static void multiply_row_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  for (int32_t r = 0; r < out.rows; r++)
    for (int64_t i = (int64_t)r * out.cols, c = 0; c < out.cols; c++, i++) {
      if (in[0].grad) in[0].grad[i] += out.grad[i] * in[1].value[c];
      if (in[1].grad) in[1].grad[c] += out.grad[i] * in[0].value[i];
    }
}

nn_var nn_multiply_row(tape *t, nn_var x, nn_var y) {
  nn_var v = like(t, x, (nn_var[]){x, y}, 2, multiply_row_backward, NULL);
  nn_matrix out = tape_at(t, v), a = tape_at(t, x), b = tape_at(t, y);
  REQUIRE(v == NN_NONE || (b.rows == 1 && a.cols == b.cols));
  for (int32_t r = 0; r < out.rows; r++)
    for (int64_t i = (int64_t)r * out.cols, c = 0; c < out.cols; c++, i++) out.value[i] = a.value[i] * b.value[c];
  return v;
}

static void multiply_column_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  for (int32_t r = 0; r < out.rows; r++)
    for (int64_t i = (int64_t)r * out.cols, c = 0; c < out.cols; c++, i++) {
      if (in[0].grad) in[0].grad[i] += out.grad[i] * in[1].value[r];
      if (in[1].grad) in[1].grad[r] += out.grad[i] * in[0].value[i];
    }
}

nn_var nn_multiply_column(tape *t, nn_var x, nn_var y) {
  nn_var v = like(t, x, (nn_var[]){x, y}, 2, multiply_column_backward, NULL);
  nn_matrix out = tape_at(t, v), a = tape_at(t, x), b = tape_at(t, y);
  REQUIRE(v == NN_NONE || (b.cols == 1 && a.rows == b.rows));
  for (int32_t r = 0; r < out.rows; r++)
    for (int64_t i = (int64_t)r * out.cols, c = 0; c < out.cols; c++, i++) out.value[i] = a.value[i] * b.value[r];
  return v;
}

/* ---- one side: the gradient by way of input x and output y ---- */

#define ONE_SIDE(name, forward, slope)                                                          \
  static void name##_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) { \
    const nn_real *from = in[0].value, *made = out.value, *restrict grad = out.grad;            \
    nn_real *restrict to = in[0].grad;                                                          \
    for (int64_t i = 0, n = to ? size_of(out) : 0; i < n; i++) {                                \
      nn_real x = from[i], y = made[i];                                                         \
      (void)x, (void)y;                                                                         \
      to[i] += grad[i] * (slope);                                                               \
    }                                                                                           \
  }                                                                                             \
  nn_var nn_##name(tape *t, nn_var v) {                                                         \
    nn_var made = like(t, v, &v, 1, name##_backward, NULL);                                     \
    nn_matrix out = tape_at(t, made), in = tape_at(t, v);                                       \
    const nn_real *restrict from = in.value;                                                    \
    nn_real *restrict to = out.value;                                                           \
    for (int64_t i = 0, n = size_of(out); i < n; i++) {                                         \
      nn_real x = from[i];                                                                      \
      to[i] = (forward);                                                                        \
    }                                                                                           \
    return made;                                                                                \
  }

ONE_SIDE(relu, x > 0 ? x : 0, x > 0 ? 1 : 0)
ONE_SIDE(sigmoid, quick_sigmoid(x), y *(1 - y))
ONE_SIDE(tanh, quick_tanh(x), 1 - y * y)
ONE_SIDE(exp, quick_exp(x), y)

static void scale_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  nn_real by = *(const nn_real *)extra;
  for (int64_t i = 0; in[0].grad && i < size_of(out); i++) in[0].grad[i] += by * out.grad[i];
}

nn_var nn_scale(tape *t, nn_var x, nn_real by) {
  const void *kept = keep_number(t, by);
  nn_var v = kept ? like(t, x, &x, 1, scale_backward, kept) : NN_NONE;
  nn_matrix out = tape_at(t, v), in = tape_at(t, x);
  for (int64_t i = 0; i < size_of(out); i++) out.value[i] = by * in.value[i];
  return v;
}

static void dropout_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  const nn_real *factor = extra;
  for (int64_t i = 0; in[0].grad && i < size_of(out); i++) in[0].grad[i] += factor[i] * out.grad[i];
}

nn_var nn_dropout(tape *t, nn_var x, double rate, rng *random) {
  if (rate <= 0) return x;
  nn_matrix in = tape_at(t, x);
  nn_real *factor = TAPE_NEW(t, nn_real, size_of(in));
  nn_var v = factor ? like(t, x, &x, 1, dropout_backward, factor) : NN_NONE;
  nn_matrix out = tape_at(t, v);
  for (int64_t i = 0; i < size_of(out); i++) {
    factor[i] = rng_unit(random) < rate ? 0 : (nn_real)(1 / (1 - rate));
    out.value[i] = factor[i] * in.value[i];
  }
  return v;
}
