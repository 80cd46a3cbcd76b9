#include <math.h>
#include <stdlib.h>

#include "cli.h"
#include "console.h"

static const option_group *const groups[] = {&model_options, &learn_options, &trial_options, &common_options, NULL};

enum { DEFAULT_STEPS = 1000, DEFAULT_MEASUREMENTS = 500 };

/* The problems of a training run, models times platforms, and what is reported meanwhile. */
typedef struct school {
  const arguments *args;
  situ_instance **instances;
  const situ_problem **problems;
  situ_learn_row *rows;
  double (*sums)[SITU_LEARN_CURVE];
  int64_t (*counts)[SITU_LEARN_CURVE];
  int32_t n;
  int64_t before; /* steps that a run before this one made */
  double shown_s;
  bool terminal, shown;
} school;

static void add_to_curve(school *s, const situ_learn_progress *now) {
  int32_t part = (int32_t)((now->step - 1) * SITU_LEARN_CURVE / s->args->learn.steps);
  s->sums[now->problem][part] += now->reward;
  s->counts[now->problem][part]++;
  s->rows[now->problem].curve[part] = s->sums[now->problem][part] / (double)s->counts[now->problem][part];
}

/* Seconds to the end, at the rate so far. */
static double expected_s(const school *s, const situ_learn_progress *now) {
  const situ_learn_options *o = &s->args->learn;
  double left = now->seconds * (double)(o->steps - now->step) / (double)(now->step - s->before);
  return o->time_limit_s > 0 ? fmax(0, fmin(left, o->time_limit_s - now->seconds)) : left;
}

static bool tell(void *context, const situ_learn_progress *now) {
  school *s = context;
  const situ_problem *problem = s->problems[now->problem];
  report r = {0};
  situ_graph_summary of = SITU_GRAPH_SUMMARY_INIT;
  situ_graph_get_summary(situ_problem_graph(problem), &of);
  add_to_curve(s, now);
  if (s->before < 0) s->before = now->step - 1;
  if (s->args->json &&
      print_report(stdout, &r, situ_report_learn_step_json(&r.text, now, problem, &r.error)) != EXIT_OK)
    return true;
  if (s->terminal && now->seconds >= 1 && now->seconds - s->shown_s >= 0.1) {
    fprintf(stderr, "\r\033[K  %.0f s, %.0f s left  step %lld of %lld  %.20s  mean reward %.3f", now->seconds,
            expected_s(s, now), (long long)now->step, (long long)s->args->learn.steps, of.model, now->mean_reward);
    fflush(stderr);
    s->shown = true;
    s->shown_s = now->seconds;
  }
  return interrupted();
}

/* A model may be there as its forward pass and as a training step. */
static int n_forms(const arguments *a) { return a->forward && a->read.training ? 2 : 1; }

/* One instance for each form of a model and platform. */
static situ_status open_all(school *s, arguments *a, situ_error *error) {
  int n_platforms = a->n_platforms > 0 ? a->n_platforms : 1, forms = n_forms(a);
  for (int m = 1; m < a->n_operands; m++)
    for (int p = 0; p < n_platforms * forms; p++) {
      a->read.training = forms == 2 ? p >= n_platforms : a->read.training;
      a->instance.model = a->operands[m];
      a->instance.platform = a->n_platforms > 0 ? a->platforms[p % n_platforms] : NULL;
      a->problem.objective = SITU_OBJECTIVE_LATENCY;
      a->problem.execution = SITU_EXECUTION_STREAM;
      situ_status status = situ_instance_open(&s->instances[s->n], &a->instance, error);
      if (status != SITU_STATUS_OK) return status;
      s->problems[s->n] = s->rows[s->n].problem = situ_instance_problem(s->instances[s->n]);
      for (int k = 0; k < SITU_LEARN_CURVE; k++) s->rows[s->n].curve[k] = (double)NAN;
      s->n++;
    }
  return SITU_STATUS_OK;
}

static int show(const school *s, const situ_learn_report *learned) {
  FILE *to = people(s->args);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = print_report(
      to, &r, situ_report_learn(&r.text, learned, s->rows, s->n, s->args->out, SITU_REPORT_TABLE, &look, &r.error));
  if (code == EXIT_OK && s->args->json)
    code = print_report(
        stdout, &r, situ_report_learn(&r.text, learned, s->rows, s->n, s->args->out, SITU_REPORT_JSON, NULL, &r.error));
  return code;
}

static bool measures(const arguments *a) {
  return a->measure.engine || a->race.replay || a->race.log || a->run.map || a->measured_plan || a->n_measured;
}

static bool stop_measuring(void *context, const char *phase, int32_t done, int32_t total) {
  (void)context, (void)phase, (void)done, (void)total;
  return interrupted();
}

/* What was measured, after the table of the training; the plan is written before. */
static int show_trials(const school *s, const situ_learn_report *learned, const situ_trials_report *trials,
                       const situ_plan *plan) {
  const arguments *a = s->args;
  FILE *to = people(a);
  report r = {0};
  situ_report_options look = report_options(to);
  if (a->measured_plan && situ_plan_write(plan, s->instances[0], a->measured_plan, &r.error) != SITU_STATUS_OK)
    return fail_writing(&r.error);
  s->rows[0].best_ns = trials->best_ns;
  int code = show(s, learned);
  if (code == EXIT_OK)
    code =
        print_report(to, &r, situ_report_trials(&r.text, trials, s->problems[0], SITU_REPORT_TABLE, &look, &r.error));
  if (code == EXIT_OK && a->json)
    code =
        print_report(stdout, &r, situ_report_trials(&r.text, trials, s->problems[0], SITU_REPORT_JSON, NULL, &r.error));
  return code;
}

