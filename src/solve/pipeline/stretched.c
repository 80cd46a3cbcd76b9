/* stretched: free pipelines of networks that repeat themselves. The same unit of many consecutive layers is one
 * (view/level.h, ranges), so that few units are left, and free_search can search them well: a good plan of few layers,
 * each stretched over many. docs/theory/level.md. */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/common/search.h"
#include "view/level.h"

enum { RANGES, RANGES_OF_A_DEVICE, N_PARAMETERS };
static const solver_parameter STRETCHED_PARAMETERS[N_PARAMETERS] = {
    [RANGES] = {"ranges", 16, 1, 1e6, "ranges of layers, where there are so many, or more for many devices"},
    [RANGES_OF_A_DEVICE] = {"ranges_of_a_device", 2, 0, 1e6, "ranges for each device, at least"},
};

/* Searches plans in which the units of a range are one. The search alone, from nothing: it then aims at the lower
 * bound, which is nearer than any plan found at once. */
static situ_status search_ranges(solve_run *parent, const unit_list *units) {
  solve_run run = *parent;
  incumbent found;
  run.units = units;
  run.incumbent = &found;
  if (!incumbent_init(&found, run.problem, parent->arena)) return fail_no_memory(parent->error);
  found.lower_bound_ns = parent->incumbent->lower_bound_ns;
  situ_status status = solver_search(&free_search_solver, &run, 1);
  if (status == SITU_STATUS_OK && found.value_ns < parent->incumbent->value_ns) solve_offer(parent, &found.best);
  incumbent_free(&found);
  return status;
}

static situ_status stretched_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  level_list ranges;
  double set[N_PARAMETERS];
  if (p->n_operators == 0 || solve_done(run)) return SITU_STATUS_OK;
  search_parameters_get(set, run, STRETCHED_PARAMETERS, N_PARAMETERS);
  int64_t wanted = max64((int64_t)set[RANGES], (int64_t)set[RANGES_OF_A_DEVICE] * p->n_devices);
  if (!level_ranges.find(&ranges, p, &(level_request){.n_wanted = (int32_t)wanted}, run->arena))
    return fail_no_memory(run->error);
  bool few = ranges.n > 0 && ranges.of[0].n <= p->units.n / 2;
  return few ? search_ranges(run, &ranges.of[0]) : SITU_STATUS_OK;
}

static bool stretched_serves(const situ_problem *p) {
  return p->n_operators > SOLVE_FEW && p->n_devices > 1 && solver_serves(&free_search_solver, p);
}

const solver stretched_solver = {
    .name = "stretched",
    .title = "few layers well placed, each stretched over many, for non-contiguous pipelines",
    .source = "Weisfeiler, Leman, 1968; Karypis, Kumar, DAC 1999",
    .models = MODEL_PIPELINE,
    .anytime = true,
    .serves = stretched_serves,
    .starts = {{&single_solver, 1}, {&m_topo_solver, 1}},
    .solve = stretched_solve,
    .parameters = STRETCHED_PARAMETERS,
    .n_parameters = N_PARAMETERS,
};
