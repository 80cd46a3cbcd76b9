/* base/checked.h - int64 arithmetic on non-negative amounts that saturates instead of overflowing. INT64_MAX is
 * SITU_NEVER_NS and SITU_UNLIMITED_BYTES: once reached, a sum stays there. */
#ifndef SITU_BASE_CHECKED_H
#define SITU_BASE_CHECKED_H

#include <math.h>
#include <stdint.h>

static inline int64_t sat_add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static inline int64_t sat_mul(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* The whole number nearest to x, half up; INT64_MAX when it does not fit. x must not be NaN. */
static inline int64_t sat_round(double x) {
  double rounded = floor(x + 0.5);
  if (rounded >= 9223372036854775807.0) return INT64_MAX;
  if (rounded <= -9223372036854775808.0) return INT64_MIN;
  return (int64_t)rounded;
}

static inline int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

#endif
