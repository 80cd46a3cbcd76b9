#include <stdio.h>
#include <string.h>

#include "check/judge.h"
#include "report/report.h"

/* A text of names with commas between as an array. */
static json_value *names_json(const char *names) {
  json_value *list = json_new_array();
  for (const char *at = names; list && *at;) {
    char name[64];
    size_t n = strcspn(at, ",");
    snprintf(name, sizeof name, "%.*s", (int)n, at);
    json_push(list, json_new_text(name));
    at += n + strspn(at + n, ", ");
  }
  return list;
}

static char *verdict_json(const situ_verdict *verdict) {
  const situ_plan *plan = verdict->plan;
  int64_t found = verdict->n_found;
  json_value *root = json_new_object(), *list = json_new_array();
  bool ok = root && list && json_set(root, "valid", json_new_bool(found == 0));
  ok = ok && json_set(root, "n_violations", json_new_int(found));
  for (int32_t i = 0; ok && i < verdict->n_kept; i++) {
    situ_violation v = situ_verdict_violation(verdict, i);
    json_value *o = json_new_object();
    ok = o && json_set(o, "rule", json_new_text(v.rule)) && json_set(o, "text", json_new_text(v.text));
    ok = json_push(list, o) && ok;
  }
  ok = json_set(root, "violations", list) && ok;
  ok = ok && report_problem_json(root, plan->problem, NULL) && report_plan_fields(root, plan);
  const char *kind = verdict->certificate, *unverified = verdict->unverified;
  ok = ok && json_set(root, "verified_ns", report_amount(verdict->verified_ns));
  ok = ok && json_set(root, "certificate", *kind ? json_new_text(kind) : json_new_null());
  ok = ok && json_set(root, "unverified", *unverified ? json_new_text(unverified) : json_new_null());
  ok = ok && json_set(root, "recomputed", names_json(judge_claims(verdict->recomputed)));
  ok = ok && json_set(root, "unchecked", names_json(judge_claims(verdict->unchecked)));
  return report_finish(root, ok);
}

/* What became of the lower bound's certificate. */
static void bound_line(text_buffer *t, const situ_verdict *verdict, const situ_plan *plan,
                       const situ_report_options *options) {
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  int64_t bound = plan->lower_bound_ns, verified = verdict->verified_ns;
  const char *kind = verdict->certificate;
  if (bound == 0 || bound == SITU_NEVER_NS) return;
  fact_start(t, options, "lower bound", 11);
  text_add(t, "%s: ", exact_time(a, bound));
  if (verified >= bound) {
    style_add(t, options, STYLE_GOOD, "verified");
    text_add(t, " (%s)\n", kind);
    return;
  }
  text_add(t, "not verified (%s: ", plan->bound);
  text_add(t, "%s)", verdict->unverified);
  if (verified > 0) text_add(t, "; %s verified (%s)", exact_time(b, verified), kind);
  text_add_bytes(t, "\n", 1);
  if (plan->outcome != SITU_OUTCOME_OPTIMAL) return;
  fact_start(t, options, "optimal", 11);
  text_add(t, "claimed, not proved\n");
}

/* What the file says beyond the plan, as far as it says more. */
static void claims_line(text_buffer *t, const char *label, const char *names, const situ_report_options *options) {
  if (!*names) return;
  fact_start(t, options, label, 11);
  text_add(t, "%s\n", names);
}

static char *verdict_text(const situ_verdict *verdict, const situ_report_options *options) {
  const situ_plan *plan = verdict->plan;
  const situ_problem *problem = plan->problem;
  int64_t found = verdict->n_found;
  int32_t kept = verdict->n_kept;
  text_buffer t = {0};
  char a[TEXT_UNIT_BYTES];
  report_title(&t, problem, options);
  text_add_bytes(&t, "  ", 2);
  if (found == 0) {
    style_add(&t, options, STYLE_GOOD, "valid");
    if (plan_exists(plan))
      text_add(&t, "        every rule holds; the value is %s\n", exact_time(a, plan->value_ns));
    else
      text_add(&t, "        verified: no plan exists (%s)\n", verdict->certificate);
    bound_line(&t, verdict, plan, options);
    claims_line(&t, "recomputed", judge_claims(verdict->recomputed), options);
    claims_line(&t, "not checked", judge_claims(verdict->unchecked), options);
    report_scope(&t, problem, plan->form, 11, options);
    return text_take(&t);
  }
  style_add(&t, options, STYLE_BAD, "not valid");
  text_add(&t, "  %s violation%s\n\n", grouped(a, found), found == 1 ? "" : "s");
  for (int32_t i = 0; i < kept; i++) {
    situ_violation v = situ_verdict_violation(verdict, i);
    char line[1024];
    snprintf(line, sizeof line, "%s: %s", v.rule, v.text);
    text_add_wrapped(&t, line, "  - ", "    ", report_width(options));
  }
  if (found > kept) text_add(&t, "  and %s more\n", grouped(a, found - kept));
  return text_take(&t);
}

situ_status situ_report_verdict(char **out, const situ_verdict *verdict, situ_report_format format,
                                const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, verdict));
  return report_close(out, format == SITU_REPORT_JSON ? verdict_json(verdict) : verdict_text(verdict, &look), error);
}
