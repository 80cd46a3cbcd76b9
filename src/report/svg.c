/* The picture of a plan: one lane for each device, a thinner one for each link that carries something. Stream and calls
 * show time from left to right; pipeline shows how each resource fills the period. Neighbours that are narrower than a
 * pixel melt into one box, so that the file stays small whatever the graph. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/hash.h"
#include "plan/plan.h"
#include "report/report.h"

enum {
  LEFT = 130,
  RIGHT = 24,
  WIDTH = 1000,
  TOP = 96,
  LANE = 34,
  LINK_LANE = 14,
  SPACE = 10,
  N_COLOURS = 8,
  MOST_LANES = 64
};
#define SPAN ((double)(WIDTH - LEFT - RIGHT))

typedef struct box {
  int64_t start_ns, finish_ns;
  int32_t colour; /* 0 .. N_COLOURS-1, N_COLOURS for "other", N_COLOURS+1 for transfers */
  int32_t op;     /* or -1 */
} box;

typedef struct lane {
  const char *name;
  char link_name[64];
  bool link;
  box *boxes;
  int64_t n, capacity;
  int64_t load_ns;
} lane;

typedef struct picture {
  const situ_plan *plan;
  const situ_problem *p;
  arena *arena;
  lane *lanes; /* devices, then links */
  int32_t n_lanes;
  int64_t span_ns;
  int32_t *colour;          /* of each kind */
  int32_t named[N_COLOURS]; /* kind of each colour, or -1 */
  bool failed;
} picture;

static void add_box(picture *g, lane *l, box b) {
  if (l->n == l->capacity) {
    int64_t capacity = l->capacity ? 2 * l->capacity : 32;
    box *boxes = realloc(l->boxes, (size_t)capacity * sizeof *boxes);
    if (!boxes) {
      g->failed = true;
      return;
    }
    l->boxes = boxes;
    l->capacity = capacity;
  }
  l->boxes[l->n++] = b;
}

static int by_start(const void *a, const void *b) {
  const box *x = a, *y = b;
  if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
  if (x->finish_ns != y->finish_ns) return x->finish_ns < y->finish_ns ? -1 : 1;
  return (x->op > y->op) - (x->op < y->op);
}

/* The colour of a kind in every picture where no kind that takes more time has it. */
static int own_colour(const char *kind) { return (int)(hash_bytes(kind, strlen(kind), 0) % N_COLOURS); }

/* Gives the kinds that take most time a colour each. */
static bool choose_colours(picture *g) {
  const situ_graph *graph = g->p->graph;
  int64_t *time = ARENA_ZERO(g->arena, int64_t, graph->n_kinds);
  g->colour = ARENA_NEW(g->arena, int32_t, graph->n_kinds);
  if (!time || !g->colour) return false;
  for (int32_t k = 0; k < graph->n_kinds; k++) g->colour[k] = N_COLOURS;
  for (int32_t v = 0; v < graph->n_operators; v++) {
    int64_t t = problem_time_ns(g->p, v, situ_plan_device(g->plan, v));
    time[graph->kind[v]] = sat_add(time[graph->kind[v]], t);
  }
  for (int c = 0; c < N_COLOURS; c++) g->named[c] = -1;
  for (int rank = 0; rank < N_COLOURS; rank++) {
    int32_t longest = -1;
    for (int32_t k = 0; k < graph->n_kinds; k++)
      if (g->colour[k] == N_COLOURS && time[k] > 0 && (longest < 0 || time[k] > time[longest])) longest = k;
    if (longest < 0) break;
    int c = own_colour(graph->kind_name[longest]);
    while (g->named[c] >= 0) c = (c + 1) % N_COLOURS;
    g->named[c] = longest;
    g->colour[longest] = c;
  }
  return true;
}

static bool name_lanes(picture *g) {
  const situ_problem *p = g->p;
  int32_t n_links = p->platform->n_links;
  g->n_lanes = p->n_devices + n_links;
  g->lanes = ARENA_ZERO(g->arena, lane, g->n_lanes);
  if (!g->lanes) return false;
  for (int32_t d = 0; d < p->n_devices; d++) g->lanes[d].name = p->platform->devices[d].name;
  for (int32_t l = 0; l < n_links; l++) {
    lane *at = &g->lanes[p->n_devices + l];
    const situ_link *link = &p->platform->links[l];
    at->link = true;
    snprintf(at->link_name, sizeof at->link_name, "%.24s > %.24s", p->platform->devices[link->from_device].name,
             p->platform->devices[link->to_device].name);
    at->name = at->link_name;
  }
  return true;
}

