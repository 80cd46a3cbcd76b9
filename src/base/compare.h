/* base/compare.h - comparators for qsort, by one field after another:
 * COMPARATOR(by_end, interval, UP(end_ns) DOWN(length)) */
#ifndef SITU_BASE_COMPARE_H
#define SITU_BASE_COMPARE_H

#define UP(FIELD) \
  if (x->FIELD != y->FIELD) return x->FIELD < y->FIELD ? -1 : 1;
#define DOWN(FIELD) \
  if (x->FIELD != y->FIELD) return x->FIELD > y->FIELD ? -1 : 1;
#define COMPARATOR(NAME, TYPE, FIELDS)                  \
  static int NAME(const void *one, const void *other) { \
    const TYPE *x = one, *y = other;                    \
    FIELDS return 0;                                    \
  }

#endif