static int train_measured(school *s, arguments *a) {
  situ_error error = {0};
  situ_learn_report learned = SITU_LEARN_REPORT_INIT;
  situ_trials_report trials = SITU_TRIALS_REPORT_INIT;
  situ_plan *plan = NULL;
  a->measure.progress = stop_measuring;
  situ_status status = open_all(s, a, &error);
  interrupt_catch();
  if (status == SITU_STATUS_OK)
    status = situ_learn_measured(&learned, &trials, &plan, a->operands[0], s->instances[0], &a->learn,
                                 a->n_measured ? a->n_measured : DEFAULT_MEASUREMENTS, &a->race, &error);
  if (s->shown) fputs("\r\033[K", stderr);
  int code = status == SITU_STATUS_OK ? show_trials(s, &learned, &trials, plan) : fail_reading(&error);
  situ_plan_free(plan);
  return code;
}

static int train(school *s, arguments *a) {
  situ_error error = {0};
  situ_learn_report learned = SITU_LEARN_REPORT_INIT;
  situ_status status = open_all(s, a, &error);
  int64_t *best = calloc((size_t)s->n + 1, sizeof *best);
  interrupt_catch();
  if (status == SITU_STATUS_OK && best)
    status = situ_learn(&learned, best, a->operands[0], s->problems, s->n, &a->learn, &error);
  if (s->shown) fputs("\r\033[K", stderr);
  for (int32_t k = 0; best && k < s->n; k++) s->rows[k].best_ns = best[k];
  int code = !best ? EXIT_LIMIT : status == SITU_STATUS_OK ? show(s, &learned) : fail_reading(&error);
  free(best);
  return code;
}

static int run(arguments *a) {
  int capacity = n_forms(a) * a->n_operands * (a->n_platforms > 0 ? a->n_platforms : 1);
  if (!a->out) return fail_usage("learn needs -o POLICY, the policy file to write");
  if (a->bare && (!a->learn.from || a->n_operands > 1)) return fail_usage("--bare needs --from POLICY and no MODEL");
  if (!a->bare && a->n_operands < 2) return fail_usage("learn needs a MODEL to train on");
  if (measures(a) && (a->bare || a->learn.resume || a->n_operands > 2 || a->n_platforms > 1 || n_forms(a) > 1))
    return fail_usage(
        "training with --engine needs exactly one MODEL and at most one --platform, without --resume, --bare or "
        "--forward");
  situ_error error = {0};
  if (situ_path_check_writable(a->out, &error) != SITU_STATUS_OK) return fail_writing(&error);
  a->learn.out = a->out;
  a->learn.steps = a->bare ? 0 : a->learn.steps > 0 ? a->learn.steps : DEFAULT_STEPS;
  school s = {.args = a, .before = -1, .terminal = console_is_terminal(stderr)};
  a->learn.progress = tell;
  a->learn.context = &s;
  s.instances = calloc((size_t)capacity, sizeof *s.instances);
  s.problems = calloc((size_t)capacity, sizeof *s.problems);
  s.rows = calloc((size_t)capacity, sizeof *s.rows);
  s.sums = calloc((size_t)capacity, sizeof *s.sums);
  s.counts = calloc((size_t)capacity, sizeof *s.counts);
  bool room = s.instances && s.problems && s.rows && s.sums && s.counts;
  int code = !room ? EXIT_LIMIT : measures(a) ? train_measured(&s, a) : train(&s, a);
  for (int32_t k = 0; room && k < s.n; k++) situ_instance_free(s.instances[k]);
  free(s.instances);
  free(s.problems);
  free(s.rows);
  free(s.sums);
  free(s.counts);
  return code;
}

const command learn_command = {
    .name = "learn",
    .summary = "train a policy that places models without searching",
    .usage = "LEARNER MODEL... -o POLICY",
    .about =
        "Trains the policy of LEARNER (situ list learners) by trial placements of each MODEL on each platform, and "
        "writes it to POLICY, to be used by situ place --solver LEARNER --policy POLICY. The reward of a trial is "
        "-sqrt(time / time of the best single device). The same seed gives the same file, byte for byte. Ctrl-C, "
        "SIGTERM or SIGHUP stops and writes the policy so far; --resume continues. With --engine, rewards are "
        "measured: training ends after --measurements, then the best placements race against the best single device, "
        "and --plan writes the winner. With --json, stdout is a log with one line for each step and one at the end.",
    .examples =
        "situ learn gdp 'builtin:layered?operators=40' --steps 9 -o one.policy\n"
        "situ learn gdp builtin:resnet50 --from one.policy --steps 9 -o two.policy\n"
        "situ learn gdp --bare --from two.policy -o small.policy\n"
        "situ place builtin:resnet50 --solver gdp --policy small.policy\n"
        "situ learn hsdag builtin:vgg16 --variant levels=2 --steps 3 -o h.policy\n"
        "situ learn hsdag model.onnx --engine onnxruntime --measurements 9 -o m.policy\n",
    .operand = "model",
    .min_operands = 1,
    .max_operands = MAX_OPERANDS,
    .groups = groups,
    .run = run,
};
