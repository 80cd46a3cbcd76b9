/* problem/unit_list.h - a partition of the operators into units, the things that get a device each. */
#ifndef SITU_PROBLEM_UNIT_LIST_H
#define SITU_PROBLEM_UNIT_LIST_H

#include <stdbool.h>

#include "base/arena.h"

/* Units are numbered in order of their first operators. */
typedef struct unit_list {
  int32_t n;
  int32_t *of;             /* [operator] its unit */
  int32_t *start, *member; /* operators of unit u: member[start[u] .. start[u+1]), ascending */
} unit_list;

/* Operators of one key (0 .. n_keys-1) are one unit; key ([operator]) becomes out->of. The other arrays live in the
 * arena. O(n_operators + n_keys). False without memory. */
bool unit_list_find(unit_list *out, int32_t *key, int32_t n_operators, int32_t n_keys, arena *a);

/* NULL, or which of the invariants above does not hold (base/contracts.h). O(n_operators). */
const char *unit_list_check(const unit_list *units, int32_t n_operators);

/* The operators of one unit, ascending; borrowed. */
typedef struct unit_members {
  const int32_t *member;
  int32_t n;
} unit_members;

static inline unit_members unit_list_members(const unit_list *units, int32_t u) {
  return (unit_members){units->member + units->start[u], units->start[u + 1] - units->start[u]};
}

#endif
