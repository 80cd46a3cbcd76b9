#include <stdio.h>
#include <stdlib.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "base/format.h"
#include "problem/claim.h"
#include "report/rates.h"
#include "report/report.h"
#include "report/report_explain.h"
#include "sim/engine_parts.h"

enum { LABEL_COLUMNS = 11, SHOWN_PARTS = 6 };

/* Counts the operators with work on each device; returns how many have none. */
static int32_t count_working(int32_t *count, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  int32_t idle = 0;
  for (int32_t v = 0; plan->device && v < p->n_operators; v++) {
    bool works = problem_works(p, v);
    int32_t d = plan->device[v];
    if (d >= 0 && d < p->n_devices) count[d] += works;
    idle += !works;
  }
  for (int32_t d = 0; plan->replica_of && d < p->n_devices; d++)
    if (plan->replica_of[d] >= 0 && plan->replica_of[d] < p->n_devices) count[d] = count[plan->replica_of[d]];
  return idle;
}

/* Rows of equal, empty devices are folded once there are more than this many devices. */
enum { ALL_DEVICES = 24, BAR_COLUMNS = 20, ROW_COLUMNS = 76 };

/* On a terminal that is narrower than a row, bars give way: a row that the terminal wraps is no row. */
static int bar_columns(const situ_report_options *o) {
  int missing = o && o->width > 0 ? ROW_COLUMNS - (int)o->width : 0;
  return missing <= 0 ? BAR_COLUMNS : missing < BAR_COLUMNS ? BAR_COLUMNS - missing : 0;
}

/* The rows of devices, and how they look. */
typedef struct device_table {
  const situ_plan *plan;
  const situ_report_options *options;
  const int32_t *working; /* [device] operators with work; NULL: all operators count */
} device_table;

static bool is_folded(const device_table *of, int32_t d) {
  return of->working && of->working[d] == 0 && of->plan->problem->n_devices > ALL_DEVICES;
}

static void add_device(row_list *out, const device_table *of, int32_t d) {
  const situ_problem *p = of->plan->problem;
  situ_device_use use = plan_use(of->plan, d);
  int32_t n = of->working ? of->working[d] : use.n_operators;
  bool over = use.memory_bytes > use.memory_limit_bytes, pipeline = p->execution == SITU_EXECUTION_PIPELINE;
  double share = of->plan->value_ns > 0 ? (double)use.load_ns / (double)of->plan->value_ns : 0;
  char bar[4 * BAR_COLUMNS + 8], cell[sizeof bar + 64], name[64];
  bar_text(bar, sizeof bar, share, bar_columns(of->options), of->options);
  c_locale_print(cell, sizeof cell, "%3.0f %% %s", share * 100, bar);
  const char *first = report_device(p, use.replica_of);
  snprintf(name, sizeof name, "%s%s%s", p->platform->devices[d].name, first ? " = " : "", first ? first : "");
  style s = n > 0 ? STYLE_PLAIN : STYLE_DIM;
  ROW(out, {NULL, AS_NAME, "device", .text = name, .style = s, .max = 24}, {"name", .text = report_device(p, d)},
      {"class", .text = p->platform->class_name[p->class_of[d]]},
      {"operators", AS_COUNT, "operators", .n = n, .style = s},
      {"load_ns", AS_ROUGH_TIME, "load", .n = use.load_ns, .style = s},
      {NULL, AS_TEXT, pipeline ? "of the period" : "of the time", .text = cell,
       .style = n > 0 ? STYLE_ACCENT : STYLE_DIM},
      {"memory_bytes", AS_BYTES, "memory", .n = use.memory_bytes, .style = over ? STYLE_BAD : s},
      {"memory_limit_bytes", AS_BYTES, "of", .n = use.memory_limit_bytes, .style = STYLE_DIM},
      {"replica_of", .text = first, .skip = !first});
}

static void add_devices(row_list *out, const void *context) {
  const device_table *of = context;
  for (int32_t d = 0; plan_exists(of->plan) && d < of->plan->problem->n_devices; d++)
    if (!is_folded(of, d)) add_device(out, of, d);
  out->blank = true;
  add_device(out, of, 0);
}

