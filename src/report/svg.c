/* The picture of a plan: one lane for each device, a thinner one for each link that carries something. Stream and calls
 * show time from left to right; pipeline shows how each resource fills the period. Neighbours that are narrower than a
 * pixel melt into one box, so that the file stays small whatever the graph. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "report/draw.h"
#include "report/lanes.h"
#include "report/report.h"

enum { LEFT = 130, RIGHT = 24, WIDTH = 1000, TOP = 96, LANE = 34, LINK_LANE = 14, SPACE = 10, MAX_LANES = 64 };
#define SPAN ((double)(WIDTH - LEFT - RIGHT))

typedef struct picture {
  const situ_plan *plan;
  const situ_problem *p;
  arena *arena;
  lane_list lanes;
  int32_t *colour; /* [kind] */
} picture;

static int32_t colour_of(const picture *g, const lane_box *b) {
  return b->op >= 0 ? g->colour[g->p->graph->kind[b->op]] : DRAW_TRANSFER;
}

static double at_x(const picture *g, int64_t time_ns) {
  return LEFT + (g->lanes.span_ns > 0 ? SPAN * ((double)time_ns / (double)g->lanes.span_ns) : 0);
}

static const lane *drawn_lane(const picture *g, int32_t i) { return &g->lanes.lanes[g->lanes.drawn[i]]; }
static int height_of(const lane *l) { return l->link ? LINK_LANE : LANE; }

static void one_box(text_buffer *t, const picture *g, const lane_box *b, int64_t melted, double y, int height) {
  double x = at_x(g, b->start_ns), w = at_x(g, b->finish_ns) - x;
  char time[TEXT_UNIT_BYTES];
  text_add(t, "<rect class=\"k%d\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"", (int)colour_of(g, b), x, y,
           w < 0.3 ? 0.3 : w, height);
  text_add(t, w > 4 ? " rx=\"1.5\"><title>" : "><title>");
  if (melted > 1)
    text_add(t, "%lld operators", (long long)melted);
  else if (b->op >= 0)
    draw_escaped(t, g->p->graph->name[b->op]);
  else
    text_add(t, "transfer");
  text_add(t, ", %s</title></rect>\n", text_time(time, b->finish_ns - b->start_ns));
}

/* Draws the boxes of a lane; those below a pixel melt into the one before when they touch it. */
static void lane_boxes(text_buffer *t, const picture *g, const lane *l, double y) {
  double pixel_ns = (double)g->lanes.span_ns / SPAN;
  for (int64_t i = 0; i < l->n;) {
    lane_box b = l->boxes[i];
    int64_t melted = 1;
    bool thin = (double)(b.finish_ns - b.start_ns) < pixel_ns;
    for (i++; i < l->n; i++) {
      const lane_box *next = &l->boxes[i];
      bool same = next->start_ns == b.start_ns && next->finish_ns == b.finish_ns;
      bool close = (double)(next->start_ns - b.finish_ns) < 0.4 * pixel_ns;
      bool narrow = (double)(next->finish_ns - next->start_ns) < 0.6 * pixel_ns;
      if (!same && !(close && narrow && (thin || colour_of(g, next) == colour_of(g, &b)))) break;
      b.finish_ns = max64(b.finish_ns, next->finish_ns);
      thin = (double)(b.finish_ns - b.start_ns) < pixel_ns;
      melted++;
    }
    if (b.finish_ns > b.start_ns) one_box(t, g, &b, melted, y, height_of(l));
  }
}

static void draw_legend(text_buffer *t, const picture *g, double y) {
  const situ_graph *graph = g->p->graph;
  double x = LEFT;
  for (int c = 0; c < DRAW_COLOURS; c++) {
    char name[40];
    int32_t kind = 0;
    while (kind < graph->n_kinds && g->colour[kind] != c) kind++;
    if (c < DRAW_OTHER ? kind == graph->n_kinds : c == DRAW_OTHER && graph->n_kinds <= DRAW_OTHER) continue;
    snprintf(name, sizeof name, "%.24s",
             c < DRAW_OTHER    ? graph->kind_name[kind]
             : c == DRAW_OTHER ? "other"
                               : "transfer");
    double wide = 34 + 7.6 * (double)strlen(name);
    if (x + wide > WIDTH - RIGHT) break;
    text_add(t, "<rect class=\"k%d\" x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" rx=\"2\"/>\n", c, x, y - 9);
    draw_text(t, x + 15, y, "s", name);
    x += wide;
  }
}

