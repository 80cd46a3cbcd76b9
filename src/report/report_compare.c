#include <stdio.h>
#include <stdlib.h>

#include "report/rates.h"
#include "report/report.h"

static int64_t row_value(const situ_compare_row *r) {
  return r->plan && plan_exists(r->plan) ? r->plan->value_ns : SITU_NEVER_NS;
}

static int by_value(const void *a, const void *b) {
  const situ_compare_row *const *x = a, *const *y = b;
  int64_t u = row_value(*x), v = row_value(*y);
  return u != v ? (u < v ? -1 : 1) : (*x > *y) - (*x < *y);
}

/* Pointers to the rows, sorted; free() them. */
static const situ_compare_row **sorted(const situ_compare_row *rows, int32_t n) {
  const situ_compare_row **out = malloc(((size_t)n + 1) * sizeof *out);
  for (int32_t i = 0; out && i < n; i++) out[i] = &rows[i];
  if (out && n > 1) qsort(out, (size_t)n, sizeof *out, by_value);
  return out;
}

/* The row with the highest bound, or NULL. */
static const situ_compare_row *best_bound(const situ_compare_row *rows, int32_t n) {
  const situ_compare_row *best = NULL;
  for (int32_t i = 0; i < n; i++)
    if (rows[i].plan && (!best || rows[i].plan->lower_bound_ns > best->plan->lower_bound_ns)) best = &rows[i];
  return best;
}

static bool row_json(json_value *list, const situ_compare_row *r, const situ_problem *p, const situ_model *model) {
  json_value *o = json_new_object();
  bool ok = o && json_set(o, "solver", json_new_text(r->solver));
  if (r->plan) {
    const char *bound = r->plan->bound, *reason = r->plan->reason;
    bool exists = plan_exists(r->plan);
    int64_t value = row_value(r);
    ok = ok && json_set(o, "outcome", json_new_text(situ_outcome_name(r->plan->outcome)));
    ok = ok && json_set(o, "value_ns", report_amount(value));
    ok = ok && json_set(o, "value", report_unit_value(value, p));
    ok = ok && json_set(o, "lower_bound_ns", json_new_int(r->plan->lower_bound_ns));
    ok = ok && json_set(o, "bound", *bound ? json_new_text(bound) : json_new_null());
    double tokens = exists ? rates_main(rates_of(r->plan, model), model) : 0;
    if (tokens > 0) ok = ok && json_set(o, "tokens_per_second", json_new_number(tokens));
    ok = ok && json_set(o, "gap", exists ? json_new_number(plan_gap(r->plan)) : json_new_null());
    ok = ok && json_set(o, "seconds", json_new_number(r->plan->seconds));
    ok = ok && json_set(o, "steps", json_new_int(r->plan->steps));
    ok = ok && json_set(o, "reason", *reason ? json_new_text(reason) : json_new_null());
  } else {
    ok = ok && json_set(o, "outcome", json_new_text("limit")) && json_set(o, "value_ns", json_new_null());
    ok = ok && json_set(o, "value", json_new_null()) && json_set(o, "lower_bound_ns", json_new_int(0));
    ok = ok && json_set(o, "seconds", json_new_number(0)) && json_set(o, "reason", json_new_text(r->failure));
  }
  return json_push(list, o) && ok;
}

static char *compare_json(const situ_compare_row *rows, int32_t n_rows, const situ_problem *problem,
                          const situ_model *model) {
  const situ_compare_row **order = sorted(rows, n_rows), *bound = best_bound(rows, n_rows);
  json_value *root = json_new_object(), *list = json_new_array();
  bool ok = order && root && list && report_problem_json(root, problem, model);
  const situ_plan *any = bound ? bound->plan : NULL;
  int32_t single = any ? any->best_single_device : -1;
  ok = ok && json_set(root, "best_single_ns", any ? report_amount(any->best_single_ns) : json_new_null());
  ok = ok && json_set(root, "best_single_device",
                      single >= 0 ? json_new_text(problem->platform->devices[single].name) : json_new_null());
  ok = ok && json_set(root, "lower_bound_ns", json_new_int(any ? any->lower_bound_ns : 0));
  ok = ok && report_scope_fields(root, problem, 0);
  for (int32_t i = 0; ok && i < n_rows; i++) ok = row_json(list, order[i], problem, model);
  ok = json_set(root, "rows", list) && ok;
  ok = ok && report_notes_json(root, model);
  free(order);
  return report_finish(root, ok);
}

static void compare_cells(table *t, const situ_compare_row *r, int64_t best, int64_t single, const double *tokens) {
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  int64_t value = row_value(r);
  bool exists = value != SITU_NEVER_NS;
  style s = exists && value == best ? STYLE_BOLD : exists ? STYLE_PLAIN : STYLE_DIM;
  table_cell(t, s, r->solver);
  table_cell(t, s, exists ? exact_time(a, value) : "-");
  if (exists && best > 0)
    table_cellf(t, value == best ? STYLE_GOOD : STYLE_PLAIN, value == best ? "best" : "+%s",
                percent_text(a, (double)(value - best) / (double)best));
  else
    table_cell(t, STYLE_PLAIN, "");
  if (tokens && *tokens > 0)
    table_cellf(t, STYLE_PLAIN, "%s", rates_text(a, *tokens));
  else if (tokens)
    table_cell(t, STYLE_PLAIN, "");
  if (exists && single != SITU_NEVER_NS && value > 0)
    table_cellf(t, STYLE_PLAIN, "%.2fx", (double)single / (double)value);
  else
    table_cell(t, STYLE_PLAIN, "");
  bool bounded = r->plan && r->plan->lower_bound_ns > 0;
  table_cell(t, STYLE_PLAIN, bounded ? exact_time(b, r->plan->lower_bound_ns) : "-");
  bool optimal = r->plan && r->plan->outcome == SITU_OUTCOME_OPTIMAL;
  table_cell(t,
             optimal  ? STYLE_GOOD
             : exists ? STYLE_PLAIN
                      : STYLE_WARN,
             r->plan ? situ_outcome_name(r->plan->outcome) : "failed");
  table_cellf(t, STYLE_DIM, "%.2f", r->plan ? r->plan->seconds : 0.0);
}

