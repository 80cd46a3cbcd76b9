/* Schedules with several chunks on each device, on small random problems: the form of every placement by enumerating
 * all ways to number its operators, simulator against judge, and what `auto` finds against the best of all placements.
 */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "situ/solve.h"
#include "view/contract.h"
#include "view/pipeline_step.h"

enum { MAX = 12 };

typedef struct counts {
  int32_t n_valid, n_invalid, n_excess, n_optimal, n_open, n_split, n_infeasible;
} counts;

/* ---- the form, by its definition ---- */

typedef struct form {
  const situ_problem *problem;
  const int32_t *device;
  int32_t n_used, n_chunks;
  int32_t rank[LAB_MAX_DEVICES];
  int32_t start[MAX], chunk[MAX], least[MAX]; /* [operator] */
  constraint_graph f;
  bool found;
} form;

static int32_t rank_of(const form *x, int32_t chunk) {
  if (x->problem->schedule == SITU_SCHEDULE_ZB_V && chunk >= x->n_used) return 2 * x->n_used - 1 - chunk;
  return chunk % x->n_used;
}

static bool keeps_units(const form *x, int32_t v) {
  const int32_t *group = x->problem->graph->colocation;
  for (int32_t u = 0; u < v; u++)
    if (group[v] >= 0 && group[u] == group[v] && x->chunk[u] != x->chunk[v]) return false;
  return true;
}

/* All ways to number the operators; the least number of each. */
static void number(form *x, int32_t v) {
  int32_t n = x->problem->n_operators;
  if (v < n) {
    for (int32_t c = x->start[v]; c < x->n_chunks; c++) {
      if (rank_of(x, c) != x->rank[x->device[v]]) continue;
      x->chunk[v] = c;
      if (keeps_units(x, v)) number(x, v + 1);
    }
    return;
  }
  for (int32_t u = 0; u < n; u++)
    for (int32_t i = x->f.start[u]; i < x->f.start[u + 1]; i++)
      if (x->chunk[u] > x->chunk[x->f.to[i]]) return;
  for (int32_t u = 0; u < n; u++)
    if (!x->found || x->chunk[u] < x->least[u]) x->least[u] = x->chunk[u];
  x->found = true;
}

/* By a V the last device is parted where half of its forward time is over: units that begin later are in its second
 * chunk. */
static void part_last(form *x) {
  const situ_problem *p = x->problem;
  const situ_graph *g = p->graph;
  int64_t all_ns = 0, before_ns = 0;
  bool forward[MAX] = {false};
  for (int32_t v = 0; v < p->n_operators; v++) {
    forward[v] = g->phase[v] == SITU_PHASE_FORWARD && x->rank[x->device[v]] == x->n_used - 1;
    if (forward[v]) all_ns += problem_time_ns(p, v, x->device[v]);
  }
  for (int32_t v = 0; v < p->n_operators; v++) {
    bool first = forward[v];
    for (int32_t u = 0; u < v; u++)
      first &= !(forward[u] && g->colocation[v] >= 0 && g->colocation[u] == g->colocation[v]);
    for (int32_t u = 0; u < p->n_operators && first && 2 * before_ns >= all_ns; u++)
      if (u == v || (g->colocation[v] >= 0 && g->colocation[u] == g->colocation[v])) x->start[u] = x->n_used;
    if (forward[v]) before_ns += problem_time_ns(p, v, x->device[v]);
  }
}

static bool has_form(const situ_problem *p, const int32_t *device) {
  form x = {.problem = p, .device = device};
  OWN(arena) *a = arena_new();
  assert_true(constraint_graph_find(&x.f, p, a));
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool used = false;
    for (int32_t v = 0; v < p->n_operators; v++) used |= device[v] == d;
    if (used) x.rank[d] = x.n_used++;
  }
  x.n_chunks = x.n_used * p->chunks;
  bool fits = p->schedule == SITU_SCHEDULE_ZB_V || p->micro_batches % x.n_used == 0;
  if (p->schedule == SITU_SCHEDULE_ZB_V && x.n_used > 1) part_last(&x);
  if (fits) number(&x, 0);
  fits = fits && x.found;
  for (int32_t c = 0; c < x.n_chunks && fits && x.n_used > 1; c++) {
    bool filled = false;
    for (int32_t v = 0; v < p->n_operators; v++) filled |= x.least[v] == c && p->graph->phase[v] == SITU_PHASE_FORWARD;
    fits = filled;
  }
  return fits;
}

/* ---- every placement ---- */

typedef struct visit {
  lab *lab;
  counts *of;
  uint64_t seed;
} visit;

