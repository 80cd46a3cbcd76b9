#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/rates.h"
#include "report/report.h"

static int64_t row_value(const situ_compare_row *r) {
  return r->plan && plan_exists(r->plan) ? r->plan->value_ns : SITU_NEVER_NS;
}

typedef struct comparison {
  const situ_compare_row *rows; /* [n] by value */
  int32_t n;
  const situ_problem *problem;
  const situ_model *model;
} comparison;

/* The rows, sorted by insertion: there are few, and equal ones keep their order. Caller frees. */
static situ_compare_row *sorted(const situ_comparison *of) {
  int32_t n = situ_comparison_count(of);
  situ_compare_row *out = malloc(((size_t)n + 1) * sizeof *out);
  for (int32_t i = 0; out && i < n; i++) {
    situ_compare_row row = situ_comparison_at(of, i);
    int32_t k = i;
    for (; k > 0 && row_value(&row) < row_value(&out[k - 1]); k--) out[k] = out[k - 1];
    out[k] = row;
  }
  return out;
}

/* The plan with the highest bound, the first one run of equals; NULL without a plan. */
static const situ_plan *best_bound(const situ_comparison *of) {
  const situ_plan *best = NULL;
  for (int32_t i = 0; i < situ_comparison_count(of); i++) {
    const situ_plan *plan = situ_comparison_at(of, i).plan;
    if (plan && (!best || plan->lower_bound_ns > best->lower_bound_ns)) best = plan;
  }
  return best;
}

static void add_solvers(row_list *out, const void *context) {
  const comparison *c = context;
  bool language = c->model && c->model->steps.other;
  int64_t best = c->n ? row_value(&c->rows[0]) : SITU_NEVER_NS, single = SITU_NEVER_NS;
  for (int32_t i = 0; i < c->n; i++)
    if (c->rows[i].plan) single = c->rows[i].plan->best_single_ns;
  for (int32_t i = 0; i <= c->n; i++) {
    const situ_plan failed = {.bound = ""};
    const situ_compare_row none = {.failure = ""}, *r = i < c->n ? &c->rows[i] : &none;
    const situ_plan *plan = r->plan ? r->plan : &failed;
    int64_t value = row_value(r);
    bool exists = value != SITU_NEVER_NS, found = r->plan, known = exists && best > 0;
    double rate = exists ? token_rates_main(token_rates_of(plan, c->model), c->model) : 0;
    char tokens[TEXT_UNIT_BYTES], gain[TEXT_UNIT_BYTES], more[TEXT_UNIT_BYTES + 1];
    snprintf(more, sizeof more, "+%s", percent_text(gain, known ? (double)(value - best) / (double)best : 0));
    style s = exists && value == best ? STYLE_BOLD : exists ? STYLE_PLAIN : STYLE_DIM;
    const char *outcome = found ? situ_outcome_name(plan->outcome) : "failed";
    style good = plan->outcome == SITU_OUTCOME_OPTIMAL && found ? STYLE_GOOD : exists ? STYLE_PLAIN : STYLE_WARN;
    out->blank = i == c->n;
    ROW(out, {"solver", AS_TEXT, "solver", .text = r->solver, .style = s, .max = 24},
        {"outcome", .text = found ? outcome : "limit"},
        {"value_ns", AS_TIME, "value", .n = value, .shown = exists ? NULL : "-", .style = s},
        {"value", AS_NUMBER, .x = report_in_unit(value, c->problem)},
        {NULL, AS_NUMBER, "to best",
         .shown = !known          ? ""
                  : value == best ? "best"
                                  : more,
         .style = known && value == best ? STYLE_GOOD : STYLE_PLAIN},
        {NULL, AS_NUMBER, "tokens/s", .shown = rate > 0 ? rates_text(tokens, rate) : "", .skip = !language},
        {NULL, AS_RATIO, "to single", .x = report_ratio(single, value)},
        {"lower_bound_ns", AS_COUNT, .n = plan->lower_bound_ns},
        {NULL, AS_TIME, "bound", .n = plan->lower_bound_ns, .shown = plan->lower_bound_ns > 0 ? NULL : "-"},
        {"bound", .text = text_or_null(plan->bound), .skip = !found},
        {"tokens_per_second", AS_NUMBER, .x = rate, .skip = !(rate > 0)},
        {"gap", AS_NUMBER, .x = exists ? plan_gap(plan) : (double)NAN, .skip = !found},
        {NULL, AS_TEXT, "outcome", .text = outcome, .style = good},
        {"seconds", AS_NUMBER, "seconds", .x = plan->seconds, .style = STYLE_DIM},
        {"steps", AS_COUNT, .n = plan->steps, .skip = !found},
        {"reason", .text = found ? text_or_null(plan->reason) : r->failure});
  }
}

static char *compare_json(const comparison *c, const situ_plan *bound) {
  json_value *root = json_new_object();
  bool ok = report_problem_json(root, c->problem, c->model);
  ok &= FIELDS(root, {"best_single_ns", AS_TIME, .n = bound ? bound->best_single_ns : INT64_MAX},
               {"best_single_device", .text = report_device(c->problem, bound ? bound->best_single_device : -1)},
               {"lower_bound_ns", AS_COUNT, .n = bound ? bound->lower_bound_ns : 0});
  ok &= report_scope_fields(root, c->problem, 0);
  ok &= FIELDS(root, {"rows", AS_TREE, .tree = rows_json(add_solvers, c)});
  return report_finish(root, ok && report_notes_json(root, c->model));
}

static char *compare_text(const comparison *c, const situ_plan *bound, const situ_report_options *options) {
  text_buffer t = {0};
  const fact_lines f = {&t, options, 11};
  char a[TEXT_UNIT_BYTES];
  report_title(&t, c->problem, options);
  rows_text(&t, add_solvers, c, options);
  text_add(&t, "\n");
  if (bound) {
    const char *device = report_device(c->problem, bound->best_single_device);
    FACT(&f, "best single", device ? "%s  %s alone" : "none: no single device can run the model",
         exact_time(a, bound->best_single_ns), device);
    FACT(&f, "best bound", bound->lower_bound_ns > 0 ? "%s  %s" : "none", exact_time(a, bound->lower_bound_ns),
         bound->bound);
    report_scope(&f, c->problem, 0);
  }
  report_unknown(&f, c->problem);
  for (int32_t i = 0; i < c->n; i++) {
    const situ_compare_row *r = &c->rows[i];
    const char *why = r->plan ? r->plan->reason : r->failure;
    if (!*why) continue;
    char line[640];
    snprintf(line, sizeof line, "%s: %s", r->solver, why);
    text_add_wrapped(&t, line, "  ", "    ", report_width(options));
  }
  report_notes(&t, c->model, options);
  return text_take(&t);
}

situ_status situ_report_compare(char **out, const situ_comparison *of, const situ_model *model,
                                situ_report_format format, const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, of));
  situ_compare_row *rows = sorted(of);
  const comparison c = {rows, situ_comparison_count(of), situ_comparison_problem(of), model};
  const situ_plan *bound = best_bound(of);
  char *text = !rows ? NULL : format == SITU_REPORT_JSON ? compare_json(&c, bound) : compare_text(&c, bound, &look);
  free(rows);
  return report_close(out, text, error);
}
