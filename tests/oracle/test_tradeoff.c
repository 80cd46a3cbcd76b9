/* Latency against period, and several copies at once, against brute force over devices and orders. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "situ/pareto.h"

enum { MAX_POINTS = 64 };

/* The true front: no placement is better than one of these in both. */
typedef struct truth {
  simulator *simulator;
  int64_t latency_ns[MAX_POINTS], period_ns[MAX_POINTS];
  int32_t n;
} truth;

static void add(truth *t, int64_t latency, int64_t period) {
  for (int32_t k = 0; k < t->n; k++)
    if (t->latency_ns[k] <= latency && t->period_ns[k] <= period) return;
  int32_t kept = 0;
  for (int32_t k = 0; k < t->n; k++) {
    if (latency <= t->latency_ns[k] && period <= t->period_ns[k]) continue;
    t->latency_ns[kept] = t->latency_ns[k];
    t->period_ns[kept++] = t->period_ns[k];
  }
  assert_true(kept < MAX_POINTS);
  t->latency_ns[kept] = latency;
  t->period_ns[kept] = period;
  t->n = kept + 1;
}

static void see(void *context, const placement *where) {
  truth *t = context;
  simulation found = simulator_run(t->simulator, where, true);
  if (found.excess_bytes == 0 && found.value_ns != SITU_NEVER_NS) add(t, found.latency_ns, found.period_ns);
}

static lab draw(uint64_t seed, situ_problem_options options) {
  lab_options o = {.seed = seed,
                   .n_operators = 4 + (int32_t)(seed % 2),
                   .n_devices = 2 + (int32_t)(seed % 2),
                   .density = 0.2 + 0.1 * (double)(seed % 5),
                   .n_colocations = (int32_t)(seed % 2),
                   .pinned = seed % 3 == 0,
                   .unsupported = seed % 5 == 0,
                   .memory = seed % 4 == 1 ? 0.3 : 0,
                   .options = options};
  return lab_random(&o);
}

static truth find_truth(const situ_problem *p, arena *a) {
  truth t = {.simulator = simulator_new(p, a)};
  assert_non_null(t.simulator);
  brute_each(p, see, &t);
  return t;
}

/* Sees that every point of a front is possible and no bound lies above the truth. Returns whether it is all of it. */
static bool front_is_true(const lab *l, const truth *t, uint64_t seed) {
  OWN(situ_front) *front = NULL;
  situ_error error;
  situ_pareto_options o = {
      .size = sizeof(situ_pareto_options),
      .points = 8,
      .solve = &(situ_solve_options){.size = sizeof(situ_solve_options), .max_steps = 8000, .seed = seed}};
  if (situ_pareto(&front, l->problem, &o, &error) != SITU_STATUS_OK) fail_msg("seed %d: %s", (int)seed, error.text);
  situ_front_summary says = SITU_FRONT_SUMMARY_INIT;
  assert_true(situ_front_get_summary(front, &says));
  int32_t n = says.n_points, found = 0;
  assert_true(t->n > 0 || n == 0);
  for (int32_t k = 0; k < n; k++) {
    int64_t latency = situ_front_plan(front, k)->latency_ns, period = situ_front_plan(front, k)->period_ns;
    bool possible_point = false;
    for (int32_t i = 0; i < t->n; i++) {
      possible_point |= t->latency_ns[i] <= latency && t->period_ns[i] <= period;
      found += t->latency_ns[i] == latency && t->period_ns[i] == period;
      assert_true(t->latency_ns[i] >= says.min_latency_ns);
      assert_true(t->period_ns[i] >= says.min_period_ns);
    }
    if (!possible_point)
      fail_msg("seed %d: (%lld, %lld) is impossible", (int)seed, (long long)latency, (long long)period);
    if (k > 0) assert_true(latency > (situ_front_plan(front, k - 1))->latency_ns);
    if (k > 0) assert_true(period < (situ_front_plan(front, k - 1))->period_ns);
  }
  return found == t->n && n == t->n;
}

TEST(no_front_is_better_than_the_truth_and_most_are_it) {
  int32_t equal = 0, possible = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(100); seed++) {
    OWN(lab)
    l = draw(seed, (situ_problem_options){.size = sizeof(situ_problem_options),
                                          .execution = SITU_EXECUTION_STREAM,
                                          .max_latency_ns = SITU_NEVER_NS - 1,
                                          .contention = seed % 3 ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE});
    OWN(arena) *a = arena_new();
    truth t = find_truth(l.problem, a);
    possible += t.n > 0;
    equal += front_is_true(&l, &t, seed) && t.n > 0;
  }
  if (getenv("SITU_TABLE")) printf("fronts: %d of %d\n", equal, possible);
  assert_true(equal * 100 >= possible * 70);
}

