/* A pipeline's period is at least the time of any single operator or colocation group where it runs fastest. Replicas
 * would share that time; the balance bound covers them. */
#include "base/checked.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "view/items.h"

static situ_status largest_compute(int64_t *lower_ns, certificate *proof, const situ_problem *problem, arena *scratch,
                                   budget *b, situ_error *error) {
  *lower_ns = 0;
  if (problem->replicate) return SITU_STATUS_OK;
  items all;
  int32_t largest = 0;
  TRY(items_list(&all, problem, scratch, error));
  for (int32_t i = 0; i < all.n; i++) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t k = 0; k < all.n_columns; k++) min = min64(min, all.time_ns[(int64_t)i * all.n_columns + k]);
    if (min <= *lower_ns) continue;
    *lower_ns = min;
    largest = problem->units.member[problem->units.start[i]];
  }
  if (*lower_ns == 0) return SITU_STATUS_OK;
  certificate_start(proof, "largest_operator", *lower_ns);
  int64_t *operator_ = certificate_add_operators(proof, "operator", 1, scratch);
  if (!operator_) return fail_no_memory(error);
  *operator_ = largest;
  return SITU_STATUS_OK;
}

const bound largest_bound = {
    .name = "largest_operator",
    .title = "the largest operator on its fastest device",
    .source = "",
    .models = MODEL_PIPELINE,
    .compute = largest_compute,
};
