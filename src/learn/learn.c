/* Training: problems in, a policy file out. */

#include "base/arguments.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/near_name.h"
#include "learn/learn_judged.h"
#include "learn/learner.h"
#include "plan/plan.h"
#include "solve/solve.h"

enum { SAVE_EVERY = 50, MAX_LEARNERS = 16, TEACHER_STEPS = 2000, TEACHER_PLANS = 3 };
static const double NEARLY = 1.02; /* plans within this factor of the teacher's best are imitated */

typedef struct train_run {
  trainer *trainer;
  const situ_learn_options *options;
  environment_judge *judge;
  int64_t start_ns;
  situ_error *error;
} train_run;

static situ_status unknown_learner(const char *name, situ_error *error) {
  const char *names[MAX_LEARNERS];
  int32_t n = 0;
  for (; learners[n] && n < MAX_LEARNERS; n++) names[n] = learners[n]->name;
  char near[256];
  return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "there is no learner '%s'; %s", name,
                   near_names(near, sizeof near, name, names, n));
}

static int64_t count_trials(const trainer *tr) {
  int64_t n = 0;
  for (int32_t k = 0; k < tr->n_cases; k++) n = sat_add(n, tr->cases[k].env.n_trials);
  return n;
}

static double passed_s(const train_run *c) { return (double)(clock_now_ns() - c->start_ns) / 1e9; }

/* Reports a step; true if the run should stop. */
static bool tell(const train_run *c, const train_step *step) {
  const situ_learn_options *o = c->options;
  const train_case *s = &c->trainer->cases[step->index];
  situ_learn_progress now = {.size = sizeof now,
                             .step = c->trainer->n_steps,
                             .trials = count_trials(c->trainer),
                             .problem = step->index,
                             .reward = step->reward,
                             .mean_reward = s->mean_reward,
                             .value_ns = step->best_ns,
                             .best_ns = s->env.best_ns,
                             .seconds = passed_s(c),
                             .groups = (int64_t)s->note[CASE_GROUPS]};
  bool late = o->time_limit_s > 0 && now.seconds >= o->time_limit_s;
  return (o->progress && o->progress(o->context, &now)) || late;
}

static situ_status train(train_run *c, bool *stopped) {
  trainer *tr = c->trainer;
  const situ_learn_options *o = c->options;
  int64_t every = o->save_every > 0 ? o->save_every : SAVE_EVERY;
  train_step step;
  while (tr->n_steps < o->steps && !*stopped) {
    if (!trainer_step(tr, &step)) return fail_no_memory(c->error);
    *stopped = (tell(c, &step) || environment_over(&tr->cases[step.index].env)) && tr->n_steps < o->steps;
    if (tr->n_steps % every == 0 && !*stopped && tr->n_steps < o->steps) TRY(trainer_write(tr, o->out, c->error));
  }
  return trainer_write(tr, o->out, c->error);
}

/* Asks the teacher for a plan; NULL where it found none. */
static situ_status ask(situ_plan **plan, const train_run *c, const situ_problem *problem, uint64_t seed) {
  situ_solve_options how = {
      .size = sizeof how, .solvers = c->options->teacher, .max_steps = TEACHER_STEPS, .seed = seed, .no_bounds = true};
  TRY(solve_problem(plan, solvers, problem, &how, c->error));
  if ((*plan)->device) return SITU_STATUS_OK;
  situ_plan_free(*plan);
  *plan = NULL;
  return SITU_STATUS_OK;
}

/* Runs the teacher with several seeds. The case imitates the plans nearly as good as the best, and tries them unless it
 * has been trained already. */
static situ_status teach(train_run *c, train_case *s, bool tried) {
  situ_plan *plans[TEACHER_PLANS] = {NULL};
  const int32_t *device[TEACHER_PLANS];
  situ_status status = SITU_STATUS_OK;
  int64_t best_ns = SITU_NEVER_NS;
  int32_t n = 0;
  for (int32_t k = 0; status == SITU_STATUS_OK && k < TEACHER_PLANS; k++) {
    status = ask(&plans[k], c, s->env.problem, c->options->seed + (uint64_t)k);
    if (plans[k]) best_ns = min64(best_ns, plans[k]->value_ns);
  }
  for (int32_t k = 0; k < TEACHER_PLANS; k++)
    if (plans[k] && (double)plans[k]->value_ns <= NEARLY * (double)best_ns) device[n++] = plans[k]->device;
  bool done = status != SITU_STATUS_OK || train_case_teach(s, device, n, c->trainer->arena);
  for (int32_t k = 0; done && !tried && k < n; k++) done = train_case_follow(s, device[k], c->trainer->arena);
  for (int32_t k = 0; k < TEACHER_PLANS; k++) situ_plan_free(plans[k]);
  return done ? status : fail_no_memory(c->error);
}

