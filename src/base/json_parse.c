/* A strict parser of JSON (RFC 8259): bytes in, a tree of json.h out.
 *
 * It is our own because the library's parser follows the locale, takes zero characters in texts or none anywhere, and
 * tells lack of memory as a wrong token, or drops a byte and reads on. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/c_locale.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"

enum { MAX_DEPTH = 2048, MAX_NUMBER = 1024, NEAR = 20 };

typedef struct parsing {
  const char *bytes, *at, *end;
  text_buffer text; /* of the string that was read last */
  int depth;
  const char *wrong, *wrong_at; /* what is wrong, and where; NULL: nothing, or out of memory */
} parsing;

static json_value *fail_at(parsing *p, const char *at, const char *wrong) {
  if (!p->wrong) {
    p->wrong = wrong;
    p->wrong_at = at;
  }
  return NULL;
}

static void skip_space(parsing *p) {
  while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\r' || *p->at == '\t')) p->at++;
}

/* Whether the next character, after space, is this one, which is then passed. */
static bool take(parsing *p, char c) {
  skip_space(p);
  if (p->at == p->end || *p->at != c) return false;
  p->at++;
  return true;
}

/* ---- texts ---- */

/* Four hexadecimal digits; -1 where there are fewer. */
static int32_t hex4(const char *at, const char *end) {
  int32_t value = 0;
  if (end - at < 4) return -1;
  for (int i = 0; i < 4; i++) {
    char c = ascii_lower(at[i]);
    int32_t digit = ascii_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return -1;
    value = 16 * value + digit;
  }
  return value;
}

static void add_code(text_buffer *to, int32_t code) {
  char bytes[4];
  size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = n; i-- > 1; code >>= 6) bytes[i] = (char)(0x80 | (code & 0x3f));
  bytes[0] = (char)(first[n] | code);
  text_add_bytes(to, bytes, n);
}

/* \uXXXX, two of them for a character beyond U+FFFF; p->at is behind the u. */
static bool take_unicode(parsing *p, const char *begin) {
  int32_t code = hex4(p->at, p->end);
  if (code < 0) return fail_at(p, begin, "an escape \\u without four hexadecimal digits"), false;
  p->at += 4;
  if (code == 0) return fail_at(p, begin, "a text with the character U+0000"), false;
  if (code >= 0xd800 && code < 0xe000) {
    bool pair = code < 0xdc00 && p->end - p->at >= 6 && p->at[0] == '\\' && p->at[1] == 'u';
    int32_t low = pair ? hex4(p->at + 2, p->end) : -1;
    if (low < 0xdc00 || low > 0xdfff) return fail_at(p, begin, "half of a pair of surrogates"), false;
    p->at += 6;
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  }
  add_code(&p->text, code);
  return true;
}

static bool take_escape(parsing *p) {
  static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
  const char *begin = p->at++; /* the backslash */
  if (p->at == p->end) return fail_at(p, begin, "an escape that does not end"), false;
  char c = *p->at++;
  if (c == 'u') return take_unicode(p, begin);
  const char *known = c ? strchr(from, c) : NULL;
  if (!known) return fail_at(p, begin, "an unknown escape"), false;
  text_add_bytes(&p->text, &to[known - from], 1);
  return true;
}

/* Bytes of the character at `at`; 0 where it is not UTF-8, or cut off. */
static size_t character_at(const char *at, const char *end) {
  char whole[5] = {0};
  size_t n = (size_t)(end - at) < 4 ? (size_t)(end - at) : 4;
  memcpy(whole, at, n);
  return text_character(whole);
}

static bool is_plain(char c) { return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\'; }

/* Reads a text into p->text; p->at is at the first quote. */
static bool take_text(parsing *p) {
  const char *begin = p->at++;
  p->text.length = 0;
  text_add_bytes(&p->text, "", 0);
  for (;;) {
    const char *plain = p->at;
    while (p->at < p->end && is_plain(*p->at)) p->at++;
    text_add_bytes(&p->text, plain, (size_t)(p->at - plain));
    if (p->at == p->end) return fail_at(p, begin, "a text that does not end"), false;
    if (*p->at == '"') break;
    if (*p->at == '\\') {
      if (!take_escape(p)) return false;
      continue;
    }
    size_t n = (unsigned char)*p->at < 0x20 ? 0 : character_at(p->at, p->end);
    if (n == 0)
      return fail_at(p, p->at,
                     (unsigned char)*p->at < 0x20 ? "a control character in a text" : "a byte that is not UTF-8"),
             false;
    text_add_bytes(&p->text, p->at, n);
    p->at += n;
  }
  p->at++;
  return !p->text.failed;
}

/* ---- numbers and words ---- */

static const char *digits(const char *at, const char *end) {
  while (at < end && ascii_is_digit(*at)) at++;
  return at;
}

/* Where the number that begins at p->at ends; NULL where none does. *real: it has a fraction or an exponent. */
static const char *number_end(const parsing *p, bool *real) {
  const char *at = p->at + (*p->at == '-'), *next = digits(at, p->end);
  *real = false;
  if (next == at || (*at == '0' && next > at + 1)) return NULL;
  at = next;
  if (at < p->end && *at == '.') {
    *real = true;
    next = digits(++at, p->end);
    if (next == at) return NULL;
    at = next;
  }
  if (at < p->end && ascii_lower(*at) == 'e') {
    *real = true;
    at++;
    if (at < p->end && (*at == '+' || *at == '-')) at++;
    next = digits(at, p->end);
    if (next == at) return NULL;
    at = next;
  }
  return at;
}

static json_value *take_number(parsing *p) {
  char text[MAX_NUMBER];
  bool real;
  const char *begin = p->at, *end = number_end(p, &real);
  if (!end) return fail_at(p, begin, "a number that is none");
  if (end - begin >= MAX_NUMBER) return fail_at(p, begin, "a number of too many digits");
  memcpy(text, begin, (size_t)(end - begin));
  text[end - begin] = '\0';
  p->at = end;
  if (!real) {
    errno = 0;
    long long whole = strtoll(text, NULL, 10);
    return errno == ERANGE ? fail_at(p, begin, "a whole number beyond 64 bits") : json_new_int(whole);
  }
  double number = c_locale_number(text, NULL);
  return isfinite(number) ? json_new_number(number) : fail_at(p, begin, "a number beyond the range");
}

static json_value *take_word(parsing *p) {
  static const char *const words[] = {"true", "false", "null"};
  for (int i = 0; i < 3; i++) {
    size_t n = strlen(words[i]);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, words[i], n) != 0) continue;
    if (p->at + n < p->end && ascii_is_alnum(p->at[n])) break;
    p->at += n;
    return i == 2 ? json_new_null() : json_new_bool(i == 0);
  }
  return fail_at(p, p->at, p->at == p->end ? "the end, where a value is expected" : "no value, where one is expected");
}

