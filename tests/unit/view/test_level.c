/* Levels: what every row must keep, what each row joins in problems that can be counted by hand. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/rng.h"
#include "solve/common/solver.h"
#include "solve/stream/rank.h"
#include "view/level.h"

/* ---- every row ---- */

typedef struct sample {
  lab l;
  arena *a;
  rank_costs costs;
  level_request request;
  level_list list;
} sample;

static sample sample_of(const level_row *row, uint64_t seed) {
  rng r = rng_new(seed);
  sample x = {.a = arena_new()};
  x.l = lab_random(&(lab_options){.seed = seed,
                                  .n_operators = 10 + (int32_t)rng_below(&r, 50),
                                  .n_devices = 2 + (int32_t)rng_below(&r, 3),
                                  .density = 0.1,
                                  .n_colocations = (int32_t)rng_below(&r, 4),
                                  .training = seed % 3 == 0,
                                  .pinned = seed % 2 == 0,
                                  .unsupported = seed % 5 == 0});
  assert_true(rank_costs_find(&x.costs, x.a, x.l.problem, RANK_MEAN));
  x.request = (level_request){
      .n_wanted = 1 + (int32_t)rng_below(&r, 8), .work_ns = x.costs.work, .transfer_ns = x.costs.transfer};
  assert_true(row->find(&x.list, x.l.problem, &x.request, x.a));
  return x;
}

static void sample_free(sample *x) {
  arena_free(x->a);
  lab_free(&x->l);
}

static void check_unions(const situ_problem *p, const unit_list *units) {
  assert_null(unit_list_check(units, p->n_operators));
  assert_true(units->n <= p->units.n);
  for (int32_t u = 0; u < p->units.n; u++) {
    unit_members m = unit_list_members(&p->units, u);
    for (int32_t k = 1; k < m.n; k++) assert_int_equal(units->of[m.member[k]], units->of[m.member[0]]);
  }
}

TEST(units_of_levels_are_unions_of_units) {
  for (int32_t k = 0; k < N_LEVEL_ROWS; k++) {
    int32_t n_levels = 0;
    assert_true(level_rows[k]->name[0] && level_rows[k]->title[0]);
    for (uint64_t seed = 0; seed < (uint64_t)rounds_of(300); seed++) {
      sample x = sample_of(level_rows[k], seed);
      assert_in_range(x.list.n, 0, LEVELS_MAX);
      for (int32_t i = 0; i < x.list.n; i++) check_unions(x.l.problem, &x.list.of[i]);
      n_levels += x.list.n;
      sample_free(&x);
    }
    /* random graphs do not repeat themselves */
    if (level_rows[k] != &level_repeats) assert_true(n_levels > 10);
  }
}

/* What is allowed stays so, and a unit ends on one device. */
TEST(a_plan_that_is_gathered_keeps_all_constraints) {
  for (uint64_t seed = 0; seed < (uint64_t)rounds_of(1000); seed++) {
    sample x = sample_of(&level_traffic, seed);
    const situ_problem *p = x.l.problem;
    const unit_list *units = x.list.n > 0 ? &x.list.of[x.list.n - 1] : &p->units;
    rng r = rng_new(seed);
    int32_t *device = ARENA_NEW(x.a, int32_t, p->n_operators);
    double *scratch = ARENA_NEW(x.a, double, p->n_devices);
    bool allowed = !p->conflict;
    for (int32_t u = 0; u < p->units.n; u++) {
      unit_members m = unit_list_members(&p->units, u);
      int32_t d = (int32_t)rng_below(&r, p->n_devices), tries = 0;
      for (; tries < p->n_devices && !problem_allows_all(p, m, d); tries++) d = (d + 1) % p->n_devices;
      allowed &= tries < p->n_devices;
      for (int32_t k = 0; k < m.n; k++) device[m.member[k]] = d;
    }
    level_gather(device, p, units, x.costs.work, scratch);
    for (int32_t v = 0; v < p->n_operators; v++)
      assert_int_equal(device[v], device[unit_list_members(units, units->of[v]).member[0]]);
    if (allowed) assert_true(solve_allows(p, device));
    sample_free(&x);
  }
}

/* ---- traffic ---- */

/* A joined unit has no pins, devices that can all run each member, and at most its part of all work. */
static void check_joined(const sample *x, unit_members m, double all_ns) {
  const situ_problem *p = x->l.problem;
  double work_ns = 0;
  for (int32_t k = 0; k < m.n; k++) {
    work_ns += x->costs.work[m.member[k]];
    assert_int_equal(p->pin[m.member[k]], -1);
    for (int32_t d = 0; d < p->n_devices; d++)
      assert_int_equal(problem_time_ns(p, m.member[k], d) == SITU_NEVER_NS,
                       problem_time_ns(p, m.member[0], d) == SITU_NEVER_NS);
  }
  assert_true(work_ns <= all_ns / x->request.n_wanted + 1e-6);
}

