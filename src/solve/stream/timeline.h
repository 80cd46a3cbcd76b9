/* solve/stream/timeline.h - the busy time of one device: where a task fits first, also in gaps between others.
 *
 * Gaps are kept in a treap by start time (Seidel, Aragon, "Randomized search trees", 1996, with hashed priorities, so
 * that runs repeat), each node knowing the longest gap below it: a search or an insertion takes O(log gaps). */
#ifndef SITU_SOLVE_STREAM_TIMELINE_H
#define SITU_SOLVE_STREAM_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

typedef struct timeline_gap {
  int64_t start, length, longest; /* longest: of this node and all below */
  int32_t left, right;            /* nodes, 0: none */
  uint32_t priority;
} timeline_gap;

/* The gaps of all devices of one schedule: nodes 1 .. used, of which some are released again. */
typedef struct timeline_pool {
  timeline_gap *gaps;
  int32_t used, capacity;
  int32_t *released, n_released; /* roots of released trees */
} timeline_pool;

typedef struct timeline {
  int32_t root;
  int64_t end; /* everything after this is free */
  int64_t min; /* gaps shorter than this are forgotten */
} timeline;

/* Room for `tasks` insertions in all timelines together. False without memory. */
bool timeline_pool_init(timeline_pool *pool, arena *a, int64_t tasks);
void timeline_pool_clear(timeline_pool *pool);

/* The earliest start >= ready of a task of that duration. */
int64_t timeline_find(const timeline_pool *pool, const timeline *t, int64_t ready, int64_t duration);
/* Puts a task at a start that timeline_find gave (or at or after the end). */
void timeline_put(timeline_pool *pool, timeline *t, int64_t start, int64_t duration);

/* Forgets the gaps that end at or before `time`: no task will be ready so early any more. */
void timeline_forget(timeline_pool *pool, timeline *t, int64_t time);

#endif
