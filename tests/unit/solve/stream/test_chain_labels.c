/* Labels along a chain, and limits by secondary costs, against every placement. */
#include "../../../lab/brute.h"
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "../../../lab/tier.h"
#include "base/rng.h"
#include "plan/plan.h"
#include "situ/solve.h"

enum { LAYERS = 4, DEVICES = 3 };

typedef struct limited {
  lab s;
  situ_costs *other;
  situ_problem *problem;
} limited;

static void limited_free(limited *l) {
  situ_problem_free(l->problem);
  situ_costs_free(l->other);
  lab_free(&l->s);
}

/* Layers of two operators, with experts between them or none, on a host and two devices, of which one may be the
 * other's equal; where `tight`, their memories are too small. By the secondary costs everything takes another time. */
static limited random_layers(rng *r, bool tight, int64_t max_secondary_ns) {
  limited l = {.s = lab_new()};
  lab *s = &l.s;
  int32_t together[3 * LAYERS];
  bool experts = rng_below(r, 2);
  s->alike = rng_below(r, 3) == 0;
  int64_t room = tight ? 2000 + rng_below(r, 9000) : SITU_UNLIMITED_BYTES;
  for (int32_t d = 0; d < DEVICES; d++)
    lab_device(s, d == 0 ? SITU_UNLIMITED_BYTES : s->alike || !tight ? room : 2000 + rng_below(r, 9000), -1, d == 0);
  for (int32_t a = 0; a < DEVICES; a++)
    for (int32_t b = 0; b < DEVICES; b++)
      if (a != b) lab_link(s, a, b, s->alike ? 7 : rng_below(r, 30), -1);
  for (int32_t v = 0; v < 3 * LAYERS; v++) {
    static const char *const names[] = {"a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"};
    int64_t weight = 300 + rng_below(r, 1500);
    lab_operator(s, names[v], weight / 10, weight, rng_below(r, 200));
    for (int32_t d = 1; d < DEVICES; d++) s->time_ns[v][d] = 1 + rng_below(r, weight / 10);
    if (s->alike) s->time_ns[v][2] = s->time_ns[v][1];
    together[v] = experts && v % 3 == 1 ? LAYERS + v / 3 : v / 3;
  }
  for (int32_t k = 0; k < LAYERS; k++) {
    int32_t v = 3 * k;
    lab_tensor(s, v, 10, v + 1, v + 2, -1);
    lab_tensor(s, v + 1, 10, v + 2, -1);
    if (k + 1 < LAYERS) lab_tensor(s, v + 2, 10, v + 3, -1);
  }
  lab_pose(s, NULL);
  assert_non_null(l.other = costs_copies(s->costs, 1));
  for (int64_t i = 0; i < (int64_t)l.other->n_operators * l.other->n_classes; i++)
    l.other->time_ns[i] = 10 * rng_below(r, 30);
  for (int64_t i = 0; i < (int64_t)l.other->n_rows * l.other->n_kinds; i++)
    l.other->transfer_rows[i] *= (int64_t)rng_below(r, 4);
  costs_find_extremes(l.other);
  situ_problem_options o = {.size = sizeof o,
                            .execution = SITU_EXECUTION_STREAM,
                            .overlap = SITU_OVERLAP_NONE,
                            .keep_together = together,
                            .secondary_costs = max_secondary_ns > 0 ? l.other : NULL,
                            .max_secondary_ns = max_secondary_ns};
  situ_error error = {0};
  if (situ_problem_pose(&l.problem, s->graph, s->platform, s->costs, &o, &error) != SITU_STATUS_OK)
    fail_msg("%s", error.text);
  return l;
}

/* Value and feasibility are those of all 3^4 or 3^8 placements; nothing proved is above them. */
static void solve_and_compare(uint64_t seed, bool tight, int64_t limit_ns, const char *solvers, int32_t *exact,
                              int32_t *none) {
  rng r = rng_new(seed);
  limited l = random_layers(&r, tight, limit_ns);
  int64_t optimum = brute_force(l.problem, NULL);
  situ_plan *plan;
  situ_error error = {0};
  situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
  o.solvers = solvers;
  o.max_steps = 4000;
  if (situ_solve(&plan, l.problem, &o, &error) != SITU_STATUS_OK) fail_msg("seed %d: %s", (int)seed, error.text);
  int64_t value = plan->value_ns, bound = plan->lower_bound_ns;
  if (bound > optimum || value < optimum)
    fail_msg("seed %d: bound %lld, value %lld; the optimum is %lld", (int)seed, (long long)bound, (long long)value,
             (long long)optimum);
  if (plan_exists(plan)) assert_true(!l.problem->secondary || plan->secondary_ns <= limit_ns);
  if (plan->outcome == SITU_OUTCOME_INFEASIBLE) assert_true(optimum == SITU_NEVER_NS);
  *exact += value == optimum && bound == optimum;
  *none += optimum == SITU_NEVER_NS;
  situ_plan_free(plan);
  limited_free(&l);
}

