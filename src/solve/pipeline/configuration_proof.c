/* The configuration bound as a solver: it finds no plan, it bounds the incumbent from below (bound/configuration.h).
 * It runs after the solvers that end by themselves, since it needs a plan, and before the searches, which stop when
 * they reach the bound. */
#include "bound/configuration.h"
#include "solve/common/solver.h"

static situ_status configuration_solve(solve_run *run) {
  int64_t lower_ns = run->incumbent->lower_bound_ns;
  situ_status status =
      configuration_raise(&lower_ns, run->problem, run->incumbent->value_ns, run->arena, run->budget, run->error);
  if (status == SITU_STATUS_OK) solve_bound(run, lower_ns, "configuration");
  return status;
}

const solver configuration_solver = {.name = "configuration",
                                     .title = "proof only: prices of operators that the devices cannot hold together",
                                     .source = "Gilmore and Gomory, Operations Research 1961",
                                     .models = MODEL_PIPELINE,
                                     .exact = true,
                                     .serves = configuration_serves,
                                     .solve = configuration_solve};