static void fill_timeline(picture *g) {
  const situ_problem *p = g->p;
  for (int32_t v = 0; v < p->n_operators; v++) {
    box b = {situ_plan_start_ns(g->plan, v), situ_plan_finish_ns(g->plan, v), g->colour[p->graph->kind[v]], v};
    add_box(g, &g->lanes[situ_plan_device(g->plan, v)], b);
  }
  for (int32_t i = 0; i < situ_plan_n_transfers(g->plan); i++) {
    situ_transfer t = situ_plan_transfer(g->plan, i);
    add_box(g, &g->lanes[p->n_devices + t.link], (box){t.start_ns, t.finish_ns, N_COLOURS + 1, -1});
  }
  g->span_ns = situ_plan_value_ns(g->plan);
}

static void stack(picture *g, lane *l, int64_t amount_ns, int32_t colour, int32_t op) {
  if (amount_ns <= 0) return;
  int64_t end = sat_add(l->load_ns, amount_ns);
  add_box(g, l, (box){l->load_ns, end, colour, op});
  l->load_ns = end;
}

static void stack_route(picture *g, int32_t t, int32_t from, int32_t to, int64_t every) {
  const situ_problem *p = g->p;
  const situ_platform *f = p->platform;
  int64_t route = (int64_t)p->memory_of[from] * f->n_memories + p->memory_of[to];
  for (int32_t h = f->route_start[route]; h < f->route_start[route + 1]; h++) {
    int32_t link = f->route_link[h];
    int64_t time = p->transfer_ns[t][p->costs->link_kind[link]];
    stack(g, &g->lanes[p->n_devices + link], time / every, N_COLOURS + 1, -1);
  }
}

/* Loads of the links: each tensor once for each memory that uses it, hop by hop, shared by those that share its ends.
 */
static void stack_links(picture *g, int32_t *seen) {
  const situ_problem *p = g->p;
  for (int32_t t = 0; t < p->graph->n_tensors; t++) {
    int32_t a = situ_plan_device(g->plan, p->graph->producer[t]);
    for (int64_t i = p->graph->use_start[t]; i < p->graph->use_start[t + 1]; i++) {
      int32_t b = situ_plan_device(g->plan, p->graph->use[i]), to = p->memory_of[b];
      if (to == p->memory_of[a] || seen[to] == t) continue;
      seen[to] = t;
      int64_t every = (int64_t)plan_n_sharing(g->plan, a) * plan_n_sharing(g->plan, b);
      if (every == 1) stack_route(g, t, a, b, 1);
      for (int32_t x = 0; x < p->n_devices && every > 1; x++)
        for (int32_t y = 0; y < p->n_devices && plan_leader(g->plan, x) == a; y++)
          if (plan_leader(g->plan, y) == b) stack_route(g, t, x, y, every);
    }
  }
}

static bool fill_loads(picture *g) {
  const situ_problem *p = g->p;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t d = situ_plan_device(g->plan, v), n = plan_n_sharing(g->plan, d);
    for (int32_t e = n > 1 ? 0 : d; e < (n > 1 ? p->n_devices : d + 1); e++)
      if (plan_leader(g->plan, e) == d)
        stack(g, &g->lanes[e], problem_time_ns(p, v, d) / n, g->colour[p->graph->kind[v]], v);
  }
  for (int32_t d = 0; d < p->n_devices; d++)
    stack(g, &g->lanes[d], plan_use(g->plan, d).load_ns - g->lanes[d].load_ns, N_COLOURS + 1, -1);
  if (p->communication == SITU_COMMUNICATION_LINK) {
    int32_t *seen = ARENA_NEW(g->arena, int32_t, p->n_memories);
    if (!seen) return false;
    for (int32_t m = 0; m < p->n_memories; m++) seen[m] = -1;
    stack_links(g, seen);
  }
  g->span_ns = situ_plan_value_ns(g->plan);
  for (int32_t i = 0; i < g->n_lanes; i++) g->span_ns = max64(g->span_ns, g->lanes[i].load_ns);
  return true;
}

static void escaped(text_buffer *t, const char *text) {
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    if (c == '<' || c == '>' || c == '&' || c == '"')
      text_add(t, "&#%d;", c);
    else
      text_add_bytes(t, c < 0x20 || c == 0x7f ? "?" : text, 1);
  }
}

static double at_x(const picture *g, int64_t time_ns) {
  return LEFT + (g->span_ns > 0 ? SPAN * ((double)time_ns / (double)g->span_ns) : 0);
}

static void one_box(text_buffer *t, const picture *g, const box *b, int64_t melted, double y, int height) {
  double x = at_x(g, b->start_ns), w = at_x(g, b->finish_ns) - x;
  char time[TEXT_UNIT_BYTES];
  text_add(t, "<rect class=\"k%d\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%d\"", (int)b->colour, x, y,
           w < 0.3 ? 0.3 : w, height);
  text_add(t, w > 4 ? " rx=\"1.5\"><title>" : "><title>");
  if (melted > 1)
    text_add(t, "%lld operators", (long long)melted);
  else if (b->op >= 0)
    escaped(t, g->p->graph->name[b->op]);
  else
    text_add(t, "transfer");
  text_add(t, ", %s</title></rect>\n", text_time(time, b->finish_ns - b->start_ns));
}

