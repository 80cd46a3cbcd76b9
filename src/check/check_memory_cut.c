/* The judge of cuts. With overlap none a plan takes the sum of its operators and transfers. Let s be 1 for operators in
 * memory a, and let each use i of a tensor have shares out_i, in_i >= 0 whose sums are at most the cheapest way of the
 * tensor out of a, and into it. A tensor that crosses pays at least sum of out_i (s_producer - s_i) + in_i (s_i -
 * s_producer), which is at most 0 for one that does not; weights in memory m take at most its capacity. So no plan is
 * better than
 *
 *     sum over items of min over d of (time + y_m(d) bytes + [m(d) = a] what its uses give)  -  sum over m of y_m
 * cap_m.
 */
#include "base/checked.h"
#include "base/fail.h"
#include "check/check_certificate.h"

enum { BYTE_BITS = 32 };

/* Shares are at most 2^54, prices of a byte 2^52 (check_fields.c); there are fewer than 2^29 uses of tensors. So all
 * shares together are below 2^84. All operators together take at most 2^54 ns, all weights are at most 2^56 bytes, and
 * the rent is at most 2^122: the sum is between -2^123 and 2^117. */

typedef struct cut {
  int32_t memory;
  const int64_t *byte, *out, *in;
} cut;

/* The cheapest way of a tensor from the memory to another one, or back. */
static int64_t cheapest_way(const judge *j, int32_t t, int32_t memory, bool back) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t m = 0; m < j->platform->n_memories; m++)
    if (m != memory) min = min64(min, back ? judge_transfer_ns(j, t, m, memory) : judge_transfer_ns(j, t, memory, m));
  return min;
}

static bool shares_are_allowed(const judge *j, const cut *c, int32_t t) {
  __int128 out = 0, in = 0;
  for (int64_t i = j->graph->use_start[t]; i < j->graph->use_start[t + 1]; i++) {
    out += c->out[i];
    in += c->in[i];
  }
  return out <= cheapest_way(j, t, c->memory, false) && in <= cheapest_way(j, t, c->memory, true);
}

/* The least cost of an item over the devices that can hold it, of 2^-32 ns; *somewhere: whether one can. */
static __int128 min_cost(const judge *j, const check_items *items, int32_t i, const cut *c, __int128 gives,
                         bool *somewhere) {
  int64_t weight = 0;
  __int128 min = 0;
  *somewhere = false;
  for (int32_t k = items->start[i]; k < items->start[i + 1]; k++)
    weight = sat_add(weight, j->graph->weight_bytes[items->member[k]]);
  for (int32_t d = 0; d < j->problem->n_devices; d++) {
    int64_t time = check_item_time(items, j, i, d);
    if (time == SITU_NEVER_NS) continue;
    int32_t m = j->platform->memory_of[d];
    __int128 cost = ((__int128)time + (m == c->memory ? gives : 0)) * ((int64_t)1 << BYTE_BITS);
    cost += (__int128)c->byte[m] * weight;
    if (!*somewhere || cost < min) min = cost;
    *somewhere = true;
  }
  return min;
}

static situ_status sum_up(int64_t *proved_ns, const judge *j, const cut *c, situ_error *error) {
  check_items items;
  if (!check_items_find(&items, j)) return fail_no_memory(error);
  __int128 *gives = ARENA_ZERO(j->scratch, __int128, items.n), sum = 0;
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
  sum -= check_rent(j, c->byte);
  __int128 value = sum <= 0 ? 0 : sum >> BYTE_BITS;
  *proved_ns = value >= SITU_NEVER_NS ? SITU_NEVER_NS - 1 : (int64_t)value;
  return SITU_STATUS_OK;
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *given, situ_error *error) {
  cut c = {.memory = (int32_t)*certificate_get(given, "memory", 1),
           .byte = certificate_get(given, "byte_prices", -1),
           .out = certificate_get(given, "out", -1),
           .in = certificate_get(given, "in", -1)};
  *proved_ns = 0;
  if (j->problem->overlap != SITU_OVERLAP_NONE || j->problem->objective != SITU_OBJECTIVE_LATENCY)
    return SITU_STATUS_OK; /* otherwise the value is not a sum */
  return sum_up(proved_ns, j, &c, error);
}

const certificate_rule memory_cut_rule = {.kind = "memory_cut", .models = MODEL_STREAM, .prove = prove};
