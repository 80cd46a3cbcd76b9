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

static void add_violations(row_list *out, const void *verdict) {
  const situ_verdict *of = verdict;
  for (int32_t i = 0; i < of->n_kept; i++) {
    situ_violation v = situ_verdict_violation(of, i);
    ROW(out, {"rule", .text = v.rule}, {"text", .text = v.text});
  }
}

/* What llama.cpp itself says that devices take. */
static void add_engine_memory(row_list *out, const void *verdict) {
  const situ_verdict *of = verdict;
  for (int32_t d = 0; of->engine_bytes && d < of->plan->problem->n_devices; d++)
    if (of->engine_bytes[d] >= 0)
      ROW(out, {"device", .text = of->plan->problem->platform->devices[d].name},
          {"planned_bytes", AS_COUNT, .n = plan_use(of->plan, d).memory_bytes},
          {"engine_bytes", AS_COUNT, .n = of->engine_bytes[d]});
}

static void engine_lines(const fact_lines *f, const situ_verdict *v) {
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  const situ_plan *plan = v->plan;
  for (int32_t d = 0; v->engine_bytes && d < plan->problem->n_devices; d++)
    if (v->engine_bytes[d] >= 0)
      FACT(f, "llama.cpp", "takes %s on %.60s; planned %s", text_size(a, v->engine_bytes[d]),
           plan->problem->platform->devices[d].name, text_size(b, plan_use(plan, d).memory_bytes));
}

static char *verdict_json(const situ_verdict *v) {
  json_value *root = OBJECT({"valid", AS_BOOL, .n = v->n_found == 0}, {"n_violations", AS_COUNT, .n = v->n_found},
                            {"violations", AS_TREE, .tree = rows_json(add_violations, v)});
  bool ok = report_problem_json(root, v->plan->problem, NULL) && report_plan_fields(root, v->plan);
  ok &=
      FIELDS(root, {"verified_ns", AS_TIME, .n = v->verified_ns}, {"certificate", .text = text_or_null(v->certificate)},
             {"unverified", .text = text_or_null(v->unverified)},
             {"recomputed", AS_TREE, .tree = names_json(judge_claims(v->recomputed))},
             {"unchecked", AS_TREE, .tree = names_json(judge_claims(v->unchecked))},
             {"engine_memory", AS_TREE, .tree = rows_json(add_engine_memory, v)});
  return report_finish(root, ok);
}

/* What became of the lower bound's certificate. */
static void bound_line(const fact_lines *f, const situ_verdict *verdict) {
  const situ_plan *plan = verdict->plan;
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  int64_t bound = plan->lower_bound_ns, verified = verdict->verified_ns;
  const char *kind = verdict->certificate;
  if (bound == 0 || bound == SITU_NEVER_NS) return;
  fact_start(f, "lower bound");
  text_add(f->t, "%s: ", exact_time(a, bound));
  if (verified >= bound) {
    style_add(f->t, f->options, STYLE_GOOD, "verified");
    text_add(f->t, " (%s%s)\n", kind, plan->problem->guessed ? ", for guessed costs" : "");
    return;
  }
  text_add(f->t, "not verified (%s: %s)", plan->bound, verdict->unverified);
  if (verified > 0) text_add(f->t, "; %s verified (%s)", exact_time(b, verified), kind);
  text_add(f->t, "\n");
  if (plan->outcome == SITU_OUTCOME_OPTIMAL) FACT(f, "optimal", "claimed, not proved");
}

/* What the file says beyond the plan, as far as it says more. */
static void claims_line(const fact_lines *f, const char *label, const char *names) {
  if (*names) FACT(f, label, "%s", names);
}

static char *verdict_text(const situ_verdict *verdict, const situ_report_options *options) {
  const situ_plan *plan = verdict->plan;
  const situ_problem *problem = plan->problem;
  int64_t found = verdict->n_found;
  int32_t kept = verdict->n_kept;
  text_buffer t = {0};
  const fact_lines f = {&t, options, 11};
  char a[TEXT_UNIT_BYTES];
  report_title(&t, problem, options);
  text_add_bytes(&t, "  ", 2);
  if (found == 0) {
    style_add(&t, options, STYLE_GOOD, "valid");
    if (plan_exists(plan))
      text_add(&t, "        every rule holds; the value is %s\n", exact_time(a, plan->value_ns));
    else
      text_add(&t, "        verified: no plan exists (%s)\n", verdict->certificate);
    bound_line(&f, verdict);
    claims_line(&f, "recomputed", judge_claims(verdict->recomputed));
    claims_line(&f, "not checked", judge_claims(verdict->unchecked));
    engine_lines(&f, verdict);
    report_scope(&f, problem, plan->form);
    report_unknown(&f, problem);
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