/* Draws the boxes of a lane; those below a pixel melt into the one before when they touch it. */
static void lane_boxes(text_buffer *t, picture *g, lane *l, double y, int height) {
  if (l->n > 1) qsort(l->boxes, (size_t)l->n, sizeof *l->boxes, by_start);
  double pixel_ns = (double)g->span_ns / SPAN;
  for (int64_t i = 0; i < l->n;) {
    box b = l->boxes[i];
    int64_t melted = 1;
    bool thin = (double)(b.finish_ns - b.start_ns) < pixel_ns;
    for (i++; i < l->n; i++) {
      const box *next = &l->boxes[i];
      bool same = next->start_ns == b.start_ns && next->finish_ns == b.finish_ns;
      bool close = (double)(next->start_ns - b.finish_ns) < 0.4 * pixel_ns;
      bool narrow = (double)(next->finish_ns - next->start_ns) < 0.6 * pixel_ns;
      if (!same && !(close && narrow && (thin || next->colour == b.colour))) break;
      b.finish_ns = max64(b.finish_ns, next->finish_ns);
      thin = (double)(b.finish_ns - b.start_ns) < pixel_ns;
      melted++;
    }
    if (b.finish_ns > b.start_ns) one_box(t, g, &b, melted, y, height);
  }
}

static void text_at(text_buffer *t, double x, double y, const char *class_name, const char *text) {
  text_add(t, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class_name, x, y);
  escaped(t, text);
  text_add(t, "</text>\n");
}

static const char style_sheet[] =
    "<style>\n"
    "text{font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:#1f2430}\n"
    ".p{fill:#fff}.t{font-size:17px;font-weight:600}.s{fill:#6b7280}.r{text-anchor:end}\n"
    ".m{text-anchor:middle;fill:#6b7280}.e{text-anchor:end;fill:#6b7280;font-size:10px}\n"
    ".v{fill:#d6336c;text-anchor:middle}.l{fill:#f1f3f7}.g{stroke:#d9dde5}.b{stroke:#d6336c;stroke-dasharray:4 3}\n"
    ".k0{fill:#4c78d8}.k1{fill:#f2a541}.k2{fill:#3fa796}.k3{fill:#c85a8e}.k4{fill:#8a6fd1}.k5{fill:#7fb24a}\n"
    ".k6{fill:#d9704f}.k7{fill:#4fb0d9}.k8{fill:#b4bac6}.k9{fill:#3d4658}\n"
    "@media(prefers-color-scheme:dark){text{fill:#e6e9ef}.p{fill:#12151c}.s,.m,.e{fill:#9aa3b2}.v{fill:#ff7aa8}\n"
    ".l{fill:#1c212b}.g{stroke:#333a47}.b{stroke:#ff7aa8}.k8{fill:#6b7688}.k9{fill:#d5dbe6}}\n"
    "</style>\n";

/* Lanes that are drawn: devices (all, or those in use when there are many) and links that carry something. */
static bool is_drawn(const picture *g, int32_t i) {
  const lane *l = &g->lanes[i];
  return l->link ? l->n > 0 : l->n > 0 || g->p->n_devices <= 16;
}

static void draw_legend(text_buffer *t, const picture *g, double y) {
  double x = LEFT;
  for (int c = 0; c <= N_COLOURS + 1; c++) {
    char name[40];
    if (c < N_COLOURS && g->named[c] < 0) continue;
    if (c == N_COLOURS && g->p->graph->n_kinds <= N_COLOURS) continue;
    snprintf(name, sizeof name, "%.24s",
             c < N_COLOURS    ? g->p->graph->kind_name[g->named[c]]
             : c == N_COLOURS ? "other"
                              : "transfer");
    double wide = 34 + 7.6 * (double)strlen(name);
    if (x + wide > WIDTH - RIGHT) break;
    text_add(t, "<rect class=\"k%d\" x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" rx=\"2\"/>\n", c, x, y - 9);
    text_at(t, x + 15, y, "s", name);
    x += wide;
  }
}

