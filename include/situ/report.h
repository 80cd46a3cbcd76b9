/* situ/report.h - what people and programs read: tables for terminals, JSON texts, and a picture of a plan.
 *
 * Every function makes a text, to be freed with situ_text_free: NO_MEMORY, or BAD_ARGUMENT when the nouns do not belong
 * together. Nothing is printed. Tables end with a line end; JSON texts are one object with two blanks of indentation
 * and a line end. `model` may be NULL everywhere: then its reader and its notes are left out; so may `options`. Any
 * number of threads may report at once. */
#ifndef SITU_REPORT_H
#define SITU_REPORT_H

#include "situ/engine.h"
#include "situ/learn.h"
#include "situ/pareto.h"
#include "situ/plan.h"
#include "situ/read.h"
#include "situ/size.h"
#include "situ/what_if.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_report_options {
  size_t size;
  bool colour;   /* ANSI colours */
  bool unicode;  /* bars and dashes beyond ASCII, in UTF-8 */
  int32_t width; /* columns of the terminal; 0 means 80 */
} situ_report_options;
#define SITU_REPORT_OPTIONS_INIT SITU_SIZED(situ_report_options)

/* A plan: one row for each device, then value, bound, gap, and the best single device beside it. JSON: the fields of
 * `situ place --json` (docs/formats/json.md). */
SITU_API situ_status situ_report_plan(char **out, const situ_plan *plan, const situ_problem *problem,
                                      const situ_model *model, const situ_report_options *options, situ_error *error);
SITU_API situ_status situ_report_plan_json(char **out, const situ_plan *plan, const situ_problem *problem,
                                           const situ_model *model, situ_error *error);
/* The plan as a self-contained SVG: operators and transfers over time for stream and calls, stacked loads for
 * pipeline. BAD_ARGUMENT also when the plan has no placement. */
SITU_API situ_status situ_report_plan_svg(char **out, const situ_plan *plan, const situ_problem *problem,
                                          situ_error *error);

/* Its parts as boxes, a row for each device, with what is handed from part to part; the 240 with most work where there
 * are more. BAD_ARGUMENT also when the plan has no placement. */
SITU_API situ_status situ_report_parts_svg(char **out, const situ_plan *plan, const situ_problem *problem,
                                           situ_error *error);
/* The plan over time for a terminal: a line for each device and link in use, its marks as high as it is busy; for
 * pipeline, how each fills the period. BAD_ARGUMENT also when the plan has no placement. */
SITU_API situ_status situ_report_gantt(char **out, const situ_plan *plan, const situ_problem *problem,
                                       const situ_report_options *options, situ_error *error);

/* Why a plan takes as long as it does: its parts in order, what goes between them, what limits it, where the time of
 * the critical path goes, and what would change it (`what_ifs`; NULL: left out). JSON: the fields of `situ explain
 * --json`. */
SITU_API situ_status situ_report_explain(char **out, const situ_plan *plan, const situ_problem *problem,
                                         const situ_what_if_list *what_ifs, const situ_report_options *options,
                                         situ_error *error);
SITU_API situ_status situ_report_explain_json(char **out, const situ_plan *plan, const situ_problem *problem,
                                              const situ_what_if_list *what_ifs, situ_error *error);

/* What one solver made of a problem. Closed: it never grows. */
typedef struct situ_compare_row {
  const char *solver;
  const situ_plan *plan; /* NULL when the solver failed */
  const char *failure;   /* why; NULL otherwise */
} situ_compare_row;
/* Several solvers on one problem, one row each, sorted by value (rows of one value stay in the order given). */
SITU_API situ_status situ_report_compare(char **out, const situ_compare_row *rows, int32_t n_rows,
                                         const situ_problem *problem, const situ_model *model,
                                         const situ_report_options *options, situ_error *error);
SITU_API situ_status situ_report_compare_json(char **out, const situ_compare_row *rows, int32_t n_rows,
                                              const situ_problem *problem, const situ_model *model, situ_error *error);

/* What a page shows beside its plan; all may be left out. */
typedef struct situ_page_options {
  size_t size;
  const situ_what_if_list *what_ifs;
  const situ_compare_row *rows; /* solvers on the same problem */
  int32_t n_rows;
  int32_t reserved;       /* 0 */
  const char *run_json;   /* a run of the plan, as situ_report_run_json tells it */
  const situ_plan *other; /* another plan, to compare with; its problem with it, both or neither */
  const situ_problem *other_problem;
} situ_page_options;
#define SITU_PAGE_OPTIONS_INIT SITU_SIZED(situ_page_options)
/* A plan as one page of HTML that needs nothing else, neither files nor a network: explanation, timeline, parts, memory
 * over time, operators (docs/report.md). Names that are longer than 200 bytes are cut. BAD_ARGUMENT also when a plan
 * has no placement, BAD_INPUT when run_json is no run. */
SITU_API situ_status situ_report_page(char **out, const situ_plan *plan, const situ_problem *problem,
                                      const situ_model *model, const situ_page_options *options, situ_error *error);

/* A front: one row for each point, the bounds of both ends, and the best single device. */
SITU_API situ_status situ_report_pareto(char **out, const situ_front *front, const situ_problem *problem,
                                        const situ_model *model, const situ_report_options *options, situ_error *error);
