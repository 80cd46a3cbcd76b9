#include "sim/simulate.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "sim/models.h"

struct simulator {
  const situ_problem *problem;
  const execution_model *model;
  void *state; /* of the model */
  void *rates; /* stream where the period matters: state of the pipeline model for the view below; else NULL */
  void *other; /* state of the model by the secondary costs; NULL: no limit by them */
  situ_problem view, other_view;
};

static const execution_model *const models[] = {&stream_model, &calls_model, &pipeline_model};

simulator *simulator_new(const situ_problem *problem, arena *a) {
  simulator *s = ARENA_ZERO(a, simulator, 1);
  if (!s) return NULL;
  s->problem = problem;
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
    if (models[i]->execution == problem->execution) s->model = models[i];
  s->state = s->model ? s->model->make(problem, a) : NULL;
  if (problem->secondary) {
    problem_view_costs(&s->other_view, problem, problem->secondary);
    s->other = s->model ? s->model->make(&s->other_view, a) : NULL;
    if (!s->other) return NULL;
  }
  if (!s->state || !problem_has_period(problem)) return s->state ? s : NULL;
  problem_view_pipeline(&s->view, problem);
  s->rates = pipeline_model.make(&s->view, a);
  return s->rates ? s : NULL;
}

/* The period of a stream placement, and its effect on value and limits. */
static void add_period(simulator *s, const placement *where, simulation *found) {
  simulation rate = {.value_ns = SITU_NEVER_NS, .worst_device = -1};
  pipeline_model.run(s->rates, where, false, &rate);
  found->latency_ns = found->value_ns;
  found->period_ns = rate.value_ns;
  found->over_ns =
      max64(0, max64(rate.value_ns - s->problem->max_period_ns, found->value_ns - s->problem->max_latency_ns));
  if (s->problem->objective != SITU_OBJECTIVE_THROUGHPUT) return;
  found->value_ns = rate.value_ns;
  found->worst_device = rate.worst_device;
}

/* The time of a placement by the secondary costs. */
static void add_other(simulator *s, const placement *where, simulation *found) {
  simulation other = {.value_ns = SITU_NEVER_NS, .worst_device = -1};
  s->model->run(s->other, where, false, &other);
  found->secondary_ns = other.value_ns;
  found->over_ns = max64(0, other.value_ns - s->problem->max_secondary_ns);
}

static void add_limits(simulator *s, const placement *where, simulation *found) {
  if (found->value_ns == SITU_NEVER_NS) return;
  if (s->rates) add_period(s, where, found);
  if (s->other) add_other(s, where, found);
}

static const simulation nothing = {.value_ns = SITU_NEVER_NS,
                                   .worst_device = -1,
                                   .latency_ns = SITU_NEVER_NS,
                                   .period_ns = SITU_NEVER_NS,
                                   .secondary_ns = SITU_NEVER_NS};

simulation simulator_run(simulator *s, const placement *where, bool memory) {
  simulation found = nothing;
  s->model->run(s->state, where, memory, &found);
  add_limits(s, where, &found);
  return found;
}

struct simulator_base {
  void *state; /* of the model; NULL for models that always run completely */
};

simulator_base *simulator_base_new(simulator *s, arena *a) {
  simulator_base *b = ARENA_ZERO(a, simulator_base, 1);
  if (b && s->model->base_new) b->state = s->model->base_new(s->state, a);
  return b && (b->state || !s->model->base_new) ? b : NULL;
}

simulation simulator_run_base(simulator *s, simulator_base *b, const placement *where, bool memory) {
  if (!b->state) return simulator_run(s, where, memory);
  simulation found = nothing;
  s->model->run_base(s->state, b->state, where, memory, &found);
  add_limits(s, where, &found);
  return found;
}

simulation simulator_run_below(simulator *s, simulator_base *b, const placement *where, bool memory, int64_t limit_ns) {
  REQUIRE(where->device && limit_ns >= 0);
  simulation found = nothing;
  if (b->state && !s->rates && !s->other)
    s->model->run_below(s->state, b->state, where, memory, limit_ns, &found);
  else
    found = simulator_run(s, where, memory);
  if (limit_ns == SITU_NEVER_NS || (found.value_ns < limit_ns && !found.stopped)) return found;
  int64_t value_ns = found.stopped ? limit_ns : found.value_ns;
  found = nothing;
  found.stopped = true;
  found.value_ns = value_ns == SITU_NEVER_NS ? SITU_NEVER_NS : limit_ns;
  return found;
}

