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
  if (p->execution == SITU_EXECUTION_CALLS) text_add(&line, ", hosts run independent operators at once");
  if (p->overlap != SITU_OVERLAP_FULL) text_add(&line, ", overlap %s", situ_overlap_name(p->overlap));
  if (p->n_copies > 1) text_add(&line, ", %d copies", (int)p->n_copies);
  if (p->max_calls < INT32_MAX) text_add(&line, ", at most %s on each accelerator", grouped(count, p->max_calls));
  if (p->max_period_ns < SITU_NEVER_NS) text_add(&line, ", period at most %s", round_time(count, p->max_period_ns));
  if (p->max_latency_ns < SITU_NEVER_NS) text_add(&line, ", latency at most %s", round_time(count, p->max_latency_ns));
  if (p->secondary) text_add(&line, ", %s at most %s", p->secondary_name, round_time(count, p->max_secondary_ns));
  if (p->execution == SITU_EXECUTION_PIPELINE) {
    text_add(&line, ", %s, ", situ_communication_name(p->communication));
    if (p->chunks > 0)
      text_add(&line, "%d chunks on each device", (int)p->chunks);
    else
      text_add(&line, p->contiguous ? "contiguous" : "free");
    if (p->async_copies) text_add(&line, ", copies during computation");
    if (p->schedule == SITU_SCHEDULE_GPIPE && p->micro_batches == 0) text_add(&line, ", schedule gpipe");
    if (p->replicate) text_add(&line, ", replicas");
    if (p->zero > 0)
      text_add(&line, " with shares of %s", p->zero == 1 ? "states" : p->zero == 2 ? "gradients" : "weights");
    if (p->micro_batches > 0)
      text_add(&line, ", %s micro-batch%s by %s", grouped(count, p->micro_batches), p->micro_batches == 1 ? "" : "es",
               situ_schedule_name(p->schedule));
    else if (p->in_flight > 1)
      text_add(&line, ", %d in flight", (int)p->in_flight);
  }
  text_add(&line, "; %s operator%s; costs: ", grouped(count, p->n_operators), p->n_operators == 1 ? "" : "s");
  text_add_clean(&line, p->costs->source ? p->costs->source : "unknown");
  char *words = text_take(&line);
  if (words) text_add_wrapped(t, words, "", "", options && options->width > 0 ? report_width(options) : INT32_MAX);
  t->failed |= !words;
  text_add(t, "\n");
  free(words);
}

/* The remarks that are not empty. NULL without memory. */
static json_value *notes_json(const situ_model *model) {
  json_value *notes = json_new_array();
  bool ok = notes != NULL;
  for (const char *line = model && model->notes ? model->notes : ""; ok && *line;) {
    size_t n = strcspn(line, "\n");
    char *note = malloc(n + 1);
    if (note) snprintf(note, n + 1, "%.*s", (int)n, line);
    ok = note && (n == 0 || json_push(notes, json_new_text(note)));
    free(note);
    line += n + (line[n] == '\n');
  }
  return json_if(ok, notes);
}

bool report_notes_json(json_value *object, const situ_model *model) {
  return json_set(object, "notes", notes_json(model));
}

void report_notes(text_buffer *t, const situ_model *model, const situ_report_options *options) {
  json_value *notes = notes_json(model);
  size_t n = json_size(notes);
  t->failed |= !notes;
  if (n > 0) text_add(t, "\n");
  for (size_t i = 0; i < n && i < 8; i++)
    text_add_wrapped(t, json_text(json_at(notes, i), ""), "  note: ", "        ", report_width(options));
  if (n > 8) text_add(t, "  note: %d more notes; --json lists them all\n", (int)n - 8);
  json_free(notes);
}

json_value *report_amount(int64_t amount) { return amount == INT64_MAX ? json_new_null() : json_new_int(amount); }

double report_in_unit(int64_t time_ns, const situ_problem *p) {
  bool known = p->costs->unit_ns > 0 && time_ns != SITU_NEVER_NS;
  return known ? (double)time_ns / (double)p->costs->unit_ns : (double)NAN;
}

