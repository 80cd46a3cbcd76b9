#include <string.h>

#include "cli.h"

static const option_group *const groups[] = {
    &model_options, &problem_options, &unknown_options, &fix_options, &start_options, &solve_options, &fewer_options,
    &race_options,  &plan_outputs,    &common_options,  NULL};

static int show(const arguments *a, const situ_plan *plan, const situ_instance *instance, const situ_race *race) {
  const situ_problem *problem = situ_instance_problem(instance);
  const situ_model *model = situ_instance_model(instance);
  FILE *to = people(a);
  report r = {0};
  situ_report_options look = report_options(to);
  int code = race ? print_report(to, &r, situ_report_race(&r.text, race, SITU_REPORT_TABLE, &look, &r.error)) : EXIT_OK;
  if (race && code == EXIT_OK)
    tell_stand_ins(a, NULL, situ_problem_platform(problem),
                   "so the race says nothing of them;\n        --map names devices of the engine");
  if (code == EXIT_OK)
    code = print_report(to, &r, situ_report_plan(&r.text, plan, model, SITU_REPORT_TABLE, &look, &r.error));
  if (code == EXIT_OK && interrupted() && plan_summary(plan).outcome == SITU_OUTCOME_FEASIBLE)
    fputs("\n  interrupted: this is the best plan so far; a longer search may find a better one\n", to);
  if (code == EXIT_OK && a->gantt && plan_summary(plan).exists)
    code = print_report(to, &r, situ_report_plan(&r.text, plan, NULL, SITU_REPORT_GANTT, &look, &r.error));
  if (code == EXIT_OK) code = write_outputs(a, plan, instance);
  /* A file that could not be written takes nothing from the answer. */
  int printed = a->json
                    ? print_report(stdout, &r, situ_report_plan(&r.text, plan, model, SITU_REPORT_JSON, NULL, &r.error))
                    : EXIT_OK;
  if (code == EXIT_OK) code = printed;
  return code == EXIT_OK ? outcome_code(plan) : code;
}

static void set_defaults(arguments *a) {
  a->instance.granularity = SITU_GRANULARITY_DEFAULT;
  a->solve.tolerance = a->solve.min_gain = a->solve.uncertainty = SITU_AUTO;
}

/* Who names solvers wants their plan as it is. */
static bool names_solvers(const arguments *a) {
  for (const char *at = a->solve.solvers; at && *at; at += strcspn(at, ",")) {
    at += strspn(at, ", ");
    size_t n = strcspn(at, ", ");
    if (n > 0 && *at != '-' && (n != strlen("auto") || strncmp(at, "auto", n) != 0)) return true;
  }
  return false;
}

/* Warnings of the search; where it finds no plan, the report says why. */
enum { MAX_HEARD = 4 };
typedef struct heard {
  int n;
  char line[MAX_HEARD][200];
} heard;

static void hear(void *context, situ_log_level level, const char *text) {
  heard *h = context;
  if (level == SITU_LOG_WARNING && h->n < MAX_HEARD) snprintf(h->line[h->n++], sizeof h->line[0], "%s", text);
}

static int run(arguments *a) {
  a->instance.model = a->operands[0];
  if (a->instance.granularity == SITU_GRANULARITY_DEFAULT && names_solvers(a))
    a->instance.granularity = strcmp(a->solve.solvers, "layers") == 0 ? SITU_GRANULARITY_LAYER : SITU_GRANULARITY_FUSED;
  if (a->n_measured && ranks_summary(a).count > 1)
    return fail_usage("--measure runs plans on the devices of one machine; start situ without mpirun");
  int code = probe_outputs(a);
  if (code != EXIT_OK) return code;
  const char *writers[MAX_WRITES];
  for (int i = 0; i < a->n_writes; i++) writers[i] = a->writes[i].name;
  a->instance.writers = writers;
  a->instance.n_writers = a->n_writes;
  situ_plan *plan = NULL;
  situ_instance *instance = NULL;
  situ_race *race = NULL;
  situ_error error = {0};
  heard said = {.n = 0};
  progress p;
  progress_of_solve(&p, &a->solve);
  if (a->trajectory && (code = progress_record(&p)) != EXIT_OK) return code;
  a->instance.log = tell_warning;
  a->solve.log = hear;
  a->solve.log_context = &said;
  a->measure.progress = progress_measure;
  a->measure.context = &p;
  situ_status status = a->n_measured ? situ_place_measured(&plan, &instance, &race, &a->instance, &a->solve,
                                                           a->n_measured, &a->race, &error)
                                     : situ_place(&plan, &instance, &a->instance, &a->solve, &error);
  progress_stop(&p);
  if (plan_summary(plan).exists)
    for (int k = 0; k < said.n; k++) tell_warning(NULL, SITU_LOG_WARNING, said.line[k]);
  if (status == SITU_STATUS_OK) print_warnings();
  code = status == SITU_STATUS_OK ? show(a, plan, instance, race) : fail_opening(a, &error);
  if (a->trajectory) {
    int written = progress_write(&p, plan, a->trajectory);
    if (code == EXIT_OK) code = written;
  }
  situ_race_free(race);
  situ_plan_free(plan);
  situ_instance_free(instance);
  return code;
}

const command place_command = {
    .name = "place",
    .summary = "find the best placement of a model on a machine",
    .usage = "MODEL",
    .about =
        "Reads MODEL, estimates its costs on the platform, searches for the plan of minimum latency or maximum "
        "throughput, proves a lower bound, and checks the plan. Shows the best single device for comparison. Ctrl-C, "
        "SIGTERM or SIGHUP ends the search with the best plan so far; a second signal ends situ at once.",
    .examples =
        "situ place builtin:inception-v3 --platform 'cpu+2*v100-16g'\n"
        "situ place builtin:bert-base --objective throughput --time-limit 2\n"
        "situ place builtin:resnet50 --objective throughput --replicate\n"
        "situ place builtin:resnet50 --steps 1000 -o plan.json --svg plan.svg\n"
        "situ place builtin:inception-v3 --threads 2 --time-limit 2\n"
        "situ place 'builtin:resnet50?batch=8' --fix plan.json --json\n",
    .operand = "model",
    .min_operands = 1,
    .max_operands = 1,
    .groups = groups,
    .defaults = set_defaults,
    .run = run,
    .ranks = true,
};
