/* The product of matrices without a library: right, and some ten times slower. */
#include "nn/gemm.h"

static nn_real at(nn_factor f, int32_t row, int32_t col) {
  return f.transposed ? f.at[(int64_t)col * f.stride + row] : f.at[(int64_t)row * f.stride + col];
}

void nn_gemm_plain(nn_real *c, int32_t c_stride, int32_t rows, int32_t cols, int32_t inner, nn_factor a, nn_factor b,
                   nn_real scale, nn_real keep) {
  for (int32_t i = 0; i < rows; i++) {
    nn_real *row = c + (int64_t)i * c_stride;
    for (int32_t j = 0; j < cols; j++) row[j] = keep == 0 ? 0 : keep * row[j];
    for (int32_t k = 0; k < inner; k++) {
      nn_real x = scale * at(a, i, k);
      for (int32_t j = 0; j < cols; j++) row[j] += x * at(b, k, j);
    }
  }
}
