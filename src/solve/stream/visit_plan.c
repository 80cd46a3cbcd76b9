/* Plans from the labels of bound visit_labels: along its path they say which operators are in memory together. Memories
 * are chosen for the visits of the best one (chain/visit_trail.h); operators beside the path go where they end first,
 * by list scheduling; what does not fit goes elsewhere. A short run of `regions` then looks around the best of them.
 * Does nothing where that bound found no path. */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/stream/list.h"
#include "solve/stream/rank.h"

static const double TRIED = 0.02; /* of the budget, for regions */
static const int64_t TRIED_NS = 100000000;

/* The device of the wanted memory, or else of any, on which v ends first. */
static int32_t choose(void *context, partial_schedule *s, int32_t v) {
  const int32_t *memory = context;
  const situ_problem *p = s->problem;
  int32_t best = -1, n = partial_candidates(s, v);
  int64_t best_ns = 0;
  bool best_is_there = false;
  partial_arrive(s, v);
  for (int32_t i = 0; i < n; i++) {
    int32_t d = s->candidates[i];
    bool is_there = p->memory_of[d] == memory[v];
    int64_t end_ns = sat_add(partial_start(s, v, d, true), problem_time_ns(p, v, d));
    if (best >= 0 && (is_there < best_is_there || (is_there == best_is_there && end_ns >= best_ns))) continue;
    best = d;
    best_ns = end_ns;
    best_is_there = is_there;
  }
  return best;
}

static situ_status visit_plan_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  const certificate *proof = &run->incumbent->proof;
  int64_t before_ns = run->incumbent->value_ns;
  partial_schedule s;
  rank_costs costs;
  if (proof->n_placed != p->n_operators) return SITU_STATUS_OK;
  double *rank = ARENA_NEW(run->arena, double, p->n_operators);
  if (!rank || !partial_init_units(&s, p, solve_units(run), run->arena)) return fail_no_memory(run->error);
  if (p->contention == SITU_CONTENTION_LINK) partial_follow_links(&s, run->arena);
  for (rank_weight weight = 0; weight < N_RANK_WEIGHTS && !solve_done(run); weight++) {
    list_policy policy = {.priority = rank, .choose = choose, .context = proof->memory};
    if (!rank_costs_find(&costs, run->arena, p, weight)) return fail_no_memory(run->error);
    rank_upward(rank, p, &costs);
    partial_clear(&s);
    if (!list_schedule(&s, &policy, run->budget, run->arena)) return SITU_STATUS_OK;
    list_offer(run, &s);
  }
  if (run->incumbent->value_ns == before_ns || solve_done(run)) return SITU_STATUS_OK;
  bool counts_steps = run->budget->max_steps != INT64_MAX; /* then no plan may depend on time */
  return solver_run(&regions_solver, run, TRIED, counts_steps ? 0 : TRIED_NS);
}

const solver visit_plan_solver = {
    .name = "visit_plan",
    .title = "the memories along a path that the bound visit_labels chooses, the rest by list scheduling",
    .source = "",
    .models = MODEL_STREAM,
    .starts = {{&heft_solver, 1}},
    .solve = visit_plan_solve,
};
