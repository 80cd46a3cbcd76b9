/* Steps of several micro-batches against brute force, and what each device keeps of them against the definition, which
 * is computed here by walking all ways from part to part. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "base/rng.h"
#include "plan/plan.h"
#include "situ/solve.h"
#include "solve/pipeline/stages.h"
#include "view/contract.h"
#include "view/pipeline_step.h"

typedef struct counts {
  int32_t n_optimal, n_infeasible, n_open, n_deep, n_chains, n_replicated, n_recomputed;
} counts;

/* ---- the memory of a plan, by its definition ---- */

typedef struct parts {
  const situ_problem *problem;
  const situ_plan *plan;
  constraint_graph f;
  int32_t n_sharing[LAB_MAX_DEVICES];
} parts;

/* Devices on the longest way from the part of device d to the end. */
static int32_t longest_way(const parts *x, int32_t d) {
  int32_t longest = 0;
  for (int32_t v = 0; v < x->problem->n_operators; v++)
    for (int32_t i = x->f.start[v]; x->plan->device[v] == d && i < x->f.start[v + 1]; i++) {
      int32_t to = x->plan->device[x->f.to[i]], way = to == d ? 0 : longest_way(x, to);
      if (way > longest) longest = way;
    }
  return longest + x->n_sharing[d];
}

/* The inputs that device d keeps. */
static int64_t inputs_of(const parts *x, int32_t d) {
  int64_t m = x->problem->micro_batches, r = x->n_sharing[d], all = m;
  if (m == 0) return x->problem->in_flight;
  if (x->problem->schedule == SITU_SCHEDULE_1F1B && longest_way(x, d) < m) all = longest_way(x, d);
  if (x->problem->schedule == SITU_SCHEDULE_ZB_H1) {
    int64_t usable = 0;
    for (int32_t e = 0; e < x->problem->n_devices; e++) usable += !x->problem->unused[e];
    all = usable < m ? usable : m;
  }
  return (all + r - 1) / r;
}

/* The bytes of device d, which has a memory of its own and is no replica. */
static int64_t bytes_of(const parts *x, int32_t d) {
  const situ_graph *g = x->problem->given;
  int64_t held = 0, most = 0, n = inputs_of(x, d), shares = 0, zero = x->n_sharing[d] > 1 ? x->problem->zero : 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (x->plan->device[v] != d) continue;
    int64_t each = g->workspace_bytes[v]; /* without what the stash has of a backward operator */
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      if (g->phase[v] == SITU_PHASE_FORWARD || g->phase[g->producer[g->in[i]]] != SITU_PHASE_FORWARD)
        each += g->size_bytes[g->in[i]];
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
      bool later = false;
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
        later |= g->phase[v] == SITU_PHASE_FORWARD && g->phase[g->use[i]] != SITU_PHASE_FORWARD;
      each += g->size_bytes[t];
      held += later ? n * g->size_bytes[t] : 0;
    }
    int64_t w = g->weight_bytes[v], whole = 0;
    bool forward = g->phase[v] == SITU_PHASE_FORWARD, backward = g->phase[v] == SITU_PHASE_BACKWARD;
    bool sharded = zero >= (forward ? 3 : backward ? 2 : 1);
    *(sharded ? &shares : &held) += w;
    if (sharded && forward) whole = w;               /* weights */
    if (sharded && backward) whole = (zero - 1) * w; /* the gradient; with 3 its weights */
    if (each + whole > most) most = each + whole;
  }
  return held + (shares + x->n_sharing[d] - 1) / x->n_sharing[d] + most;
}

