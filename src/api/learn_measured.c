/* A policy that learns from measurements of an engine. */
#include <stdio.h>

#include "api/instance.h"
#include "base/arguments.h"
#include "engine/trials.h"
#include "learn/learn_judged.h"
#include "read/reader.h"
#include "sim/simulate.h"
#include "split/model_file.h"

typedef struct measured_course {
  environment_judge judge;
  trials trials;
} measured_course;

static int64_t judge_time(void *context, const placement *where) {
  measured_course *c = context;
  int64_t time_ns = trials_time(&c->trials, where);
  c->judge.over = c->trials.over;
  return time_ns;
}

static situ_status check_call(const situ_instance *i, const situ_learn_options *learn, int32_t n_measured,
                              situ_error *error) {
  enum { MAX_PLACEMENTS = 1 << 20 };
  const char *model = i->options.call.model;
  if (learn->resume)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "measured training cannot be resumed; replay its log");
  if (n_measured < 2 || n_measured > MAX_PLACEMENTS)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "from 2 to %d placements can be measured",
                     (int)MAX_PLACEMENTS);
  TRY(model_format_need(i->model->reader, model, error));
  if (i->problem->execution != SITU_EXECUTION_STREAM || i->problem->training || i->problem->n_copies > 1)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, model, "can only be measured as a forward pass of a single input");
  return SITU_STATUS_OK;
}

static situ_trials_report tell(const trials *t) {
  situ_trials_report r = {.size = sizeof r,
                          .measured = t->n,
                          .repeated = t->n_again,
                          .single_device = t->all[t->single].device[0],
                          .single_ns = t->lanes[0].n > 0 ? t->lanes[0].median_ns : t->single_ns,
                          .best_ns = t->all[t->best].time_ns};
  for (int32_t i = 0; i < t->n; i++) r.rejected += t->all[i].n == 0;
  for (int32_t k = 0; k < t->n_lanes; k++)
    if (t->lane_trial[k] == t->best && t->lanes[k].n > 0) r.best_ns = t->lanes[k].median_ns;
  snprintf(r.engine, sizeof r.engine, "%s", t->engine);
  return r;
}

/* Measurements are written whatever happens afterwards. If a callback stops the training, the best so far remains. */
static situ_status learn_in(measured_course *c, situ_learn_report *out, situ_trials_report *trials_report,
                            situ_plan **plan, const char *learner, const situ_problem *p,
                            const situ_learn_options *options, situ_error *error) {
  trials *t = &c->trials;
  c->judge = (environment_judge){.time = judge_time, .context = c, .scale_ns = t->single_ns, .over = t->over};
  situ_learn_report learned = SITU_LEARN_REPORT_INIT;
  situ_status status = learn_judged(&learned, NULL, learner, &p, 1, options, &c->judge, error);
  bool stopped = t->status == SITU_STATUS_CANCELLED;
  learned.stopped = learned.stopped && (stopped || !t->over); /* all that was asked for was measured otherwise */
  if (status == SITU_STATUS_OK && !GIVE(out, learned))
    status =
        fail_with(error, SITU_STATUS_BAD_ARGUMENT, "SITU_LEARN_REPORT_INIT", "begin the report with this initialiser");
  if (status == SITU_STATUS_OK && t->status != SITU_STATUS_OK && !stopped)
    status = fail_with(error, t->status, t->failure.where, "%s", t->failure.text);
  if (status == SITU_STATUS_OK && !stopped) status = trials_race(t, error);
  situ_status written = trials_write(t, status == SITU_STATUS_OK ? error : NULL);
  if (status == SITU_STATUS_OK) status = written;
  if (status != SITU_STATUS_OK) return status;
  *trials_report = tell(t);
  simulator *s = simulator_new(p, t->arena);
  if (!s) return fail_no_memory(error);
  return simulator_plan(plan, s, &(placement){.device = t->all[t->best].device, .order = t->all[t->best].order}, error);
}

situ_status situ_learn_measured(situ_learn_report *out, situ_trials_report *trials_report, situ_plan **plan,
                                const char *learner, const situ_instance *instance, const situ_learn_options *options,
                                int32_t n_measured, const situ_race_options *race_options, situ_error *error) {
  situ_learn_options learn;
  measure_options how;
  situ_trials_report own = {0};
  measured_course c;
  if (plan) *plan = NULL;
  TRY(GIVEN(error, out, trials_report, plan, learner, instance, options));
  TRY(TAKE(learn, options, SITU_LEARN_OPTIONS_INIT, error));
  TRY(measure_take_race(&how, race_options, error));
  TRY(check_call(instance, &learn, n_measured, error));
  how.read = &instance->options.read;
  situ_status status =
      trials_begin(&c.trials, instance->problem, instance->options.call.model, n_measured, &how, error);
  if (status == SITU_STATUS_OK) status = learn_in(&c, out, &own, plan, learner, instance->problem, options, error);
  trials_end(&c.trials);
  if (status == SITU_STATUS_OK && !GIVE(trials_report, own))
    status =
        fail_with(error, SITU_STATUS_BAD_ARGUMENT, "SITU_TRIALS_REPORT_INIT", "begin the report with this initialiser");
  return status;
}
