/* Everything on one device: the reference for every other plan. */
#include "base/fail.h"
#include "solve/common/solver.h"
#include "view/equal_devices.h"

static situ_status single_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  placement all = {.device = ARENA_NEW(run->arena, int32_t, p->n_operators)};
  equal_devices equal;
  if (!all.device || !equal_devices_find(&equal, p, EQUAL_ALONE, run->arena)) return fail_no_memory(run->error);
  bool pinned = false; /* by pins, which tell equal devices apart */
  for (int32_t v = 0; v < p->n_operators; v++) pinned |= p->pin[v] >= 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (p->unused[d] || (!pinned && !equal_devices_first(&equal, d))) continue;
    for (int32_t v = 0; v < p->n_operators; v++) all.device[v] = d;
    solve_offer(run, &all);
    if (d + 1 < p->n_devices && solve_done(run)) break;
  }
  return SITU_STATUS_OK;
}

const solver single_solver = {
    .name = "single",
    .title = "everything on the best single device",
    .source = "",
    .models = MODEL_STREAM | MODEL_CALLS | MODEL_PIPELINE,
    .chunks = true,
    .periods = true,
    .solve = single_solve,
};
