/* nn/gemm.h - matrix products, by a BLAS if there is one.
 *
 * Numbers are nn_real: float, or double if the code is built with NN_DOUBLE (so that tests can compare gradients with
 * finite differences). Matrices are row major; `stride` is the distance between rows, in numbers. */
#ifndef SITU_NN_GEMM_H
#define SITU_NN_GEMM_H

#include <stdbool.h>
#include <stdint.h>

#ifdef NN_DOUBLE
typedef double nn_real;
#else
typedef float nn_real;
#endif

/* A matrix, or its transpose, as a factor. */
typedef struct nn_factor {
  const nn_real *at;
  int32_t stride;
  bool transposed;
} nn_factor;

/* c[rows x cols] = scale * a[rows x inner] * b[inner x cols] + keep * c. The sum over `inner` is in an order that
 * depends on the machine and the BLAS, not on threads or time. */
void nn_gemm(nn_real *c, int32_t c_stride, int32_t rows, int32_t cols, int32_t inner, nn_factor a, nn_factor b,
             nn_real scale, nn_real keep);
/* The same by plain loops: the implementation of nn_gemm without a BLAS. */
void nn_gemm_plain(nn_real *c, int32_t c_stride, int32_t rows, int32_t cols, int32_t inner, nn_factor a, nn_factor b,
                   nn_real scale, nn_real keep);

#endif
