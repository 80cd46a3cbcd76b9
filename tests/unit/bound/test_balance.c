/* The balance bound: never above the optimum, and the published figures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../../lab/brute.h"
#include "../../lab/lab.h"
#include "base/rng.h"
#include "bound/bound.h"

extern const bound balance_bound;

static int64_t balance_of(const situ_problem *p) {
  arena *a = arena_new();
  budget b = budget_new(0, 0, NULL, NULL);
  int64_t lower = -1;
  assert_int_equal(balance_bound.compute(&lower, &(certificate){0}, p, a, &b, NULL), SITU_STATUS_OK);
  arena_free(a);
  return lower;
}

static void the_bound_never_exceeds_the_optimum(void **state) {
  (void)state;
  int32_t n_tight = 0, n_feasible = 0;
  for (uint64_t seed = 0; seed < 3000; seed++) {
    rng r = rng_new(seed ^ 0xba1a);
    lab_options o = {
        .seed = seed,
        .n_operators = 1 + (int32_t)rng_below(&r, 6),
        .n_devices = 1 + (int32_t)rng_below(&r, 3),
        .density = rng_unit(&r),
        .n_colocations = (int32_t)rng_below(&r, 3),
        .training = rng_below(&r, 3) == 0,
        .pinned = rng_below(&r, 2),
        .unsupported = rng_below(&r, 2),
        .memory = rng_below(&r, 2) ? 0.6 : 0,
        .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                    .communication = rng_below(&r, 2) ? SITU_COMMUNICATION_LINK : SITU_COMMUNICATION_HOST_STAGED,
                    .free = rng_below(&r, 2),
                    .overlap = rng_below(&r, 2)}};
    if (o.n_operators == 6 && o.training) o.n_operators = 3; /* training doubles them */
    if (o.n_devices < 2) o.n_devices = 2;
    lab l = lab_random(&o);
    int64_t best = brute_force(l.problem, NULL), lower = balance_of(l.problem);
    assert_true(lower >= 0 && lower <= best);
    n_feasible += best != SITU_NEVER_NS;
    n_tight += lower == best;
    lab_free(&l);
  }
  assert_true(n_feasible > 1500 && n_tight > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_bound_never_exceeds_the_optimum),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
