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

typedef struct sides {
  const int64_t *inside, *time, *byte, *out, *in;
} sides;

static bool is_inside(const judge *j, const sides *c, int32_t d) { return c->inside[j->platform->memory_of[d]] != 0; }

/* The minimum price of sending tensor t through the host from one side to the other; at most 2^78 for each half. */
static __int128 min_crossing(const judge *j, const sides *c, int32_t t, bool from_inside) {
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

static bool shares_are_allowed(const judge *j, const sides *c, int32_t t) {
  __int128 out = 0, in = 0;
  for (int64_t i = j->graph->use_start[t]; i < j->graph->use_start[t + 1]; i++) {
    out += c->out[i];
    in += c->in[i];
  }
  return (out == 0 || out <= min_crossing(j, c, t, true)) && (in == 0 || in <= min_crossing(j, c, t, false));
}

/* The minimum cost of an item over the devices that can hold it, in 2^-20 of a priced nanosecond. */
static __int128 min_cost(const judge *j, const check_items *items, int32_t i, const sides *c, __int128 gives,
                         bool *somewhere) {
  int64_t bytes = 0;
  __int128 min = 0;
  *somewhere = false;
  for (int32_t k = items->start[i]; k < items->start[i + 1]; k++)
    bytes = sat_add(bytes, check_held_bytes(j, items->member[k]));
  for (int32_t d = 0; d < j->problem->n_devices; d++) {
    int64_t time = check_item_time(items, j, i, d);
    if (time == SITU_NEVER_NS) continue;
    __int128 cost = ((__int128)time * c->time[d] + (is_inside(j, c, d) ? gives : 0)) * (1 << BYTE_BITS);
    cost += (__int128)bytes * c->byte[j->platform->memory_of[d]];
    if (!*somewhere || cost < min) min = cost;
    *somewhere = true;
  }
  return min;
}

static situ_status sum_up(int64_t *proved_ns, const judge *j, const sides *c, situ_error *error) {
  check_items items;
  if (!check_items_find(&items, j)) return fail_no_memory(error);
  __int128 *gives = ARENA_ZERO(j->scratch, __int128, items.n), sum = 0, prices = 0;
  if (!gives) return fail_no_memory(error);
  for (int32_t t = 0; t < j->graph->n_tensors; t++)
    if (!shares_are_allowed(j, c, t)) return SITU_STATUS_OK;
  check_items_shares(gives, &items, j, c->out, c->in);
  for (int32_t i = 0; i < items.n; i++) {
    bool somewhere;
    sum += min_cost(j, &items, i, c, gives[i], &somewhere);
    if (!somewhere) { /* then there is no plan */
      *proved_ns = SITU_NEVER_NS;
      return SITU_STATUS_OK;
    }
  }
  for (int32_t d = 0; d < j->problem->n_devices; d++) prices += c->time[d];
  sum -= check_rent(j, c->byte);
  if (sum <= 0) return SITU_STATUS_OK;
  prices *= 1 << BYTE_BITS;
  __int128 value = prices > 0 ? (sum + prices - 1) / prices : SITU_NEVER_NS;
  *proved_ns = prices > 0 && value >= SITU_NEVER_NS ? SITU_NEVER_NS - 1 : (int64_t)value;
  return SITU_STATUS_OK;
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *given, situ_error *error) {
  const situ_problem *p = j->problem;
  sides c = {.inside = certificate_get(given, "inside", -1),
             .time = certificate_get(given, "time_prices", -1),
             .byte = certificate_get(given, "byte_prices", -1),
             .out = certificate_get(given, "out", -1),
             .in = certificate_get(given, "in", -1)};
  *proved_ns = 0;
  if (p->communication != SITU_COMMUNICATION_HOST_STAGED || p->async_copies || p->replicate)
    return SITU_STATUS_OK; /* otherwise a load is not such a sum */
  return sum_up(proved_ns, j, &c, error);
}

const certificate_rule side_cut_rule = {.kind = "side_cut", .models = MODEL_PIPELINE, .prove = prove};
