#include "solve/stream/sequence.h"

#include <string.h>

#include "base/contracts.h"
#include "base/fail.h"
#include "solve/stream/rank.h"

int64_t sequence_by(int32_t *order, const double *key, simulator *s, const situ_problem *p, const int32_t *device,
                    int64_t limit_ns, arena *scratch) {
  int64_t time = simulator_dispatch(s, device, key, order, limit_ns);
  if (time < SITU_NEVER_NS) return time;
  if (!rank_order(order, scratch, key, p->n_operators)) return -1;
  placement where = {.device = (int32_t *)(uintptr_t)device, .order = order};
  return simulator_run(s, &where, false).value_ns;
}

bool sequence_time(int64_t *value_ns, int32_t *order, simulator *s, const situ_problem *p, const int32_t *device,
                   arena *scratch) {
  arena_mark mark = arena_get_mark(scratch);
  int32_t *other = ARENA_NEW(scratch, int32_t, p->n_operators);
  double *key = ARENA_NEW(scratch, double, p->n_operators);
  int64_t by_tail = -1, by_index = -1;
  if (other && key) {
    rank_tail(key, p, device);
    by_tail = sequence_by(order, key, s, p, device, SITU_NEVER_NS, scratch);
    for (int32_t v = 0; v < p->n_operators; v++) key[v] = -(double)v;
    by_index = by_tail < 0 ? -1 : sequence_by(other, key, s, p, device, by_tail, scratch);
    if (by_index < by_tail) memcpy(order, other, (size_t)p->n_operators * sizeof *order);
  }
  arena_release(scratch, mark);
  *value_ns = by_index < by_tail ? by_index : by_tail;
  ENSURE(by_tail < 0 || by_index < 0 || contracts_permutation(order, p->n_operators));
  return by_tail >= 0 && by_index >= 0;
}

bool sequence_find(int32_t *order, simulator *s, const situ_problem *p, const int32_t *device, arena *scratch) {
  int64_t value_ns;
  return sequence_time(&value_ns, order, s, p, device, scratch);
}

situ_status sequence_offer(solve_run *run) {
  const incumbent *best = run->incumbent;
  if (!best->best.device || run->problem->execution != SITU_EXECUTION_STREAM) return SITU_STATUS_OK;
  arena_mark mark = arena_get_mark(run->arena);
  int32_t n = run->problem->n_operators;
  placement where = {.device = ARENA_COPY(run->arena, best->best.device, int32_t, n),
                     .order = ARENA_NEW(run->arena, int32_t, n)};
  bool ok =
      where.device && where.order && sequence_find(where.order, run->simulator, run->problem, where.device, run->arena);
  if (ok) solve_offer(run, &where);
  arena_release(run->arena, mark);
  return ok ? SITU_STATUS_OK : fail_no_memory(run->error);
}
