/* The linear relaxation of streams: what it proves by hand, against brute force, and before the judge of certificates.
 */
#include "../../lab/brute.h"
#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/rng.h"
#include "bound/bound.h"
#include "bound/latency_program.h"
#include "bound/linear_relaxation.h"
#include "check/judge.h"
#include "lp/lp.h"
#include "situ/plan.h"
#include "situ/solve.h"

static int64_t find(const situ_problem *p, int64_t known_ns, certificate *proof, arena *a) {
  budget unlimited = budget_new(0, 0, NULL, NULL);
  int64_t lower_ns = -1;
  memset(proof, 0, sizeof *proof);
  assert_true(linear_relaxation_find(&lower_ns, proof, p, known_ns, 100000, a, &unlimited));
  return lower_ns;
}

/* Ten tasks, three unlike processors, optimum 73 [Topcuoglu et al. 2002 have 80 by HEFT]: the critical path alone
 * proves 54 or so; rows (6) make the program no weaker. */
TEST(it_is_no_weaker_than_critical_path_and_area) {
  if (lp_missing()) skip();
  OWN(lab) l = lab_topcuoglu();
  OWN(arena) *a = arena_new();
  certificate proof;
  int64_t found = find(l.problem, SITU_NEVER_NS, &proof, a);
  for (int32_t i = 0; bounds[i]; i++) {
    if (strcmp(bounds[i]->name, "critical_path") != 0 && strcmp(bounds[i]->name, "area_price") != 0) continue;
    assert_true(found >= proved_bound(NULL, bounds[i], l.problem, a) - 1); /* prices are rounded */
  }
  assert_true(found <= 80);
}

/* a and b, 10 ns on the first device and 35 on the second, each before another, 10 ns on the first alone. In 40 ns
 * neither is on the second, where it takes 35 + 10, so that the first has 40 ns to do. In 45 ns parts of them may be:
 * for f operators there the first takes 40 - 10 f and the second 35 f, so 31.1 ns, as do 20 + 25 f / 2 of each pair. */
TEST(what_takes_longer_than_the_known_plan_is_left_out) {
  if (lp_missing()) skip();
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int i = 0; i < 2; i++) {
    int32_t first = lab_operator(&s, NULL, 10, 0, 0), then = lab_operator(&s, NULL, 10, 0, 0);
    s.time_ns[first][1] = 35;
    s.time_ns[then][1] = SITU_NEVER_NS;
    lab_tensor(&s, first, 0, then, -1);
  }
  lab_pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM});
  certificate proof;
  assert_int_equal(find(s.problem, 41, &proof, s.arena), 40);
  assert_true(proved_claim(s.problem, &proof));
  assert_int_equal(find(s.problem, 46, &proof, s.arena), 32);
}

static lab draw(uint64_t seed) {
  rng r = rng_new(seed);
  lab_options o = {.seed = seed,
                   .n_operators = (int32_t)(2 + rng_below(&r, 5)),
                   .n_devices = (int32_t)(2 + rng_below(&r, 2)),
                   .density = 0.1 + 0.6 * rng_unit(&r),
                   .n_colocations = (int32_t)rng_below(&r, 3),
                   .pinned = rng_below(&r, 4) == 0,
                   .unsupported = rng_below(&r, 3) == 0,
                   .memory = rng_below(&r, 2) ? 0.2 + rng_unit(&r) : 0,
                   .options = {.execution = SITU_EXECUTION_STREAM,
                               .contention = rng_below(&r, 2) ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE}};
  return lab_random(&o);
}

