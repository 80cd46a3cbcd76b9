#include "mutate_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

enum { MAX_SPANS = 1 << 16, MAX_DEPTH = 64, DEEP = 3000 };

/* A value, where its member or item begins (a key before it), and whether it is the last of its list. */
typedef struct span {
  size_t from, begin, end;
  bool is_item, is_number, has_next;
} span;

typedef struct spans {
  const char *text;
  size_t at;
  span *all;
  size_t n;
} spans;

static void skip(spans *s) { s->at += strspn(s->text + s->at, " \n\r\t"); }

static void skip_text(spans *s) {
  for (s->at++; s->text[s->at] && s->text[s->at] != '"'; s->at++)
    if (s->text[s->at] == '\\' && s->text[s->at + 1]) s->at++;
  s->at += s->text[s->at] == '"';
}

/* Notes the value at s->at and those within. Only for texts that are JSON. */
static void note(spans *s, size_t from, bool is_item, int depth) {
  if (s->n == MAX_SPANS || depth > MAX_DEPTH) abort();
  size_t own = s->n++;
  char c = s->text[s->at];
  s->all[own] =
      (span){.from = from, .begin = s->at, .is_item = is_item, .is_number = c == '-' || (c >= '0' && c <= '9')};
  if (c == '"') {
    skip_text(s);
  } else if (c == '[' || c == '{') {
    for (s->at++, skip(s); s->text[s->at] && s->text[s->at] != ']' && s->text[s->at] != '}';) {
      size_t start = s->at, inner = s->n;
      if (c == '{') {
        skip_text(s);
        skip(s);
        s->at++; /* the colon */
        skip(s);
      }
      note(s, start, true, depth + 1);
      skip(s);
      s->all[inner].has_next = s->text[s->at] == ',';
      s->at += s->text[s->at] == ',';
      skip(s);
    }
    s->at += s->text[s->at] != '\0';
  } else {
    s->at += strcspn(s->text + s->at, ",]} \n\r\t");
  }
  s->all[own].end = s->at;
}

static char *spliced(const char *text, size_t from, size_t to, const char *with, size_t n) {
  text_buffer t = {0};
  text_add_bytes(&t, text, from);
  text_add_bytes(&t, with, n);
  text_add_bytes(&t, text + to, strlen(text) - to);
  return text_take(&t);
}

static const char *const values[] = {"[]",
                                     "{}",
                                     "null",
                                     "true",
                                     "false",
                                     "\"\"",
                                     "\"x\"",
                                     "0",
                                     "-0",
                                     "-1",
                                     "1",
                                     "2",
                                     "255",
                                     "65536",
                                     "2147483647",
                                     "2147483648",
                                     "-2147483649",
                                     "4294967295",
                                     "18014398509481984",
                                     "18014398509481985",
                                     "9223372036854775806",
                                     "9223372036854775807",
                                     "-9223372036854775808",
                                     "9223372036854775808",
                                     "1e18",
                                     "1e19",
                                     "1e300",
                                     "-1e300",
                                     "1e-300",
                                     "5e-324",
                                     "0.5",
                                     "1.5",
                                     "-0.5",
                                     "1e999",
                                     "NaN",
                                     "Infinity",
                                     "\"NaN\"",
                                     "\"1\"",
                                     "\"a\\u0000b\"",
                                     "\"\\ud800\"",
                                     "[1]",
                                     "[[]]",
                                     "[null]",
                                     "[-1]",
                                     "[1,2,3,4,5,6,7,8,9,10]",
                                     "[\"x\"]",
                                     "{\"x\":1}"};

