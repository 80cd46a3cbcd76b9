/* The main path: a problem is solved, or judged where its pins leave one placement only. Everything else of situ hangs
 * on an arrow of api/instance.c, or on this one:
 *
 *     problem --solve--> plan
 */
#include "api/evaluate.h"
#include "api/instance.h"
#include "base/arguments.h"
#include "solve/common/solver.h"

static bool all_pinned(const situ_problem *p) {
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] < 0) return false;
  return p->n_operators > 0;
}

/* Solves for a plan that the writers of the instance can represent, starting from the plan file that the options name
 * and the caller's starts. */
static situ_status solve_from(situ_plan **out, const situ_instance *i, const situ_solve_options *solve,
                              situ_error *error) {
  situ_solve_options own;
  TRY(TAKE(own, solve, SITU_SOLVE_OPTIONS_INIT, error));
  own.size = sizeof own;
  own.form |= i->form;
  if (!i->options.start || own.n_starts < 0 || (own.n_starts > 0 && !own.starts))
    return situ_solve(out, i->problem, &own, error);
  situ_plan *start = NULL;
  const situ_plan **starts = NULL;
  arena *a = arena_new();
  situ_status status = a && (starts = ARENA_NEW(a, const situ_plan *, (int64_t)own.n_starts + 1))
                           ? evaluate_file(&start, i, i->options.start, error)
                           : fail_no_memory(error);
  if (status == SITU_STATUS_OK) {
    for (int32_t k = 0; k < own.n_starts; k++) starts[k] = own.starts[k];
    starts[own.n_starts++] = start;
    own.starts = starts;
    status = situ_solve(out, i->problem, &own, error);
  }
  situ_plan_free(start);
  arena_free(a);
  return status;
}

situ_status situ_place(situ_plan **out, situ_instance **instance, const situ_instance_options *options,
                       const situ_solve_options *solve, situ_error *error) {
  if (out) *out = NULL;
  if (instance) *instance = NULL;
  TRY(GIVEN(error, out, instance));
  TRY(situ_instance_open(instance, options, error));
  const situ_problem *problem = (*instance)->problem;
  situ_status status =
      all_pinned(problem) ? evaluate_pins(out, *instance, error) : solve_from(out, *instance, solve, error);
  if (status == SITU_STATUS_OK) return status;
  situ_instance_free(*instance);
  *instance = NULL;
  return status;
}
