#include "report/fields.h"

#include <math.h>

#include "base/c_locale.h"

static json_value *field_json(const field *f) {
  switch (f->kind) {
    case AS_TEXT:
    case AS_NAME:
    case AS_PROSE: return json_new_text(f->text);
    case AS_BOOL: return json_new_bool(f->n);
    case AS_COUNT: return json_new_int(f->n);
    case AS_INDEX: return f->n < 0 ? json_new_null() : json_new_int(f->n);
    case AS_TIME:
    case AS_ROUGH_TIME:
    case AS_BYTES: return f->n == INT64_MAX ? json_new_null() : json_new_int(f->n);
    case AS_AMOUNT:
    case AS_RATE: return f->x > 0 ? json_new_number(f->x) : json_new_null();
    case AS_TREE: return f->tree;
    default: return json_new_number(f->x);
  }
}

bool fields_set(json_value *object, const field *fields, size_t n) {
  bool ok = true;
  for (size_t i = 0; i < n; i++)
    if (fields[i].key && !fields[i].skip) ok &= json_set(object, fields[i].key, field_json(&fields[i]));
  return ok;
}

json_value *fields_object(const field *fields, size_t n) {
  json_value *o = json_new_object();
  return json_if(fields_set(o, fields, n), o);
}

static const char *field_text(char into[TEXT_UNIT_BYTES], const field *f) {
  char size[TEXT_UNIT_BYTES];
  if (f->shown) return f->shown;
  switch (f->kind) {
    case AS_BOOL: return f->n ? "yes" : "";
    case AS_COUNT: return grouped(into, f->n);
    case AS_INDEX: c_locale_print(into, TEXT_UNIT_BYTES, "%lld", (long long)f->n); break;
    case AS_TIME: return exact_time(into, f->n);
    case AS_ROUGH_TIME: return text_time(into, f->n);
    case AS_BYTES: return text_size(into, f->n);
    case AS_NUMBER: c_locale_print(into, TEXT_UNIT_BYTES, "%.2f", f->x); break;
    case AS_AMOUNT: return f->x > 0 ? text_count(into, f->x) : "-";
    case AS_RATE: c_locale_print(into, TEXT_UNIT_BYTES, "%s/s", text_size(size, (int64_t)f->x)); break;
    case AS_RATIO:
      if (!isfinite(f->x)) return "";
      c_locale_print(into, TEXT_UNIT_BYTES, "%.2fx", f->x);
      break;
    case AS_PERCENT: return percent_text(into, f->x);
    case AS_CHANGE: c_locale_print(into, TEXT_UNIT_BYTES, "%+.1f %%", 100 * f->x); break;
    default: return f->text;
  }
  return into;
}

static style field_style(const field *f) {
  return f->style != STYLE_PLAIN ? f->style
         : f->kind == AS_NAME    ? STYLE_BOLD
         : f->kind == AS_BOOL    ? STYLE_GOOD
                                 : STYLE_PLAIN;
}

void rows_add(row_list *r, const field *fields, size_t n) {
  char text[TEXT_UNIT_BYTES];
  if (r->list) {
    for (size_t i = 0; i < n && r->blank; i++)
      if (fields[i].kind == AS_TREE) json_free(fields[i].tree); /* it is taken over */
    r->failed |= !r->blank && !json_push(r->list, fields_object(fields, n));
    return;
  }
  bool first = r->table.n_columns == 0;
  for (size_t i = 0; i < n && first; i++) {
    const field *f = &fields[i];
    align a = f->kind == AS_PROSE ? ALIGN_PROSE : f->kind <= AS_BOOL ? ALIGN_LEFT : ALIGN_RIGHT;
    if (f->title && !f->skip) table_column(&r->table, f->title, a, f->max);
  }
  for (size_t i = 0; i < n && !r->blank; i++)
    if (fields[i].title && !fields[i].skip)
      table_cell(&r->table, field_style(&fields[i]), field_text(text, &fields[i]));
}

json_value *rows_json(rows_maker *add, const void *report) {
  row_list r = {.list = json_new_array()};
  if (r.list) add(&r, report);
  return json_if(!r.failed, r.list);
}

void rows_text(text_buffer *t, rows_maker *add, const void *report, const situ_report_options *options) {
  row_list r = {.list = NULL};
  if (table_start(&r.table)) {
    add(&r, report);
    table_render(t, &r.table, options);
  } else {
    t->failed = true;
  }
  table_stop(&r.table);
}
