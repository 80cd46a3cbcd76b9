/* Replicas: the rules as the solvers see them and as the judge does; the simulator's plans with replicas pass the
 * judge. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "base/rng.h"
#include "check/judge.h"
#include "sim/simulate.h"
#include "situ/solve.h"
#include "view/replicas.h"

static lab draw(uint64_t seed, rng *r) {
  lab_options o = {.seed = seed,
                   .n_operators = 2 + (int32_t)rng_below(r, 8),
                   .n_devices = 3 + (int32_t)rng_below(r, 4),
                   .density = 0.4,
                   .ways_differ = seed % 3 == 1,
                   .host_last = seed % 4 == 1,
                   .training = rng_below(r, 2),
                   .pinned = rng_below(r, 3) == 0,
                   .pools = seed % 5 == 0,
                   .equal = rng_below(r, 4) > 0,
                   .options = {.objective = SITU_OBJECTIVE_THROUGHPUT, .free = true, .replicate = rng_below(r, 8) > 0}};
  o.options.communication = rng_below(r, 2) ? SITU_COMMUNICATION_LINK : SITU_COMMUNICATION_HOST_STAGED;
  o.options.schedule = rng_below(r, 2) ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B;
  o.options.async_copies = rng_below(r, 3) == 0;
  return lab_random(&o);
}

static bool judged_good(const situ_plan *plan, uint64_t seed) {
  OWN(situ_verdict) *verdict = NULL;
  bool good = true;
  assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
  for (int32_t i = 0; i < verdict->n_kept; i++) {
    situ_violation v = situ_verdict_violation(verdict, i);
    bool replicas = strcmp(v.rule, "replication") == 0;
    good &= !replicas;
    bool of_the_draw = strcmp(v.rule, "pin") == 0 || strcmp(v.rule, "unused") == 0 || strcmp(v.rule, "memory") == 0 ||
                       strcmp(v.rule, "colocation") == 0 || strcmp(v.rule, "single") == 0 ||
                       strcmp(v.rule, "conflict") == 0;
    if (!replicas && !of_the_draw && good) fail_msg("seed %d: %s: %s", (int)seed, v.rule, v.text);
  }
  return good;
}

/* Rules of replicas apart, only what the draw does not look at may be broken: value, loads and memory of the simulator
 * are those of the judge. */
TEST(simulator_rules_and_judge_agree) {
  int32_t n_good = 0, n_bad = 0;
  for (uint64_t seed = 1; seed <= 3000; seed++) {
    rng r = rng_new(seed);
    OWN(lab) l = draw(seed, &r);
    const situ_problem *p = l.problem;
    OWN(arena) *a = arena_new();
    simulator *s = simulator_new(p, a);
    int32_t device[16], replica_of[8];
    for (int32_t v = 0; v < p->n_operators; v++) {
      device[v] = (int32_t)rng_below(&r, 1 + rng_below(&r, p->n_devices));
      if (p->pin[v] >= 0 && rng_below(&r, 2)) device[v] = p->pin[v];
    }
    for (int32_t d = 0; d < p->n_devices; d++) replica_of[d] = -1;
    for (int32_t d = 1; d < p->n_devices; d++) {
      int32_t of = (int32_t)rng_below(&r, d);
      if (rng_below(&r, 3) == 0 || replica_of[of] >= 0) continue;
      replica_of[d] = of;
      bool careful = rng_below(&r, 4) > 0;
      if (careful && !replicas_keep_rules(p, device, replica_of)) replica_of[d] = -1;
    }
    OWN(situ_plan) *plan = NULL;
    placement where = {.device = device, .replica_of = replica_of};
    assert_int_equal(simulator_plan(&plan, s, &where, NULL), SITU_STATUS_OK);
    bool good = judged_good(plan, seed);
    if (good != replicas_keep_rules(p, device, replica_of)) fail_msg("seed %d: the judge says %d", (int)seed, good);
    bool any = false;
    for (int32_t d = 0; d < p->n_devices; d++) any |= replica_of[d] >= 0;
    n_good += good && any;
    n_bad += !good;
  }
  print_message("%d plans keep the rules of replicas, %d do not\n", n_good, n_bad);
  assert_true(n_good > 100 && n_bad > 100);
}

TEST(leaders_that_do_not_exist_are_refused) {
  rng r = rng_new(1);
  OWN(lab) l = draw(1, &r);
  OWN(arena) *a = arena_new();
  simulator *s = simulator_new(l.problem, a);
  int32_t device[16] = {0}, replica_of[8] = {-1, -1, 9, -1, -1, -1, -1, -1};
  situ_plan *plan;
  placement where = {.device = device, .replica_of = replica_of};
  assert_int_equal(simulator_plan(&plan, s, &where, NULL), SITU_STATUS_BAD_ARGUMENT);
  replica_of[2] = 2;
  assert_int_equal(simulator_plan(&plan, s, &where, NULL), SITU_STATUS_BAD_ARGUMENT);
  replica_of[2] = 1;
  replica_of[1] = 0;
  assert_int_equal(simulator_plan(&plan, s, &where, NULL), SITU_STATUS_BAD_ARGUMENT);
}

/* Two accelerators of one class share an operator of 10 ns, though one of them shares its capacity with the host: 5 ns.
 * Solver, bound and judge agree. Where the capacity holds the weights of 6 bytes once only, no solver looks for
 * replicas; 5 ns are still a plan if one of the two has a memory apart, and nothing above is proved; else 10 ns are the
 * best. */
TEST(a_shared_capacity_does_not_keep_devices_from_sharing_a_part) {
  for (int k = 0; k < 3; k++) {
    OWN(lab) s = lab_new();
    situ_problem_options o = SITU_PROBLEM_OPTIONS_INIT;
    OWN(situ_plan) *plan = NULL;
    OWN(situ_verdict) *verdict = NULL;
    int64_t bytes = k == 0 ? SITU_UNLIMITED_BYTES : 11;
    o.objective = SITU_OBJECTIVE_THROUGHPUT;
    o.replicate = true;
    lab_device(&s, bytes, -1, true);
    for (int32_t d = 1; d < 3; d++) {
      bool pooled = d == 1 || k == 2;
      lab_device(&s, bytes, pooled ? 0 : -1, false);
      s.devices[d].separate_address_space = pooled;
      lab_link(&s, 0, d, 0, -1);
      lab_link(&s, d, 0, 0, -1);
    }
    s.alike = true;
    int32_t v = lab_operator(&s, "a", 10, 6, 0);
    s.time_ns[v][0] = 100;
    lab_pose(&s, &o);
    situ_solve_options how = SITU_SOLVE_OPTIONS_INIT;
    how.max_steps = 100;
    assert_int_equal(situ_solve(&plan, s.problem, &how, NULL), SITU_STATUS_OK);
    int64_t best = k == 2 ? 10 : 5;
    assert_true(plan->lower_bound_ns <= best && plan->value_ns >= best);
    if (k == 0) assert_int_equal(plan->outcome, SITU_OUTCOME_OPTIMAL);
    assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
    assert_int_equal(verdict->n_found, 0);
  }
}

TEST_MAIN
