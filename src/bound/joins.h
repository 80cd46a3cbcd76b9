/* bound/joins.h - heads and tails that account for joins: each producer of an operator either runs on the same device,
 * sequentially with others, or pays a transfer. For stream problems. docs/theory/bounds/joins.md
 *
 * Source: Papadimitriou and Yannakakis, SIAM Journal on Computing 19, 1990, section 3 (equal devices, one delay); by
 * device, for unlike devices and links, ours. */
#ifndef SITU_BOUND_JOINS_H
#define SITU_BOUND_JOINS_H

#include "base/budget.h"
#include "problem/problem.h"

/* How many operators before each one are considered, by the size of the problem; 0: it is too large for joins. */
int32_t joins_width(const situ_problem *problem);

typedef struct joins joins;

/* For bounds on this problem, in the arena. NULL without memory. width > 0. */
joins *joins_new(const situ_problem *problem, int32_t width, arena *a);
/* head[v * n_devices + d]: earliest end of v on d; tail[...]: minimum time from there to the end of everything;
 * SITU_NEVER_NS where `may` is false. False if the budget ends first: the results are then invalid. */
bool joins_find(joins *j, int64_t *head, int64_t *tail, const bool *may, budget *b);

#endif
