/* Functions of nn/functions.h that pick, join and collect rows. */
#include <string.h>

#include "base/contracts.h"
#include "nn/functions.h"

static nn_real *row_of(nn_real *at, int64_t row, int32_t cols) { return at + row * cols; }

static void add_scaled(nn_real *restrict to, const nn_real *restrict from, nn_real by, int64_t n) {
  for (int64_t c = 0; c < n; c++) to[c] += by * from[c];
}

/* ---- gather, join ---- */

static void gather_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  const int32_t *index = extra;
  for (int32_t r = 0; in[0].grad && r < out.rows; r++)
    add_scaled(row_of(in[0].grad, index[r], out.cols), row_of(out.grad, r, out.cols), 1, out.cols);
}

nn_var nn_gather(tape *t, nn_var x, const int32_t *index, int32_t n) {
  nn_matrix in = tape_at(t, x);
  nn_var v = tape_record(t, n, in.cols, &x, 1, gather_backward, index);
  nn_matrix out = tape_at(t, v);
  for (int32_t r = 0; r < out.rows; r++) {
    REQUIRE(index[r] >= 0 && index[r] < in.rows);
    memcpy(row_of(out.value, r, out.cols), row_of(in.value, index[r], in.cols), (size_t)in.cols * sizeof *in.value);
  }
  return v;
}

static void join_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  for (int k = 0, first = 0; k < 2; first += in[k++].cols)
    for (int32_t r = 0; in[k].grad && r < out.rows; r++)
      add_scaled(row_of(in[k].grad, r, in[k].cols), row_of(out.grad, r, out.cols) + first, 1, in[k].cols);
}

nn_var nn_join(tape *t, nn_var x, nn_var y) {
  nn_matrix a = tape_at(t, x), b = tape_at(t, y);
  nn_var v = tape_record(t, a.rows, a.cols + b.cols, (nn_var[]){x, y}, 2, join_backward, NULL);
  nn_matrix out = tape_at(t, v);
  REQUIRE(v == NN_NONE || a.rows == b.rows);
  for (int32_t r = 0; r < out.rows; r++) {
    memcpy(row_of(out.value, r, out.cols), row_of(a.value, r, a.cols), (size_t)a.cols * sizeof *a.value);
    memcpy(row_of(out.value, r, out.cols) + a.cols, row_of(b.value, r, b.cols), (size_t)b.cols * sizeof *b.value);
  }
  return v;
}

/* ---- segments ---- */

typedef struct kept_segments {
  nn_segments by;
  bool mean;
  int32_t *winner; /* of the maximum: [segment * cols] its row, -1 in an empty segment */
} kept_segments;

static int64_t item_of(const nn_segments *s, int64_t i) { return s->item ? s->item[i] : i; }

/* The weight of item i of segment n. */
static nn_real weight_of(const kept_segments *k, int64_t n, int64_t i) {
  nn_real weight = k->by.weight ? k->by.weight[i] : 1;
  return k->mean ? weight / (nn_real)(k->by.start[n + 1] - k->by.start[n]) : weight;
}

static void segment_sum_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  const kept_segments *k = extra;
  if (!in[0].grad) return;
  for (int32_t n = 0; n < out.rows; n++)
    for (int64_t i = k->by.start[n]; i < k->by.start[n + 1]; i++)
      add_scaled(row_of(in[0].grad, item_of(&k->by, i), out.cols), row_of(out.grad, n, out.cols), weight_of(k, n, i),
                 out.cols);
}

static kept_segments *keep(tape *t, const nn_segments *s, bool mean) {
  kept_segments *k = TAPE_NEW(t, kept_segments, 1);
  if (k) *k = (kept_segments){.by = *s, .mean = mean};
  return k;
}

