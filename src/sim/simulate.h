/* sim/simulate.h - from a placement to its value, fast and repeatedly, or once with everything that can be told.
 *
 * A simulator is made for one problem and used for many placements; it holds all the memory that it needs, so that a
 * run allocates nothing. One per thread. */
#ifndef SITU_SIM_SIMULATE_H
#define SITU_SIM_SIMULATE_H

#include "plan/plan.h"

typedef struct simulator simulator;

/* NULL without memory. Freed with the arena it was made in. */
simulator *simulator_new(const situ_problem *problem, arena *a);

/* What one run found. */
typedef struct simulation {
  int64_t value_ns;              /* makespan or period; SITU_NEVER_NS when an operator sits where it cannot run, or the
                                    placement breaks a rule of its execution model (an order that is not topological, a
                                    cycle among calls, too many of them, contiguity); stream has no times,
                                    loads or memory then */
  int64_t latency_ns, period_ns; /* stream where the period matters: both; else SITU_NEVER_NS */
  int64_t over_ns;               /* by how much a greatest period or latency is exceeded; 0 when it is kept */
  int64_t excess_bytes; /* memory over the limits, summed over memories; 0 when it fits. A search may use it as a
                           penalty; a placement with any excess is infeasible. */
  bool stopped;         /* simulator_run_below: the value is the limit or more, and nothing else is known */
  int32_t worst_device; /* pipeline: the device of the greatest load; else the last to finish */
  const int64_t *start_ns, *finish_ns; /* stream, calls: [operator], borrowed until the next run; else NULL */
  const int64_t *load_ns;              /* pipeline: [device], borrowed; stream: busy time */
  const int64_t *peak_bytes;           /* [memory], borrowed */
} simulation;

/* Runs a placement. Pins and colocation are not looked at: the checker does. With memory = false the memory over time
 * is not followed (excess_bytes = 0, peak_bytes NULL), which is faster. */
simulation simulator_run(simulator *s, const placement *where, bool memory);

/* A run that others, of placements like it, take over what is the same from. It belongs to the one who searches; more
 * than one may be in use. What is found never depends on it, only how soon: docs/theory/trial_runs.md. */
typedef struct simulator_base simulator_base;

/* An empty one, in an arena that the simulator outlives. NULL without memory. */
simulator_base *simulator_base_new(simulator *s, arena *a);
/* As simulator_run; afterwards the placement is the base. */
simulation simulator_run_base(simulator *s, simulator_base *b, const placement *where, bool memory);
/* As simulator_run where the value is below limit_ns. Else it ends as soon as that is sure: `stopped` is set, value_ns
 * is limit_ns or SITU_NEVER_NS, and times, loads and memory are not told. SITU_NEVER_NS as the limit runs all to the
 * end.
 */
simulation simulator_run_below(simulator *s, simulator_base *b, const placement *where, bool memory, int64_t limit_ns);

/* Fills order ([operator]) with the sequence that arises where no device waits for one operator while it could run
 * another: of those whose inputs are there it takes the one of highest priority ([operator], ties to the lower number),
 * as the ready queues of runtimes do. Returns how long that takes; SITU_NEVER_NS where an operator sits where it cannot
 * run, and for all but stream problems with contention on links. As much work as a run. */
int64_t simulator_dispatch(simulator *s, const int32_t *device, const double *priority, int32_t *order);

/* A whole plan from a placement: times, transfers, loads, memory; value only, no bound. */
situ_status simulator_plan(situ_plan **out, simulator *s, const placement *where, situ_error *error);

/* What a memory holds from a time on. */
typedef struct memory_change {
  int64_t time_ns, held_bytes;
  int32_t memory;
} memory_change;

/* The memories over time in a stream schedule, as changes by time, at most one for each memory and instant, weights at
 * time 0. *out lives in the arena; *n is 0 for the other execution models, which have no such times. */
situ_status simulator_memory(memory_change **out, int64_t *n, simulator *s, const placement *where, arena *a,
                             situ_error *error);

#endif
