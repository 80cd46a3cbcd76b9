/* report/fields.h - what a report says to people and to programs, once: a field is a member of a JSON object, a cell of
 * a table, or both. */
#ifndef SITU_REPORT_FIELDS_H
#define SITU_REPORT_FIELDS_H

#include "base/json.h"
#include "report/table.h"

/* The meaning of a value: its type in JSON, and how a table shows it; texts and bools are on the left, numbers on the
 * right. */
typedef enum field_kind {
  AS_TEXT = 0,   /* .text, null for NULL */
  AS_NAME,       /* the same, in bold */
  AS_PROSE,      /* the same, broken at blanks where the table is too wide */
  AS_BOOL,       /* .n; "yes" or nothing */
  AS_COUNT,      /* .n; "1,234" */
  AS_INDEX,      /* .n, null if negative; "1234" */
  AS_TIME,       /* .n, null if INT64_MAX; "1.23400 ms" */
  AS_ROUGH_TIME, /* likewise; "1.23 ms" */
  AS_BYTES,      /* likewise; "1.23 MB" */
  AS_NUMBER,     /* .x, null if it is not finite; "1.23" */
  AS_AMOUNT,     /* .x, null unless positive; "1.23 G" */
  AS_RATE,       /* likewise; "1.23 GB/s" */
  AS_RATIO,      /* .x; "1.23x", nothing if it is not finite */
  AS_PERCENT,    /* .x, a share; "12.3 %" */
  AS_CHANGE,     /* likewise; "+12.3 %" */
  AS_TREE        /* .tree, which is taken over; NULL is a failure. Only in JSON */
} field_kind;

typedef struct field {
  const char *key; /* NULL: only in tables */
  field_kind kind;
  const char *title; /* of the column; NULL: only in JSON */
  const char *text;
  int64_t n;
  double x;
  json_value *tree;
  const char *shown; /* what a table shows instead of the value, or NULL */
  style style;
  int32_t max; /* of the width of the column; 0: no limit */
  bool skip;   /* neither a member nor a column */
} field;

/* Sets the members of an object: FIELDS(o, {"model", .text = name}, {"threads", AS_COUNT, .n = 3}). False without
 * memory, or if `object` is NULL. */
#define FIELDS(object, ...) fields_set((object), FIELD_LIST(__VA_ARGS__))
/* A new object; NULL without memory. */
#define OBJECT(...) fields_object(FIELD_LIST(__VA_ARGS__))
#define FIELD_LIST(...) (const field[]){__VA_ARGS__}, sizeof((const field[]){__VA_ARGS__}) / sizeof(field)
bool fields_set(json_value *object, const field *fields, size_t n);
json_value *fields_object(const field *fields, size_t n);

/* Rows of one kind: a list of objects in JSON, or a table. */
typedef struct row_list {
  json_value *list; /* NULL in a table */
  table table;
  bool blank; /* there is no further row: the next one only names the columns, if nothing has yet */
  bool failed;
} row_list;
#define ROW(rows, ...) rows_add((rows), FIELD_LIST(__VA_ARGS__))
void rows_add(row_list *r, const field *fields, size_t n);

/* Adds all rows of a report. */
typedef void rows_maker(row_list *r, const void *report);
/* NULL without memory. */
json_value *rows_json(rows_maker *add, const void *report);
void rows_text(text_buffer *t, rows_maker *add, const void *report, const situ_report_options *options);

/* NULL for an empty text. */
static inline const char *text_or_null(const char *text) { return *text ? text : NULL; }

#endif