static void draw_axis(text_buffer *t, const picture *g, double top, double bottom) {
  double step = 1;
  while (g->span_ns > 0 && (double)g->span_ns / step > 10) {
    if ((double)g->span_ns / (step * 2) <= 10)
      step *= 2;
    else if ((double)g->span_ns / (step * 5) <= 10)
      step *= 5;
    else
      step *= 10;
  }
  for (double at = 0; at <= (double)g->span_ns && g->span_ns > 0; at += step) {
    char label[TEXT_UNIT_BYTES];
    double x = at_x(g, (int64_t)at);
    text_add(t, "<line class=\"g\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", x, x, top - 4, bottom);
    text_at(t, x, bottom + 16, "m", round_time(label, (int64_t)at));
  }
}

static void draw_head(text_buffer *t, const picture *g) {
  const situ_problem *p = g->p;
  char line[512], value[TEXT_UNIT_BYTES], bound[TEXT_UNIT_BYTES], gap[TEXT_UNIT_BYTES], single[TEXT_UNIT_BYTES];
  snprintf(line, sizeof line, "%.120s on %.120s", p->graph->model, p->platform->name);
  text_at(t, 20, 30, "t", line);
  int64_t lower = situ_plan_lower_bound_ns(g->plan), one = situ_plan_best_single_ns(g->plan);
  snprintf(line, sizeof line, "%s %s  \xc2\xb7  lower bound %s (gap %s)  \xc2\xb7  best single device %s",
           p->execution == SITU_EXECUTION_PIPELINE ? "period" : "latency",
           exact_time(value, situ_plan_value_ns(g->plan)), lower > 0 ? exact_time(bound, lower) : "none",
           percent_text(gap, situ_plan_gap(g->plan)), one == SITU_NEVER_NS ? "none" : exact_time(single, one));
  text_at(t, 20, 52, "s", line);
  draw_legend(t, g, 78);
}

static void draw(text_buffer *t, picture *g) {
  double bottom = TOP;
  int32_t drawn = 0;
  for (int32_t i = 0; i < g->n_lanes; i++)
    if (is_drawn(g, i) && drawn++ < MOST_LANES) bottom += (g->lanes[i].link ? LINK_LANE : LANE) + SPACE;
  double height = bottom + 42;
  text_add(
      t,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" role=\"img\">\n"
      "%s<rect class=\"p\" width=\"100%%\" height=\"100%%\"/>\n",
      WIDTH, height, WIDTH, height, style_sheet);
  draw_head(t, g);
  double y = TOP;
  drawn = 0;
  for (int32_t i = 0; i < g->n_lanes; i++) {
    if (!is_drawn(g, i) || drawn++ >= MOST_LANES) continue;
    int tall = g->lanes[i].link ? LINK_LANE : LANE;
    text_add(t, "<rect class=\"l\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" rx=\"3\"/>\n", LEFT, y, SPAN, tall);
    text_at(t, LEFT - 12, y + tall / 2.0 + 4, g->lanes[i].link ? "e" : "r", g->lanes[i].name);
    y += tall + SPACE;
  }
  draw_axis(t, g, TOP, bottom);
  y = TOP;
  drawn = 0;
  for (int32_t i = 0; i < g->n_lanes; i++) {
    if (!is_drawn(g, i) || drawn++ >= MOST_LANES) continue;
    int tall = g->lanes[i].link ? LINK_LANE : LANE;
    lane_boxes(t, g, &g->lanes[i], y, tall);
    y += tall + SPACE;
  }
  int64_t lower = situ_plan_lower_bound_ns(g->plan);
  if (lower > 0) {
    double x = at_x(g, lower);
    text_add(t, "<line class=\"b\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\"/>\n", x, x, TOP - 6, bottom + 20);
    text_at(t, fmin(x, LEFT + SPAN - 20), bottom + 32, "v", "lower bound"); /* within the picture */
  }
  text_add(t, "</svg>\n");
}

static char *plan_svg(const situ_plan *plan, const situ_problem *problem) {
  if (!situ_plan_exists(plan)) return NULL;
  picture g = {.plan = plan, .p = problem, .arena = arena_new()};
  text_buffer t = {0};
  bool ok = g.arena && choose_colours(&g) && name_lanes(&g);
  if (ok && problem->execution == SITU_EXECUTION_PIPELINE)
    ok = fill_loads(&g);
  else if (ok)
    fill_timeline(&g);
  if (ok) draw(&t, &g);
  for (int32_t i = 0; g.lanes && i < g.n_lanes; i++) free(g.lanes[i].boxes);
  arena_free(g.arena);
  if (ok && !g.failed) return text_take(&t);
  text_free(&t);
  return NULL;
}

situ_status situ_report_plan_svg(char **out, const situ_plan *plan, const situ_problem *problem, situ_error *error) {
  TRY(report_open(out, NULL, NULL, error));
  TRY(GIVEN(error, plan, problem));
  TRY(plan_belongs(plan, problem, error));
  if (!plan->device) return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "the plan has no placement to draw");
  return report_close(out, plan_svg(plan, problem), error);
}
