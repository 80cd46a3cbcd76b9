/* Training of a policy: a line of JSON for each step, and what became of each problem. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/c_locale.h"
#include "report/report.h"

static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
static const char *const letters[] = {"_", ".", ":", "-", "=", "+", "*", "#"};
enum { LEVELS = 8, CURVE_BYTES = 4 * SITU_LEARN_CURVE + 1 };

/* The means of a curve scaled between its minimum and maximum, a space where nothing was trained. */
static const char *curve_text(char into[CURVE_BYTES], const situ_learn_row *row, const situ_report_options *options) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (int32_t k = 0; k < SITU_LEARN_CURVE; k++) {
    if (isnan(row->curve[k])) continue;
    low = fmin(low, row->curve[k]);
    high = fmax(high, row->curve[k]);
  }
  size_t used = 0;
  into[0] = '\0';
  for (int32_t k = 0; k < SITU_LEARN_CURVE; k++) {
    bool known = !isnan(row->curve[k]);
    int level = known && high > low ? (int)((row->curve[k] - low) / (high - low) * (LEVELS - 1) + 0.5) : 0;
    const char *mark = !known ? " " : options && options->unicode ? blocks[level] : letters[level];
    used += (size_t)snprintf(into + used, CURVE_BYTES - used, "%s", mark);
  }
  while (used > 0 && into[used - 1] == ' ') into[--used] = '\0';
  return into;
}

static double first_known(const situ_learn_row *row, bool last) {
  double found = (double)NAN;
  for (int32_t k = 0; k < SITU_LEARN_CURVE && (last || isnan(found)); k++)
    if (!isnan(row->curve[k])) found = row->curve[k];
  return found;
}

typedef struct training {
  const situ_learn_row *rows;
  int32_t n;
  const situ_report_options *options;
} training;

static const char *reward_text(char into[TEXT_UNIT_BYTES], double reward) {
  c_locale_print(into, TEXT_UNIT_BYTES, isnan(reward) ? "-" : "%.3f", reward);
  return into;
}

static void add_problems(row_list *r, const void *context) {
  const training *t = context;
  for (int32_t k = 0; k < t->n; k++) {
    const situ_learn_row *row = &t->rows[k];
    char from[TEXT_UNIT_BYTES], to[TEXT_UNIT_BYTES], curve[CURVE_BYTES];
    double first = first_known(row, false), last = first_known(row, true);
    ROW(r, {"model", AS_NAME, "model", .text = row->problem->graph->model, .max = 32},
        {"platform", AS_TEXT, "platform", .text = row->problem->platform->name, .max = 20},
        {NULL, AS_NUMBER, "reward from", .shown = reward_text(from, first),
         .style = isnan(first) ? STYLE_DIM : STYLE_PLAIN},
        {NULL, AS_NUMBER, "to", .shown = reward_text(to, last), .style = isnan(last) ? STYLE_DIM : STYLE_PLAIN},
        {"best_ns", AS_TIME, "best", .n = row->best_ns, .shown = row->best_ns == SITU_NEVER_NS ? "-" : NULL},
        {NULL, AS_TEXT, "rewards", .text = curve_text(curve, row, t->options), .style = STYLE_ACCENT});
  }
}

static char *learn_text(const situ_learn_report *report, const training *of, const char *path) {
  char steps[TEXT_UNIT_BYTES], trials[TEXT_UNIT_BYTES], numbers[TEXT_UNIT_BYTES];
  text_buffer t = {0};
  const fact_lines f = {&t, of->options, 8};
  if (of->n > 0) rows_text(&t, add_problems, of, of->options);
  if (of->n > 0) text_add(&t, "\n");
  fact_start(&f, "policy");
  text_add_clean(&t, path);
  text_add(&t, ", %s parameters\n", grouped(numbers, report->n_numbers));
  FACT(&f, "trained", "%s steps, %s trials, %.1f s%s", grouped(steps, report->steps), grouped(trials, report->trials),
       report->seconds, report->stopped ? "; stopped early, --resume continues" : "");
  return text_take(&t);
}

/* One line, with its end; frees the tree. */
static char *line_of(json_value *o) {
  char *text = o ? json_print(o, 0) : NULL;
  text_buffer line = {.failed = !text};
  text_add(&line, "%s\n", text ? text : "");
  json_free(o);
  free(text);
  return text_take(&line);
}

static char *learn_step_json(const situ_learn_progress *step, const situ_problem *p) {
  return line_of(OBJECT({"step", AS_COUNT, .n = step->step}, {"trials", AS_COUNT, .n = step->trials},
                        {"model", .text = p->graph->model}, {"platform", .text = p->platform->name},
                        {"reward", AS_NUMBER, .x = step->reward}, {"mean_reward", AS_NUMBER, .x = step->mean_reward},
                        {"value_ns", AS_TIME, .n = step->value_ns}, {"best_ns", AS_TIME, .n = step->best_ns},
                        {"groups", AS_COUNT, .n = step->groups, .skip = step->groups == 0}));
}

static char *learn_json(const situ_learn_report *report, const training *of, const char *path) {
  return line_of(OBJECT({"policy", .text = path}, {"numbers", AS_COUNT, .n = report->n_numbers},
                        {"steps", AS_COUNT, .n = report->steps}, {"trials", AS_COUNT, .n = report->trials},
                        {"stopped", AS_BOOL, .n = report->stopped}, {"seconds", AS_NUMBER, .x = report->seconds},
                        {"problems", AS_TREE, .tree = rows_json(add_problems, of)}));
}

static situ_status check_rows(const situ_learn_row *rows, int32_t n, situ_error *error) {
  bool good = n == 0 || (n > 0 && rows);
  for (int32_t k = 0; good && k < n; k++) good = rows[k].problem;
  return good ? SITU_STATUS_OK
              : fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "n_rows is not the number of rows with a problem");
}

situ_status situ_report_learn_step_json(char **out, const situ_learn_progress *step, const situ_problem *problem,
                                        situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out));
  situ_learn_progress own;
  TRY(GIVEN(error, step, problem));
  TRY(TAKE(own, step, situ_learn_progress, error));
  return report_close(out, learn_step_json(&own, problem), error);
}

situ_status situ_report_learn(char **out, const situ_learn_report *report, const situ_learn_row *rows, int32_t n_rows,
                              const char *path, situ_report_format format, const situ_report_options *options,
                              situ_error *error) {
  situ_report_options look;
  situ_learn_report own;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, report, path));
  TRY(TAKE(own, report, SITU_LEARN_REPORT_INIT, error));
  TRY(check_rows(rows, n_rows, error));
  const training of = {rows, n_rows, &look};
  return report_close(out, format == SITU_REPORT_JSON ? learn_json(&own, &of, path) : learn_text(&own, &of, path),
                      error);
}
