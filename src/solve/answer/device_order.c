#include "solve/answer/answer.h"

#include "base/fail.h"
#include "view/equal_devices.h"

/* Fills first ([device]) with the position of the first operator of each device, the number of operators for one
 * without any, in the order of the placement or of the numbers. */
static void find_first(int32_t *first, const situ_problem *p, const placement *where) {
  for (int32_t d = 0; d < p->n_devices; d++) first[d] = p->n_operators;
  for (int32_t k = p->n_operators - 1; k >= 0; k--) first[where->device[where->order ? where->order[k] : k]] = k;
}

/* Fills name ([device]) with the device that takes the place of each. Returns whether any is another. */
static bool find_names(int32_t *name, const equal_devices *equal, const int32_t *first, int32_t n_devices) {
  bool moved = false;
  for (int32_t d = 0; d < n_devices; d++) {
    const device_type *type = &equal->types[equal->type_of[d]];
    int32_t rank = 0; /* devices of the type that run something earlier; of equals, the one of the lower number */
    for (int32_t k = 0; k < type->n_devices; k++) {
      int32_t e = type->devices[k];
      rank += first[e] < first[d] || (first[e] == first[d] && e < d);
    }
    name[d] = type->devices[rank];
    moved |= name[d] != d;
  }
  return moved;
}

/* Orders the devices of one placement, whose arrays are replaced by others in the arena of the run. */
static situ_status order_one(placement *where, solve_run *run, const equal_devices *equal) {
  const situ_problem *p = run->problem;
  int32_t n = p->n_devices, *first, *name, *device, *replica_of;
  if (!where->device) return SITU_STATUS_OK;
  if (!ARENA_ARRAYS(run->arena, ARRAY(first, n), ARRAY(name, n), ARRAY(device, p->n_operators), ARRAY(replica_of, n)))
    return fail_no_memory(run->error);
  find_first(first, p, where);
  if (!find_names(name, equal, first, n)) return SITU_STATUS_OK;
  placement ordered = *where;
  for (int32_t v = 0; v < p->n_operators; v++) device[v] = name[where->device[v]];
  ordered.device = device;
  if (where->replica_of) {
    for (int32_t d = 0; d < n; d++) {
      int32_t of = where->replica_of[d];
      replica_of[name[d]] = of < 0 ? of : name[of];
    }
    ordered.replica_of = replica_of;
  }
  if (!solve_has_form(run, device)) return SITU_STATUS_OK;
  simulation before = simulator_run(run->simulator, where, true), after = simulator_run(run->simulator, &ordered, true);
  if (after.value_ns == before.value_ns && after.excess_bytes == before.excess_bytes && after.over_ns == before.over_ns)
    *where = ordered;
  return SITU_STATUS_OK;
}

/* Orders devices that are equal at a level. */
static situ_status order_at(answer *chosen, solve_run *run, device_equality level) {
  equal_devices equal;
  placement *const all[] = {&chosen->where, &chosen->best_found, &chosen->unrestricted, &chosen->compared};
  if (!equal_devices_find(&equal, run->problem, level, run->arena)) return fail_no_memory(run->error);
  if (equal.n_all == run->problem->n_devices) return SITU_STATUS_OK;
  for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) TRY(order_one(all[k], run, &equal));
  return SITU_STATUS_OK;
}

situ_status answer_order_devices(answer *chosen, solve_run *run) {
  const situ_problem *p = run->problem;
  if (!chosen->where.device) return SITU_STATUS_OK;
  TRY(order_at(chosen, run, EQUAL_ALWAYS));
  /* without a host the first device is the one that staged transfers leave from, which matters only to them */
  bool staged = p->execution == SITU_EXECUTION_PIPELINE && p->communication == SITU_COMMUNICATION_HOST_STAGED;
  return staged || p->replicate ? SITU_STATUS_OK : order_at(chosen, run, EQUAL_LINKED);
}
