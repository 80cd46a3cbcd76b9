/* The judge of one operator: all operators of its item are on one device of a pipeline, whose load is their time there
 * or more. */
#include "base/checked.h"
#include "base/fail.h"
#include "plan/check_certificate.h"

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *c, situ_error *error) {
  const int64_t *v = certificate_get(c, "operator", 1);
  check_items items;
  *proved_ns = CERTIFICATE_MALFORMED;
  if (!v || *v < 0 || *v >= j->problem->n_operators) return SITU_STATUS_OK;
  if (!check_items_find(&items, j)) return fail_no_memory(error);
  int64_t least = SITU_NEVER_NS;
  for (int32_t d = 0; d < j->problem->n_devices; d++) least = min64(least, check_item_time(&items, j, items.of[*v], d));
  *proved_ns = least;
  return SITU_STATUS_OK;
}

const certificate_rule largest_operator_rule = {
    .kind = "largest_operator", .lists = "operator, one", .pipeline = true, .prove = prove};
