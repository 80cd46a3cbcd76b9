/* Quick exponentials in float against those of the C library in double. */
#include <math.h>

#include "../../lab/test.h"
#include "base/rng.h"
#include "nn/quick.h"

enum { N = 300 };

/* The error of found in units of float's last place at the exact value. */
static double places_off(float found, double exact) {
  return fabs((double)found - exact) / (double)(nextafterf((float)exact, INFINITY) - (float)exact);
}

TEST(exp_is_within_two_places) {
  double worst = 0;
  for (int32_t i = -87000; i <= 88000; i++) {
    float x = (float)i / 1000.0f;
    worst = fmax(worst, places_off(quick_exp(x), exp((double)x)));
  }
  assert_true(worst < 2);
  assert_true(quick_exp(0) == 1);
}

TEST(exp_saturates) {
  assert_true(quick_exp(-1e30f) >= 0 && quick_exp(-1e30f) < 1e-37f && quick_exp(-INFINITY) < 1e-37f);
  assert_true(isfinite(quick_exp(1e30f)) && quick_exp(1e30f) > 1e38f && isfinite(quick_exp(INFINITY)));
}

TEST(sigmoid_and_tanh_are_close) {
  for (int32_t i = -30000; i <= 30000; i++) {
    float x = (float)i / 1000.0f;
    assert_true(fabs((double)quick_sigmoid(x) - 1 / (1 + exp(-(double)x))) < 2e-7);
    assert_true(fabs((double)quick_tanh(x) - tanh((double)x)) < 4e-7);
  }
}

TEST(sums_and_greatest_hold_for_all_lengths) {
  rng random = rng_new(5);
  float x[N], y[N];
  for (int32_t n = 1; n <= N; n++) {
    double sum = 0, inner = 0, most = -HUGE_VAL;
    for (int32_t i = 0; i < n; i++) {
      x[i] = (float)(2 * rng_unit(&random) - 1);
      y[i] = (float)(2 * rng_unit(&random) - 1);
      sum += (double)x[i];
      inner += (double)x[i] * (double)y[i];
      most = fmax(most, (double)x[i]);
    }
    assert_true(fabs((double)quick_sum(x, n) - sum) < 1e-5 && fabs((double)quick_inner(x, y, n) - inner) < 1e-5);
    assert_true((double)quick_greatest(x, n) == most);
    quick_soften(x, n);
    assert_true(fabs((double)quick_sum(x, n) - 1) < 1e-5);
  }
}

TEST_MAIN