static char *plan_json(const situ_plan *plan, const situ_model *model, const situ_explanation *why) {
  token_rates rates = token_rates_of(plan, model);
  double main_rate = token_rates_main(rates, model);
  json_value *root = json_new_object();
  placement_listing places = {.plan = NULL};
  bool ok = report_problem_json(root, plan->problem, model) && report_plan_fields(root, plan);
  ok &= FIELDS(
      root, {"devices", AS_TREE, .tree = rows_json(add_devices, &(device_table){.plan = plan})},
      {"tokens_per_second", AS_NUMBER, .x = main_rate, .skip = !(main_rate > 0)},
      {"decode_tokens_per_second", AS_NUMBER, .x = rates.decode, .skip = !(rates.decode > 0)},
      {"prefill_tokens_per_second", AS_NUMBER, .x = rates.prefill, .skip = !(rates.prefill > 0)},
      {"sequential_prefill_tokens_per_second", AS_NUMBER, .x = rates.sequential, .skip = !(rates.sequential > 0)},
      {"time_to_first_token_ns", AS_COUNT, .n = rates.ttft_ns, .skip = rates.ttft_ns <= 0});
  ok = ok && (!why || explain_fields(root, &places, why, plan)) && report_notes_json(root, model);
  return report_finish_with(root, ok, why ? &places.listing : NULL);
}

static void device_rows(text_buffer *t, const situ_plan *plan, const situ_report_options *options) {
  int32_t n = plan->problem->n_devices, *working = calloc((size_t)n, sizeof *working), idle = 0;
  t->failed |= !working;
  if (!working) return;
  int32_t without = count_working(working, plan);
  const device_table of = {plan, options, working};
  char others[TEXT_UNIT_BYTES];
  rows_text(t, add_devices, &of, options);
  for (int32_t d = 0; d < n; d++) idle += is_folded(&of, d);
  if (idle) text_add(t, "  and %d devices without an operator\n", (int)idle);
  if (without)
    text_add(t, "  not counted: %s operator%s without work (constants, views, shapes)\n", grouped(others, without),
             without == 1 ? "" : "s");
  free(working);
}

/* A value in a style, then its explanation. */
__attribute__((format(printf, 5, 6))) static void value_line(const fact_lines *f, const char *label, style s,
                                                             const char *value, const char *format, ...) {
  char rest[256];
  FORMAT_INTO(rest, format);
  fact_start(f, label);
  style_add(f->t, f->options, s, value);
  if (*rest) text_add(f->t, "  ");
  text_add_clean(f->t, rest);
  text_add(f->t, "\n");
}

/* A latency, or the period in which `inputs` inputs go through. */
static void value_fact(const fact_lines *f, bool period, int32_t inputs, int64_t value, style s) {
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  bool rated = period && value > 0;
  value_line(f, period ? "period" : "latency", s, exact_time(a, value), "%s%s",
             rated ? exact_rate(b, inputs, value) : "", rated ? " inputs a second" : "");
}

/* The time of all copies, the time per input, and the minimum and maximum time of one copy. */
static void copy_facts(const fact_lines *f, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  int64_t min = SITU_NEVER_NS, max = 0, start, finish, value = plan->value_ns;
  for (int32_t k = 0; k < p->n_copies; k++) {
    report_copy_times(plan, k, &start, &finish);
    min = min64(min, finish - start);
    max = max64(max, finish - start);
  }
  if (p->objective == SITU_OBJECTIVE_LATENCY)
    value_line(f, "one input", STYLE_BOLD, exact_time(a, value / p->n_copies), "%s inputs a second",
               exact_rate(b, p->n_copies, value));
  value_line(f, "a copy", STYLE_PLAIN, exact_time(a, min), "to %s from its start to its end", exact_time(b, max));
}

/* A step of micro-batches, and whether stages wait for each other beyond the period. */
static void step_facts(const fact_lines *f, const situ_plan *plan) {
  pipeline_step step;
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  bool ok = true;
  if (report_find_step(&step, plan, &ok)) {
    value_line(f, "step", STYLE_BOLD, exact_time(a, step.step_ns), "the busiest device waits %s of it (bubble)",
               percent_text(b, step.bubble));
    if (step.interval_ns > plan->value_ns)
      value_line(f, "interval", STYLE_WARN, exact_time(a, step.interval_ns),
                 "from input to input: devices wait for transfers beyond the period");
  }
  f->t->failed |= !ok;
}

