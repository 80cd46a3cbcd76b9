#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "plan/plan.h"
#include "plan/scope_json.h"
#include "sim/engine_parts.h"
#include "situ/version.h"

situ_status report_open(char **out, situ_report_options *look, situ_report_format format, unsigned formats,
                        const situ_report_options *options, situ_error *error) {
  if (out) *out = NULL;
  TRY(GIVEN(error, out));
  if ((unsigned)format > SITU_REPORT_NAMES || !(formats >> format & 1))
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "this report has no such format");
  return TAKE(*look, options, SITU_REPORT_OPTIONS_INIT, error);
}

situ_status report_close(char **out, char *text, situ_error *error) {
  *out = text;
  return text ? SITU_STATUS_OK : fail_no_memory(error);
}

void report_title(text_buffer *t, const situ_problem *p, const situ_report_options *options) {
  char count[TEXT_UNIT_BYTES];
  text_buffer line = {0};
  style_add(t, options, STYLE_BOLD, p->graph->model);
  text_add(t, " on ");
  style_add(t, options, STYLE_BOLD, p->platform->name);
  text_add(t, "\n");
  text_add(&line, "%s, %s", situ_objective_name(p->objective), situ_execution_name(p->execution));
  if (p->execution == SITU_EXECUTION_STREAM)
    text_add(&line, p->contention == SITU_CONTENTION_NONE ? ", links without contention" : "");
  if (p->overlap != SITU_OVERLAP_FULL) text_add(&line, ", overlap %s", situ_overlap_name(p->overlap));
  if (p->n_copies > 1) text_add(&line, ", %d copies", (int)p->n_copies);
  if (p->max_calls < INT32_MAX) text_add(&line, ", at most %s on each accelerator", grouped(count, p->max_calls));
  if (p->max_period_ns < SITU_NEVER_NS) text_add(&line, ", period at most %s", round_time(count, p->max_period_ns));
  if (p->max_latency_ns < SITU_NEVER_NS) text_add(&line, ", latency at most %s", round_time(count, p->max_latency_ns));
  if (p->other) text_add(&line, ", %s at most %s", p->other_name, round_time(count, p->max_other_ns));
  if (p->execution == SITU_EXECUTION_PIPELINE) {
    text_add(&line, ", %s, %s", situ_communication_name(p->communication), p->contiguous ? "contiguous" : "free");
    if (p->async_copies) text_add(&line, ", copies during computation");
    if (p->schedule == SITU_SCHEDULE_GPIPE) text_add(&line, ", schedule gpipe");
    if (p->replicate) text_add(&line, ", replicas");
    if (p->in_flight > 1) text_add(&line, ", %d in flight", (int)p->in_flight);
  }
  text_add(&line, "; %s operator%s; costs: ", grouped(count, p->n_operators), p->n_operators == 1 ? "" : "s");
  text_add_clean(&line, p->costs->source ? p->costs->source : "unknown");
  char *words = text_take(&line);
  if (words) text_add_wrapped(t, words, "", "", options && options->width > 0 ? report_width(options) : INT32_MAX);
  t->failed |= !words;
  text_add(t, "\n");
  free(words);
}

void report_notes(text_buffer *t, const situ_model *model, const situ_report_options *options) {
  if (!model || !model->notes || !*model->notes) return;
  text_add(t, "\n");
  int shown = 0;
  for (const char *line = model->notes; *line;) {
    size_t n = strcspn(line, "\n");
    char note[1024];
    snprintf(note, sizeof note, "%.*s", (int)(n < 1023 ? n : 1023), line);
    line += n + (line[n] == '\n');
    if (!*note) continue;
    if (++shown > 8) continue;
    text_add_wrapped(t, note, "  note: ", "        ", report_width(options));
  }
  if (shown > 8) text_add(t, "  note: %d more notes; --json lists them all\n", shown - 8);
}

json_value *report_amount(int64_t amount) { return amount == INT64_MAX ? json_new_null() : json_new_int(amount); }

