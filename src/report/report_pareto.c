#include <stdio.h>

#include "plan/plan.h"
#include "report/report.h"

static bool point_json(json_value *list, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  json_value *o = json_new_object(), *devices = json_new_array();
  bool ok = o && devices && json_set(o, "latency_ns", json_new_int(plan->latency_ns));
  ok = ok && json_set(o, "period_ns", json_new_int(plan->period_ns));
  ok = ok && json_set(o, "solver", json_new_text(plan->solver));
  for (int32_t d = 0; ok && d < p->n_devices; d++)
    if (plan_use(plan, d).n_operators > 0) ok = json_push(devices, json_new_text(p->platform->devices[d].name));
  ok = json_set(o, "devices", devices) && ok;
  return json_push(list, o) && ok;
}

/* Every point knows the best single device: there period and latency are one, since it does everything. */
static const situ_plan *any_point(const situ_front *front) { return situ_front_plan(front, 0); }

static char *pareto_json(const situ_front *front, const situ_model *model) {
  const situ_front_summary of = report_front(front);
  const situ_problem *problem = situ_front_problem(front);
  json_value *root = json_new_object(), *list = json_new_array();
  const situ_plan *any = any_point(front);
  const char *reason = of.reason;
  int32_t single = any ? any->best_single_device : -1;
  bool ok = root && list && report_problem_json(root, problem, model);
  ok = ok && json_set(root, "outcome", json_new_text(any ? "feasible" : of.infeasible ? "infeasible" : "limit"));
  ok = ok && json_set(root, "reason", *reason ? json_new_text(reason) : json_new_null());
  ok = ok && json_set(root, "latency_lower_bound_ns", report_amount(of.min_latency_ns));
  ok = ok && json_set(root, "latency_bound", json_new_text(of.latency_bound));
  ok = ok && json_set(root, "period_lower_bound_ns", report_amount(of.min_period_ns));
  ok = ok && json_set(root, "period_bound", json_new_text(of.period_bound));
  ok = ok && report_scope_fields(root, problem, 0);
  ok = ok && json_set(root, "best_single_ns", any ? report_amount(any->best_single_ns) : json_new_null());
  ok = ok && json_set(root, "best_single_device",
                      single >= 0 ? json_new_text(problem->platform->devices[single].name) : json_new_null());
  ok = ok && json_set(root, "seconds", json_new_number(of.seconds));
  for (int32_t i = 0; ok && i < of.n_points; i++) ok = point_json(list, situ_front_plan(front, i));
  ok = json_set(root, "points", list) && ok;
  ok = ok && report_notes_json(root, model);
  return report_finish(root, ok);
}

/* How many times as good as the best single device. */
static void ratio_cell(table *t, const situ_plan *plan, int64_t value_ns) {
  int64_t single = plan->best_single_ns;
  if (single == SITU_NEVER_NS || value_ns <= 0)
    table_cell(t, STYLE_PLAIN, "");
  else
    table_cellf(t, STYLE_PLAIN, "%.2fx", (double)single / (double)value_ns);
}

static void point_cells(table *t, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  char a[TEXT_UNIT_BYTES];
  int64_t latency = plan->latency_ns, period = plan->period_ns;
  int32_t used = 0;
  for (int32_t d = 0; d < p->n_devices; d++) used += plan_use(plan, d).n_operators > 0;
  table_cell(t, STYLE_BOLD, exact_time(a, latency));
  ratio_cell(t, plan, latency);
  table_cell(t, STYLE_BOLD, exact_time(a, period));
  ratio_cell(t, plan, period);
  table_cell(t, STYLE_PLAIN, exact_rate(a, p->n_copies, period));
  table_cellf(t, STYLE_PLAIN, "%d", (int)used);
  table_cell(t, STYLE_DIM, plan->solver);
}

static void bound_fact(text_buffer *t, const situ_report_options *o, const char *label, int64_t bound,
                       const char *name) {
  char a[TEXT_UNIT_BYTES];
  fact_start(t, o, label, 13);
  text_add(t, "%s  %s\n", bound > 0 && bound < SITU_NEVER_NS ? exact_time(a, bound) : "none", name);
}

static char *pareto_text(const situ_front *front, const situ_model *model, const situ_report_options *options) {
  const situ_front_summary of = report_front(front);
  const situ_problem *problem = situ_front_problem(front);
  text_buffer t = {0};
  char a[TEXT_UNIT_BYTES];
  table rows;
  report_title(&t, problem, options);
  if (!table_start(&rows)) return NULL;
  table_column(&rows, "latency", ALIGN_RIGHT, 0);
  table_column(&rows, "to single", ALIGN_RIGHT, 0);
  table_column(&rows, "period", ALIGN_RIGHT, 0);
  table_column(&rows, "to single", ALIGN_RIGHT, 0);
  table_column(&rows, "inputs/s", ALIGN_RIGHT, 0);
  table_column(&rows, "devices", ALIGN_RIGHT, 0);
  table_column(&rows, "solver", ALIGN_LEFT, 24);
  for (int32_t i = 0; i < of.n_points; i++) point_cells(&rows, situ_front_plan(front, i));
  table_render(&t, &rows, options);
  table_stop(&rows);
  text_add_bytes(&t, "\n", 1);
  const char *reason = of.reason;
  if (!any_point(front))
    text_add_wrapped(&t, *reason ? reason : "no plan was found within the limits", "  no plan  ", "           ",
                     report_width(options));
  bound_fact(&t, options, "min latency", of.min_latency_ns, of.latency_bound);
  bound_fact(&t, options, "min period", of.min_period_ns, of.period_bound);
  report_scope(&t, problem, 0, 13, options);
  const situ_plan *any = any_point(front);
  int32_t device = any ? any->best_single_device : -1;
  fact_start(&t, options, "best single", 13);
  if (device < 0)
    text_add(&t, "none: no single device can run the model\n");
  else
    text_add(&t, "%s  %s alone, both latency and period\n", exact_time(a, any->best_single_ns),
             problem->platform->devices[device].name);
  report_notes(&t, model, options);
  return text_take(&t);
}

situ_status situ_report_pareto(char **out, const situ_front *front, const situ_model *model, situ_report_format format,
                               const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON | REPORT_SVG, options, error));
  TRY(GIVEN(error, front));
  char *text = format == SITU_REPORT_JSON  ? pareto_json(front, model)
               : format == SITU_REPORT_SVG ? report_front_svg(front)
                                           : pareto_text(front, model, &look);
  return report_close(out, text, error);
}
