#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "situ/types.h"

static const char *const style_code[] = {
    [STYLE_PLAIN] = "",        [STYLE_BOLD] = "\033[1m", [STYLE_DIM] = "\033[2m",     [STYLE_GOOD] = "\033[32m",
    [STYLE_WARN] = "\033[33m", [STYLE_BAD] = "\033[31m", [STYLE_ACCENT] = "\033[36m",
};

static void style_start(text_buffer *t, const situ_report_options *options, style s) {
  if (options && options->colour && s != STYLE_PLAIN) text_add_bytes(t, style_code[s], strlen(style_code[s]));
}

static void style_end(text_buffer *t, const situ_report_options *options, style s) {
  if (options && options->colour && s != STYLE_PLAIN) text_add_bytes(t, "\033[0m", 4);
}

void style_add(text_buffer *t, const situ_report_options *options, style s, const char *text) {
  style_start(t, options, s);
  text_add_clean(t, text);
  style_end(t, options, s);
}

void text_add_clean(text_buffer *t, const char *text) {
  for (size_t n; *text; text += n ? n : 1) {
    n = text_printable(text);
    text_add_bytes(t, n ? text : "?", n ? n : 1);
  }
}

bool table_start(table *t) {
  *t = (table){.arena = arena_new()};
  return t->arena != NULL;
}

void table_stop(table *t) {
  arena_free(t->arena);
  free(t->cells);
}

void table_column(table *t, const char *title, align a, int32_t max) {
  if (t->n_columns == TABLE_MAX_COLUMNS) return;
  t->columns[t->n_columns].title = title;
  t->columns[t->n_columns].align = a;
  t->columns[t->n_columns++].max = max;
}

/* Cuts a text to `max` columns with a mark at its end. */
static const char *cut(arena *a, const char *text, int32_t max) {
  if (max <= 0 || text_columns(text) <= (size_t)max) return arena_string(a, text);
  size_t n = text_bytes(text, max > 2 ? (size_t)max - 2 : 0);
  char *out = arena_alloc(a, (int64_t)n + 3, 1);
  if (!out) return NULL;
  memcpy(out, text, n);
  memcpy(out + n, "..", 3);
  return out;
}

void table_cell(table *t, style s, const char *text) {
  if (t->n_cells == t->capacity) {
    int64_t capacity = t->capacity ? t->capacity * 2 : 64;
    struct table_cell *cells = realloc(t->cells, (size_t)capacity * sizeof *cells);
    if (!cells) {
      t->failed = true;
      return;
    }
    t->cells = cells;
    t->capacity = capacity;
  }
  const char *copy = cut(t->arena, text ? text : "", t->columns[t->n_cells % t->n_columns].max);
  t->failed |= !copy;
  t->cells[t->n_cells++] = (struct table_cell){copy ? copy : "", s};
}

static void pad(text_buffer *out, size_t n) {
  for (; n > 0; n--) text_add_bytes(out, " ", 1);
}

static void add_cell(text_buffer *out, const table *t, const situ_report_options *o, int32_t column, const char *text,
                     style s, size_t width) {
  size_t wide = text_columns(text), missing = width > wide ? width - wide : 0;
  bool last = column == t->n_columns - 1;
  pad(out, 2);
  if (t->columns[column].align == ALIGN_RIGHT) pad(out, missing);
  if (*text) style_add(out, o, s, text);
  if (t->columns[column].align != ALIGN_RIGHT && !last) pad(out, missing);
}

/* Takes off the blanks that empty cells leave at the end of a line. */
static void trim(text_buffer *out) {
  while (out->length > 0 && out->bytes[out->length - 1] == ' ') out->bytes[--out->length] = '\0';
}

/* How narrow prose may become, which no title of it is wider than. */
enum { MIN_PROSE = 12 };

/* Narrows the widest prose, column by column, until the table fits a terminal of known width, or none can give way. */
static void fit(size_t *width, const table *t, const situ_report_options *options) {
  if (!options || options->width <= 0) return;
  size_t used = 0;
  for (int32_t c = 0; c < t->n_columns; c++) used += width[c] + 2;
  for (; used > (size_t)options->width; used--) {
    int32_t widest = -1;
    for (int32_t c = 0; c < t->n_columns; c++)
      if (t->columns[c].align == ALIGN_PROSE && (widest < 0 || width[c] > width[widest])) widest = c;
    if (widest < 0 || width[widest] <= MIN_PROSE) return;
    width[widest]--;
  }
}

/* The bytes of `text` that go into a line of `width` columns: up to its last blank there, else as many as fit. */
static size_t line_bytes(const char *text, size_t width) {
  size_t end = text_bytes(text, width), blank = end;
  while (blank > 0 && text[blank] && text[blank] != ' ') blank--;
  return blank > 0 ? blank : end;
}

/* Prints a row, in several lines where prose is broken. `left` is what is still to be printed of each cell. */
static void add_row(text_buffer *out, const table *t, const struct table_cell *cells, const size_t *width,
                    const situ_report_options *options) {
  const char *left[TABLE_MAX_COLUMNS];
  for (int32_t c = 0; c < t->n_columns; c++) left[c] = cells[c].text;
  for (bool more = true; more;) {
    more = false;
    for (int32_t c = 0; c < t->n_columns; c++) {
      bool prose = t->columns[c].align == ALIGN_PROSE;
      size_t n = prose ? line_bytes(left[c], width[c]) : strlen(left[c]);
      const char *line = arena_string_n(t->arena, left[c], n);
      out->failed |= !line;
      if (!line) return;
      add_cell(out, t, options, c, line, cells[c].style, width[c]);
      left[c] += n;
      if (prose) left[c] += strspn(left[c], " ");
      more |= *left[c] != '\0';
    }
    trim(out);
    text_add_bytes(out, "\n", 1);
  }
}

