/* The product of matrices by CBLAS. */
#include <cblas.h>

#include "nn/gemm.h"

#ifdef NN_DOUBLE
#define GEMM cblas_dgemm
#else
#define GEMM cblas_sgemm
#endif

void nn_gemm(nn_real *c, int32_t c_stride, int32_t rows, int32_t cols, int32_t inner, nn_factor a, nn_factor b,
             nn_real scale, nn_real keep) {
  if (rows == 0 || cols == 0) return;
  GEMM(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans, b.transposed ? CblasTrans : CblasNoTrans, rows, cols,
       inner, scale, a.at, a.stride, b.at, b.stride, keep, c, c_stride);
}
