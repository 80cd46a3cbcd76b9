/* chain/visit_path.h - how soon a path of operators can end when each visit that it pays to a memory may keep no more
 * there than fits, and what passes it by uses the same links. docs/theory/bounds/visit_labels.md has the rules and why
 * they hold. */
#ifndef SITU_CHAIN_VISIT_PATH_H
#define SITU_CHAIN_VISIT_PATH_H

#include "base/budget.h"
#include "chain/visits.h"

/* A path and operators that pass it by. */
typedef struct visit_path {
  const int32_t *chain; /* each operator reads a tensor of the one before */
  /* [bypass] positions in the chain. Each begins where the one before it ends or later, or both begin and end with the
   * same operators; to - from > 1 where it has no operators. */
  const int32_t *from, *to;
  const int32_t *start, *beside; /* its operators are beside[start[r] .. start[r + 1]): a path from chain[from[r]] to
                                    chain[to[r]] outside the chain and all others */
  int32_t n, n_bypasses;
  int64_t unit_bytes; /* the bytes of each operator are counted in these, rounded down */
} visit_path;

/* A tensor of u that v reads, the first on the side of whichever has fewer; -1: none. */
int32_t visit_path_tensor(const situ_graph *g, int32_t u, int32_t v);

/* *lower_ns: no plan of the stream problem is done sooner, by this path; 0 when the budget, or the number of labels
 * that are kept, ends before; SITU_NEVER_NS if there is no plan. memory[operator], or NULL: if it is more than 0, the
 * memories where what takes that long could have them, -1 where it says nothing. False without memory. */
bool visit_labels_bound(int64_t *lower_ns, int32_t *memory, const visits *v, const visit_path *path,
                        const int64_t *head, const int64_t *tail, budget *b);

#endif
