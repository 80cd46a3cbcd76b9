/* situ/report.h - what people and programs read: tables for terminals, JSON texts, and a picture of a plan.
 *
 * Every function returns a text of its own, to be freed with situ_text_free, or NULL when memory ran out. Nothing is
 * printed. Tables end with a line end; JSON texts are one object, indented by two blanks, with a line end. `model` may
 * be NULL everywhere: then its reader and its notes are omitted. */
#ifndef SITU_REPORT_H
#define SITU_REPORT_H

#include "situ/learn.h"
#include "situ/pareto.h"
#include "situ/plan.h"
#include "situ/read.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct situ_report_options {
  bool colour;   /* ANSI colours */
  bool unicode;  /* bars and dashes beyond ASCII, in UTF-8 */
  int32_t width; /* columns of the terminal; 0 means 80 */
} situ_report_options;

SITU_API void situ_text_free(char *text);
/* Writes a text to a file, completely or not at all. */
SITU_API situ_status situ_text_write(const char *text, const char *path, situ_error *error);
/* Whether a file could be written there now: IO with the reason otherwise. Changes nothing. */
SITU_API situ_status situ_text_probe(const char *path, situ_error *error);

/* A plan: one row for each device, then value, bound, gap, and the best single device beside it. JSON: the fields of
 * `situ place --json` (docs/formats/json.md). */
SITU_API char *situ_report_plan(const situ_plan *plan, const situ_problem *problem, const situ_model *model,
                                const situ_report_options *options);
SITU_API char *situ_report_plan_json(const situ_plan *plan, const situ_problem *problem, const situ_model *model);
/* The plan as a self-contained SVG: operators and transfers over time for stream and calls, stacked loads for
 * pipeline. NULL also when the plan has no placement. */
SITU_API char *situ_report_plan_svg(const situ_plan *plan, const situ_problem *problem);

/* The result of one solver on a problem. */
typedef struct situ_compare_row {
  const char *solver;
  const situ_plan *plan; /* NULL when the solver failed */
  const char *failure;   /* why; NULL otherwise */
} situ_compare_row;
/* Several solvers on one problem, one row each, sorted by value (rows of one value stay in the order given). */
SITU_API char *situ_report_compare(const situ_compare_row *rows, int32_t n_rows, const situ_problem *problem,
                                   const situ_model *model, const situ_report_options *options);
SITU_API char *situ_report_compare_json(const situ_compare_row *rows, int32_t n_rows, const situ_problem *problem,
                                        const situ_model *model);

/* A front: one row for each point, the bounds of both ends, and the best single device. */
SITU_API char *situ_report_pareto(const situ_front *front, const situ_problem *problem, const situ_model *model,
                                  const situ_report_options *options);
SITU_API char *situ_report_pareto_json(const situ_front *front, const situ_problem *problem, const situ_model *model);

/* A model: operators by kind, totals, depth, width, critical path, and what could not be inferred. */
SITU_API char *situ_report_inspect(const situ_problem *problem, const situ_model *model,
                                   const situ_report_options *options);
SITU_API char *situ_report_inspect_json(const situ_problem *problem, const situ_model *model);

/* What the checker found. */
SITU_API char *situ_report_verdict(const situ_verdict *verdict, const situ_plan *plan, const situ_problem *problem,
                                   const situ_report_options *options);
SITU_API char *situ_report_verdict_json(const situ_verdict *verdict, const situ_plan *plan,
                                        const situ_problem *problem);

/* A link fitted to measured transfers, and its entry for a platform file, between the devices named. */
SITU_API char *situ_report_link_fit(const situ_link_fit *fit, const char *from, const char *to,
                                    const situ_report_options *options);
SITU_API char *situ_report_link_fit_json(const situ_link_fit *fit, const char *from, const char *to);

/* The result for one problem of a training run. */
enum { SITU_LEARN_CURVE = 16 };
typedef struct situ_learn_row {
  const situ_problem *problem;
  double curve[SITU_LEARN_CURVE]; /* mean rewards of parts of the run, NaN where it had no step */
  int64_t best_ns;
} situ_learn_row;
/* A training run: one row for each problem, and the policy written to `path`. JSON, here and for a step: one line. */
SITU_API char *situ_report_learn(const situ_learn_report *report, const situ_learn_row *rows, int32_t n_rows,
                                 const char *path, const situ_report_options *options);
SITU_API char *situ_report_learn_json(const situ_learn_report *report, const situ_learn_row *rows, int32_t n_rows,
                                      const char *path);
SITU_API char *situ_report_learn_step_json(const situ_learn_progress *step, const situ_problem *problem);

/* The tables of the library: "solvers", "learners", "readers", "writers", "costs", "devices", "links", "models",
 * "bounds". situ_report_family gives their names by index, NULL past the end; the others return NULL for an unknown
 * name.
 */
SITU_API const char *situ_report_family(int32_t index);
SITU_API const char *situ_report_family_about(int32_t index);
SITU_API char *situ_report_list(const char *family, const situ_report_options *options);
SITU_API char *situ_report_list_json(const char *family);
/* The names alone, one on each line. */
SITU_API char *situ_report_names(const char *family);

#ifdef __cplusplus
}
#endif
#endif
