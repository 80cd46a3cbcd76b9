/* onnx_bytes.h - writes small ONNX files for tests, field by field (numbers: the public schema). Each function that
 * puts a message into another frees the inner one. Lists are words parted by spaces; "-" stands for an empty name. */
#ifndef SITU_TESTS_ONNX_BYTES_H
#define SITU_TESTS_ONNX_BYTES_H

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

typedef text_buffer bytes;

enum { F32 = 1, U8 = 2, I8 = 3, I32 = 6, I64 = 7, BOOLEAN = 9 };

static inline void put_varint(bytes *b, uint64_t v) {
  for (;; v >>= 7) {
    char byte = (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
    text_add_bytes(b, &byte, 1);
    if (v <= 0x7f) return;
  }
}

static inline void put_int(bytes *b, int field, int64_t v) {
  put_varint(b, (uint64_t)field << 3);
  put_varint(b, (uint64_t)v);
}

static inline void put_bytes(bytes *b, int field, const void *at, size_t n) {
  put_varint(b, (uint64_t)field << 3 | 2);
  put_varint(b, n);
  text_add_bytes(b, at, n);
}

static inline void put_text(bytes *b, int field, const char *text) { put_bytes(b, field, text, strlen(text)); }

static inline void put(bytes *b, int field, bytes inner) {
  put_bytes(b, field, inner.bytes ? inner.bytes : "", inner.length);
  text_free(&inner);
}

/* The next word of *list, copied into `word`; false at the end. */
static inline bool next_word(const char **list, char word[64]) {
  *list += strspn(*list, " ");
  size_t n = strcspn(*list, " ");
  if (n == 0) return false;
  memcpy(word, *list, n);
  word[n] = '\0';
  *list += n;
  return true;
}

static inline void put_words(bytes *b, int field, const char *list) {
  char word[64];
  while (next_word(&list, word)) put_text(b, field, strcmp(word, "-") == 0 ? "" : word);
}

/* ---- nodes ---- */

static inline bytes node(const char *kind, const char *name, const char *inputs, const char *outputs) {
  bytes n = {0};
  put_words(&n, 1, inputs);
  put_words(&n, 2, outputs);
  put_text(&n, 3, name);
  put_text(&n, 4, kind);
  return n;
}

static inline void attr_int(bytes *n, const char *name, int64_t v) {
  bytes a = {0};
  put_text(&a, 1, name);
  put_int(&a, 3, v);
  put_int(&a, 20, 2);
  put(n, 5, a);
}

static inline void attr_ints(bytes *n, const char *name, const char *values) {
  bytes a = {0};
  char word[64];
  put_text(&a, 1, name);
  while (next_word(&values, word)) put_int(&a, 8, atoll(word));
  put_int(&a, 20, 7);
  put(n, 5, a);
}

static inline void attr_message(bytes *n, const char *name, int field, int type, bytes inner) {
  bytes a = {0};
  put_text(&a, 1, name);
  put(&a, field, inner);
  put_int(&a, 20, type);
  put(n, 5, a);
}

static inline void attr_graph(bytes *n, const char *name, bytes graph) { attr_message(n, name, 6, 5, graph); }
static inline void attr_tensor(bytes *n, const char *name, bytes tensor) { attr_message(n, name, 5, 4, tensor); }

static inline void attr_reference(bytes *n, const char *name, const char *from) {
  bytes a = {0};
  put_text(&a, 1, name);
  put_text(&a, 21, from);
  put_int(&a, 20, 2);
  put(n, 5, a);
}

static inline bytes entry(const char *key, const char *value) {
  bytes e = {0};
  put_text(&e, 1, key);
  put_text(&e, 2, value);
  return e;
}

/* ---- tensors and values ---- */

static inline bytes tensor(const char *name, int type, const char *dims) {
  bytes t = {0};
  char word[64];
  while (next_word(&dims, word)) put_int(&t, 1, atoll(word));
  put_int(&t, 2, type);
  put_text(&t, 8, name);
  return t;
}

/* An int64 vector with its values as raw data. */
static inline bytes vector64(const char *name, const char *values) {
  int64_t v[32];
  int n = 0;
  char word[64], dims[16] = "";
  while (n < 32 && next_word(&values, word)) v[n++] = atoll(word);
  dims[0] = (char)('0' + n % 10);
  bytes t = tensor(name, I64, dims);
  put_bytes(&t, 9, v, (size_t)n * 8);
  return t;
}

static inline bytes scalar64(const char *name, int64_t v) {
  bytes t = tensor(name, I64, "");
  put_bytes(&t, 9, &v, 8);
  return t;
}

static inline void external(bytes *t, const char *location, const char *offset, const char *length) {
  put(t, 13, entry("location", location));
  if (offset) put(t, 13, entry("offset", offset));
  if (length) put(t, 13, entry("length", length));
  put_int(t, 14, 1);
}

/* Dimensions: numbers, names, "?" for none, or a name behind "'", as in "'?". */
static inline bytes value(const char *name, int type, const char *dims) {
  bytes v = {0}, kind = {0}, about = {0}, shape = {0};
  char word[64];
  while (next_word(&dims, word)) {
    bytes d = {0};
    if ((*word >= '0' && *word <= '9') || *word == '-')
      put_int(&d, 1, atoll(word));
    else if (*word != '?')
      put_text(&d, 2, *word == '\'' ? word + 1 : word);
    put(&shape, 1, d);
  }
  put_int(&about, 1, type);
  put(&about, 2, shape);
  put(&kind, 1, about);
  put_text(&v, 1, name);
  put(&v, 2, kind);
  return v;
}

/* ---- graphs and models ---- */

static inline void add_node(bytes *g, bytes n) { put(g, 1, n); }
static inline void add_weight(bytes *g, bytes t) { put(g, 5, t); }
static inline void add_input(bytes *g, const char *name, int type, const char *dims) {
  put(g, 11, value(name, type, dims));
}
static inline void add_output(bytes *g, const char *name, int type, const char *dims) {
  put(g, 12, value(name, type, dims));
}

static inline bytes opset(const char *domain, int64_t version) {
  bytes o = {0};
  put_text(&o, 1, domain);
  put_int(&o, 2, version);
  return o;
}

static inline bytes model(bytes graph) {
  bytes m = {0};
  put_int(&m, 1, 8);
  put(&m, 7, graph);
  put(&m, 8, opset("", 17));
  return m;
}

#endif
