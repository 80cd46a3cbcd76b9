#include "base/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/contracts.h"

/* A json_value is a json_t seen through a door that does not show it. */
static json_t *inner(const json_value *v) { return (json_t *)(uintptr_t)v; }
static json_value *outer(const json_t *v) { return (json_value *)(uintptr_t)v; }

void json_free(json_value *root) { json_decref(inner(root)); }

json_kind json_kind_of(const json_value *v) {
  if (!v) return JSON_NONE;
  switch (json_typeof(inner(v))) {
    case JSON_OBJECT: return JSON_OBJECT_KIND;
    case JSON_ARRAY: return JSON_ARRAY_KIND;
    case JSON_STRING: return JSON_TEXT;
    case JSON_INTEGER: return JSON_INT;
    case JSON_REAL: return JSON_NUMBER;
    case JSON_TRUE:
    case JSON_FALSE: return JSON_BOOL;
    case JSON_NULL: return JSON_NULL_KIND;
  }
  return JSON_NONE;
}

size_t json_size(const json_value *v) {
  const json_t *t = inner(v);
  return json_is_array(t) ? json_array_size(t) : json_object_size(t);
}

const json_value *json_at(const json_value *array, size_t index) { return outer(json_array_get(inner(array), index)); }
const json_value *json_get(const json_value *object, const char *key) {
  return outer(json_object_get(inner(object), key));
}

const char *json_text(const json_value *v, const char *default_value) {
  const json_t *t = inner(v);
  return json_is_string(t) ? json_string_value(t) : default_value;
}

double json_number(const json_value *v, double default_value) {
  const json_t *t = inner(v);
  return json_is_number(t) ? json_number_value(t) : default_value;
}

int64_t json_int(const json_value *v, int64_t default_value) {
  const json_t *t = inner(v);
  if (json_is_integer(t)) return json_integer_value(t);
  if (!json_is_real(t)) return default_value;
  double real = json_real_value(t);
  bool fits = real == floor(real) && fabs(real) < 9223372036854775807.0;
  return fits ? (int64_t)real : default_value;
}

bool json_bool(const json_value *v, bool default_value) {
  const json_t *t = inner(v);
  return json_is_boolean(t) ? json_is_true(t) : default_value;
}

bool json_next(const json_value *object, json_member *member) {
  json_t *t = inner(object);
  member->cursor = member->cursor ? json_object_iter_next(t, member->cursor) : json_object_iter(t);
  if (!member->cursor) return false;
  member->key = json_object_iter_key(member->cursor);
  member->value = outer(json_object_iter_value(member->cursor));
  return true;
}

json_value *json_new_object(void) { return outer(json_object()); }
json_value *json_new_array(void) { return outer(json_array()); }
json_value *json_new_int(int64_t value) { return outer(json_integer(value)); }
json_value *json_new_number(double value) { return outer(isfinite(value) ? json_real(value) : json_null()); }
json_value *json_new_bool(bool value) { return outer(json_boolean(value)); }
json_value *json_new_null(void) { return outer(json_null()); }

json_value *json_new_text(const char *text) {
  if (!text) return json_new_null();
  json_t *made = json_string(text);
  if (made) return outer(made);
  char *clean = strdup(text);
  if (!clean) return NULL;
  text_make_utf8(clean);
  made = json_string(clean);
  free(clean);
  return outer(made);
}

bool json_set(json_value *object, const char *key, json_value *value) {
  return json_object_set_new(inner(object), key, inner(value)) == 0;
}

bool json_push(json_value *array, json_value *value) { return json_array_append_new(inner(array), inner(value)) == 0; }

json_value *json_new_ints(const int64_t *values, int64_t n) {
  json_value *made = json_new_array();
  bool ok = made != NULL;
  for (int64_t i = 0; ok && i < n; i++) ok = json_push(made, json_new_int(values[i]));
  return json_if(ok, made);
}

static const char absent;
json_value *const json_absent = (json_value *)(uintptr_t)&absent;