void table_render(text_buffer *out, const table *t, const situ_report_options *options) {
  size_t width[TABLE_MAX_COLUMNS];
  struct table_cell titles[TABLE_MAX_COLUMNS];
  for (int32_t c = 0; c < t->n_columns; c++) {
    titles[c] = (struct table_cell){t->columns[c].title, STYLE_DIM};
    width[c] = text_columns(titles[c].text);
  }
  for (int64_t i = 0; i < t->n_cells; i++) {
    size_t w = text_columns(t->cells[i].text);
    if (w > width[i % t->n_columns]) width[i % t->n_columns] = w;
  }
  fit(width, t, options);
  add_row(out, t, titles, width, options);
  for (int64_t i = 0; i + t->n_columns <= t->n_cells; i += t->n_columns) add_row(out, t, &t->cells[i], width, options);
  out->failed |= t->failed;
}

void fact_start(const fact_lines *f, const char *label) {
  pad(f->t, 2);
  style_add(f->t, f->options, STYLE_DIM, label);
  int missing = f->columns - (int)text_columns(label);
  pad(f->t, missing > 0 ? (size_t)missing + 2 : 2);
}

void fact_wrapped(const fact_lines *f, const char *label, char *words) {
  char first[64], rest[64];
  snprintf(first, sizeof first, "  %-*s  ", f->columns, label);
  snprintf(rest, sizeof rest, "  %-*s  ", f->columns, "");
  if (words) text_add_wrapped(f->t, words, first, rest, report_width(f->options));
  f->t->failed |= !words;
  free(words);
}

const char *bar_text(char *into, size_t n, double share, int columns, const situ_report_options *options) {
  static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  share = share < 0 ? 0 : share > 1 ? 1 : share;
  bool fine = options && options->unicode;
  int units = (int)floor(share * columns * (fine ? 8 : 1) + 0.5);
  if (units == 0 && share > 0 && columns > 0) units = 1;
  int whole = fine ? units / 8 : units;
  const char *full = fine ? "█" : "#";
  size_t used = 0;
  into[0] = '\0';
  for (int i = 0; i < whole && used + 4 < n; i++) used += (size_t)snprintf(into + used, n - used, "%s", full);
  if (fine && used + 4 < n) snprintf(into + used, n - used, "%s", eighths[units % 8]);
  return into;
}

static const char *six_digits(char into[TEXT_UNIT_BYTES], int64_t time_ns, bool zeros) {
  if (time_ns == SITU_NEVER_NS) return strcpy(into, "never");
  double t = (double)time_ns, size = t >= 1e9 ? 1e9 : t >= 1e6 ? 1e6 : t >= 1e3 ? 1e3 : 1;
  const char *unit = t >= 1e9 ? "s" : t >= 1e6 ? "ms" : t >= 1e3 ? "us" : "ns";
  if (size == 1 || t / size >= 1e5)
    c_locale_print(into, TEXT_UNIT_BYTES, "%.0f %s", t / size, unit);
  else if (zeros)
    c_locale_print(into, TEXT_UNIT_BYTES, "%#.6g %s", t / size, unit);
  else
    c_locale_print(into, TEXT_UNIT_BYTES, "%.6g %s", t / size, unit);
  return into;
}

const char *exact_time(char into[TEXT_UNIT_BYTES], int64_t time_ns) { return six_digits(into, time_ns, true); }
const char *round_time(char into[TEXT_UNIT_BYTES], int64_t time_ns) { return six_digits(into, time_ns, false); }

const char *exact_rate(char into[TEXT_UNIT_BYTES], int32_t n_inputs, int64_t time_ns) {
  double rate = time_ns > 0 ? 1e9 * n_inputs / (double)time_ns : 0;
  c_locale_print(into, TEXT_UNIT_BYTES, rate >= 1e5 || rate == 0 ? "%.0f" : "%#.6g", rate);
  return into;
}

const char *grouped(char into[TEXT_UNIT_BYTES], int64_t count) {
  char digits[TEXT_UNIT_BYTES];
  int n = snprintf(digits, sizeof digits, "%lld", (long long)count), used = 0;
  for (int i = 0; i < n; i++) {
    into[used++] = digits[i];
    if ((n - 1 - i) % 3 == 0 && i < n - 1 && digits[i] != '-') into[used++] = ',';
  }
  into[used] = '\0';
  return into;
}

const char *percent_text(char into[TEXT_UNIT_BYTES], double share) {
  double percent = share * 100;
  if (percent == 0) return strcpy(into, "0 %");
  if (percent < 0.01) return strcpy(into, "< 0.01 %");
  c_locale_print(into, TEXT_UNIT_BYTES, percent < 1 ? "%.2f %%" : percent < 99.95 ? "%.1f %%" : "%.0f %%", percent);
  return into;
}

void text_add_wrapped(text_buffer *t, const char *text, const char *first, const char *rest, int32_t width) {
  text_add(t, "%s", first);
  int32_t column = (int32_t)text_columns(first);
  bool start = true;
  while (*text) {
    size_t n = strcspn(text, " ");
    char word[256];
    snprintf(word, sizeof word, "%.*s", (int)(n < 255 ? n : 255), text);
    int32_t wide = (int32_t)text_columns(word);
    if (!start && column + 1 + wide > width) {
      text_add(t, "\n%s", rest);
      column = (int32_t)text_columns(rest);
      start = true;
    }
    if (!start) text_add_bytes(t, " ", 1);
    column += wide + !start;
    text_add_clean(t, word);
    start = false;
    text += n < 255 ? n : 255;
    while (*text == ' ') text++;
  }
  text_add_bytes(t, "\n", 1);
}
