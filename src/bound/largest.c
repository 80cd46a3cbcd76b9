/* A pipeline's period is at least the time of what every plan keeps on one device, where that runs fastest: units, and
 * in contiguous pipelines the classes of view/contract.h. Replicas share that time: it is divided among all devices of
 * a class. */
#include "base/checked.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "view/contract.h"
#include "view/items.h"

/* How many devices may share a part in each column. */
static void count_sharing(int32_t *sharing, const items *all, const situ_problem *p) {
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t n = 0;
    for (int32_t e = 0; e < p->n_devices; e++) n += p->class_of[e] == p->class_of[d] && all->column_of[e] >= 0;
    if (all->column_of[d] >= 0) sharing[all->column_of[d]] = p->replicate ? n : 1;
  }
}

static situ_status largest_compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch,
                                   budget *b, situ_error *error) {
  contraction parts;
  items all;
  int32_t largest = 0, *sharing;
  int64_t *time_ns;
  *lower_ns = 0;
  TRY(items_list(&all, p, scratch, error));
  int32_t n_columns = all.n_columns;
  if (!contract(&parts, p, p->contiguous, scratch) ||
      !ARENA_ARRAYS(scratch, ZEROS(time_ns, (int64_t)parts.n_classes * n_columns), ZEROS(sharing, n_columns)))
    return fail_no_memory(error);
  count_sharing(sharing, &all, p);
  for (int32_t u = 0; u < all.n; u++) {
    int64_t *row = time_ns + (int64_t)parts.class_of[p->units.member[p->units.start[u]]] * n_columns;
    for (int32_t k = 0; k < n_columns; k++) row[k] = sat_add(row[k], all.time_ns[(int64_t)u * n_columns + k]);
  }
  for (int32_t c = 0; c < parts.n_classes; c++) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t k = 0; k < n_columns; k++) {
      int64_t time = time_ns[(int64_t)c * n_columns + k];
      if (time != SITU_NEVER_NS) min = min64(min, time / sharing[k] + (time % sharing[k] > 0));
    }
    if (min == SITU_NEVER_NS || min <= *lower_ns) continue;
    *lower_ns = min;
    largest = parts.member[parts.member_start[c]];
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
    .title = "the largest operator, or part that stays together, on its fastest device",
    .source = "",
    .models = MODEL_PIPELINE,
    .compute = largest_compute,
};
