/* base/sort.h - whole numbers in ascending order, or in that of their keys. */
#ifndef SITU_BASE_SORT_H
#define SITU_BASE_SORT_H

#include <stdint.h>
#include <stdlib.h>

static inline int sort_compare32(const void *left, const void *right) {
  int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
  return (a > b) - (a < b);
}

static inline int sort_compare64(const void *left, const void *right) {
  int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

static inline void sort32(int32_t *numbers, int64_t n) {
  if (n > 1) qsort(numbers, (size_t)n, sizeof *numbers, sort_compare32);
}

static inline void sort64(int64_t *numbers, int64_t n) {
  if (n > 1) qsort(numbers, (size_t)n, sizeof *numbers, sort_compare64);
}

/* A number and its key. */
typedef struct keyed {
  int64_t key;
  int32_t at;
} keyed;

static inline int sort_compare_keyed(const void *left, const void *right) {
  const keyed *a = left, *b = right;
  return a->key != b->key ? (a->key > b->key ? 1 : -1) : (a->at > b->at) - (a->at < b->at);
}

/* By key, ascending; of equal keys the lower number comes first. */
static inline void sort_keyed(keyed *all, int64_t n) {
  if (n > 1) qsort(all, (size_t)n, sizeof *all, sort_compare_keyed);
}

/* Sorts n pairs by their keys; pairs of equal keys keep their order. `spare` holds n more. */
typedef struct sort_pair {
  uint64_t key;
  int32_t at;
} sort_pair;
void sort_pairs(sort_pair *pairs, sort_pair *spare, int64_t n);

#endif
