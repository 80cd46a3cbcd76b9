/* All solvers that there are, and the public face of solving. */
#include "base/fail.h"
#include "learn/learned_solvers.h"
#include "solve/solve.h"

#define ADDRESS(NAME) &NAME##_solver,
static const solver *const all_solvers[] = {SOLVER_ROWS(ADDRESS) LEARNED_ROWS(ADDRESS) NULL};

situ_status situ_solve(situ_plan **out, const situ_problem *problem, const situ_solve_options *options,
                       situ_error *error) {
  situ_solve_options none = {0};
  return solve_problem(out, all_solvers, problem, options ? options : &none, error);
}

int32_t situ_n_solvers(void) { return (int32_t)(sizeof all_solvers / sizeof all_solvers[0]) - 1; }

situ_solver_info situ_solver_at(int32_t index) {
  if (index < 0 || index >= situ_n_solvers()) return (situ_solver_info){.name = "", .title = "", .source = ""};
  const solver *s = all_solvers[index];
  return (situ_solver_info){.name = s->name,
                            .title = s->title,
                            .source = s->source,
                            .stream = s->models & MODEL_STREAM && !s->missing,
                            .calls = s->models & MODEL_CALLS && !s->missing,
                            .pipeline = s->models & MODEL_PIPELINE && !s->missing,
                            .exact = s->exact};
}

bool situ_solver_serves(const char *name, const situ_problem *problem) {
  const solver *s = solver_find(all_solvers, name);
  return s && solver_serves(s, problem);
}