json_value *report_unit_value(int64_t time_ns, const situ_problem *p) {
  if (p->costs->unit_ns <= 0 || time_ns == SITU_NEVER_NS) return json_new_null();
  return json_new_number((double)time_ns / (double)p->costs->unit_ns);
}

bool report_notes_json(json_value *object, const situ_model *model) {
  json_value *notes = json_new_array();
  bool ok = notes != NULL;
  for (const char *line = model && model->notes ? model->notes : ""; ok && *line;) {
    size_t n = strcspn(line, "\n");
    char *note = strndup(line, n);
    ok = note && (n == 0 || json_push(notes, json_new_text(note)));
    free(note);
    line += n + (line[n] == '\n');
  }
  return json_set(object, "notes", notes) && ok;
}

bool report_problem_json(json_value *o, const situ_problem *p, const situ_model *model) {
  bool ok = json_set(o, "version", json_new_text(situ_version()));
  ok = ok && json_set(o, "model", json_new_text(p->graph->model));
  if (model) ok = ok && json_set(o, "reader", json_new_text(model->reader));
  ok = ok && json_set(o, "operators", json_new_int(p->n_operators));
  ok = ok && json_set(o, "tensors", json_new_int(p->graph->n_tensors));
  ok = ok && json_set(o, "platform", json_new_text(p->platform->name));
  ok = ok && json_set(o, "costs", json_new_text(p->costs->source));
  ok = ok && json_set(o, "objective", json_new_text(situ_objective_name(p->objective)));
  ok = ok && json_set(o, "execution", json_new_text(situ_execution_name(p->execution)));
  if (p->n_copies > 1) ok = ok && json_set(o, "copies", json_new_int(p->n_copies));
  if (p->max_calls < INT32_MAX) ok = ok && json_set(o, "max_calls", json_new_int(p->max_calls));
  if (p->max_period_ns < SITU_NEVER_NS) ok = ok && json_set(o, "max_period_ns", json_new_int(p->max_period_ns));
  if (p->max_latency_ns < SITU_NEVER_NS) ok = ok && json_set(o, "max_latency_ns", json_new_int(p->max_latency_ns));
  if (p->other) {
    json_value *limit = json_new_object();
    ok = ok && json_set(limit, "of", json_new_text(p->other_name)) &&
         json_set(limit, "max_ns", json_new_int(p->max_other_ns));
    ok = json_set(o, "other_limit", limit) && ok;
  }
  if (p->execution == SITU_EXECUTION_STREAM)
    return ok && json_set(o, "contention", json_new_text(situ_contention_name(p->contention))) &&
           json_set(o, "overlap", json_new_text(situ_overlap_name(p->overlap)));
  if (p->execution != SITU_EXECUTION_PIPELINE) return ok;
  ok = ok && json_set(o, "communication", json_new_text(situ_communication_name(p->communication)));
  ok = ok && json_set(o, "contiguous", json_new_bool(p->contiguous));
  ok = ok && json_set(o, "async_copies", json_new_bool(p->async_copies));
  ok = ok && json_set(o, "schedule", json_new_text(situ_schedule_name(p->schedule)));
  ok = ok && json_set(o, "replicate", json_new_bool(p->replicate));
  return ok && json_set(o, "in_flight", json_new_int(p->in_flight));
}

void report_copy_times(const situ_plan *plan, int32_t copy, int64_t *start_ns, int64_t *finish_ns) {
  const situ_problem *p = plan->problem;
  int32_t n = p->n_operators / p->n_copies;
  *start_ns = SITU_NEVER_NS;
  *finish_ns = 0;
  for (int32_t v = copy * n; v < (copy + 1) * n; v++) {
    *start_ns = min64(*start_ns, situ_plan_start_ns(plan, v));
    *finish_ns = max64(*finish_ns, situ_plan_finish_ns(plan, v));
  }
}

char *report_scope_text(const situ_problem *p, int32_t form) {
  text_buffer t = {0};
  scope of;
  scope_find(&of, p, form);
  scope_add_plans(&t, &of);
  return text_take(&t);
}

bool report_scope_fields(json_value *o, const situ_problem *p, int32_t form) {
  scope of;
  char *words = report_scope_text(p, form);
  scope_find(&of, p, form);
  bool ok = words && json_set(o, "space", json_new_text(words)) && json_set(o, "scope", scope_to_json(&of));
  free(words);
  return ok;
}

