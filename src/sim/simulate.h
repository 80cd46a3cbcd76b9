/* sim/simulate.h - from a placement to its value, fast and repeatedly, or once with every detail.
 *
 * A simulator is made for one problem and used for many placements; it holds all the memory that it needs, so that a
 * run allocates nothing. One per thread. */
#ifndef SITU_SIM_SIMULATE_H
#define SITU_SIM_SIMULATE_H

#include "sim/simulation.h"

typedef struct simulator simulator;

/* NULL without memory. Freed with the arena it was made in. */
simulator *simulator_new(const situ_problem *problem, arena *a);

/* Runs a placement. Ignores pins and colocation, which the checker covers. With memory = false memory use over time is
 * not tracked (excess_bytes = 0, peak_bytes NULL), which is faster. */
simulation simulator_run(simulator *s, const placement *where, bool memory);

/* A base run, from which runs of similar placements reuse the common part. It belongs to the search; there may be
 * several. It never changes results, only the speed: docs/theory/models/trial_runs.md. */
typedef struct simulator_base simulator_base;

/* An empty one, in an arena that the simulator outlives. NULL without memory. */
simulator_base *simulator_base_new(simulator *s, arena *a);
/* As simulator_run; afterwards the placement is the base. */
simulation simulator_run_base(simulator *s, simulator_base *b, const placement *where, bool memory);
/* Like simulator_run if the value is below limit_ns. Otherwise it ends as soon as that is certain: `stopped` is set,
 * value_ns is limit_ns or SITU_NEVER_NS, and times, loads and memory are undefined. With SITU_NEVER_NS as the limit
 * every run is complete.
 */
simulation simulator_run_below(simulator *s, simulator_base *b, const placement *where, bool memory, int64_t limit_ns);

/* Fills order ([operator]) with the sequence of a list schedule: a device never waits for one operator while it could
 * run another. Of those whose inputs have arrived it takes the one of highest priority ([operator], ties to the lower
 * number), as the ready queues of runtimes do. Returns how long that takes, at most limit_ns: it ends as soon as it
 * must take so long, or an operator cannot run on its device; order is undefined then. SITU_NEVER_NS except for stream
 * problems with contention on links. At most as much work as a run. */
int64_t simulator_dispatch(simulator *s, const int32_t *device, const double *priority, int32_t *order,
                           int64_t limit_ns);

/* A whole plan from a placement: times, transfers, loads, memory; value only, no bound. */
situ_status simulator_plan(situ_plan **out, simulator *s, const placement *where, situ_error *error);

/* The memories over time in a stream schedule, as changes by time, at most one for each memory and instant, weights at
 * time 0. *out lives in the arena; *n is 0 for the other execution models, which have no such times. */
situ_status simulator_memory(memory_change **out, int64_t *n, simulator *s, const placement *where, arena *a,
                             situ_error *error);

#endif
