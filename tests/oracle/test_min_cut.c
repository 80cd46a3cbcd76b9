/* Streams with overlap none against brute force: the cut is the optimum between two memories, the bound meets it, and
 * the optimum hands over no more often where that costs more. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/proved.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "base/checked.h"
#include "bound/bound.h"
#include "situ/solve.h"

static lab draw(uint64_t seed, int32_t n_devices, double memory) {
  lab_options o = {.seed = seed,
                   .n_operators = 3 + (int32_t)(seed % 4),
                   .n_devices = n_devices,
                   .density = 0.15 + 0.1 * (double)(seed % 6),
                   .n_colocations = (int32_t)(seed % 2),
                   .pinned = seed % 3 == 0,
                   .unsupported = seed % 5 == 0,
                   .memory = memory,
                   .options = {.execution = SITU_EXECUTION_STREAM, .overlap = SITU_OVERLAP_NONE}};
  return lab_random(&o);
}

static situ_plan *solved(const lab *l, const char *solver) {
  situ_plan *plan;
  situ_error error;
  situ_solve_options with = {.size = sizeof(situ_solve_options), .solvers = solver};
  assert_int_equal(situ_solve(&plan, l->problem, &with, &error), SITU_STATUS_OK);
  return plan;
}

TEST(with_two_memories_the_cut_is_the_optimum) {
  int32_t crossing = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(2000); seed++) {
    OWN(lab) l = draw(seed, 2, 0);
    int64_t optimum = brute_force(l.problem, NULL);
    OWN(situ_plan) *plan = solved(&l, "min_cut");
    if (!l.problem->conflict && optimum != SITU_NEVER_NS &&
        (plan->value_ns != optimum || plan->lower_bound_ns != optimum))
      fail_msg("seed %d: the optimum is %lld; found %lld, bound %lld", (int)seed, (long long)optimum,
               (long long)plan->value_ns, (long long)plan->lower_bound_ns);
    crossing += plan->n_transfers > 0;
  }
  assert_true(crossing * 10 > rounds_of(2000)); /* or the problems are too tame */
}

/* More memories, too little room: nothing is better than the optimum, whatever proves it, and the cut is near it. */
TEST(no_bound_is_above_the_optimum) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(1200); seed++) {
    OWN(lab) l = draw(seed, 3, seed % 3 ? 0.3 + 0.1 * (double)(seed % 7) : 0);
    OWN(arena) *a = arena_new();
    int64_t optimum = brute_force(l.problem, NULL), lower_ns = proved_bound(NULL, &memory_cut_bound, l.problem, a);
    if (!l.problem->conflict && lower_ns > optimum)
      fail_msg("seed %d: the optimum is %lld; bound %lld", (int)seed, (long long)optimum, (long long)lower_ns);
    OWN(situ_plan) *plan = solved(&l, "min_cut");
    if (!l.problem->conflict && plan->value_ns < optimum) fail_msg("seed %d: better than all", (int)seed);
  }
}

/* Two operators of 60 bytes take 10 ms on the host, 1 ms on an accelerator of 100 bytes. With y ms for a byte there,
 * value >= 2 min(10, 1 + 60 y) - 100 y, which is 2 + 20 y up to y = 9/60 and falls behind: 5 ms, where cuts without a
 * price prove 2. Bisection ends within a part in 4096 of that y. */
TEST(a_byte_has_its_price) {
  enum { MS = 1000000 };
  static const situ_problem_options serial = {
      .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .overlap = SITU_OVERLAP_NONE};
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  s.devices[1].memory_bytes = 100;
  for (int32_t v = 0; v < 2; v++) {
    lab_operator(&s, NULL, 10 * MS, 60, 0);
    s.time_ns[v][1] = MS;
  }
  lab_pose(&s, &serial);
  int64_t lower_ns = proved_bound(NULL, &memory_cut_bound, s.problem, s.arena);
  assert_true(lower_ns > 499 * MS / 100 && lower_ns <= 5 * MS);
}

/* If C + lambda n is least at lambda and at a larger lambda', with n and n' hand-overs, then n' <= n. Each hand-over is
 * one hop here, and its latency is what grows. */
TEST(hand_overs_never_grow_with_their_price) {
  int32_t fewer = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(400); seed++) {
    int32_t before = INT32_MAX;
    for (int64_t price_ns = 0; price_ns <= 24; price_ns += 3) {
      OWN(lab) l = draw(seed, 2, 0);
      int32_t rows = l.costs->n_rows, kinds = l.costs->n_kinds;
      for (int32_t r = 0; r < rows; r++)
        for (int32_t k = 1; k < kinds; k++) l.costs->transfer_rows[(int64_t)r * kinds + k] += price_ns;
      costs_find_extremes(l.costs);
      if (!l.problem->conflict) {
        OWN(situ_plan) *plan = solved(&l, "min_cut");
        int32_t n = plan->n_transfers;
        assert_int_equal(plan->value_ns, brute_force(l.problem, NULL));
        if (n > before)
          fail_msg("seed %d: %d hand-overs at %d ns more, %d before", (int)seed, n, (int)price_ns, before);
        fewer += n < before && before < INT32_MAX;
        before = n;
      }
    }
  }
  assert_true(fewer * 5 > rounds_of(400));
}

TEST_MAIN
