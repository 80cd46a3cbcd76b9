#include "solve/kit/start.h"

#include "base/fail.h"

extern const solver heft_solver, m_topo_solver, single_solver;

static situ_status start_with(solve_run *run, const solver *first, const solver *second) {
  if (run->incumbent->best.device) return SITU_STATUS_OK;
  TRY(solver_run(first, run, 1, 0));
  return solver_run(second, run, 1, 0);
}

situ_status start_stream(solve_run *run) { return start_with(run, &heft_solver, &single_solver); }

situ_status start_pipeline(solve_run *run) { return start_with(run, &single_solver, &m_topo_solver); }
