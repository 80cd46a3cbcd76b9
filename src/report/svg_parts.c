/* The parts of a plan as boxes: a row for each device, from left to right in the order in which data goes through. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"
#include "report/draw.h"
#include "report/report.h"
#include "situ/explain.h"

enum {
  MAX_NODES = 240,
  LEFT = 110,
  TOP = 66,
  WIDE = 150,
  GAP = 56,
  TALL = 44,
  SPACE = 12,
  LETTERS = 17,
  MAX_EDGES = 2000
};

typedef struct edge {
  int32_t from, to; /* parts */
  int64_t bytes;
} edge;

typedef struct chart {
  const situ_plan *plan;
  const situ_problem *p;
  const situ_explanation *why;
  int32_t n, n_edges, n_columns;
  edge *edges;                    /* by from, then to */
  int32_t *column, *row;          /* [part]; column -1: not drawn */
  int32_t *rows, *colour, *first; /* [device]; first: its lowest column */
  double *top;                    /* [device] */
} chart;

COMPARATOR(by_ends, edge, UP(from) UP(to))

/* What each part hands to each other, each tensor once. */
static bool find_edges(chart *c, arena *a) {
  const situ_graph *g = c->p->graph;
  int32_t *seen = ARENA_NEW(a, int32_t, c->n), n = 0;
  edge *all = ARENA_NEW(a, edge, g->n_uses);
  if (!seen || !all) return false;
  for (int32_t k = 0; k < c->n; k++) seen[k] = -1;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = situ_explanation_part_of(c->why, g->producer[t]);
    if (problem_is_everywhere(c->p, t)) continue;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = situ_explanation_part_of(c->why, g->use[i]);
      if (to == from || seen[to] == t) continue;
      seen[to] = t;
      all[n++] = (edge){from, to, g->size_bytes[t]};
    }
  }
  if (n > 1) qsort(all, (size_t)n, sizeof *all, by_ends);
  c->edges = all;
  for (int32_t i = 0; i < n; i++) {
    bool same = c->n_edges > 0 && by_ends(&all[c->n_edges - 1], &all[i]) == 0;
    if (same)
      all[c->n_edges - 1].bytes = sat_add(all[c->n_edges - 1].bytes, all[i].bytes);
    else
      all[c->n_edges++] = all[i];
  }
  return true;
}

