#include <stdio.h>
#include <string.h>

#include "api/judgement.h"
#include "report/plan_row.h"
#include "report/report.h"

static void add_row(row_list *out, const char *who, const situ_plan *plan, const situ_model *model, double when_empty) {
  char empty[TEXT_UNIT_BYTES];
  plan_row row = plan_row_of(plan, model, 0);
  rates_text(empty, when_empty);
  bool exists = plan_exists(plan);
  ROW(out, {"plan", AS_NAME, "plan", .text = who},
      {"value_ns", AS_TIME, "value", .n = exists ? plan->value_ns : SITU_NEVER_NS, .shown = exists ? NULL : "-"},
      {"decode_tokens_per_second", AS_AMOUNT, "tokens/s", .x = row.rates.decode, .shown = row.decode},
      {"empty_cache_tokens_per_second", AS_AMOUNT, "cache empty", .x = when_empty,
       .shown = when_empty > 0 ? empty : "-"},
      {"prefill_tokens_per_second", AS_AMOUNT, "prefill", .x = row.rates.prefill, .shown = row.prefill},
      {"time_to_first_token_ns", AS_ROUGH_TIME, "first token", .n = row.rates.ttft_ns,
       .shown = row.rates.ttft_ns > 0 ? NULL : "-"},
      {"fullest_share", AS_PERCENT, "fullest", .x = row.fullest, .shown = row.fullest > 0 ? NULL : "-"},
      {"fullest_device", .text = row.fullest_device}, {"layers", AS_PROSE, "layers", .text = row.layers},
      {"reason", .text = exists ? NULL : text_or_null(plan->reason)});
}

static void add_plans(row_list *out, const void *judgement) {
  const situ_judgement *j = judgement;
  add_row(out, "the command", j->given, situ_instance_model(j->given_instance), j->given_when_empty);
  add_row(out, "best found", j->best, situ_instance_model(j->best_instance), j->best_when_empty);
}

/* How much longer the command takes than the best plan, as a share; 0 where one of them does not run. */
static double loss(const situ_judgement *j) {
  bool both = plan_exists(j->given) && plan_exists(j->best) && j->best->value_ns > 0;
  return both ? (double)j->given->value_ns / (double)j->best->value_ns - 1 : 0;
}

static bool has_groups(const situ_plan *plan) {
  const situ_platform *m = plan->problem->platform;
  bool any = false;
  for (int32_t d = 0; d < m->n_devices; d++) any |= platform_members(m, d) > 1;
  return any;
}

/* The plan that knows the best single device: that of the command where the best one is over groups. */
static const situ_plan *single_of(const situ_judgement *j) {
  bool theirs = has_groups(j->best) && !has_groups(j->given) && j->given->best_single_device >= 0;
  return theirs ? j->given : j->best;
}

static json_value *note_list(const char *notes) {
  json_value *list = json_new_array();
  for (const char *at = notes; list && *at; at += strspn(at, "\n")) {
    char line[512];
    size_t n = strcspn(at, "\n");
    snprintf(line, sizeof line, "%.*s", (int)n, at);
    if (!json_push(list, json_new_text(line))) return json_if(false, list);
    at += n;
  }
  return list;
}

/* The bound of the best plan, -1 where there is none, or the command takes less: it is not of the plans that the bound
 * is about. */
static int64_t bound_of_all(const situ_judgement *j) {
  int64_t lower_ns = plan_exists(j->best) ? j->best->lower_bound_ns : 0;
  return lower_ns > 0 && !(plan_exists(j->given) && j->given->value_ns < lower_ns) ? lower_ns : -1;
}

static char *judge_json(const situ_judgement *j) {
  json_value *root = json_new_object();
  const situ_problem *p = j->given->problem;
  bool ok = report_problem_json(root, p, situ_instance_model(j->given_instance));
  ok &= FIELDS(root, {"format", .text = j->format}, {"runs", AS_BOOL, .n = plan_exists(j->given)},
               {"slower_by", AS_NUMBER, .x = loss(j)}, {"lower_bound_ns", AS_INDEX, .n = bound_of_all(j)},
               {"best_single_ns", AS_TIME, .n = single_of(j)->best_single_ns},
               {"better", .text = text_or_null(j->better)}, {"rows", AS_TREE, .tree = rows_json(add_plans, j)},
               {"command_notes", AS_TREE, .tree = note_list(j->notes)});
  ok &= report_scope_fields(root, j->best->problem, j->best->form);
  return report_finish(root, ok && report_notes_json(root, situ_instance_model(j->given_instance)));
}

static void add_verdict(const fact_lines *f, const situ_judgement *j) {
  char a[TEXT_UNIT_BYTES], rest[200];
  if (!plan_exists(j->given))
    fact_wrapped(f, "verdict", strdup(*j->given->reason ? j->given->reason : "does not run"));
  else if (!plan_exists(j->best))
    FACT(f, "verdict", "it runs; no other plan was found");
  else if (loss(j) <= 0)
    FACT(f, "verdict", "it runs, and no faster plan was found");
  else
    FACT(f, "verdict", "it runs, and takes %s longer than the best plan found", percent_text(a, loss(j)));
  if (bound_of_all(j) >= 0)
    FACT(f, "bound", "no plan takes less than %s%s", exact_time(a, bound_of_all(j)),
         j->best->problem->guessed ? ", for guessed costs" : "");
  report_scope(f, j->best->problem, j->best->form);
  report_unknown(f, j->best->problem);
  int64_t single = single_of(j)->best_single_ns;
  report_against_single(rest, sizeof rest, plan_exists(j->best) ? j->best : j->given);
  if (single_of(j) != j->best && single < SITU_NEVER_NS) /* the devices of the best plan are groups */
    snprintf(rest, sizeof rest, "%s alone", j->given->problem->platform->devices[j->given->best_single_device].name);
  FACT(f, "single", "%s  %s", single == SITU_NEVER_NS ? "none" : exact_time(a, single), rest);
}

static void add_lines(text_buffer *t, const char *title, const char *lines) {
  if (!*lines) return;
  text_add(t, "\n  %s\n", title);
  for (const char *at = lines; *at; at += *at == '\n') {
    size_t n = strcspn(at, "\n");
    text_add(t, "    ");
    text_add_bytes(t, at, n);
    text_add(t, "\n");
    at += n;
  }
}

static char *judge_text(const situ_judgement *j, const situ_report_options *options) {
  text_buffer t = {0};
  const fact_lines f = {&t, options, 7};
  report_title(&t, j->given->problem, options);
  rows_text(&t, add_plans, j, options);
  text_add(&t, "\n");
  add_verdict(&f, j);
  char title[64];
  snprintf(title, sizeof title, "better, for %.40s", j->format);
  add_lines(&t, title, j->better);
  if (!*j->better && loss(j) > 0) /* a format of several files */
    text_add(&t, "\n  better: situ place MODEL --write %s=FOLDER writes the best plan\n", j->format);
  add_lines(&t, "not modelled, or taken for granted", j->notes);
  report_notes(&t, situ_instance_model(j->given_instance), options);
  return text_take(&t);
}

situ_status situ_report_judgement(char **out, const situ_judgement *judgement, situ_report_format format,
                                  const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, judgement));
  return report_close(out, format == SITU_REPORT_JSON ? judge_json(judgement) : judge_text(judgement, &look), error);
}
