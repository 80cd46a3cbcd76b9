/* The largest part that stays together: never above the optimum, and cases by hand. */
#include "../../lab/brute.h"
#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/test.h"
#include "base/rng.h"
#include "bound/bound.h"

static int64_t largest_of(const situ_problem *p) {
  OWN(arena) *a = arena_new();
  int64_t lower = proved_bound(NULL, &largest_bound, p, a);
  return lower;
}

TEST(the_bound_never_exceeds_the_optimum) {
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
    OWN(lab) l = lab_random(&o);
    int64_t best = brute_force(l.problem, NULL), lower = largest_of(l.problem);
    assert_true(lower >= 0 && lower <= best);
    n_feasible += best != SITU_NEVER_NS;
    n_tight += lower == best;
  }
  assert_true(n_feasible > 1500 && n_tight > 100);
}

/* One operator takes 30 ns on two devices and 7 on a third, of another class, that has to stay unused. */
TEST(a_device_that_stays_unused_makes_nothing_smaller) {
  OWN(lab) s = lab_mesh(3, SITU_UNLIMITED_BYTES);
  int32_t a = lab_operator(&s, "a", 30, 0, 0);
  s.time_ns[a][1] = 7;
  bool unused[3] = {false, true, false};
  lab_pose(&s, &(situ_problem_options){.objective = SITU_OBJECTIVE_THROUGHPUT, .unused = unused});
  assert_int_equal(largest_of(s.problem), 30);
}

/* a and c share a device and b lies between them: of a contiguous pipeline all three stay together, 5 + 7 + 5; else a
 * and c do. Three replicas share 17 ns: 5.67, rounded up. */
TEST(what_stays_together_counts_as_one) {
  static const struct {
    bool free, replicate;
    int64_t expected_ns;
  } cases[] = {{false, false, 17}, {true, false, 10}, {false, true, 6}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    OWN(lab) s = lab_new();
    s.alike = true;
    for (int32_t d = 0; d < 3; d++) lab_device(&s, SITU_UNLIMITED_BYTES, -1, false);
    lab_star(&s);
    static const int64_t times[] = {5, 7, 5};
    for (int32_t v = 0; v < 3; v++) lab_of_phase(&s, NULL, times[v], SITU_PHASE_FORWARD, v == 1 ? -1 : 0);
    lab_tensor(&s, 0, 1, 1, -1);
    lab_tensor(&s, 1, 1, 2, -1);
    lab_pose(&s, &(situ_problem_options){.objective = SITU_OBJECTIVE_THROUGHPUT,
                                         .communication = SITU_COMMUNICATION_HOST_STAGED,
                                         .free = cases[k].free,
                                         .replicate = cases[k].replicate});
    assert_int_equal(largest_of(s.problem), cases[k].expected_ns);
  }
}

TEST_MAIN
