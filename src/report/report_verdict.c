#include <stdio.h>

#include "report/report.h"

char *situ_report_verdict_json(const situ_verdict *verdict, const situ_plan *plan, const situ_problem *problem) {
  int64_t found = situ_verdict_n_found(verdict);
  json_value *root = json_new_object(), *list = json_new_array();
  bool ok = root && list && json_set(root, "valid", json_new_truth(found == 0));
  ok = ok && json_set(root, "n_violations", json_new_whole(found));
  for (int32_t i = 0; ok && i < situ_verdict_n_violations(verdict); i++) {
    situ_violation v = situ_verdict_violation(verdict, i);
    json_value *o = json_new_object();
    ok = o && json_set(o, "rule", json_new_text(v.rule)) && json_set(o, "text", json_new_text(v.text));
    ok = json_push(list, o) && ok;
  }
  ok = json_set(root, "violations", list) && ok;
  ok = ok && report_problem_json(root, problem, NULL) && report_plan_fields(root, plan, problem);
  return report_finish(root, ok);
}

char *situ_report_verdict(const situ_verdict *verdict, const situ_plan *plan, const situ_problem *problem,
                          const situ_report_options *options) {
  int64_t found = situ_verdict_n_found(verdict);
  int32_t kept = situ_verdict_n_violations(verdict);
  text_buffer t = {0};
  char a[TEXT_UNIT_BYTES];
  report_title(&t, problem, options);
  text_add_bytes(&t, "  ", 2);
  if (found == 0) {
    style_add(&t, options, STYLE_GOOD, "valid");
    text_add(&t, "  every rule holds; the value is %s\n", exact_time(a, situ_plan_value_ns(plan)));
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