bool json_set_all(json_value *object, const json_pair *pairs, size_t n) {
  bool ok = object != NULL;
  for (size_t i = 0; i < n; i++)
    if (pairs[i].value != json_absent) ok &= json_set(object, pairs[i].key, pairs[i].value);
  return ok;
}

json_value *json_object_of(const json_pair *pairs, size_t n) {
  json_value *made = json_new_object();
  return json_if(json_set_all(made, pairs, n), made);
}

json_value *json_array_of(json_value *const *values, size_t n) {
  json_value *made = json_new_array();
  bool ok = made != NULL;
  for (size_t i = 0; i < n; i++) ok &= json_push(made, values[i]);
  return json_if(ok, made);
}

static bool is_row(const json_t *t) {
  if (!json_is_array(t)) return false;
  for (size_t i = 0; i < json_array_size(t); i++)
    if (json_is_array(json_array_get(t, i)) || json_is_object(json_array_get(t, i))) return false;
  return true;
}

/* A character of a text that needs no escape. */
static bool is_plain(char c) { return (unsigned char)c >= 0x20 && (unsigned char)c < 0x7f && c != '"' && c != '\\'; }

/* Adds a text in quotes. Escaped is what JSON demands, and control characters that it allows but terminals may obey;
 * bytes that are not UTF-8 become '?'. */
static void print_text(text_buffer *out, const char *text) {
  static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
  text_add_bytes(out, "\"", 1);
  while (*text) {
    size_t n = 0;
    while (is_plain(text[n])) n++;
    text_add_bytes(out, text, n);
    text += n;
    if (!*text) break;
    const unsigned char *c = (const unsigned char *)text;
    const char *known = strchr(from, *text);
    bool high = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0; /* U+0080 to U+009F */
    n = text_character(text);
    if (known)
      text_add(out, "\\%c", to[known - from]);
    else if (c[0] < 0x20)
      text_add(out, "\\u%04X", c[0]);
    else if (c[0] == 0x7f || high)
      text_add(out, "\\u%04x", high ? c[1] : c[0]);
    else
      text_add_bytes(out, n ? text : "?", n ? n : 1);
    text += n ? n : 1;
  }
  text_add_bytes(out, "\"", 1);
}

void json_quote(text_buffer *out, const char *text) {
  if (text)
    print_text(out, text);
  else
    text_add_bytes(out, "null", 4);
}

