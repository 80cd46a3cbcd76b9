/* Cost tables as CSV (RFC 4180), converted to the JSON form: docs/formats/costs.md. */
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/hash.h"
#include "cost/cost_models.h"

enum { CSV_COLUMNS = 1 << 12 };

typedef struct csv {
  const char *path;
  arena *arena;
  char *at; /* the rest of the text */
  int64_t line;
  int32_t n_columns, name, kernel; /* indices of columns; -1: absent */
  const char *title[CSV_COLUMNS];  /* NULL for columns that are not times */
  const char *cell[CSV_COLUMNS];   /* of the latest row */
  json_value *operators, *groups;
  string_map *numbers; /* kernel -> its index in `members` */
  json_value **members;
  int32_t n_members;
} csv;

static situ_status bad(const csv *c, const char *text, situ_error *error) {
  return fail_with(error, SITU_STATUS_BAD_INPUT, c->path, "line %lld: %s", (long long)c->line, text);
}

/* Takes the next cell, unquoted in place; *last says whether it ends the row. */
static const char *take_cell(csv *c, bool *last) {
  char *from = c->at, *to = from;
  bool quoted = *from == '"';
  const char *text = from;
  if (quoted) from++;
  while (*from && (quoted || (*from != ',' && *from != '\n'))) {
    if (quoted && *from == '"' && *++from != '"') {
      quoted = false;
      continue;
    }
    c->line += *from == '\n';
    *to++ = *from++;
  }
  *last = *from != ',';
  c->at = *from ? from + 1 : from;
  while (*last && to > text && to[-1] == '\r') to--;
  *to = 0;
  return text;
}

/* Reads a row; *n is its number of cells, 0 at the end of the text. */
static situ_status take_row(csv *c, int32_t *n, situ_error *error) {
  *n = 0;
  c->line++;
  for (bool last = !*c->at; !last;) {
    if (*n == CSV_COLUMNS) return bad(c, "has too many columns", error);
    c->cell[(*n)++] = take_cell(c, &last);
  }
  return SITU_STATUS_OK;
}

static situ_status read_titles(csv *c, situ_error *error) {
  static const char *const others[] = {"operator", "kernel", "kind", "flops", "bytes"};
  TRY(take_row(c, &c->n_columns, error));
  c->name = c->kernel = -1;
  for (int32_t i = 0; i < c->n_columns; i++) {
    c->title[i] = c->cell[i];
    for (int k = 0; k < 5; k++)
      if (strcmp(others[k], c->cell[i]) == 0) c->title[i] = NULL;
    if (strcmp(c->cell[i], others[0]) == 0) c->name = i;
    if (strcmp(c->cell[i], others[1]) == 0) c->kernel = i;
  }
  return c->name >= 0 ? SITU_STATUS_OK
                      : bad(c, "expected the names of the columns, one of which must be operator", error);
}

/* A time in ns. An integer stays an integer, so that it is not rounded. */
static json_value *time_of(const char *cell) {
  double value;
  if (strcmp(cell, "never") == 0) return json_new_null();
  if (cell[0] && strspn(cell, "0123456789") == strlen(cell) && strlen(cell) <= 18) {
    int64_t whole = 0;
    for (; *cell; cell++) whole = 10 * whole + (*cell - '0');
    return json_new_int(whole);
  }
  const char *end = text_scan_number(cell, &value);
  return end && !*end ? json_new_number(value) : json_new_text(cell); /* the reader of the JSON form refuses a text */
}

static json_value *times_of(const csv *c) {
  json_value *times = json_new_object();
  bool ok = times != NULL;
  for (int32_t i = 0; ok && i < c->n_columns; i++)
    if (c->title[i] && c->cell[i][0]) ok = json_set(times, c->title[i], time_of(c->cell[i]));
  return json_if(ok, times);
}

/* Reads a row of a single operator, or of the head of a kernel. Rows of other members come in a second pass. */
static situ_status read_head(csv *c, situ_error *error) {
  const char *name = c->cell[c->name], *kernel = c->kernel >= 0 ? c->cell[c->kernel] : "";
  if (!*kernel) {
    if (json_get(c->operators, name)) return bad(c, "an operator is in the table twice", error);
    return json_set(c->operators, name, times_of(c)) ? SITU_STATUS_OK : fail_no_memory(error);
  }
  if (strcmp(kernel, name) != 0) return SITU_STATUS_OK;
  int64_t there = string_map_put(c->numbers, name, c->n_members);
  if (there < 0) return fail_no_memory(error);
  if (there != c->n_members) return bad(c, "a kernel is in the table twice", error);
  json_value *members = c->members[c->n_members++] = JSON_ARRAY(json_new_text(name));
  bool ok = json_push(c->groups, JSON_OBJECT({"operators", members}, {"times", times_of(c)}));
  return ok ? SITU_STATUS_OK : fail_no_memory(error);
}

static situ_status read_member(csv *c, situ_error *error) {
  const char *name = c->cell[c->name], *kernel = c->kernel >= 0 ? c->cell[c->kernel] : "";
  if (!*kernel || strcmp(kernel, name) == 0) return SITU_STATUS_OK;
  int64_t number = string_map_get(c->numbers, kernel);
  if (number < 0) return bad(c, "the kernel needs a row that names it as both operator and kernel", error);
  return json_push(c->members[number], json_new_text(name)) ? SITU_STATUS_OK : fail_no_memory(error);
}

static situ_status read_rows(csv *c, char *text, int64_t n_lines, situ_error *error) {
  c->members = ARENA_NEW(c->arena, json_value *, n_lines);
  c->numbers = string_map_new(c->arena, n_lines);
  if (!c->members || !c->numbers) return fail_no_memory(error);
  for (int pass = 0; pass < 2; pass++) {
    int32_t n;
    c->at = arena_string(c->arena, text);
    c->line = 0;
    if (!c->at) return fail_no_memory(error);
    TRY(read_titles(c, error));
    for (;;) {
      TRY(take_row(c, &n, error));
      if (n == 0) break;
      if (n == 1 && !c->cell[0][0]) continue; /* an empty line */
      if (n != c->n_columns) return bad(c, "has a different number of cells from the first line", error);
      TRY(pass == 0 ? read_head(c, error) : read_member(c, error));
    }
  }
  return SITU_STATUS_OK;
}

situ_status cost_csv_read(json_value **out, const char *path, situ_error *error) {
  file_view file;
  TRY(file_open_text(&file, path, error));
  arena *a = arena_new();
  csv *c = a ? ARENA_ZERO(a, csv, 1) : NULL;
  char *text = c ? arena_string_n(a, (const char *)file.bytes, file.size_bytes) : NULL;
  json_value *root = json_new_object();
  situ_status status = fail_no_memory(error);
  *out = root;
  if (text && root) {
    int64_t n_lines = 1;
    for (size_t i = 0; i < file.size_bytes; i++) n_lines += file.bytes[i] == '\n';
    *c = (csv){.path = path, .arena = a, .operators = json_new_object(), .groups = json_new_array()};
    bool ok = json_set(root, "situ_costs", json_new_int(1)) && json_set(root, "unit", json_new_text("ns"));
    ok = json_set(root, "operators", c->operators) && ok;
    ok = json_set(root, "groups", c->groups) && ok;
    if (ok) status = read_rows(c, text, n_lines, error);
  }
  arena_free(a);
  file_close(&file);
  return status;
}
