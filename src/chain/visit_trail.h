/* chain/visit_trail.h - where the labels of a path (chain/visit_path.h) have its operators, and a memory for each visit
 * of the best one: the relaxation forgets what a memory kept before, a plan cannot. */
#ifndef SITU_CHAIN_VISIT_TRAIL_H
#define SITU_CHAIN_VISIT_TRAIL_H

#include "chain/visits.h"

/* Places of operators while a bypass is open: the memory in which it began, the one in which it ends, or (0 and up)
 * another memory of a kind. */
enum { HOME = -1, GOAL = -2 };

typedef struct trail_step {
  int32_t before, beside; /* steps, -1: none. beside: the last of a bypass; outside, of what the block before it did */
  int32_t v;              /* operator, -1: none, this joins two bypasses */
  int32_t place;          /* outside blocks a kind */
  int32_t visit;          /* of an operator within a block: a number, in its block, of its visit to another memory */
  bool fresh;             /* its visit begins with it */
  bool final, inside;     /* in the goal; within a block */
} trail_step;

typedef struct trail_pool {
  trail_step *at;
  int32_t n, capacity;
} trail_pool;

/* Labels keep the number of their last step. While a block is open, steps are of `inside` and begin with -1. */
typedef struct visit_trail {
  trail_pool outside, inside;
  arena *a;
  bool no_memory;
} visit_trail;

/* Returns the number of the step; -1 without memory. */
int32_t trail_add(visit_trail *t, trail_pool *to, trail_step s);
/* Adds to `outside` what was done in a block, given the step of its last operator, which is not added, and the last one
 * of the bypasses. Returns the number of the last step. */
int32_t trail_keep(visit_trail *t, int32_t last, int32_t bypasses);
/* memory[operator]: where the operators of a trail can be; -1: not on it. Visits get memories of their kinds, from
 * the first on, each the fullest that it fits into, or else the emptiest. False without memory. */
bool trail_memories(int32_t *memory, visit_trail *t, int32_t last, const visits *v);

#endif
