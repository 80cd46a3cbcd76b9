#include "report/draw.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/hash.h"
#include "report/report.h"

enum { MAX_BYTES = 200 };

/* Eight colours that people of every colour vision can tell apart (Okabe and Ito, "Color Universal Design", 2008), and
 * two greys, all of which can be seen on light and on dark. */
const char *const draw_colours[DRAW_COLOURS] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9",
                                                "#d55e00", "#b8a900", "#7a6bd1", "#9aa3b2", "#6b7488"};

/* The colour of a kind in every picture where no kind that takes more time has it. */
static int32_t own_colour(const char *kind) { return (int32_t)(hash_bytes(kind, strlen(kind), 0) % DRAW_OTHER); }

bool draw_kind_colours(int32_t **out, const situ_plan *plan, arena *a) {
  const situ_problem *p = plan->problem;
  const situ_graph *graph = p->graph;
  int64_t *time;
  int32_t *colour;
  bool taken[DRAW_OTHER] = {false};
  if (!ARENA_ARRAYS(a, ZEROS(time, graph->n_kinds), ARRAY(colour, graph->n_kinds))) return false;
  for (int32_t k = 0; k < graph->n_kinds; k++) colour[k] = DRAW_OTHER;
  for (int32_t v = 0; v < graph->n_operators; v++) {
    int64_t t = problem_time_ns(p, v, situ_plan_device(plan, v));
    time[graph->kind[v]] = sat_add(time[graph->kind[v]], t);
  }
  for (int rank = 0; rank < DRAW_OTHER; rank++) {
    int32_t longest = -1;
    for (int32_t k = 0; k < graph->n_kinds; k++)
      if (colour[k] == DRAW_OTHER && time[k] > 0 && (longest < 0 || time[k] > time[longest])) longest = k;
    if (longest < 0) break;
    int32_t c = own_colour(graph->kind_name[longest]);
    while (taken[c]) c = (c + 1) % DRAW_OTHER;
    taken[c] = true;
    colour[longest] = c;
  }
  *out = colour;
  return true;
}

void draw_device_colours(int32_t *colour, const situ_plan *plan) {
  for (int32_t d = 0, used = 0; d < plan->problem->n_devices; d++)
    colour[d] = plan_use(plan, d).n_operators > 0 ? used++ % DRAW_OTHER : DRAW_OTHER;
}

static const char style_sheet[] =
    "<style>\n"
    "text{font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:#1f2430}\n"
    ".p{fill:#fff}.t{font-size:17px;font-weight:600}.s{fill:#6b7280}.r{text-anchor:end}\n"
    ".m{text-anchor:middle;fill:#6b7280}.e{text-anchor:end;fill:#6b7280;font-size:10px}\n"
    ".v{fill:#d6336c;text-anchor:middle}.l{fill:#f1f3f7}.g{stroke:#d9dde5}.b{stroke:#d6336c;stroke-dasharray:4 3}\n"
    ".x{font-size:10px}.h{fill-opacity:.2}.w{fill:none;stroke:#3d4658;stroke-opacity:.5}.o{stroke-width:1.5}\n"
    "@media(prefers-color-scheme:dark){text{fill:#e6e9ef}.p{fill:#12151c}.s,.m,.e{fill:#9aa3b2}.v{fill:#ff7aa8}\n"
    ".l{fill:#1c212b}.g{stroke:#333a47}.b{stroke:#ff7aa8}.w{stroke:#d5dbe6}}\n";

void draw_open(text_buffer *t, int width, double height, const situ_problem *p, double y, const char *line) {
  char title[256];
  snprintf(title, sizeof title, "%.120s on %.120s", p->graph->model, p->platform->name);
  text_add(t,
           "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" "
           "role=\"img\">\n%s",
           width, height, width, height, style_sheet);
  for (int c = 0; c < DRAW_COLOURS; c++) text_add(t, ".k%d{fill:%s}", c, draw_colours[c]);
  text_add(t, "\n</style>\n<rect class=\"p\" width=\"100%%\" height=\"100%%\"/>\n");
  draw_text(t, 20, y, "t", title);
  draw_text(t, 20, y + 20, "s", line);
}

void draw_escaped(text_buffer *t, const char *text) {
  size_t n;
  for (size_t i = 0; text[i]; i += n ? n : 1) {
    const unsigned char *c = (const unsigned char *)text + i;
    n = text_printable(text + i);
    if (i > MAX_BYTES) {
      text_add(t, "\xe2\x80\xa6");
      return;
    }
    if (*c == '<' || *c == '>' || *c == '&' || *c == '"')
      text_add(t, "&#%d;", *c);
    else if (n == 0 || (n == 3 && *c == 0xef && c[1] == 0xbf && c[2] >= 0xbe)) /* what XML 1.0 has not */
      text_add(t, "?");
    else
      text_add_bytes(t, text + i, n);
  }
}

void draw_scope(text_buffer *t, const situ_problem *problem, int32_t form) {
  char *plans = report_scope_text(problem, form);
  text_add(t, "<text class=\"s\" x=\"20\" y=\"66\">among");
  for (const char *at = plans ? plans : ""; *at;) { /* word by word: nothing of it is cut */
    size_t n = strcspn(at, " ");
    char word[MAX_BYTES];
    snprintf(word, sizeof word, " %.*s", (int)n, at);
    draw_escaped(t, word);
    at += n + (at[n] == ' ');
  }
  text_add(t, "</text>\n");
  t->failed |= !plans;
  free(plans);
}

void draw_text(text_buffer *t, double x, double y, const char *class_name, const char *text) {
  text_add(t, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class_name, x, y);
  draw_escaped(t, text);
  text_add(t, "</text>\n");
}
