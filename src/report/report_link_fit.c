#include <math.h>
#include <stdlib.h>

#include "base/checked.h"
#include "report/report.h"

static const double POOR_R_SQUARED = 0.95, POOR_SHARE = 0.5;

/* The entry of a platform file: one direction, as measured. */
static json_value *link_entry(const situ_link_line *line, const char *from, const char *to) {
  return OBJECT({"from", .text = from}, {"to", .text = to}, {"latency_ns", AS_COUNT, .n = line->latency_ns},
                {"bytes_per_s", AS_NUMBER, .x = floor(line->bytes_per_s)});
}

static void add_samples(row_list *r, const void *fit) {
  situ_link_line line = SITU_LINK_LINE_INIT;
  situ_link_fit_line(fit, &line);
  for (int32_t i = 0; i < line.n_sizes; i++) {
    situ_link_sample s = situ_link_fit_sample(fit, i);
    double share = (s.time_ns - s.fitted_ns) / s.time_ns;
    char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
    exact_time(a, sat_round(s.time_ns));
    exact_time(b, sat_round(s.fitted_ns));
    ROW(r, {"bytes", AS_COUNT, "bytes", .n = sat_round(s.size_bytes)},
        {"measured", AS_COUNT, "measured", .n = s.n_measured, .style = STYLE_DIM},
        {"time_ns", AS_NUMBER, "median", .x = s.time_ns, .shown = a},
        {"fitted_ns", AS_NUMBER, "line", .x = s.fitted_ns, .shown = b},
        {NULL, AS_CHANGE, "off", .x = share, .style = fabs(share) > POOR_SHARE ? STYLE_WARN : STYLE_PLAIN});
  }
}

static char *link_fit_json(const situ_link_fit *fit, const char *from, const char *to) {
  situ_link_line line = SITU_LINK_LINE_INIT;
  situ_link_fit_line(fit, &line);
  return report_finish(
      OBJECT({"link", AS_TREE, .tree = link_entry(&line, from, to)}, {"r_squared", AS_NUMBER, .x = line.r_squared},
             {"worst_share", AS_NUMBER, .x = line.worst_share},
             {"worst_bytes", AS_COUNT, .n = sat_round(line.worst_bytes)},
             {"latency_raised", AS_BOOL, .n = line.latency_raised}, {"n_measured", AS_COUNT, .n = line.n_measured},
             {"samples", AS_TREE, .tree = rows_json(add_samples, fit)}),
      true);
}

static char *link_fit_text(const situ_link_fit *fit, const char *from, const char *to,
                           const situ_report_options *options) {
  situ_link_line line = SITU_LINK_LINE_INIT;
  situ_link_fit_line(fit, &line);
  text_buffer t = {0};
  const fact_lines f = {&t, options, 9};
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  rows_text(&t, add_samples, fit, options);
  text_add(&t, "\n");
  FACT(&f, "latency", "%s%s", exact_time(a, line.latency_ns),
       line.latency_raised ? "  (set to 0: the best fit is negative)" : "");
  FACT(&f, "rate", "%s/s", text_size(a, sat_round(line.bytes_per_s)));
  FACT(&f, "R squared", "%.4f", line.r_squared);
  FACT(&f, "worst", "%s off, at %s bytes", percent_text(a, line.worst_share), grouped(b, sat_round(line.worst_bytes)));
  if (line.r_squared < POOR_R_SQUARED || line.worst_share > POOR_SHARE)
    text_add_wrapped(&t,
                     "The fit is poor: the link may change its protocol with the size, or share its bandwidth. Measure "
                     "again, or measure only the sizes that matter.",
                     "  ", "  ", report_width(options));
  json_value *entry = link_entry(&line, from, to);
  char *text = entry ? json_print(entry, 0) : NULL;
  json_free(entry);
  t.failed |= !text;
  fact_start(&f, "entry");
  text_add_clean(&t, text ? text : "");
  free(text);
  text_add(&t, "\n");
  return text_take(&t);
}

situ_status situ_report_link_fit(char **out, const situ_link_fit *fit, const char *from, const char *to,
                                 situ_report_format format, const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, fit, from, to));
  return report_close(
      out, format == SITU_REPORT_JSON ? link_fit_json(fit, from, to) : link_fit_text(fit, from, to, &look), error);
}