void report_scope(text_buffer *t, const situ_problem *p, int32_t form, int columns,
                  const situ_report_options *options) {
  char first[32], rest[32], *words = report_scope_text(p, form);
  snprintf(first, sizeof first, "  %-*s  ", columns, "among");
  snprintf(rest, sizeof rest, "  %-*s  ", columns, "");
  if (words) text_add_wrapped(t, words, first, rest, report_width(options));
  t->failed |= !words;
  free(words);
}

static bool copies_json(json_value *o, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  json_value *list = json_new_array();
  int64_t value = plan->value_ns, start, finish;
  bool ok =
      list && json_set(o, "inputs_per_second", json_new_number(value > 0 ? 1e9 * p->n_copies / (double)value : 0));
  for (int32_t k = 0; ok && k < p->n_copies; k++) {
    json_value *copy = json_new_object();
    report_copy_times(plan, k, &start, &finish);
    ok = copy && json_set(copy, "start_ns", json_new_int(start)) && json_set(copy, "finish_ns", json_new_int(finish));
    ok = json_push(list, copy) && ok;
  }
  return json_set(o, "copy_times", list) && ok;
}

bool report_plan_fields(json_value *o, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  bool exists = plan_exists(plan);
  int64_t value = plan->value_ns;
  int32_t single = plan->best_single_device;
  const char *bound = plan->bound, *reason = plan->reason;
  bool ok = json_set(o, "outcome", json_new_text(situ_outcome_name(plan->outcome)));
  ok = ok && json_set(o, "value_ns", exists ? report_amount(value) : json_new_null());
  ok = ok && json_set(o, "value", exists ? report_unit_value(value, p) : json_new_null());
  ok = ok && json_set(o, "unit", json_new_text(p->costs->unit_ns > 0 ? p->costs->unit_name : NULL));
  ok = ok && json_set(o, "unit_ns", p->costs->unit_ns > 0 ? json_new_int(p->costs->unit_ns) : json_new_null());
  if (exists && p->n_copies > 1) ok = ok && copies_json(o, plan);
  if (exists && problem_has_period(p)) {
    ok = ok && json_set(o, "latency_ns", report_amount(plan->latency_ns));
    ok = ok && json_set(o, "period_ns", report_amount(plan->period_ns));
  }
  if (exists && parts_known(p)) ok = ok && json_set(o, "by_parts_ns", report_amount(situ_plan_by_parts_ns(plan)));
  if (exists && p->other) ok = ok && json_set(o, "other_ns", report_amount(plan->secondary_ns));
  ok = ok && json_set(o, "lower_bound_ns", json_new_int(plan->lower_bound_ns));
  ok = ok && json_set(o, "bound", *bound ? json_new_text(bound) : json_new_null());
  ok = ok && json_set(o, "verified_ns", report_amount(plan->verified_ns));
  ok = ok && json_set(o, "gap", exists ? json_new_number(plan_gap(plan)) : json_new_null());
  ok = ok && report_scope_fields(o, p, plan->form);
  ok = ok && json_set(o, "best_single_ns", report_amount(plan->best_single_ns));
  ok = ok && json_set(o, "best_single", report_unit_value(plan->best_single_ns, p));
  ok = ok && json_set(o, "best_single_device",
                      single >= 0 ? json_new_text(p->platform->devices[single].name) : json_new_null());
  if (exists) {
    situ_robustness robust = SITU_ROBUSTNESS_INIT;
    ok = ok && json_set(o, "best_found_ns", report_amount(plan_best_found_ns(plan)));
    ok = ok && json_set(o, "best_found_handovers", json_new_int(plan_best_found_handovers(plan)));
    ok = ok && json_set(o, "without_form_ns", report_amount(plan_unrestricted_ns(plan)));
    if (situ_plan_robustness(plan, &robust))
      ok = ok && json_set(o, "beats_single", json_new_number(robust.beats_single));
  }
  ok = ok && json_set(o, "solver", *plan->solver ? json_new_text(plan->solver) : json_new_null());
  ok = ok && json_set(o, "seconds", json_new_number(plan->seconds));
  ok = ok && json_set(o, "steps", json_new_int(plan->steps));
  json_value *counters = json_new_object();
  for (int32_t i = 0; counters && i < plan->n_statistics; i++) {
    situ_statistic s = situ_plan_statistic(plan, i);
    ok = ok && json_set(counters, s.name, json_new_int(s.value));
  }
  ok = json_set(o, "statistics", counters) && ok;
  ok = ok && json_set(o, "seed", plan->seed <= INT64_MAX ? json_new_int((int64_t)plan->seed) : json_new_null());
  return ok && json_set(o, "reason", *reason ? json_new_text(reason) : json_new_null());
}

