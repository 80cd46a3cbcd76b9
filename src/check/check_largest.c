/* The judge of one operator: all operators of its item are on one device of a pipeline, whose load is their time there
 * or more; where there may be replicas, on at most all devices of one class that may be used, which share that time. */
#include "base/checked.h"
#include "base/fail.h"
#include "check/check_certificate.h"

/* How many devices may share a part with device d. */
static int32_t max_sharing(const judge *j, int32_t d, const bool *pinned) {
  const situ_problem *p = j->problem;
  int32_t n = 0;
  for (int32_t e = 0; e < p->n_devices; e++)
    n += j->platform->class_of[e] == j->platform->class_of[d] && (!p->unused[e] || pinned[e]);
  return p->replicate && n > 0 ? n : 1;
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *c, situ_error *error) {
  const int64_t *v = certificate_get(c, "operator", 1);
  check_items items;
  if (!check_items_find(&items, j)) return fail_no_memory(error);
  bool *pinned = ARENA_ZERO(j->scratch, bool, j->problem->n_devices);
  if (!pinned) return fail_no_memory(error);
  for (int32_t w = 0; w < j->problem->n_operators; w++)
    if (j->problem->pin[w] >= 0) pinned[j->problem->pin[w]] = true;
  *proved_ns = SITU_NEVER_NS;
  for (int32_t d = 0; d < j->problem->n_devices; d++) {
    int64_t time_ns = check_item_time(&items, j, items.of[*v], d), n = max_sharing(j, d, pinned);
    if (time_ns != SITU_NEVER_NS) *proved_ns = min64(*proved_ns, time_ns / n + (time_ns % n > 0));
  }
  return SITU_STATUS_OK;
}

const certificate_rule largest_operator_rule = {.kind = "largest_operator", .models = MODEL_PIPELINE, .prove = prove};