static void draw_axis(text_buffer *t, const picture *g, double top, double bottom) {
  double step = 1;
  while (g->lanes.span_ns > 0 && (double)g->lanes.span_ns / step > 10) {
    if ((double)g->lanes.span_ns / (step * 2) <= 10)
      step *= 2;
    else if ((double)g->lanes.span_ns / (step * 5) <= 10)
      step *= 5;
    else
      step *= 10;
  }
  for (double at = 0; at <= (double)g->lanes.span_ns && g->lanes.span_ns > 0; at += step) {
    char label[TEXT_UNIT_BYTES];
    double x = at_x(g, (int64_t)at);
    text_add(t, "<line class=\"g\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", x, x, top - 4, bottom);
    draw_text(t, x, bottom + 16, "m", round_time(label, (int64_t)at));
  }
}

static void draw_head(text_buffer *t, const picture *g, double height) {
  const situ_problem *p = g->p;
  char line[512], value[TEXT_UNIT_BYTES], bound[TEXT_UNIT_BYTES], gap[TEXT_UNIT_BYTES], single[TEXT_UNIT_BYTES];
  int64_t lower = g->plan->lower_bound_ns, one = g->plan->best_single_ns;
  snprintf(line, sizeof line, "%s %s  \xc2\xb7  lower bound %s (gap %s)  \xc2\xb7  best single device %s",
           p->execution == SITU_EXECUTION_PIPELINE ? "period" : "latency", exact_time(value, g->plan->value_ns),
           lower > 0 ? exact_time(bound, lower) : "none", percent_text(gap, plan_gap(g->plan)),
           one == SITU_NEVER_NS ? "none" : exact_time(single, one));
  draw_open(t, WIDTH, height, p, 30, line);
  draw_scope(t, p, g->plan->form);
  draw_legend(t, g, 82);
}

static void draw(text_buffer *t, const picture *g) {
  double y[MAX_LANES + 1] = {TOP};
  int32_t n = g->lanes.n_drawn < MAX_LANES ? g->lanes.n_drawn : MAX_LANES;
  for (int32_t i = 0; i < n; i++) y[i + 1] = y[i] + height_of(drawn_lane(g, i)) + SPACE;
  double bottom = y[n];
  draw_head(t, g, bottom + 42);
  for (int32_t i = 0; i < n; i++) {
    const lane *l = drawn_lane(g, i);
    int tall = height_of(l);
    text_add(t, "<rect class=\"l\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"3\"/>\n", LEFT, y[i], SPAN,
             tall);
    draw_text(t, LEFT - 12, y[i] + tall / 2.0 + 4, l->link ? "e" : "r", l->name);
  }
  draw_axis(t, g, TOP, bottom);
  for (int32_t i = 0; i < n; i++) lane_boxes(t, g, drawn_lane(g, i), y[i]);
  int64_t lower = g->plan->lower_bound_ns;
  if (lower > 0) {
    double x = at_x(g, lower);
    text_add(t, "<line class=\"b\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\"/>\n", x, x, TOP - 6, bottom + 20);
    draw_text(t, fmin(x, LEFT + SPAN - 20), bottom + 32, "v", "lower bound"); /* within the picture */
  }
  text_add(t, "</svg>\n");
}

char *report_plan_svg(const situ_plan *plan) {
  const situ_problem *problem = plan->problem;
  if (!plan_exists(plan)) return NULL;
  picture g = {.plan = plan, .p = problem, .arena = arena_new()};
  text_buffer t = {0};
  bool ok = g.arena && draw_kind_colours(&g.colour, plan, g.arena) && lanes_find(&g.lanes, plan, g.arena);
  if (ok) draw(&t, &g);
  lanes_free(&g.lanes);
  arena_free(g.arena);
  if (ok) return text_take(&t);
  text_free(&t);
  return NULL;
}
