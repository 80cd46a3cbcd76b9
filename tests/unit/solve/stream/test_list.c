/* List schedulers and the timelines below them. */
#include <math.h>

#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "base/rng.h"
#include "sim/simulate.h"
#include "situ/instance.h"
#include "situ/solve.h"
#include "solve/stream/list.h"
#include "solve/stream/rank.h"
#include "solve/stream/timeline.h"

TEST(upward_ranks_are_those_of_the_paper) {
  /* Topcuoglu et al. 2002, table 2 */
  static const double expected[10] = {108.000, 77.000, 80.000, 80.000, 69.000, 63.333, 42.667, 35.667, 44.333, 14.667};
  OWN(lab) l = lab_topcuoglu();
  OWN(arena) *a = arena_new();
  rank_costs costs;
  double rank[10];
  assert_true(rank_costs_find(&costs, a, l.problem, RANK_MEAN));
  rank_upward(rank, l.problem, &costs);
  for (int32_t v = 0; v < 10; v++) assert_true(fabs(rank[v] - expected[l.graph->source_id[v] - 1]) < 0.001);
}

TEST(heft_takes_80_on_the_example_of_its_paper) {
  OWN(lab) l = lab_topcuoglu();
  OWN(arena) *a = arena_new();
  rank_costs costs;
  double rank[10];
  partial_schedule s;
  budget b = budget_new(0, 0, NULL, NULL);
  assert_true(rank_costs_find(&costs, a, l.problem, RANK_MEAN));
  rank_upward(rank, l.problem, &costs);
  assert_true(partial_init(&s, l.problem, a));
  assert_true(list_schedule(&s, &(list_policy){.priority = rank}, &b, a));
  placement where = partial_placement(&s);
  assert_int_equal(simulator_run(simulator_new(l.problem, a), &where, true).value_ns, 80);
}

static int64_t value_of(const situ_problem *p, const char *name) {
  OWN(situ_plan) *plan = NULL;
  situ_error error;
  situ_solve_options o = {.size = sizeof(situ_solve_options), .solvers = name, .no_bounds = true};
  if (situ_solve(&plan, p, &o, &error) != SITU_STATUS_OK) fail_msg("%s: %s", name, error.text);
  int64_t value = plan->value_ns;
  assert_true(plan->lower_bound_ns <= value);
  return value;
}

TEST(cpop_takes_86_on_the_example_of_its_paper) {
  OWN(lab) l = lab_topcuoglu();
  assert_int_equal(value_of(l.problem, "cpop"), 86);
  assert_true(value_of(l.problem, "heft") <= 80);
}

/* Tensors that live long fill accelerators beyond what list scheduling sees of them: weights and the greatest
 * footprint. */
TEST(heft_finds_a_plan_where_one_device_is_enough) {
  int32_t n_alone = 0;
  for (uint64_t seed = 1; seed <= 60; seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 300,
                     .n_devices = 2 + (int32_t)(seed % 4),
                     .density = 0.03 + 0.02 * (double)(seed % 5),
                     .equal = seed % 2,
                     .memory = 0.01 + 0.01 * (double)(seed % 3),
                     .pinned = seed % 5 == 0,
                     .options = {.execution = SITU_EXECUTION_STREAM}};
    OWN(lab) l = lab_random(&o);
    bool alone = !l.problem->conflict && value_of(l.problem, "single") < SITU_NEVER_NS;
    n_alone += alone;
    if (alone && value_of(l.problem, "heft") == SITU_NEVER_NS) fail_msg("seed %d: heft has no plan", (int)seed);
  }
  assert_true(n_alone > 30);
}

/* The same by scanning a plain list of busy intervals. */
static int64_t find_slowly(const int64_t (*busy)[2], int n, int64_t ready, int64_t duration) {
  int64_t best = ready;
  for (bool moved = true; moved;) {
    moved = false;
    for (int i = 0; i < n; i++)
      if (best < busy[i][1] && best + duration > busy[i][0]) {
        best = busy[i][1];
        moved = true;
      }
  }
  return best;
}