static void check_memory(const lab *l, const situ_plan *plan, uint64_t seed, counts *of) {
  const situ_problem *p = l->problem;
  OWN(arena) *a = arena_new();
  parts x = {.problem = p, .plan = plan};
  assert_true(constraint_graph_find(&x.f, p, a));
  for (int32_t d = 0; d < p->n_devices; d++) x.n_sharing[d] = 1;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (plan->uses[d].replica_of >= 0) x.n_sharing[plan->uses[d].replica_of]++;
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool shared = false;
    for (int32_t e = 0; e < p->n_devices; e++) shared |= e != d && p->memory_of[e] == p->memory_of[d];
    if (shared) continue;
    int32_t leader = plan->uses[d].replica_of >= 0 ? plan->uses[d].replica_of : d;
    of->n_replicated += leader != d;
    of->n_deep += inputs_of(&x, d) > 1;
    if (bytes_of(&x, leader) != plan->uses[d].memory_bytes)
      fail_msg("seed %d: device %d holds %lld bytes, not %lld", (int)seed, (int)d, (long long)bytes_of(&x, leader),
               (long long)plan->uses[d].memory_bytes);
    int64_t limit = p->platform->memory_bytes[p->memory_of[d]];
    if (limit != SITU_UNLIMITED_BYTES) assert_true(plan->uses[d].memory_bytes <= limit);
  }
  if (p->micro_batches > 0) { /* a step takes all its inputs, and ends */
    pipeline_step step;
    int64_t busiest_ns = 0;
    for (int32_t d = 0; d < p->n_devices; d++)
      if (plan->uses[d].load_ns > busiest_ns) busiest_ns = plan->uses[d].load_ns;
    assert_true(pipeline_step_find(&step, p, plan->device, plan->replica_of, plan->value_ns, busiest_ns, a));
    assert_true(step.step_ns >= p->micro_batches * plan->value_ns && step.step_ns < SITU_NEVER_NS);
    assert_true(step.step_ns >= step.fill_ns && step.interval_ns >= plan->value_ns);
  }
}

/* ---- solvers ---- */

/* Parts of every plan follow each other one by one. */
static bool is_chain(const situ_problem *p) {
  OWN(arena) *a = arena_new();
  stages s;
  assert_true(stages_find(&s, p, a));
  bool chain = stages_are_chain(&s);
  return chain;
}

/* No plan that a solver finds is better than the best of all, no bound is above it, and the judge agrees. */
static void compare(const lab *l, const char *solvers, bool exact, uint64_t seed, counts *of) {
  OWN(situ_plan) *plan = NULL;
  situ_error error;
  situ_verdict *verdict;
  situ_verdict_summary summary = SITU_VERDICT_SUMMARY_INIT;
  situ_solve_options effort = {.size = sizeof effort, .solvers = solvers, .max_steps = exact ? 0 : 2000};
  must(situ_solve(&plan, l->problem, &effort, &error), &error);
  int64_t expected_ns = brute_force(l->problem, NULL);
  bool possible = expected_ns != SITU_NEVER_NS;
  if (plan->value_ns < expected_ns || plan->lower_bound_ns > expected_ns || (exact && plan->value_ns != expected_ns))
    fail_msg("seed %d: %s found %lld with bound %lld, brute force %lld", (int)seed, solvers, (long long)plan->value_ns,
             (long long)plan->lower_bound_ns, (long long)expected_ns);
  if (exact) assert_int_equal(plan->outcome, possible ? SITU_OUTCOME_OPTIMAL : SITU_OUTCOME_INFEASIBLE);
  if (plan->outcome == SITU_OUTCOME_OPTIMAL) assert_int_equal(plan->value_ns, expected_ns);
  if (plan->outcome == SITU_OUTCOME_INFEASIBLE) assert_false(possible);
  ++*(plan->outcome == SITU_OUTCOME_OPTIMAL      ? &of->n_optimal
      : plan->outcome == SITU_OUTCOME_INFEASIBLE ? &of->n_infeasible
                                                 : &of->n_open);
  if (plan->value_ns != SITU_NEVER_NS) {
    must(situ_check(&verdict, plan, &error), &error);
    assert_true(situ_verdict_get_summary(verdict, &summary));
    if (summary.n_found > 0) fail_msg("seed %d: %s", (int)seed, situ_verdict_violation(verdict, 0).text);
    if (l->graph->n_recomputed == 0 && l->problem->contiguous) check_memory(l, plan, seed, of);
    of->n_recomputed += l->graph->n_recomputed > 0;
    situ_verdict_free(verdict);
  }
}

