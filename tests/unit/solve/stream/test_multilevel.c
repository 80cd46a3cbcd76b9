/* Coarse units, and the search that moves them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../../../lab/lab.h"
#include "../../../lab/tier.h"
#include "base/rng.h"
#include "situ/instance.h"
#include "solve/common/solver.h"
#include "solve/stream/coarse_units.h"

typedef struct coarse {
  lab l;
  arena *a;
  rank_costs costs;
  coarse_rules rules;
  unit_list units;
} coarse;

static coarse coarse_of(uint64_t seed) {
  rng r = rng_new(seed);
  coarse c = {.a = arena_new()};
  c.l = lab_random(&(lab_options){.seed = seed,
                                  .n_operators = 10 + (int32_t)rng_below(&r, 50),
                                  .n_devices = 2 + (int32_t)rng_below(&r, 3),
                                  .density = 0.1,
                                  .n_colocations = (int32_t)rng_below(&r, 4),
                                  .training = seed % 3 == 0,
                                  .pinned = seed % 2 == 0,
                                  .unsupported = seed % 5 == 0});
  assert_true(rank_costs_find(&c.costs, c.a, c.l.problem, RANK_MEAN));
  c.rules = (coarse_rules){10 + rng_unit(&r) * 100, rng_below(&r, 1000000)};
  assert_true(coarse_units_find(&c.units, c.l.problem, &c.l.problem->units, &c.costs, &c.rules, c.a));
  return c;
}

static void coarse_free(coarse *c) {
  arena_free(c->a);
  lab_free(&c->l);
}

static void coarse_units_are_unions_of_units_within_their_limits(void **state) {
  (void)state;
  int32_t joined = 0;
  for (uint64_t seed = 0; seed < (uint64_t)rounds_of(1000); seed++) {
    coarse c = coarse_of(seed);
    const situ_problem *p = c.l.problem;
    const situ_graph *g = p->graph;
    assert_null(unit_list_check(&c.units, p->n_operators));
    for (int32_t v = 0; v < p->n_operators; v++)
      for (int32_t w = 0; w < v; w++)
        if (p->units.of[v] == p->units.of[w]) assert_int_equal(c.units.of[v], c.units.of[w]);
    for (int32_t u = 0; u < c.units.n; u++) {
      unit_members m = unit_list_members(&c.units, u);
      bool one = true;
      double work = 0;
      int64_t bytes = 0;
      for (int32_t k = 0; k < m.n; k++) {
        one &= p->units.of[m.member[k]] == p->units.of[m.member[0]];
        work += c.costs.work[m.member[k]];
        bytes += g->weight_bytes[m.member[k]];
        for (int32_t t = g->out_start[m.member[k]]; t < g->out_start[m.member[k] + 1]; t++) bytes += g->size_bytes[t];
      }
      if (one) continue;
      joined++;
      assert_true(work <= c.rules.max_work_ns + 1e-6 && bytes <= c.rules.max_bytes);
      for (int32_t k = 0; k < m.n; k++) {
        assert_int_equal(p->pin[m.member[k]], -1);
        for (int32_t d = 0; d < p->n_devices; d++)
          assert_int_equal(problem_time_ns(p, m.member[k], d) == SITU_NEVER_NS,
                           problem_time_ns(p, m.member[0], d) == SITU_NEVER_NS);
      }
    }
    coarse_free(&c);
  }
  assert_true(joined > 10);
}

/* What is allowed stays so, and a coarse unit ends on one device. */
static void a_plan_that_is_gathered_keeps_all_constraints(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < (uint64_t)rounds_of(1000); seed++) {
    coarse c = coarse_of(seed);
    const situ_problem *p = c.l.problem;
    rng r = rng_new(seed);
    int32_t *device = ARENA_NEW(c.a, int32_t, p->n_operators);
    double *scratch = ARENA_NEW(c.a, double, p->n_devices);
    bool allowed = !p->conflict;
    for (int32_t u = 0; u < p->units.n; u++) {
      unit_members m = unit_list_members(&p->units, u);
      int32_t d = (int32_t)rng_below(&r, p->n_devices), tries = 0;
      for (; tries < p->n_devices && !problem_allows_all(p, m, d); tries++) d = (d + 1) % p->n_devices;
      allowed &= tries < p->n_devices;
      for (int32_t k = 0; k < m.n; k++) device[m.member[k]] = d;
    }
    coarse_units_gather(device, p, &c.units, &c.costs, scratch);
    for (int32_t v = 0; v < p->n_operators; v++)
      assert_int_equal(device[v], device[unit_list_members(&c.units, c.units.of[v]).member[0]]);
    if (allowed) assert_true(solve_allows(p, device));
    coarse_free(&c);
  }
}

static int64_t value_by(const char *name, const char *rule) {
  situ_instance_options o = {.size = sizeof o,
                             .model = "builtin:layered?operators=12000",
                             .platform = "cpu+2*v100-16g",
                             .rules = (const char *const[]){rule},
                             .n_rules = 1};
  situ_solve_options solve = {.size = sizeof solve, .solvers = name, .max_steps = 100, .no_bounds = true};
  situ_instance *instance;
  situ_plan *plan;
  situ_error error;
  if (situ_place(&plan, &instance, &o, &solve, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  int64_t value = plan->value_ns;
  situ_plan_free(plan);
  situ_instance_free(instance);
  return value;
}

/* The same number of simulations; where memory binds (what stays takes 1.76 GB, each GPU has 0.4 GB) no worse. */
static void coarse_moves_gain_more_than_fine_ones_in_a_large_problem(void **state) {
  (void)state;
  assert_true(value_by("multilevel", "reserve gpu=1") < value_by("tabu", "reserve gpu=1"));
  assert_true(value_by("multilevel", "reserve gpu=15600000000") <= value_by("heft", "reserve gpu=15600000000"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coarse_units_are_unions_of_units_within_their_limits),
      cmocka_unit_test(a_plan_that_is_gathered_keeps_all_constraints),
      cmocka_unit_test(coarse_moves_gain_more_than_fine_ones_in_a_large_problem),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