TEST(timelines_find_the_first_gap) {
  enum { TASKS = 200 };
  for (uint64_t seed = 0; seed < 50; seed++) {
    OWN(arena) *a = arena_new();
    rng r = rng_new(seed);
    timeline_pool pool;
    timeline line = {.min = 1};
    int64_t busy[TASKS][2];
    assert_true(timeline_pool_init(&pool, a, TASKS));
    for (int i = 0; i < TASKS; i++) {
      int64_t ready = rng_below(&r, 2000), duration = 1 + rng_below(&r, 12);
      int64_t start = timeline_find(&pool, &line, ready, duration);
      assert_int_equal(start, find_slowly(busy, i, ready, duration));
      timeline_put(&pool, &line, start, duration);
      busy[i][0] = start;
      busy[i][1] = start + duration;
    }
  }
}

TEST(a_name_that_does_not_exist_is_answered_with_near_ones) {
  OWN(lab) l = lab_topcuoglu();
  situ_plan *plan;
  situ_error error;
  situ_solve_options o = {.size = sizeof(situ_solve_options), .solvers = "heft,hefd"};
  assert_int_equal(situ_solve(&plan, l.problem, &o, &error), SITU_STATUS_BAD_ARGUMENT);
  assert_non_null(strstr(error.text, "hefd"));
  assert_non_null(strstr(error.text, "did you mean heft"));
  assert_null(plan);
}

enum { DRAWN = 400, MAX_DRAWN = 30 };

/* A stream problem with groups, sometimes little memory, contention or not. */
static lab draw_problem(uint64_t seed, rng *random) {
  lab_options o = {.seed = seed,
                   .n_operators = 2 + (int32_t)rng_below(random, MAX_DRAWN - 1),
                   .n_devices = 2 + (int32_t)rng_below(random, 4),
                   .density = 0.05 + 0.3 * rng_unit(random),
                   .n_colocations = (int32_t)(seed % 3),
                   .pinned = seed % 4 == 0,
                   .unsupported = seed % 5 == 0,
                   .memory = seed % 2 ? 0.2 : 0};
  o.options.objective = SITU_OBJECTIVE_LATENCY;
  o.options.contention = seed / 2 % 2 ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE;
  return lab_random(&o);
}

/* Priorities with ties, with the data or against it, and the operators sorted by them. */
static void draw_priorities(int32_t n, rng *random, double *priority, int32_t *sequence) {
  bool against = rng_below(random, 2) == 0;
  for (int32_t v = 0; v < n; v++) {
    int32_t at = v;
    priority[v] = against ? (double)rng_below(random, 10) : -(double)(v / 2);
    for (; at > 0 && priority[sequence[at - 1]] < priority[v]; at--) sequence[at] = sequence[at - 1];
    sequence[at] = v;
  }
}

TEST(a_sequence_at_hand_is_as_good_as_priorities) {
  for (uint64_t seed = 0; seed < DRAWN; seed++) {
    rng random = rng_new(seed);
    OWN(lab) l = draw_problem(seed, &random);
    OWN(arena) *a = arena_new();
    partial_schedule one, other;
    budget b = budget_new(0, 0, NULL, NULL);
    double priority[MAX_DRAWN];
    int32_t sequence[MAX_DRAWN], forced[MAX_DRAWN], n = l.problem->n_operators;
    draw_priorities(n, &random, priority, sequence);
    for (int32_t v = 0; v < n; v++) forced[v] = (int32_t)rng_below(&random, l.problem->n_devices + 1) - 1;
    assert_true(partial_init(&one, l.problem, a) && partial_init(&other, l.problem, a));
    if (seed % 7 < 3) assert_true(partial_follow_links(&one, a) && partial_follow_links(&other, a));
    one.spare_hosts = other.spare_hosts = seed % 11 == 0;
    bool done = list_schedule(&one, &(list_policy){.priority = priority, .forced = forced}, &b, a);
    assert_int_equal(list_schedule(&other, &(list_policy){.sequence = sequence, .forced = forced}, &b, a), done);
    for (int32_t v = 0; done && v < n; v++) {
      assert_int_equal(other.device[v], one.device[v]);
      assert_int_equal(other.start_ns[v], one.start_ns[v]);
    }
  }
}

