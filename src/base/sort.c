#include "base/sort.h"

#include <string.h>

enum { FEW = 32, DIGIT_BITS = 8, KEY_BITS = 64, VALUES = 1 << DIGIT_BITS };

static void sort_few(sort_pair *pairs, int64_t n) {
  for (int64_t i = 1; i < n; i++) {
    sort_pair p = pairs[i];
    int64_t k = i;
    for (; k > 0 && pairs[k - 1].key > p.key; k--) pairs[k] = pairs[k - 1];
    pairs[k] = p;
  }
}

static int digit(sort_pair p, int shift) { return (int)(p.key >> shift & (VALUES - 1)); }

/* By digits, the lowest first (radix sort); those that are all the same need no pass. */
void sort_pairs(sort_pair *pairs, sort_pair *spare, int64_t n) {
  sort_pair *from = pairs, *to = spare;
  uint64_t differ = 0;
  if (n <= FEW) {
    sort_few(pairs, n);
    return;
  }
  for (int64_t i = 1; i < n; i++) differ |= pairs[i].key ^ pairs[0].key;
  for (int shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
    int64_t at[VALUES] = {0}, start = 0;
    if ((differ >> shift & (VALUES - 1)) == 0) continue;
    for (int64_t i = 0; i < n; i++) at[digit(from[i], shift)]++;
    for (int v = 0; v < VALUES; v++) {
      int64_t these = at[v];
      at[v] = start;
      start += these;
    }
    for (int64_t i = 0; i < n; i++) to[at[digit(from[i], shift)]++] = from[i];
    sort_pair *swap = from;
    from = to;
    to = swap;
  }
  if (from != pairs) memcpy(pairs, from, (size_t)n * sizeof *pairs);
}
