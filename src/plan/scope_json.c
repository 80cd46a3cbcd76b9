#include "plan/scope_json.h"

#include <stdlib.h>
#include <string.h>

/* The form 1 << index. */
static const char *const form_names[] = {"layers",     "experts", "spill", "blocks",     "runs",      "ends", "head",
                                         "host-first", "no-host", "names", "one-server", "one-group", "alike"};
enum { FORMS = sizeof form_names / sizeof *form_names };

static bool add_row(json_value *list, const scope *s, scope_code code) {
  text_buffer t = {0};
  scope_add_words(&t, s, code);
  char *words = text_take(&t);
  bool ok = json_push(
      list, JSON_OBJECT({"code", json_new_text(scope_name(code))}, {"narrows", json_new_bool(scope_narrows(code))},
                        {"words", words ? json_new_text(words) : NULL}));
  free(words);
  return ok;
}

json_value *scope_to_json(const scope *s) {
  json_value *list = json_new_array();
  bool ok = list != NULL;
  for (int k = 0; ok && k < SCOPE_CODES; k++)
    if (s->amount[k] > 0) ok = add_row(list, s, (scope_code)k);
  return json_if(ok, list);
}

json_value *form_to_json(int32_t form) {
  json_value *list = json_new_array();
  bool ok = list != NULL;
  for (int k = 0; ok && k < FORMS; k++)
    if (form >> k & 1) ok = json_push(list, json_new_text(form_names[k]));
  return json_if(ok, list);
}

bool form_from_json(int32_t *out, const json_value *list) {
  if (json_kind_of(list) != JSON_ARRAY_KIND) return false;
  *out = 0;
  for (size_t i = 0; i < json_size(list); i++) {
    int k = 0;
    while (k < FORMS && strcmp(json_text(json_at(list, i), ""), form_names[k]) != 0) k++;
    if (k == FORMS) return false;
    *out |= 1 << k;
  }
  return true;
}