static void add_unknown(row_list *out, const void *list) {
  const unknown_list *of = list;
  for (int32_t i = 0; i < of->n; i++)
    ROW(out, {"kind", .text = situ_guess_kind_name(of->rows[i].kind)}, {"subject", .text = of->rows[i].subject},
        {"operators", AS_COUNT, .n = of->rows[i].n_operators}, {"share", AS_NUMBER, .x = of->rows[i].share});
}

json_value *report_unknown_rows(const unknown_list *list) { return rows_json(add_unknown, list); }

bool report_unknown_fields(json_value *o, const unknown_list *list, bool guessed) {
  return FIELDS(o, {"unknown", AS_TREE, .tree = report_unknown_rows(list)},
                {"unknown_share", AS_NUMBER, .x = list->share}, {"guessed", AS_BOOL, .n = guessed});
}

char *report_unknown_text(const unknown_list *list) {
  text_buffer t = {0};
  unknown_add_words(&t, list);
  return text_take(&t);
}

void report_unknown(const fact_lines *f, const situ_problem *p) {
  if (p->unknown.n > 0) fact_wrapped(f, "unknown", report_unknown_text(&p->unknown));
}

bool report_problem_json(json_value *o, const situ_problem *p, const situ_model *model) {
  bool stream = p->execution == SITU_EXECUTION_STREAM, pipeline = p->execution == SITU_EXECUTION_PIPELINE;
  json_value *limit =
      p->secondary ? OBJECT({"of", .text = p->secondary_name}, {"max_ns", AS_COUNT, .n = p->max_secondary_ns}) : NULL;
  return FIELDS(o, {"version", .text = situ_version()}, {"model", .text = p->graph->model},
                {"reader", .text = model ? model->reader : NULL, .skip = !model},
                {"operators", AS_COUNT, .n = p->n_operators}, {"tensors", AS_COUNT, .n = p->graph->n_tensors},
                {"platform", .text = p->platform->name}, {"costs", .text = p->costs->source},
                {"objective", .text = situ_objective_name(p->objective)},
                {"execution", .text = situ_execution_name(p->execution)},
                {"copies", AS_COUNT, .n = p->n_copies, .skip = p->n_copies <= 1},
                {"max_calls", AS_COUNT, .n = p->max_calls, .skip = p->max_calls == INT32_MAX},
                {"max_period_ns", AS_TIME, .n = p->max_period_ns, .skip = p->max_period_ns == SITU_NEVER_NS},
                {"max_latency_ns", AS_TIME, .n = p->max_latency_ns, .skip = p->max_latency_ns == SITU_NEVER_NS},
                {"other_limit", AS_TREE, .tree = limit, .skip = !p->secondary},
                {"contention", .text = situ_contention_name(p->contention), .skip = !stream},
                {"overlap", .text = situ_overlap_name(p->overlap), .skip = !stream},
                {"communication", .text = situ_communication_name(p->communication), .skip = !pipeline},
                {"contiguous", AS_BOOL, .n = p->contiguous, .skip = !pipeline},
                {"async_copies", AS_BOOL, .n = p->async_copies, .skip = !pipeline},
                {"schedule", .text = situ_schedule_name(p->schedule), .skip = !pipeline},
                {"replicate", AS_BOOL, .n = p->replicate, .skip = !pipeline},
                {"zero", AS_COUNT, .n = p->zero, .skip = p->zero == 0},
                {"chunks", AS_COUNT, .n = p->chunks, .skip = p->chunks == 0},
                {"micro_batches", AS_COUNT, .n = p->micro_batches, .skip = p->micro_batches == 0},
                {"in_flight", AS_COUNT, .n = p->in_flight, .skip = !pipeline || p->micro_batches > 0}) &&
         report_unknown_fields(o, &p->unknown, p->guessed);
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
  bool ok = FIELDS(o, {"space", .text = words}, {"scope", AS_TREE, .tree = scope_to_json(&of)}) && words;
  free(words);
  return ok;
}

