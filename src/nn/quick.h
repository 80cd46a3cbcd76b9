/* nn/quick.h - exponentials that a compiler turns into vector code: no call, no branch, no table.
 *
 * In float, exp by 2^n * p(r) with p the polynomial of degree 5 of Cephes (S. L. Moshier, expf), r the rest of x over
 * ln 2 in two parts; within 2 units in the last place on -87 .. 88, and saturating outside. In double they are those of
 * the C library. Sums of rows are taken in eight parts, in an order of their own on every machine. */
#ifndef SITU_NN_QUICK_H
#define SITU_NN_QUICK_H

#include <math.h>
#include <string.h>

#include "nn/gemm.h"

#ifdef NN_DOUBLE
static inline nn_real quick_exp(nn_real x) { return exp(x); }
static inline nn_real quick_tanh(nn_real x) { return tanh(x); }
#else
static inline nn_real quick_exp(nn_real x) {
  const float max = 88.0f, min = -87.0f, magic = 12582912.0f; /* adding 1.5 * 2^23 rounds to a whole number */
  x = x > max ? max : x < min ? min : x;
  float n = (x * 1.44269504088896341f + magic) - magic;
  float r = x - n * 0.693359375f + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  int32_t bits = ((int32_t)n + 127) * (1 << 23);
  float power;
  memcpy(&power, &bits, sizeof power);
  return p * power;
}
static inline nn_real quick_tanh(nn_real x) { return 2 / (1 + quick_exp(-2 * x)) - 1; }
#endif

static inline nn_real quick_sigmoid(nn_real x) { return 1 / (1 + quick_exp(-x)); }

static inline nn_real quick_sum(const nn_real *x, int32_t n) {
  nn_real part[8] = {0};
  int32_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; k++) part[k] += x[i + k];
  for (; i < n; i++) part[0] += x[i];
  return ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]));
}

static inline nn_real quick_inner(const nn_real *x, const nn_real *y, int32_t n) {
  nn_real part[8] = {0};
  int32_t i = 0;
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; k++) part[k] += x[i + k] * y[i + k];
  for (; i < n; i++) part[0] += x[i] * y[i];
  return ((part[0] + part[4]) + (part[1] + part[5])) + ((part[2] + part[6]) + (part[3] + part[7]));
}

static inline nn_real quick_greatest(const nn_real *x, int32_t n) {
  nn_real part[8], max = x[0];
  int32_t i = 0;
  for (int k = 0; k < 8; k++) part[k] = x[0];
  for (; i + 8 <= n; i += 8)
    for (int k = 0; k < 8; k++) part[k] = x[i + k] > part[k] ? x[i + k] : part[k];
  for (int k = 0; k < 8; k++) max = part[k] > max ? part[k] : max;
  for (; i < n; i++) max = x[i] > max ? x[i] : max;
  return max;
}

/* A row of n numbers becomes its softmax. */
static inline void quick_soften(nn_real *restrict to, int32_t n) {
  nn_real max = quick_greatest(to, n);
  for (int32_t i = 0; i < n; i++) to[i] = quick_exp(to[i] - max);
  nn_real by = 1 / quick_sum(to, n);
  for (int32_t i = 0; i < n; i++) to[i] *= by;
}

#endif
