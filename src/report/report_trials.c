#include <stdlib.h>

#include "base/json.h"
#include "platform/platform.h"
#include "problem/problem.h"
#include "report/report.h"

static char *trials_text(const situ_trials_report *r, const situ_problem *p, const situ_report_options *options) {
  text_buffer t = {0};
  char a[TEXT_UNIT_BYTES];
  double gain = r->best_ns > 0 ? (double)r->single_ns / (double)r->best_ns - 1 : 0;
  fact_start(&t, options, "measured", 12);
  text_add(&t, "%d placements measured on %s; %d rejected, %d repeated trials\n", (int)r->measured, r->engine,
           (int)r->rejected, (int)r->repeated);
  fact_start(&t, options, "best single", 12);
  text_add(&t, "%s  %s alone\n", exact_time(a, r->single_ns), p->platform->devices[r->single_device].name);
  fact_start(&t, options, "best", 12);
  text_add(&t, "%s", exact_time(a, r->best_ns));
  if (gain > 0) text_add(&t, "  faster by %s", percent_text(a, gain));
  text_add(&t, "\n");
  return text_take(&t);
}

static char *trials_json(const situ_trials_report *r, const situ_problem *p) {
  json_value *root = json_new_object();
  bool ok =
      root && json_set(root, "engine", json_new_text(r->engine)) &&
      json_set(root, "measured", json_new_int(r->measured)) && json_set(root, "refused", json_new_int(r->rejected)) &&
      json_set(root, "again", json_new_int(r->repeated)) &&
      json_set(root, "single_device", json_new_text(p->platform->devices[r->single_device].name)) &&
      json_set(root, "single_ns", json_new_int(r->single_ns)) && json_set(root, "best_ns", json_new_int(r->best_ns));
  return report_finish(root, ok);
}

static situ_status check(situ_trials_report *own, const situ_trials_report *given, const situ_problem *p,
                         situ_error *error) {
  TRY(GIVEN(error, given, p));
  TRY(TAKE(*own, given, SITU_TRIALS_REPORT_INIT, error));
  return own->single_device >= 0 && own->single_device < p->n_devices
             ? SITU_STATUS_OK
             : fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the report belongs to another platform");
}

situ_status situ_report_trials(char **out, const situ_trials_report *trials, const situ_problem *problem,
                               situ_report_format format, const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  situ_trials_report own;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(check(&own, trials, problem, error));
  return report_close(out, format == SITU_REPORT_JSON ? trials_json(&own, problem) : trials_text(&own, problem, &look),
                      error);
}
