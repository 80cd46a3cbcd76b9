/* The table of solvers, and what is done with a row of it. */
#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "solve/solver.h"
#include "solve/walks.h"

extern const solver auto_solver;
extern const solver block_dp_solver;
extern const solver branch_and_bound_solver;
extern const solver call_dp_solver;
extern const solver call_search_solver;
extern const solver chain_search_solver;
extern const solver configuration_solver;
extern const solver cpop_solver;
extern const solver cross_entropy_solver;
extern const solver dls_solver;
extern const solver free_search_solver;
extern const solver gdp_solver;
extern const solver greedy_solver;
extern const solver hdp_solver;
extern const solver heft_solver;
extern const solver hsdag_solver;
extern const solver ideal_dp_solver;
extern const solver iterated_greedy_solver;
extern const solver layers_solver;
extern const solver linear_dp_solver;
extern const solver lns_solver;
extern const solver local_search_solver;
extern const solver lookahead_solver;
extern const solver m_etf_solver;
extern const solver m_sct_solver;
extern const solver m_topo_solver;
extern const solver metis_solver;
extern const solver milp_solver;
extern const solver peft_solver;
extern const solver pipedream_solver;
extern const solver placeto_solver;
extern const solver random_solver;
extern const solver rnn_placer_solver;
extern const solver scotch_solver;
extern const solver server_dp_solver;
extern const solver server_heft_solver;
extern const solver single_solver;
extern const solver splitting_solver;
extern const solver stage_lns_solver;
extern const solver stage_prices_solver;
extern const solver tabu_solver;
extern const solver tradeoff_solver;

/* In the order in which people should read them. */
const solver *const solvers[] = {
    &auto_solver,
    &single_solver,
    &m_topo_solver,
    &layers_solver,
    &heft_solver,
    &peft_solver,
    &lookahead_solver,
    &cpop_solver,
    &dls_solver,
    &m_etf_solver,
    &m_sct_solver,
    &splitting_solver,
    &server_dp_solver,
    &server_heft_solver,
    &tabu_solver,
    &tradeoff_solver,
    &iterated_greedy_solver,
    &lns_solver,
    &block_dp_solver,
    &branch_and_bound_solver,
    &greedy_solver,
    &call_dp_solver,
    &call_search_solver,
    &pipedream_solver,
    &scotch_solver,
    &metis_solver,
    &linear_dp_solver,
    &local_search_solver,
    &free_search_solver,
    &ideal_dp_solver,
    &stage_prices_solver,
    &stage_lns_solver,
    &chain_search_solver,
    &configuration_solver,
    &milp_solver,
    &gdp_solver,
    &hsdag_solver,
    &random_solver,
    &cross_entropy_solver,
    &rnn_placer_solver,
    &hdp_solver,
    &placeto_solver,
    NULL,
};

const solver *solver_find(const char *name) {
  for (int32_t i = 0; solvers[i]; i++)
    if (strcmp(solvers[i]->name, name) == 0) return solvers[i];
  return NULL;
}

bool solver_serves(const solver *s, const situ_problem *problem) {
  if (s->missing) return false;
  bool model = (problem->execution == SITU_EXECUTION_STREAM && s->stream) ||
               (problem->execution == SITU_EXECUTION_CALLS && s->calls) ||
               (problem->execution == SITU_EXECUTION_PIPELINE && s->pipeline);
  if (problem->execution == SITU_EXECUTION_STREAM && problem->objective == SITU_OBJECTIVE_THROUGHPUT)
    model &= s->periods;
  return model && (!s->serves || s->serves(problem));
}

static int64_t part_of(int64_t rest, double share) {
  if (rest == INT64_MAX || rest <= 0) return 0;
  int64_t part = share >= 1 ? rest : (int64_t)((double)rest * share);
  return part > 0 ? part : 1;
}

/* `what` of a solver on a part of the parent's budget. */
static situ_status run_part(situ_status (*what)(solve_run *run), const solver *s, const solve_run *parent, double share,
                            int64_t limit_ns) {
  budget *whole = parent->budget;
  int64_t steps = whole->max_steps == INT64_MAX ? 0 : part_of(whole->max_steps - whole->steps, share);
  int64_t time = whole->deadline_ns == INT64_MAX ? 0 : part_of(whole->deadline_ns - clock_now_ns(), share);
  if (limit_ns > 0) time = time > 0 ? min64(time, limit_ns) : limit_ns;
  budget part = budget_part(whole, steps, time);
  solve_run run = *parent;
  run.budget = &part;
  run.solver = s->name;
  solve_watch before = *parent->watch;
  parent->watch->steps_before += whole->steps;
  parent->watch->running = &part;
  parent->watch->solver = s->name;
  arena_mark mark = arena_get_mark(parent->arena);
  situ_status status;
  if (what) {
    status = what(&run);
  } else if (s->multistart && !run.walk) {
    status = walks_rounds(&run, &(walks_cast){.search = {s}, .n_searches = 1});
  } else {
    status = s->start ? s->start(&run) : SITU_STATUS_OK;
    if (status == SITU_STATUS_OK) status = s->solve(&run);
  }
  arena_release(parent->arena, mark);
  *parent->watch = before;
  budget_join(whole, &part);
  return status;
}

situ_status solver_run(const solver *s, const solve_run *parent, double share, int64_t limit_ns) {
  return run_part(NULL, s, parent, share, limit_ns);
}

situ_status solver_start(const solver *s, const solve_run *parent, double share) {
  return s->start ? run_part(s->start, s, parent, share, 0) : SITU_STATUS_OK;
}

situ_status solver_go_on(const solver *s, const solve_run *parent, double share) {
  return run_part(s->solve, s, parent, share, 0);
}

int32_t situ_n_solvers(void) { return (int32_t)(sizeof solvers / sizeof solvers[0]) - 1; }

situ_solver_info situ_solver_at(int32_t index) {
  if (index < 0 || index >= situ_n_solvers()) return (situ_solver_info){.name = "", .title = "", .source = ""};
  const solver *s = solvers[index];
  return (situ_solver_info){.name = s->name,
                            .title = s->title,
                            .source = s->source,
                            .stream = s->stream && !s->missing,
                            .calls = s->calls && !s->missing,
                            .pipeline = s->pipeline && !s->missing,
                            .exact = s->exact};
}

bool situ_solver_serves(const char *name, const situ_problem *problem) {
  const solver *s = solver_find(name);
  return s && solver_serves(s, problem);
}
