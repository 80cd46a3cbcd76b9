/* plan/part_list.h - a placement as a few parts, each of which an engine runs as one piece, and the tensors between
 * them. */
#ifndef SITU_PLAN_PART_LIST_H
#define SITU_PLAN_PART_LIST_H

#include "problem/problem.h"
#include "situ/explain.h"

/* The parts of view/pieces.h, numbered in order of `when` ([operator], a start time, for example; NULL: of their first
 * operators), then of their first operators. */
typedef struct part_list {
  int32_t n;
  int32_t *of;          /* [operator] its part */
  situ_part *part;      /* [n] */
  int64_t handed_bytes; /* bytes that go to another memory, once for each tensor and receiving memory */
} part_list;

/* Arrays in the arena. False without memory. */
bool part_list_find(part_list *out, const situ_problem *problem, const int32_t *device, const int64_t *when, arena *a);
/* What each part holds, in words: [n] texts in the arena. False without memory. */
bool part_list_name(const char ***out, const part_list *parts, const situ_problem *problem, arena *a);

#endif
