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

situ_status situ_place(situ_plan **out, situ_instance **instance, const situ_instance_options *options,
                       const situ_solve_options *solve, situ_error *error) {
  if (out) *out = NULL;
  if (instance) *instance = NULL;
  TRY(GIVEN(error, out, instance));
  TRY(situ_instance_open(instance, options, error));
  const situ_problem *problem = (*instance)->problem;
  situ_status status =
      all_pinned(problem) ? evaluate_pins(out, *instance, error) : situ_solve(out, problem, solve, error);
  if (status == SITU_STATUS_OK) return status;
  situ_instance_free(*instance);
  *instance = NULL;
  return status;
}
