/* All solvers that there are, and the public face of solving. */
#include "api/registry.h"

#include "base/arguments.h"
#include "bound/bound.h"
#include "learn/learned_solvers.h"
#include "solve/select.h"
#include "solve/solve.h"

#define ADDRESS(NAME) &NAME##_solver,
const solver *const all_solvers[] = {SOLVER_ROWS(ADDRESS) LEARNED_ROWS(ADDRESS) NULL};

situ_status situ_solve(situ_plan **out, const situ_problem *problem, const situ_solve_options *given,
                       situ_error *error) {
  situ_solve_options options;
  if (out) *out = NULL;
  TRY(GIVEN(error, out, problem));
  TRY(TAKE(options, given, SITU_SOLVE_OPTIONS_INIT, error));
  return solve_problem(out, all_solvers, problem, &options, error);
}

int32_t situ_solver_count(void) { return (int32_t)(sizeof all_solvers / sizeof all_solvers[0]) - 1; }

bool situ_solver_at(int32_t index, situ_solver_info *out) {
  if (index < 0 || index >= situ_solver_count()) return false;
  const solver *s = all_solvers[index];
  situ_solver_info info = {.name = s->name,
                           .title = s->title,
                           .source = s->source,
                           .stream = s->models & MODEL_STREAM && !s->missing,
                           .calls = s->models & MODEL_CALLS && !s->missing,
                           .pipeline = s->models & MODEL_PIPELINE && !s->missing,
                           .exact = s->exact,
                           .missing = s->missing};
  return GIVE(out, info);
}

bool situ_solver_serves(const char *name, const situ_problem *problem) {
  const solver *s = name && problem ? solver_find(all_solvers, name) : NULL;
  return s && solver_serves(s, problem);
}

int32_t situ_bound_count(void) {
  int32_t n = 0;
  while (bounds[n]) n++;
  return n;
}

bool situ_bound_at(int32_t index, situ_bound_info *out) {
  if (index < 0 || index >= situ_bound_count()) return false;
  const bound *b = bounds[index];
  situ_bound_info info = {.name = b->name,
                          .title = b->title,
                          .source = b->source,
                          .stream = b->models & MODEL_STREAM,
                          .calls = b->models & MODEL_CALLS,
                          .pipeline = b->models & MODEL_PIPELINE};
  return GIVE(out, info);
}