static void value_facts(const fact_lines *f, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  int64_t value = plan->value_ns, bound = plan->lower_bound_ns;
  bool period = p->objective == SITU_OBJECTIVE_THROUGHPUT, optimal = plan->outcome == SITU_OUTCOME_OPTIMAL;
  value_fact(f, period, p->n_copies, value, STYLE_BOLD);
  if (p->n_copies > 1) copy_facts(f, plan);
  step_facts(f, plan);
  if (parts_known(p) && situ_plan_by_parts_ns(plan) != value)
    value_line(f, "by parts", STYLE_BOLD, exact_time(a, situ_plan_by_parts_ns(plan)),
               "with the overhead of each part on an engine");
  int64_t other = period ? plan->latency_ns : plan->period_ns;
  if (other != SITU_NEVER_NS) value_fact(f, !period, p->n_copies, other, STYLE_PLAIN);
  if (p->secondary && plan->secondary_ns != SITU_NEVER_NS)
    value_line(f, "limit", STYLE_PLAIN, exact_time(a, plan->secondary_ns), "%s; at most %s allowed", p->secondary_name,
               exact_time(b, p->max_secondary_ns));
  int64_t verified = plan->verified_ns;
  bool whole = verified > 0 && verified >= bound, claimed = plan->claimed && !whole;
  const char *proof = whole                  ? ", certificate verified"
                      : verified > 0         ? "; certificate verified up to "
                      : claimed && bound > 0 ? ", claimed by the plan file"
                                             : "";
  value_line(f, "lower bound", STYLE_PLAIN, bound > 0 ? exact_time(a, bound) : "none", "%s%s%s", plan->bound, proof,
             whole || verified == 0 ? "" : exact_time(b, verified));
  if (optimal)
    value_line(f, "gap", claimed || p->guessed ? STYLE_WARN : STYLE_GOOD, "0 %", "%s",
               claimed ? "claimed optimal, not proved here; see situ check --require-proof" : claim_optimal(p));
  else if (bound > 0)
    value_line(f, "gap", STYLE_WARN, percent_text(a, plan_gap(plan)), "maximum possible improvement for %s",
               claim_costs(p));
  if (optimal || bound > 0) report_scope(f, p, plan->form);
  report_unknown(f, p);
}

/* The tolerance of the portfolio: a plan that is worse by more than this was chosen for its reliability. */
static const double USUAL = 0.02;

/* The plan with a better value that was not chosen: it gains too little for its hand-overs, or not reliably. */
static void aside_fact(const fact_lines *f, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  char a[TEXT_UNIT_BYTES], percent[TEXT_UNIT_BYTES];
  int64_t best = plan_best_found_ns(plan), value = plan->value_ns;
  int32_t n = plan_best_found_handovers(plan);
  if (best >= value || best <= 0) return;
  situ_robustness r = SITU_ROBUSTNESS_INIT;
  bool told = situ_plan_robustness(plan, &r), unsure = told && report_is_unsure(&r);
  bool alone = value == plan->best_single_ns, far = told && (double)value > (1 + USUAL) * (double)best;
  const char *without = parts_known(p) ? " without the overhead of parts," : "";
  const char *see = parts_known(p) ? ""
                    : unsure       ? "; see --uncertainty"
                    : alone        ? "; see --min-gain"
                    : far          ? "; see --tolerance, --uncertainty"
                                   : "; see --tolerance";
  char cost[48]; /* with equal hand-overs, parts or bytes decided */
  if (n == plan->n_handovers)
    snprintf(cost, sizeof cost, ", as many hand-overs");
  else
    snprintf(cost, sizeof cost, " with %d hand-over%s", (int)n, n == 1 ? "" : "s");
  value_line(f, "set aside", STYLE_PLAIN, exact_time(a, best), "%s shorter%s%s%s",
             percent_text(percent, 1 - (double)best / (double)value), without, cost, see);
}

/* The cost of a plan that the targets of all writers can run. */
static void form_fact(const fact_lines *f, const situ_plan *plan) {
  char a[TEXT_UNIT_BYTES], percent[TEXT_UNIT_BYTES];
  int64_t without = plan_unrestricted_ns(plan), value = plan->value_ns;
  if (without >= value || without <= 0) return;
  value_line(f, "form", STYLE_PLAIN, percent_text(percent, (double)value / (double)without - 1),
             "longer, to fit the formats of --write; %s without them", exact_time(a, without));
}

