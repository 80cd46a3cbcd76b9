/* exact/recompute_chain.h - contiguous pipelines of training steps along a chain, where each layer keeps its
 * activations or computes them again, whichever is better for its stage: the plan of the shortest period over all
 * choices, and a proof that no choice has a shorter one. docs/theory/exact/recompute_chain.md. */
#ifndef SITU_EXACT_RECOMPUTE_CHAIN_H
#define SITU_EXACT_RECOMPUTE_CHAIN_H

#include "base/budget.h"
#include "problem/problem.h"

typedef struct recompute_plan {
  const char *unfit; /* why the program does not serve these problems, for people; else NULL, and: */
  bool infeasible;   /* no choice has a plan */
  int32_t *device;   /* [operator of `all`]; NULL: no plan was found */
  bool *again;       /* [n_segments] */
  int64_t value_ns;  /* of it, where links do not limit it */
  int64_t lower_ns;  /* no plan of any choice is shorter */
} recompute_plan;

/* The same training step twice: without recomputation, and with that of all layers. The bound is over all contiguous
 * plans of all choices. Unless `strict`, the plan may be too good: a few operators beside the chain may be cut off at
 * no cost, and memory that only the recomputation of another stage needs does not count. With it the plan is one, as
 * good as those that cut nothing there, and the bound is about these. Links of pipelines that are not staged never
 * count. The plan is in `a`. False without memory. */
bool recompute_chain_solve(recompute_plan *out, const situ_problem *none, const situ_problem *all, bool strict,
                           budget *budget, arena *a);

#endif
