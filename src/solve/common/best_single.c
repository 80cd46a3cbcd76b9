#include "solve/common/best_single.h"

#include "base/contracts.h"
#include "base/fail.h"
#include "view/equal_devices.h"

static bool runs_all(const situ_problem *p, int32_t d) {
  for (int32_t v = 0; v < p->n_operators; v++)
    if (problem_time_ns(p, v, d) == SITU_NEVER_NS) return false;
  return true;
}

situ_status best_single_find(best_single *out, simulator *s, const situ_problem *p, arena *scratch, situ_error *error) {
  *out = (best_single){.value_ns = SITU_NEVER_NS, .device = -1};
  arena_mark mark = arena_get_mark(scratch);
  placement all = {.device = ARENA_NEW(scratch, int32_t, p->n_operators)};
  equal_devices equal;
  if (!all.device || !equal_devices_find(&equal, p, EQUAL_ALONE, scratch)) return fail_no_memory(error);
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (p->unused[d] || !equal_devices_first(&equal, d) || !runs_all(p, d)) continue;
    for (int32_t v = 0; v < p->n_operators; v++) all.device[v] = d;
    simulation found = simulator_run(s, &all, true);
    if (found.excess_bytes > 0 || found.value_ns >= out->value_ns) continue;
    *out = (best_single){.value_ns = found.value_ns, .device = d};
  }
  arena_release(scratch, mark);
  return SITU_STATUS_OK;
}
