/* A front as a picture: latency to the right, period upwards, one point for each plan, the bounds of both as lines. */
#include <math.h>
#include <stdio.h>

#include "report/draw.h"
#include "report/report.h"

enum { WIDTH = 720, HEIGHT = 460, LEFT = 110, RIGHT = 40, TOP = 96, BOTTOM = 64, TICKS = 5 };

/* The part of an axis that is shown. */
typedef struct axis {
  double low, high;
} axis;

static axis axis_of(const situ_front *front, bool period, int64_t bound) {
  const situ_front_summary of = report_front(front);
  double low = bound > 0 ? (double)bound : -1, high = 0;
  for (int32_t i = 0; i < of.n_points; i++) {
    const situ_plan *plan = situ_front_plan(front, i);
    double at = (double)(period ? plan->period_ns : plan->latency_ns);
    if (low < 0 || at < low) low = at;
    if (at > high) high = at;
  }
  if (low < 0) low = 0;
  double room = high > low ? (high - low) * 0.08 : high * 0.1 + 1;
  return (axis){low - room > 0 ? low - room : 0, high + room};
}

static double x_at(axis a, double v) { return LEFT + (WIDTH - LEFT - RIGHT) * (v - a.low) / (a.high - a.low); }
static double y_at(axis a, double v) {
  return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (v - a.low) / (a.high - a.low);
}

/* The distance between lines of an axis: 1, 2 or 5 times a power of ten. */
static double step_of(axis a) {
  double step = 1, wanted = (a.high - a.low) / TICKS;
  while (step * 10 <= wanted) step *= 10;
  return step * 5 <= wanted ? step * 5 : step * 2 <= wanted ? step * 2 : step;
}

static void draw_axes(text_buffer *t, axis latency, axis period) {
  char label[TEXT_UNIT_BYTES];
  double step = step_of(latency);
  for (double at = ceil(latency.low / step) * step; at <= latency.high; at += step) {
    double x = x_at(latency, at);
    text_add(t, "<line class=\"g\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", x, x, TOP, HEIGHT - BOTTOM);
    draw_text(t, x, HEIGHT - BOTTOM + 18, "m", round_time(label, (int64_t)at));
  }
  step = step_of(period);
  for (double at = ceil(period.low / step) * step; at <= period.high; at += step) {
    double y = y_at(period, at);
    text_add(t, "<line class=\"g\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT, WIDTH - RIGHT, y, y);
    draw_text(t, LEFT - 10, y + 4, "e", round_time(label, (int64_t)at));
  }
  draw_text(t, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - BOTTOM + 42, "m", "latency of one input");
  draw_text(t, LEFT, TOP - 10, "s", "period of many");
}

static void draw_bound(text_buffer *t, axis a, int64_t bound, bool upright) {
  if (bound <= 0 || bound >= SITU_NEVER_NS) return;
  double at = upright ? x_at(a, (double)bound) : y_at(a, (double)bound);
  text_add(t, "<line class=\"b\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"><title>lower bound</title></line>\n",
           upright ? at : LEFT, upright ? at : WIDTH - RIGHT, upright ? TOP : at, upright ? HEIGHT - BOTTOM : at);
}

static void draw_points(text_buffer *t, const situ_front *front, axis latency, axis period) {
  const situ_front_summary of = report_front(front);
  char a[TEXT_UNIT_BYTES], b[TEXT_UNIT_BYTES];
  double y_before = TOP;
  for (int32_t i = 0; i < of.n_points; i++) {
    const situ_plan *plan = situ_front_plan(front, i);
    double x = x_at(latency, (double)plan->latency_ns), y = y_at(period, (double)plan->period_ns);
    double next =
        i + 1 < of.n_points ? x_at(latency, (double)(situ_front_plan(front, i + 1))->latency_ns) : WIDTH - RIGHT;
    text_add(t, "<path class=\"w\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", x, i == 0 ? (double)TOP : y_before, y, next);
    text_add(t, "<circle class=\"k0\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"><title>latency %s, ", x, y,
             exact_time(a, plan->latency_ns));
    text_add(t, "period %s</title></circle>\n", exact_time(b, plan->period_ns));
    y_before = y;
  }
}

char *report_front_svg(const situ_front *front) {
  const situ_front_summary of = report_front(front);
  const situ_problem *p = situ_front_problem(front);
  text_buffer t = {0};
  char line[320];
  int64_t min_latency = of.min_latency_ns, min_period = of.min_period_ns;
  int32_t n = of.n_points;
  axis latency = axis_of(front, false, min_latency), period = axis_of(front, true, min_period);
  snprintf(line, sizeof line, "%d plan%s not dominated by any other; dashed: lower bounds", (int)n, n == 1 ? "" : "s");
  draw_open(&t, WIDTH, HEIGHT, p, 30, line);
  draw_scope(&t, p, 0);
  draw_axes(&t, latency, period);
  draw_bound(&t, latency, min_latency, true);
  draw_bound(&t, period, min_period, false);
  draw_points(&t, front, latency, period);
  text_add(&t, "</svg>\n");
  return text_take(&t);
}
