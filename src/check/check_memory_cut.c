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

/* The cheapest way of a tensor from the memory to another one, or back. */
static int64_t cheapest_way(const judge *j, int32_t t, int32_t memory, bool back) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t m = 0; m < j->platform->n_memories; m++)
    if (m != memory) min = min64(min, back ? judge_transfer_ns(j, t, m, memory) : judge_transfer_ns(j, t, memory, m));
  return min;
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *given, situ_error *error) {
  int32_t memory = (int32_t)*certificate_get(given, "memory", 1);
  const int64_t *out = certificate_get(given, "out", -1), *in = certificate_get(given, "in", -1);
  int64_t *inside = ARENA_ZERO(j->scratch, int64_t, j->platform->n_memories);
  check_items items;
  __int128 work;
  bool nowhere;
  *proved_ns = 0;
  if (j->problem->overlap != SITU_OVERLAP_NONE || j->problem->objective != SITU_OBJECTIVE_LATENCY)
    return SITU_STATUS_OK; /* otherwise the value is not a sum */
  if (!inside || !check_items_find(&items, j)) return fail_no_memory(error);
  inside[memory] = 1;
  for (int32_t t = 0; t < j->graph->n_tensors; t++)
    if (!check_shares_keep(j, t, out, cheapest_way(j, t, memory, false)) ||
        !check_shares_keep(j, t, in, cheapest_way(j, t, memory, true)))
      return SITU_STATUS_OK;
  check_prices x = {.byte = certificate_get(given, "byte_prices", -1),
                    .bits = BYTE_BITS,
                    .bytes = check_items_held(&items, j),
                    .inside = inside,
                    .out = out,
                    .in = in};
  if (!x.bytes || !check_priced_work(&work, &nowhere, &x, &items, j)) return fail_no_memory(error);
  __int128 value = work <= 0 ? 0 : work >> BYTE_BITS;
  *proved_ns = nowhere ? SITU_NEVER_NS : value >= SITU_NEVER_NS ? SITU_NEVER_NS - 1 : (int64_t)value;
  return SITU_STATUS_OK;
}

const certificate_rule memory_cut_rule = {.kind = "memory_cut", .models = MODEL_STREAM, .prove = prove};
