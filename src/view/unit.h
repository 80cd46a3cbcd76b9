/* view/unit.h - operators that move together: a colocation group, or one operator alone. */
#ifndef SITU_VIEW_UNIT_H
#define SITU_VIEW_UNIT_H

#include "problem/problem.h"

/* The members that move with *v: its group, or v alone. Returns their number; *members may point to v itself. */
static inline int32_t unit_of(const situ_problem *p, const int32_t *v, const int32_t **members) {
  int32_t group = p->graph->colocation[*v];
  *members = group >= 0 ? p->group_member + p->group_start[group] : v;
  return group >= 0 ? p->group_start[group + 1] - p->group_start[group] : 1;
}

/* Whether all of some operators may be on device d, as far as each alone is concerned. */
static inline bool members_allow(const situ_problem *p, const int32_t *members, int32_t n, int32_t d) {
  for (int32_t i = 0; i < n; i++)
    if (!problem_allows(p, members[i], d)) return false;
  return true;
}

/* Whether v and those that move with it may be on device d. */
static inline bool unit_allows(const situ_problem *p, int32_t v, int32_t d) {
  const int32_t *members;
  int32_t n = unit_of(p, &v, &members);
  return members_allow(p, members, n, d);
}

/* Puts v and those that move with it on d; false where one of them may not go there. */
static inline bool unit_put(const situ_problem *p, int32_t *device, int32_t v, int32_t d) {
  const int32_t *members;
  int32_t n = unit_of(p, &v, &members);
  if (!members_allow(p, members, n, d)) return false;
  for (int32_t i = 0; i < n; i++) device[members[i]] = d;
  return true;
}

#endif