/* Some plan that claims the bound: the checker must see it proved, whatever the plan. */
static void expect_verified(const situ_problem *p, const int32_t *device, const certificate *proof, uint64_t seed) {
  OWN(situ_plan) *plan = NULL;
  OWN(situ_verdict) *verdict = NULL;
  assert_int_equal(situ_simulate(&plan, p, device, NULL, NULL), SITU_STATUS_OK);
  assert_true(certificate_copy(&plan->proof, proof, plan->arena));
  plan->proof.bound = plan->bound = "linear_relaxation";
  plan->lower_bound_ns = proof->lower_ns;
  assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
  if (verdict->verified_ns != proof->lower_ns)
    fail_msg("seed %llu: %lld of %lld ns verified", (unsigned long long)seed, (long long)verdict->verified_ns,
             (long long)proof->lower_ns);
}

TEST(it_proves_no_more_than_is_true_and_the_judge_agrees) {
  if (lp_missing()) skip();
  int32_t n_proved = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(1500); seed++) {
    OWN(lab) l = draw(seed);
    OWN(arena) *a = arena_new();
    int32_t device[8];
    int64_t optimum = l.problem->conflict ? SITU_NEVER_NS : brute_force(l.problem, device);
    for (int32_t known = 0; known < 2 && optimum != SITU_NEVER_NS; known++) {
      certificate proof;
      int64_t found = find(l.problem, known ? optimum : SITU_NEVER_NS, &proof, a);
      if (found > optimum)
        fail_msg("seed %llu: %lld proved, %lld possible", (unsigned long long)seed, (long long)found,
                 (long long)optimum);
      if (found == 0) continue;
      n_proved++;
      assert_int_equal(proof.lower_ns, found);
      expect_verified(l.problem, device, &proof, seed);
    }
  }
  assert_true(n_proved > rounds_of(1500));
}

/* 2^42 ns of work are served, one more are not; nor is nothing. */
TEST(times_are_moderate) {
  for (int64_t more = 0; more < 2; more++) {
    OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
    lab_operator(&s, "a", ((int64_t)1 << 42) + more, 0, 0);
    lab_pose(&s, NULL);
    situ_problem none = *s.problem;
    none.n_operators = 0;
    assert_int_equal(latency_program_fits(s.problem, INT64_MAX), more == 0);
    assert_false(latency_program_fits(&none, INT64_MAX));
  }
}

/* Rooms count for weights of 2^48 bytes in all, and not for more: sums of prices of bytes would overflow. Nor do they
 * where everything fits. */
TEST(weights_are_moderate) {
  for (int32_t k = 0; k < 3; k++) {
    int64_t half = (int64_t)1 << 47;
    OWN(lab) s = lab_mesh(2, k == 2 ? 2 * half : half);
    lab_operator(&s, "a", 1, half, 0);
    lab_operator(&s, "b", 1, half + (k == 1), 0);
    lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
    latency_program about;
    program q = program_new(s.arena);
    assert_true(latency_program_write(&about, &q, s.problem, 1000, false, s.arena));
    assert_int_equal(about.room_row[1] >= 0, k == 0);
  }
}

/* What is written is about as large as said, of any number of devices and uses: rows (2) and (3) leave out what is 0,
 * and rows (1), (7) and (8) are not counted, which a tenth more and a third less make up for. */
TEST(a_program_is_no_larger_than_said) {
  for (uint64_t seed = 1; seed <= 60; seed++) {
    OWN(lab)
    l = lab_random(&(lab_options){.seed = seed + 9000,
                                  .n_operators = 4 + (int32_t)(seed % 5),
                                  .n_devices = 2 + (int32_t)(seed % 7),
                                  .density = 0.3 + 0.1 * (double)(seed % 5),
                                  .equal = seed % 2,
                                  .options = {.execution = SITU_EXECUTION_STREAM}});
    OWN(arena) *a = arena_new();
    latency_program about;
    program q = program_new(a);
    assert_true(latency_program_write(&about, &q, l.problem, (int64_t)1 << 30, false, a));
    assert_false(latency_program_fits(l.problem, q.n_entries * 9 / 10));
    assert_true(latency_program_fits(l.problem, q.n_entries * 3 / 2));
  }
}

TEST_MAIN
