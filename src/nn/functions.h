/* nn/functions.h - the building blocks of policies. Each maps variables of a tape (nn/tape.h) to a variable; matching
 * shapes are asserted. Arrays of indices and weights are borrowed until the tape is reset. */
#ifndef SITU_NN_FUNCTIONS_H
#define SITU_NN_FUNCTIONS_H

#include "base/rng.h"
#include "nn/tape.h"

/* ---- Element by element ---- */

nn_var nn_add(tape *t, nn_var x, nn_var y);
nn_var nn_multiply(tape *t, nn_var x, nn_var y);
nn_var nn_scale(tape *t, nn_var x, nn_real by);
/* y is one row, added to each row of x, or multiplied with each. */
nn_var nn_add_row(tape *t, nn_var x, nn_var y);
nn_var nn_multiply_row(tape *t, nn_var x, nn_var y);
/* y is one column: row i is multiplied with y[i]. */
nn_var nn_multiply_column(tape *t, nn_var x, nn_var y);
nn_var nn_relu(tape *t, nn_var x);
nn_var nn_sigmoid(tape *t, nn_var x);
nn_var nn_tanh(tape *t, nn_var x);
nn_var nn_exp(tape *t, nn_var x);
/* Each number is 0 with that chance, else divided by 1 - rate. */
nn_var nn_dropout(tape *t, nn_var x, double rate, rng *random);

/* ---- Products ---- */

/* x[n x k] * w[k x m], and the same with the row b[1 x m] added. */
nn_var nn_matmul(tape *t, nn_var x, nn_var w);
nn_var nn_dense(tape *t, nn_var x, nn_var w, nn_var b);
/* x[n x k] * y[m x k] transposed. */
nn_var nn_matmul_transposed(tape *t, nn_var x, nn_var y);

/* ---- Rows ---- */

/* Row i of the result is row index[i] of x: also the embedding of a kind. */
nn_var nn_gather(tape *t, nn_var x, const int32_t *index, int32_t n);
/* x and y side by side. */
nn_var nn_join(tape *t, nn_var x, nn_var y);

/* Segments: segment s has the rows item[start[s]] .. item[start[s + 1] - 1] of x, each times its weight. item NULL:
 * the row numbers themselves; weight NULL: 1. */
typedef struct nn_segments {
  int32_t n;
  const int64_t *start;
  const int32_t *item;
  const nn_real *weight;
} nn_segments;

/* One row for each segment, 0 for an empty one. Maximum: ties go to the first row. The struct is copied. */
nn_var nn_segment_sum(tape *t, nn_var x, const nn_segments *s);
nn_var nn_segment_mean(tape *t, nn_var x, const nn_segments *s);
nn_var nn_segment_greatest(tape *t, nn_var x, const nn_segments *s);
/* The same numbers in the same order as rows x cols. */
nn_var nn_reshape(tape *t, nn_var x, int32_t rows, int32_t cols);
/* The mean of all rows, and the sum of all numbers as 1 x 1. */
nn_var nn_mean_row(tape *t, nn_var x);
nn_var nn_sum(tape *t, nn_var x);

/* ---- Distributions and norms, row by row ---- */

nn_var nn_softmax(tape *t, nn_var x);
/* Logarithms of the softmax over the columns allowed (NULL: all; else rows x cols flags, at least one in each row).
 * Columns that are not allowed are 0 and have no effect. */
nn_var nn_log_softmax(tape *t, nn_var x, const bool *allowed);
/* Column column[i] of each row i, as n x 1. */
nn_var nn_pick(tape *t, nn_var x, const int32_t *column);
/* (x - mean) / sqrt(variance + 1e-5) * gain + shift, each over a row; gain and shift are one row. */
nn_var nn_layer_norm(tape *t, nn_var x, nn_var gain, nn_var shift);

/* ---- Attention and recurrence ---- */

/* Attention of several heads within windows (Dai et al., "Transformer-XL", ACL 2019, without positions): rows are cut
 * into segments of `length`; a row attends to the rows of its own segment and of the one before. q, k, v are n x d, and
 * d is a multiple of n_heads. The previous segment is read from k_before and v_before, which are k and v themselves, or
 * k and v of rows without gradient (nn_still): memory with its gradient stopped, as in that paper. O(n * length *
 * d). */
nn_var nn_attention(tape *t, nn_var q, nn_var k, nn_var v, nn_var k_before, nn_var v_before, int32_t n_heads,
                    int32_t length);
/* x with its gradient stopped: nothing flows back to what made it. */
nn_var nn_still(tape *t, nn_var x);

/* One step of a gated recurrent unit (Cho et al., EMNLP 2014; the reset gate after the product, as in common
 * libraries). x_gates[n x 3h] is the input's part of reset, update and new gate with their biases, h_gates[n x 3h] the
 * state's, h[n x h] the state. */
nn_var nn_gru(tape *t, nn_var x_gates, nn_var h_gates, nn_var h);
/* A whole sequence of such steps, one for each row of x_gates[n x 3h], from the state 0: row i of the result is the
 * state after row i. w[h x 3h] and b[1 x 3h] make the state's part of the gates. backward: from the last row to the
 * first. */
nn_var nn_gru_sequence(tape *t, nn_var x_gates, nn_var w, nn_var b, bool backward);

#endif