/* With 17 digits, as the library prints (texts of that form are hashed): 1.0, 0.10000000000000001, 1e300, 1e-7. */
static void print_real(text_buffer *out, double value) {
  char text[40];
  c_locale_print(text, sizeof text, "%.17g", value);
  char *mark = strchr(text, 'e');
  if (mark) {
    char *digit = mark + 2;
    while (*digit == '0') digit++;
    memmove(mark + (mark[1] == '-' ? 2 : 1), digit, strlen(digit) + 1);
  }
  text_add(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

/* The shortest of 15 to 17 digits that gives the same number again: 0.1, not 0.10000000000000001. */
static void print_short(text_buffer *out, double value) {
  char text[40];
  for (int digits = 15; digits <= 17; digits++) {
    c_locale_print(text, sizeof text, "%.*g", digits, value);
    if (c_locale_number(text, NULL) == value) break;
  }
  text_add(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void print_scalar(text_buffer *out, const json_t *t, bool is_short) {
  switch (json_typeof(t)) {
    case JSON_STRING: print_text(out, json_string_value(t)); break;
    case JSON_INTEGER: text_add(out, "%lld", (long long)json_integer_value(t)); break;
    case JSON_REAL: (is_short ? print_short : print_real)(out, json_real_value(t)); break;
    case JSON_TRUE: text_add(out, "true"); break;
    case JSON_FALSE: text_add(out, "false"); break;
    case JSON_ARRAY: text_add(out, "[]"); break; /* only those that are empty come here */
    case JSON_OBJECT: text_add(out, "{}"); break;
    default: text_add(out, "null"); break;
  }
}

/* In one line, without blanks. Ours, since the library's drops a key where memory runs out. */
static void print_compact(text_buffer *out, const json_t *t) {
  size_t n = json_is_array(t) ? json_array_size(t) : json_object_size(t);
  if (n == 0) {
    print_scalar(out, t, false);
    return;
  }
  void *at = json_is_object(t) ? json_object_iter((json_t *)(uintptr_t)t) : NULL;
  bool is_object = at != NULL;
  text_add_bytes(out, is_object ? "{" : "[", 1);
  for (size_t i = 0; i < n && !out->failed; i++) {
    if (i > 0) text_add_bytes(out, ",", 1);
    if (is_object) print_text(out, json_object_iter_key(at));
    if (is_object) text_add_bytes(out, ":", 1);
    print_compact(out, is_object ? json_object_iter_value(at) : json_array_get(t, i));
    if (is_object) at = json_object_iter_next((json_t *)(uintptr_t)t, at);
  }
  text_add_bytes(out, is_object ? "}" : "]", 1);
}

static void print_row(text_buffer *out, const json_t *t) {
  text_add(out, "[");
  for (size_t i = 0; i < json_array_size(t); i++) {
    if (i) text_add(out, ",");
    print_scalar(out, json_array_get(t, i), true);
  }
  text_add(out, "]");
}

typedef struct printing {
  text_buffer out;
  int indent;
  const json_listing *listing; /* NULL for none */
} printing;

/* Ends a line, the first member's without a comma, and begins one at a level. */
static void next_line(printing *p, bool comma, int level) {
  static const char blanks[] = "                ";
  text_add_bytes(&p->out, comma ? ",\n" : "\n", comma ? 2 : 1);
  for (size_t left = (size_t)p->indent * (size_t)level, n; left > 0; left -= n) {
    n = left < sizeof blanks - 1 ? left : sizeof blanks - 1;
    text_add_bytes(&p->out, blanks, n);
  }
}

static void print_key(printing *p, const char *key) {
  json_quote(&p->out, key);
  text_add_bytes(&p->out, ": ", 2);
}

static void print_listing(printing *p, int level) {
  const json_listing *l = p->listing;
  text_add_bytes(&p->out, "{", 1);
  for (int64_t k = 0; k < l->n && !p->out.failed; k++) {
    json_text_member m = l->member(l->context, k);
    next_line(p, k > 0, level + 1);
    print_key(p, m.key);
    json_quote(&p->out, m.text);
  }
  next_line(p, false, level);
  text_add_bytes(&p->out, "}", 1);
}

/* Trees that were read are at most 2,000 levels deep; those that we make, less than ten. */
static void print_tree(printing *p, const json_t *t, int level) {
  size_t n = json_is_array(t) ? json_array_size(t) : json_object_size(t), i = 0;
  if (p->listing && outer(t) == p->listing->at && p->listing->n > 0) {
    print_listing(p, level);
    return;
  }
  if (is_row(t)) {
    print_row(&p->out, t);
    return;
  }
  if (n == 0) {
    print_scalar(&p->out, t, true);
    return;
  }
  void *at = json_is_object(t) ? json_object_iter((json_t *)(uintptr_t)t) : NULL;
  text_add_bytes(&p->out, at ? "{" : "[", 1);
  for (; i < n && !p->out.failed; i++) {
    next_line(p, i > 0, level + 1);
    if (at) print_key(p, json_object_iter_key(at));
    print_tree(p, at ? json_object_iter_value(at) : json_array_get(t, i), level + 1);
    if (at) at = json_object_iter_next((json_t *)(uintptr_t)t, at);
  }
  next_line(p, false, level);
  text_add_bytes(&p->out, json_is_object(t) ? "}" : "]", 1);
}

char *json_print_with(const json_value *root, int indent, const json_listing *listing) {
  REQUIRE(indent > 0 || (indent == 0 && !listing));
  printing p = {.indent = indent, .listing = listing};
  if (indent > 0)
    print_tree(&p, inner(root), 0);
  else
    print_compact(&p.out, inner(root));
  return text_take(&p.out);
}

char *json_print(const json_value *root, int indent) { return json_print_with(root, indent, NULL); }
