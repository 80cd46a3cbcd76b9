/* base/max_flow.h - maximum flow and minimum cut in a directed network with whole capacities, by pushing excess towards
 * the sink, first in first out, with exact distances from time to time (Goldberg, Tarjan, "A new approach to the
 * maximum-flow problem", JACM 35, 1988; Cherkassky, Goldberg, "On implementing the push-relabel method for the maximum
 * flow problem", Algorithmica 19, 1997). O(V^3), on networks of placements near O(E). */
#ifndef SITU_BASE_MAX_FLOW_H
#define SITU_BASE_MAX_FLOW_H

#include "base/arena.h"
#include "base/budget.h"

/* What no cut may part. Capacities and their sums stay below INT64_MAX. */
#define MAX_FLOW_ENDLESS ((int64_t)1 << 60)

/* Half an arc: arc ^ 1 goes back. */
typedef struct max_flow_arc {
  int64_t residual; /* what more can flow */
  int32_t to, next; /* the next one of the same node, or -1 */
} max_flow_arc;

typedef struct max_flow {
  int32_t n_nodes, n_arcs, max_arcs;
  int32_t *first; /* [node] its first arc, or -1 */
  max_flow_arc *arcs;
  int64_t *capacity;           /* [arc] */
  __int128 *excess;            /* [node] what flows in and not out; endless arcs may fill it */
  int32_t *level, *at, *queue; /* [node] */
} max_flow;

/* A network without arcs, in the arena. False without memory. */
bool max_flow_new(max_flow *f, int32_t n_nodes, int32_t n_arcs, arena *a);
/* Forgets arcs and flow; n_nodes may be less than it was made for. */
void max_flow_clear(max_flow *f, int32_t n_nodes);
/* Adds an arc of capacity >= 0 and returns its number; an arc back of capacity 0 comes with it. At most n_arcs
 * are added. */
int32_t max_flow_add(max_flow *f, int32_t from, int32_t to, int64_t capacity);
/* Finds a maximum flow and returns it; where the budget ends, a flow that may not be maximum. */
int64_t max_flow_run(max_flow *f, int32_t source, int32_t sink, budget *b);
/* What flows through an arc. */
static inline int64_t max_flow_on(const max_flow *f, int32_t arc) { return f->capacity[arc] - f->arcs[arc].residual; }
/* After a whole run: whether a node is on the side of the source, in the minimum cut whose side is smallest. */
static inline bool max_flow_with_source(const max_flow *f, int32_t node) { return f->level[node] >= 0; }

#endif