static int by_work(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return x[0] != y[0] ? (x[0] > y[0] ? -1 : 1) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Whether an edge joins two parts that are drawn. */
static bool is_shown(const chart *c, const edge *e) { return c->column[e->from] >= 0 && c->column[e->to] >= 0; }

/* Columns: each part after all parts that it reads from. Parts may depend on each other cyclically; then the earlier
 * one goes first. */
static bool find_columns(chart *c, arena *a) {
  int32_t *waits = ARENA_ZERO(a, int32_t, c->n), *ready = ARENA_NEW(a, int32_t, c->n),
          *first = ARENA_ZERO(a, int32_t, c->n + 1);
  bool *done = ARENA_ZERO(a, bool, c->n);
  int32_t n_ready = 0, next = 0;
  if (!waits || !ready || !first || !done) return false;
  for (int32_t i = 0; i < c->n_edges; i++) {
    first[c->edges[i].from + 1] = i + 1;
    waits[c->edges[i].to] += is_shown(c, &c->edges[i]);
  }
  for (int32_t k = 0; k < c->n; k++) first[k + 1] = first[k + 1] > first[k] ? first[k + 1] : first[k];
  for (int32_t k = c->n - 1; k >= 0; k--)
    if (waits[k] == 0) ready[n_ready++] = k;
  for (int32_t left = c->n; left > 0; left--) {
    while (n_ready == 0 && done[next]) next++;
    int32_t k = n_ready > 0 ? ready[--n_ready] : next;
    done[k] = true;
    for (int32_t i = first[k]; i < first[k + 1]; i++) {
      int32_t to = c->edges[i].to;
      if (done[to] || !is_shown(c, &c->edges[i])) continue;
      if (c->column[to] <= c->column[k]) c->column[to] = c->column[k] + 1;
      if (--waits[to] == 0) ready[n_ready++] = to;
    }
  }
  return true;
}

/* Chooses the parts with most work, then gives each a column and a free row there. */
static bool place_parts(chart *c, arena *a) {
  int64_t *rank = ARENA_NEW(a, int64_t, 2 * (int64_t)c->n);
  if (!rank) return false;
  for (int32_t k = 0; k < c->n; k++) {
    rank[2 * k] = situ_explanation_part(c->why, k).work_ns;
    rank[2 * k + 1] = k;
    c->column[k] = -1;
  }
  qsort(rank, (size_t)c->n, 2 * sizeof *rank, by_work);
  for (int32_t k = 0; k < c->n && k < MAX_NODES; k++) c->column[rank[2 * k + 1]] = 0;
  if (!find_columns(c, a)) return false;
  int32_t used = 0;
  for (int32_t d = 0; d < c->p->n_devices; d++) {
    c->first[d] = INT32_MAX;
    c->colour[d] = plan_use(c->plan, d).n_operators > 0 ? used++ % DRAW_COLOURS : DRAW_COLOURS;
  }
  for (int32_t k = 0; k < c->n; k++) {
    int32_t d = situ_explanation_part(c->why, k).device;
    if (c->column[k] < 0) continue;
    for (int32_t before = 0; before < k; before++)
      if (c->column[before] == c->column[k] && situ_explanation_part(c->why, before).device == d) c->row[k]++;
    c->rows[d] = c->row[k] + 1 > c->rows[d] ? c->row[k] + 1 : c->rows[d];
    c->first[d] = c->column[k] < c->first[d] ? c->column[k] : c->first[d];
    c->n_columns = c->column[k] + 1 > c->n_columns ? c->column[k] + 1 : c->n_columns;
  }
  return true;
}

static double x_of(const chart *c, int32_t k) { return LEFT + c->column[k] * (double)(WIDE + GAP); }
static double y_of(const chart *c, int32_t k) {
  return c->top[situ_explanation_part(c->why, k).device] + SPACE + c->row[k] * (double)(TALL + SPACE);
}

static void draw_edges(text_buffer *t, const chart *c) {
  int64_t max = 1;
  for (int32_t i = 0; i < c->n_edges; i++) max = max64(max, c->edges[i].bytes);
  for (int32_t i = 0, drawn = 0; i < c->n_edges && drawn < MAX_EDGES; i++) {
    const edge *e = &c->edges[i];
    char size[TEXT_UNIT_BYTES];
    if (!is_shown(c, e)) continue;
    double x0 = x_of(c, e->from) + WIDE, y0 = y_of(c, e->from) + TALL / 2.0, x1 = x_of(c, e->to),
           y1 = y_of(c, e->to) + TALL / 2.0;
    double bend = fmax(24, fabs(x1 - x0) / 2), wide = 1 + 4 * sqrt((double)e->bytes / (double)max);
    text_add(t, "<path class=\"w\" stroke-width=\"%.1f\" d=\"M%.0f %.0fC%.0f %.0f %.0f %.0f %.0f %.0f\"><title>", wide,
             x0, y0, x0 + bend, y0, x1 - bend, y1, x1, y1);
    text_add(t, "part %d to part %d: %s</title></path>\n", (int)e->from + 1, (int)e->to + 1, text_size(size, e->bytes));
    drawn++;
  }
}

/* The beginning of a text, in whole characters. */
static void shorten(char into[4 * LETTERS + 8], const char *text) {
  size_t used = 0, letters = 0;
  for (; text[used] && letters <= LETTERS && used < 4 * LETTERS; used++)
    letters += ((unsigned char)text[used + 1] & 0xc0) != 0x80;
  memcpy(into, text, used);
  into[used] = '\0';
  if (text[used]) memcpy(into + used, "\xe2\x80\xa6", 4);
}

static void draw_node(text_buffer *t, const chart *c, int32_t k) {
  situ_part part = situ_explanation_part(c->why, k);
  char name[4 * LETTERS + 8], line[128], count[TEXT_UNIT_BYTES], work[TEXT_UNIT_BYTES];
  double x = x_of(c, k), y = y_of(c, k);
  text_add(t, "<g><title>part %d: ", (int)k + 1);
  draw_escaped(t, situ_explanation_part_name(c->why, k));
  text_add(t,
           "</title><rect class=\"p\" x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" rx=\"6\"/><rect class=\"k%d h\" "
           "x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" rx=\"6\"/>",
           x, y, WIDE, TALL, (int)c->colour[part.device], x, y, WIDE, TALL);
  text_add(t, "<rect class=\"k%d\" x=\"%.0f\" y=\"%.0f\" width=\"4\" height=\"%d\" rx=\"2\"/>\n",
           (int)c->colour[part.device], x, y, TALL);
  shorten(name, situ_explanation_part_name(c->why, k));
  draw_text(t, x + 11, y + 18, "", name);
  snprintf(line, sizeof line, "%s operator%s, %s", grouped(count, part.n_working), part.n_working == 1 ? "" : "s",
           text_time(work, part.work_ns));
  draw_text(t, x + 11, y + 34, "s x", line);
  text_add(t, "</g>\n");
}

/* The next device to draw, without a row yet; -1 if all have one. Those of a pipeline are in the order of the data
 * flow. */
static int32_t next_lane(const chart *c) {
  int32_t best = -1;
  for (int32_t d = 0; d < c->p->n_devices; d++) {
    if (c->rows[d] == 0 || c->top[d] > 0) continue;
    if (best < 0 || (c->p->execution == SITU_EXECUTION_PIPELINE && c->first[d] < c->first[best])) best = d;
  }
  return best;
}

static void draw_chart(text_buffer *t, chart *c) {
  double bottom = TOP;
  char line[400], count[TEXT_UNIT_BYTES];
  int32_t wide = LEFT + c->n_columns * (WIDE + GAP) - GAP + 24;
  if (wide < 640) wide = 640;
  for (int32_t d; (d = next_lane(c)) >= 0;) {
    c->top[d] = bottom;
    bottom += c->rows[d] * (double)(TALL + SPACE) + SPACE + 8;
  }
  draw_open(t, wide, bottom + 12);
  snprintf(line, sizeof line, "%.120s on %.120s", c->p->graph->model, c->p->platform->name);
  draw_text(t, 20, 28, "t", line);
  snprintf(line, sizeof line, "%s part%s%s", grouped(count, c->n), c->n == 1 ? "" : "s",
           c->n > MAX_NODES ? "; only the 240 with the most work are drawn" : "");
  draw_text(t, 20, 48, "s", line);
  for (int32_t d = 0; d < c->p->n_devices; d++) {
    if (c->rows[d] == 0) continue;
    double tall = c->rows[d] * (double)(TALL + SPACE) + SPACE;
    text_add(t, "<rect class=\"l\" x=\"8\" y=\"%.0f\" width=\"%d\" height=\"%.0f\" rx=\"5\"/>\n", c->top[d],
             (int)wide - 16, tall);
    draw_text(t, LEFT - 16, c->top[d] + tall / 2 + 4, "r", c->p->platform->devices[d].name);
  }
  draw_edges(t, c);
  for (int32_t k = 0; k < c->n; k++)
    if (c->column[k] >= 0) draw_node(t, c, k);
  text_add(t, "</svg>\n");
}

char *report_parts_svg(const situ_explanation *why, const situ_plan *plan) {
  const situ_explanation_summary of = report_explanation(why);
  const situ_problem *p = plan->problem;
  arena *a = arena_new();
  chart c = {.plan = plan, .p = p, .why = why, .n = of.n_parts};
  text_buffer t = {0};
  bool made = a && (c.column = ARENA_ZERO(a, int32_t, c.n)) && (c.row = ARENA_ZERO(a, int32_t, c.n)) &&
              (c.rows = ARENA_ZERO(a, int32_t, p->n_devices)) && (c.colour = ARENA_ZERO(a, int32_t, p->n_devices)) &&
              (c.top = ARENA_ZERO(a, double, p->n_devices)) && (c.first = ARENA_ZERO(a, int32_t, p->n_devices)) &&
              find_edges(&c, a) && place_parts(&c, a);
  if (made) draw_chart(&t, &c);
  arena_free(a);
  return made ? text_take(&t) : NULL;
}
