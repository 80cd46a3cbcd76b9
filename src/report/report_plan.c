#include <stdio.h>
#include <stdlib.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "report/rates.h"
#include "report/report.h"
#include "report/report_explain.h"
#include "sim/engine_parts.h"

enum { LABEL_COLUMNS = 11, SHOWN_PARTS = 6 };

static bool device_json(json_value *list, const situ_plan *plan, int32_t d) {
  const situ_problem *p = plan->problem;
  situ_device_use use = plan_use(plan, d);
  json_value *o = json_new_object();
  bool ok = o && json_set(o, "name", json_new_text(p->platform->devices[d].name));
  ok = ok && json_set(o, "class", json_new_text(p->platform->class_name[p->class_of[d]]));
  ok = ok && json_set(o, "operators", json_new_int(use.n_operators));
  ok = ok && json_set(o, "load_ns", json_new_int(use.load_ns));
  ok = ok && json_set(o, "memory_bytes", json_new_int(use.memory_bytes));
  ok = ok && json_set(o, "memory_limit_bytes", report_amount(use.memory_limit_bytes));
  if (use.replica_of >= 0)
    ok = ok && json_set(o, "replica_of", json_new_text(p->platform->devices[use.replica_of].name));
  return json_push(list, o) && ok;
}

static char *plan_json(const situ_plan *plan, const situ_model *model, const situ_explanation *why) {
  const situ_problem *problem = plan->problem;
  json_value *root = json_new_object(), *devices = json_new_array();
  placement_listing places = {.plan = NULL};
  bool ok = root && report_problem_json(root, problem, model) && report_plan_fields(root, plan);
  for (int32_t d = 0; ok && plan_exists(plan) && d < problem->n_devices; d++) ok = device_json(devices, plan, d);
  ok = json_set(root, "devices", devices) && ok;
  token_rates rates = rates_of(plan, model);
  double rate = rates_main(rates, model);
  if (rate > 0) ok = ok && json_set(root, "tokens_per_second", json_new_number(rate));
  if (rates.decode > 0) ok = ok && json_set(root, "decode_tokens_per_second", json_new_number(rates.decode));
  if (rates.prefill > 0) ok = ok && json_set(root, "prefill_tokens_per_second", json_new_number(rates.prefill));
  if (rates.ttft_ns > 0) ok = ok && json_set(root, "time_to_first_token_ns", json_new_int(rates.ttft_ns));
  if (why) ok = ok && explain_fields(root, &places, why, plan);
  ok = ok && report_notes_json(root, model);
  return report_finish_with(root, ok, why ? &places.listing : NULL);
}

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

static void device_rows(text_buffer *t, const situ_plan *plan, const situ_report_options *options) {
  const situ_problem *p = plan->problem;
  table rows;
  int32_t *working = calloc((size_t)p->n_devices, sizeof *working);
  if (!working || !table_start(&rows)) {
    t->failed = true;
    free(working);
    return;
  }
  int32_t without = count_working(working, plan);
  bool pipeline = p->execution == SITU_EXECUTION_PIPELINE;
  table_column(&rows, "device", ALIGN_LEFT, 24);
  table_column(&rows, "operators", ALIGN_RIGHT, 0);
  table_column(&rows, "load", ALIGN_RIGHT, 0);
  table_column(&rows, pipeline ? "of the period" : "of the time", ALIGN_LEFT, 0);
  table_column(&rows, "memory", ALIGN_RIGHT, 0);
  table_column(&rows, "of", ALIGN_RIGHT, 0);
  int64_t value = plan->value_ns;
  int columns = bar_columns(options);
  int32_t idle = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    situ_device_use use = plan_use(plan, d);
    use.n_operators = working[d];
    if (use.n_operators == 0 && p->n_devices > ALL_DEVICES && ++idle) continue;
    char count[TEXT_UNIT_BYTES], load[TEXT_UNIT_BYTES], memory[TEXT_UNIT_BYTES], limit[TEXT_UNIT_BYTES];
    char bar[4 * BAR_COLUMNS + 8], cell[sizeof bar + 64];
    double share = value > 0 ? (double)use.load_ns / (double)value : 0;
    c_locale_print(cell, sizeof cell, "%3.0f %% %s", share * 100, bar_text(bar, sizeof bar, share, columns, options));
    style s = use.n_operators ? STYLE_PLAIN : STYLE_DIM;
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", p->platform->devices[d].name, use.replica_of >= 0 ? " = " : "",
             use.replica_of >= 0 ? p->platform->devices[use.replica_of].name : "");
    table_cell(&rows, use.n_operators ? STYLE_BOLD : STYLE_DIM, name);
    table_cell(&rows, s, grouped(count, use.n_operators));
    table_cell(&rows, s, text_time(load, use.load_ns));
    table_cell(&rows, use.n_operators ? STYLE_ACCENT : STYLE_DIM, cell);
    table_cell(&rows, use.memory_bytes > use.memory_limit_bytes ? STYLE_BAD : s, text_size(memory, use.memory_bytes));
    table_cell(&rows, STYLE_DIM, text_size(limit, use.memory_limit_bytes));
  }
  table_render(t, &rows, options);
  table_stop(&rows);
  if (idle) text_add(t, "  and %d devices without an operator\n", (int)idle);
  char others[TEXT_UNIT_BYTES];
  if (without)
    text_add(t, "  not counted: %s operator%s without work (constants, views, shapes)\n", grouped(others, without),
             without == 1 ? "" : "s");
  free(working);
}

