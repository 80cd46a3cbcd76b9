/* The table of bounds. */
#include "bound/bound.h"

#include "base/fail.h"

extern const bound area_bound;
extern const bound balance_bound;
extern const bound critical_path_bound;
extern const bound cut_vertex_bound;
extern const bound destructive_bound;
extern const bound join_bound;
extern const bound largest_bound;
extern const bound linear_relaxation_bound;
extern const bound memory_price_bound;
extern const bound memory_visits_bound;

/* clang-format off */
const bound *const bounds[] = {
    &memory_price_bound,
    &critical_path_bound,
    &balance_bound,
    &area_bound,
    &largest_bound,
    &join_bound,
    &destructive_bound,
    &cut_vertex_bound,
    &linear_relaxation_bound,
    &memory_visits_bound,
    NULL,
};
/* clang-format on */

static bool serves(const bound *b, const situ_problem *p) {
  return (p->execution == SITU_EXECUTION_STREAM && b->stream) || (p->execution == SITU_EXECUTION_CALLS && b->calls) ||
         (p->execution == SITU_EXECUTION_PIPELINE && b->pipeline);
}

situ_status bound_best(bound_found *out, const situ_problem *problem, arena *scratch, arena *keep, budget *b,
                       situ_error *error) {
  *out = (bound_found){.name = ""};
  for (int32_t i = 0; bounds[i]; i++) {
    if (!serves(bounds[i], problem) || budget_over(b)) continue;
    int64_t found = 0;
    certificate proof = {0};
    bool kept = true;
    arena_mark mark = arena_get_mark(scratch);
    int64_t time = budget_time_left(b);
    budget part = budget_part(b, 0, time == INT64_MAX ? 0 : time / 2 + 1); /* so that those behind it get a turn */
    situ_status status = bounds[i]->compute(&found, &proof, problem, scratch, &part, error);
    budget_join(b, &part);
    if (status == SITU_STATUS_OK && proof.kind && proof.lower_ns > out->proof.lower_ns) {
      kept = certificate_copy(&out->proof, &proof, keep);
      out->proof.bound = bounds[i]->name;
    }
    arena_release(scratch, mark);
    TRY(status);
    if (!kept) return fail_no_memory(error);
    if (found <= out->lower_ns) continue;
    out->lower_ns = found;
    out->name = bounds[i]->name;
  }
  return SITU_STATUS_OK;
}
