/* The gated recurrent unit, out = (1 - z) * c + z * h, as one step of many rows and as a sequence of one. */
#include <string.h>

#include "base/contracts.h"
#include "nn/functions.h"
#include "nn/quick.h"

/* One row: x and u are the parts of the gates, `gates` gets reset, update and new gate. */
static void cell(const nn_real *x, const nn_real *u, const nn_real *state, nn_real *gates, nn_real *out, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    nn_real r = quick_sigmoid(x[i] + u[i]);
    nn_real z = quick_sigmoid(x[n + i] + u[n + i]);
    nn_real c = quick_tanh(x[2 * n + i] + r * u[2 * n + i]);
    gates[i] = r;
    gates[n + i] = z;
    gates[2 * n + i] = c;
    out[i] = (1 - z) * c + z * state[i];
  }
}

/* Adds the gradients of a row, of which `by` is that of its result; NULL: not wanted. `product` is the part of u that
 * the reset gate multiplies. */
static void cell_backward(const nn_real *by, const nn_real *gates, const nn_real *product, const nn_real *state,
                          nn_real *to_x, nn_real *to_u, nn_real *to_state, int32_t n) {
  for (int32_t i = 0; i < n; i++) {
    nn_real r = gates[i], z = gates[n + i], c = gates[2 * n + i], g = by[i];
    nn_real to_c = g * (1 - z) * (1 - c * c), to_z = g * (state[i] - c) * z * (1 - z),
            to_r = to_c * product[i] * r * (1 - r);
    for (int k = 0; k < 2; k++) {
      nn_real *to = k == 0 ? to_x : to_u;
      if (!to) continue;
      to[i] += to_r;
      to[n + i] += to_z;
      to[2 * n + i] += k == 0 ? to_c : to_c * r;
    }
    if (to_state) to_state[i] += g * z;
  }
}

/* `extra` is the gates of each row. */
static void gru_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  const nn_real *gates = extra;
  int32_t n = out.cols;
  for (int32_t row = 0; row < out.rows; row++) {
    int64_t wide = (int64_t)row * 3 * n, narrow = (int64_t)row * n;
    cell_backward(out.grad + narrow, gates + wide, in[1].value + wide + 2 * n, in[2].value + narrow,
                  in[0].grad ? in[0].grad + wide : NULL, in[1].grad ? in[1].grad + wide : NULL,
                  in[2].grad ? in[2].grad + narrow : NULL, n);
  }
}

nn_var nn_gru(tape *t, nn_var x_gates, nn_var h_gates, nn_var h) {
  nn_matrix x = tape_at(t, x_gates), u = tape_at(t, h_gates), state = tape_at(t, h);
  REQUIRE(x.cols == 3 * state.cols && u.cols == x.cols && x.rows == u.rows && u.rows == state.rows);
  nn_real *gates = TAPE_NEW(t, nn_real, (int64_t)x.rows * x.cols);
  nn_var v =
      gates ? tape_record(t, state.rows, state.cols, (nn_var[]){x_gates, h_gates, h}, 3, gru_backward, gates) : NN_NONE;
  nn_matrix out = tape_at(t, v);
  int32_t n = out.cols;
  for (int32_t row = 0; row < out.rows; row++) {
    int64_t wide = (int64_t)row * 3 * n, narrow = (int64_t)row * n;
    cell(x.value + wide, u.value + wide, state.value + narrow, gates + wide, out.value + narrow, n);
  }
  return v;
}

/* ---- a sequence ---- */

typedef struct sequence {
  bool backward;
  nn_real *gates, *u; /* of each row; u is the state's part */
  nn_real *zero;      /* the state before the first row */
} sequence;

/* The row after row i, or before it; -1 at the end. */
static int32_t next_row(const sequence *s, int32_t i, int32_t rows) {
  if (s->backward) return i - 1;
  return i + 1 < rows ? i + 1 : -1;
}

static int32_t first_row(const sequence *s, int32_t rows) { return s->backward ? rows - 1 : 0; }

