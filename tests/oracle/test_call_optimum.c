/* call_dp against brute force over all placements and all ways to call: its bound is never above the optimum, and what
 * it calls optimal is. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "exact/call_price.h"
#include "situ/solve.h"

typedef struct tally {
  int32_t n, solved, proved, impossible;
} tally;

/* A third of the operators of every other problem take no time, and a part of them have no weights. */
static void make_idle(lab *l, uint64_t seed) {
  for (int32_t v = 0; v < l->graph->n_operators && seed % 2; v++) {
    if ((v + seed / 2) % 3) continue;
    if (seed % 4 == 1) l->graph->weight_bytes[v] = 0;
    for (int32_t k = 0; k < l->costs->n_classes; k++) {
      int64_t *time_ns = &l->costs->time_ns[(int64_t)v * l->costs->n_classes + k];
      if (*time_ns != SITU_NEVER_NS) *time_ns = 0;
    }
  }
}

/* The bound of the call graph in which idle operators of some weight count as weightless. */
static void hold_light_bound(const situ_problem *p, int64_t optimum, uint64_t seed) {
  OWN(arena) *a = arena_new();
  call_graph g;
  call_lattice l;
  call_price c;
  bool unsupported;
  budget b = budget_new(0, 0, NULL, NULL);
  int64_t light_bytes = seed % 3 ? 1000000 : 20;
  assert_true(call_graph_find(&g, p, light_bytes, a));
  if (g.n > 0) {
    assert_int_equal(call_lattice_find(&l, &g, 1024, a, &b), CALL_LATTICE_ALL);
    assert_true(call_price_make(&c, &l, &unsupported, a));
    assert_true(call_price_improve(&c, &b));
    if (c.lower_ns > optimum)
      fail_msg("seed %d: the optimum is %lld, the light bound %lld", (int)seed, (long long)optimum,
               (long long)c.lower_ns);
  }
}

static void judge(tally *t, const lab_options *o) {
  OWN(lab) l = lab_random(o);
  make_idle(&l, o->seed);
  int64_t optimum = brute_force(l.problem, NULL);
  hold_light_bound(l.problem, optimum, o->seed);
  OWN(situ_plan) *plan = NULL;
  situ_error error;
  situ_solve_options with = {.size = sizeof(situ_solve_options), .solvers = "call_dp"};
  if (situ_solve(&plan, l.problem, &with, &error) != SITU_STATUS_OK) fail_msg("seed %d: %s", (int)o->seed, error.text);
  int64_t value = plan->value_ns, lower = plan->lower_bound_ns;
  if (lower > optimum || value < optimum)
    fail_msg("seed %d: the optimum is %lld; found %lld, bound %lld", (int)o->seed, (long long)optimum, (long long)value,
             (long long)lower);
  t->n++;
  t->impossible += optimum == SITU_NEVER_NS;
  t->solved += value == optimum;
  t->proved += value == optimum && lower == optimum;
}

TEST(nothing_proved_is_wrong) {
  tally t = {0};
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(1500); seed++)
    judge(&t, &(lab_options){.seed = seed,
                             .n_operators = 3 + (int32_t)(seed % 3),
                             .n_devices = 2 + (int32_t)(seed % 2),
                             .density = 0.15 + 0.1 * (double)(seed % 6),
                             .n_colocations = (int32_t)(seed / 2 % 3),
                             .pinned = seed % 5 == 0,
                             .unsupported = seed % 7 == 0,
                             .memory = seed % 3 ? 0.25 + 0.05 * (double)(seed % 13) : 0,
                             .options = {.execution = SITU_EXECUTION_CALLS}});
  printf("%d problems, %d without a plan, %d solved to the optimum, %d of them proved\n", (int)t.n, (int)t.impossible,
         (int)t.solved, (int)t.proved);
  assert_true(t.proved > t.n / 2);
}

/* As many calls as an accelerator may run, at most: one, two or three. */
TEST(nothing_proved_of_few_calls_is_wrong) {
  tally t = {0};
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(2400); seed++)
    judge(&t, &(lab_options){.seed = seed,
                             .n_operators = 3 + (int32_t)(seed % 3),
                             .n_devices = 2 + (int32_t)(seed % 2),
                             .density = 0.15 + 0.1 * (double)(seed % 6),
                             .n_colocations = (int32_t)(seed / 2 % 3),
                             .pinned = seed % 5 == 0,
                             .unsupported = seed % 7 == 0,
                             .equal = seed % 4 < 2,
                             .memory = seed % 3 ? 0.25 + 0.05 * (double)(seed % 13) : 0,
                             .options = {.max_calls = 1 + (int32_t)(seed / 3 % 5) / 2}});
  printf("%d problems, %d without a plan, %d solved to the optimum, %d of them proved\n", (int)t.n, (int)t.impossible,
         (int)t.solved, (int)t.proved);
  assert_true(t.proved > t.n / 2);
}

/* Accelerators of one kind or two that run one call each: with one kind nothing is relaxed here. */
TEST(one_call_on_each_of_equal_accelerators_is_proved) {
  tally t = {0};
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(1500); seed++)
    judge(&t, &(lab_options){.seed = seed,
                             .n_operators = 3 + (int32_t)(seed % 4),
                             .n_devices = 2 + (int32_t)(seed % 2),
                             .density = 0.1 + 0.1 * (double)(seed % 7),
                             .equal = true,
                             .options = {.max_calls = 1}});
  printf("%d problems, %d solved to the optimum, %d of them proved\n", (int)t.n, (int)t.solved, (int)t.proved);
  assert_true(t.proved > t.n * 9 / 10);
}

/* One accelerator: calls that have nothing to do with each other wait for it, which the bound does not know. */
TEST(one_accelerator_is_never_proved_wrong) {
  tally t = {0};
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(2000); seed++)
    judge(&t, &(lab_options){.seed = seed,
                             .n_operators = 3 + (int32_t)(seed % 4),
                             .n_devices = 2,
                             .density = 0.1 + 0.1 * (double)(seed % 7),
                             .unsupported = seed % 7 == 0,
                             .options = {.execution = SITU_EXECUTION_CALLS}});
  printf("%d problems, %d solved to the optimum, %d of them proved\n", (int)t.n, (int)t.solved, (int)t.proved);
  assert_true(t.proved > t.n / 2);
}

/* Two colocation groups, each of which the ideals cut: the calls that hold their members are tied to one device, and of
 * two labels neither may be dropped for the other without a look at that. Seed 470 shows it; each seed takes long. */
TEST(calls_that_groups_tie_to_one_device_are_never_proved_wrong) {
  tally t = {0};
  for (uint64_t seed = 470 - (uint64_t)rounds_of(130); seed <= 470 + (uint64_t)rounds_of(70); seed++)
    judge(&t, &(lab_options){.seed = seed,
                             .n_operators = 6,
                             .n_devices = 3,
                             .density = 0.1 + 0.08 * (double)(seed % 6),
                             .n_colocations = 2,
                             .equal = seed % 3 > 0,
                             .memory = seed % 2 ? 0.15 + 0.05 * (double)(seed % 11) : 0,
                             .options = {.execution = SITU_EXECUTION_CALLS, .max_calls = seed % 5 == 0 ? 2 : 0}});
  printf("%d problems, %d solved to the optimum, %d of them proved\n", (int)t.n, (int)t.solved, (int)t.proved);
  assert_true(t.proved > t.n / 3);
}

TEST_MAIN
