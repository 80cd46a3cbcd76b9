#include "base/checked.h"
#include "check/check_certificate.h"

/* A memory never holds more than all bytes of a problem, so no more than these count of its capacity. The prices are in
 * the range of their field, so a product is at most 2^54 * 2^56, and the sum over SITU_MAX_DEVICES memories 2^122. */
__int128 check_rent(const judge *j, const int64_t *byte_prices) {
  __int128 sum = 0;
  for (int32_t m = 0; m < j->platform->n_memories; m++)
    sum += (__int128)byte_prices[m] * min64(j->platform->memory_bytes[m], PROBLEM_MAX_BYTES);
  return sum;
}

int64_t *check_items_held(const check_items *items, const judge *j) {
  int64_t *sum = ARENA_ZERO(j->scratch, int64_t, items->n);
  for (int32_t v = 0; v < j->graph->n_operators && sum; v++)
    sum[items->of[v]] = sat_add(sum[items->of[v]], check_held_bytes(j, v));
  return sum;
}

bool check_shares_keep(const judge *j, int32_t t, const int64_t *share, __int128 max) {
  __int128 sum = 0;
  for (int64_t i = j->graph->use_start[t]; i < j->graph->use_start[t + 1]; i++) sum += share[i];
  return sum == 0 || sum <= max;
}

/* gives ([item]): the shares `out` less `in` of each use, its producer's item with that sign, its user's with the
 * other. */
static void add_shares(__int128 *gives, const check_prices *x, const check_items *items, const situ_graph *g) {
  for (int32_t t = 0; t < g->n_tensors; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      __int128 more = (__int128)x->out[i] - x->in[i];
      gives[items->of[g->producer[t]]] += more;
      gives[items->of[g->use[i]]] -= more;
    }
}

bool check_priced_work(__int128 *sum, bool *nowhere, const check_prices *x, const check_items *items, const judge *j) {
  int32_t n_devices = j->problem->n_devices;
  __int128 *gives = ARENA_ZERO(j->scratch, __int128, items->n);
  if (!gives) return false;
  if (x->inside) add_shares(gives, x, items, j->graph);
  *sum = -check_rent(j, x->byte);
  *nowhere = false;
  for (int32_t i = 0; i < items->n && !*nowhere; i++) {
    __int128 min = 0;
    bool somewhere = false;
    for (int32_t d = 0; d < n_devices; d++) {
      int64_t time = check_item_time(items, j, i, d);
      if (time == SITU_NEVER_NS || (x->may && !x->may[(int64_t)items->member[items->start[i]] * n_devices + d]))
        continue;
      int32_t m = j->platform->memory_of[d];
      __int128 cost = (__int128)time * (x->time ? x->time[d] : 1) + (x->inside && x->inside[m] ? gives[i] : 0);
      cost = cost * ((int64_t)1 << x->bits) + (__int128)x->bytes[i] * x->byte[m];
      if (!somewhere || cost < min) min = cost;
      somewhere = true;
    }
    *sum += min;
    *nowhere = !somewhere;
  }
  return true;
}

int64_t check_priced_bound(__int128 work, const check_prices *x, const judge *j) {
  __int128 prices = 0;
  for (int32_t d = 0; d < j->problem->n_devices; d++) prices += x->time[d];
  prices *= (int64_t)1 << x->bits;
  if (work <= 0) return 0;
  if (prices == 0) return SITU_NEVER_NS;
  __int128 value = (work + prices - 1) / prices;
  return value >= SITU_NEVER_NS ? SITU_NEVER_NS - 1 : (int64_t)value;
}
