#include <math.h>
#include <stdlib.h>

#include "base/checked.h"
#include "report/report.h"

static const double POOR_R_SQUARED = 0.95, POOR_SHARE = 0.5;

/* The entry of a platform file: one direction, as measured. */
static json_value *link_entry(const situ_link_line *line, const char *from, const char *to) {
  json_value *o = json_new_object();
  bool ok = o && json_set(o, "from", json_new_text(from)) && json_set(o, "to", json_new_text(to)) &&
            json_set(o, "latency_ns", json_new_int(line->latency_ns)) &&
            json_set(o, "bytes_per_s", json_new_number(floor(line->bytes_per_s)));
  if (ok) return o;
  json_free(o);
  return NULL;
}

static bool sample_json(json_value *list, situ_link_sample s) {
  json_value *o = json_new_object();
  bool ok = o && json_set(o, "bytes", json_new_int(sat_round(s.size_bytes))) &&
            json_set(o, "measured", json_new_int(s.n_measured));
  ok = ok && json_set(o, "time_ns", json_new_number(s.time_ns)) &&
       json_set(o, "fitted_ns", json_new_number(s.fitted_ns));
  return json_push(list, o) && ok;
}

static char *link_fit_json(const situ_link_fit *fit, const char *from, const char *to) {
  situ_link_line line = SITU_LINK_LINE_INIT;
  situ_link_fit_line(fit, &line);
  json_value *root = json_new_object(), *samples = json_new_array();
  bool ok = root && samples && json_set(root, "link", link_entry(&line, from, to));
  ok = ok && json_set(root, "r_squared", json_new_number(line.r_squared));
  ok = ok && json_set(root, "worst_share", json_new_number(line.worst_share));
  ok = ok && json_set(root, "worst_bytes", json_new_int(sat_round(line.worst_bytes)));
  ok = ok && json_set(root, "latency_raised", json_new_bool(line.latency_raised));
  ok = ok && json_set(root, "n_measured", json_new_int(line.n_measured));
  for (int32_t i = 0; ok && i < line.n_sizes; i++) ok = sample_json(samples, situ_link_fit_sample(fit, i));
  ok = json_set(root, "samples", samples) && ok;
  return report_finish(root, ok);
}

static void sample_table(text_buffer *t, const situ_link_fit *fit, const situ_report_options *options) {
  situ_link_line line = SITU_LINK_LINE_INIT;
  situ_link_fit_line(fit, &line);
  table rows;
  if (!table_begin(&rows, t)) return;
  table_column(&rows, "bytes", ALIGN_RIGHT, 0);
  table_column(&rows, "measured", ALIGN_RIGHT, 0);
  table_column(&rows, "median", ALIGN_RIGHT, 0);
  table_column(&rows, "line", ALIGN_RIGHT, 0);
  table_column(&rows, "off", ALIGN_RIGHT, 0);
  for (int32_t i = 0; i < line.n_sizes; i++) {
    situ_link_sample s = situ_link_fit_sample(fit, i);
    char a[TEXT_UNIT_BYTES];
    double share = (s.time_ns - s.fitted_ns) / s.time_ns;
    table_cell(&rows, STYLE_PLAIN, grouped(a, sat_round(s.size_bytes)));
    table_cell(&rows, STYLE_DIM, grouped(a, s.n_measured));
    table_cell(&rows, STYLE_PLAIN, exact_time(a, sat_round(s.time_ns)));
    table_cell(&rows, STYLE_PLAIN, exact_time(a, sat_round(s.fitted_ns)));
    table_cellf(&rows, fabs(share) > POOR_SHARE ? STYLE_WARN : STYLE_PLAIN, "%+.1f %%", 100 * share);
  }
  table_render(t, &rows, options);
  table_stop(&rows);
}

static char *link_fit_text(const situ_link_fit *fit, const char *from, const char *to,
                           const situ_report_options *options) {
  situ_link_line line = SITU_LINK_LINE_INIT;
  situ_link_fit_line(fit, &line);
  text_buffer t = {0};
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  sample_table(&t, fit, options);
  text_add_bytes(&t, "\n", 1);
  fact_start(&t, options, "latency", 9);
  text_add(&t, "%s%s\n", exact_time(a, line.latency_ns),
           line.latency_raised ? "  (set to 0: the best fit is negative)" : "");
  fact_start(&t, options, "rate", 9);
  text_add(&t, "%s/s\n", text_size(a, sat_round(line.bytes_per_s)));
  fact_start(&t, options, "R squared", 9);
  text_add(&t, "%.4f\n", line.r_squared);
  fact_start(&t, options, "worst", 9);
  text_add(&t, "%s off, at %s bytes\n", percent_text(a, line.worst_share), grouped(b, sat_round(line.worst_bytes)));
  if (line.r_squared < POOR_R_SQUARED || line.worst_share > POOR_SHARE)
    text_add_wrapped(&t,
                     "The fit is poor: the link may change its protocol with the size, or share its bandwidth. Measure "
                     "again, or measure only the sizes that matter.",
                     "  ", "  ", report_width(options));
  json_value *entry = link_entry(&line, from, to);
  char *text = entry ? json_print(entry, 0) : NULL;
  json_free(entry);
  if (!text) t.failed = true;
  fact_start(&t, options, "entry", 9);
  text_add_clean(&t, text ? text : "");
  free(text);
  text_add_bytes(&t, "\n", 1);
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
