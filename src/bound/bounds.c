/* The table of bounds. */
#include "base/contracts.h"
#include "bound/bound.h"

#include "base/fail.h"

#define ADDRESS(NAME) &NAME##_bound,
const bound *const bounds[] = {BOUND_ROWS(ADDRESS) NULL};

situ_status bound_best(bound_found *out, const situ_problem *problem, arena *scratch, arena *keep, budget *b,
                       situ_error *error) {
  REQUIRE(scratch != keep);
  *out = (bound_found){.name = ""};
  for (int32_t i = 0; bounds[i]; i++) {
    if (!problem_is_of(problem, bounds[i]->models) || budget_over(b)) continue;
    int64_t found = 0;
    certificate proof = {0};
    bool kept = true;
    arena_mark mark = arena_get_mark(scratch);
    int64_t time = budget_time_left(b);
    budget part = budget_part(b, 0, time == INT64_MAX ? 0 : time / 2 + 1); /* so that those behind it get a turn */
    situ_status status = bounds[i]->compute(&found, &proof, problem, scratch, &part, error);
    budget_join(b, &part);
    ENSURE(status != SITU_STATUS_OK || found >= 0);
    ENSURE(status != SITU_STATUS_OK || !proof.kind ||
           proof.lower_ns <= found); /* a bound proves no more than it says */
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