static void fact(text_buffer *t, const situ_report_options *o, const char *label, style s, const char *strong,
                 const char *rest) {
  fact_start(t, o, label, LABEL_COLUMNS);
  style_add(t, o, s, strong);
  if (*rest) text_add_bytes(t, "  ", 2);
  text_add_clean(t, rest);
  text_add_bytes(t, "\n", 1);
}

/* A latency, or the period in which `inputs` inputs go through. */
static void value_fact(text_buffer *t, const situ_report_options *o, bool period, int32_t inputs, int64_t value,
                       style s) {
  char a[TEXT_UNIT_BYTES], rest[64] = "";
  if (period && value > 0) snprintf(rest, sizeof rest, "%s inputs a second", exact_rate(a, inputs, value));
  fact(t, o, period ? "period" : "latency", s, exact_time(a, value), rest);
}

/* The time of all copies, the time per input, and the minimum and maximum time of one copy. */
static void copy_facts(text_buffer *t, const situ_report_options *o, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES], rest[96];
  int64_t min = SITU_NEVER_NS, max = 0, start, finish, value = plan->value_ns;
  for (int32_t k = 0; k < p->n_copies; k++) {
    report_copy_times(plan, k, &start, &finish);
    min = min64(min, finish - start);
    max = max64(max, finish - start);
  }
  snprintf(rest, sizeof rest, "%s inputs a second", exact_rate(a, p->n_copies, value));
  if (p->objective == SITU_OBJECTIVE_LATENCY)
    fact(t, o, "one input", STYLE_BOLD, exact_time(a, value / p->n_copies), rest);
  snprintf(rest, sizeof rest, "to %s from its start to its end", exact_time(b, max));
  fact(t, o, "a copy", STYLE_PLAIN, exact_time(a, min), rest);
}

static void value_facts(text_buffer *t, const situ_plan *plan, const situ_report_options *o) {
  const situ_problem *p = plan->problem;
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES], rest[256];
  int64_t value = plan->value_ns, bound = plan->lower_bound_ns;
  bool period = p->objective == SITU_OBJECTIVE_THROUGHPUT, optimal = plan->outcome == SITU_OUTCOME_OPTIMAL;
  value_fact(t, o, period, p->n_copies, value, STYLE_BOLD);
  if (p->n_copies > 1) copy_facts(t, o, plan);
  if (parts_known(p) && situ_plan_by_parts_ns(plan) != value)
    fact(t, o, "by parts", STYLE_BOLD, exact_time(a, situ_plan_by_parts_ns(plan)),
         "with the overhead of each part on an engine");
  int64_t other = period ? plan->latency_ns : plan->period_ns;
  if (other != SITU_NEVER_NS) value_fact(t, o, !period, p->n_copies, other, STYLE_PLAIN);
  if (p->secondary && plan->secondary_ns != SITU_NEVER_NS) {
    snprintf(rest, sizeof rest, "%s; at most %s allowed", p->secondary_name, exact_time(a, p->max_secondary_ns));
    fact(t, o, "limit", STYLE_PLAIN, exact_time(b, plan->secondary_ns), rest);
  }
  int64_t verified = plan->verified_ns;
  bool whole = verified > 0 && verified >= bound, claimed = plan->claimed && !whole;
  if (whole || verified == 0)
    snprintf(rest, sizeof rest, "%s%s", plan->bound,
             whole                  ? ", certificate verified"
             : claimed && bound > 0 ? ", claimed by the plan file"
                                    : "");
  else
    snprintf(rest, sizeof rest, "%s; certificate verified up to %s", plan->bound, exact_time(a, verified));
  fact(t, o, "lower bound", STYLE_PLAIN, bound > 0 ? exact_time(a, bound) : "none", rest);
  if (optimal)
    fact(t, o, "gap", claimed ? STYLE_WARN : STYLE_GOOD, "0 %",
         whole     ? "proved optimal for these costs"
         : claimed ? "claimed optimal, not proved here; see situ check --require-proof"
                   : "proved optimal for these costs");
  else if (bound > 0)
    fact(t, o, "gap", STYLE_WARN, percent_text(a, plan_gap(plan)), "maximum possible improvement for these costs");
  if (optimal || bound > 0) report_scope(t, p, plan->form, LABEL_COLUMNS, o);
}