void report_scope(const fact_lines *f, const situ_problem *p, int32_t form) {
  fact_wrapped(f, "among", report_scope_text(p, form));
}

static void add_copies(row_list *out, const void *of) {
  const situ_plan *plan = of;
  int64_t start, finish;
  for (int32_t k = 0; k < plan->problem->n_copies; k++) {
    report_copy_times(plan, k, &start, &finish);
    ROW(out, {"start_ns", AS_COUNT, .n = start}, {"finish_ns", AS_COUNT, .n = finish});
  }
}

static json_value *statistics_json(const situ_plan *plan) {
  json_value *counters = json_new_object();
  bool ok = true;
  for (int32_t i = 0; i < plan->n_statistics; i++) {
    situ_statistic s = situ_plan_statistic(plan, i);
    ok &= json_set(counters, s.name, json_new_int(s.value));
  }
  return json_if(ok, counters);
}

bool report_find_step(pipeline_step *step, const situ_plan *plan, bool *ok) {
  const situ_problem *p = plan->problem;
  int64_t busiest_ns = 0;
  *step = (pipeline_step){0};
  if (p->micro_batches == 0 || !plan_exists(plan) || plan->value_ns == SITU_NEVER_NS) return false;
  for (int32_t d = 0; d < p->n_devices; d++) busiest_ns = max64(busiest_ns, plan_use(plan, d).load_ns);
  arena *a = arena_new();
  *ok = a && pipeline_step_find(step, p, plan->device, plan->replica_of, plan->value_ns, busiest_ns, a);
  arena_free(a);
  return *ok && step->step_ns < SITU_NEVER_NS;
}

/* What a step of micro-batches takes; nothing for other plans. */
static bool step_fields(json_value *o, const situ_plan *plan) {
  pipeline_step step;
  bool ok = true, known = report_find_step(&step, plan, &ok);
  return ok && FIELDS(o, {"step_ns", AS_TIME, .n = step.step_ns, .skip = !known},
                      {"interval_ns", AS_TIME, .n = step.interval_ns, .skip = !known},
                      {"fill_ns", AS_TIME, .n = step.fill_ns, .skip = !known},
                      {"bubble", AS_NUMBER, .x = step.bubble, .skip = !known});
}

bool report_plan_fields(json_value *o, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  const double none = (double)NAN;
  bool exists = plan_exists(plan), copied = exists && p->n_copies > 1, both = exists && problem_has_period(p);
  int64_t value = exists ? plan->value_ns : SITU_NEVER_NS;
  situ_robustness robust = SITU_ROBUSTNESS_INIT;
  bool sure = exists && situ_plan_robustness(plan, &robust), known = p->costs->unit_ns > 0;
  bool ok = FIELDS(
      o, {"outcome", .text = situ_outcome_name(plan->outcome)}, {"value_ns", AS_TIME, .n = value},
      {"value", AS_NUMBER, .x = report_in_unit(value, p)}, {"unit", .text = known ? p->costs->unit_name : NULL},
      {"unit_ns", AS_INDEX, .n = known ? p->costs->unit_ns : -1},
      {"inputs_per_second", AS_NUMBER, .x = value > 0 ? 1e9 * p->n_copies / (double)value : 0, .skip = !copied},
      {"copy_times", AS_TREE, .tree = copied ? rows_json(add_copies, plan) : NULL, .skip = !copied},
      {"latency_ns", AS_TIME, .n = plan->latency_ns, .skip = !both},
      {"period_ns", AS_TIME, .n = plan->period_ns, .skip = !both},
      {"by_parts_ns", AS_TIME, .n = exists ? situ_plan_by_parts_ns(plan) : 0, .skip = !exists || !parts_known(p)},
      {"other_ns", AS_TIME, .n = plan->secondary_ns, .skip = !exists || !p->secondary},
      {"lower_bound_ns", AS_COUNT, .n = plan->lower_bound_ns}, {"bound", .text = text_or_null(plan->bound)},
      {"verified_ns", AS_TIME, .n = plan->verified_ns}, {"gap", AS_NUMBER, .x = exists ? plan_gap(plan) : none});
  ok = ok && step_fields(o, plan) && report_scope_fields(o, p, plan->form);
  return FIELDS(o, {"best_single_ns", AS_TIME, .n = plan->best_single_ns},
                {"best_single", AS_NUMBER, .x = report_in_unit(plan->best_single_ns, p)},
                {"best_single_device", .text = report_device(p, plan->best_single_device)},
                {"best_found_ns", AS_TIME, .n = plan_best_found_ns(plan), .skip = !exists},
                {"best_found_handovers", AS_COUNT, .n = plan_best_found_handovers(plan), .skip = !exists},
                {"without_form_ns", AS_TIME, .n = plan_unrestricted_ns(plan), .skip = !exists},
                {"beats_single", AS_NUMBER, .x = robust.beats_single, .skip = !sure},
                {"solver", .text = text_or_null(plan->solver)}, {"seconds", AS_NUMBER, .x = plan->seconds},
                {"steps", AS_COUNT, .n = plan->steps}, {"statistics", AS_TREE, .tree = statistics_json(plan)},
                {"seed", AS_INDEX, .n = (int64_t)plan->seed}, {"reason", .text = text_or_null(plan->reason)}) &&
         ok;
}

