/* situ/report.h - output for people and programs: tables for terminals, JSON, HTML pages and SVG pictures.
 *
 * Every function makes a text that the caller frees with situ_text_free, in the format asked for: TABLE or JSON where
 * its comment names no others. Errors: NO_MEMORY, or BAD_ARGUMENT if the objects do not belong together, or for a
 * format that the report does not have. Nothing is printed. Tables end with a newline; a JSON text is one object,
 * indented by two spaces, with a final newline. `model` may be NULL everywhere: its reader and notes are then omitted.
 * `options` may be NULL. Any number of threads may report at once. */
#ifndef SITU_REPORT_H
#define SITU_REPORT_H

#include "situ/compare.h"
#include "situ/disaggregation.h"
#include "situ/engine.h"
#include "situ/fit.h"
#include "situ/judge.h"
#include "situ/learn.h"
#include "situ/pareto.h"
#include "situ/plan.h"
#include "situ/read.h"
#include "situ/serving.h"
#include "situ/size.h"
#include "situ/stages.h"
#include "situ/what_if.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_report_options {
  size_t size;
  bool colour;   /* ANSI colours */
  bool unicode;  /* bars and dashes as UTF-8 instead of ASCII */
  int32_t width; /* columns of the terminal; 0 means 80 */
} situ_report_options;
#define SITU_REPORT_OPTIONS_INIT SITU_SIZED(situ_report_options)

/* What a report is made as. Each report says which of these it has; BAD_ARGUMENT for the others. */
typedef enum situ_report_format {
  SITU_REPORT_TABLE = 0, /* for a terminal */
  SITU_REPORT_JSON,
  SITU_REPORT_SVG,   /* a self-contained picture */
  SITU_REPORT_PARTS, /* another picture: the parts of a plan */
  SITU_REPORT_GANTT, /* a plan over time, for a terminal */
  SITU_REPORT_CSV,
  SITU_REPORT_NAMES /* only the names of a list, one per line */
} situ_report_format;

/* A plan. TABLE: one row for each device, then value, bound, gap, and the best single device for comparison. JSON: the
 * fields of `situ place --json` (docs/formats/json.md). SVG: operators and transfers over time for stream and calls,
 * stacked loads for pipeline. PARTS: its parts as boxes, one row for each device, with the tensors handed from part to
 * part; if there are more than 240 parts, the 240 with the most work. GANTT: one line for each device and link in use,
 * with marks as high as its load; for pipeline, the share of the period that each fills. BAD_ARGUMENT also for a
 * picture or GANTT of a plan without a placement. */
SITU_API situ_status situ_report_plan(char **out, const situ_plan *plan, const situ_model *model,
                                      situ_report_format format, const situ_report_options *options, situ_error *error);

/* Why a plan takes as long as it does: its parts in order, the data transferred between them, its bottleneck, how the
 * time of the critical path divides, and which changes of the machine would help (`what_ifs`; NULL: omitted). JSON: the
 * fields of `situ explain --json`. */
SITU_API situ_status situ_report_explain(char **out, const situ_plan *plan, const situ_what_if_list *what_ifs,
                                         situ_report_format format, const situ_report_options *options,
                                         situ_error *error);

/* Several solvers on one problem, one row each, sorted by value (rows of equal value stay in their order). */
SITU_API situ_status situ_report_compare(char **out, const situ_comparison *comparison, const situ_model *model,
                                         situ_report_format format, const situ_report_options *options,
                                         situ_error *error);

/* Optional content of a page in addition to its plan; any of it may be NULL. */
typedef struct situ_page_options {
  size_t size;
  const situ_what_if_list *what_ifs;
  const situ_comparison *comparison; /* of solvers on the problem of the plan */
  const char *run_json;              /* a run of the plan, as written by situ_report_run as JSON */
  const situ_plan *other;            /* another plan to compare with, of any problem */
} situ_page_options;
#define SITU_PAGE_OPTIONS_INIT SITU_SIZED(situ_page_options)
/* A plan as one self-contained HTML page that needs no other files and no network: explanation, timeline, parts, memory
 * over time, operators (docs/report.md). Names longer than 200 bytes are cut. BAD_ARGUMENT also if a plan has no
 * placement, BAD_INPUT if run_json is not a run. */
SITU_API situ_status situ_report_page(char **out, const situ_plan *plan, const situ_model *model,
                                      const situ_page_options *options, situ_error *error);

/* A front. TABLE: one row for each point, the bounds of both ends, and the best single device. JSON. SVG: period over
 * latency, with the bounds of both. */
SITU_API situ_status situ_report_pareto(char **out, const situ_front *front, const situ_model *model,
                                        situ_report_format format, const situ_report_options *options,
                                        situ_error *error);

/* The platforms tried for a goal, the cheapest first, and the answer. */
SITU_API situ_status situ_report_size(char **out, const situ_sizing *sizing, situ_report_format format,
                                      const situ_report_options *options, situ_error *error);

/* The stages of a network, and its layers in JSON. */
SITU_API situ_status situ_report_stages(char **out, const situ_staging *staging, situ_report_format format,
                                        const situ_report_options *options, situ_error *error);