static void robust_fact(const fact_lines *f, const situ_plan *plan) {
  situ_robustness r = SITU_ROBUSTNESS_INIT;
  char wins[TEXT_UNIT_BYTES], unsure[TEXT_UNIT_BYTES];
  if (situ_plan_robustness(plan, &r))
    value_line(f, "robust", STYLE_PLAIN, percent_text(wins, r.beats_single), "chance %s (costs +- %s)",
               r.preferred ? "that the split is faster" : "to beat the best single",
               percent_text(unsure, r.uncertainty));
}

static const char *no_plan_reason(const situ_plan *plan) {
  const char *why = plan->reason;
  if (*why) return why;
  return plan->outcome == SITU_OUTCOME_LIMIT
             ? "no plan was found within the limits; try more time, more steps or another solver"
         : plan->outcome == SITU_OUTCOME_CANCELLED ? "stopped before a plan was found"
                                                   : "";
}

static char *plan_text(const situ_plan *plan, const situ_model *model, const situ_explanation *why,
                       const situ_report_options *options) {
  const situ_problem *problem = plan->problem;
  text_buffer t = {0};
  const fact_lines f = {&t, options, LABEL_COLUMNS};
  char a[TEXT_UNIT_BYTES], steps[TEXT_UNIT_BYTES], rest[256];
  report_title(&t, problem, options);
  if (plan_exists(plan)) {
    device_rows(&t, plan, options);
    text_add_bytes(&t, "\n", 1);
    value_facts(&f, plan);
  } else {
    const char *reason = no_plan_reason(plan);
    value_line(&f, "no plan", STYLE_BAD, situ_outcome_name(plan->outcome), "%s", "");
    if (*reason) fact_wrapped(&f, "reason", strdup(reason));
    report_scope(&f, problem, plan->form);
    report_unknown(&f, problem);
  }
  token_rates rates = token_rates_of(plan, model);
  if (rates.decode > 0 || rates.prefill > 0) {
    fact_start(&f, "tokens/s");
    if (rates.decode > 0) text_add(&t, "%s in decoding", rates_text(a, rates.decode));
    if (rates.prefill > 0) text_add(&t, "%s%s in prefill", rates.decode > 0 ? ", " : "", rates_text(a, rates.prefill));
    if (rates.sequential > 0) text_add(&t, " (%s if micro-batches do not overlap)", rates_text(a, rates.sequential));
    if (rates.ttft_ns > 0) text_add(&t, "; first token after %s", round_time(a, rates.ttft_ns));
    text_add(&t, "\n");
  }
  if (why) explain_short(&f, why, plan, SHOWN_PARTS);
  report_against_single(rest, sizeof rest, plan);
  int64_t single = plan->best_single_ns;
  value_line(&f, "best single", STYLE_PLAIN, single == SITU_NEVER_NS ? "none" : exact_time(a, single), "%s", rest);
  if (plan_exists(plan)) {
    form_fact(&f, plan);
    aside_fact(&f, plan);
    robust_fact(&f, plan);
  }
  if (*plan->solver)
    value_line(&f, "found by", STYLE_PLAIN, plan->solver, "%.2f s, %s step%s", plan->seconds,
               grouped(steps, plan->steps), plan->steps == 1 ? "" : "s");
  report_notes(&t, model, options);
  return text_take(&t);
}

/* `why` is NULL if there is no placement to explain. */
static char *plan_as(situ_report_format format, const situ_plan *plan, const situ_model *model,
                     const situ_explanation *why, const situ_report_options *options) {
  switch (format) {
    case SITU_REPORT_JSON: return plan_json(plan, model, why);
    case SITU_REPORT_SVG: return report_plan_svg(plan);
    case SITU_REPORT_PARTS: return report_parts_svg(why, plan);
    case SITU_REPORT_GANTT: return report_gantt(plan, options);
    default: return plan_text(plan, model, why, options);
  }
}

situ_status situ_report_plan(char **out, const situ_plan *plan, const situ_model *model, situ_report_format format,
                             const situ_report_options *options, situ_error *error) {
  const unsigned pictures = REPORT_SVG | REPORT_PARTS | REPORT_GANTT;
  situ_report_options look;
  situ_explanation *why = NULL;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON | pictures, options, error));
  TRY(GIVEN(error, plan));
  if (!plan->device && pictures >> format & 1)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the plan has no placement to draw");
  if (plan->device && !(format == SITU_REPORT_SVG || format == SITU_REPORT_GANTT)) TRY(situ_explain(&why, plan, error));
  char *text = plan_as(format, plan, model, why, &look);
  situ_explanation_free(why);
  return report_close(out, text, error);
}
