/* Certificates against brute force: those of the bounds prove what they claim, and no numbers whatever, spoilt, swapped
 * or made up, prove more than the optimum. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/proved.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "base/rng.h"
#include "bound/bound.h"
#include "check/judge.h"
#include "plan/plan.h"
#include "situ/solve.h"

static const char *const kinds[] = {"area_price", "critical_path",    "cut_vertex", "destructive",
                                    "join",       "largest_operator", "runs",       "visit_labels"};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

typedef struct trial {
  const situ_problem *problem;
  int64_t optimum_ns;
  uint64_t seed;
} trial;

/* No numbers prove more than the truth, whatever they claim; what is not proved is called wrong. */
static void hold_back(const trial *t, certificate c, const char *how) {
  int64_t claims[] = {c.lower_ns, t->optimum_ns == SITU_NEVER_NS ? SITU_NEVER_NS : t->optimum_ns + 1, SITU_NEVER_NS};
  for (size_t i = 0; i < 3; i++) {
    bool objected;
    c.lower_ns = claims[i];
    int64_t found = proved_of_claim(t->problem, &c, &objected);
    if (found > t->optimum_ns)
      fail_msg("seed %d: a certificate of %s, %s, proves %lld, but %lld is possible", (int)t->seed, c.kind, how,
               (long long)found, (long long)t->optimum_ns);
    if (found < claims[i] && !objected) fail_msg("seed %d: %s, %s: no objection", (int)t->seed, c.kind, how);
  }
}

static void spoil_numbers(const trial *t, const certificate *c) {
  for (int32_t k = 0; k < c->n_lists; k++)
    for (int64_t i = 0; i < c->list[k].n; i++) {
      int64_t *value = &c->list[k].values[i], was = *value;
      int64_t others[] = {was - 1, was + 1, 2 * was, 0, was / 2, INT64_MAX, (int64_t)1 << 52, 10 * was + 3};
      for (size_t m = 0; m < sizeof others / sizeof others[0]; m++) {
        *value = others[m];
        hold_back(t, *c, "one number changed");
      }
      *value = was;
    }
}

static void spoil(const trial *t, const certificate *c) {
  bool objected;
  certificate other = *c;
  spoil_numbers(t, c);
  for (int32_t k = 0; k < c->n_lists; k++) {
    other.list[k].n--;
    hold_back(t, other, "a list cut short");
    other.list[k] = c->list[k];
    other.list[k].name = "nonsense";
    bool needed = strcmp(c->list[k].name, "instant") != 0; /* without it some prove as much */
    int64_t found = proved_of_claim(t->problem, &other, &objected);
    assert_true(needed ? found == 0 && objected : (found == 0) == objected);
    other.list[k] = c->list[k];
  }
  for (size_t k = 0; k < N_KINDS; k++) {
    other.kind = kinds[k];
    hold_back(t, other, "of another kind");
  }
  other.kind = "nonsense";
  assert_int_equal(proved_of_claim(t->problem, &other, &objected), 0);
  assert_true(objected);
}

/* Each bound's certificate. */
static void hold_bounds(const trial *t, bool also_spoilt) {
  const situ_problem *p = t->problem;
  OWN(arena) *a = arena_new();
  for (int32_t i = 0; bounds[i]; i++) {
    if (!problem_is_of(p, bounds[i]->models)) continue;
    bool objected;
    certificate c;
    arena_mark mark = arena_get_mark(a);
    int64_t lower = proved_bound(&c, bounds[i], p, a);
    c.bound = bounds[i]->name;
    if (c.kind) {
      assert_true(c.lower_ns <= lower);
      int64_t found = proved_of_claim(t->problem, &c, &objected);
      if (found != c.lower_ns || objected || found > t->optimum_ns)
        fail_msg("seed %d: bound %s claims %lld; verified are %lld, the optimum is %lld", (int)t->seed, c.bound,
                 (long long)c.lower_ns, (long long)found, (long long)t->optimum_ns);
      if (also_spoilt) spoil(t, &c);
    }
    arena_release(a, mark);
  }
}

