/* What all that learns from the trials of one problem must show: it learns, it repeats, it counts its trials; and the
 * groups that it works on. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/checked.h"
#include "plan/plan.h"
#include "solve/stream/environment.h"

/* What learns, and the trials that it gets: an episode of placeto is as many as there are groups. */
typedef struct learner_case {
  const char *name;
  int64_t steps;
} learner_case;
static const learner_case cases[] = {{"cross_entropy", 1500}, {"rnn_placer", 1500}, {"hdp", 1500}, {"placeto", 6000}};
enum { N_CASES = sizeof cases / sizeof *cases };

static situ_plan *solve_with(const situ_problem *p, const char *name, int64_t steps, uint64_t seed) {
  situ_plan *plan;
  situ_error e;
  situ_solve_options o = {
      .size = sizeof(situ_solve_options), .solvers = name, .max_steps = steps, .seed = seed, .no_bounds = true};
  if (situ_solve(&plan, p, &o, &e) != SITU_STATUS_OK) fail_msg("%s: %s", name, e.text);
  return plan;
}

static int64_t statistic(const situ_plan *plan, const char *name) {
  for (int32_t i = 0; i < plan->n_statistics; i++)
    if (strcmp(plan->statistics[i].name, name) == 0) return plan->statistics[i].value;
  fail_msg("no statistic %s", name);
  return 0;
}

/* The least time of all 3^10 placements in the order of trials. */
static int64_t optimum_of_trials(const situ_problem *p) {
  OWN(arena) *a = arena_new();
  environment env;
  int32_t device[10] = {0};
  assert_true(environment_init(&env, p, a));
  assert_int_equal(env.n_units, 10);
  for (int32_t k = 0; k < 59049; k++) {
    for (int32_t u = 0, rest = k; u < 10; u++, rest /= 3) device[u] = rest % 3;
    environment_try(&env, device);
  }
  int64_t best = env.best_ns;
  return best;
}

/* The mean of the last trials has gone more than half of the way from what chance gives to the optimum; that of a
 * policy that learns nothing stays where it is. */
TEST(late_trials_are_much_better_than_early_ones) {
  OWN(lab) l = lab_topcuoglu();
  int64_t optimum = optimum_of_trials(l.problem);
  situ_plan *chance = solve_with(l.problem, "random", 1500, 1);
  int64_t early = statistic(chance, "learn.mean_early_ns"), late = statistic(chance, "learn.mean_late_ns");
  int64_t wanted = (early + optimum) / 2;
  assert_true(optimum < wanted && late > wanted);
  situ_plan_free(chance);
  for (int i = 0; i < N_CASES; i++) {
    OWN(situ_plan) *plan = solve_with(l.problem, cases[i].name, cases[i].steps, 1);
    int64_t learned = statistic(plan, "learn.mean_late_ns");
    if (learned > wanted)
      fail_msg("%s: the last trials take %lld in the mean, chance %lld, the best of all %lld", cases[i].name,
               (long long)learned, (long long)early, (long long)optimum);
    assert_true(plan->value_ns >= optimum);
  }
}

TEST(every_trial_is_a_step_and_runs_repeat) {
  lab_options o = {.seed = 3, .n_operators = 40, .n_devices = 4, .density = 0.1, .n_colocations = 3};
  o.options.objective = SITU_OBJECTIVE_LATENCY;
  OWN(lab) l = lab_random(&o);
  for (int i = -1; i < N_CASES; i++) {
    const char *name = i < 0 ? "random" : cases[i].name;
    OWN(situ_plan) *one = solve_with(l.problem, name, 333, 5), *same = solve_with(l.problem, name, 333, 5);
    OWN(situ_plan) *other = solve_with(l.problem, name, 333, 6);
    assert_int_equal(statistic(one, "learn.trials"), 333);
    assert_int_equal(one->steps, 333);
    assert_memory_equal(one->device, same->device, 40 * sizeof *one->device);
    assert_memory_equal(one->statistics, same->statistics, sizeof one->statistics);
    assert_int_not_equal(statistic(one, "learn.mean_late_ns"), statistic(other, "learn.mean_late_ns"));
  }
}

/* Groups are the units joined, none of them without a device where the units had one, and few enough. */
TEST(groups_keep_what_units_keep) {
  for (uint64_t seed = 0; seed < (uint64_t)rounds_of(300); seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 2 + (int32_t)(seed % 60),
                     .n_devices = 2 + (int32_t)(seed % 4),
                     .density = 0.1,
                     .n_colocations = (int32_t)(seed % 3),
                     .pinned = seed % 2,
                     .unsupported = seed % 3 == 0,
                     .memory = seed % 4 == 0 ? 0.7 : 0};
    o.options.objective = SITU_OBJECTIVE_LATENCY;
    OWN(lab) l = lab_random(&o);
    OWN(arena) *a = arena_new();
    environment fine, w;
    int32_t most = 1 + (int32_t)(seed % 7);
    assert_true(environment_init(&fine, l.problem, a) && environment_init(&w, l.problem, a) &&
                environment_group(&w, most, a));
    bool constrained = o.pinned || o.unsupported || o.memory > 0;
    assert_true(w.n_units >= 1 && w.n_units <= fine.n_units);
    if (!constrained) assert_true(w.n_units <= most);
    int32_t of[64];
    memset(of, -1, sizeof of);
    for (int32_t v = 0, next = 0; v < o.n_operators; v++) {
      if (of[fine.unit_of[v]] < 0) of[fine.unit_of[v]] = w.unit_of[v];
      assert_int_equal(of[fine.unit_of[v]], w.unit_of[v]); /* units are never parted */
      assert_true(w.unit_of[v] <= next);                   /* and numbered by their first operator */
      next += w.unit_of[v] == next;
    }
    for (int32_t u = 0; u < w.n_units; u++) {
      int64_t weight = 0;
      bool some = false;
      for (int32_t i = w.member_start[u]; i < w.member_start[u + 1]; i++) {
        assert_int_equal(w.unit_of[w.member[i]], u);
        weight = sat_add(weight, l.problem->graph->weight_bytes[w.member[i]]);
      }
      assert_int_equal(weight, w.weight_bytes[u]);
      for (int32_t d = 0; d < w.n_devices; d++) some |= w.allowed[u * w.n_devices + d];
      if (!l.problem->conflict) assert_true(some);
    }
  }
}

TEST_MAIN