int64_t simulator_dispatch(simulator *s, const int32_t *device, const double *priority, int32_t *order,
                           int64_t limit_ns) {
  REQUIRE(device && priority && order && limit_ns >= 0);
  return s->model->dispatch ? s->model->dispatch(s->state, device, priority, order, limit_ns) : SITU_NEVER_NS;
}

/* A run trusts its placement; the placement of a whole plan may come from a caller. */
static situ_status refuse_placement(const situ_problem *p, const placement *where, arena *scratch, situ_error *error) {
  for (int32_t v = 0; v < p->n_operators; v++)
    if (where->device[v] < 0 || where->device[v] >= p->n_devices)
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, p->graph->name[v], "is placed on device %d; expected 0 to %d",
                       where->device[v], p->n_devices - 1);
  for (int32_t d = 0; where->replica_of && d < p->n_devices; d++)
    if (where->replica_of[d] < -1 || where->replica_of[d] >= p->n_devices || where->replica_of[d] == d ||
        (where->replica_of[d] >= 0 && where->replica_of[where->replica_of[d]] >= 0))
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, p->platform->devices[d].name,
                       "is the replica of device %d; expected another device that is not itself a replica",
                       where->replica_of[d]);
  if (!where->order) return SITU_STATUS_OK;
  bool *seen = ARENA_ZERO(scratch, bool, p->n_operators);
  if (!seen) return fail_no_memory(error);
  for (int32_t i = 0; i < p->n_operators; i++) {
    int32_t v = where->order[i];
    if (v < 0 || v >= p->n_operators || seen[v])
      return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                       "the order is not a permutation: entry %d is %d, which is out of range or repeated", i, v);
    seen[v] = true;
  }
  return SITU_STATUS_OK;
}

static situ_status fill(situ_plan *plan, simulator *s, const placement *where, situ_error *error) {
  const situ_problem *p = s->problem;
  arena_mark mark = arena_get_mark(plan->arena);
  situ_status status = refuse_placement(p, where, plan->arena, error);
  arena_release(plan->arena, mark);
  if (status != SITU_STATUS_OK) return status;
  plan->device = ARENA_COPY(plan->arena, where->device, int32_t, p->n_operators);
  plan->uses = ARENA_ZERO(plan->arena, situ_device_use, p->n_devices);
  if (!plan->device || !plan->uses || !plan_count_handovers(plan)) return fail_no_memory(error);
  bool replicas = false;
  for (int32_t d = 0; where->replica_of && d < p->n_devices; d++) replicas |= where->replica_of[d] >= 0;
  if (replicas && p->execution == SITU_EXECUTION_PIPELINE) {
    plan->replica_of = ARENA_COPY(plan->arena, where->replica_of, int32_t, p->n_devices);
    if (!plan->replica_of) return fail_no_memory(error);
  }
  plan->outcome = SITU_OUTCOME_FEASIBLE;
  for (int32_t v = 0; v < p->n_operators; v++) plan->uses[where->device[v]].n_operators++;
  for (int32_t d = 0; d < p->n_devices; d++)
    plan->uses[d].memory_limit_bytes = p->platform->memory_bytes[p->memory_of[d]];
  for (int32_t d = 0; d < p->n_devices; d++) plan->uses[d].replica_of = -1;
  TRY(s->model->plan(s->state, where, plan, error));
  simulation found = nothing;
  found.value_ns = plan->value_ns;
  add_limits(s, where, &found);
  plan->value_ns = found.value_ns;
  plan->latency_ns = found.latency_ns;
  plan->period_ns = found.period_ns;
  plan->secondary_ns = found.secondary_ns;
  return SITU_STATUS_OK;
}

situ_status simulator_plan(situ_plan **out, simulator *s, const placement *where, situ_error *error) {
  *out = NULL;
  situ_plan *plan = plan_new(s->problem);
  if (!plan) return fail_no_memory(error);
  situ_status status = fill(plan, s, where, error);
  if (status != SITU_STATUS_OK) {
    situ_plan_free(plan);
    return status;
  }
  CONTRACT(plan_check_shape(plan));
  *out = plan;
  return SITU_STATUS_OK;
}

situ_status simulator_memory(memory_change **out, int64_t *n, simulator *s, const placement *where, arena *a,
                             situ_error *error) {
  REQUIRE(where->device);
  *out = NULL;
  *n = 0;
  return s->model->memory ? s->model->memory(s->state, where, out, n, a, error) : SITU_STATUS_OK;
}