static void compare_placement(void *context, const placement *where) {
  visit *x = context;
  const situ_problem *p = x->lab->problem;
  OWN(situ_verdict) *verdict = NULL;
  situ_verdict_summary summary = SITU_VERDICT_SUMMARY_INIT;
  situ_error error;
  OWN(situ_plan) *plan = lab_plan(x->lab, where);
  simulation found = simulator_run(x->lab->simulator, where, true);
  bool valid = found.value_ns != SITU_NEVER_NS, excess = found.excess_bytes > 0;
  if (valid != has_form(p, where->device)) fail_msg("seed %d: the form of a placement is %d", (int)x->seed, valid);
  must(situ_check(&verdict, plan, &error), &error);
  assert_true(situ_verdict_get_summary(verdict, &summary));
  bool chunks = false, memory = false;
  for (int32_t i = 0; i < summary.n_found; i++) {
    const char *rule = situ_verdict_violation(verdict, i).rule;
    chunks |= strcmp(rule, "chunks") == 0;
    memory |= strcmp(rule, "memory") == 0;
    bool known = chunks || memory || strcmp(rule, "conflict") == 0 || (!valid && strcmp(rule, "value") == 0);
    if (!known) fail_msg("seed %d: %s", (int)x->seed, situ_verdict_violation(verdict, i).text);
  }
  if (chunks == valid || (valid && memory != excess))
    fail_msg("seed %d: chunks %d memory %d, by the simulator %d %d", (int)x->seed, chunks, memory, !valid, excess);
  int32_t n_used = 0;
  for (int32_t d = 0; d < p->n_devices; d++) n_used += plan->uses[d].n_operators > 0;
  x->of->n_split += valid && n_used > 1;
  if (valid) { /* a step takes all its inputs, and ends */
    OWN(arena) *a = arena_new();
    pipeline_step step;
    assert_true(pipeline_step_find(&step, p, where->device, NULL, found.value_ns, 0, a));
    assert_true(step.step_ns >= p->micro_batches * found.value_ns && step.step_ns < SITU_NEVER_NS);
  }
  ++*(!valid ? &x->of->n_invalid : excess ? &x->of->n_excess : &x->of->n_valid);
}

static lab_options draw(uint64_t seed, int32_t max_operators) {
  rng r = rng_new(seed * 31 + 5);
  bool v = rng_below(&r, 2);
  return (lab_options){
      .seed = seed,
      .n_operators = 5 + (int32_t)rng_below(&r, max_operators - 4),
      .n_devices = 2 + (rng_below(&r, 4) == 0),
      .density = rng_below(&r, 2) ? 0.95 : 0.2 + 0.6 * rng_unit(&r),
      .n_colocations = (int32_t)rng_below(&r, 3),
      .training = true,
      .pinned = rng_below(&r, 4) == 0,
      .unsupported = rng_below(&r, 4) == 0,
      .equal = rng_below(&r, 3) > 0,
      .memory = 0.4 + 2 * rng_unit(&r),
      .host_memory = rng_below(&r, 2) ? 0.4 + 2 * rng_unit(&r) : 0,
      .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                  .communication = rng_below(&r, 2) ? SITU_COMMUNICATION_LINK : SITU_COMMUNICATION_HOST_STAGED,
                  .schedule = v ? SITU_SCHEDULE_ZB_V : SITU_SCHEDULE_INTERLEAVED,
                  .chunks = v ? 0 : 2 + (int32_t)rng_below(&r, 2),
                  .micro_batches = (int32_t)((1 + rng_below(&r, 4)) << rng_below(&r, 2))}};
}

TEST(every_placement_has_the_form_or_not_by_definition_simulator_and_judge) {
  counts of = {0};
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(600); seed++) {
    lab_options o = draw(seed, 9);
    OWN(lab) l = lab_random(&o);
    if (!l.simulator) l.simulator = simulator_new(l.problem, l.arena ? l.arena : (l.arena = arena_new()));
    if (!l.problem->conflict) brute_each(l.problem, compare_placement, &(visit){&l, &of, seed});
  }
  print_message("%d valid (%d on several devices), %d too large, %d not of the form\n", of.n_valid, of.n_split,
                of.n_excess, of.n_invalid);
  assert_true(of.n_valid > 0 && of.n_split > 0 && of.n_excess > 0 && of.n_invalid > 0);
}

TEST(no_plan_is_better_and_no_bound_above_the_best) {
  counts of = {0};
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(2000); seed++) {
    lab_options o = draw(seed + 100000, 10);
    OWN(lab) l = lab_random(&o);
    situ_error error;
    situ_plan *plan;
    situ_verdict *verdict;
    situ_verdict_summary summary = SITU_VERDICT_SUMMARY_INIT;
    situ_solve_options effort = {.size = sizeof effort, .solvers = "auto", .max_steps = 3000};
    if (!l.problem->conflict) {
      must(situ_solve(&plan, l.problem, &effort, &error), &error);
      int64_t expected_ns = brute_force(l.problem, NULL);
      if (plan->value_ns < expected_ns || plan->lower_bound_ns > expected_ns)
        fail_msg("seed %d: found %lld with bound %lld, brute force %lld", (int)seed, (long long)plan->value_ns,
                 (long long)plan->lower_bound_ns, (long long)expected_ns);
      if (plan->value_ns != SITU_NEVER_NS) {
        must(situ_check(&verdict, plan, &error), &error);
        assert_true(situ_verdict_get_summary(verdict, &summary));
        if (summary.n_found > 0) fail_msg("seed %d: %s", (int)seed, situ_verdict_violation(verdict, 0).text);
        situ_verdict_free(verdict);
      }
      if (plan->outcome == SITU_OUTCOME_INFEASIBLE) assert_true(expected_ns == SITU_NEVER_NS);
      ++*(plan->outcome == SITU_OUTCOME_INFEASIBLE ? &of.n_infeasible
          : plan->value_ns == expected_ns          ? &of.n_optimal
                                                   : &of.n_open);
      situ_plan_free(plan);
    }
  }
  print_message("%d plans are the best, %d are not, %d problems have none\n", of.n_optimal, of.n_open, of.n_infeasible);
  assert_true(of.n_optimal > of.n_open && of.n_infeasible > 0);
}

TEST_MAIN