/* Without memories that are too small labels leave nothing open, whether there is a plan or not. */
TEST(limits_are_kept_at_the_optimum) {
  int32_t exact = 0, none = 0, rounds = rounds_of(300);
  for (uint64_t seed = 1; seed <= (uint64_t)rounds; seed++)
    solve_and_compare(seed, false, 700 + (int64_t)(seed * 97 % 2000), "chain_labels", &exact, &none);
  if (exact != rounds || none * 20 < rounds || none * 2 > rounds)
    fail_msg("of %d problems %d exact, %d without a plan", (int)rounds, (int)exact, (int)none);
}

/* Nor for the portfolio, where memories bind too, but for what tensors take beside weights. */
TEST(limits_and_memories_together) {
  int32_t exact = 0, none = 0, rounds = rounds_of(200);
  for (uint64_t seed = 1; seed <= (uint64_t)rounds; seed++)
    solve_and_compare(seed, true, 900 + (int64_t)(seed * 97 % 2000), "auto", &exact, &none);
  if (exact * 10 < rounds * 9)
    fail_msg("of %d problems %d exact, %d without a plan", (int)rounds, (int)exact, (int)none);
}

/* Memory alone, as priced_chain is tried. */
TEST(memories_alone) {
  int32_t exact = 0, none = 0, rounds = rounds_of(200);
  for (uint64_t seed = 1; seed <= (uint64_t)rounds; seed++)
    solve_and_compare(seed, true, 0, "priced_chain,chain_labels", &exact, &none);
  if (exact * 10 < rounds * 9)
    fail_msg("of %d problems %d exact, %d without a plan", (int)rounds, (int)exact, (int)none);
}

/* Two operators on two devices, 1 and 10 ns by the costs, 10 and 1 by the others, 2 ns each way. Within 14 the best is
 * one operator each: 1 + 2 + 10 = 13 by both; both on the first take 20 by the others. Within 1 there is no plan: 2 is
 * the least, which the certificate proves by itself where it is dear enough. */
TEST(one_objective_under_the_other_by_hand) {
  static const struct {
    int64_t limit_ns, value_ns;
  } rows[] = {{20, 2}, {19, 13}, {13, 13}, {12, 20}, {2, 20}, {1, SITU_NEVER_NS}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
    lab_operator(&s, "a", 1, 0, 0);
    lab_operator(&s, "b", 1, 0, 0);
    s.time_ns[0][1] = s.time_ns[1][1] = 10;
    lab_tensor(&s, 0, 2, 1, -1);
    lab_pose(&s, NULL);
    OWN(situ_costs) *other = costs_copies(s.costs, 1);
    for (int32_t v = 0; v < 2; v++) {
      other->time_ns[v * 2 + s.platform->class_of[0]] = 10;
      other->time_ns[v * 2 + s.platform->class_of[1]] = 1;
    }
    situ_problem_options o = {.size = sizeof o,
                              .execution = SITU_EXECUTION_STREAM,
                              .overlap = SITU_OVERLAP_NONE,
                              .secondary_costs = other,
                              .max_secondary_ns = rows[i].limit_ns,
                              .secondary_name = "time of b"};
    OWN(situ_problem) *p = NULL;
    OWN(situ_plan) *plan = NULL;
    situ_solve_options how = SITU_SOLVE_OPTIONS_INIT;
    how.solvers = "chain_labels";
    assert_int_equal(situ_problem_pose(&p, s.graph, s.platform, s.costs, &o, NULL), SITU_STATUS_OK);
    assert_int_equal(situ_solve(&plan, p, &how, NULL), SITU_STATUS_OK);
    assert_true(plan->value_ns == rows[i].value_ns);
    assert_int_equal(plan->outcome, rows[i].value_ns == SITU_NEVER_NS ? SITU_OUTCOME_INFEASIBLE : SITU_OUTCOME_OPTIMAL);
    if (rows[i].value_ns == SITU_NEVER_NS) assert_non_null(strstr(plan->reason, "time of b"));
  }
}

TEST_MAIN
