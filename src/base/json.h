/* base/json.h - JSON in and out; the only door to the JSON library (jansson).
 *
 * A json_value is one node of a tree. Trees that were read or made are freed by json_free on their root; values got
 * from inside a tree are borrowed. Getters on NULL or on a value of another type give the default: check with
 * json_kind_of where the difference matters. */
#ifndef SITU_BASE_JSON_H
#define SITU_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "situ/error.h"

typedef struct json_value json_value;
typedef enum json_kind {
  JSON_NONE = 0,
  JSON_OBJECT_KIND,
  JSON_ARRAY_KIND,
  JSON_TEXT,
  JSON_INT,
  JSON_NUMBER,
  JSON_BOOL,
  JSON_NULL_KIND
} json_kind;

/* Parses bytes (base/json_parse.c); `where` (a file's name) is put before line and column in the message. Duplicate
 * keys, texts with U+0000, trailing text, bytes that are not UTF-8, whole numbers beyond 64 bits and more than 2,048
 * levels of nesting are errors: BAD_INPUT. NO_MEMORY where memory ran out. */
situ_status json_parse(json_value **out, const char *bytes, size_t n, const char *where, situ_error *error);
situ_status json_read(json_value **out, const char *path, situ_error *error);
/* Writes a tree to a file (file_write), and frees it; NULL is one for which memory ran out. */
situ_status json_write(const char *path, json_value *root, int indent, situ_error *error);
void json_free(json_value *root);

json_kind json_kind_of(const json_value *v);
/* Number of items of an array or keys of an object, else 0. */
size_t json_size(const json_value *v);
const json_value *json_at(const json_value *array, size_t index);
const json_value *json_get(const json_value *object, const char *key);
const char *json_text(const json_value *v, const char *default_value);
double json_number(const json_value *v, double default_value); /* whole numbers too */
int64_t json_int(const json_value *v, int64_t default_value); /* whole numbers, and reals without a fraction that fit */
bool json_bool(const json_value *v, bool default_value);

/* Walks an object in the order of the file: start with NULL; NULL at the end. */
typedef struct json_member {
  const char *key;
  const json_value *value;
  void *cursor;
} json_member;
bool json_next(const json_value *object, json_member *member); /* member zeroed before the first call */

/* Makers: NULL without memory. The setters take over `value` (also when they fail) and return false without memory; a
 * NULL value makes them fail, so that calls may be nested and only the last result checked. Bytes that are not UTF-8
 * are stored as '?'. */
json_value *json_new_object(void);
json_value *json_new_array(void);
json_value *json_new_text(const char *text); /* NULL gives null */
json_value *json_new_int(int64_t value);
json_value *json_new_number(double value); /* null when not finite */
json_value *json_new_bool(bool value);
json_value *json_new_null(void);
json_value *json_new_ints(const int64_t *values, int64_t n);
bool json_set(json_value *object, const char *key, json_value *value);
bool json_push(json_value *array, json_value *value);

/* Whole trees: JSON_OBJECT({"name", json_new_text(name)}, {"limit", limit < 0 ? JSON_ABSENT : json_new_int(limit)}),
 * and JSON_ARRAY(json_new_int(1), json_new_null()); JSON_SET adds such members to an object. */
typedef struct json_pair {
  const char *key;
  json_value *value; /* taken over, also where another one fails */
} json_pair;
extern json_value *const json_absent;
#define JSON_ABSENT json_absent
#define JSON_PAIRS(...) (const json_pair[]){__VA_ARGS__}, sizeof((const json_pair[]){__VA_ARGS__}) / sizeof(json_pair)
#define JSON_OBJECT(...) json_object_of(JSON_PAIRS(__VA_ARGS__))
#define JSON_SET(object, ...) json_set_all((object), JSON_PAIRS(__VA_ARGS__))
#define JSON_ARRAY(...) \
  json_array_of((json_value *const[]){__VA_ARGS__}, sizeof((json_value *const[]){__VA_ARGS__}) / sizeof(json_value *))
json_value *json_object_of(const json_pair *pairs, size_t n);
bool json_set_all(json_value *object, const json_pair *pairs, size_t n);
json_value *json_array_of(json_value *const *values, size_t n);

/* A tree that is whole; else it is freed, and NULL. */
static inline json_value *json_if(bool whole, json_value *tree) {
  if (whole) return tree;
  json_free(tree);
  return NULL;
}
/* Text of a tree (free() it), keys in the order they were set, numbers with the fewest digits that give
 * them again (17 with indent 0); indent 0 is one line, else every member has its line, and so has every array that
 * holds no other. */
char *json_print(const json_value *root, int indent);

/* Members that an empty object of a tree, `at`, gets only when the tree is printed: a tree of a million would take
 * longer to make and to free than to print. Their keys differ and are UTF-8. */
typedef struct json_text_member {
  const char *key, *text;
} json_text_member;
typedef struct json_listing {
  const json_value *at;
  int64_t n;
  json_text_member (*member)(const void *context, int64_t k); /* 0 <= k < n */
  const void *context;
} json_listing;
/* The same as json_print, with an indent, as if `listing` (NULL for none) were part of the tree. */
char *json_print_with(const json_value *root, int indent, const json_listing *listing);
/* Adds `text` in quotes, escaped; bytes that are not UTF-8 are replaced as by json_new_text. */
void json_quote(text_buffer *out, const char *text);

#endif
