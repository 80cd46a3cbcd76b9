/* Entry point of all solvers: names in, a checked plan out. README.md in this folder describes the steps. */
#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "base/hash.h"
#include "bound/bound.h"
#include "option/option.h"
#include "solve/answer/answer.h"
#include "solve/answer/form_search.h"
#include "solve/common/best_single.h"
#include "solve/common/exchange.h"
#include "solve/common/walks.h"
#include "solve/first_bounds.h"
#include "solve/select.h"
#include "solve/solve.h"
#include "view/footprint.h"

static const int64_t DEFAULT_LIMIT_NS = 10000000000;

/* Tells the caller at once, and then as often as solve.h promises. */
static bool report(void *context) {
  static const int64_t BETWEEN_NS = 10000000;
  solve_watch *w = context;
  int64_t now_ns = w->callback ? clock_now_ns() : 0;
  if (!w->callback || (w->last_report_ns > 0 && now_ns - w->last_report_ns < BETWEEN_NS)) return false;
  w->last_report_ns = now_ns;
  situ_progress now = {.size = sizeof now,
                       .solver = w->solver,
                       .seconds = (double)(now_ns - w->start_ns) / 1e9,
                       .steps = w->steps_before + w->running->steps,
                       .value_ns = w->incumbent->value_ns,
                       .lower_bound_ns = w->incumbent->lower_bound_ns};
  return w->callback(w->context, &now);
}

/* Logs what is known so far. */
static void log_state(const solve_run *run, const char *who) {
  const incumbent *i = run->incumbent;
  if (i->value_ns == SITU_NEVER_NS)
    log_line(run->watch->log, SITU_LOG_NOTE, "%s: no plan yet, lower bound %lld ns, %lld steps", who,
             (long long)i->lower_bound_ns, (long long)run->budget->steps);
  else
    log_line(run->watch->log, SITU_LOG_NOTE, "%s: value %lld ns, lower bound %lld ns, %lld steps", who,
             (long long)i->value_ns, (long long)i->lower_bound_ns, (long long)run->budget->steps);
}

/* Runs each solver in turn. Those that end by themselves may use all that is left; the others share it evenly. The
 * first one runs even where the bounds have used up the limits, since most find some plan at once. */
static situ_status run_all(const selection *chosen, solve_run *run) {
  int32_t anytime_left = chosen->n_anytime;
  bool limited = run->budget->max_steps != INT64_MAX || run->budget->deadline_ns != INT64_MAX;
  for (int32_t i = 0; i < chosen->n; i++) {
    bool done;
    TRY(exchange_best(run, &done));
    if (done && (i > 0 || run->budget->stop == BUDGET_CANCELLED)) break;
    const solver *s = chosen->row[i];
    double share = s->anytime ? 1.0 / anytime_left-- : 1.0;
    TRY(solver_run(s, run, share, s->anytime && !limited ? DEFAULT_LIMIT_NS : 0));
    log_state(run, s->name);
  }
  return SITU_STATUS_OK;
}

/* Offers the plans that the caller provided. */
static situ_status offer_starts(solve_run *run, const situ_solve_options *o) {
  run->solver = "start";
  for (int32_t k = 0; k < o->n_starts; k++) {
    const situ_plan *plan = o->starts[k];
    if (plan->n_operators != run->problem->n_operators || plan->n_devices != run->problem->n_devices)
      return fail_with(run->error, SITU_STATUS_BAD_ARGUMENT, NULL, "a start plan belongs to another graph or platform");
    if (!plan->device) continue;
    placement where = {plan->device, plan->order, plan->call, run->problem->replicate ? plan->replica_of : NULL};
    if (solve_offer(run, &where) == SITU_NEVER_NS)
      log_line(run->watch->log, SITU_LOG_WARNING, "start %d breaks a constraint of the problem and is ignored", (int)k);
  }
  return SITU_STATUS_OK;
}

/* Time for choosing the answer, and for writing and checking its plan, in multiples of the first simulations; at most 1
 * / MAX_RESERVED of the limit is reserved for them. */
enum { CHOICE_TIMES = 20, JUDGE_TIMES = 5, MAX_RESERVED = 4 };

/* The deadline for the searches, so that what follows them ends in time. */
static int64_t deadline_before(const budget *b, int64_t after_ns) {
  if (b->deadline_ns == INT64_MAX) return INT64_MAX;
  return b->deadline_ns - min64(after_ns, (b->deadline_ns - b->start_ns) / MAX_RESERVED);
}

/* The value of the answer without the form, if that is better. It is chosen by the same rules, except for draws of
 * costs. Without time for that, it is the best plan found, unless the answer with the form is within the tolerance of
 * it. */
