/* base/csr.h - lists by number in two arrays ("compressed sparse rows"): list k is item[start[k] .. start[k+1]).
 *
 * Lists are made by counting: csr_count for each item, csr_sum, then csr_put for each item again, which returns its
 * position. Items of one list keep the order in which they are put. `start` has room for n + 2 numbers, all 0 before
 * the first count; the two spare places save a second array of positions. */
#ifndef SITU_BASE_CSR_H
#define SITU_BASE_CSR_H

#include <stdbool.h>

#include "base/arena.h"

static inline void csr_count(int32_t *start, int32_t k) { start[k + 2]++; }

/* From counts to places, for n lists. */
static inline void csr_sum(int32_t *start, int32_t n) {
  for (int32_t k = 0; k < n; k++) start[k + 2] += start[k + 1];
}

static inline int32_t csr_put(int32_t *start, int32_t k) { return start[k + 1]++; }

/* The items 0 .. n_items-1 by their keys 0 .. n-1, ascending; those of key -1 are in no list. `start` ([n + 2], all 0)
 * and `item` are the caller's. */
static inline void csr_fill(int32_t *start, int32_t *item, const int32_t *key, int32_t n_items, int32_t n) {
  for (int32_t i = 0; i < n_items; i++)
    if (key[i] >= 0) csr_count(start, key[i]);
  csr_sum(start, n);
  for (int32_t i = 0; i < n_items; i++)
    if (key[i] >= 0) item[csr_put(start, key[i])] = i;
}

/* The same, with both arrays made in the arena. False without memory. */
bool csr_by_key(int32_t **start, int32_t **item, const int32_t *key, int32_t n_items, int32_t n, arena *a);

/* The other direction of lists of 0 .. n-1: back k, ascending, are the lists that k is in, once for each time. False
 * without memory. */
bool csr_transpose(int32_t **back_start, int32_t **back, const int32_t *start, const int32_t *item, int32_t n_lists,
                   int32_t n, arena *a);

/* Numbers the distinct values of key[0 .. n_items) (each 0 .. n_keys-1) from 0, in order of first appearance: number[i]
 * is that of key[i]. Returns how many there are. of_key[n_keys] is scratch; `number` may be `key`. */
int32_t csr_number_keys(int32_t *number, const int32_t *key, int32_t n_items, int32_t *of_key, int32_t n_keys);

#endif
