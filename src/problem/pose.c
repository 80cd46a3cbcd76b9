/* From options to the frozen problem. */
#include <stdlib.h>

#include "base/arguments.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "problem/claim.h"
#include "problem/problem.h"
#include "problem/scope.h"

static situ_status name_scope(situ_problem *p, situ_error *error) {
  text_buffer t = {0};
  scope found;
  scope_find(&found, p, 0);
  scope_add_plans(&t, &found);
  char *text = text_take(&t);
  p->scope = text ? arena_string(p->arena, text) : NULL;
  free(text);
  return p->scope ? SITU_STATUS_OK : fail_no_memory(error);
}

situ_status situ_problem_pose(situ_problem **out, const situ_graph *graph, const situ_platform *platform,
                              const situ_costs *costs, const situ_problem_options *options, situ_error *error) {
  situ_problem_options own;
  if (out) *out = NULL;
  TRY(GIVEN(error, out, graph, platform, costs));
  TRY(TAKE(own, options, SITU_PROBLEM_OPTIONS_INIT, error));
  arena *a = arena_new();
  bool held = a && arena_hold(a, graph->arena) && arena_hold(a, platform->arena) && arena_hold(a, costs->arena);
  situ_problem *p = held ? ARENA_ZERO(a, situ_problem, 1) : NULL;
  if (!p) {
    arena_free(a);
    return fail_no_memory(error);
  }
  p->arena = a;
  p->given = p->graph = graph;
  p->platform = platform;
  p->costs = costs;
  situ_status status = problem_fill(p, &own, error);
  if (status == SITU_STATUS_OK) status = name_scope(p, error);
  if (status == SITU_STATUS_OK && !unknown_find(&p->unknown, p->given, p->costs, a)) status = fail_no_memory(error);
  p->guessed = p->unknown.share > claim_max_share(p->max_unknown_percent);
  if (status != SITU_STATUS_OK) {
    arena_free(a);
    return status;
  }
  CONTRACT(problem_check(p));
  *out = p;
  return SITU_STATUS_OK;
}

situ_status situ_problem_change(situ_problem **out, const situ_problem *problem, const situ_costs *costs,
                                situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out, problem, costs));
  situ_problem_options same = problem_options_of(problem);
  return situ_problem_pose(out, problem->given, problem->platform, costs, &same, error);
}
