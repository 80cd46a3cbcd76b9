/* Laws of the optimum of contiguous pipelines, which ideal_dp and chain_search prove: numbers do not matter; more
 * memory, faster links, leave to have replicas and leave to overlap never hurt; the schedule GPipe is never better than
 * 1F1B. */
#include "../lab/lab.h"
#include "../lab/relabel.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "base/rng.h"
#include "plan/plan.h"
#include "situ/solve.h"

enum { N_SEEDS = 250 };

static lab_options draw(uint64_t seed) {
  rng r = rng_new(seed);
  bool links = rng_below(&r, 3) == 0; /* smaller: a search */
  return (lab_options){.seed = seed,
                       .n_operators = links ? 3 + (int32_t)rng_below(&r, 6) : 6 + (int32_t)rng_below(&r, 8),
                       .n_devices = 3 + (int32_t)rng_below(&r, 3),
                       .density = 0.1 + 0.3 * rng_unit(&r),
                       .n_colocations = (int32_t)rng_below(&r, 3),
                       .training = rng_below(&r, 2),
                       .pinned = rng_below(&r, 4) == 0,
                       .equal = rng_below(&r, 4) > 0,
                       .memory = rng_below(&r, 2) ? 0.3 + rng_unit(&r) / 2 : 0,
                       .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                                   .communication = links ? SITU_COMMUNICATION_LINK : SITU_COMMUNICATION_HOST_STAGED,
                                   .async_copies = rng_below(&r, 3) == 0,
                                   .replicate = rng_below(&r, 2) && !links,
                                   .schedule = rng_below(&r, 2) ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B}};
}

/* The optimum that a solver proves, SITU_NEVER_NS where there is no plan; -1 where it does not serve. */
static int64_t optimum_by(const char *solver, const situ_problem *p) {
  situ_plan *plan;
  situ_solve_options with = {.size = sizeof(situ_solve_options), .solvers = solver};
  if (!situ_solver_serves(solver, p) || p->conflict) return -1;
  assert_int_equal(situ_solve(&plan, p, &with, NULL), SITU_STATUS_OK);
  situ_outcome outcome = plan->outcome;
  assert_true(outcome == SITU_OUTCOME_OPTIMAL || outcome == SITU_OUTCOME_INFEASIBLE);
  int64_t value = plan->value_ns;
  situ_plan_free(plan);
  return value;
}

static int64_t optimum(const situ_problem *p) {
  return optimum_by(p->communication == SITU_COMMUNICATION_LINK ? "chain_search" : "ideal_dp", p);
}

static int64_t optimum_of(const lab_options *o) {
  OWN(lab) l = lab_random(o);
  int64_t value = optimum(l.problem);
  return value;
}

TEST(two_exact_solvers_agree) {
  int32_t n_both = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(N_SEEDS); seed++) {
    lab_options o = draw(seed);
    o.options.communication = SITU_COMMUNICATION_HOST_STAGED;
    o.options.replicate = false;
    o.n_operators = 5 + (int32_t)(seed % 5);
    OWN(lab) l = lab_random(&o);
    int64_t one = optimum_by("ideal_dp", l.problem), other = optimum_by("chain_search", l.problem);
    if (one >= 0) assert_int_equal(one, other);
    n_both += one >= 0;
  }
  assert_true(n_both > rounds_of(N_SEEDS / 2));
}

TEST(the_optimum_does_not_depend_on_numbers) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(N_SEEDS); seed++) {
    lab_options o = draw(seed);
    lab l = lab_random(&o), again = relabel(&l, &o.options, seed + 1);
    assert_int_equal(optimum(l.problem), optimum(again.problem));
    relabel_free(&again);
    lab_free(&l);
  }
}

/* Calls `change` on each draw; the optimum may not rise. */
static void never_hurts(void (*change)(lab_options *o)) {
  int32_t n_better = 0, n_equal = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(N_SEEDS); seed++) {
    lab_options o = draw(seed);
    int64_t before = optimum_of(&o);
    change(&o);
    int64_t after = optimum_of(&o);
    if (before < 0) continue;
    if (after < 0 || after > before)
      fail_msg("seed %d: %lld, then %lld", (int)seed, (long long)before, (long long)after);
    ++*(after < before ? &n_better : &n_equal);
  }
  print_message("%d better, %d equal\n", n_better, n_equal);
  assert_true(n_better > 0 && n_equal > 0);
}

static void give_memory(lab_options *o) { o->memory *= 1.3; }
static void let_replicate(lab_options *o) {
  o->options.replicate = o->options.communication == SITU_COMMUNICATION_HOST_STAGED;
}
static void let_overlap(lab_options *o) { o->options.async_copies = true; }
static void mix_passes(lab_options *o) { o->options.schedule = SITU_SCHEDULE_1F1B; }

TEST(more_memory_never_hurts) { never_hurts(give_memory); }

TEST(leave_to_have_replicas_never_hurts) { never_hurts(let_replicate); }

TEST(overlap_never_hurts) { never_hurts(let_overlap); }

TEST(gpipe_is_never_better_than_1f1b) { never_hurts(mix_passes); }

TEST(faster_links_never_hurt) {
  int32_t n_better = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(N_SEEDS); seed++) {
    lab_options o = draw(seed);
    OWN(lab) l = lab_random(&o);
    int64_t before = optimum(l.problem);
    for (int64_t i = 0; i < (int64_t)l.costs->n_rows * l.costs->n_kinds; i++) l.costs->transfer_rows[i] /= 2;
    costs_find_extremes(l.costs);
    int64_t after = optimum(l.problem);
    assert_true(after <= before);
    n_better += after < before;
  }
  assert_true(n_better > rounds_of(N_SEEDS / 10));
}

TEST_MAIN
