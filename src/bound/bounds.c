/* The table of bounds. */
#include "bound/bound.h"

#include "base/fail.h"

extern const bound critical_path_bound, area_bound, balance_bound, largest_bound, cut_vertex_bound, linear_relaxation_bound;

const bound *const bounds[] = {
    &critical_path_bound,
    &balance_bound,
    &area_bound,
    &largest_bound,
    &cut_vertex_bound,
    &linear_relaxation_bound,
    NULL,
};

static bool serves(const bound *b, const situ_problem *p) {
  return (p->execution == SITU_EXECUTION_STREAM && b->stream) || (p->execution == SITU_EXECUTION_CALLS && b->calls) ||
         (p->execution == SITU_EXECUTION_PIPELINE && b->pipeline);
}

situ_status bound_best(int64_t *lower_ns, const char **name, const situ_problem *problem, arena *scratch, budget *b,
                       situ_error *error) {
  *lower_ns = 0;
  *name = "";
  for (int32_t i = 0; bounds[i]; i++) {
    if (!serves(bounds[i], problem) || budget_over(b)) continue;
    int64_t found = 0;
    arena_mark mark = arena_get_mark(scratch);
    situ_status status = bounds[i]->compute(&found, problem, scratch, b, error);
    arena_release(scratch, mark);
    TRY(status);
    if (found <= *lower_ns) continue;
    *lower_ns = found;
    *name = bounds[i]->name;
  }
  return SITU_STATUS_OK;
}
