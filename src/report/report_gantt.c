#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "report/lanes.h"
#include "report/report.h"

enum { LABEL_COLUMNS = 14, SHARE_COLUMNS = 6, MAX_LINES = 40, MAX_COLUMNS = 200 };

/* Adds the time of a box to the columns that it covers. */
static void fill_columns(double *busy, int32_t columns, double column_ns, const lane_box *b) {
  int32_t first = (int32_t)((double)b->start_ns / column_ns), last = (int32_t)((double)b->finish_ns / column_ns);
  for (int32_t c = first; c <= last && c < columns; c++) {
    double from = c * column_ns, to = from + column_ns;
    double a = (double)b->start_ns > from ? (double)b->start_ns : from;
    double z = (double)b->finish_ns < to ? (double)b->finish_ns : to;
    if (z > a) busy[c] += (z - a) / column_ns;
  }
}

/* The mark of a column that is busy for a share of its time; never empty where there is something. */
static const char *mark_of(double share, bool unicode) {
  static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static const char *const letters[] = {" ", ".", ".", ":", "-", "=", "+", "*", "#"};
  int32_t k = share <= 0 ? 0 : share >= 1 ? 8 : 1 + (int32_t)(share * 7.999);
  return (unicode ? blocks : letters)[k];
}

static void add_label(text_buffer *t, const situ_report_options *o, const lane *l) {
  char label[4 * LABEL_COLUMNS + 1];
  snprintf(label, sizeof label, "%.*s", (int)text_bytes(l->name, LABEL_COLUMNS), l->name);
  text_make_line(label);
  text_add(t, "  ");
  style_add(t, o, l->link ? STYLE_DIM : STYLE_BOLD, label);
  text_add(t, "%*s ", LABEL_COLUMNS - (int)text_columns(label), "");
}

static void add_line(text_buffer *t, const situ_report_options *o, const lane *l, int32_t columns, int64_t span_ns,
                     int64_t value_ns) {
  double busy[MAX_COLUMNS] = {0}, column_ns = (double)max64(span_ns, 1) / columns;
  char share[TEXT_UNIT_BYTES];
  text_buffer marks = {0};
  for (int64_t i = 0; i < l->n; i++) fill_columns(busy, columns, column_ns, &l->boxes[i]);
  add_label(t, o, l);
  for (int32_t c = 0; c < columns; c++) text_add(&marks, "%s", mark_of(busy[c], o->unicode));
  char *text = text_take(&marks);
  t->failed |= !text;
  if (text) style_add(t, o, l->link ? STYLE_DIM : STYLE_ACCENT, text);
  free(text);
  text_add(t, " %*s\n", SHARE_COLUMNS, percent_text(share, (double)l->load_ns / (double)max64(value_ns, 1)));
}

/* "0 ... half ... whole" below the lines. */
static void add_axis(text_buffer *t, int32_t columns, int64_t span_ns) {
  char half[TEXT_UNIT_BYTES], whole[TEXT_UNIT_BYTES];
  text_time(half, span_ns / 2);
  text_time(whole, span_ns);
  int32_t middle = columns / 2 - (int32_t)strlen(half) / 2;
  int32_t rest = columns - middle - (int32_t)strlen(half);
  text_add(t, "  %*s 0%*s%s%*s\n", LABEL_COLUMNS, "", middle - 1, "", half, rest, whole);
}

static char *gantt_text(const lane_list *lanes, const situ_plan *plan, const situ_report_options *o) {
  text_buffer t = {0};
  int32_t columns = report_width(o) - LABEL_COLUMNS - SHARE_COLUMNS - 4, lines = 0, left_out = 0;
  for (int32_t i = 0; i < lanes->n; i++) {
    if (lanes->lanes[i].n == 0) continue;
    if (lines++ < MAX_LINES)
      add_line(&t, o, &lanes->lanes[i], columns, lanes->span_ns, plan->value_ns);
    else
      left_out++;
  }
  add_axis(&t, columns, lanes->span_ns);
  if (left_out) text_add(&t, "  and %d more lines; --svg and --report show them\n", (int)left_out);
  return text_take(&t);
}

char *report_gantt(const situ_plan *plan, const situ_report_options *options) {
  lane_list lanes = {0};
  arena *a = arena_new();
  char *text = a && lanes_find(&lanes, plan, a) ? gantt_text(&lanes, plan, options) : NULL;
  lanes_free(&lanes);
  arena_free(a);
  return text;
}