static situ_status choose_without(answer *with, solve_run *run, const best_single *single,
                                  const situ_solve_options *o) {
  situ_solve_options own = *o;
  answer without = {.where = run->incumbent->best, .value_ns = run->incumbent->value_ns};
  own.uncertainty = 0;
  own.robust = false;
  if (budget_time_left(run->budget) > 0)
    TRY(answer_select(&without, run, single, &own));
  else if ((double)with->value_ns <= (1 + o->tolerance) * (double)without.value_ns)
    without.value_ns = with->value_ns;
  if (without.value_ns >= with->value_ns) return SITU_STATUS_OK;
  with->unrestricted_ns = without.value_ns;
  with->unrestricted = without.where;
  return SITU_STATUS_OK;
}

/* Chooses the answer among the plans found, or among those of the form. */
static situ_status choose_answer(answer *out, form_search *form, solve_run *run, const best_single *single,
                                 const situ_solve_options *o) {
  if (!form) return answer_select(out, run, single, o);
  solve_run own = *run;
  bool costs = form_search_costs(form, run);
  own.form = &form->form;
  own.incumbent = &form->best;
  TRY(answer_select(out, &own, single, o));
  if (costs) TRY(choose_without(out, run, single, o));
  if (form->best.best.device || !costs) return SITU_STATUS_OK;
  out->reason = form_search_reason(form, run);
  return out->reason ? SITU_STATUS_OK : fail_no_memory(run->error);
}

/* A plan before the bounds, which may take long: the caller may stop them, and a limit ends them. First the best single
 * device, which is known. Where steps are counted, plans must not depend on time. */
static situ_status begin(solve_run *run, const best_single *single) {
  int32_t *device = ARENA_NEW(run->arena, int32_t, run->problem->n_operators);
  if (run->budget->max_steps != INT64_MAX)
    return run->budget->deadline_ns != INT64_MAX ? solver_run(&single_solver, run, 1, 0) : SITU_STATUS_OK;
  if (!device) return fail_no_memory(run->error);
  for (int32_t v = 0; v < run->problem->n_operators; v++) device[v] = single->device;
  const char *after = run->watch->solver;
  run->solver = run->watch->solver = single_solver.name;
  if (single->device >= 0) solve_offer(run, &(placement){.device = device});
  TRY(portfolio_begin(run));
  run->watch->solver = after;
  return SITU_STATUS_OK;
}

static situ_status run_and_write(situ_plan **out, const selection *chosen, solve_run *run, form_search *form,
                                 const situ_solve_options *o) {
  best_single single;
  int64_t start_ns = clock_now_ns();
  TRY(best_single_find(&single, run->simulator, run->problem, run->arena, run->error));
  int64_t took_ns = clock_now_ns() - start_ns, before_judge = deadline_before(run->budget, JUDGE_TIMES * took_ns);
  int64_t after_ns = (answer_wanted(o) ? CHOICE_TIMES : JUDGE_TIMES) * took_ns;
  if (answer_wanted(o) && solve_is_large(run->problem)) after_ns = sat_add(after_ns, 2 * answer_min_ns(o));
  run->budget->deadline_ns = deadline_before(run->budget, after_ns);
  if (!run->problem->conflict) {
    if (chosen->row[0] == &auto_solver) TRY(begin(run, &single));
    if (!o->no_bounds) {
      TRY(first_bounds(run));
      log_state(run, "bounds");
    }
    run->watch->steps_before = 0;
    TRY(offer_starts(run, o));
    if (form) TRY(form_search_run(form, run));
    TRY(run_all(chosen, run));
    bool done;
    TRY(exchange_best(run, &done));
    if (!run->incumbent->best.device && run->incumbent->lower_bound_ns != SITU_NEVER_NS)
      log_line(run->watch->log, SITU_LOG_WARNING, "no plan was found within the limits");
  } else {
    log_line(run->watch->log, SITU_LOG_WARNING, "there is no plan: %s", run->problem->conflict);
  }
  run->budget->deadline_ns = before_judge;
  run->islands = NULL;
  answer found;
  TRY(choose_answer(&found, form, run, &single, o));
  solve_run formed = *run;
  if (form) formed.form = &form->form;
  bool own = found.solver && strcmp(found.solver, "start") == 0; /* whose plan it is has named its devices */
  if (!own) TRY(answer_order_devices(&found, &formed));
  TRY(answer_plan(out, run, &found, &single));
  (*out)->form = o->form;
  return SITU_STATUS_OK;
}