SITU_API situ_status situ_report_pareto_json(char **out, const situ_front *front, const situ_problem *problem,
                                             const situ_model *model, situ_error *error);

/* The front as a self-contained SVG: period over latency, with the bounds of both. */
SITU_API situ_status situ_report_pareto_svg(char **out, const situ_front *front, const situ_problem *problem,
                                            situ_error *error);

/* The platforms that were tried for a goal, the cheapest first, and the answer. */
SITU_API situ_status situ_report_size(char **out, const situ_sizing *sizing, const situ_report_options *options,
                                      situ_error *error);
SITU_API situ_status situ_report_size_json(char **out, const situ_sizing *sizing, situ_error *error);

/* A model: operators by kind, totals, depth, width, critical path, and what could not be inferred. */
SITU_API situ_status situ_report_inspect(char **out, const situ_problem *problem, const situ_model *model,
                                         const situ_report_options *options, situ_error *error);
SITU_API situ_status situ_report_inspect_json(char **out, const situ_problem *problem, const situ_model *model,
                                              situ_error *error);

/* All times of operators on classes of devices, as a table that cost estimation reads back
 * (situ_cost_options.table_path, docs/formats/costs.md), in either of its forms. */
SITU_API situ_status situ_report_costs_json(char **out, const situ_problem *problem, situ_error *error);
SITU_API situ_status situ_report_costs_csv(char **out, const situ_problem *problem, situ_error *error);

/* What the checker found. */
SITU_API situ_status situ_report_verdict(char **out, const situ_verdict *verdict, const situ_plan *plan,
                                         const situ_problem *problem, const situ_report_options *options,
                                         situ_error *error);
SITU_API situ_status situ_report_verdict_json(char **out, const situ_verdict *verdict, const situ_plan *plan,
                                              const situ_problem *problem, situ_error *error);

/* A link fitted to measured transfers, and its entry for a platform file, between the devices named. */
SITU_API situ_status situ_report_link_fit(char **out, const situ_link_fit *fit, const char *from, const char *to,
                                          const situ_report_options *options, situ_error *error);
SITU_API situ_status situ_report_link_fit_json(char **out, const situ_link_fit *fit, const char *from, const char *to,
                                               situ_error *error);

/* The result for one problem of a training run. Closed: it never grows. */
enum { SITU_LEARN_CURVE = 16 };
typedef struct situ_learn_row {
  const situ_problem *problem;
  double curve[SITU_LEARN_CURVE]; /* mean rewards of parts of the run, NaN where it had no step */
  int64_t best_ns;
} situ_learn_row;
/* A training run: one row for each problem, and the policy written to `path`. JSON, here and for a step: one line. */
SITU_API situ_status situ_report_learn(char **out, const situ_learn_report *report, const situ_learn_row *rows,
                                       int32_t n_rows, const char *path, const situ_report_options *options,
                                       situ_error *error);
SITU_API situ_status situ_report_learn_json(char **out, const situ_learn_report *report, const situ_learn_row *rows,
                                            int32_t n_rows, const char *path, situ_error *error);
SITU_API situ_status situ_report_learn_step_json(char **out, const situ_learn_progress *step,
                                                 const situ_problem *problem, situ_error *error);

/* Measured operator times: the operators that take longest, and what the whole takes. JSON: all of them. */
SITU_API situ_status situ_report_profile(char **out, const situ_profile *profile, const situ_report_options *options,
                                         situ_error *error);
SITU_API situ_status situ_report_profile_json(char **out, const situ_profile *profile, situ_error *error);
/* What was measured while a policy learned on this problem. */
SITU_API situ_status situ_report_trials(char **out, const situ_trials_report *trials, const situ_problem *problem,
                                        const situ_report_options *options, situ_error *error);
SITU_API situ_status situ_report_trials_json(char **out, const situ_trials_report *trials, const situ_problem *problem,
                                             situ_error *error);

/* Plans that were measured beside each other: one row for each; the JSON is the log of the race. */
SITU_API situ_status situ_report_race(char **out, const situ_race *race, const situ_report_options *options,
                                      situ_error *error);
SITU_API situ_status situ_report_race_json(char **out, const situ_race *race, situ_error *error);
/* A run beside its prediction: one row for each part, then transfers, then the whole. */
SITU_API situ_status situ_report_run(char **out, const situ_run *run, const situ_problem *problem,
                                     const situ_report_options *options, situ_error *error);
SITU_API situ_status situ_report_run_json(char **out, const situ_run *run, const situ_problem *problem,
                                          situ_error *error);

/* The tables of the library: "solvers", "learners", "readers", "writers", "costs", "devices", "links", "models",
 * "bounds", "engines". situ_report_family gives their names by index, NULL past the end; the others BAD_ARGUMENT for a
 * name that is none. */
SITU_API const char *situ_report_family(int32_t index);
SITU_API const char *situ_report_family_about(int32_t index);
SITU_API situ_status situ_report_list(char **out, const char *family, const situ_report_options *options,
                                      situ_error *error);
SITU_API situ_status situ_report_list_json(char **out, const char *family, situ_error *error);
/* The names alone, one on each line. */
SITU_API situ_status situ_report_names(char **out, const char *family, situ_error *error);

#ifdef __cplusplus
}
#endif
#endif
