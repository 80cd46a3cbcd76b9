/* The judge of cuts between two sides, for pipelines that are staged through the host. In a plan of period T no device
 * has a load above T and no memory holds more than its capacity. Let s be 1 for items in memories that are inside, and
 * u the prices of a nanosecond of each device. A tensor that is made inside and used outside pays at least for
 * leaving some device inside, at that device's price, and for entering some device outside; hosts pay nothing. Where
 * the shares out_i of its uses add up to no more than that, and the shares in_i to no more than the same for a tensor
 * that is made outside and used inside, it pays at least sum of out_i (s_producer - s_i) + in_i (s_i - s_producer),
 * which is at most 0 for one that does not cross. So for any prices y of bytes
 *
 *     T * sum u  >=  sum over items of min over d of (u_d time + y_m(d) bytes + [d inside] what its uses give)
 *                    -  sum over m of y_m cap_m. */
#include "base/checked.h"
#include "base/fail.h"
#include "check/check_certificate.h"

enum { BYTE_BITS = 20 };

/* Shares are at most 2^58, prices of time 2^24 and of a byte 2^52 (check_fields.c); there are fewer than 2^29 uses of
 * tensors. So all shares together are below 2^88, which is 2^108 in units of 2^-20. All operators together take at most
 * 2^54 ns, 2^98 at these prices and in this unit, and hold at most 2^56 bytes; the rent is at most 2^122. */

static bool is_inside(const judge *j, const check_prices *c, int32_t d) {
  return c->inside[j->platform->memory_of[d]] != 0;
}

/* The minimum price of sending tensor t through the host from one side to the other; at most 2^78 for each half. */
static __int128 min_crossing(const judge *j, const check_prices *c, int32_t t, bool from_inside) {
  const int32_t *memory = j->platform->memory_of;
  int32_t host = memory[j->problem->host];
  __int128 out = -1, in = -1;
  for (int32_t d = 0; d < j->problem->n_devices; d++) {
    if (j->problem->unused[d]) continue;
    bool leaves = is_inside(j, c, d) == from_inside;
    int64_t ns = leaves ? judge_transfer_ns(j, t, memory[d], host) : judge_transfer_ns(j, t, host, memory[d]);
    __int128 price = j->platform->devices[d].is_host ? 0 : (__int128)ns * c->time[d], *min = leaves ? &out : &in;
    if (*min < 0 || price < *min) *min = price;
  }
  return out < 0 || in < 0 ? 0 : out + in; /* nothing is on one of the sides */
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *given, situ_error *error) {
  const situ_problem *p = j->problem;
  check_items items;
  __int128 work;
  bool nowhere;
  check_prices x = {.time = certificate_get(given, "time_prices", -1),
                    .byte = certificate_get(given, "byte_prices", -1),
                    .bits = BYTE_BITS,
                    .inside = certificate_get(given, "inside", -1),
                    .out = certificate_get(given, "out", -1),
                    .in = certificate_get(given, "in", -1)};
  *proved_ns = 0;
  if (p->communication != SITU_COMMUNICATION_HOST_STAGED || p->async_copies || p->replicate)
    return SITU_STATUS_OK; /* otherwise a load is not such a sum */
  for (int32_t t = 0; t < j->graph->n_tensors; t++)
    if (!check_shares_keep(j, t, x.out, min_crossing(j, &x, t, true)) ||
        !check_shares_keep(j, t, x.in, min_crossing(j, &x, t, false)))
      return SITU_STATUS_OK;
  if (!check_items_find(&items, j) || !(x.bytes = check_items_held(&items, j)) ||
      !check_priced_work(&work, &nowhere, &x, &items, j))
    return fail_no_memory(error);
  *proved_ns = nowhere ? SITU_NEVER_NS : check_priced_bound(work, &x, j);
  return SITU_STATUS_OK;
}

const certificate_rule side_cut_rule = {.kind = "side_cut", .models = MODEL_PIPELINE, .prove = prove};
