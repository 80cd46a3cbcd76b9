/* Entry point of all solvers: names in, a checked plan out. README.md in this folder describes the steps. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/near_name.h"
#include "base/text.h"
#include "bound/bound.h"
#include "check/judge.h"
#include "option/option.h"
#include "problem/scope.h"
#include "solve/choice.h"
#include "solve/common/best_single.h"
#include "solve/common/exchange.h"
#include "solve/common/walks.h"
#include "solve/form_search.h"
#include "solve/solve.h"
#include "view/footprint.h"

enum { MAX_NAMED = 32, NAME_BYTES = 64 };
static const int64_t DEFAULT_LIMIT_NS = 10000000000;

typedef struct selection {
  const solver *row[MAX_NAMED];
  int32_t n, n_anytime;
  const char *left_out[MAX_NAMED + 1]; /* names of solvers and bounds, ended by NULL */
  int32_t n_left_out;
} selection;

static const char *served_models(char into[64], const solver *s) {
  snprintf(into, 64, "%s%s%s", s->models & MODEL_STREAM ? ", stream" : "", s->models & MODEL_CALLS ? ", calls" : "",
           s->models & MODEL_PIPELINE ? ", pipeline" : "");
  return into[0] ? into + 2 : into;
}

/* An explanation for when the solver serves the execution model but not this problem. */
static const char *limits_of(const solver *s, const situ_problem *p) {
  return problem_is_of(p, s->models) ? ", but not of this size or with these options" : "";
}

const solver *solver_find(const solver *const *rows, const char *name) {
  for (int32_t i = 0; rows[i]; i++)
    if (strcmp(rows[i]->name, name) == 0) return rows[i];
  return NULL;
}

/* The name as the table of solvers or, with `also_bounds`, that of bounds has it. */
static situ_status find_name(const char **out, const solver *const *rows, bool also_bounds, const char *name,
                             situ_error *error) {
  enum { MAX_KNOWN = 4 * MAX_NAMED };
  const char *names[MAX_KNOWN];
  int32_t n = 0;
  char near[256];
  for (int32_t i = 0; rows[i] && n < MAX_KNOWN; i++) names[n++] = rows[i]->name;
  for (int32_t i = 0; also_bounds && bounds[i] && n < MAX_KNOWN; i++) names[n++] = bounds[i]->name;
  for (int32_t i = 0; i < n; i++)
    if (strcmp(name, *out = names[i]) == 0) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "there is no solver%s '%s'; %s",
                   also_bounds ? " or bound" : "", name, near_names(near, sizeof near, name, names, n));
}

static situ_status too_many(situ_error *error) {
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "more than %d solvers are named", MAX_NAMED);
}

/* Checks that a row serves the problem, and chooses it. */
static situ_status choose_row(selection *chosen, const solver *s, const situ_problem *problem, situ_error *error) {
  char models[64];
  if (s->missing)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "solver %s is not in this build: %s", s->name, s->missing);
  if (!solver_serves(s, problem))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "solver %s cannot solve this %s problem; it supports %s%s",
                     s->name, situ_execution_name(problem->execution), served_models(models, s), limits_of(s, problem));
  if (chosen->n == MAX_NAMED) return too_many(error);
  chosen->row[chosen->n++] = s;
  chosen->n_anytime += s->anytime;
  return SITU_STATUS_OK;
}

