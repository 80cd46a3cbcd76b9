/* Functions of nn/functions.h that multiply matrices. */
#include <string.h>

#include "base/contracts.h"
#include "nn/functions.h"

static nn_factor plain(nn_matrix x) { return (nn_factor){x.value, x.cols, false}; }
static nn_factor flipped(nn_matrix x) { return (nn_factor){x.value, x.cols, true}; }
static nn_factor plain_grad(nn_matrix x) { return (nn_factor){x.grad, x.cols, false}; }
static nn_factor flipped_grad(nn_matrix x) { return (nn_factor){x.grad, x.cols, true}; }

static void matmul_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  nn_matrix x = in[0], w = in[1];
  if (x.grad) nn_gemm(x.grad, x.cols, x.rows, x.cols, out.cols, plain_grad(out), flipped(w), 1, 1);
  if (w.grad) nn_gemm(w.grad, w.cols, w.rows, w.cols, out.rows, flipped(x), plain_grad(out), 1, 1);
}

static void dense_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  matmul_backward(t, out, in, extra);
  for (int32_t r = 0; in[2].grad && r < out.rows; r++)
    for (int32_t c = 0; c < out.cols; c++) in[2].grad[c] += out.grad[(int64_t)r * out.cols + c];
}

/* b is NULL for a product alone. */
static nn_var multiply(tape *t, nn_var x, nn_var w, const nn_var *b) {
  nn_matrix left = tape_at(t, x), right = tape_at(t, w);
  nn_var v = tape_record(t, left.rows, right.cols, (nn_var[]){x, w, b ? *b : NN_NONE}, b ? 3 : 2,
                         b ? dense_backward : matmul_backward, NULL);
  if (v == NN_NONE) return v;
  nn_matrix out = tape_at(t, v);
  REQUIRE(left.cols == right.rows);
  for (int32_t r = 0; b && r < out.rows; r++)
    memcpy(out.value + (int64_t)r * out.cols, tape_at(t, *b).value, (size_t)out.cols * sizeof *out.value);
  nn_gemm(out.value, out.cols, out.rows, out.cols, left.cols, plain(left), plain(right), 1, b ? 1 : 0);
  return v;
}

nn_var nn_matmul(tape *t, nn_var x, nn_var w) { return multiply(t, x, w, NULL); }

nn_var nn_dense(tape *t, nn_var x, nn_var w, nn_var b) {
  REQUIRE(b == NN_NONE || (tape_at(t, b).rows == 1 && tape_at(t, b).cols == tape_at(t, w).cols));
  return multiply(t, x, w, &b);
}

static void matmul_transposed_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  nn_matrix x = in[0], y = in[1];
  if (x.grad) nn_gemm(x.grad, x.cols, x.rows, x.cols, out.cols, plain_grad(out), plain(y), 1, 1);
  if (y.grad) nn_gemm(y.grad, y.cols, y.rows, y.cols, out.rows, flipped_grad(out), plain(x), 1, 1);
}

nn_var nn_matmul_transposed(tape *t, nn_var x, nn_var y) {
  nn_matrix left = tape_at(t, x), right = tape_at(t, y);
  nn_var v = tape_record(t, left.rows, right.rows, (nn_var[]){x, y}, 2, matmul_transposed_backward, NULL);
  if (v == NN_NONE) return v;
  nn_matrix out = tape_at(t, v);
  REQUIRE(left.cols == right.cols);
  nn_gemm(out.value, out.cols, out.rows, out.cols, left.cols, plain(left), flipped(right), 1, 0);
  return v;
}
