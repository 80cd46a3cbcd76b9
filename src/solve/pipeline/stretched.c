/* stretched: free pipelines of networks that repeat themselves. The same unit of many consecutive layers is one
 * (pipeline/repeats.h), so that few units are left, and free_search can search them well: a good plan of few layers,
 * each stretched over many. docs/theory/heuristics/stretched.md. */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/common/solver.h"
#include "solve/pipeline/repeats.h"

enum { FEW_RANGES = 16, RANGES_OF_A_DEVICE = 2, FEW_REPEATS = 8 };

/* How many ranges of layers: enough for each device to have some, and each of two layers or more. */
static int32_t ranges_wanted(const situ_problem *p, int32_t n_repeats) {
  int64_t wanted = max64(FEW_RANGES, RANGES_OF_A_DEVICE * (int64_t)p->n_devices);
  return (int32_t)min64(wanted, n_repeats / 2);
}

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
  repeats layers;
  unit_list units;
  if (p->n_operators == 0 || solve_done(run)) return SITU_STATUS_OK;
  if (!repeats_find(&layers, p, run->arena)) return fail_no_memory(run->error);
  if (layers.n < FEW_REPEATS) return SITU_STATUS_OK;
  if (!repeats_merge(&units, &layers, ranges_wanted(p, layers.n), run->arena)) return fail_no_memory(run->error);
  return units.n <= p->units.n / 2 ? search_ranges(run, &units) : SITU_STATUS_OK;
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
};
