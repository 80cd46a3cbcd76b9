/* solve/stream/modules.h - modules of a strand graph: parts with much traffic inside and little between, convex, with
 * an acyclic quotient, and not too large.
 *
 * Modularity (Newman, Girvan 2004) with resolution gamma: Q = 1/2m sum over u, v of (w_uv - gamma k_u k_v / 2m) [same
 * module]. Communities come by local moving and aggregation (Blondel, Guillaume, Lambiotte, Lefebvre, "Fast unfolding
 * of communities in large networks", 2008), with a limit on their size. They ignore directions; three methods turn them
 * into modules with an acyclic quotient, which makes each module convex. */
#ifndef SITU_SOLVE_STREAM_MODULES_H
#define SITU_SOLVE_STREAM_MODULES_H

#include "solve/stream/strands.h"

typedef enum module_way {
  MODULES_MERGED, /* communities on a common cycle are merged, then those that are too large are cut along an order */
  MODULES_GROWN,  /* strands merge along the heaviest edges, within communities first, where no cycle comes of it */
  MODULES_ORDERED /* the best modularity among divisions of a topological order into segments: dynamic program */
} module_way;

typedef struct modules {
  int32_t n;
  int32_t *of;             /* [strand]; numbers are topological */
  int32_t *start, *strand; /* strands of module k: strand[start[k] .. start[k + 1]), ascending */
} modules;

typedef struct module_rules {
  module_way way;
  int32_t max_size;     /* strands in a module */
  double resolution;    /* gamma: greater for smaller modules */
  const int32_t *order; /* [strand] a topological order of the strands, where the way needs one */
} module_rules;

/* Communities alone, numbered by first strand. Returns how many, -1 without memory. */
int32_t modules_communities(int32_t *label, const strand_graph *g, double resolution, int32_t max_size, arena *scratch);
/* NULL, or which of the invariants above does not hold (base/contracts.h). O(V + E). */
const char *modules_check(const modules *m, const strand_graph *g);
/* False without memory. */
bool modules_find(modules *out, const strand_graph *g, const module_rules *rules, arena *a);

#endif