/* What a command places beside the best plan found, with the better command. */
SITU_API situ_status situ_report_judgement(char **out, const situ_judgement *judgement, situ_report_format format,
                                           const situ_report_options *options, situ_error *error);

/* The amounts tried, the largest that fits, and whether the next one is proved impossible. */
SITU_API situ_status situ_report_fit(char **out, const situ_fitting *fitting, situ_report_format format,
                                     const situ_report_options *options, situ_error *error);

/* Fittings of several files on one platform, the largest file first, and the largest that fits the amount. */
SITU_API situ_status situ_report_fit_files(char **out, const situ_fitting *const *fittings, int32_t n, int64_t amount,
                                           situ_report_format format, const situ_report_options *options,
                                           situ_error *error);

/* The rates of one stream and of all: the front as a table, or every row that was tried as JSON. */
SITU_API situ_status situ_report_serving(char **out, const situ_serving *serving, situ_report_format format,
                                         const situ_report_options *options, situ_error *error);
/* Prompts apart from decoding, beside the best where each copy does both: likewise. */
SITU_API situ_status situ_report_disaggregation(char **out, const situ_disaggregation *disaggregation,
                                                situ_report_format format, const situ_report_options *options,
                                                situ_error *error);

/* A model: operators by kind, totals, depth, width, critical path, and the operators whose costs could not be
 * inferred. */
SITU_API situ_status situ_report_inspect(char **out, const situ_problem *problem, const situ_model *model,
                                         situ_report_format format, const situ_report_options *options,
                                         situ_error *error);

/* All times of operators on classes of devices, as a table that cost estimation reads back
 * (situ_cost_options.table_path, docs/formats/costs.md). JSON or CSV, its two forms. */
SITU_API situ_status situ_report_costs(char **out, const situ_problem *problem, situ_report_format format,
                                       const situ_report_options *options, situ_error *error);

/* The result of a check. */
SITU_API situ_status situ_report_verdict(char **out, const situ_verdict *verdict, situ_report_format format,
                                         const situ_report_options *options, situ_error *error);

/* A platform: devices, links, and where their figures come from. JSON: a platform file, as situ_platform_write writes
 * it. */
SITU_API situ_status situ_report_platform(char **out, const situ_platform *platform, situ_report_format format,
                                          const situ_report_options *options, situ_error *error);

/* A link fitted to measured transfers, and its entry for a platform file between the given devices. */
SITU_API situ_status situ_report_link_fit(char **out, const situ_link_fit *fit, const char *from, const char *to,
                                          situ_report_format format, const situ_report_options *options,
                                          situ_error *error);

/* The result for one problem of a training run. Closed: it never grows. */
enum { SITU_LEARN_CURVE = 16 };
typedef struct situ_learn_row {
  const situ_problem *problem;
  double curve[SITU_LEARN_CURVE]; /* mean rewards over successive parts of the run, NaN for a part without a step */
  int64_t best_ns;
} situ_learn_row;
/* A training run: one row for each problem, and the policy file `path`. The JSON, here and for a step, is a single
 * line. */
SITU_API situ_status situ_report_learn(char **out, const situ_learn_report *report, const situ_learn_row *rows,
                                       int32_t n_rows, const char *path, situ_report_format format,
                                       const situ_report_options *options, situ_error *error);
SITU_API situ_status situ_report_learn_step_json(char **out, const situ_learn_progress *step,
                                                 const situ_problem *problem, situ_error *error);

/* Measured operator times: the slowest operators, and the time of the whole model. JSON: all operators. */
SITU_API situ_status situ_report_profile(char **out, const situ_profile *profile, situ_report_format format,
                                         const situ_report_options *options, situ_error *error);
/* Statistics of measurements during the training of a policy on this problem. */
SITU_API situ_status situ_report_trials(char **out, const situ_trials_report *trials, const situ_problem *problem,
                                        situ_report_format format, const situ_report_options *options,
                                        situ_error *error);

/* A race of plans measured side by side, one row for each; the JSON is the log of the race. */
SITU_API situ_status situ_report_race(char **out, const situ_race *race, situ_report_format format,
                                      const situ_report_options *options, situ_error *error);
/* A run compared with its prediction: one row for each part, then transfers, then the whole. */
SITU_API situ_status situ_report_run(char **out, const situ_run *run, situ_report_format format,
                                     const situ_report_options *options, situ_error *error);

/* The tables of the library: "solvers", "learners", "readers", "writers", "costs", "devices", "links", "models",
 * "bounds", "engines". situ_report_family returns their names by index, NULL past the end. TABLE, JSON or NAMES of one;
 * BAD_ARGUMENT for an unknown name. */
SITU_API const char *situ_report_family(int32_t index);
SITU_API const char *situ_report_family_about(int32_t index);
SITU_API situ_status situ_report_list(char **out, const char *family, situ_report_format format,
                                      const situ_report_options *options, situ_error *error);

#ifdef __cplusplus
}
#endif
#endif
