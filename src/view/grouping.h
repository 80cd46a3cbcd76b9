/* view/grouping.h - operators that a heuristic keeps on one device: the colocation groups of the problem, or
 * larger ones. */
#ifndef SITU_VIEW_GROUPING_H
#define SITU_VIEW_GROUPING_H

#include "problem/problem.h"

/* Members of group k: member[start[k]] .. member[start[k+1]-1], ascending. */
typedef struct grouping {
  int32_t n_groups;
  const int32_t *of; /* [operator] its group, or -1: alone */
  const int32_t *start, *member;
} grouping;

/* The colocation groups; borrows from the problem. */
grouping grouping_of_colocations(const situ_problem *problem);

/* Co-placement (Jeon et al., "Baechi", SoCC 2020): an operator with exactly one consumer goes where that goes. One pass
 * is the fixpoint, because joining changes no operator's consumers. Groups are joined only while one device may run
 * all, and (here) while they take a small part of the largest memory, so that they still pack. A heuristic: branches
 * that meet share a device. *larger says whether anything was joined. False without memory. */
bool grouping_coplace(grouping *out, bool *larger, const situ_problem *problem, arena *a);

/* The only operator that reads from v; -1 where there are none or several. */
int32_t grouping_only_consumer(const situ_graph *g, int32_t v);

/* The members that move with *v: its group, or *v alone. Returns their number. */
static inline int32_t grouping_unit(const grouping *g, const int32_t *v, const int32_t **members) {
  int32_t k = g->of[*v];
  *members = k >= 0 ? g->member + g->start[k] : v;
  return k >= 0 ? g->start[k + 1] - g->start[k] : 1;
}

#endif
