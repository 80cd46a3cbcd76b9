/* exact/call_lattice.h - the ideals of a call graph (sets of nodes that hold all producers of their members), and the
 * calls that lead from one to another.
 *
 * The units of a plan - calls, and single nodes on hosts - have a topological order. Its prefixes are ideals, and each
 * unit is the difference of two of them. */
#ifndef SITU_EXACT_CALL_LATTICE_H
#define SITU_EXACT_CALL_LATTICE_H

#include "base/budget.h"
#include "exact/call_graph.h"

/* An ideal with one node more. */
typedef struct call_step {
  int32_t node, ideal;
} call_step;

typedef struct call_lattice {
  const call_graph *graph;
  int32_t n, n_words;   /* ideals in order of size; 0 is the empty one, n - 1 that of all nodes */
  uint64_t *bits;       /* [ideal * n_words] */
  int64_t *step_start;  /* [n + 1] */
  call_step *step;      /* by ascending node */
  int64_t *front_start; /* [n + 1] nodes inside that are used outside, ascending */
  int32_t *front;
  /* Colocation groups of several nodes, the first 64: a bit each. They tie calls to one device. */
  uint64_t *groups;      /* [node] those it is in */
  uint64_t *begun, *cut; /* [ideal] those with members inside; with members inside and outside */
} call_lattice;

typedef enum call_lattice_result {
  CALL_LATTICE_ALL,
  CALL_LATTICE_TOO_LARGE,
  CALL_LATTICE_NO_MEMORY
} call_lattice_result;

/* Lists all ideals, unless there are more than `limit`. Steps of the budget: 16 ideals. */
call_lattice_result call_lattice_find(call_lattice *out, const call_graph *g, int32_t limit, arena *a, budget *b);

/* The node is inside. */
static inline bool call_lattice_has(const call_lattice *l, int32_t ideal, int32_t v) {
  return l->bits[(int64_t)ideal * l->n_words + v / 64] >> (v % 64) & 1;
}

/* Groups with members in the upper ideal but not in the lower. */
uint64_t call_lattice_groups(const call_lattice *l, int32_t lower, int32_t upper);

/* An iterator over all calls that start at one ideal: each ideal above it whose difference fits into one call, once. */
typedef struct call_iterator {
  const call_lattice *lattice;
  const int64_t *flow_in; /* [use] or NULL */
  const int64_t *through; /* [node] */
  int32_t from, depth;
  int32_t *ideal, *node; /* [depth] */
  int64_t *next;         /* [depth] next step to try */
  int32_t *left;         /* [tensor] made inside: users outside yet; made in `from`: users inside */
  int32_t *feeds;        /* [node of `from`] tensors of it that go into the call */
  /* the current call */
  int64_t compute_ns, in_ns, out_ns, weight_bytes, flow;
} call_iterator;

/* False without memory. flow_in and through may be NULL: then flow is 0. */
bool call_iterator_make(call_iterator *w, const call_lattice *l, const int64_t *flow_in, const int64_t *through,
                        arena *a);
void call_iterator_start(call_iterator *w, int32_t from);
/* Advances to the next call and returns its upper ideal, or -1 at the end. With `deeper` false, all calls that contain
 * the current one are skipped. compute_ns, in_ns, weight_bytes and flow never fall as a call grows. */
int32_t call_iterator_next(call_iterator *w, bool deeper);

#endif
