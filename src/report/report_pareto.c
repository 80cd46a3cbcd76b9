#include "plan/plan.h"
#include "report/report.h"

static json_value *devices_json(const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  json_value *list = json_new_array();
  bool ok = list != NULL;
  for (int32_t d = 0; ok && d < p->n_devices; d++)
    if (plan_use(plan, d).n_operators > 0) ok = json_push(list, json_new_text(p->platform->devices[d].name));
  return json_if(ok, list);
}

static void add_points(row_list *r, const void *front) {
  const situ_plan none = {.problem = situ_front_problem(front)};
  for (int32_t i = 0; !r->blank; i++) {
    const situ_plan *found = situ_front_plan(front, i), *plan = found ? found : &none;
    const situ_problem *p = plan->problem;
    int64_t latency = plan->latency_ns, period = plan->period_ns, single = plan->best_single_ns;
    char rate[TEXT_UNIT_BYTES];
    int32_t used = 0;
    for (int32_t d = 0; d < p->n_devices; d++) used += plan_use(plan, d).n_operators > 0;
    r->blank = !found;
    ROW(r, {"latency_ns", AS_TIME, "latency", .n = latency, .style = STYLE_BOLD},
        {NULL, AS_RATIO, "to single", .x = report_ratio(single, latency)},
        {"period_ns", AS_TIME, "period", .n = period, .style = STYLE_BOLD},
        {NULL, AS_RATIO, "to single", .x = report_ratio(single, period)},
        {NULL, AS_NUMBER, "inputs/s", .shown = exact_rate(rate, p->n_copies, period)},
        {NULL, AS_INDEX, "devices", .n = used},
        {"solver", AS_TEXT, "solver", .text = plan->solver, .style = STYLE_DIM, .max = 24},
        {"devices", AS_TREE, .tree = r->list && found ? devices_json(plan) : NULL});
  }
}

/* Every point knows the best single device: there period and latency are one, since it does everything. */
static const situ_plan *any_point(const situ_front *front) { return situ_front_plan(front, 0); }

static char *pareto_json(const situ_front *front, const situ_model *model) {
  const situ_front_summary of = report_front(front);
  const situ_problem *problem = situ_front_problem(front);
  const situ_plan *any = any_point(front);
  json_value *root = json_new_object();
  bool ok = report_problem_json(root, problem, model);
  ok &= FIELDS(root,
               {"outcome", .text = any             ? "feasible"
                                   : of.infeasible ? "infeasible"
                                                   : "limit"},
               {"reason", .text = text_or_null(of.reason)}, {"latency_lower_bound_ns", AS_TIME, .n = of.min_latency_ns},
               {"latency_bound", .text = of.latency_bound}, {"period_lower_bound_ns", AS_TIME, .n = of.min_period_ns},
               {"period_bound", .text = of.period_bound});
  ok &= report_scope_fields(root, problem, 0);
  ok &= FIELDS(root, {"best_single_ns", AS_TIME, .n = any ? any->best_single_ns : INT64_MAX},
               {"best_single_device", .text = report_device(problem, any ? any->best_single_device : -1)},
               {"seconds", AS_NUMBER, .x = of.seconds}, {"points", AS_TREE, .tree = rows_json(add_points, front)});
  return report_finish(root, ok && report_notes_json(root, model));
}

static void bound_fact(const fact_lines *f, const char *label, int64_t bound, const char *name) {
  char a[TEXT_UNIT_BYTES];
  FACT(f, label, "%s  %s", bound > 0 && bound < SITU_NEVER_NS ? exact_time(a, bound) : "none", name);
}

static char *pareto_text(const situ_front *front, const situ_model *model, const situ_report_options *options) {
  const situ_front_summary of = report_front(front);
  const situ_problem *problem = situ_front_problem(front);
  const situ_plan *any = any_point(front);
  text_buffer t = {0};
  const fact_lines f = {&t, options, 13};
  char a[TEXT_UNIT_BYTES];
  report_title(&t, problem, options);
  rows_text(&t, add_points, front, options);
  text_add(&t, "\n");
  if (!any)
    text_add_wrapped(&t, *of.reason ? of.reason : "no plan was found within the limits", "  no plan  ", "           ",
                     report_width(options));
  bound_fact(&f, "min latency", of.min_latency_ns, of.latency_bound);
  bound_fact(&f, "min period", of.min_period_ns, of.period_bound);
  report_scope(&f, problem, 0);
  report_unknown(&f, problem);
  if (!any || any->best_single_device < 0)
    FACT(&f, "best single", "none: no single device can run the model");
  else
    FACT(&f, "best single", "%s  %s alone, both latency and period", exact_time(a, any->best_single_ns),
         problem->platform->devices[any->best_single_device].name);
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
