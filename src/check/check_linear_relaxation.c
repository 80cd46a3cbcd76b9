/* The judge of prices of a linear program of placement and start times. In a plan of value T on devices x the start
 * times s and lengths p keep, for every use of a tensor of i by j, operator i and device d,
 *
 *     s[j] >= s[i] + p[i] + c(memory of i, memory of j)       price f
 *     T >= s[i] + p[i] + tail[i]                              price l
 *     s[i] >= head[i] - p[i]                                  price h = l + sum of f going out - sum of f coming in
 *     T >= all p on d                                         price a
 *     capacity of m >= weights on m                           price y
 *
 * Added up with these prices s falls out, by the choice of h, and there remains
 *
 *     T (sum of l + sum of a) >= sum over uses of f c + sum over i of (f going out + l + a) p + l tail + h (head - p) +
 * y w
 *                                - sum of y capacity.
 *
 * The right side is a sum over items of what depends on one device and over uses of what depends on two memories.
 * Amounts `from` and `to`, for each use and memory, are moved from the second to the first sum; then the least of each
 * term bounds it. Devices on which head + tail is above `within` are left out: so the plan may be worse than `within`
 * instead. Heads and tails are those of the critical path. */
#include "base/checked.h"
#include "base/fail.h"
#include "check/check_certificate.h"

/* Longer times count as this, which only lowers the sums. Prices are at most 2^54 (check_fields.c), and there are at
 * most MAX_WORK uses, operators and devices: sums of prices are below 2^78. A time at its price is at most 2^96, and
 * MAX_WORK times five of them are below 2^121; all weights together are at most 2^56, so at their prices below 2^110.
 * What is moved is a sum of prices, and the rent at most 2^122. All together is below 2^124. */
static const int64_t LONGEST = (int64_t)1 << 42, DEAREST = (int64_t)1 << 54, MAX_WORK = (int64_t)1 << 22;

typedef struct relaxation {
  const judge *j;
  const int64_t *edge, *tail_price, *time, *byte, *from, *to;
  int64_t within_ns;
  int64_t *head, *tail;             /* [operator * n_devices + device] */
  bool *may;                        /* likewise */
  __int128 *out_price, *head_price; /* [operator] */
  __int128 *moved;                  /* [operator * n_memories + memory] */
  check_items items;
} relaxation;

static void take_lists(relaxation *r, const certificate *c) {
  r->edge = certificate_get(c, "edge_prices", -1);
  r->tail_price = certificate_get(c, "tail_prices", -1);
  r->time = certificate_get(c, "time_prices", -1);
  r->byte = certificate_get(c, "byte_prices", -1);
  r->from = certificate_get(c, "from_prices", -1);
  r->to = certificate_get(c, "to_prices", -1);
  r->within_ns = *certificate_get(c, "within_ns", 1);
}

static bool init(relaxation *r) {
  const judge *j = r->j;
  int64_t n = j->graph->n_operators, nm = j->platform->n_memories, nd = j->platform->n_devices;
  if (!ARENA_ARRAYS(j->scratch, ZEROS(r->head, n * nd), ZEROS(r->tail, n * nd), ARRAY(r->may, n * nd),
                    ZEROS(r->out_price, n), ZEROS(r->head_price, n), ZEROS(r->moved, n * nm)))
    return false;
  return check_alive_rooms(r->may, j, -1) && check_items_find(&r->items, j) &&
         check_chains(r->head, r->tail, r->may, j);
}

/* The longest transfer of tensors from i to j, which is use k's producer and user, between two memories; -1: no way. */
static int64_t transfer(const relaxation *r, int64_t k, int32_t user, int32_t m, int32_t w) {
  const situ_graph *g = r->j->graph;
  int32_t i = g->producer[g->in[k]];
  int64_t longest = 0;
  if (m == w || r->items.of[i] == r->items.of[user]) return 0;
  for (int64_t other = g->in_start[user]; other < g->in_start[user + 1]; other++)
    if (g->producer[g->in[other]] == i) longest = max64(longest, judge_transfer_ns(r->j, g->in[other], m, w));
  return longest == SITU_NEVER_NS ? -1 : longest;
}

/* The least of what use k adds by the memories of its ends. */
static __int128 min_of_use(const relaxation *r, int64_t k, int32_t user) {
  int32_t nm = r->j->platform->n_memories;
  __int128 min = 0;
  bool any = false;
  for (int32_t m = 0; m < nm; m++)
    for (int32_t w = 0; w < nm; w++) {
      int64_t time = transfer(r, k, user, m, w);
      if (time < 0) continue;
      __int128 here = (__int128)r->edge[k] * min64(time, LONGEST) - r->from[k * nm + m] - r->to[k * nm + w];
      if (!any || here < min) min = here;
      any = true;
    }
  return min;
}