static nn_var collect(tape *t, nn_var x, const nn_segments *s, bool mean) {
  nn_matrix in = tape_at(t, x);
  const kept_segments *k = keep(t, s, mean);
  nn_var v = k ? tape_record(t, s->n, in.cols, &x, 1, segment_sum_backward, k) : NN_NONE;
  nn_matrix out = tape_at(t, v);
  for (int32_t n = 0; n < out.rows; n++) {
    nn_real *to = row_of(out.value, n, out.cols);
    memset(to, 0, (size_t)out.cols * sizeof *to);
    for (int64_t i = s->start[n]; i < s->start[n + 1]; i++)
      add_scaled(to, row_of(in.value, item_of(s, i), in.cols), weight_of(k, n, i), out.cols);
  }
  return v;
}

nn_var nn_segment_sum(tape *t, nn_var x, const nn_segments *s) { return collect(t, x, s, false); }
nn_var nn_segment_mean(tape *t, nn_var x, const nn_segments *s) { return collect(t, x, s, true); }

static void greatest_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  const kept_segments *k = extra;
  if (!in[0].grad) return;
  for (int32_t n = 0; n < out.rows; n++)
    for (int64_t at = (int64_t)n * out.cols, c = 0; c < out.cols; c++, at++)
      if (k->winner[at] >= 0) row_of(in[0].grad, k->winner[at], out.cols)[c] += out.grad[at];
}

nn_var nn_segment_greatest(tape *t, nn_var x, const nn_segments *s) {
  nn_matrix in = tape_at(t, x);
  kept_segments *k = keep(t, s, false);
  REQUIRE(!s->weight);
  if (!k || !(k->winner = TAPE_NEW(t, int32_t, (int64_t)s->n * in.cols))) return NN_NONE;
  nn_var v = tape_record(t, s->n, in.cols, &x, 1, greatest_backward, k);
  nn_matrix out = tape_at(t, v);
  for (int32_t n = 0; n < out.rows; n++) {
    nn_real *to = row_of(out.value, n, out.cols);
    int32_t *winner = k->winner + (int64_t)n * out.cols;
    for (int32_t c = 0; c < out.cols; c++) {
      to[c] = 0;
      winner[c] = -1;
    }
    for (int64_t i = s->start[n]; i < s->start[n + 1]; i++) {
      int32_t item = (int32_t)item_of(s, i);
      const nn_real *from = row_of(in.value, item, in.cols);
      for (int32_t c = 0; c < out.cols; c++) {
        bool more = winner[c] < 0 || from[c] > to[c];
        to[c] = more ? from[c] : to[c];
        winner[c] = more ? item : winner[c];
      }
    }
  }
  return v;
}

static void reshape_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  if (in[0].grad) add_scaled(in[0].grad, out.grad, 1, out.rows * (int64_t)out.cols);
}

nn_var nn_reshape(tape *t, nn_var x, int32_t rows, int32_t cols) {
  nn_matrix in = tape_at(t, x);
  nn_var v = tape_record(t, rows, cols, &x, 1, reshape_backward, NULL);
  nn_matrix out = tape_at(t, v);
  REQUIRE(v == NN_NONE || (int64_t)in.rows * in.cols == (int64_t)rows * cols);
  if (v != NN_NONE) memcpy(out.value, in.value, (size_t)rows * (size_t)cols * sizeof *out.value);
  return v;
}

nn_var nn_mean_row(tape *t, nn_var x) {
  int64_t *start = TAPE_NEW(t, int64_t, 2);
  if (!start) return NN_NONE;
  start[0] = 0;
  start[1] = tape_at(t, x).rows;
  return nn_segment_mean(t, x, &(nn_segments){.n = 1, .start = start});
}

static void sum_backward(tape *t, nn_matrix out, const nn_matrix *in, const void *extra) {
  for (int64_t i = 0; in[0].grad && i < (int64_t)in[0].rows * in[0].cols; i++) in[0].grad[i] += out.grad[0];
}

nn_var nn_sum(tape *t, nn_var x) {
  nn_matrix in = tape_at(t, x);
  nn_var v = tape_record(t, 1, 1, &x, 1, sum_backward, NULL);
  double total = 0; /* of many numbers of one size */
  for (int64_t i = 0; i < (int64_t)in.rows * in.cols; i++) total += (double)in.value[i];
  if (v != NN_NONE) tape_at(t, v).value[0] = (nn_real)total;
  return v;
}