/* Reads a list of names: solvers to run, and solvers and bounds that take no part, each after a '-'. */
static situ_status choose(selection *chosen, const solver *const *rows, const char *names, const situ_problem *problem,
                          situ_error *error) {
  *chosen = (selection){.n = 0};
  for (const char *at = names ? names : ""; *at;) {
    at += strspn(at, " ");
    size_t length = strcspn(at, ","), end = length;
    while (end > 0 && at[end - 1] == ' ') end--;
    char name[NAME_BYTES];
    const char *known = NULL;
    snprintf(name, sizeof name, "%.*s", (int)(end < NAME_BYTES ? end : NAME_BYTES - 1), at);
    bool leaves_out = name[0] == '-';
    if (!name[leaves_out])
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the list of solvers '%s' has an empty name", names);
    TRY(find_name(&known, rows, leaves_out, name + leaves_out, error));
    if (!leaves_out)
      TRY(choose_row(chosen, solver_find(rows, known), problem, error));
    else if (chosen->n_left_out == MAX_NAMED)
      return too_many(error);
    else
      chosen->left_out[chosen->n_left_out++] = known;
    at += length;
    if (*at && !*++at)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the list of solvers '%s' has an empty name", names);
  }
  return chosen->n > 0 ? SITU_STATUS_OK : choose_row(chosen, solver_find(rows, "auto"), problem, error);
}

/* Warns of a policy that no chosen solver uses: most likely its solver was not named. */
static void warn_of_policy(const selection *chosen, const solver *const *rows, const situ_solve_options *o) {
  const char *names[2] = {NULL};
  int32_t n = 0;
  if (!o->policy && o->tune_steps == 0) return;
  for (int32_t k = 0; k < chosen->n; k++)
    if (chosen->row[k]->takes_policy) return;
  for (int32_t k = 0; rows[k] && n < 2; k++)
    if (rows[k]->takes_policy) names[n++] = rows[k]->name;
  log_to log = {o->log, o->log_context};
  if (n == 0)
    log_line(log, SITU_LOG_WARNING, "a policy has no effect: this build has no learned solvers");
  else
    log_line(log, SITU_LOG_WARNING, "a policy has no effect on solver %s; solver %s%s%s would use it",
             chosen->row[0]->name, names[0], n > 1 ? " or " : "", n > 1 ? names[1] : "");
}

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
static void tell(const solve_run *run, const char *who) {
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
    tell(run, s->name);
  }
  return SITU_STATUS_OK;
}

/* "BEFORE plan that keeps ... AFTER": what is proved says of which plans. NULL without memory. */
static const char *of_plans(arena *a, const situ_problem *p, const char *before, const char *after) {
  text_buffer t = {0};
  scope found;
  scope_find(&found, p, 0);
  text_add(&t, "%s ", before);
  scope_add_plan(&t, &found);
  text_add(&t, " %s", after);
  char *text = text_take(&t);
  const char *kept = text ? arena_string(a, text) : NULL;
  free(text);
  return kept;
}

/* If the limit is below the bound for all plans, no plan keeps it. */
static situ_status hold_limit(solve_run *run, const bound_found *least, int64_t limit_ns, const char *what) {
  if (least->lower_ns <= limit_ns) return SITU_STATUS_OK;
  char before[256], after[128];
  c_locale_print(before, sizeof before, "%s: %s proves that no", what, least->name);
  c_locale_print(after, sizeof after, "takes less than %.10g ms; at most %.10g ms are allowed",
                 (double)least->lower_ns / 1e6, (double)limit_ns / 1e6);
  situ_problem without; /* the limit is what is judged */
  problem_view_latency(&without, run->problem);
  run->incumbent->reason = of_plans(run->arena, &without, before, after);
  if (!run->incumbent->reason) return fail_no_memory(run->error);
  solve_bound(run, SITU_NEVER_NS, least->name);
  return SITU_STATUS_OK;
}

/* The best of all bounds of the problem or a view of it, computed by all ranks and threads. */
static situ_status best_bound(bound_found *out, solve_run *run, const situ_problem *p, arena *proofs) {
  bound_result results[BOUNDS] = {{.known = false}};
  for (int32_t i = 0; i < BOUNDS; i++) results[i].known = !solve_includes(run, bounds[i]->name);
  TRY(exchange_bounds(results, run, p, proofs));
  bound_pick(out, results, p);
  return SITU_STATUS_OK;
}

/* The same for a limit by other costs. If no plan can keep it, reports the value of the best plan found by these
 * costs. */
