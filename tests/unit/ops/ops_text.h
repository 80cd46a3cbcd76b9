/* Tensors and attributes of operators in one line of text, for tests.
 *
 * Tensors are type[dims]{values}: "f32[2,?,4]", "i64[2]{3,?}", "f32*" of unknown rank, "-" for one that is left out.
 * Attributes are axis=1 alpha=0.5 perm=[0,1] scales=[1.0,2.0] mode='linear' value=<i64[1]{7}>. Text that is none of
 * these aborts. */
#ifndef SITU_TESTS_OPS_TEXT_H
#define SITU_TESTS_OPS_TEXT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/dtype.h"
#include "ops/ops.h"

/* Where the text goes on. */
static const char *at;

static bool take(char ch) {
  if (*at != ch) return false;
  at++;
  return true;
}

static int64_t take_number(double *real, bool *whole) {
  char *end, *end_whole;
  *real = strtod(at, &end);
  int64_t number = strtoll(at, &end_whole, 10);
  if (end != end_whole && whole) *whole = false;
  if (end == at) abort();
  at = end;
  return number;
}

/* Numbers up to `close`; '?' is `open`. */
static int64_t take_list(arena *a, char close, int64_t open, int64_t **ints, double **reals, bool *whole) {
  int64_t n = 0;
  *ints = ARENA_NEW(a, int64_t, 5000);
  *reals = ARENA_NEW(a, double, 5000);
  while (!take(close)) {
    (*ints)[n] = take('?') ? open : take_number(&(*reals)[n], whole);
    n++;
    take(',');
  }
  return n;
}

static ops_tensor take_tensor(arena *a) {
  ops_tensor t = {.rank = -1};
  int64_t *ints;
  double *reals;
  for (int k = 1; k < DTYPE_COUNT; k++) {
    size_t n = strlen(situ_dtype_name(k));
    if (strncmp(at, situ_dtype_name(k), n) != 0 || (at[n] != '[' && at[n] != '*')) continue;
    t.dtype = k;
    at += n;
    break;
  }
  if (take('*')) return t;
  if (!take('[')) abort();
  t.rank = (int32_t)take_list(a, ']', -1, &ints, &reals, NULL);
  t.dims = ints;
  if (!take('{')) return t;
  take_list(a, '}', OPS_UNKNOWN_INT, &ints, &reals, NULL);
  if (t.dtype <= SITU_DTYPE_F8)
    t.reals = reals;
  else
    t.ints = ints;
  return t;
}

static ops_attr take_attr(arena *a) {
  ops_attr attr = {0};
  const char *equals = strchr(at, '=');
  if (!equals) abort();
  attr.name = arena_string_n(a, at, (size_t)(equals - at));
  at = equals + 1;
  bool whole = true;
  int64_t *ints;
  double *reals;
  if (take('[')) {
    attr.n = take_list(a, ']', -1, &ints, &reals, &whole);
    attr.type = whole ? OPS_INTS : OPS_FLOATS;
    attr.ints = ints;
    attr.floats = reals;
  } else if (take('\'')) {
    const char *end = strchr(at, '\'');
    attr.type = OPS_STRING;
    attr.s = arena_string_n(a, at, (size_t)(end - at));
    at = end + 1;
  } else if (take('<')) {
    ops_tensor *t = ARENA_NEW(a, ops_tensor, 1);
    *t = take_tensor(a);
    t->constant = true;
    attr.type = OPS_TENSOR;
    attr.tensor = t;
    if (!take('>')) abort();
  } else {
    attr.i = take_number(&attr.f, &whole);
    attr.type = whole ? OPS_INT : OPS_FLOAT;
  }
  return attr;
}

#endif
