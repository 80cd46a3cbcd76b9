/* view/unit.h - what every plan keeps on one device: a unit, that is a colocation group or an operator alone. */
#ifndef SITU_VIEW_UNIT_H
#define SITU_VIEW_UNIT_H

#include "problem/problem.h"

/* The operators that move with v, v among them. */
static inline unit_members unit_of(const situ_problem *p, int32_t v) {
  return unit_list_members(&p->units, p->units.of[v]);
}

/* Whether u and v move together. */
static inline bool unit_joins(const situ_problem *p, int32_t u, int32_t v) { return p->units.of[u] == p->units.of[v]; }

/* Whether v and those that move with it may be on device d. */
static inline bool unit_allows(const situ_problem *p, int32_t v, int32_t d) {
  return problem_allows_all(p, unit_of(p, v), d);
}

/* device[] of all members becomes d. */
static inline void unit_members_put(unit_members u, int32_t *device, int32_t d) {
  for (int32_t i = 0; i < u.n; i++) device[u.member[i]] = d;
}

/* Puts v and those that move with it on d; false where one of them may not go there. */
static inline bool unit_put(const situ_problem *p, int32_t *device, int32_t v, int32_t d) {
  unit_members u = unit_of(p, v);
  if (!problem_allows_all(p, u, d)) return false;
  unit_members_put(u, device, d);
  return true;
}

#endif