static void sequence_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  const sequence *s = extra;
  nn_matrix x = in[0], w = in[1], b = in[2];
  int32_t n = out.cols, rows = out.rows;
  nn_real *to_u = TAPE_NEW(t, nn_real, (int64_t)rows * 3 * n), *by = TAPE_NEW(t, nn_real, 2 * n);
  if (!to_u || !by || rows == 0) return;
  nn_real *to_state = by + n; /* gradient of the state that a row leaves, by the rows after it */
  memset(to_u, 0, (size_t)rows * 3 * (size_t)n * sizeof *to_u);
  memset(by, 0, 2 * (size_t)n * sizeof *by);
  sequence reverse = {.backward = !s->backward};
  for (int32_t i = first_row(&reverse, rows); i >= 0; i = next_row(&reverse, i, rows)) {
    int64_t wide = (int64_t)i * 3 * n;
    int32_t before = next_row(&reverse, i, rows);
    const nn_real *state = before >= 0 ? out.value + (int64_t)before * n : s->zero;
    for (int32_t k = 0; k < n; k++) by[k] = to_state[k] + out.grad[(int64_t)i * n + k];
    memset(to_state, 0, (size_t)n * sizeof *to_state);
    cell_backward(by, s->gates + wide, s->u + wide + 2 * n, state, x.grad ? x.grad + wide : NULL, to_u + wide, to_state,
                  n);
    nn_gemm(to_state, n, 1, n, 3 * n, (nn_factor){to_u + wide, 3 * n, false}, (nn_factor){w.value, 3 * n, true}, 1, 1);
    for (int32_t k = 0; b.grad && k < 3 * n; k++) b.grad[k] += to_u[wide + k];
  }
  if (!w.grad || rows < 2) return;
  const nn_real *states = s->backward ? out.value + n : out.value, *gradients = s->backward ? to_u : to_u + 3 * n;
  nn_gemm(w.grad, 3 * n, n, 3 * n, rows - 1, (nn_factor){states, n, true}, (nn_factor){gradients, 3 * n, false}, 1, 1);
}

nn_var nn_gru_sequence(tape *t, nn_var x_gates, nn_var w, nn_var b, bool backward) {
  nn_matrix x = tape_at(t, x_gates), u = tape_at(t, w), shift = tape_at(t, b);
  int32_t n = u.rows, rows = x.rows;
  REQUIRE(u.cols == 3 * n && x.cols == u.cols && shift.cols == u.cols && shift.rows == (b == NN_NONE ? 0 : 1));
  sequence *s = TAPE_NEW(t, sequence, 1);
  if (!s) return NN_NONE;
  *s = (sequence){.backward = backward,
                  .gates = TAPE_NEW(t, nn_real, (int64_t)rows * 3 * n),
                  .u = TAPE_NEW(t, nn_real, (int64_t)rows * 3 * n),
                  .zero = TAPE_NEW(t, nn_real, n)};
  if (!s->gates || !s->u || !s->zero) return NN_NONE;
  memset(s->zero, 0, (size_t)n * sizeof *s->zero);
  nn_var v = tape_record(t, rows, n, (nn_var[]){x_gates, w, b}, 3, sequence_backward, s);
  nn_matrix out = tape_at(t, v);
  const nn_real *state = s->zero;
  for (int32_t i = v == NN_NONE || rows == 0 ? -1 : first_row(s, rows); i >= 0; i = next_row(s, i, rows)) {
    int64_t wide = (int64_t)i * 3 * n;
    memcpy(s->u + wide, shift.value, 3 * (size_t)n * sizeof *s->u);
    nn_gemm(s->u + wide, 3 * n, 1, 3 * n, n, (nn_factor){state, n, false}, (nn_factor){u.value, 3 * n, false}, 1, 1);
    cell(x.value + wide, s->u + wide, state, s->gates + wide, out.value + (int64_t)i * n, n);
    state = out.value + (int64_t)i * n;
  }
  return v;
}