char *report_finish_with(json_value *root, bool ok, const json_listing *listing) {
  char *text = ok ? json_print_with(root, 2, listing) : NULL;
  json_free(root);
  size_t n = text ? strlen(text) : 0;
  char *ended = text ? realloc(text, n + 2) : NULL;
  if (!ended) {
    free(text);
    return NULL;
  }
  memcpy(ended + n, "\n", 2);
  return ended;
}

char *report_finish(json_value *root, bool ok) { return report_finish_with(root, ok, NULL); }

static void faster_text(char *into, size_t n, const char *device, double ratio) {
  char gain[TEXT_UNIT_BYTES];
  if (ratio >= 1.1)
    c_locale_print(into, n, "%s alone; the plan is %.2fx as fast", device, ratio);
  else
    snprintf(into, n, "%s alone; the plan is %s faster", device, percent_text(gain, ratio - 1));
}

/* Whether everything on one device exceeds a limit; there latency and period are one. */
static bool single_exceeds(const situ_problem *p, int32_t device, int64_t single_ns) {
  int64_t other_ns = 0;
  for (int32_t v = 0; p->other && v < p->n_operators; v++)
    other_ns = sat_add(other_ns, problem_other_time_ns(p, v, device));
  return single_ns > min64(p->max_period_ns, p->max_latency_ns) || (p->other && other_ns > p->max_other_ns);
}

bool report_is_unsure(const situ_robustness *r) {
  double lost = (1 - r->beats_single) * r->draws;
  return r->preferred && lost > ceil(0.1 * r->draws - 1e-9) + 1e-9;
}

void report_against_single(char *into, size_t n, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  situ_robustness sure = SITU_ROBUSTNESS_INIT;
  int32_t device = plan->best_single_device;
  int64_t single = plan->best_single_ns, value = situ_plan_by_parts_ns(plan);
  if (device < 0) {
    snprintf(into, n, "no single device can run the model");
    return;
  }
  const char *name = p->platform->devices[device].name;
  if (!plan_exists(plan))
    snprintf(into, n, "%s alone", name);
  else if (single_exceeds(p, device, single))
    snprintf(into, n, "%s alone, which exceeds the limit", name);
  else if (value == single)
    snprintf(into, n,
             plan->outcome == SITU_OUTCOME_OPTIMAL
                 ? plan->claimed ? "%s alone; no split is better for these costs, as the plan claims"
                                 : "%s alone; no split can be better"
             : plan_best_found_ns(plan) < value ? situ_plan_robustness(plan, &sure) && report_is_unsure(&sure)
                                                      ? "%s alone; no split is reliably faster, see below"
                                                      : "%s alone; a split gains too little, see below"
                                                : "%s alone; no better split was found",
             name);
  else if (value < single && value > 0)
    faster_text(into, n, name, (double)single / (double)value);
  else
    snprintf(into, n, "%s alone; faster than this plan", name);
}

situ_explanation_summary report_explanation(const situ_explanation *why) {
  situ_explanation_summary summary = SITU_EXPLANATION_SUMMARY_INIT;
  situ_explanation_get_summary(why, &summary);
  return summary;
}

situ_front_summary report_front(const situ_front *front) {
  situ_front_summary summary = SITU_FRONT_SUMMARY_INIT;
  situ_front_get_summary(front, &summary);
  return summary;
}
