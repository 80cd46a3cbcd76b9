/* The product of matrices by CBLAS, from a library that is loaded with the first product. */
#include <cblas.h>

#include "base/library.h"
#include "base/os.h"
#include "nn/gemm.h"

#ifdef NN_DOUBLE
#define CALLS(CALL) CALL(cblas_, dgemm)
#define GEMM blas.dgemm
#else
#define CALLS(CALL) CALL(cblas_, sgemm)
#define GEMM blas.sgemm
#endif

static struct { CALLS(LIBRARY_POINTER) } blas;
static const char *const names[] = {CALLS(LIBRARY_NAME)};
static lazy_library blas_library = LAZY_LIBRARY(OS_LIBRARY("openblas", ".0"), blas, names);

void nn_gemm(nn_real *c, int32_t c_stride, int32_t rows, int32_t cols, int32_t inner, nn_factor a, nn_factor b,
             nn_real scale, nn_real keep) {
  if (rows == 0 || cols == 0) return;
  if (library_missing(&blas_library)) {
    nn_gemm_plain(c, c_stride, rows, cols, inner, a, b, scale, keep);
    return;
  }
  GEMM(CblasRowMajor, a.transposed ? CblasTrans : CblasNoTrans, b.transposed ? CblasTrans : CblasNoTrans, rows, cols,
       inner, scale, a.at, a.stride, b.at, b.stride, keep, c, c_stride);
}
