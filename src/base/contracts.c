#include "base/contracts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"

void contracts_broken(const char *file, int line, const char *duty, const char *what) {
  fprintf(stderr, "situ: %s:%d: a bug of situ: %s: %s\n", file, line, duty, what);
  abort();
}

void contracts_keep(const char *file, int line, const char *broken) {
  if (broken) contracts_broken(file, line, "expected", broken);
}

bool contracts_lists(const int32_t *start, int64_t n, int64_t total) {
  if (start[0] != 0 || start[n] != total) return false;
  for (int64_t i = 0; i < n; i++)
    if (start[i] > start[i + 1]) return false;
  return true;
}

bool contracts_long_lists(const int64_t *start, int64_t n, int64_t total) {
  if (start[0] != 0 || start[n] != total) return false;
  for (int64_t i = 0; i < n; i++)
    if (start[i] > start[i + 1]) return false;
  return true;
}

bool contracts_within(const int32_t *value, int64_t n, int64_t low, int64_t end) {
  for (int64_t i = 0; i < n; i++)
    if (value[i] < low || value[i] >= end) return false;
  return true;
}

bool contracts_rise(const int32_t *value, int64_t n) {
  for (int64_t i = 1; i < n; i++)
    if (value[i - 1] >= value[i]) return false;
  return true;
}

bool contracts_amounts(const int64_t *value, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (value[i] < 0) return false;
  return true;
}

/* By the sums of hashes, which needs no room. */
bool contracts_permutation(const int32_t *value, int64_t n) {
  uint64_t here = 0, all = 0;
  if (!contracts_within(value, n, 0, n)) return false;
  for (int64_t i = 0; i < n; i++) {
    rng of_value = rng_new((uint64_t)value[i]), of_place = rng_new((uint64_t)i);
    here += rng_next(&of_value);
    all += rng_next(&of_place);
  }
  return here == all;
}
