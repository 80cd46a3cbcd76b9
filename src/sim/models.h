/* sim/models.h - the seam between the simulator and the execution models: one row for each model, each in its own file
 * that exports one const struct. sim/simulate.c picks the row of a problem. */
#ifndef SITU_SIM_MODELS_H
#define SITU_SIM_MODELS_H

#include "sim/simulation.h"

typedef struct execution_model {
  situ_execution execution;
  /* Allocates all that runs of this problem need, in the arena; NULL without memory. */
  void *(*make)(const situ_problem *problem, arena *a);
  /* Runs a placement; `out` comes in zeroed, with value SITU_NEVER_NS and worst_device -1. Allocates nothing.
   * Devices are in range; a given order is a permutation, but may be no topological order. */
  void (*run)(void *model, const placement *where, bool memory, simulation *out);
  /* simulator_base_new, simulator_run_base, simulator_run_below; NULL for models that always run completely. `out`
   * comes in as for run; a run of limit_ns or more may leave it so and set `stopped`. */
  void *(*base_new)(void *model, arena *a);
  void (*run_base)(void *model, void *base, const placement *where, bool memory, simulation *out);
  void (*run_below)(void *model, void *base, const placement *where, bool memory, int64_t limit_ns, simulation *out);
  /* Completes a plan, with everything it adds in plan->arena. `plan` comes from plan_new and already has `device`,
   * outcome FEASIBLE, and `uses` with n_operators and memory_limit_bytes filled. The row sets value_ns, the other
   * fields of `uses`, and order, start_ns, finish_ns, call and transfers as far as its model has them. A placement that
   * breaks the model keeps value SITU_NEVER_NS and no times. */
  situ_status (*plan)(void *model, const placement *where, situ_plan *plan, situ_error *error);
  /* simulator_memory; NULL for models without memory over time. */
  situ_status (*memory)(void *model, const placement *where, memory_change **out, int64_t *n, arena *a,
                        situ_error *error);
  /* simulator_dispatch; NULL for models without sequences. */
  int64_t (*dispatch)(void *model, const int32_t *device, const double *priority, int32_t *order, int64_t limit_ns);
} execution_model;

extern const execution_model stream_model, calls_model, pipeline_model;

#endif
