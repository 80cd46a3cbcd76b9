/* view/nets.h - the parts of a partition that a tensor joins: with two or more of them it is a net, they are its pins.
 */
#ifndef SITU_VIEW_NETS_H
#define SITU_VIEW_NETS_H

#include "graph/graph.h"

/* Fills pins with the distinct parts that tensor t joins, the producer's first, the others in order of the first user
 * there; part_of is [operator]. Returns how many. seen ([part], all 0 before the first tensor) is scratch that no
 * tensor may use twice. */
static inline int32_t nets_pins(const situ_graph *g, int32_t t, const int32_t *part_of, int32_t *seen, int32_t *pins) {
  int32_t n = 0;
  pins[n++] = part_of[g->producer[t]];
  seen[pins[0]] = t + 1;
  for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
    int32_t part = part_of[g->use[i]];
    if (seen[part] == t + 1) continue;
    seen[part] = t + 1;
    pins[n++] = part;
  }
  return n;
}

#endif
