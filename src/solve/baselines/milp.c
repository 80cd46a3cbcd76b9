/* milp: placements as mixed-integer programs, solved by an engine (lp/mip.h): branch and cut (Padberg and Rinaldi,
 * 1991).
 *
 * One program for each kind of problem: milp_pipeline.c, ... Each starts from the best plan so far. The engine works in
 * floating point. What it finds goes to the simulator like any placement, and its proofs are not trusted. An error of
 * the engine could lose a plan, but never keep a wrong one. docs/theory/baselines/milp.md. */
#include "solve/baselines/milp.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/fail.h"
#include "lp/mip.h"

/* A step is one coefficient of the program. The root costs all of them, each other node 1 / NODES_OF_ROOT of them. A
 * budget too small for the root starts nothing. */
enum { NODES_OF_ROOT = 16 };
static const int64_t MAX_ENTRIES = 2000000;

#define ADDRESS(NAME) &milp_##NAME,
static const milp_program *const programs[] = {MILP_ROWS(ADDRESS) NULL};

static const milp_program *program_of(const situ_problem *p) {
  for (int32_t i = 0; programs[i]; i++)
    if (programs[i]->serves(p)) return programs[i];
  return NULL;
}

static bool milp_serves(const situ_problem *p) { return program_of(p) != NULL; }

typedef struct milp_search {
  solve_run *run;
  const milp_program *kind;
  void *state;
} milp_search;

static void offer(void *context, const double *x) {
  milp_search *s = context;
  s->kind->offer(s->state, x);
}

static bool stop(void *context) {
  milp_search *s = context;
  return budget_over(s->run->budget);
}

static double seconds_left(const budget *b) {
  return b->deadline_ns == INT64_MAX ? (double)INFINITY : fmax(0, (double)(b->deadline_ns - clock_now_ns()) / 1e9);
}

/* Logs why the engine was not run. */
static void tell_size(const solve_run *run, const program *p) {
  log_to to = run->watch->log;
  if (p->n_columns == 0)
    log_line(to, SITU_LOG_WARNING, "milp: the program has no free variables");
  else if (p->n_entries > MAX_ENTRIES)
    log_line(to, SITU_LOG_WARNING, "milp: the program of %lld coefficients is too large; at most %lld are tried",
             (long long)p->n_entries, (long long)MAX_ENTRIES);
  else
    log_line(to, SITU_LOG_WARNING, "milp: the root of the program takes %lld steps, more than are left",
             (long long)p->n_entries);
}

/* Logs what the engine did when it improved no plan. */
static void tell_search(const solve_run *run, const mip_outcome *found, int64_t before_ns) {
  if (run->incumbent->value_ns < before_ns) return;
  log_line(run->watch->log, SITU_LOG_WARNING, "milp: found no better plan; %lld nodes of branch and cut by %s, %s",
           (long long)found->n_nodes, found->engine,
           found->n_crashes > 0 ? "and the engine crashed"
           : found->is_ended    ? "which the engine considers complete"
                                : "until a limit");
}

static situ_status milp_solve(solve_run *run) {
  if (run->problem->n_operators == 0 || solve_done(run)) return SITU_STATUS_OK;
  const milp_program *kind = program_of(run->problem);
  if (kind->prove) TRY(kind->prove(run));
  if (solve_done(run)) return SITU_STATUS_OK;
  program p = program_new(run->arena);
  milp_search s = {.run = run, .kind = kind};
  s.state = s.kind->write(&p, run);
  if (!s.state || p.out_of_memory) return fail_no_memory(run->error);
  if (p.n_columns == 0 || p.n_entries > min64(MAX_ENTRIES, run->budget->max_steps - run->budget->steps)) {
    tell_size(run, &p);
    return SITU_STATUS_OK;
  }
  int64_t *start = ARENA_ZERO(run->arena, int64_t, p.n_columns);
  if (!start) return fail_no_memory(run->error);
  bool known = run->incumbent->best.device && s.kind->start(s.state, start);
  const budget *b = run->budget;
  int64_t steps_of_node = p.n_entries / NODES_OF_ROOT + 1, steps_left = b->max_steps - b->steps;
  mip_limits limits = {
      .seconds = seconds_left(b),
      .max_nodes = b->max_steps == INT64_MAX ? INT64_MAX : (steps_left - p.n_entries) / steps_of_node + 1,
      .seed = (int32_t)(run->seed & 0x7fffffff),
      .start = known ? start : NULL,
      .stop = stop,
      .context = &s};
  if (mip_missing()) return fail_with(run->error, SITU_STATUS_UNSUPPORTED, "milp", "%s", mip_missing());
  int64_t before_ns = run->incumbent->value_ns;
  mip_outcome found;
  if (!mip_search(&found, &p, &limits, offer, &s, run->arena)) return fail_no_memory(run->error);
  budget_spend(run->budget, p.n_entries + found.n_nodes * steps_of_node);
  tell_search(run, &found, before_ns);
  solve_count(run, "milp.highs", strcmp(found.engine, "HiGHS") == 0);
  solve_count(run, "milp.nodes", found.n_nodes);
  solve_count(run, "milp.ended", found.is_ended);
  solve_count(run, "milp.claimed_bound_ns", found.bound / (kind->ticks ? kind->ticks(s.state) : 1));
  if (found.n_crashes > 0) solve_count(run, "milp.crashes", found.n_crashes);
  return SITU_STATUS_OK;
}

const solver milp_solver = {
    .name = "milp",
    .title = "mixed-integer linear program, by branch and cut",
    .source = "Padberg, Rinaldi, SIAM Review 1991; Tarnawski et al., NeurIPS 2020",
    .models = MODEL_STREAM | MODEL_CALLS | MODEL_PIPELINE,
    .periods = true,
    .anytime = true,
    .serves = milp_serves,
    .starts = {{&single_solver, 1}, {&m_topo_solver, 1}, {&heft_solver, 1}, {&greedy_solver, 1}},
    .solve = milp_solve,
};
