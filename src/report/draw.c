#include "report/draw.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

enum { MAX_BYTES = 200 };

static const char style_sheet[] =
    "<style>\n"
    "text{font:12px system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif;fill:#1f2430}\n"
    ".p{fill:#fff}.t{font-size:17px;font-weight:600}.s{fill:#6b7280}.r{text-anchor:end}\n"
    ".m{text-anchor:middle;fill:#6b7280}.e{text-anchor:end;fill:#6b7280;font-size:10px}\n"
    ".v{fill:#d6336c;text-anchor:middle}.l{fill:#f1f3f7}.g{stroke:#d9dde5}.b{stroke:#d6336c;stroke-dasharray:4 3}\n"
    ".k0{fill:#4c78d8}.k1{fill:#f2a541}.k2{fill:#3fa796}.k3{fill:#c85a8e}.k4{fill:#8a6fd1}.k5{fill:#7fb24a}\n"
    ".k6{fill:#d9704f}.k7{fill:#4fb0d9}.k8{fill:#b4bac6}.k9{fill:#3d4658}\n"
    ".x{font-size:10px}.h{fill-opacity:.2}.w{fill:none;stroke:#3d4658;stroke-opacity:.5}.o{stroke-width:1.5}\n"
    "@media(prefers-color-scheme:dark){text{fill:#e6e9ef}.p{fill:#12151c}.s,.m,.e{fill:#9aa3b2}.v{fill:#ff7aa8}\n"
    ".l{fill:#1c212b}.g{stroke:#333a47}.b{stroke:#ff7aa8}.w{stroke:#d5dbe6}.k8{fill:#6b7688}.k9{fill:#d5dbe6}}\n"
    "</style>\n";

void draw_open(text_buffer *t, int width, double height) {
  text_add(
      t,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" width=\"%d\" height=\"%.0f\" role=\"img\">\n"
      "%s<rect class=\"p\" width=\"100%%\" height=\"100%%\"/>\n",
      width, height, width, height, style_sheet);
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
