/* report/report.h - the pieces that several reports share. */
#ifndef SITU_REPORT_REPORT_H
#define SITU_REPORT_REPORT_H

#include "base/arguments.h"
#include "plan/plan.h"
#include "problem/problem.h"
#include "read/reader.h"
#include "report/fields.h"
#include "situ/explain.h"
#include "situ/report.h"
#include "view/pipeline_step.h"

/* What every public report begins and ends with: *out becomes NULL and `look` the options of the caller, BAD_ARGUMENT
 * unless the format is in a set of them; *out becomes the text, NO_MEMORY where that is NULL. */
enum {
  REPORT_TABLE = 1 << SITU_REPORT_TABLE,
  REPORT_JSON = 1 << SITU_REPORT_JSON,
  REPORT_SVG = 1 << SITU_REPORT_SVG,
  REPORT_PARTS = 1 << SITU_REPORT_PARTS,
  REPORT_GANTT = 1 << SITU_REPORT_GANTT,
  REPORT_CSV = 1 << SITU_REPORT_CSV,
  REPORT_NAMES = 1 << SITU_REPORT_NAMES
};
situ_status report_open(char **out, situ_report_options *look, situ_report_format format, unsigned formats,
                        const situ_report_options *options, situ_error *error);
situ_status report_close(char **out, char *text, situ_error *error);

/* The first line: "inception-v3 on cpu+2*v100-16g: latency, stream, 326 operators". */
void report_title(text_buffer *t, const situ_problem *problem, const situ_report_options *options);
/* The remarks of the reader, a wrapped paragraph each. */
void report_notes(text_buffer *t, const situ_model *model, const situ_report_options *options);

/* Fields that every JSON report starts with: model, reader, operators, platform, costs, objective, execution, ...
 * Each of these returns false without memory. */
bool report_problem_json(json_value *object, const situ_problem *problem, const situ_model *model);
/* The fields of a plan: outcome, value_ns, value, unit, lower_bound_ns, gap, best_single_ns, solver, ... */
bool report_plan_fields(json_value *object, const situ_plan *plan);
/* What a step of micro-batches takes by a plan; false for other plans, and without memory: then *ok is false. */
bool report_find_step(pipeline_step *step, const situ_plan *plan, bool *ok);
/* "space" and "scope": which plans bounds, "optimal" and "infeasible" speak of, in words and in codes; `form` is that
 * of the plan, 0 without one. */
bool report_scope_fields(json_value *object, const situ_problem *problem, int32_t form);
/* The words; free() them. NULL without memory. */
char *report_scope_text(const situ_problem *problem, int32_t form);
/* The words as a fact: "  among        plans that keep every operator whole on one device". */
void report_scope(const fact_lines *f, const situ_problem *problem, int32_t form);
/* What is unknown (problem/unknown.h): as a list of rows; as the fields "unknown", "unknown_share" and "guessed"; in
 * words, to be freed; as a fact, where something is. */
json_value *report_unknown_rows(const unknown_list *list);
bool report_unknown_fields(json_value *object, const unknown_list *list, bool guessed);
char *report_unknown_text(const unknown_list *list);
void report_unknown(const fact_lines *f, const situ_problem *problem);
/* "notes": the remarks as a list of texts. */
bool report_notes_json(json_value *object, const situ_model *model);
/* A time, or null for SITU_NEVER_NS; bytes, or null for SITU_UNLIMITED_BYTES. */
json_value *report_amount(int64_t amount);
/* A time in the unit of the costs' own file; NaN, which is null in JSON, if it has none. */
double report_in_unit(int64_t time_ns, const situ_problem *problem);
/* Prints and frees the tree (NULL and failures included): a text with a line end, or NULL. */
char *report_finish(json_value *root, bool ok);
/* The same, with a part of the tree that is only printed (see json_print_with). */
char *report_finish_with(json_value *root, bool ok, const json_listing *listing);

/* The name of a device of the platform; NULL for -1. */
static inline const char *report_device(const situ_problem *p, int32_t device) {
  return device >= 0 ? p->platform->devices[device].name : NULL;
}
/* How many times as good a value is as the best single device; NaN where either is not known. */
double report_ratio(int64_t single_ns, int64_t value_ns);
/* "2.31 times as fast as gpu0 alone", ...; into a buffer of n bytes. */
void report_against_single(char *into, size_t n, const situ_plan *plan);

/* Whether the single device is the answer because the split loses in more than one of ten draws (rounded up), as
 * solve/answer/answer.c decides; otherwise the split gains too little. */
bool report_is_unsure(const situ_robustness *r);

/* When the first operator of a copy (0 .. n_copies-1) starts and its last ends. */
void report_copy_times(const situ_plan *plan, int32_t copy, int64_t *start_ns, int64_t *finish_ns);

/* Pictures of a plan with a placement and of a front, and the lines of a plan over time. NULL without memory. */
char *report_plan_svg(const situ_plan *plan);
char *report_parts_svg(const situ_explanation *why, const situ_plan *plan);
char *report_gantt(const situ_plan *plan, const situ_report_options *options);
char *report_front_svg(const situ_front *front);

/* What an explanation, or a front, says as a whole. */
situ_explanation_summary report_explanation(const situ_explanation *why);
situ_front_summary report_front(const situ_front *front);

#endif
