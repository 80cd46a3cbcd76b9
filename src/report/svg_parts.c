/* The parts of a plan as boxes: a row for each device, from left to right in the order in which data goes through. */
#include <math.h>
#include <stdio.h>

#include "base/checked.h"
#include "report/chart.h"
#include "report/draw.h"
#include "report/report.h"

enum { LEFT = 110, TOP = 66, WIDE = 150, GAP = 56, TALL = 44, SPACE = 12, LETTERS = 18, MAX_EDGES = 2000 };

typedef struct parts_picture {
  chart chart;
  const situ_problem *p;
  const situ_explanation *why;
  int32_t *colour; /* [device] */
  double *top;     /* [device] */
} parts_picture;

static double x_of(const parts_picture *g, int32_t k) { return LEFT + g->chart.column[k] * (double)(WIDE + GAP); }
static double y_of(const parts_picture *g, int32_t k) {
  return g->top[situ_explanation_part(g->why, k).device] + SPACE + g->chart.row[k] * (double)(TALL + SPACE);
}

static void draw_edges(text_buffer *t, const parts_picture *g) {
  int64_t max = 1;
  for (int32_t i = 0; i < g->chart.n_edges; i++) max = max64(max, g->chart.edges[i].bytes);
  for (int32_t i = 0; i < g->chart.n_edges && i < MAX_EDGES; i++) {
    const chart_edge *e = &g->chart.edges[i];
    char size[TEXT_UNIT_BYTES];
    double x0 = x_of(g, e->from) + WIDE, y0 = y_of(g, e->from) + TALL / 2.0, x1 = x_of(g, e->to),
           y1 = y_of(g, e->to) + TALL / 2.0;
    double bend = fmax(24, fabs(x1 - x0) / 2), wide = 1 + 4 * sqrt((double)e->bytes / (double)max);
    text_add(t, "<path class=\"w\" stroke-width=\"%.1f\" d=\"M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f\"><title>", wide,
             x0, y0, x0 + bend, y0, x1 - bend, y1, x1, y1);
    text_add(t, "part %d to part %d: %s</title></path>\n", (int)e->from + 1, (int)e->to + 1, text_size(size, e->bytes));
  }
}

static void draw_node(text_buffer *t, const parts_picture *g, int32_t k) {
  situ_part part = situ_explanation_part(g->why, k);
  const char *whole = situ_explanation_part_name(g->why, k);
  size_t n = text_bytes(whole, LETTERS);
  char name[4 * LETTERS + 4], line[128], count[TEXT_UNIT_BYTES], work[TEXT_UNIT_BYTES];
  double x = x_of(g, k), y = y_of(g, k);
  text_add(t, "<g><title>part %d: ", (int)k + 1);
  draw_escaped(t, whole);
  text_add(t,
           "</title><rect class=\"p\" x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" rx=\"6\"/><rect class=\"k%d h\" "
           "x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" rx=\"6\"/>",
           x, y, WIDE, TALL, (int)g->colour[part.device], x, y, WIDE, TALL);
  text_add(t, "<rect class=\"k%d\" x=\"%.0f\" y=\"%.0f\" width=\"4\" height=\"%d\" rx=\"2\"/>\n",
           (int)g->colour[part.device], x, y, TALL);
  snprintf(name, sizeof name, "%.*s%s", (int)n, whole, whole[n] ? "\xe2\x80\xa6" : "");
  draw_text(t, x + 11, y + 18, "", name);
  snprintf(line, sizeof line, "%s operator%s, %s", grouped(count, part.n_working), part.n_working == 1 ? "" : "s",
           text_time(work, part.work_ns));
  draw_text(t, x + 11, y + 34, "s x", line);
  text_add(t, "</g>\n");
}

static void draw_chart(text_buffer *t, const parts_picture *g) {
  const chart *c = &g->chart;
  double bottom = TOP;
  char line[400], count[TEXT_UNIT_BYTES];
  int32_t wide = LEFT + c->n_columns * (WIDE + GAP) - GAP + 24;
  if (wide < 640) wide = 640;
  for (int32_t i = 0; i < c->n_lanes; i++) {
    g->top[c->lane[i]] = bottom;
    bottom += c->rows[c->lane[i]] * (double)(TALL + SPACE) + SPACE + 8;
  }
  snprintf(line, sizeof line, "%s part%s%s", grouped(count, c->n), c->n == 1 ? "" : "s",
           c->n > CHART_PARTS ? "; only the 240 with the most work are drawn" : "");
  draw_open(t, wide, bottom + 12, g->p, 28, line);
  for (int32_t d = 0; d < g->p->n_devices; d++) {
    if (c->rows[d] == 0) continue;
    double tall = c->rows[d] * (double)(TALL + SPACE) + SPACE;
    text_add(t, "<rect class=\"l\" x=\"8\" y=\"%.0f\" width=\"%d\" height=\"%.0f\" rx=\"5\"/>\n", g->top[d],
             (int)wide - 16, tall);
    draw_text(t, LEFT - 16, g->top[d] + tall / 2 + 4, "r", report_device(g->p, d));
  }
  draw_edges(t, g);
  for (int32_t k = 0; k < c->n; k++)
    if (c->column[k] >= 0) draw_node(t, g, k);
  text_add(t, "</svg>\n");
}

char *report_parts_svg(const situ_explanation *why, const situ_plan *plan) {
  const situ_problem *p = plan->problem;
  arena *a = arena_new();
  parts_picture g = {.p = p, .why = why};
  text_buffer t = {0};
  bool made = a && ARENA_ARRAYS(a, ARRAY(g.colour, p->n_devices), ZEROS(g.top, p->n_devices)) &&
              chart_find(&g.chart, why, plan, a);
  if (made) draw_device_colours(g.colour, plan);
  if (made) draw_chart(&t, &g);
  arena_free(a);
  return made ? text_take(&t) : NULL;
}
