/* Training of a policy: a line of JSON for each step, and what became of each problem. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

static void reward_cell(table *t, double reward) {
  if (isnan(reward))
    table_cell(t, STYLE_DIM, "-");
  else
    table_cellf(t, STYLE_PLAIN, "%.3f", reward);
}

static bool learn_table(text_buffer *t, const situ_learn_row *rows, int32_t n, const situ_report_options *options) {
  table out;
  if (!table_start(&out)) return false;
  table_column(&out, "model", ALIGN_LEFT, 32);
  table_column(&out, "platform", ALIGN_LEFT, 20);
  table_column(&out, "reward from", ALIGN_RIGHT, 0);
  table_column(&out, "to", ALIGN_RIGHT, 0);
  table_column(&out, "best", ALIGN_RIGHT, 0);
  table_column(&out, "rewards", ALIGN_LEFT, 0);
  for (int32_t k = 0; k < n; k++) {
    char time[TEXT_UNIT_BYTES], curve[CURVE_BYTES];
    table_cell(&out, STYLE_BOLD, rows[k].problem->graph->model);
    table_cell(&out, STYLE_PLAIN, rows[k].problem->platform->name);
    reward_cell(&out, first_known(&rows[k], false));
    reward_cell(&out, first_known(&rows[k], true));
    table_cell(&out, STYLE_PLAIN, rows[k].best_ns == SITU_NEVER_NS ? "-" : exact_time(time, rows[k].best_ns));
    table_cell(&out, STYLE_ACCENT, curve_text(curve, &rows[k], options));
  }
  table_render(t, &out, options);
  table_stop(&out);
  return true;
}

static char *learn_text(const situ_learn_report *report, const situ_learn_row *rows, int32_t n, const char *path,
                        const situ_report_options *options) {
  char steps[TEXT_UNIT_BYTES], trials[TEXT_UNIT_BYTES], numbers[TEXT_UNIT_BYTES];
  text_buffer t = {0};
  if (n > 0 && !learn_table(&t, rows, n, options)) t.failed = true;
  if (n > 0) text_add(&t, "\n");
  fact_start(&t, options, "policy", 8);
  text_add_clean(&t, path);
  text_add(&t, ", %s parameters\n", grouped(numbers, report->n_numbers));
  fact_start(&t, options, "trained", 8);
  text_add(&t, "%s steps, %s trials, %.1f s%s\n", grouped(steps, report->steps), grouped(trials, report->trials),
           report->seconds, report->stopped ? "; stopped early, --resume continues" : "");
  return text_take(&t);
}

static bool set_names(json_value *o, const situ_problem *p) {
  return json_set(o, "model", json_new_text(p->graph->model)) &&
         json_set(o, "platform", json_new_text(p->platform->name));
}

/* One line, with its end; frees the tree. */
static char *line_of(json_value *o, bool ok) {
  char *text = ok ? json_print(o, 0) : NULL;
  json_free(o);
  text_buffer line = {0};
  if (text) text_add(&line, "%s\n", text);
  bool got = text != NULL;
  free(text);
  return got ? text_take(&line) : NULL;
}

static char *learn_step_json(const situ_learn_progress *step, const situ_problem *problem) {
  json_value *o = json_new_object();
  bool ok = o && json_set(o, "step", json_new_int(step->step)) && json_set(o, "trials", json_new_int(step->trials)) &&
            set_names(o, problem) && json_set(o, "reward", json_new_number(step->reward)) &&
            json_set(o, "mean_reward", json_new_number(step->mean_reward)) &&
            json_set(o, "value_ns", report_amount(step->value_ns)) &&
            json_set(o, "best_ns", report_amount(step->best_ns)) &&
            (step->groups == 0 || json_set(o, "groups", json_new_int(step->groups)));
  return line_of(o, ok);
}

static char *learn_json(const situ_learn_report *report, const situ_learn_row *rows, int32_t n, const char *path) {
  json_value *o = json_new_object(), *list = json_new_array();
  bool ok = o && list && json_set(o, "policy", json_new_text(path)) &&
            json_set(o, "numbers", json_new_int(report->n_numbers)) &&
            json_set(o, "steps", json_new_int(report->steps)) && json_set(o, "trials", json_new_int(report->trials)) &&
            json_set(o, "stopped", json_new_bool(report->stopped)) &&
            json_set(o, "seconds", json_new_number(report->seconds));
  for (int32_t k = 0; ok && k < n; k++) {
    json_value *row = json_new_object();
    ok = row && set_names(row, rows[k].problem) && json_set(row, "best_ns", report_amount(rows[k].best_ns));
    ok = json_push(list, row) && ok;
  }
  ok = json_set(o, "problems", list) && ok;
  return line_of(o, ok);
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
  return report_close(
      out,
      format == SITU_REPORT_JSON ? learn_json(&own, rows, n_rows, path) : learn_text(&own, rows, n_rows, path, &look),
      error);
}
