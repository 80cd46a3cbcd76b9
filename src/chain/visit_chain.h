/* chain/visit_chain.h - how soon a chain of operators can end when each visit that it pays to a memory may keep no more
 * there than fits. docs/theory/bounds/visits.md has the recursions and why they hold.
 *
 * No chain of chain/chain.h: between its operators lies more than one device may hold, so a label is a visit, with the
 * bytes that it keeps, and what lies between two operators is a search of its own. */
#ifndef SITU_CHAIN_VISIT_CHAIN_H
#define SITU_CHAIN_VISIT_CHAIN_H

#include "base/arena.h"
#include "base/budget.h"
#include "problem/problem.h"

enum { VISIT_PRICE_BITS = 32 }; /* prices of a byte are whole numbers of 2^-32 ns */

typedef struct visits {
  const situ_problem *problem;
  int32_t n_memories;
  int64_t *time_ns;         /* [operator * n_memories + memory] on its fastest device; SITU_NEVER_NS: on none */
  int64_t *head, *tail;     /* [the same] minimum time to its end, and from there to the end of everything */
  int64_t *weight_bytes;    /* [operator] of its whole colocation group */
  int64_t *footprint_bytes; /* [operator] what else is in its memory while it runs */
  arena *scratch;
} visits;

/* Fills *v, with everything in the arena, which also serves as scratch later on. False without memory. */
bool visits_init(visits *v, const situ_problem *problem, arena *a);

/* Each operator is an ancestor of the next, n > 0. A bypass leads from chain[from] to chain[to], more than one further,
 * around all operators between them; the next bypass begins no earlier than the previous one ends. Prices of a byte are
 * at least 0. */
typedef struct visit_chain {
  const int32_t *chain, *from, *to;
  const int64_t *price;
  int32_t n, n_bypasses, n_prices;
} visit_chain;

/* NULL, or which of these does not hold (base/contracts.h); that each is an ancestor of the next is the caller's word.
 */
const char *visit_chain_check(const visit_chain *chain, const situ_problem *problem);

/* *lower_ns: no plan of the stream problem is done sooner, by this chain. 0 when the budget, or the work that a chain
 * may be, ends before. False without memory. */
bool visits_bound(int64_t *lower_ns, const visits *v, const visit_chain *chain, budget *b);

/* before[v]: the last of the chain that is v or an ancestor of v, -1: none; behind[v]: the first that is v or a
 * descendant of v, n: none. Both are positions in the chain. False without memory. */
bool visits_span(int32_t *before, int32_t *behind, const situ_graph *g, const int32_t *chain, int32_t n, arena *a);

#endif
