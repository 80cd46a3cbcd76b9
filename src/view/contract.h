/* view/contract.h - what contiguous pipelines see of a graph: the constraint graph F of docs/model.md, and the
 * classes of operators that every contiguous placement keeps on one device.
 *
 * The reduction follows Tarnawski et al. (NeurIPS 2020), Appendix: colocation groups become classes; classes that reach
 * each other in F are fused, because a placement that parts them has a cycle. It loses no contiguous placement. */
#ifndef SITU_VIEW_CONTRACT_H
#define SITU_VIEW_CONTRACT_H

#include "base/arena.h"
#include "problem/problem.h"

/* Successors of v: to[start[v] .. start[v+1]), ascending by the operator or class that the edge was found at. */
typedef struct constraint_graph {
  int32_t n;
  int32_t *start, *to;
} constraint_graph;

/* F between operators, with repeated edges, self edges left out. An edge belongs to the class of each of its ends.
 * Forward tensors go from producer to user; backward tensors that touch a class without forward operators go from
 * user to producer. O(V + E). False without memory, or with more than 2^31 - 1
 * uses. */
bool constraint_graph_find(constraint_graph *out, const situ_problem *problem, arena *a);

/* The same edges reversed: predecessors, ascending. False without memory. */
bool constraint_graph_reverse(constraint_graph *out, const constraint_graph *f, arena *a);

/* A topological order of F, breadth first from the lowest numbers. Returns how many are in it, fewer where F has
 * cycles; -1 without memory. */
int32_t constraint_graph_order(int32_t *order, const constraint_graph *f, arena *scratch);

/* The operators of each device as lists, ascending: first_on ([device]), next_on ([operator]); -1 ends. */
void constraint_graph_list(int32_t *first_on, int32_t *next_on, const int32_t *device, int32_t n_operators,
                           int32_t n_devices);
/* The depth of the parts of devices: how many devices are on the longest path from each to the end, its own and those
 * that share it included (n_sharing: [device]). order: n devices, each before those that its part leads to. */
void constraint_graph_depths(int64_t *depth, const constraint_graph *f, const int32_t *device, const int32_t *order,
                             int32_t n, const int32_t *first_on, const int32_t *next_on, const int32_t *n_sharing);

/* Classes, numbered in order of their first operator, and F between them: acyclic once fused, no edge twice. */
typedef struct contraction {
  int32_t n_classes;
  int32_t *class_of;              /* [operator] */
  int32_t *member_start, *member; /* operators of class c: member[member_start[c] .. member_start[c+1]), ascending */
  constraint_graph forward;       /* successors of each class, ascending */
} contraction;

static inline unit_members contraction_members(const contraction *c, int32_t k) {
  return (unit_members){c->member + c->member_start[k], c->member_start[k + 1] - c->member_start[k]};
}

/* With fuse = false classes are the colocation groups only, which every plan keeps together, and F may have cycles.
 * O(V + E), sorting aside. False without memory. */
bool contract(contraction *out, const situ_problem *problem, bool fuse, arena *a);

/* The same for coarser classes: operators of one key (0 .. n_keys-1) share one; units must not be parted. key
 * ([operator]) becomes out->class_of. */
bool contract_merged(contraction *out, const situ_problem *problem, int32_t *key, int32_t n_keys, bool fuse, arena *a);

/* NULL, or the invariant that does not hold (base/contracts.h); does not check that F is acyclic. */
const char *contraction_check(const contraction *c, int32_t n_operators);

/* The inverse: each operator gets the device of its class. */
void contraction_expand(const contraction *c, const int32_t *class_device, int32_t *device);

#endif
