/* The main path:
 *
 *     model --read--> graph --estimate(platform)--> costs --pose--> problem --solve--> plan
 *
 * One line below for each arrow; everything else of situ hangs on one of them. */
#include "api/instance.h"
#include "base/fail.h"
#include "solve/common/solver.h"

const char *situ_version(void) { return SITU_VERSION; }

static situ_status open_steps(situ_instance *i, const situ_instance_options *options, situ_error *error) {
  TRY(instance_keep_options(i, options, error));
  TRY(situ_model_read(&i->model, i->options.model, &i->options.read, error));
  TRY(instance_read_platform(i, error));
  TRY(instance_read_costs(i, error));
  TRY(instance_make_copies(i, error));
  TRY(instance_read_constraints(i, error));
  situ_problem_options posed = i->options.problem;
  posed.pins = i->pins;
  posed.unused = i->unused;
  return situ_problem_pose(&i->problem, i->graph, i->platform, i->costs, &posed, error);
}

situ_status situ_instance_open(situ_instance **out, const situ_instance_options *options, situ_error *error) {
  *out = NULL;
  arena *a = arena_new();
  situ_instance *i = a ? ARENA_ZERO(a, situ_instance, 1) : NULL;
  if (!i) {
    arena_free(a);
    return fail_no_memory(error);
  }
  i->arena = a;
  situ_status status = open_steps(i, options, error);
  if (status == SITU_STATUS_OK)
    *out = i;
  else
    situ_instance_free(i);
  return status;
}

static bool all_pinned(const situ_problem *p) {
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] < 0) return false;
  return p->n_operators > 0;
}

situ_status situ_place(situ_plan **out, situ_instance **instance, const situ_instance_options *options,
                       const situ_solve_options *solve, situ_error *error) {
  *out = NULL;
  TRY(situ_instance_open(instance, options, error));
  const situ_problem *problem = (*instance)->problem;
  situ_status status =
      all_pinned(problem) ? evaluate_pins(out, *instance, error) : situ_solve(out, problem, solve, error);
  if (status == SITU_STATUS_OK) return status;
  situ_instance_free(*instance);
  *instance = NULL;
  return status;
}

void situ_instance_free(situ_instance *i) {
  if (!i) return;
  situ_problem_free(i->problem);
  situ_costs_free(i->copied_costs);
  situ_graph_free(i->copies);
  situ_costs_free(i->own_costs);
  situ_platform_free(i->own_platform);
  situ_model_free(i->model);
  arena_free(i->arena);
}

const situ_problem *situ_instance_problem(const situ_instance *i) { return i->problem; }
const situ_model *situ_instance_model(const situ_instance *i) { return i->model; }
