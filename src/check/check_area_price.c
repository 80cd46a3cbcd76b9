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

/* The least price of an item over the devices that can hold it; -1: none can. */
static __int128 min_price(const judge *j, const check_items *items, int32_t i, const int64_t *time, const int64_t *byte,
                          int64_t bytes, const bool *may) {
  __int128 min = -1;
  for (int32_t d = 0; d < j->problem->n_devices; d++) {
    int64_t here = check_item_time(items, j, i, d);
    if (here == SITU_NEVER_NS || !may[(int64_t)items->member[items->start[i]] * j->problem->n_devices + d]) continue;
    __int128 price = (__int128)here * time[d] + (__int128)bytes * byte[j->platform->memory_of[d]];
    if (min < 0 || price < min) min = price;
  }
  return min;
}

/* bytes[item]: what its memory holds whatever else a plan does, in a stream with the tensors that are certain to be
 * there while operator `at` runs (-1: none are counted). */
static bool add_bytes(int64_t *bytes, const check_items *items, const judge *j, int64_t at) {
  for (int32_t v = 0; v < j->graph->n_operators; v++)
    bytes[items->of[v]] = sat_add(bytes[items->of[v]], check_held_bytes(j, v));
  return at < 0 || check_alive_add(bytes, items, j, (int32_t)at, true);
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *c, situ_error *error) {
  int32_t n_devices = j->problem->n_devices;
  const int64_t *time = certificate_get(c, "time_prices", -1), *byte = certificate_get(c, "byte_prices", -1);
  int64_t at = check_alive_instant(c);
  check_items items;
  if (!check_items_find(&items, j)) return fail_no_memory(error);
  int64_t *bytes = ARENA_ZERO(j->scratch, int64_t, items.n);
  bool *may = ARENA_NEW(j->scratch, bool, (int64_t)j->graph->n_operators *n_devices);
  if (!bytes || !may || !add_bytes(bytes, &items, j, at) || !check_alive_rooms(may, j, at))
    return fail_no_memory(error);
  *proved_ns = 0;
  __int128 sum = 0, rent = check_rent(j, byte), work = 0;
  for (int32_t d = 0; d < n_devices; d++) sum += time[d];
  if (sum > 0 && j->problem->execution == SITU_EXECUTION_CALLS) return SITU_STATUS_OK; /* calls are not queued */
  for (int32_t i = 0; i < items.n; i++) {
    __int128 price = min_price(j, &items, i, time, byte, bytes[i], may);
    if (price < 0) { /* then there is no plan */
      *proved_ns = SITU_NEVER_NS;
      return SITU_STATUS_OK;
    }
    work += price;
  }
  if (work <= rent) return SITU_STATUS_OK;
  __int128 value = sum > 0 ? (work - rent + sum - 1) / sum : SITU_NEVER_NS;
  *proved_ns = sum > 0 && value >= SITU_NEVER_NS ? SITU_NEVER_NS - 1 : (int64_t)value;
  return SITU_STATUS_OK;
}

const certificate_rule area_price_rule = {
    .kind = "area_price", .models = MODEL_STREAM | MODEL_CALLS | MODEL_PIPELINE, .prove = prove};