/* The tolerance of the portfolio: a plan that is worse by more than this was chosen for its reliability. */
static const double USUAL = 0.02;

/* The plan with a better value that was not chosen: it gains too little for its hand-overs, or not reliably. */
static void aside_fact(text_buffer *t, const situ_plan *plan, const situ_report_options *o) {
  const situ_problem *p = plan->problem;
  char a[TEXT_UNIT_BYTES], percent[TEXT_UNIT_BYTES], rest[256];
  int64_t best = plan_best_found_ns(plan), value = plan->value_ns;
  int32_t n = plan_best_found_handovers(plan);
  if (best >= value || best <= 0) return;
  situ_robustness r = SITU_ROBUSTNESS_INIT;
  bool robust = situ_plan_robustness(plan, &r), unsure = robust && report_is_unsure(&r);
  bool alone = value == plan->best_single_ns, far = robust && (double)value > (1 + USUAL) * (double)best;
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
  snprintf(rest, sizeof rest, "%s shorter%s%s%s", percent_text(percent, 1 - (double)best / (double)value), without,
           cost, see);
  fact(t, o, "set aside", STYLE_PLAIN, exact_time(a, best), rest);
}

/* The cost of a plan that the targets of all writers can run. */
static void form_fact(text_buffer *t, const situ_plan *plan, const situ_report_options *o) {
  char a[TEXT_UNIT_BYTES], percent[TEXT_UNIT_BYTES], rest[256];
  int64_t without = plan_unrestricted_ns(plan), value = plan->value_ns;
  if (without >= value || without <= 0) return;
  snprintf(rest, sizeof rest, "longer, to fit the formats of --write; %s without them", exact_time(a, without));
  fact(t, o, "form", STYLE_PLAIN, percent_text(percent, (double)value / (double)without - 1), rest);
}

static void robust_fact(text_buffer *t, const situ_plan *plan, const situ_report_options *o) {
  situ_robustness r = SITU_ROBUSTNESS_INIT;
  char wins[TEXT_UNIT_BYTES], unsure[TEXT_UNIT_BYTES], rest[256];
  if (!situ_plan_robustness(plan, &r)) return;
  snprintf(rest, sizeof rest, "chance %s (costs +- %s)",
           r.preferred ? "that the split is faster" : "to beat the best single", percent_text(unsure, r.uncertainty));
  fact(t, o, "robust", STYLE_PLAIN, percent_text(wins, r.beats_single), rest);
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
  char a[TEXT_UNIT_BYTES], steps[TEXT_UNIT_BYTES], rest[256];
  report_title(&t, problem, options);
  if (plan_exists(plan)) {
    device_rows(&t, plan, options);
    text_add_bytes(&t, "\n", 1);
    value_facts(&t, plan, options);
  } else {
    const char *reason = no_plan_reason(plan);
    fact(&t, options, "no plan", STYLE_BAD, situ_outcome_name(plan->outcome), "");
    if (*reason) text_add_wrapped(&t, reason, "  reason       ", "               ", report_width(options));
    report_scope(&t, problem, plan->form, LABEL_COLUMNS, options);
  }
  token_rates rates = rates_of(plan, model);
  if (rates.decode > 0 || rates.prefill > 0) {
    fact_start(&t, options, "tokens/s", LABEL_COLUMNS);
    if (rates.decode > 0) text_add(&t, "%s in decoding", rates_text(a, rates.decode));
    if (rates.prefill > 0) text_add(&t, "%s%s in prefill", rates.decode > 0 ? ", " : "", rates_text(a, rates.prefill));
    if (rates.ttft_ns > 0) text_add(&t, "; first token after %s", round_time(a, rates.ttft_ns));
    text_add(&t, "\n");
  }
  if (why) explain_short(&t, why, plan, SHOWN_PARTS, options);
  report_against_single(rest, sizeof rest, plan);
  int64_t single = plan->best_single_ns;
  fact(&t, options, "best single", STYLE_PLAIN, single == SITU_NEVER_NS ? "none" : exact_time(a, single), rest);
  c_locale_print(rest, sizeof rest, "%.2f s, %s step%s", plan->seconds, grouped(steps, plan->steps),
                 plan->steps == 1 ? "" : "s");
  if (plan_exists(plan)) {
    form_fact(&t, plan, options);
    aside_fact(&t, plan, options);
    robust_fact(&t, plan, options);
  }
  if (*plan->solver) fact(&t, options, "found by", STYLE_PLAIN, plan->solver, rest);
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
