/* call_dp against brute force over all placements and all ways to call: its bound is never above the optimum, and what it
 * calls optimal is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../lab/brute.h"
#include "../lab/lab.h"
#include "situ/solve.h"

typedef struct tally {
  int32_t n, solved, proved, impossible;
} tally;

static void judge(tally *t, const lab_options *o) {
  lab l = lab_random(o);
  int64_t optimum = brute_force_calls(l.problem);
  situ_plan *plan;
  situ_error error;
  situ_solve_options with = {.solvers = "call_dp"};
  if (situ_solve(&plan, l.problem, &with, &error) != SITU_STATUS_OK) fail_msg("seed %d: %s", (int)o->seed, error.text);
  int64_t value = situ_plan_value_ns(plan), lower = situ_plan_lower_bound_ns(plan);
  if (lower > optimum || value < optimum)
    fail_msg("seed %d: the optimum is %lld; found %lld, bound %lld", (int)o->seed, (long long)optimum, (long long)value,
             (long long)lower);
  t->n++;
  t->impossible += optimum == SITU_NEVER_NS;
  t->solved += value == optimum;
  t->proved += value == optimum && lower == optimum;
  situ_plan_free(plan);
  lab_free(&l);
}

static void nothing_proved_is_wrong(void **state) {
  (void)state;
  tally t = {0};
  for (uint64_t seed = 1; seed <= 1500; seed++)
    judge(&t, &(lab_options){.seed = seed, .n_operators = 3 + (int32_t)(seed % 3), .n_devices = 2 + (int32_t)(seed % 2),
                             .density = 0.15 + 0.1 * (double)(seed % 6), .n_colocations = (int32_t)(seed / 2 % 3),
                             .pinned = seed % 5 == 0, .unsupported = seed % 7 == 0,
                             .memory = seed % 3 ? 0.25 + 0.05 * (double)(seed % 13) : 0,
                             .options = {.execution = SITU_EXECUTION_CALLS}});
  printf("%d problems, %d without a plan, %d solved to the optimum, %d of them proved\n", (int)t.n, (int)t.impossible,
         (int)t.solved, (int)t.proved);
  assert_true(t.proved > t.n / 2);
}

/* One accelerator: calls that have nothing to do with each other wait for it, which the bound does not know. */
static void one_accelerator_is_never_proved_wrong(void **state) {
  (void)state;
  tally t = {0};
  for (uint64_t seed = 1; seed <= 2000; seed++)
    judge(&t, &(lab_options){.seed = seed, .n_operators = 3 + (int32_t)(seed % 4), .n_devices = 2,
                             .density = 0.1 + 0.1 * (double)(seed % 7), .unsupported = seed % 7 == 0,
                             .options = {.execution = SITU_EXECUTION_CALLS}});
  printf("%d problems, %d solved to the optimum, %d of them proved\n", (int)t.n, (int)t.solved, (int)t.proved);
  assert_true(t.proved > t.n / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_proved_is_wrong),
                                     cmocka_unit_test(one_accelerator_is_never_proved_wrong)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
