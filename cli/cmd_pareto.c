#include "cli.h"

static const option_group *const groups[] = {&model_options, &problem_options, &unknown_options, &fix_options,
                                             &solve_options, &front_options,   &common_options,  NULL};

static int show(const arguments *a, const situ_front *front, const situ_instance *instance) {
  const situ_model *model = situ_instance_model(instance);
  FILE *to = people(a);
  situ_front_summary summary = SITU_FRONT_SUMMARY_INIT;
  situ_front_get_summary(front, &summary);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_pareto(&r.text, front, model, SITU_REPORT_TABLE, &look, &r.error));
  if (interrupted()) fputs("\n  interrupted: the remaining points were not searched\n", to);
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_pareto(&r.text, front, model, SITU_REPORT_JSON, NULL, &r.error));
  if (code == EXIT_OK && a->svg && summary.n_points > 0) {
    situ_status status = situ_report_pareto(&r.text, front, NULL, SITU_REPORT_SVG, NULL, &r.error);
    code = write_text(a, r.text, status, &r.error, "picture", a->svg);
  }
  if (code != EXIT_OK || summary.n_points > 0) return code;
  return summary.infeasible ? EXIT_INFEASIBLE : interrupted() ? EXIT_INTERRUPTED : EXIT_LIMIT;
}

/* ---- --streams ---- */

static int show_serving(const arguments *a, const situ_serving *s) {
  FILE *to = people(a);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_serving(&r.text, s, SITU_REPORT_TABLE, &look, &r.error));
  if (interrupted()) fputs("\n  interrupted: the remaining numbers of streams were not tried\n", to);
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_serving(&r.text, s, SITU_REPORT_JSON, NULL, &r.error));
  if (code != EXIT_OK || situ_serving_count(s) > 0) return code;
  return situ_serving_impossible(s) ? EXIT_INFEASIBLE : interrupted() ? EXIT_INTERRUPTED : EXIT_LIMIT;
}

static int run_serving(arguments *a) {
  situ_serving *s = NULL;
  situ_error error = {0};
  progress p;
  if (a->svg) return fail_usage("--svg draws the front of latency and period; leave out --streams");
  progress_of_solve(&p, &a->solve);
  a->serving.solve = &a->solve;
  situ_status status = situ_serve(&s, &a->instance, &a->serving, &error);
  progress_stop(&p);
  int code = status == SITU_STATUS_OK ? show_serving(a, s) : fail_reading(&error);
  situ_serving_free(s);
  return code;
}

static int show_disaggregation(const arguments *a, const situ_disaggregation *s) {
  FILE *to = people(a);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = print_report(to, &r, situ_report_disaggregation(&r.text, s, SITU_REPORT_TABLE, &look, &r.error));
  if (interrupted()) fputs("\n  interrupted: the remaining devices and streams were not tried\n", to);
  if (code == EXIT_OK && a->json)
    code = print_report(stdout, &r, situ_report_disaggregation(&r.text, s, SITU_REPORT_JSON, NULL, &r.error));
  if (code != EXIT_OK || situ_disaggregation_count(s) > 0) return code;
  return interrupted() ? EXIT_INTERRUPTED : EXIT_LIMIT;
}

static int run_disaggregation(arguments *a) {
  situ_disaggregation *s = NULL;
  situ_error error = {0};
  progress p;
  if (a->svg) return fail_usage("--svg draws the front of latency and period; leave out --disaggregate");
  progress_of_solve(&p, &a->solve);
  a->serving.solve = &a->solve;
  situ_status status = situ_disaggregate(&s, &a->instance, &a->serving, &error);
  progress_stop(&p);
  int code = status == SITU_STATUS_OK ? show_disaggregation(a, s) : fail_reading(&error);
  situ_disaggregation_free(s);
  return code;
}

static void set_defaults(arguments *a) { a->instance.granularity = SITU_GRANULARITY_DEFAULT; }

static int run(arguments *a) {
  a->instance.model = a->operands[0];
  if (a->disaggregate) return run_disaggregation(a);
  if (a->serving.max_streams > 0) return run_serving(a);
  if (a->instance.granularity == SITU_GRANULARITY_DEFAULT) a->instance.granularity = SITU_GRANULARITY_FUSED;
  if (a->problem.max_period_ns > 0 || a->problem.max_latency_ns > 0)
    return fail_usage(
        "pareto accepts no --max-latency or --max-period; use `situ place` with one of them for a single point of the "
        "front");
  a->problem.objective = SITU_OBJECTIVE_DEFAULT; /* a front is of both */
  if (a->problem.execution == SITU_EXECUTION_DEFAULT) a->problem.execution = SITU_EXECUTION_STREAM;
  int code = probe_outputs(a);
  if (code != EXIT_OK) return code;
  situ_instance *instance = NULL;
  situ_front *front = NULL;
  situ_error error = {0};
  progress p;
  progress_of_solve(&p, &a->solve);
  situ_pareto_options options = SITU_PARETO_OPTIONS_INIT;
  options.points = a->points;
  options.solve = &a->solve;
  situ_status status = situ_instance_open(&instance, &a->instance, &error);
  if (status == SITU_STATUS_OK) status = situ_pareto(&front, situ_instance_problem(instance), &options, &error);
  progress_stop(&p);
  code = status == SITU_STATUS_OK ? show(a, front, instance) : fail_reading(&error);
  situ_front_free(front);
  situ_instance_free(instance);
  return code;
}

const command pareto_command = {
    .name = "pareto",
    .summary = "find the trade-off between latency and throughput",
    .usage = "MODEL",
    .about =
        "Searches for the plan of minimum latency, the plan of minimum period (maximum throughput), and plans of "
        "minimum period with limits on latency in between, and shows those that no other plan dominates. The period of "
        "a plan is the maximum load of a device or link when inputs follow each other. Each plan is checked; each end "
        "has a proved bound. `situ place --max-latency` writes a single point as a plan file. With --streams the front "
        "is that of a language model in use: the tokens per second of one stream against those of all streams, over "
        "numbers of streams, groups of devices that split operators (--tensor-parallel N for one size), and copies of "
        "the model on devices that are left idle. With --disaggregate prompts go to some devices and decoding to "
        "others.",
    .examples =
        "situ pareto builtin:resnet50 --platform cpu+v100-16g+t4-16g --steps 4000\n"
        "situ pareto builtin:resnet50 --points 3 --steps 2000 --json\n"
        "situ pareto model.gguf --platform '4*rtx3090-24g' --streams 64\n",
    .operand = "model",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .defaults = set_defaults,
    .run = run,
};