/* Chooses by the number of the operator, after a look at all devices. */
static int32_t choose_and_compare(void *context, partial_schedule *s, int32_t v) {
  int64_t *seen = context;
  bool takes[8], any = false;
  for (int32_t d = 0; d < s->problem->n_devices; d++) any |= takes[d] = partial_takes(s, v, d);
  int32_t n = partial_candidates(s, v), n_taken = 0;
  for (int32_t i = 0; i < n; i++) n_taken += takes[s->candidates[i]];
  for (int32_t d = 0; d < s->problem->n_devices; d++) n_taken -= takes[d];
  assert_int_equal(n_taken, 0); /* who takes it is a candidate */
  for (int32_t i = 0; any && i < n; i++) assert_true(takes[s->candidates[i]]);
  if (!any) assert_true(n <= 1 || s->spare_hosts);
  seen[any]++;
  partial_arrive(s, v);
  return n > 0 ? s->candidates[v % n] : -1;
}

TEST(a_device_that_takes_an_operator_is_a_candidate) {
  int64_t seen[2] = {0, 0};
  for (uint64_t seed = 0; seed < DRAWN; seed++) {
    rng random = rng_new(seed);
    OWN(lab) l = draw_problem(seed, &random);
    OWN(arena) *a = arena_new();
    partial_schedule s;
    budget b = budget_new(0, 0, NULL, NULL);
    double priority[MAX_DRAWN];
    int32_t sequence[MAX_DRAWN];
    draw_priorities(l.problem->n_operators, &random, priority, sequence);
    assert_true(partial_init(&s, l.problem, a));
    s.spare_hosts = seed % 3 == 0;
    list_schedule(&s, &(list_policy){.sequence = sequence, .choose = choose_and_compare, .context = seen}, &b, a);
  }
  assert_true(seen[0] > 50 && seen[1] > 1000);
}

/* The value of HEFT after a few steps over that of the best single device, where the accelerators together have room
 * for 42 % of what stays: of the layered network each operator leaves 146.9 kB in the mean (weights, and outputs that
 * nobody reads), both GPUs have 31.2 kB for each. */
static double part_of_single(int32_t n_operators, const char *model, int64_t steps) {
  char rule[64];
  snprintf(rule, sizeof rule, "reserve gpu=%lld", (long long)(16000000000 - (int64_t)n_operators * 31200));
  situ_instance_options o = {.size = sizeof o,
                             .model = model,
                             .platform = "cpu+2*v100-16g",
                             .rules = (const char *const[]){rule},
                             .n_rules = 1};
  situ_solve_options solve = {.size = sizeof solve, .solvers = "heft", .max_steps = steps, .no_bounds = true};
  OWN(situ_instance) *instance = NULL;
  OWN(situ_plan) *plan = NULL;
  situ_error error;
  if (situ_place(&plan, &instance, &o, &solve, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  double part = (double)plan->value_ns / (double)plan->best_single_ns;
  return part;
}

/* All on the CPU is 1. With half of the bytes there it takes about half as long, whatever the size; 30 steps are too
 * few for a repair that frees a little at a time. */
TEST(where_memory_binds_a_large_problem_the_accelerators_still_hold_their_part) {
  double small = part_of_single(12000, "builtin:layered?operators=12000", 30);
  double large = part_of_single(36000, "builtin:layered?operators=36000", 30);
  assert_true(small < 0.75);
  assert_true(large < 1.15 * small);
}

/* Before the bounds heft makes its schedules by one kind of ranks. Above 200,000 operators it makes no others, so that
 * it need not run again. */
TEST(what_heft_makes_first_is_all_of_a_very_large_problem) {
  for (int32_t n = 200000; n <= 200001; n++) {
    OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
    for (int32_t v = 0; v < n; v++) lab_operator(&s, NULL, 5, 0, 0);
    lab_tensor(&s, 0, 3, 1, -1);
    lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_LINK});
    budget b = budget_new(0, 0, NULL, NULL);
    incumbent best;
    bool all = false;
    int64_t steps[2];
    assert_true(incumbent_init(&best, s.problem, s.arena));
    for (int brief = 0; brief < 2; brief++) {
      solve_run run = {.problem = s.problem,
                       .simulator = s.simulator,
                       .budget = &b,
                       .incumbent = &best,
                       .watch = &(solve_watch){0},
                       .solver = "heft",
                       .brief = brief,
                       .brief_is_all = brief ? &all : NULL,
                       .arena = s.arena};
      int64_t before = b.steps;
      assert_int_equal(list_by_rank(&run, NULL), SITU_STATUS_OK);
      steps[brief] = b.steps - before;
    }
    assert_int_equal(all, n > 200000);
    assert_true(steps[1] <= steps[0] && (steps[1] == steps[0]) == all); /* as many simulations */
  }
}

TEST_MAIN
