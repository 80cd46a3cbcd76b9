/* HEFT: operators by upward rank, each to the device where it ends first, gaps included (Topcuoglu, Hariri, Wu, TPDS
 * 2002). Run once for each way of making ranks out of unlike devices, and where links serve one transfer at a time once
 * more with channels followed; the best by simulation stays. */
#include "base/fail.h"
#include "solve/kit/list.h"
#include "solve/kit/rank.h"

enum { ALL_WAYS_UP_TO = 200000 };

/* One schedule. False when the budget or memory ended. */
static bool schedule(solve_run *run, draft *s, double *rank, rank_weight way) {
  arena_mark mark = arena_get_mark(run->arena);
  rank_costs costs;
  bool going = rank_costs_find(&costs, run->arena, run->problem, way);
  if (going) rank_upward(rank, run->problem, &costs);
  arena_release(run->arena, mark);
  if (!going) return false;
  draft_clear(s);
  going = list_schedule(s, &(list_policy){.priority = rank}, run->budget, run->arena);
  if (going) list_offer(run, s);
  return going;
}

/* Schedules without the memory that was exceeded most, then without one more, until some plan fits: what tensors take while
 * they live is not known before. */
static situ_status leave_out_full(solve_run *run, draft *s, double *rank) {
  const situ_problem *p = run->problem;
  bool *closed = ARENA_ZERO(run->arena, bool, p->n_memories);
  if (!closed) return fail_no_memory(run->error);
  s->closed = closed;
  for (int32_t k = 1; k < p->n_memories && !run->incumbent->best.device && !solve_done(run); k++) {
    simulation found = solve_try(run, &(placement){.device = s->device, .order = s->order});
    int32_t full = -1;
    int64_t worst = 0;
    for (int32_t m = 0; m < p->n_memories && found.peak_bytes; m++) {
      int64_t limit = p->platform->memory_bytes[m];
      if (closed[m] || limit == SITU_UNLIMITED_BYTES || found.peak_bytes[m] - limit <= worst) continue;
      worst = found.peak_bytes[m] - limit;
      full = m;
    }
    if (full < 0) break;
    closed[full] = true;
    if (!schedule(run, s, rank, RANK_MEAN)) break;
  }
  s->closed = NULL;
  return SITU_STATUS_OK;
}

static situ_status solve(solve_run *run) {
  const situ_problem *p = run->problem;
  double *rank = ARENA_NEW(run->arena, double, p->n_operators);
  draft s;
  if (!rank || !draft_init(&s, p, run->arena)) return fail_no_memory(run->error);
  int32_t ways = p->n_operators <= ALL_WAYS_UP_TO ? N_RANK_WEIGHTS : 1;
  for (int32_t way = 0; way < ways && (way == 0 || !solve_done(run)); way++) {
    if (!schedule(run, &s, rank, (rank_weight)way)) return SITU_STATUS_OK;
    if (way == 0 && !run->incumbent->best.device) TRY(leave_out_full(run, &s, rank));
  }
  if (p->contention == SITU_CONTENTION_NONE || p->n_operators > ALL_WAYS_UP_TO || solve_done(run) ||
      !draft_follow_links(&s, run->arena))
    return SITU_STATUS_OK;
  for (int32_t way = 0; way < ways && !solve_done(run); way++)
    if (!schedule(run, &s, rank, (rank_weight)way)) break;
  return SITU_STATUS_OK;
}

const solver heft_solver = {
    .name = "heft",
    .title = "heterogeneous earliest finish time",
    .source = "Topcuoglu, Hariri, Wu, TPDS 2002",
    .stream = true,
    .portfolio = 3,
    .solve = solve,
};
