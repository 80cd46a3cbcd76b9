/* The balance bound: never above the optimum, and the published figures. */
#include "../../lab/brute.h"
#include "../../lab/lab.h"
#include "../../lab/test.h"
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
                    .async_copies = rng_below(&r, 2)}};
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

/* One operator takes 30 ns on two devices and 7 on a third, of another class, that has to stay unused. */
static void a_device_that_stays_unused_makes_nothing_smaller(void **state) {
  (void)state;
  lab s = lab_mesh(3, SITU_UNLIMITED_BYTES);
  int32_t a = lab_operator(&s, "a", 30, 0, 0);
  s.time_ns[a][1] = 7;
  bool unused[3] = {false, true, false};
  lab_pose(&s, &(situ_problem_options){.objective = SITU_OBJECTIVE_THROUGHPUT, .unused = unused});
  assert_int_equal(balance_of(s.problem), 30);
  lab_free(&s);
}

/* a and b take 6 ns on the equal devices 0 and 2 and 194 on the host. a is pinned to device 0, which else has to stay
 * unused: with it, work w of the 12 ns moved to the host leaves (12 - w) / 2 on each and puts w * 194 / 6 there; both
 * are equal at w = 6 / (97 / 3 + 1 / 2), which leaves 5.91, rounded up 6. Without device 0 it would be above 11. */
static void a_device_that_only_a_pin_uses_counts(void **state) {
  (void)state;
  lab s = lab_new();
  s.alike = true;
  for (int32_t d = 0; d < 3; d++) lab_device(&s, SITU_UNLIMITED_BYTES, -1, d == 1);
  for (int32_t d = 0; d < 3; d += 2) {
    lab_link(&s, d, 1, 0, -1);
    lab_link(&s, 1, d, 0, -1);
  }
  lab_operator(&s, "a", 6, 0, 0);
  lab_operator(&s, "b", 6, 0, 0);
  s.time_ns[0][1] = s.time_ns[1][1] = 194;
  lab_pose(&s, &(situ_problem_options){.objective = SITU_OBJECTIVE_THROUGHPUT,
                                       .unused = (bool[]){true, false, false},
                                       .pins = (int32_t[]){0, -1}});
  assert_int_equal(balance_of(s.problem), 6);
  lab_free(&s);
}

/* Two operators for the host alone, 2^20 + 10 ns together, and one of 10 ns for the other device alone. At prices of
 * 2^20 and 1 it is (2^20 (2^20 + 10) + 10) / (2^20 + 1), a little above 2^20 + 9, rounded up. */
static void a_fraction_of_a_nanosecond_counts(void **state) {
  (void)state;
  enum { N = 1 << 20 };
  lab s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  lab_operator(&s, "a", N / 2, 0, 0);
  lab_operator(&s, "b", N / 2 + 10, 0, 0);
  lab_operator(&s, "c", 10, 0, 0);
  for (int32_t v = 0; v < 3; v++) s.time_ns[v][v < 2] = SITU_NEVER_NS;
  lab_pose(&s, &(situ_problem_options){.objective = SITU_OBJECTIVE_THROUGHPUT});
  assert_int_equal(balance_of(s.problem), N + 10);
  lab_free(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_device_that_stays_unused_makes_nothing_smaller),
      cmocka_unit_test(the_bound_never_exceeds_the_optimum),
      cmocka_unit_test(a_device_that_only_a_pin_uses_counts),
      cmocka_unit_test(a_fraction_of_a_nanosecond_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
