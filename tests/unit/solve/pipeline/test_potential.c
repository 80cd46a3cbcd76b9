/* Descents at prices of loads and memories: plans whose period is known by arithmetic. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "../../solved.h"
#include "solve/common/solver.h"

/* A host without limit and GPUs with that much memory; operators of 2 x n_each without tensors. The first n_each take
 * 40 ns on the host, the others 20, all of them 10 on a GPU, and each weighs a byte. They are shuffled. */
static lab two_kinds(int32_t n_each, int32_t n_gpus, int64_t gpu_bytes) {
  lab s = lab_new();
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
  for (int32_t d = 0; d < n_gpus; d++) lab_device(&s, gpu_bytes, -1, false);
  lab_star(&s);
  char name[16];
  int32_t n = 2 * n_each;
  for (int32_t v = 0; v < n; v++) {
    snprintf(name, sizeof name, "%d", (int)v);
    lab_operator(&s, name, 10, 1, 0);
    s.time_ns[v][0] = v * 7 % n < n_each ? 40 : 20;
  }
  lab_pose(&s, &(situ_problem_options){.objective = SITU_OBJECTIVE_THROUGHPUT, .free = true});
  return s;
}

/* Half of the operators fit on the GPUs. The host has the other half, of at least 20 ns each: those whose place on a
 * GPU saves least. */
TEST(what_saves_least_stays_out_of_a_memory_that_is_short) {
  for (int32_t n_gpus = 1; n_gpus <= 7; n_gpus += 2) {
    int32_t n_each = 105 * 5;
    OWN(lab) s = two_kinds(n_each, n_gpus, n_each / n_gpus);
    int64_t value_ns = solved_value(s.problem, "potential", 10000, 1, NULL);
    assert_in_range(value_ns, 20 * n_each, 1.01 * 20 * n_each);
  }
}

/* With room for everything the host takes as long as each GPU: with x of the cheap ones on the host, 20 x is
 * 10 (2 n - x) / gpus. */
TEST(loads_are_balanced) {
  for (int32_t n_gpus = 1; n_gpus <= 7; n_gpus++) {
    int32_t n_each = 600;
    OWN(lab) s = two_kinds(n_each, n_gpus, SITU_UNLIMITED_BYTES);
    double best_ns = 20.0 * 10 * 2 * n_each / (20 * n_gpus + 10);
    int64_t value_ns = solved_value(s.problem, "potential", 10000, 1, NULL);
    assert_in_range(value_ns, (int64_t)best_ns, 1.01 * best_ns + 20);
  }
}

/* 1,050 operators are 17 steps a sweep, so that one short descent is paid for. Half of the operators in any order take
 * 30 ns each on the host. */
TEST(few_steps_pay_for_a_short_descent) {
  OWN(lab) s = two_kinds(525, 1, 525);
  int64_t value_ns = solved_value(s.problem, "potential", 17 * 30, 1, NULL);
  assert_in_range(value_ns, 20 * 525, 26 * 525);
  assert_int_equal(solved_value(s.problem, "potential", 17 * 30, 1, NULL), value_ns);
}

TEST_MAIN
