/* Functions of nn/functions.h that make distributions and norms of rows. */
#include <string.h>
#include <tgmath.h> /* exp, log and sqrt of float are expf, logf and sqrtf */

#include "base/contracts.h"
#include "nn/functions.h"
#include "nn/quick.h"

/* ---- softmax ---- */

static void softmax_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  for (int32_t r = 0; in[0].grad && r < out.rows; r++) {
    const nn_real *p = out.value + (int64_t)r * out.cols, *g = out.grad + (int64_t)r * out.cols;
    nn_real *to = in[0].grad + (int64_t)r * out.cols, inner = 0;
    for (int32_t c = 0; c < out.cols; c++) inner += p[c] * g[c];
    for (int32_t c = 0; c < out.cols; c++) to[c] += p[c] * (g[c] - inner);
  }
}

nn_var nn_softmax(tape *t, nn_var x) {
  nn_matrix in = tape_at(t, x);
  nn_var v = tape_record(t, in.rows, in.cols, &x, 1, softmax_backward, NULL);
  nn_matrix out = tape_at(t, v);
  for (int32_t r = 0; r < out.rows; r++) {
    const nn_real *from = in.value + (int64_t)r * in.cols;
    nn_real *to = out.value + (int64_t)r * in.cols;
    memcpy(to, from, (size_t)in.cols * sizeof *to);
    quick_soften(to, in.cols);
  }
  return v;
}

static void log_softmax_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  const bool *allowed = extra;
  for (int32_t r = 0; in[0].grad && r < out.rows; r++) {
    int64_t first = (int64_t)r * out.cols;
    nn_real sum = 0;
    for (int64_t i = first; i < first + out.cols; i++) sum += !allowed || allowed[i] ? out.grad[i] : 0;
    for (int64_t i = first; i < first + out.cols; i++)
      if (!allowed || allowed[i]) in[0].grad[i] += out.grad[i] - exp(out.value[i]) * sum;
  }
}

nn_var nn_log_softmax(tape *t, nn_var x, const bool *allowed) {
  nn_matrix in = tape_at(t, x);
  nn_var v = tape_record(t, in.rows, in.cols, &x, 1, log_softmax_backward, allowed);
  nn_matrix out = tape_at(t, v);
  for (int32_t r = 0; r < out.rows; r++) {
    int64_t first = (int64_t)r * in.cols, end = first + in.cols;
    nn_real greatest = 0, sum = 0;
    bool any = false;
    for (int64_t i = first; i < end; i++) {
      if (allowed && !allowed[i]) continue;
      greatest = any && greatest >= in.value[i] ? greatest : in.value[i];
      any = true;
    }
    REQUIRE(any);
    for (int64_t i = first; i < end; i++)
      if (!allowed || allowed[i]) sum += exp(in.value[i] - greatest);
    nn_real whole = greatest + log(sum);
    for (int64_t i = first; i < end; i++) out.value[i] = !allowed || allowed[i] ? in.value[i] - whole : 0;
  }
  return v;
}

static void pick_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  const int32_t *column = extra;
  for (int32_t r = 0; in[0].grad && r < out.rows; r++) in[0].grad[(int64_t)r * in[0].cols + column[r]] += out.grad[r];
}

nn_var nn_pick(tape *t, nn_var x, const int32_t *column) {
  nn_matrix in = tape_at(t, x);
  nn_var v = tape_record(t, in.rows, 1, &x, 1, pick_backward, column);
  nn_matrix out = tape_at(t, v);
  for (int32_t r = 0; r < out.rows; r++) {
    REQUIRE(column[r] >= 0 && column[r] < in.cols);
    out.value[r] = in.value[(int64_t)r * in.cols + column[r]];
  }
  return v;
}

/* ---- layer norm ---- */

/* `extra` holds the normalised rows, followed by 1 / deviation of each row. */
static void layer_norm_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  const nn_real *normal = extra, *scale = normal + (int64_t)out.rows * out.cols, *gain = in[1].value;
  for (int32_t r = 0; r < out.rows; r++) {
    const nn_real *x = normal + (int64_t)r * out.cols, *g = out.grad + (int64_t)r * out.cols;
    nn_real mean = 0, inner = 0;
    for (int32_t c = 0; c < out.cols; c++) {
      if (in[1].grad) in[1].grad[c] += g[c] * x[c];
      if (in[2].grad) in[2].grad[c] += g[c];
      mean += g[c] * gain[c];
      inner += g[c] * gain[c] * x[c];
    }
    mean /= (nn_real)out.cols;
    inner /= (nn_real)out.cols;
    if (!in[0].grad) continue;
    nn_real *to = in[0].grad + (int64_t)r * out.cols;
    for (int32_t c = 0; c < out.cols; c++) to[c] += scale[r] * (g[c] * gain[c] - mean - x[c] * inner);
  }
}

nn_var nn_layer_norm(tape *t, nn_var x, nn_var gain, nn_var shift) {
  nn_matrix in = tape_at(t, x), a = tape_at(t, gain), b = tape_at(t, shift);
  nn_real *normal = TAPE_NEW(t, nn_real, (int64_t)in.rows * in.cols + in.rows);
  nn_var v =
      normal ? tape_record(t, in.rows, in.cols, (nn_var[]){x, gain, shift}, 3, layer_norm_backward, normal) : NN_NONE;
  nn_matrix out = tape_at(t, v);
  for (int32_t r = 0; r < out.rows; r++) {
    const nn_real *from = in.value + (int64_t)r * in.cols;
    nn_real *to = out.value + (int64_t)r * in.cols, *kept = normal + (int64_t)r * in.cols, mean = 0, variance = 0;
    for (int32_t c = 0; c < in.cols; c++) mean += from[c];
    mean /= (nn_real)in.cols;
    for (int32_t c = 0; c < in.cols; c++) variance += (from[c] - mean) * (from[c] - mean);
    nn_real scale = 1 / sqrt(variance / (nn_real)in.cols + (nn_real)1e-5);
    normal[(int64_t)in.rows * in.cols + r] = scale;
    for (int32_t c = 0; c < in.cols; c++) {
      kept[c] = (from[c] - mean) * scale;
      to[c] = kept[c] * a.value[c] + b.value[c];
    }
  }
  return v;
}