static void compare_table(text_buffer *t, const situ_compare_row *const *order, int32_t n, const situ_model *model,
                          const situ_report_options *options) {
  bool language = model && model->steps.other;
  table rows;
  if (!table_begin(&rows, t)) return;
  table_column(&rows, "solver", ALIGN_LEFT, 24);
  table_column(&rows, "value", ALIGN_RIGHT, 0);
  table_column(&rows, "to best", ALIGN_RIGHT, 0);
  if (language) table_column(&rows, "tokens/s", ALIGN_RIGHT, 0);
  table_column(&rows, "to single", ALIGN_RIGHT, 0);
  table_column(&rows, "bound", ALIGN_RIGHT, 0);
  table_column(&rows, "outcome", ALIGN_LEFT, 0);
  table_column(&rows, "seconds", ALIGN_RIGHT, 0);
  int64_t best = n ? row_value(order[0]) : SITU_NEVER_NS, single = SITU_NEVER_NS;
  for (int32_t i = 0; i < n; i++)
    if (order[i]->plan) single = order[i]->plan->best_single_ns;
  for (int32_t i = 0; i < n; i++) {
    bool has_rate = language && row_value(order[i]) != SITU_NEVER_NS;
    double tokens = has_rate ? rates_main(rates_of(order[i]->plan, model), model) : 0;
    compare_cells(&rows, order[i], best, single, language ? &tokens : NULL);
  }
  table_render(t, &rows, options);
  table_stop(&rows);
}

static char *compare_text(const situ_compare_row *rows, int32_t n_rows, const situ_problem *problem,
                          const situ_model *model, const situ_report_options *options) {
  const situ_compare_row **order = sorted(rows, n_rows), *bound = best_bound(rows, n_rows);
  if (!order) return NULL;
  text_buffer t = {0};
  char a[TEXT_UNIT_BYTES];
  report_title(&t, problem, options);
  compare_table(&t, order, n_rows, model, options);
  text_add_bytes(&t, "\n", 1);
  if (bound) {
    const situ_plan *plan = bound->plan;
    int32_t device = plan->best_single_device;
    fact_start(&t, options, "best single", 11);
    if (device < 0)
      text_add(&t, "none: no single device can run the model\n");
    else
      text_add(&t, "%s  %s alone\n", exact_time(a, plan->best_single_ns), problem->platform->devices[device].name);
    fact_start(&t, options, "best bound", 11);
    if (plan->lower_bound_ns > 0)
      text_add(&t, "%s  %s\n", exact_time(a, plan->lower_bound_ns), plan->bound);
    else
      text_add(&t, "none\n");
    report_scope(&t, problem, 0, 11, options);
  }
  for (int32_t i = 0; i < n_rows; i++) {
    const char *why = order[i]->failure ? order[i]->failure : order[i]->plan ? order[i]->plan->reason : "";
    if (!*why) continue;
    char line[640];
    snprintf(line, sizeof line, "%s: %s", order[i]->solver, why);
    text_add_wrapped(&t, line, "  ", "    ", report_width(options));
  }
  report_notes(&t, model, options);
  free(order);
  return text_take(&t);
}

static situ_status check_rows(const situ_compare_row *rows, int32_t n, const situ_problem *problem, situ_error *error) {
  if (n < 0 || (n > 0 && !rows))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "n_rows is not the number of rows");
  for (int32_t k = 0; k < n; k++) {
    if (!rows[k].solver || (!rows[k].plan && !rows[k].failure))
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "row %d has no solver, or neither plan nor failure",
                       (int)k);
    if (rows[k].plan) TRY(plan_belongs(rows[k].plan, problem, error));
  }
  const situ_compare_row *max = best_bound(rows, n);
  for (int32_t k = 0; k < n; k++)
    if (row_value(&rows[k]) != SITU_NEVER_NS)
      TRY(plan_meet_bound(row_value(&rows[k]), rows[k].solver, max->plan->lower_bound_ns, max->plan->bound, error));
  return SITU_STATUS_OK;
}

situ_status situ_report_compare(char **out, const situ_compare_row *rows, int32_t n_rows, const situ_problem *problem,
                                const situ_model *model, situ_report_format format, const situ_report_options *options,
                                situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, problem));
  TRY(check_rows(rows, n_rows, problem, error));
  return report_close(out,
                      format == SITU_REPORT_JSON ? compare_json(rows, n_rows, problem, model)
                                                 : compare_text(rows, n_rows, problem, model, &look),
                      error);
}
