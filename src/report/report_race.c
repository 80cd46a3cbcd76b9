#include "engine/measure.h"
#include "report/report.h"

static void add_lanes(row_list *rows, const void *race) {
  const situ_race *r = race;
  for (int32_t i = 0; i < r->n; i++) {
    const race_lane *lane = &r->lanes[i];
    const char *none = lane->n > 0 ? NULL : "-";
    const char *said = i == r->winner ? "fastest" : *r->why[i] ? r->why[i] : lane->out ? "dropped" : "";
    ROW(rows, {NULL, AS_TEXT, "plan", .text = r->names[i], .max = 30},
        {NULL, AS_TIME, "predicted", .n = r->predicted_ns[i]},
        {NULL, AS_TIME, "measured", .n = lane->median_ns, .shown = none},
        {NULL, AS_ROUGH_TIME, "+-", .n = lane->half_ns, .shown = none, .style = STYLE_DIM},
        {NULL, AS_INDEX, "rounds", .n = lane->n, .style = STYLE_DIM},
        {NULL, AS_TEXT, "", .text = said, .style = STYLE_DIM, .max = 40});
  }
}

static char *race_text(const situ_race *r, const situ_report_options *options) {
  text_buffer t = {0};
  rows_text(&t, add_lanes, r, options);
  text_add(&t, "\n  measured on %s, %s\n\n", r->engine, r->pipeline ? "periods" : "latencies of single inputs");
  return text_take(&t);
}

static char *race_json(const situ_race *race) {
  json_value *root = race_log(race);
  return report_finish(root, root != NULL);
}

situ_status situ_report_race(char **out, const situ_race *race, situ_report_format format,
                             const situ_report_options *options, situ_error *error) {
  situ_report_options look;
  TRY(report_open(out, &look, format, REPORT_TABLE | REPORT_JSON, options, error));
  TRY(GIVEN(error, race));
  return report_close(out, format == SITU_REPORT_JSON ? race_json(race) : race_text(race, &look), error);
}
