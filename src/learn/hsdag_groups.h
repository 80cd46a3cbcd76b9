/* learn/hsdag_groups.h - the co-location coarsening of HSDAG (Duan et al., "A Structure-Aware Framework for
 * Learning Device Placements on Computation Graphs", NeurIPS 2024), on the units of an environment.
 *
 * Units are visited in their order. A unit that reads from exactly one other joins the group of that one, even if that
 * one has many readers; every other unit opens a group. So a group is a tree, everything that enters it enters at its
 * root, and contraction makes no cycle. Two things are ours: a unit joins only a group that may use the same devices,
 * so that grouping takes no device from anyone; and where colocation makes a cycle of units, a unit whose only producer
 * comes later opens a group.
 *
 * As published, constants are nodes, too, each a group of its own. situ's graphs have none: where they are wanted, each
 * unit with weights has one, a group without units, and these come first, as in a topological order. A unit that reads
 * the input of the network is taken to have another producer. */
#ifndef SITU_LEARN_HSDAG_GROUPS_H
#define SITU_LEARN_HSDAG_GROUPS_H

#include "solve/stream/environment.h"

/* Lists of groups by group: to[start[g] .. start[g+1]), distinct, ascending. */
typedef struct group_lists {
  int32_t *start, *to;
} group_lists;

/* Groups are numbered by their last unit, as published: each unit that joins moves its group to the end. */
typedef struct hsdag_groups {
  int32_t n, n_constants;         /* groups 0 .. n_constants-1 are constants */
  int32_t *group_of;              /* [unit] */
  int32_t *member_start, *member; /* units of group g: member[member_start[g] .. member_start[g+1]), ascending; the
                                     first is the root */
  group_lists next, before;       /* groups that read from g, that g reads from; no edge twice */
  int32_t *place;                 /* [group] its place among the roots: topological where units have no cycle */
  int32_t *class_of;              /* [group] groups of one class may use the same devices; numbers 0 .. */
} hsdag_groups;

/* NULL, or which of the invariants above does not hold (base/contracts.h). */
const char *hsdag_groups_check(const hsdag_groups *groups, const environment *env);

/* Everything lives in the arena. O(V + E), the classes aside. False without memory. */
bool hsdag_groups_find(hsdag_groups *out, const environment *env, bool constants, arena *a);

#endif