static char *replace(const char *text, const span *v, const span *other, rng *r) {
  char number[64];
  const char *with = values[rng_below(r, (int64_t)(sizeof values / sizeof *values))];
  int64_t kind = rng_below(r, 4);
  if (kind == 0) return spliced(text, v->begin, v->end, text + other->begin, other->end - other->begin);
  if (kind == 1 && v->is_number) {
    double was = atof(text + v->begin);
    static const double by[] = {-1, 2, 0.5, 10, 1000, 1e9};
    int64_t how = rng_below(r, 8);
    snprintf(number, sizeof number, "%.17g", how == 0 ? was + 1 : how == 1 ? was - 1 : was * by[how - 2]);
    with = number;
  }
  return spliced(text, v->begin, v->end, with, strlen(with));
}

/* Without the member or item, and one comma. */
static char *without(const char *text, const span *v) {
  size_t from = v->from, end = v->end;
  if (v->has_next) {
    end += strspn(text + end, " \n\r\t");
    end += text[end] == ',';
  } else {
    while (from > 0 && strchr(" \n\r\t", text[from - 1])) from--;
    from -= from > 0 && text[from - 1] == ',';
  }
  return spliced(text, from, end, "", 0);
}

/* The member or item twice, or many times. */
static char *repeated(const char *text, const span *v, rng *r) {
  text_buffer t = {0};
  int64_t times = rng_below(r, 8) ? 1 : 1 + rng_below(r, 300);
  for (int64_t k = 0; k < times; k++) {
    text_add_bytes(&t, text + v->from, v->end - v->from);
    text_add_bytes(&t, ",", 1);
  }
  char *with = text_take(&t), *out = spliced(text, v->from, v->from, with, strlen(with));
  free(with);
  return out;
}

static char *nested(const char *text, const span *v, rng *r) {
  static const int64_t depths[] = {1, 100, 2000, DEEP};
  int64_t depth = depths[rng_below(r, 4)];
  text_buffer t = {0};
  for (int64_t k = 0; k < depth; k++) text_add_bytes(&t, "[", 1);
  for (int64_t k = 0; k < depth; k++) text_add_bytes(&t, "]", 1);
  char *with = text_take(&t), *out = spliced(text, v->begin, v->end, with, strlen(with));
  free(with);
  return out;
}

static char *damaged(const char *text, rng *r) {
  char *copy = strdup(text);
  size_t n = strlen(copy);
  if (n > 0 && rng_below(r, 3) == 0)
    copy[rng_below(r, (int64_t)n)] = '\0';
  else if (n > 0)
    copy[rng_below(r, (int64_t)n)] = (char)(1 + rng_below(r, 255));
  return copy;
}

static char *mutate_once(const char *text, rng *r) {
  static span all[MAX_SPANS]; /* 2 MB: allocated anew, `meson test` would overwrite them twice a round */
  spans s = {.text = text, .all = all};
  skip(&s);
  note(&s, 0, false, 0);
  const span *v = &s.all[rng_below(r, (int64_t)s.n)], *other = &s.all[rng_below(r, (int64_t)s.n)];
  int64_t kind = rng_below(r, 20);
  char *out;
  if (kind < 11 || !v->is_item)
    out = replace(text, v, other, r);
  else if (kind < 14)
    out = without(text, v);
  else if (kind < 17)
    out = repeated(text, v, r);
  else if (kind < 18)
    out = nested(text, v, r);
  else if (kind < 19)
    out = spliced(text, v->from, v->from + 1, "\"x", text[v->from] == '"' ? 2 : 0); /* another key */
  else
    out = damaged(text, r);
  return out;
}

/* Whether note() can walk it: JSON, and not as deep as nested() makes it. */
static bool is_walkable(const char *text) {
  json_value *root = NULL;
  bool good = json_parse(&root, text, strlen(text), "again", NULL) == SITU_STATUS_OK && !strstr(text, "[[[[[[[[");
  json_free(root);
  return good;
}

char *mutate_json(const char *text, rng *random) {
  char *out = mutate_once(text, random);
  for (int k = 0; k < 3 && rng_below(random, 3) == 0 && is_walkable(out); k++) {
    char *more = mutate_once(out, random);
    free(out);
    out = more;
  }
  return out;
}