TEST(units_joined_by_traffic_keep_their_limits) {
  int32_t joined = 0;
  for (uint64_t seed = 0; seed < (uint64_t)rounds_of(1000); seed++) {
    sample x = sample_of(&level_traffic, seed);
    const situ_problem *p = x.l.problem;
    double all_ns = 0;
    for (int32_t v = 0; v < p->n_operators; v++) all_ns += x.costs.work[v];
    for (int32_t i = 0; i < x.list.n; i++) {
      const unit_list *units = &x.list.of[i];
      assert_true(i == 0 || units->n <= x.list.of[i - 1].n);
      for (int32_t u = 0; u < units->n; u++) {
        unit_members m = unit_list_members(units, u);
        if (m.n == unit_list_members(&p->units, p->units.of[m.member[0]]).n) continue;
        joined++;
        check_joined(&x, m, all_ns);
      }
    }
    sample_free(&x);
  }
  assert_true(joined > 10);
}

/* ---- repeats ---- */

/* A chain of n operators whose times repeat with a period; paired: operators 2k and 2k + 1 stay together. */
static lab chain_of(int32_t n, int32_t period, bool paired) {
  static char names[LAB_MAX_OPERATORS][8];
  lab s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < n; v++) {
    snprintf(names[v], sizeof names[v], "%d", (int)v);
    lab_of_phase(&s, names[v], 1 + v % period, SITU_PHASE_FORWARD, paired ? v / 2 : -1);
  }
  for (int32_t v = 0; v + 1 < n; v++) lab_tensor(&s, v, 1, v + 1, -1);
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  return s;
}

/* After r rounds an operator of a chain knows its own kind, and the r next to either side, so that those less than r
 * from an end are like no other; of the rest there are as many classes as kinds: 2 r + 2 of a chain of two kinds. */
TEST(classes_of_a_chain_are_its_kinds_and_its_ends) {
  OWN(lab) s = chain_of(40, 2, false);
  level_list levels;
  assert_true(level_repeats.find(&levels, s.problem, &(level_request){0}, s.arena));
  assert_int_equal(levels.n, 4);
  for (int32_t k = 0; k < levels.n; k++) {
    int32_t rounds = 1 << k;
    assert_int_equal(levels.of[k].n, 2 * rounds + 2);
    for (int32_t v = 0; v < 40; v++) {
      unit_members m = unit_list_members(&levels.of[k], levels.of[k].of[v]);
      bool inside = v >= rounds && v < 40 - rounds;
      assert_int_equal(m.n, inside ? (40 - 2 * rounds) / 2 : 1);
      for (int32_t i = 0; i < m.n; i++) assert_int_equal(m.member[i] % 2, v % 2);
    }
  }
}

/* Twenty pairs that stay together: the first and the last are like no other, the rest are alike. */
TEST(units_stay_whole) {
  OWN(lab) s = chain_of(40, 2, true);
  level_list levels;
  assert_true(level_repeats.find(&levels, s.problem, &(level_request){0}, s.arena));
  assert_int_equal(levels.of[0].n, 1 + 2);
  for (int32_t k = 0; k < levels.n; k++)
    for (int32_t v = 0; v < 40; v += 2) assert_int_equal(levels.of[k].of[v], levels.of[k].of[v + 1]);
}

TEST(what_does_not_repeat_has_no_levels) {
  OWN(lab) s = chain_of(40, 40, false);
  level_list levels;
  assert_true(level_repeats.find(&levels, s.problem, &(level_request){0}, s.arena));
  assert_int_equal(levels.n, 0);
}

/* Thirty pairs, equal but for what the first half of them sends where `sized`: one round tells all there is. */
TEST(equal_pieces_are_alike_and_sizes_tell_them_apart) {
  for (int32_t sized = 0; sized < 2; sized++) {
    enum { N = 60 };
    static char names[N][8];
    OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
    for (int32_t v = 0; v < N; v++) {
      snprintf(names[v], sizeof names[v], "%d", (int)v);
      lab_operator(&s, names[v], 1, 0, 0);
    }
    for (int32_t v = 0; v < N; v += 2) lab_tensor(&s, v, sized && v < N / 2 ? 2 : 1, v + 1, -1);
    lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
    level_list levels;
    assert_true(level_repeats.find(&levels, s.problem, &(level_request){0}, s.arena));
    assert_int_equal(levels.n, 1);
    assert_int_equal(levels.of[0].n, sized ? 4 : 2);
  }
}

TEST_MAIN