/* Poses the lab's problem again with a limit. */
static situ_problem *limited(const lab *l, int64_t max_latency_ns, int64_t max_period_ns) {
  situ_problem *p;
  situ_error error;
  int32_t copies = l->problem->n_copies;
  situ_problem_options o = {.size = sizeof(situ_problem_options),
                            .objective = max_latency_ns ? SITU_OBJECTIVE_THROUGHPUT : SITU_OBJECTIVE_LATENCY,
                            .max_latency_ns = max_latency_ns,
                            .max_period_ns = max_period_ns,
                            .contention = l->problem->contention,
                            .copies = copies,
                            .pins = copies > 1 ? NULL : l->pins, /* those are of the first copy */
                            .unused = l->unused};
  if (situ_problem_pose(&p, l->graph, l->platform, l->costs, &o, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  assert_int_equal(p->execution, SITU_EXECUTION_STREAM);
  return p;
}

/* Solves under a limit, where `best` is the truth (SITU_NEVER_NS: impossible). Returns whether that was found. */
static bool solve_limited(const lab *l, int64_t max_latency_ns, int64_t max_period_ns, int64_t best, uint64_t seed) {
  OWN(situ_problem) *p = limited(l, max_latency_ns, max_period_ns);
  OWN(situ_plan) *plan = NULL;
  situ_error error;
  situ_solve_options o = {.size = sizeof(situ_solve_options), .max_steps = 1500, .seed = seed};
  if (situ_solve(&plan, p, &o, &error) != SITU_STATUS_OK) fail_msg("seed %d: %s", (int)seed, error.text);
  int64_t value = plan->value_ns;
  assert_true(value >= best);
  assert_true(plan->lower_bound_ns <= best);
  if (plan_exists(plan)) {
    assert_true(max_latency_ns == 0 || plan->latency_ns <= max_latency_ns);
    assert_true(max_period_ns == 0 || plan->period_ns <= max_period_ns);
  }
  if (plan->outcome == SITU_OUTCOME_INFEASIBLE) assert_true(best == SITU_NEVER_NS && *plan->reason);
  return value == best;
}

/* Solves under limits that points of the true front just keep, and under such as none keeps. */
static void solve_under_limits(const lab *l, const truth *t, uint64_t seed, int32_t *equal, int32_t *all) {
  for (int32_t k = 0; k < t->n && k < 3; k++, *all += 2) {
    *equal += solve_limited(l, t->latency_ns[k] ? t->latency_ns[k] : 1, 0, t->period_ns[k], seed);
    *equal += solve_limited(l, 0, t->period_ns[k] ? t->period_ns[k] : 1, t->latency_ns[k], seed);
  }
  int64_t min_latency = SITU_NEVER_NS, min_period = SITU_NEVER_NS;
  for (int32_t k = 0; k < t->n; k++) {
    if (t->latency_ns[k] < min_latency) min_latency = t->latency_ns[k];
    if (t->period_ns[k] < min_period) min_period = t->period_ns[k];
  }
  if (t->n > 0 && min_latency > 1) solve_limited(l, min_latency - 1, 0, SITU_NEVER_NS, seed);
  if (t->n > 0 && min_period > 1) solve_limited(l, 0, min_period - 1, SITU_NEVER_NS, seed);
}

TEST(limits_are_kept_and_what_is_impossible_is_not_found) {
  int32_t equal = 0, all = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(80); seed++) {
    OWN(lab)
    l = draw(seed, (situ_problem_options){.size = sizeof(situ_problem_options),
                                          .execution = SITU_EXECUTION_STREAM,
                                          .max_latency_ns = SITU_NEVER_NS - 1});
    OWN(arena) *a = arena_new();
    truth t = find_truth(l.problem, a);
    solve_under_limits(&l, &t, seed, &equal, &all);
  }
  if (getenv("SITU_TABLE")) printf("limits: %d of %d\n", equal, all);
  assert_true(equal * 100 >= all * 90);
}

/* A lab whose graph is several copies of its own. */
static lab copied(uint64_t seed, int32_t n_operators, int32_t copies, situ_contention contention) {
  lab_options o = {.seed = seed,
                   .n_operators = n_operators,
                   .n_devices = 2 + (int32_t)(seed % 2),
                   .density = 0.4,
                   .n_colocations = (int32_t)(seed % 2),
                   .unsupported = seed % 5 == 0,
                   .memory = seed % 2 ? 0.5 : 0,
                   .options = {.execution = SITU_EXECUTION_STREAM, .contention = contention}};
  lab l = lab_random(&o);
  situ_graph *graph;
  situ_error error;
  if (graph_copies(&graph, l.graph, copies, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  situ_costs *costs = costs_copies(l.costs, copies);
  assert_non_null(costs);
  situ_problem_free(l.problem);
  situ_costs_free(l.costs);
  situ_graph_free(l.graph);
  l.graph = graph;
  l.costs = costs;
  situ_problem_options posed = {.size = sizeof(situ_problem_options), .contention = contention, .copies = copies};
  if (situ_problem_pose(&l.problem, graph, l.platform, costs, &posed, &error) != SITU_STATUS_OK)
    fail_msg("%s", error.text);
  return l;
}

TEST(copies_are_placed_as_by_brute_force) {
  int32_t equal = 0, possible = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(150); seed++) {
    int32_t copies = 2 + (int32_t)(seed % 3 == 0), n = copies == 2 ? 2 + (int32_t)(seed % 2) : 2;
    OWN(lab) l = copied(seed, n, copies, seed % 2 ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE);
    int64_t optimum = brute_force(l.problem, NULL);
    for (int32_t which = 0; which < 2; which++) {
      OWN(situ_plan) *plan = NULL;
      situ_error error;
      situ_solve_options o = {
          .size = sizeof(situ_solve_options), .solvers = which ? "tradeoff" : "auto", .max_steps = 1200, .seed = seed};
      if (situ_solve(&plan, l.problem, &o, &error) != SITU_STATUS_OK) fail_msg("seed %d: %s", (int)seed, error.text);
      assert_true(plan->value_ns >= optimum);
      assert_true(plan->lower_bound_ns <= optimum);
      possible += optimum != SITU_NEVER_NS;
      equal += optimum != SITU_NEVER_NS && plan->value_ns == optimum;
    }
  }
  if (getenv("SITU_TABLE")) printf("copies: %d of %d\n", equal, possible);
  assert_true(possible > rounds_of(200));
  assert_true(equal * 100 >= possible * 95);
}

/* The front of copies takes memory for the weights that they share, and so do plans under a limit. */
TEST(copies_keep_limits_as_by_brute_force) {
  int32_t equal = 0, all = 0, fronts = 0, possible = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(80); seed++) {
    int32_t copies = 2 + (int32_t)(seed % 4 == 0);
    OWN(lab)
    l = copied(seed, copies == 2 ? 2 + (int32_t)(seed % 2) : 2, copies,
               seed % 3 ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE);
    situ_problem *p = limited(&l, SITU_NEVER_NS - 1, 0);
    situ_problem_free(l.problem);
    l.problem = p;
    OWN(arena) *a = arena_new();
    truth t = find_truth(l.problem, a);
    possible += t.n > 0;
    fronts += front_is_true(&l, &t, seed) && t.n > 0;
    solve_under_limits(&l, &t, seed, &equal, &all);
  }
  if (getenv("SITU_TABLE")) printf("copies: %d of %d limits, %d of %d fronts\n", equal, all, fronts, possible);
  assert_true(possible > rounds_of(40));
  assert_true(equal * 100 >= all * 90);
  assert_true(fronts * 100 >= possible * 60);
}

/* Two copies of one operator with weights: on one device its memory holds them once, on two each holds them. */
TEST(weights_are_held_once_by_each_memory) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(40); seed++) {
    OWN(lab) l = copied(seed, 3, 2, SITU_CONTENTION_NONE);
    OWN(arena) *a = arena_new();
    simulator *s = simulator_new(l.problem, a);
    int64_t weights = 0, held;
    int32_t device[6], apart = l.platform->memory_of[1] == l.platform->memory_of[0] ? 2 : 1;
    for (int32_t v = 0; v < 3; v++) weights += l.graph->weight_bytes[v];
    for (int32_t v = 3; v < 6; v++) assert_int_equal(l.graph->weight_bytes[v], 0);
    for (int32_t v = 0; v < l.graph->n_operators; v++) l.graph->workspace_bytes[v] = 0;
    for (int32_t t = 0; t < l.graph->n_tensors; t++) l.graph->size_bytes[t] = 0;
    for (int32_t both = 0; both < 2; both++) {
      for (int32_t v = 0; v < 6; v++) device[v] = v < 3 || both ? 0 : apart;
      simulation found = simulator_run(s, &(placement){.device = device}, true);
      if (found.value_ns == SITU_NEVER_NS) continue; /* cannot run there */
      held = 0;
      for (int32_t m = 0; m < l.platform->n_memories; m++) held += found.peak_bytes[m];
      assert_int_equal(held, both ? weights : 2 * weights);
    }
  }
}

TEST_MAIN