/* The sum over uses; what they move to their ends and the prices of heads on the way. False where one is below 0. */
static bool add_uses(relaxation *r, __int128 *sum) {
  const situ_graph *g = r->j->graph;
  int32_t nm = r->j->platform->n_memories;
  for (int32_t v = 0; v < g->n_operators; v++) r->head_price[v] = r->tail_price[v];
  for (int32_t v = 0; v < g->n_operators; v++)
    for (int64_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
      int32_t u = g->producer[g->in[k]];
      r->out_price[u] += r->edge[k];
      r->head_price[u] += r->edge[k];
      r->head_price[v] -= r->edge[k];
      *sum += min_of_use(r, k, v);
      for (int32_t m = 0; m < nm; m++) {
        r->moved[(int64_t)u * nm + m] += r->from[k * nm + m];
        r->moved[(int64_t)v * nm + m] += r->to[k * nm + m];
      }
    }
  for (int32_t v = 0; v < g->n_operators; v++)
    if (r->head_price[v] < 0 || r->head_price[v] > DEAREST || r->out_price[v] > DEAREST) return false;
  return true;
}

static __int128 worth(__int128 price, int64_t time_ns) { return price * min64(time_ns, LONGEST); }

/* The contribution of an item on device d; false if it cannot be there within `within`. */
static bool worth_of_item(const relaxation *r, int32_t item, int32_t d, __int128 *sum) {
  const judge *j = r->j;
  int32_t m = j->platform->memory_of[d];
  *sum = 0;
  for (int32_t k = r->items.start[item]; k < r->items.start[item + 1]; k++) {
    int32_t v = r->items.member[k];
    int64_t at = (int64_t)v * j->platform->n_devices + d;
    if (!r->may[at] || sat_add(r->head[at], r->tail[at]) > r->within_ns) return false;
    int64_t time = judge_time_ns(j, v, d);
    *sum += worth(r->out_price[v], time) + worth(r->time[d], time);
    *sum += worth(r->tail_price[v], sat_add(time, r->tail[at])) + worth(r->head_price[v], r->head[at] - time);
    *sum += (__int128)r->byte[m] * j->graph->weight_bytes[v] + r->moved[(int64_t)v * j->platform->n_memories + m];
  }
  return true;
}

/* The sum over items. False where one has no device within `within`: then every plan is worse. */
static bool add_items(const relaxation *r, __int128 *sum) {
  for (int32_t i = 0; i < r->items.n; i++) {
    __int128 min = 0, here;
    bool any = false;
    for (int32_t d = 0; d < r->j->platform->n_devices; d++) {
      if (!worth_of_item(r, i, d, &here)) continue;
      if (!any || here < min) min = here;
      any = true;
    }
    if (!any) return false;
    *sum += min;
  }
  return true;
}

static int64_t value_of(relaxation *r) {
  __int128 sum = 0, unit = 0, rent = check_rent(r->j, r->byte);
  int64_t worse_ns = sat_add(r->within_ns, 1);
  for (int32_t v = 0; v < r->j->graph->n_operators; v++) unit += r->tail_price[v];
  for (int32_t d = 0; d < r->j->platform->n_devices; d++) unit += r->time[d];
  if (!add_uses(r, &sum)) return 0;
  if (!add_items(r, &sum)) return worse_ns;
  if (unit == 0 || sum <= rent) return 0;
  __int128 value = (sum - rent - 1) / unit + 1;
  return value > worse_ns ? worse_ns : (int64_t)value;
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *c, situ_error *error) {
  int64_t nm = j->platform->n_memories, nd = j->platform->n_devices;
  relaxation r = {.j = j};
  take_lists(&r, c);
  *proved_ns = CERTIFICATE_TOO_LONG;
  if (j->graph->n_uses * nm * nm > MAX_WORK || j->graph->n_operators * nd > MAX_WORK) return SITU_STATUS_OK;
  if (!init(&r)) return fail_no_memory(error);
  *proved_ns = value_of(&r);
  return SITU_STATUS_OK;
}

const certificate_rule linear_relaxation_rule = {.kind = "linear_relaxation", .models = MODEL_STREAM, .prove = prove};
