/* solve/answer/even_memory.h - of language models that are nearly as fast, the one whose equal devices have equal
 * memory left. docs/theory/heuristics/handover_search.md. */
#ifndef SITU_SOLVE_ANSWER_EVEN_MEMORY_H
#define SITU_SOLVE_ANSWER_EVEN_MEMORY_H

#include "solve/answer/handover_search.h"

/* Moves the boundary between two devices of one class that hold consecutive layers, so that weights and caches of both
 * are as equal as can be, in plans of at most limit_ns with as many hand-overs and parts. Does nothing for a model
 * without caches or a plan that cuts layers. The arrays of a new plan are in the arena of the run. At most as many
 * simulations for each boundary as there are layers at it; counts them as steps. NO_MEMORY or OK. */
situ_status even_memory(handover_plan *plan, solve_run *run, double limit_ns);

#endif
