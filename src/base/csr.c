#include "base/csr.h"

bool csr_by_key(int32_t **start, int32_t **item, const int32_t *key, int32_t n_items, int32_t n, arena *a) {
  if (!ARENA_ARRAYS(a, ZEROS(*start, (int64_t)n + 2), ARRAY(*item, n_items))) return false;
  csr_fill(*start, *item, key, n_items, n);
  return true;
}

bool csr_transpose(int32_t **back_start, int32_t **back, const int32_t *start, const int32_t *item, int32_t n_lists,
                   int32_t n, arena *a) {
  if (!ARENA_ARRAYS(a, ZEROS(*back_start, (int64_t)n + 2), ARRAY(*back, start[n_lists]))) return false;
  for (int32_t i = 0; i < start[n_lists]; i++) csr_count(*back_start, item[i]);
  csr_sum(*back_start, n);
  for (int32_t k = 0; k < n_lists; k++)
    for (int32_t i = start[k]; i < start[k + 1]; i++) (*back)[csr_put(*back_start, item[i])] = k;
  return true;
}

int32_t csr_number_keys(int32_t *number, const int32_t *key, int32_t n_items, int32_t *of_key, int32_t n_keys) {
  int32_t n = 0;
  for (int32_t k = 0; k < n_keys; k++) of_key[k] = -1;
  for (int32_t i = 0; i < n_items; i++) {
    int32_t *its = &of_key[key[i]];
    if (*its < 0) *its = n++;
    number[i] = *its;
  }
  return n;
}