static situ_status hold_other_limit(solve_run *run, arena *proofs) {
  const situ_problem *p = run->problem;
  const solver *const rows[] = {&single_solver, &priced_chain_solver};
  situ_problem other;
  bound_found least;
  int64_t best_ns = SITU_NEVER_NS;
  if (!problem_view_other(&other, p, proofs)) return fail_no_memory(run->error);
  TRY(best_bound(&least, run, &other, proofs));
  TRY(hold_limit(run, &least, p->max_other_ns, p->other_name));
  for (size_t k = 0; k < sizeof rows / sizeof *rows && run->incumbent->reason; k++) {
    incumbent found;
    situ_status status = solver_borrow(&found, rows[k], &other, run, 1, 0);
    best_ns = min64(best_ns, found.value_ns);
    incumbent_free(&found);
    TRY(status);
  }
  if (best_ns == SITU_NEVER_NS) return SITU_STATUS_OK;
  char line[1024];
  c_locale_print(line, sizeof line, "%s; the best plan found takes %.10g ms", run->incumbent->reason,
                 (double)best_ns / 1e6);
  run->incumbent->reason = arena_string(run->arena, line);
  return run->incumbent->reason ? SITU_STATUS_OK : fail_no_memory(run->error);
}

/* Bounds the value, and where both period and latency matter, also the one that has a limit. */
static situ_status first_bounds_in(solve_run *run, arena *proofs) {
  const situ_problem *p = run->problem;
  situ_problem view;
  bound_found found;
  if (p->other) TRY(hold_other_limit(run, proofs));
  bool rate = p->objective == SITU_OBJECTIVE_THROUGHPUT;
  int64_t limit_ns = rate ? p->max_latency_ns : p->max_period_ns;
  if (limit_ns < SITU_NEVER_NS - 1) { /* otherwise there is no limit, although both may matter */
    (rate ? problem_view_latency : problem_view_pipeline)(&view, p);
    TRY(best_bound(&found, run, &view, proofs));
    TRY(hold_limit(run, &found, limit_ns, rate ? "latency" : "period"));
  }
  TRY(best_bound(&found, run, problem_of_value(&view, p), proofs));
  return solve_adopt(run, &found);
}

/* Runs the bounds before the solvers, in at most a third of a time limit. */
static situ_status first_bounds(solve_run *run) {
  arena *proofs = arena_new();
  if (!proofs) return fail_no_memory(run->error);
  budget *whole = run->budget;
  int64_t time = budget_time_left(whole);
  budget part = budget_part(whole, 0, time == INT64_MAX ? 0 : time / 3 + 1);
  run->budget = &part;
  situ_status status = first_bounds_in(run, proofs);
  run->budget = whole;
  budget_join(whole, &part);
  arena_free(proofs);
  return status;
}

/* The outcome where there is no plan, and the reason. */
static situ_outcome outcome_without(const solve_run *run, const choice *chosen, const char **reason, arena *a) {
  const incumbent *found = run->incumbent;
  if (*chosen->reason) {
    *reason = arena_string(a, chosen->reason);
    return SITU_OUTCOME_LIMIT;
  }
  if (run->problem->conflict) {
    *reason = arena_string(a, run->problem->conflict);
    return SITU_OUTCOME_INFEASIBLE;
  }
  if (found->lower_bound_ns == SITU_NEVER_NS) {
    char before[256];
    snprintf(before, sizeof before, "%s proved that no", found->bound);
    *reason =
        found->reason ? arena_string(a, found->reason) : of_plans(a, run->problem, before, "satisfies all constraints");
    return SITU_OUTCOME_INFEASIBLE;
  }
  return run->budget->stop == BUDGET_CANCELLED ? SITU_OUTCOME_CANCELLED : SITU_OUTCOME_LIMIT;
}

