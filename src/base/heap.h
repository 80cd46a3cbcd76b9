/* base/heap.h - a binary heap of operators, the highest key on top, ties to the lower number. */
#ifndef SITU_BASE_HEAP_H
#define SITU_BASE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct ready_heap {
  const double *key; /* [operator] */
  int32_t *at;
  int32_t n;
} ready_heap;

static inline bool heap_above(const ready_heap *h, int32_t a, int32_t b) {
  return h->key[a] > h->key[b] || (h->key[a] == h->key[b] && a < b);
}

/* Room must be there for one more. */
static inline void heap_push(ready_heap *h, int32_t v) {
  int32_t i = h->n++;
  while (i > 0 && heap_above(h, v, h->at[(i - 1) / 2])) {
    h->at[i] = h->at[(i - 1) / 2];
    i = (i - 1) / 2;
  }
  h->at[i] = v;
}

static inline int32_t heap_pop(ready_heap *h) {
  int32_t top = h->at[0], last = h->at[--h->n], i = 0;
  for (int32_t child = 1; child < h->n; child = 2 * i + 1) {
    if (child + 1 < h->n && heap_above(h, h->at[child + 1], h->at[child])) child++;
    if (!heap_above(h, h->at[child], last)) break;
    h->at[i] = h->at[child];
    i = child;
  }
  h->at[i] = last;
  return top;
}

#endif
