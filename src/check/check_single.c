/* The judge of the yardstick: the best value of a device that runs everything alone. Pins and limits are left aside;
 * support, memory and devices that have to stay unused count. Times saturate. docs/model.md, "Best single device" */
#include "check/model_rules.h"

#include "base/checked.h"
#include "base/fail.h"

/* Whether an earlier device that may be used gives the same value and has as much room. */
static bool has_twin(const judge *j, int32_t d) {
  const situ_platform *q = j->platform;
  for (int32_t e = 0; e < d; e++)
    if (!j->problem->unused[e] && q->class_of[e] == q->class_of[d] && q->devices[e].is_host == q->devices[d].is_host &&
        q->memory_bytes[q->memory_of[e]] == q->memory_bytes[q->memory_of[d]])
      return true;
  return false;
}

/* Everything on device d in the order of numbers: one operator after the other, but on a host in the calls model, which
 * is as wide as need be, each as soon as its inputs are there. The value; SITU_NEVER_NS where d does not run all. */
static int64_t run_alone(const judge *j, int32_t d, int64_t *start_ns, int64_t *finish_ns) {
  const situ_graph *g = j->graph;
  bool wide = j->problem->execution == SITU_EXECUTION_CALLS && j->platform->devices[d].is_host;
  int64_t value = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    start_ns[v] = wide ? 0 : value;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1] && wide; i++)
      start_ns[v] = max64(start_ns[v], finish_ns[g->producer[g->in[i]]]);
    finish_ns[v] = sat_add(start_ns[v], judge_time_ns(j, v, d));
    value = max64(value, finish_ns[v]);
  }
  return value;
}

/* Whether the memory of device d has room for everything, as it runs there. */
static situ_status fits(bool *out, const judge *j, int32_t d, situ_plan *alone, situ_error *error) {
  judge other = *j;
  int64_t *bytes = ARENA_ZERO(j->scratch, int64_t, j->problem->n_memories);
  if (!bytes) return fail_no_memory(error);
  for (int32_t v = 0; v < j->graph->n_operators; v++) alone->device[v] = d;
  other.plan = alone;
  if (j->problem->execution == SITU_EXECUTION_STREAM)
    TRY(check_stream_memory(&other, &(check_copy){0}, 0, bytes, error));
  else
    TRY(check_memory_alone(&other, &bytes, error));
  int32_t m = j->platform->memory_of[d];
  *out = bytes[m] <= j->platform->memory_bytes[m];
  return SITU_STATUS_OK;
}

static const char *name_of(const judge *j, int32_t d) {
  return d >= 0 && d < j->problem->n_devices ? j->platform->devices[d].name : "none";
}

situ_status check_single(judge *j, situ_error *error) {
  const situ_plan *plan = j->plan;
  int32_t n = j->problem->n_operators, best = -1;
  int64_t value = SITU_NEVER_NS;
  situ_plan alone = {.device = ARENA_NEW(j->scratch, int32_t, n),
                     .start_ns = ARENA_NEW(j->scratch, int64_t, n),
                     .finish_ns = ARENA_NEW(j->scratch, int64_t, n)};
  if (!alone.device || !alone.start_ns || !alone.finish_ns) return fail_no_memory(error);
  for (int32_t d = 0; d < j->problem->n_devices; d++) {
    if (j->problem->unused[d] || has_twin(j, d)) continue;
    int64_t here = run_alone(j, d, alone.start_ns, alone.finish_ns);
    if (here >= value) continue;
    arena_mark mark = arena_get_mark(j->scratch);
    bool room = false;
    TRY(fits(&room, j, d, &alone, error));
    arena_release(j->scratch, mark);
    if (!room) continue;
    best = d;
    value = here;
  }
  if (plan->best_single_device != best || plan->best_single_ns != value)
    judge_note(j, "single", "the plan states that the best single device is %s with %lld ns; it is %s with %lld ns",
               name_of(j, plan->best_single_device), (long long)plan->best_single_ns, name_of(j, best),
               (long long)value);
  return SITU_STATUS_OK;
}
