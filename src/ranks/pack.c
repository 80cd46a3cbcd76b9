#include "ranks/pack.h"

#include <string.h>

enum { NOTHING = -1 };

void pack_int(text_buffer *to, int64_t value) { text_add_bytes(to, (const char *)&value, sizeof value); }

void pack_array(text_buffer *to, const void *values, int64_t n, size_t size) {
  pack_int(to, values ? n : NOTHING);
  if (values && n > 0) text_add_bytes(to, values, (size_t)n * size);
}

void pack_text(text_buffer *to, const char *text) { pack_array(to, text, text ? (int64_t)strlen(text) : 0, 1); }

static const void *take(unpack *from, int64_t n, size_t size) {
  const unsigned char *at = from->at;
  if (from->failed || n < 0 || n > from->n_left / (int64_t)size) {
    from->failed = true;
    return NULL;
  }
  from->at += n * (int64_t)size;
  from->n_left -= n * (int64_t)size;
  return at;
}

int64_t unpack_int(unpack *from) {
  int64_t value = 0;
  const void *at = take(from, 1, sizeof value);
  if (at) memcpy(&value, at, sizeof value);
  return value;
}

void *unpack_array(unpack *from, int64_t *n, size_t size, arena *a) {
  *n = unpack_int(from);
  if (*n == NOTHING)
    *n = 0;
  else if (from->failed)
    *n = 0;
  else {
    const void *at = take(from, *n, size);
    void *copy = at ? arena_copy(a, at, *n, size) : NULL;
    if (!copy) from->failed = true;
    return copy;
  }
  return NULL;
}

bool unpack_into(unpack *from, void *into, int64_t n, size_t size) {
  int64_t given = unpack_int(from);
  if (given == NOTHING || from->failed) return false;
  const void *at = take(from, given, size);
  if (given != n || !into) from->failed = true;
  if (!at || from->failed) return false;
  if (n > 0) memcpy(into, at, (size_t)n * size);
  return true;
}

bool unpack_within(unpack *from, int32_t *into, int64_t n, int32_t min, int32_t end) {
  bool given = unpack_into(from, into, n, sizeof *into);
  for (int64_t i = 0; given && i < n; i++) from->failed |= into[i] < min || into[i] >= end;
  return given && !from->failed;
}

int64_t unpack_from_to(unpack *from, int64_t min, int64_t max) {
  int64_t value = unpack_int(from);
  from->failed |= value < min || value > max;
  return from->failed ? min : value;
}

char *unpack_text(unpack *from, arena *a) {
  int64_t n = unpack_int(from);
  if (n == NOTHING) return NULL;
  const void *at = take(from, n, 1);
  char *copy = at ? arena_string_n(a, at, (size_t)n) : NULL;
  if (!copy) from->failed = true;
  return copy;
}
