#include "platform/platform_fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/format.h"
#include "platform/platform.h"

situ_status fields_fail(situ_error *error, const char *where, const char *place, const char *format, ...) {
  char spot[256], text[400];
  snprintf(spot, sizeof spot, "%.160s: %.90s", where, place);
  FORMAT_INTO(text, format);
  return fail_with(error, SITU_STATUS_BAD_INPUT, spot, "%s", text);
}

static const field *find_field(const field *fields, int n_fields, const char *key) {
  for (int i = 0; i < n_fields; i++)
    if (strcmp(fields[i].key, key) == 0) return &fields[i];
  return NULL;
}

static void set_absent(void *into, const field *f) {
  char *at = (char *)into + f->offset;
  if (f->kind == FIELD_TEXT || f->kind == FIELD_TREE)
    *(const void **)at = NULL;
  else if (f->kind == FIELD_RATE)
    *(double *)at = 0.0;
  else
    *(int64_t *)at = -1;
}

/* Reads one value; false when it does not fit its kind. */
static bool set_value(void *into, const field *f, const json_value *v) {
  char *at = (char *)into + f->offset;
  bool number = json_kind_of(v) == JSON_INT || json_kind_of(v) == JSON_NUMBER;
  double scaled = json_number(v, -1.0) * f->scale;
  switch (f->kind) {
    case FIELD_TEXT: {
      const char *text = json_text(v, "");
      *(const char **)at = text;
      return text[0] != '\0';
    }
    case FIELD_BOOL: *(int64_t *)at = json_bool(v, false); return json_kind_of(v) == JSON_BOOL;
    case FIELD_WHOLE: *(int64_t *)at = json_int(v, -1); return number && *(int64_t *)at >= f->min;
    case FIELD_TIMES:
      if (!number || !isfinite(scaled) || scaled < 0.0) return false;
      *(int64_t *)at = sat_round(scaled);
      return *(int64_t *)at < INT64_MAX;
    case FIELD_RATE: *(double *)at = scaled; return number && scaled > 0.0 && scaled <= PLATFORM_MAX_RATE;
    case FIELD_TREE: *(const json_value **)at = v; return true;
  }
  return false;
}

static situ_status wrong_value(const field *f, const char *where, const char *place, situ_error *error) {
  if (f->kind == FIELD_WHOLE)
    return fields_fail(error, where, place, "\"%s\" must be a whole number, at least %lld", f->key, (long long)f->min);
  static const char *const expected[] = {[FIELD_TEXT] = "a text that is not empty",
                                         [FIELD_BOOL] = "true or false",
                                         [FIELD_TIMES] = "a number of at least 0 whose value fits 63 bits",
                                         [FIELD_RATE] = "a number above 0, at most 1e18 per second",
                                         [FIELD_TREE] = "a value"};
  return fields_fail(error, where, place, "\"%s\" must be %s", f->key, expected[f->kind]);
}

static situ_status unknown_key(const field *fields, int n_fields, const char *key, const char *where, const char *place,
                               situ_error *error) {
  char known[320] = "";
  for (int i = 0, n = 0; i < n_fields && n >= 0 && n < (int)sizeof known; i++)
    n += snprintf(known + n, sizeof known - (size_t)n, "%s%s", i ? ", " : "", fields[i].key);
  return fields_fail(error, where, place, "\"%.40s\" is not a key here; the keys are %s", key, known);
}

situ_status fields_read(void *into, const json_value *object, const field *fields, int n_fields, const char *where,
                        const char *place, situ_error *error) {
  for (int i = 0; i < n_fields; i++) set_absent(into, &fields[i]);
  if (json_kind_of(object) != JSON_OBJECT_KIND) return fields_fail(error, where, place, "must be an object");
  json_member member = {0};
  while (json_next(object, &member)) {
    const field *f = find_field(fields, n_fields, member.key);
    if (!f) return unknown_key(fields, n_fields, member.key, where, place, error);
    for (int i = 0; i < n_fields; i++)
      if (&fields[i] != f && fields[i].offset == f->offset && json_get(object, fields[i].key))
        return fields_fail(error, where, place, "\"%s\" and \"%s\" give the same value in two units; keep only one",
                           f->key, fields[i].key);
    if (!set_value(into, f, member.value)) return wrong_value(f, where, place, error);
  }
  return SITU_STATUS_OK;
}
