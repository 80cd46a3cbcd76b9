/* Random placements, the best kept: what any method must beat. Each is one step; ends after 64 of them. */
#include "base/fail.h"
#include "solve/kit/repair.h"

enum { DRAWS = 64 };

/* A device for the unit of v, uniform among those that every member may use; -1 when there is none. */
static int32_t draw(const situ_problem *p, const int32_t *members, int32_t n, rng *r) {
  int32_t chosen = -1, seen = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool allowed = true;
    for (int32_t i = 0; i < n && allowed; i++) allowed = problem_allows(p, members[i], d);
    if (allowed && rng_below(r, ++seen) == 0) chosen = d;
  }
  return chosen;
}

static situ_status solve(solve_run *run) {
  const situ_problem *p = run->problem;
  rng r = rng_new(run->seed);
  placement where = {.device = ARENA_NEW(run->arena, int32_t, p->n_operators)};
  if (!where.device) return fail_no_memory(run->error);
  for (int32_t draws = 0; draws < DRAWS && !solve_done(run); draws++) {
    for (int32_t v = 0; v < p->n_operators; v++) {
      int32_t group = p->graph->colocation[v];
      const int32_t *members = group >= 0 ? p->group_member + p->group_start[group] : &v;
      int32_t n = group >= 0 ? p->group_start[group + 1] - p->group_start[group] : 1;
      where.device[v] = members[0] == v ? draw(p, members, n, &r) : where.device[members[0]];
      if (where.device[v] < 0) return SITU_STATUS_OK;
    }
    repair_offer(run, &where);
  }
  return SITU_STATUS_OK;
}

const solver random_solver = {
    .name = "random",
    .title = "the best of 64 random placements",
    .source = "",
    .stream = true,
    .periods = true,
    .calls = true,
    .pipeline = true,
    .solve = solve,
};