/* The independent checker decides last. */
static situ_status judge_plan(situ_plan *plan, situ_error *error) {
  situ_verdict *verdict = NULL;
  TRY(situ_check(&verdict, plan, error));
  situ_status status = SITU_STATUS_OK;
  if (verdict->n_found > 0) {
    situ_violation first = situ_verdict_violation(verdict, 0);
    status = fail_with(error, SITU_STATUS_INTERNAL, NULL, "the plan of solver %s breaks the rule %s: %s", plan->solver,
                       first.rule, first.text);
  }
  plan->verified_ns = verdict->verified_ns;
  situ_verdict_free(verdict);
  return status;
}

/* The plans that claims of the answer are of, if there is an answer. */
static situ_status show_plans(situ_plan *plan, const solve_run *run, const choice *chosen) {
  const placement *where[] = {&chosen->best_found, &chosen->unrestricted, &chosen->compared};
  situ_plan **shown[] = {&plan->best_found, &plan->unrestricted, &plan->compared};
  for (int k = 0; k < 3 && plan->device; k++)
    if (where[k]->device) {
      situ_plan *made;
      TRY(simulator_plan(&made, run->simulator, where[k], run->error));
      TRY(plan_show(plan, shown[k], made, run->error));
    }
  return SITU_STATUS_OK;
}