/* Numbers from nowhere, with the names and lengths that a kind asks for. */
static void make_up(const trial *t, rng *r) {
  const situ_problem *p = t->problem;
  OWN(arena) *a = arena_new();
  for (int32_t round = 0; round < 20; round++) {
    certificate c;
    certificate_start(&c, kinds[rng_below(r, N_KINDS)], rng_below(r, 200));
    c.bound = "nobody";
    struct {
      const char *name;
      int64_t n, most;
    } lists[] = {{"time_prices", p->n_devices, 100},
                 {"byte_prices", p->n_memories, rng_below(r, 2) ? 1 : 50},
                 {"operator", 1, p->n_operators},
                 {"rounds", 1, 6},
                 {"window", 1, 9},
                 {"free_rounds", 1, 3},
                 {"cuts", 1, p->n_operators},
                 {"deleted", 1, p->n_operators},
                 {"rests", 2 * p->n_devices, 40},
                 {"prices", 2 * p->n_devices, 100},
                 {"interval", 3, 40},
                 {"chain", 2, p->n_operators},
                 {"from", 0, 1},
                 {"to", 0, 1},
                 {"instant", p->execution == SITU_EXECUTION_STREAM && rng_below(r, 2), p->n_operators}};
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
      int64_t *values = certificate_add(&c, lists[k].name, lists[k].n, a);
      for (int64_t i = 0; i < lists[k].n; i++) values[i] = rng_below(r, (int32_t)lists[k].most);
      if (strcmp(lists[k].name, "interval") == 0) values[2] %= 3;
    }
    hold_back(t, c, "made up");
  }
}

static void compare(situ_problem_options options, int32_t seeds, int32_t n, int32_t devices) {
  seeds = rounds_of(seeds);
  for (uint64_t seed = 1; seed <= (uint64_t)seeds; seed++) {
    lab_options o = {.seed = seed + 5000,
                     .n_operators = n - (int32_t)(seed % 2),
                     .n_devices = devices - (int32_t)(seed % 3 == 0),
                     .density = 0.2 + 0.1 * (double)(seed % 5),
                     .n_colocations = (int32_t)(seed % 2),
                     .training = options.execution == SITU_EXECUTION_PIPELINE && seed % 4 == 0,
                     .pinned = seed % 3 == 0,
                     .unsupported = seed % 5 == 0,
                     .equal = seed % 7 < 3,
                     .memory = seed % 4 == 1 ? 0.3 + 0.1 * (double)(seed % 7) : 0,
                     .options = options};
    if (o.n_devices < 2) o.n_devices = 2;
    OWN(lab) l = lab_random(&o);
    if (!l.problem->conflict) {
      trial t = {l.problem, brute_force(l.problem, NULL), seed};
      rng r = rng_new(seed);
      hold_bounds(&t, seed % 4 == 0);
      make_up(&t, &r);
    }
  }
}

TEST(no_certificate_of_streams_proves_too_much) {
  compare((situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM}, 300, 5, 3);
  compare(
      (situ_problem_options){
          .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE},
      300, 5, 3);
}

TEST(no_certificate_of_calls_proves_too_much) {
  compare((situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS}, 400, 5, 3);
}

TEST(no_certificate_of_pipelines_proves_too_much) {
  situ_problem_options o = {.size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT};
  for (int32_t variant = 0; variant < 8; variant++) {
    o.free = variant & 1;
    o.async_copies = variant & 2;
    o.communication = variant & 4 ? SITU_COMMUNICATION_HOST_STAGED : SITU_COMMUNICATION_LINK;
    compare(o, 150, 5, 3);
  }
}

/* One block of everything: with neither contention nor memory nor colocation what comes of the judge's own search is
 * the optimum, no more and no less. */
TEST(the_judge_of_blocks_knows_the_optimum) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(250); seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 5 + (int32_t)(seed % 6),
                     .n_devices = 2 + (int32_t)(seed % 3),
                     .density = 0.1 + 0.1 * (double)(seed % 4),
                     .pinned = seed % 3 == 0,
                     .unsupported = seed % 5 == 0,
                     .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE}};
    OWN(lab) l = lab_random(&o);
    trial t = {.problem = l.problem, .seed = seed};
    OWN(situ_plan) *plan = NULL;
    situ_solve_options with = {.size = sizeof(situ_solve_options), .solvers = "branch_and_bound"};
    assert_int_equal(situ_solve(&plan, l.problem, &with, NULL), SITU_STATUS_OK);
    if (plan->outcome == SITU_OUTCOME_OPTIMAL && plan->value_ns > 0) {
      OWN(arena) *a = arena_new();
      certificate c;
      bool objected;
      t.optimum_ns = plan->value_ns;
      certificate_start(&c, "cut_vertex", t.optimum_ns);
      c.bound = "nobody";
      assert_non_null(certificate_add_operators(&c, "deleted", 0, a));
      assert_non_null(certificate_add_operators(&c, "cuts", 0, a));
      int64_t *rest = certificate_add(&c, "rests", l.problem->n_devices, a);
      *rest = t.optimum_ns;
      assert_true(proved_of_claim(t.problem, &c, &objected) == t.optimum_ns && !objected);
      c.lower_ns = ++*rest;
      assert_true(proved_of_claim(t.problem, &c, &objected) == 0 && objected);
    }
  }
}

TEST_MAIN
