/* base/bit_rows.h - sets as bits; a relation on 0 .. n-1 as one row of bits for each. */
#ifndef SITU_BASE_BIT_ROWS_H
#define SITU_BASE_BIT_ROWS_H

#include <stdbool.h>

#include "base/arena.h"

/* Whether v is in a set as bits. */
static inline bool bits_have(const uint64_t *bits, int32_t v) { return bits[v / 64] >> (v % 64) & 1; }

typedef struct bit_rows {
  int32_t n, words; /* of a row */
  uint64_t *bits;
} bit_rows;

/* With all rows empty. False without memory. */
static inline bool bit_rows_make(bit_rows *r, int32_t n, arena *a) {
  *r = (bit_rows){.n = n, .words = n / 64 + 1};
  r->bits = ARENA_ZERO(a, uint64_t, (int64_t)n * r->words);
  return r->bits != NULL;
}

static inline bool bit_rows_has(const bit_rows *r, int32_t v, int32_t w) {
  return bits_have(r->bits + (int64_t)v * r->words, w);
}

static inline void bit_rows_add(bit_rows *r, int32_t v, int32_t w) {
  r->bits[(int64_t)v * r->words + w / 64] |= (uint64_t)1 << (w % 64);
}

/* Adds all of row `from` to row `into`. */
static inline void bit_rows_join(bit_rows *r, int32_t into, int32_t from) {
  for (int64_t i = 0; i < r->words; i++) r->bits[(int64_t)into * r->words + i] |= r->bits[(int64_t)from * r->words + i];
}

#endif
