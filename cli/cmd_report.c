#include <stdlib.h>

#include "cli.h"

static const option_group *const groups[] = {&page_options,  &report_outputs,  &judged_options,
                                             &model_options, &problem_options, &unknown_options,
                                             &solve_options, &common_options,  NULL};

/* Everything that goes into one page. */
typedef struct contents {
  situ_plan *plan, *other;
  situ_instance *instance, *other_instance;
  situ_what_if_list *what_ifs;
  situ_comparison *comparison;
  char *run;
} contents;

static void contents_free(contents *of) {
  situ_what_if_free(of->what_ifs);
  situ_comparison_free(of->comparison);
  situ_plan_free(of->other);
  situ_instance_free(of->other_instance);
  situ_plan_free(of->plan);
  situ_instance_free(of->instance);
  free(of->run);
}

/* Reads the output of `situ run --json` from a file. */
static situ_status read_run(char **out, const char *path, situ_error *error) {
  enum { MAX_BYTES = 64 << 20 };
  FILE *file = fopen(path, "rb");
  char *text = file ? malloc(MAX_BYTES + 1) : NULL;
  size_t n = text ? fread(text, 1, MAX_BYTES + 1, file) : 0;
  bool whole = text && !ferror(file) && n <= MAX_BYTES;
  if (file) fclose(file);
  *out = NULL;
  if (whole) {
    text[n] = '\0';
    *out = realloc(text, n + 1);
    return SITU_STATUS_OK;
  }
  free(text);
  *error = (situ_error){.status = SITU_STATUS_IO, .text = "cannot be read; expected the output of `situ run --json`"};
  snprintf(error->where, sizeof error->where, "%s", path);
  return error->status;
}

static situ_status gather(contents *of, arguments *a, situ_error *error) {
  situ_status status = open_plan(&of->plan, &of->instance, a, error);
  if (status == SITU_STATUS_OK && a->n_operands > 1) {
    arguments other = *a;
    other.operands[0] = a->operands[1];
    status = open_plan(&of->other, &of->other_instance, &other, error);
  }
  if (status == SITU_STATUS_OK && a->run_result) status = read_run(&of->run, a->run_result, error);
  situ_solve_options search = a->solve;
  if (a->compare) search.solvers = NULL; /* --solver names those of the comparison */
  if (status == SITU_STATUS_OK && a->what_if && plan_summary(of->plan).exists)
    status = situ_what_if_find(&of->what_ifs, of->instance, of->plan, &search, error);
  if (status == SITU_STATUS_OK && a->compare)
    status = situ_compare(&of->comparison, situ_instance_problem(of->instance), &a->solve, error);
  return status;
}

static int write_page(const arguments *a, const contents *of) {
  situ_page_options options = SITU_PAGE_OPTIONS_INIT;
  situ_error error = {0};
  char *text = NULL;
  options.what_ifs = of->what_ifs;
  options.comparison = of->comparison;
  options.run_json = of->run;
  options.other = of->other;
  situ_status status = situ_report_page(&text, of->plan, situ_instance_model(of->instance), &options, &error);
  if (status == SITU_STATUS_BAD_ARGUMENT) error.status = SITU_STATUS_BAD_INPUT; /* a plan file without a placement */
  return status == SITU_STATUS_OK ? write_text(a, text, status, &error, "page", a->page) : fail_reading(&error);
}

static int run(arguments *a) {
  contents of = {0};
  situ_error error = {0};
  progress p;
  progress_of_solve(&p, &a->solve);
  if (!a->page) a->page = "report.html";
  int code = probe_outputs(a);
  if (code != EXIT_OK) return code;
  situ_status status = gather(&of, a, &error);
  progress_stop(&p);
  code = status == SITU_STATUS_OK ? write_page(a, &of) : fail_reading(&error);
  if (code == EXIT_OK) {
    arguments pictures = *a; /* what else was asked for */
    pictures.page = pictures.out = NULL;
    code = write_outputs(&pictures, of.plan, of.instance);
  }
  contents_free(&of);
  return code;
}

const command report_command = {
    .name = "report",
    .summary = "write an HTML page about a plan, or a comparison of two",
    .usage = "PLAN [PLAN2]",
    .about =
        "Writes one self-contained HTML page that a browser opens from disk; it needs no network. The page explains "
        "the plan like `situ explain` and shows the timeline, parts, memory over time, devices and links, the critical "
        "path, the largest transfers and every operator. With PLAN2 it shows the differences: values, loads, operators "
        "that moved, both timelines. With --model, a plan may be any file that place --fix accepts, such as a "
        "published split.",
    .examples =
        "situ place builtin:resnet50 --platform cpu+v100-16g --steps 1000 -o plan.json\n"
        "situ report plan.json -o report.html\n"
        "situ place builtin:resnet50 --platform cpu+t4-16g --steps 9 -o other.json\n"
        "situ report plan.json other.json -o difference.html\n",
    .operand = "file",
    .min_operands = 1,
    .max_operands = 2,
    .groups = groups,
    .run = run,
};
