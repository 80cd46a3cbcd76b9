/* The judge of prices of device time and memory. In a plan of value T no device works longer than T and no memory holds
 * more weights than its capacity, so for any prices u of time and y of bytes
 *
 *     T * sum u  >=  sum over items of min over d of (u_d p(item, d) + y_m(d) w(item))  -  sum y_m capacity_m.
 *
 * w is what every plan keeps in the memory of an item at one and the same time: weights, in pipelines the stash too, in
 * streams tensors that are alive at the instant that a certificate may name (check_alive.c). Where all u are 0 and the
 * right side is positive, there is no plan. */
#include "base/checked.h"
#include "base/fail.h"
#include "check/check_certificate.h"

/* Prices are at most 2^52 (check_fields.c). All items together take at most PROBLEM_MAX_NS, 2^54, wherever they are,
 * and hold at most PROBLEM_MAX_BYTES, 2^56, each tensor being counted with one item; so no sum of theirs at these
 * prices is above 2^52 * (2^54 + 2^56) < 2^109. The rent is at most 2^122, the sum of prices of time 2^64. */

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *c, situ_error *error) {
  check_prices x = {.time = certificate_get(c, "time_prices", -1), .byte = certificate_get(c, "byte_prices", -1)};
  int64_t at = check_alive_instant(c);
  check_items items;
  __int128 work;
  bool nowhere, priced = false;
  if (!check_items_find(&items, j)) return fail_no_memory(error);
  int64_t *bytes = check_items_held(&items, j);
  bool *may = ARENA_NEW(j->scratch, bool, (int64_t)j->graph->n_operators * j->problem->n_devices);
  if (!bytes || !may || (at >= 0 && !check_alive_add(bytes, &items, j, (int32_t)at, true)) ||
      !check_alive_rooms(may, j, at))
    return fail_no_memory(error);
  *proved_ns = 0;
  for (int32_t d = 0; d < j->problem->n_devices; d++) priced |= x.time[d] > 0;
  if (priced && j->problem->execution == SITU_EXECUTION_CALLS) return SITU_STATUS_OK; /* calls are not queued */
  x.bytes = bytes;
  x.may = may;
  if (!check_priced_work(&work, &nowhere, &x, &items, j)) return fail_no_memory(error);
  *proved_ns = nowhere ? SITU_NEVER_NS : check_priced_bound(work, &x, j);
  return SITU_STATUS_OK;
}

const certificate_rule area_price_rule = {
    .kind = "area_price", .models = MODEL_STREAM | MODEL_CALLS | MODEL_PIPELINE, .prove = prove};
