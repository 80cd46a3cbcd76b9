/* exact/block_list.h - a thin graph cut into blocks, and the minimum time from each cut to the end.
 *
 * All ancestors of a cut v end before v starts, and all descendants start after v has ended. So with T(a, b) the
 * minimum time from the end of one cut on device a to the end of the next on b,
 *
 *     rest(a) = min over b of (T(a, b) + rest'(b))
 *
 * is a lower bound on the time from the one cut to the end of everything. Tensors that cross a cut but are not outputs
 * of it count as present everywhere. If T is too hard to compute, a smaller value replaces it. Equal blocks with the
 * same differences of rest' are searched once.
 *
 * No chain of chain/chain.h: what lies between two cuts is not on one device, and T is a search, not a sum. */
#ifndef SITU_EXACT_BLOCK_LIST_H
#define SITU_EXACT_BLOCK_LIST_H

#include "exact/block.h"
#include "problem/certificate.h"

typedef struct block_list {
  const block_machine *machine;
  const thin_graph *graph;
  int32_t n_blocks;
  int32_t *first, *last; /* [n_blocks] operators of the thin graph */
  int64_t *rest_ns;   /* [(n_blocks + 1) * devices] from the end of the cut before block k on a device; 0 at the end */
  bool closed;        /* the last operator of the graph is a cut */
  bool exact;         /* each T is exact */
  bool merged;        /* some proof needed merged schedules */
  bool solved;        /* each T comes from a search, exact or merged */
  bool raised;        /* some rest was known to be more than T proves */
  int64_t n_children; /* work done */
  int64_t n_judged;   /* the same, had no result been taken over: what a judge repeats */
} block_list;

/* Results of blocks, kept for other lists; starts as NULL, lives in the arena of the lists. */
typedef struct block_finding block_finding;

typedef struct block_list_limits {
  int32_t first_width;    /* of a layer: the first that is tried, and */
  int32_t width;          /* the last; the search for a first plan takes less */
  int64_t max_children;   /* in all; what is left is shared by the blocks to come */
  int64_t upper_ns;       /* rests of schedules that take as long count as that long; BLOCK_FAR_NS: none */
  const int64_t *head_ns; /* [operator * devices] earliest ends (bound/bound.h); NULL without upper_ns */
  int64_t *known_ns;      /* [operator * devices] proved rests of cuts, which are raised; may be NULL */
  bool uncut;             /* all of it as one block, which loses nothing over cuts; at most BLOCK_OPERATORS operators */
  budget *budget;         /* polled, not spent */
  block_finding **findings;
} block_list_limits;

/* False without memory. */
bool block_list_find(block_list *out, const block_machine *m, const thin_graph *g, const block_list_limits *limits,
                     arena *a);

/* A certificate of the rests. False without memory. */
bool block_list_certify(certificate *proof, const block_list *c, arena *a);

#endif
