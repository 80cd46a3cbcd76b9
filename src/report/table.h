/* report/table.h - tables for terminals, styles, and number formats. */
#ifndef SITU_REPORT_TABLE_H
#define SITU_REPORT_TABLE_H

#include "base/arena.h"
#include "base/text.h"
#include "situ/report.h"

/* The meaning of a cell or a word, which determines its colour. */
typedef enum style { STYLE_PLAIN = 0, STYLE_BOLD, STYLE_DIM, STYLE_GOOD, STYLE_WARN, STYLE_BAD, STYLE_ACCENT } style;

/* `text` in that style. */
void style_add(text_buffer *t, const situ_report_options *options, style s, const char *text);

/* ALIGN_PROSE: to the left, and broken at blanks where the table would be wider than a terminal of known width. */
typedef enum align { ALIGN_LEFT = 0, ALIGN_RIGHT, ALIGN_PROSE } align;
enum { TABLE_MAX_COLUMNS = 12 };

/* A table that is filled cell by cell, row after row, then printed with columns as wide as their widest cell. */
typedef struct table {
  arena *arena;
  int32_t n_columns;
  struct {
    const char *title;
    align align;
    int32_t max; /* maximum width; longer cells are truncated with a mark; 0: no limit */
  } columns[TABLE_MAX_COLUMNS];
  int64_t n_cells, capacity;
  struct table_cell {
    const char *text;
    style style;
  } * cells;
  bool failed; /* memory ran out */
} table;

bool table_start(table *t);
void table_stop(table *t);
void table_column(table *t, const char *title, align a, int32_t max);
/* The next cell; NULL is an empty one. */
void table_cell(table *t, style s, const char *text);
/* Renders with a header line, an indentation of two spaces and two spaces between columns; if that is wider than the
 * terminal, prose columns shrink first. */
void table_render(text_buffer *out, const table *t, const situ_report_options *options);

/* Facts below a table, a line each: "  label   text", labels padded to `columns`. */
typedef struct fact_lines {
  text_buffer *t;
  const situ_report_options *options;
  int columns;
} fact_lines;
/* The beginning of a line, whose rest the caller adds; a whole line: FACT(&f, "rate", "%s/s", size); a line broken at
 * blanks, of words that are then freed (NULL: memory ran out). */
void fact_start(const fact_lines *f, const char *label);
#define FACT(facts, label, ...) \
  (fact_start((facts), (label)), text_add((facts)->t, __VA_ARGS__), text_add((facts)->t, "\n"))
void fact_wrapped(const fact_lines *f, const char *label, char *words);

/* A bar of at most `columns` for a share of 0 .. 1, in eighths of a column, or in '#'. */
const char *bar_text(char *into, size_t n, double share, int columns, const situ_report_options *options);

/* A time with six significant digits: "17.7899 ms", "10.0000 us"; whole below a microsecond. */
const char *exact_time(char into[TEXT_UNIT_BYTES], int64_t time_ns);
/* Inputs a second with six significant digits: "376.890"; 0 for none. */
const char *exact_rate(char into[TEXT_UNIT_BYTES], int32_t n_inputs, int64_t time_ns);
/* The same without trailing zeros: "10 us". */
const char *round_time(char into[TEXT_UNIT_BYTES], int64_t time_ns);
/* 1234567 -> "1,234,567". */
const char *grouped(char into[TEXT_UNIT_BYTES], int64_t count);
/* A share as "5.4 %", "0 %" only when it is 0. */
const char *percent_text(char into[TEXT_UNIT_BYTES], double share);

/* Adds a paragraph, broken at blanks to the width, each line after `first` or `rest`. */
void text_add_wrapped(text_buffer *t, const char *text, const char *first, const char *rest, int32_t width);
/* Adds text from a file: control characters and bytes that are not UTF-8 become '?'. */
void text_add_clean(text_buffer *t, const char *text);

static inline int32_t report_width(const situ_report_options *o) {
  return !o || o->width <= 0 ? 80 : o->width < 40 ? 40 : o->width > 200 ? 200 : o->width;
}

#endif
