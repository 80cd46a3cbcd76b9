#include "problem/problem.h"
#include "report/report.h"

static char *trials_text(const situ_trials_report *r, const situ_problem *p, const situ_report_options *options) {
  text_buffer t = {0};
  const fact_lines f = {&t, options, 12};
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  double gain = r->best_ns > 0 ? (double)r->single_ns / (double)r->best_ns - 1 : 0;
  FACT(&f, "measured", "%d placements measured on %s; %d rejected, %d repeated trials", (int)r->measured, r->engine,
       (int)r->rejected, (int)r->repeated);
  FACT(&f, "best single", "%s  %s alone", exact_time(a, r->single_ns), p->platform->devices[r->single_device].name);
  FACT(&f, "best", "%s%s%s", exact_time(a, r->best_ns), gain > 0 ? "  faster by " : "",
       gain > 0 ? percent_text(b, gain) : "");
  return text_take(&t);
}

static char *trials_json(const situ_trials_report *r, const situ_problem *p) {
  return report_finish(OBJECT({"engine", .text = r->engine}, {"measured", AS_COUNT, .n = r->measured},
                              {"refused", AS_COUNT, .n = r->rejected}, {"again", AS_COUNT, .n = r->repeated},
                              {"single_device", .text = p->platform->devices[r->single_device].name},
                              {"single_ns", AS_COUNT, .n = r->single_ns}, {"best_ns", AS_COUNT, .n = r->best_ns}),
                       true);
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
