/* base/disjoint.h - disjoint sets of 0 .. n-1 (union-find) in one array of the caller: into[x] is x for the root of a
 * set, else a member nearer to it.
 *
 * Path halving: Tarjan, van Leeuwen, "Worst-case analysis of set union algorithms", J. ACM 31, 1984. A caller that
 * keeps data with roots joins two sets itself, with into[one root] = other root. */
#ifndef SITU_BASE_DISJOINT_H
#define SITU_BASE_DISJOINT_H

#include <stdbool.h>
#include <stdint.h>

static inline void disjoint_init(int32_t *into, int32_t n) {
  for (int32_t x = 0; x < n; x++) into[x] = x;
}

static inline int32_t disjoint_root(int32_t *into, int32_t x) {
  while (into[x] != x) x = into[x] = into[into[x]];
  return x;
}

/* Joins the sets of x and y; the lower of the two roots stays. Where all joins are made so, roots are the first
 * members. */
static inline void disjoint_join(int32_t *into, int32_t x, int32_t y) {
  x = disjoint_root(into, x);
  y = disjoint_root(into, y);
  into[x > y ? x : y] = x > y ? y : x;
}

/* Numbers the sets, whose roots are their first members, in order of these: number[x] is that of the set of x. Returns
 * how many there are. */
static inline int32_t disjoint_number(int32_t *number, int32_t *into, int32_t n) {
  int32_t n_sets = 0;
  for (int32_t x = 0; x < n; x++) {
    int32_t root = disjoint_root(into, x);
    number[x] = root == x ? n_sets++ : number[root];
  }
  return n_sets;
}

#endif
