#include <stdio.h>
#include <stdlib.h>

#include "engine/measure.h"
#include "report/report.h"

static char *race_text(const situ_race *r, const situ_report_options *options) {
  text_buffer t = {0};
  char a[TEXT_UNIT_BYTES];
  table rows;
  if (!table_start(&rows)) return NULL;
  table_column(&rows, "plan", ALIGN_LEFT, 30);
  table_column(&rows, "predicted", ALIGN_RIGHT, 0);
  table_column(&rows, "measured", ALIGN_RIGHT, 0);
  table_column(&rows, "+-", ALIGN_RIGHT, 0);
  table_column(&rows, "rounds", ALIGN_RIGHT, 0);
  table_column(&rows, "", ALIGN_LEFT, 40);
  for (int32_t i = 0; i < r->n; i++) {
    const race_lane *lane = &r->lanes[i];
    table_cell(&rows, STYLE_PLAIN, r->names[i]);
    table_cell(&rows, STYLE_PLAIN, exact_time(a, r->predicted_ns[i]));
    table_cell(&rows, STYLE_PLAIN, lane->n > 0 ? exact_time(a, lane->median_ns) : "-");
    table_cell(&rows, STYLE_DIM, lane->n > 0 ? text_time(a, lane->half_ns) : "-");
    snprintf(a, sizeof a, "%d", (int)lane->n);
    table_cell(&rows, STYLE_DIM, a);
    table_cell(&rows, STYLE_DIM, i == r->winner ? "fastest" : *r->why[i] ? r->why[i] : lane->out ? "dropped" : "");
  }
  table_render(&t, &rows, options);
  table_stop(&rows);
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