static lab_options draw(uint64_t seed, bool chain) {
  rng r = rng_new(seed);
  return (lab_options){
      .seed = seed,
      .n_operators = 3 + (int32_t)rng_below(&r, 7),
      .n_devices = 2 + (int32_t)rng_below(&r, 3),
      .density = chain ? 0.95 : 0.2 + 0.6 * rng_unit(&r),
      .n_colocations = (int32_t)rng_below(&r, 3),
      .training = true,
      .pinned = rng_below(&r, 4) == 0,
      .unsupported = rng_below(&r, 4) == 0,
      .equal = rng_below(&r, 3) > 0,
      .memory = 0.3 + rng_unit(&r),
      .host_memory = rng_below(&r, 2) ? 0.3 + rng_unit(&r) : 0,
      .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                  .communication = SITU_COMMUNICATION_HOST_STAGED,
                  .async_copies = rng_below(&r, 3) == 0,
                  .schedule = (const situ_schedule[]){SITU_SCHEDULE_1F1B, SITU_SCHEDULE_1F1B, SITU_SCHEDULE_GPIPE,
                                                      SITU_SCHEDULE_ZB_H1}[rng_below(&r, 4)],
                  .micro_batches = 1 + (int32_t)rng_below(&r, 6)}};
}

TEST(ideal_dp_is_exact_on_chains) {
  counts of = {0};
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(6000); seed++) {
    lab_options o = draw(seed, true);
    o.options.replicate = seed % 3 == 0;
    if (o.options.replicate && o.n_operators > 7) o.n_operators = 7;
    OWN(lab) l = lab_random(&o);
    bool served = situ_solver_serves("ideal_dp", l.problem) && !l.problem->conflict;
    if (served && (is_chain(l.problem) || o.options.schedule != SITU_SCHEDULE_1F1B)) {
      compare(&l, "ideal_dp", true, seed, &of);
      of.n_chains++;
    }
  }
  print_message("%d served: %d optimal, %d infeasible; %d devices with several inputs, %d replicas\n", of.n_chains,
                of.n_optimal, of.n_infeasible, of.n_deep, of.n_replicated);
  assert_true(of.n_optimal > rounds_of(1000) && of.n_infeasible > 0 && of.n_deep > 0 && of.n_replicated > 0);
}

/* What replicas hold in shares is exact whatever the graph, but for the inputs that parts keep by their depth. */
TEST(ideal_dp_is_exact_where_replicas_hold_shares) {
  counts of = {0};
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(4000); seed++) {
    lab_options o = draw(seed, seed % 2);
    o.equal = true;
    o.n_devices = 3 + (int32_t)(seed % 2);
    o.n_operators = 4 + (int32_t)(seed % 4);
    o.options.replicate = true;
    o.options.zero = 1 + (int32_t)(seed / 2 % 3);
    if (seed % 3 == 0) o.options.micro_batches = 0, o.options.in_flight = 1 + (int32_t)(seed % 2);
    if (seed % 3 == 0 && o.options.schedule == SITU_SCHEDULE_ZB_H1) o.options.schedule = SITU_SCHEDULE_1F1B;
    OWN(lab) l = lab_random(&o);
    bool served = situ_solver_serves("ideal_dp", l.problem) && !l.problem->conflict;
    bool exact = o.options.micro_batches < 2 || o.options.schedule != SITU_SCHEDULE_1F1B;
    if (served) compare(&l, "ideal_dp", exact || is_chain(l.problem), seed, &of);
  }
  print_message("%d optimal, %d infeasible, %d open; %d devices with several inputs, %d replicas\n", of.n_optimal,
                of.n_infeasible, of.n_open, of.n_deep, of.n_replicated);
  assert_true(of.n_optimal > 0 && of.n_infeasible > 0 && of.n_replicated > 0);
}

TEST(chain_search_is_exact_on_any_graph) {
  counts of = {0};
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(4000); seed++) {
    lab_options o = draw(seed, false);
    if (seed % 2) o.options.communication = SITU_COMMUNICATION_LINK, o.options.async_copies = false;
    OWN(lab) l = lab_random(&o);
    if (situ_solver_serves("chain_search", l.problem) && !l.problem->conflict)
      compare(&l, "chain_search", true, seed, &of);
  }
  print_message("%d optimal, %d infeasible, %d devices with several inputs\n", of.n_optimal, of.n_infeasible,
                of.n_deep);
  assert_true(of.n_optimal > rounds_of(1000) && of.n_infeasible > 0 && of.n_deep > 0);
}