/* ---- arrays and objects ---- */

static json_value *take_value(parsing *p);

static json_value *abandon(json_value *tree) {
  json_free(tree);
  return NULL;
}

static json_value *take_array(parsing *p) {
  json_value *array = json_new_array();
  if (!array || take(p, ']')) return array;
  do {
    json_value *value = take_value(p);
    if (!value || !json_push(array, value)) return abandon(array);
  } while (take(p, ','));
  if (take(p, ']')) return array;
  fail_at(p, p->at, "no ',' or ']' after an item");
  return abandon(array);
}

/* One member: a key that is new, and its value. */
static bool take_member(parsing *p, json_value *object) {
  skip_space(p);
  const char *begin = p->at;
  if (p->at == p->end || *p->at != '"') return fail_at(p, begin, "no key, where one is expected"), false;
  if (!take_text(p)) return false;
  if (json_get(object, p->text.bytes)) return fail_at(p, begin, "a key for the second time"), false;
  char *key = text_take(&p->text);
  if (!key) return false;
  bool colon = take(p, ':');
  if (!colon) fail_at(p, p->at, "no ':' after a key");
  json_value *value = colon ? take_value(p) : NULL;
  bool good = value && json_set(object, key, value);
  free(key);
  return good;
}

static json_value *take_object(parsing *p) {
  json_value *object = json_new_object();
  if (!object || take(p, '}')) return object;
  do {
    if (!take_member(p, object)) return abandon(object);
  } while (take(p, ','));
  if (take(p, '}')) return object;
  fail_at(p, p->at, "no ',' or '}' after a member");
  return abandon(object);
}

static json_value *take_value(parsing *p) {
  json_value *value;
  skip_space(p);
  char c = p->at < p->end ? *p->at : '\0';
  if (c == '[' || c == '{') {
    if (++p->depth > MAX_DEPTH) return fail_at(p, p->at, "more than 2,048 levels");
    p->at++;
    value = c == '[' ? take_array(p) : take_object(p);
    p->depth--;
    return value;
  }
  if (c == '"') return take_text(p) ? json_new_text(p->text.bytes) : NULL;
  return c == '-' || ascii_is_digit(c) ? take_number(p) : take_word(p);
}

/* ---- the whole ---- */

/* "x.json:3:7: ... near "...""; lines and columns from 1, columns in characters. */
static situ_status fail_wrong(const parsing *p, const char *where, situ_error *error) {
  long long line = 1, column = 1;
  char place[256], near[NEAR + 1] = "";
  for (const char *at = p->bytes; at < p->wrong_at; at++) {
    column = *at == '\n' ? 1 : column + ((*at & 0xc0) != 0x80);
    line += *at == '\n';
  }
  size_t left = (size_t)(p->end - p->wrong_at);
  memcpy(near, p->wrong_at, left < NEAR ? left : NEAR);
  near[strcspn(near, "\r\n")] = '\0';
  c_locale_print(place, sizeof place, "%.200s:%lld:%lld", where, line, column);
  return fail_with(error, SITU_STATUS_BAD_INPUT, place, "is not valid JSON: it has %s%s%s%s", p->wrong,
                   *near ? " near '" : "", near, *near ? "'" : "");
}

situ_status json_parse(json_value **out, const char *bytes, size_t n, const char *where, situ_error *error) {
  parsing p = {.bytes = bytes, .at = bytes, .end = bytes + n};
  *out = NULL;
  skip_space(&p);
  bool begins = p.at < p.end && (*p.at == '[' || *p.at == '{');
  json_value *root = begins ? take_value(&p) : fail_at(&p, p.at, "neither '{' nor '[' at its beginning");
  skip_space(&p);
  if (root && p.at < p.end) {
    fail_at(&p, p.at, "text after its end");
    root = abandon(root);
  }
  text_free(&p.text);
  *out = root;
  if (root) return SITU_STATUS_OK;
  return p.wrong ? fail_wrong(&p, where, error) : fail_no_memory(error);
}

situ_status json_read(json_value **out, const char *path, situ_error *error) {
  file_view view;
  *out = NULL;
  TRY(file_open_text(&view, path, error));
  size_t skip = file_skip_mark(&view);
  situ_status status = json_parse(out, (const char *)view.bytes + skip, view.size_bytes - skip, path, error);
  file_close(&view);
  return status;
}

situ_status json_write(const char *path, json_value *root, int indent, situ_error *error) {
  char *text = root ? json_print(root, indent) : NULL;
  json_free(root);
  situ_status status = text ? file_write(path, text, strlen(text), error) : fail_no_memory(error);
  free(text);
  return status;
}
