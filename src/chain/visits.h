/* chain/visits.h - what operators take in memories, and which memories are alike: what the visits of a path
 * (chain/visit_path.h) cost. */
#ifndef SITU_CHAIN_VISITS_H
#define SITU_CHAIN_VISITS_H

#include "base/arena.h"
#include "problem/problem.h"

/* Memories of equal capacity on which each operator takes the same minimum time are one kind, wherever their routes
 * lead. */
typedef struct memory_kinds {
  int32_t n;
  int32_t *of;             /* [memory] */
  int32_t *members, *some; /* [kind] how many memories it has, and one of them */
} memory_kinds;

typedef struct visits {
  const situ_problem *problem;
  int32_t n_memories;
  int64_t *time_ns;         /* [operator * n_memories + memory] on its fastest device; SITU_NEVER_NS: on none */
  int64_t *weight_bytes;    /* [operator] of its whole colocation group */
  int64_t *footprint_bytes; /* [operator] what else is in its memory while it runs */
  memory_kinds kinds;
  arena *scratch;
} visits;

/* Fills *v, with everything in the arena, which also serves as scratch later on. False without memory. */
bool visits_init(visits *v, const situ_problem *problem, arena *a);
/* Finds the kinds of memories again after the times changed. */
void visits_find_kinds(visits *v);

#endif
