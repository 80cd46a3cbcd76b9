/* sim/simulation.h - the results of a simulated run. */
#ifndef SITU_SIM_SIMULATION_H
#define SITU_SIM_SIMULATION_H

#include "plan/plan.h"

/* What one run found. */
typedef struct simulation {
  int64_t value_ns;              /* makespan or period; SITU_NEVER_NS if an operator cannot run on its device, or the
                                    placement breaks a rule of its execution model (an order that is not topological, a
                                    cycle among calls, too many of them, contiguity); stream has no times,
                                    loads or memory then */
  int64_t latency_ns, period_ns; /* stream where the period matters: both; else SITU_NEVER_NS */
  int64_t secondary_ns;          /* by the secondary costs, where they limit plans; else SITU_NEVER_NS */
  int64_t over_ns;               /* by how much a limit of time is exceeded; else 0 */
  int64_t excess_bytes; /* memory over the limits, summed over memories; 0 when it fits. A search may use it as a
                           penalty; a placement with any excess is infeasible. */
  bool stopped;         /* simulator_run_below: the value is the limit or more, and nothing else is known */
  int32_t worst_device; /* pipeline: the device of maximum load; else the last to finish */
  const int64_t *start_ns, *finish_ns; /* stream, calls: [operator], borrowed until the next run; else NULL */
  const int64_t *load_ns;              /* pipeline: [device], borrowed; stream: busy time */
  const int64_t *peak_bytes;           /* [memory], borrowed */
} simulation;

/* The bytes in a memory from a time on. */
typedef struct memory_change {
  int64_t time_ns, held_bytes;
  int32_t memory;
} memory_change;

#endif
