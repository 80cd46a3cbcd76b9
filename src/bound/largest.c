/* A pipeline's period is at least the time of any one operator, or colocation group, where it runs fastest. Replicas
 * would share it, which the balance bound counts. */
#include "base/checked.h"
#include "bound/bound.h"
#include "bound/items.h"

static situ_status compute(int64_t *lower_ns, const situ_problem *problem, arena *scratch, budget *b,
                           situ_error *error) {
  *lower_ns = 0;
  if (problem->replicate) return SITU_STATUS_OK;
  items all;
  situ_status status = items_list(&all, problem, scratch, error);
  if (status != SITU_STATUS_OK) return status;
  for (int32_t i = 0; i < all.n; i++) {
    int64_t least = SITU_NEVER_NS;
    for (int32_t k = 0; k < all.n_columns; k++) least = min64(least, all.time_ns[(int64_t)i * all.n_columns + k]);
    *lower_ns = max64(*lower_ns, least);
  }
  return SITU_STATUS_OK;
}

const bound largest_bound = {
    .name = "largest_operator",
    .title = "the time of the largest operator where it is fastest",
    .source = "",
    .pipeline = true,
    .compute = compute,
};