static situ_status learn_start(train_run *c, const situ_problem *const *problems, int32_t n) {
  const situ_learn_options *o = c->options;
  TRY(trainer_vary(c->trainer, o->variant, c->error));
  for (int32_t k = 0; k < n; k++)
    if (!trainer_add(c->trainer, problems[k])) return fail_no_memory(c->error);
  if (c->judge) environment_judge_by(&c->trainer->cases[0].env, c->judge);
  bool resumed = o->resume && file_exists(o->out);
  if (resumed) TRY(trainer_resume(c->trainer, o->out, c->error));
  for (int32_t k = 0; o->teacher && trainer_imitates(c->trainer) && k < n; k++)
    TRY(teach(c, &c->trainer->cases[k], resumed));
  if (resumed) return SITU_STATUS_OK;
  return o->from ? trainer_load(c->trainer, o->from, NULL, c->error) : SITU_STATUS_OK;
}

static situ_status check_call(const char *name, const situ_problem *const *problems, int32_t n,
                              const situ_learn_options *o, situ_error *error) {
  if (!o || !o->out) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "training needs a policy file to write");
  if (!learner_find(name)) return unknown_learner(name, error);
  if (o->steps < 0 || !(o->time_limit_s >= 0))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "steps and the time limit must be 0 or more");
  if (n < 0 || (n > 0 && !problems))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "n_problems is not the number of problems");
  if (n < 1 && o->steps > 0) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "training needs a model");
  for (int32_t k = 0; k < n; k++) {
    const situ_problem *p = problems[k];
    if (!p) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "problem %d is NULL", (int)k);
    const char *why = p->execution != SITU_EXECUTION_STREAM
                          ? "policies can only be trained on problems of execution stream"
                      : p->n_operators == 0 ? "has no operators to place"
                                            : p->conflict;
    if (why) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, p->graph->model, "%s", why);
  }
  return file_probe(o->out, error);
}

static situ_status learn_in(situ_learn_report *out, int64_t *best_ns, train_run *c, const situ_problem *const *problems,
                            int32_t n) {
  TRY(learn_start(c, problems, n));
  TRY(train(c, &out->stopped));
  out->steps = c->trainer->n_steps;
  out->trials = count_trials(c->trainer);
  out->n_numbers = params_size(c->trainer->params);
  out->seconds = passed_s(c);
  for (int32_t k = 0; best_ns && k < n; k++) best_ns[k] = c->trainer->cases[k].env.best_ns;
  return SITU_STATUS_OK;
}

situ_status situ_learn(situ_learn_report *out, int64_t *best_ns, const char *learner_name,
                       const situ_problem *const *problems, int32_t n_problems, const situ_learn_options *options,
                       situ_error *error) {
  return learn_judged(out, best_ns, learner_name, problems, n_problems, options, NULL, error);
}

situ_status learn_judged(situ_learn_report *out, int64_t *best_ns, const char *learner_name,
                         const situ_problem *const *problems, int32_t n_problems, const situ_learn_options *given,
                         environment_judge *judge, situ_error *error) {
  situ_learn_options own, *options = &own;
  situ_learn_report report = {0};
  TRY(GIVEN(error, out, learner_name, given));
  TRY(TAKE(own, given, SITU_LEARN_OPTIONS_INIT, error));
  if (!GIVE(out, report))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, "SITU_LEARN_REPORT_INIT",
                     "begin the report with this initialiser");
  TRY(check_call(learner_name, problems, n_problems, options, error));
  arena *a = arena_new();
  if (!a) return fail_no_memory(error);
  train_run c = {.options = options, .judge = judge, .start_ns = clock_now_ns(), .error = error};
  c.trainer = trainer_new(learner_find(learner_name), options->seed, options->paper, a, n_problems);
  situ_status status = c.trainer ? learn_in(&report, best_ns, &c, problems, n_problems) : fail_no_memory(error);
  GIVE(out, report);
  trainer_free(c.trainer);
  arena_free(a);
  return status;
}