TEST(no_solver_breaks_the_memory_or_claims_too_much) {
  counts of = {0};
  for (uint64_t seed = 1; seed <= (uint64_t)few_rounds_of(4000); seed++) {
    lab_options o = draw(seed, seed % 2);
    if (seed % 3 == 0) o.options.communication = SITU_COMMUNICATION_LINK, o.options.async_copies = false;
    o.options.replicate = seed % 5 == 0;
    if (o.options.replicate && o.n_operators > 6) o.n_operators = 6;
    if (o.options.replicate) o.options.zero = (int32_t)(seed / 5 % 4);
    OWN(lab) l = lab_random(&o);
    static const char *const all[] = {"auto",      "ideal_dp",     "linear_dp", "local_search",
                                      "stage_lns", "stage_prices", "pipedream", "milp"};
    const char *solver = all[seed % 8];
    if (!l.problem->conflict && (seed % 8 == 0 || situ_solver_serves(solver, l.problem)))
      compare(&l, solver, false, seed, &of);
  }
  print_message("%d optimal, %d infeasible, %d open, %d devices with several inputs, %d replicas\n", of.n_optimal,
                of.n_infeasible, of.n_open, of.n_deep, of.n_replicated);
  assert_true(of.n_optimal > 0 && of.n_infeasible > 0 && of.n_deep > 0);
}

/* The same for training steps as they are made of forward passes. */
TEST(no_solver_claims_too_much_of_a_made_step) {
  counts of = {0};
  static const char *const all[] = {"auto",         "ideal_dp",      "linear_dp",  "local_search",
                                    "stage_lns",    "stage_prices",  "pipedream",  "milp",
                                    "chain_search", "configuration", "free_search"};
  enum { N = sizeof all / sizeof *all };
  for (uint64_t seed = 1; seed <= (uint64_t)few_rounds_of(1500); seed++) {
    lab_options o = draw(seed, seed % 2);
    rng r = rng_new(seed * 7 + 3);
    o.training = false;
    if (o.options.schedule == SITU_SCHEDULE_ZB_H1) o.options.schedule = SITU_SCHEDULE_1F1B; /* some recompute */
    o.n_operators = 2 + (int32_t)rng_below(&r, 5);
    o.memory = 0.1 + 0.6 * rng_unit(&r);
    o.host_memory = rng_below(&r, 2) ? 0.1 + 0.6 * rng_unit(&r) : 0;
    o.step = (int32_t)o.options.micro_batches;
    if (rng_below(&r, 3) == 0) o.options.communication = SITU_COMMUNICATION_LINK, o.options.async_copies = false;
    o.options.replicate = rng_below(&r, 3) == 0;
    if (o.options.replicate) o.options.zero = (int32_t)rng_below(&r, 4);
    bool given = rng_below(&r, 3) == 0;
    if (given) o.options.micro_batches = 0, o.options.in_flight = 1 + (int32_t)rng_below(&r, 4);
    if (given && !o.options.replicate) o.options.free = rng_below(&r, 2);
    OWN(lab) l = lab_random(&o);
    const char *solver = all[rng_below(&r, N)];
    bool trained = l.graph->made_training && l.graph->n_operators <= 13;
    if (trained && !l.problem->conflict && (strcmp(solver, "auto") == 0 || situ_solver_serves(solver, l.problem)))
      compare(&l, solver, false, seed, &of);
  }
  print_message("%d optimal, %d infeasible, %d open, %d devices with several inputs, %d replicas, %d recomputed\n",
                of.n_optimal, of.n_infeasible, of.n_open, of.n_deep, of.n_replicated, of.n_recomputed);
  assert_true(of.n_optimal > 0 && of.n_infeasible > 0 && of.n_deep > 0);
  assert_true(of.n_recomputed > 0 || !in_check());
}

TEST_MAIN
