/* No BLAS. */
#include "nn/gemm.h"

void nn_gemm(nn_real *c, int32_t c_stride, int32_t rows, int32_t cols, int32_t inner, nn_factor a, nn_factor b,
             nn_real scale, nn_real keep) {
  nn_gemm_plain(c, c_stride, rows, cols, inner, a, b, scale, keep);
}