/* Runs with a form, if one is requested. */
static situ_status run_formed(situ_plan **out, const selection *chosen, solve_run *run, const situ_solve_options *o) {
  form_search form;
  if (!o->form) return run_and_write(out, chosen, run, NULL, o);
  situ_status status = form_search_open(&form, run, o->form);
  if (status == SITU_STATUS_OK) status = run_and_write(out, chosen, run, &form, o);
  form_search_free(&form);
  return status;
}

/* A hash of what ranks must have in common besides the problem: every option but the number of threads and the
 * callback. A policy counts by its name. */
static uint64_t mark_of(const situ_solve_options *o) {
  situ_solve_options same = *o;
  same.threads = 0;
  int64_t counts[] = {o->n_starts, o->no_bounds, o->form};
  uint64_t mark = hash_bytes(counts, sizeof counts, options_hash(0, SITU_OPTION_SOLVE, &same));
  for (int32_t k = 0; k < o->n_starts; k++) {
    const situ_plan *start = o->starts[k];
    if (start->device) mark = hash_bytes(start->device, sizeof *start->device * (size_t)start->n_operators, mark);
    if (start->order) mark = hash_bytes(start->order, sizeof *start->order * (size_t)start->n_operators, mark);
    if (start->replica_of) mark = hash_bytes(start->replica_of, sizeof(int32_t) * (size_t)start->n_devices, mark);
    if (start->call) mark = hash_bytes(start->call, sizeof *start->call * (size_t)start->n_operators, mark);
  }
  return mark;
}

static situ_status solve_in(situ_plan **out, const selection *chosen, const situ_problem *problem,
                            const situ_solve_options *o, const solver_setting *settings, arena *a, situ_error *error) {
  incumbent best = {0};
  solve_watch watch = {.callback = o->progress,
                       .context = o->context,
                       .log = {o->log, o->log_context},
                       .incumbent = &best,
                       .solver = "bounds"};
  budget whole = budget_new(o->max_steps, sat_round(o->time_limit_s * 1e9), report, &watch);
  watch.running = &whole;
  watch.start_ns = whole.start_ns;
  solve_run run = {.problem = problem,
                   .budget = &whole,
                   .incumbent = &best,
                   .watch = &watch,
                   .solver = "",
                   .left_out = chosen->left_out,
                   .settings = settings,
                   .seed = o->seed,
                   .rounds = walks_rounds_of,
                   .threads = o->threads > 0 ? o->threads : 1,
                   .islands = o->ranks,
                   .policy = o->policy,
                   .tune_steps = o->tune_steps,
                   .memory_is_free = problem->execution == SITU_EXECUTION_STREAM && footprint_fits_always(problem),
                   .arena = a,
                   .error = error};
  run.simulator = simulator_new(problem, a);
  if (!run.simulator || !incumbent_init(&best, problem, a)) return fail_no_memory(error);
  situ_status status = exchange_meet(&run, mark_of(o));
  whole = budget_new(o->max_steps, sat_round(o->time_limit_s * 1e9), report, &watch); /* waiting for ranks is free */
  watch.start_ns = whole.start_ns;
  if (status == SITU_STATUS_OK) status = run_formed(out, chosen, &run, o);
  incumbent_free(&best);
  return status;
}

situ_status solve_problem(situ_plan **out, const solver *const *rows, const situ_problem *problem,
                          const situ_solve_options *o, situ_error *error) {
  return solve_with_settings(out, rows, problem, o, NULL, error);
}

situ_status solve_with_settings(situ_plan **out, const solver *const *rows, const situ_problem *problem,
                                const situ_solve_options *o, const solver_setting *settings, situ_error *error) {
  CONTRACT(problem_check(problem));
  *out = NULL;
  if (!(o->time_limit_s >= 0) || o->max_steps < 0 || o->tune_steps < 0)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "limits of time and steps must be 0 or more");
  bool starts = o->n_starts == 0 || (o->n_starts > 0 && o->starts);
  for (int32_t k = 0; starts && k < o->n_starts; k++) starts = o->starts[k];
  if (!starts) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "n_starts is not the number of plans in starts");
  selection chosen;
  situ_solve_options own = *o;
  TRY(select_solvers(&chosen, rows, o->solvers, problem, error));
  TRY(answer_options(&own, problem, chosen.n == 1 && chosen.row[0] == &auto_solver, error));
  select_warn_of_policy(&chosen, rows, &own);
  arena *a = arena_new();
  if (!a) return fail_no_memory(error);
  situ_status status = solve_in(out, &chosen, problem, &own, settings, a, error);
  arena_free(a);
  return status;
}