static situ_status write_plan(situ_plan **out, const solve_run *run, const choice *chosen, const best_single *single) {
  const incumbent *found = run->incumbent;
  situ_plan *plan = NULL;
  if (chosen->where.device) {
    TRY(simulator_plan(&plan, run->simulator, &chosen->where, run->error));
  } else if (!(plan = plan_new(run->problem))) {
    return fail_no_memory(run->error);
  }
  plan->solver = arena_string(plan->arena, chosen->solver);
  situ_status status = plan->solver ? SITU_STATUS_OK : fail_no_memory(run->error);
  if (status == SITU_STATUS_OK && chosen->where.device && plan->value_ns != chosen->value_ns)
    status = fail_with(run->error, SITU_STATUS_INTERNAL, NULL, "the value %lld ns of solver %s is now %lld ns",
                       (long long)chosen->value_ns, chosen->solver, (long long)plan->value_ns);
  if (status == SITU_STATUS_OK)
    status = plan_set_bound(plan, found->lower_bound_ns, found->bound, &found->proof, run->error);
  if (!plan->device) plan->outcome = outcome_without(run, chosen, &plan->reason, plan->arena);
  plan->best_single_ns = single->value_ns;
  plan->best_single_device = single->device;
  plan->best_found_ns = chosen->best_found_ns;
  plan->best_found_handovers = chosen->best_found_handovers;
  plan->unrestricted_ns = chosen->where.device ? chosen->unrestricted_ns : SITU_NEVER_NS;
  plan->robustness = chosen->robustness;
  if (status == SITU_STATUS_OK) status = show_plans(plan, run, chosen);
  memcpy(plan->statistics, found->statistics, sizeof plan->statistics);
  plan->n_statistics = found->n_statistics;
  plan->steps = run->budget->steps;
  plan->seed = run->seed;
  plan->seconds = (double)(clock_now_ns() - run->watch->start_ns) / 1e9;
  if (status == SITU_STATUS_OK && !plan->reason) status = fail_no_memory(run->error);
  bool proved = plan->outcome == SITU_OUTCOME_INFEASIBLE && plan->proof.lower_ns == SITU_NEVER_NS;
  if (status == SITU_STATUS_OK && (chosen->where.device || proved)) status = judge_plan(plan, run->error);
  if (status != SITU_STATUS_OK) {
    situ_plan_free(plan);
    return status;
  }
  CONTRACT(incumbent_check(found, run->problem));
  CONTRACT(plan_check_shape(plan));
  *out = plan;
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
 * / MAX_HELD of the limit is reserved for them. */
enum { CHOICE_TIMES = 20, JUDGE_TIMES = 5, MAX_HELD = 4 };

/* The deadline for the searches, so that what follows them ends in time. */
static int64_t deadline_before(const budget *b, int64_t after_ns) {
  if (b->deadline_ns == INT64_MAX) return INT64_MAX;
  return b->deadline_ns - min64(after_ns, (b->deadline_ns - b->start_ns) / MAX_HELD);
}

/* The value of the answer without the form, if that is better. It is chosen by the same rules, except for draws of
 * costs. Without time for that, it is the best plan found, unless the answer with the form is within the tolerance of
 * it. */
static situ_status choose_without(choice *with, solve_run *run, const best_single *single,
                                  const situ_solve_options *o) {
  situ_solve_options own = *o;
  choice without = {.where = run->incumbent->best, .value_ns = run->incumbent->value_ns};
  own.uncertainty = 0;
  own.robust = false;
  if (budget_time_left(run->budget) > 0)
    TRY(choice_make(&without, run, single, &own));
  else if ((double)with->value_ns <= (1 + o->tolerance) * (double)without.value_ns)
    without.value_ns = with->value_ns;
  if (without.value_ns >= with->value_ns) return SITU_STATUS_OK;
  with->unrestricted_ns = without.value_ns;
  with->unrestricted = without.where;
  return SITU_STATUS_OK;
}

/* Chooses the answer among the plans found, or among those of the form. */
static situ_status choose_answer(choice *out, form_search *form, solve_run *run, const best_single *single,
                                 const situ_solve_options *o) {
  if (!form) return choice_make(out, run, single, o);
  solve_run own = *run;
  bool costs = form_search_costs(form, run);
  own.form = &form->form;
  own.incumbent = &form->best;
  TRY(choice_make(out, &own, single, o));
  if (costs) TRY(choose_without(out, run, single, o));
  if (form->best.best.device || !costs) return SITU_STATUS_OK;
  out->reason = form_search_reason(form, run);
  return out->reason ? SITU_STATUS_OK : fail_no_memory(run->error);
}

static situ_status run_and_write(situ_plan **out, const selection *chosen, solve_run *run, form_search *form,
                                 const situ_solve_options *o) {
  best_single single;
  int64_t start_ns = clock_now_ns();
  TRY(best_single_find(&single, run->simulator, run->problem, run->arena, run->error));
  int64_t took_ns = clock_now_ns() - start_ns, before_judge = deadline_before(run->budget, JUDGE_TIMES * took_ns);
  int64_t after_ns = (choice_wanted(o) ? CHOICE_TIMES : JUDGE_TIMES) * took_ns;
  if (choice_wanted(o) && solve_is_large(run->problem)) after_ns = sat_add(after_ns, 2 * choice_min_ns(o));
  run->budget->deadline_ns = deadline_before(run->budget, after_ns);
  if (!run->problem->conflict) {
    bool hurry = run->budget->deadline_ns != INT64_MAX && chosen->row[0] == &auto_solver;
    if (hurry) TRY(solver_run(&single_solver, run, 1, 0)); /* to have some plan at once */
    if (!o->no_bounds) {
      TRY(first_bounds(run));
      tell(run, "bounds");
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
  choice answer;
  TRY(choose_answer(&answer, form, run, &single, o));
  TRY(write_plan(out, run, &answer, &single));
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

/* A hash of what ranks must have in common besides the problem: every option but the number of threads and who is told.
 * A policy counts by its name. */
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
                   .roomy = problem->execution == SITU_EXECUTION_STREAM && footprint_fits_always(problem),
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
  TRY(choose(&chosen, rows, o->solvers, problem, error));
  TRY(choice_options(&own, problem, chosen.n == 1 && chosen.row[0] == &auto_solver, error));
  warn_of_policy(&chosen, rows, &own);
  arena *a = arena_new();
  if (!a) return fail_no_memory(error);
  situ_status status = solve_in(out, &chosen, problem, &own, settings, a, error);
  arena_free(a);
  return status;
}