char *report_finish_with(json_value *root, bool ok, const json_listing *listing) {
  char *text = root && ok ? json_print_with(root, 2, listing) : NULL;
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

double report_ratio(int64_t single_ns, int64_t value_ns) {
  bool known = single_ns != SITU_NEVER_NS && value_ns > 0 && value_ns != SITU_NEVER_NS;
  return known ? (double)single_ns / (double)value_ns : (double)NAN;
}

static void faster_text(char *into, size_t n, const char *device, double ratio) {
  char gain[TEXT_UNIT_BYTES];
  if (ratio >= 1.1)
    c_locale_print(into, n, "%s alone; the plan is %.2fx as fast", device, ratio);
  else
    snprintf(into, n, "%s alone; the plan is %s faster", device, percent_text(gain, ratio - 1));
}

/* Whether everything on one device exceeds a limit; there latency and period are one. */
static bool single_exceeds(const situ_problem *p, int32_t device, int64_t single_ns) {
  int64_t secondary_ns = 0;
  for (int32_t v = 0; p->secondary && v < p->n_operators; v++)
    secondary_ns = sat_add(secondary_ns, problem_secondary_time_ns(p, v, device));
  return single_ns > min64(p->max_period_ns, p->max_latency_ns) || (p->secondary && secondary_ns > p->max_secondary_ns);
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
  char name[256];
  bool group = platform_members(p->platform, device) > 1, groups = false;
  for (int32_t d = 0; d < p->n_devices; d++) groups |= platform_members(p->platform, d) > 1;
  const char *split = groups ? "plan with these groups" : "split"; /* members may be better alone */
  snprintf(name, sizeof name, "%s%s", group ? "the group " : "", p->platform->devices[device].name);
  if (!plan_exists(plan))
    snprintf(into, n, "%s alone", name);
  else if (single_exceeds(p, device, single))
    snprintf(into, n, "%s alone, which exceeds the limit", name);
  else if (value == single)
    snprintf(into, n,
             plan->outcome == SITU_OUTCOME_OPTIMAL
                 ? plan->claimed ? "%s alone; no %s is better for these costs, as the plan claims"
                   : p->guessed  ? "%s alone; no %s is better for guessed costs"
                                 : "%s alone; no %s can be better"
             : plan_best_found_ns(plan) < value ? situ_plan_robustness(plan, &sure) && report_is_unsure(&sure)
                                                      ? "%s alone; no %s is reliably faster, see below"
                                                      : "%s alone; a %s gains too little, see below"
                                                : "%s alone; no better %s was found",
             name, split);
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
