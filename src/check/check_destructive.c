/* The judge of a contradiction: that everything ends by T is followed through the same number of rounds, with the
 * prices given, and must end in a group of operators without a device, or in an interval with more priced work than the
 * devices have. Then no plan is better than T + 1. The claim says what T is. docs/theory/bounds/destructive.md */
#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/fail.h"
#include "check/check_certificate.h"

enum { DEVICES = 64, OPERATORS = 12000, CLOSURE = 1500, FREE_CLOSURE = 6000 };
static const int64_t ANY_END = SITU_NEVER_NS - 1; /* whenever everything ends, if it does */

/* Times are below 2^63 and prices at most 2^20 (check_fields.c): a priced time is below 2^83, and no sum of those of
 * OPERATORS operators leaves 2^97. Ends and the interval are below 2^63, so differences of three of them are below
 * 2^65, and times the prices of DEVICES devices below 2^91. */
typedef struct rank {
  int64_t key;
  int32_t v;
} rank;

typedef struct case_ {
  const judge *j;
  int32_t n, n_devices, n_lists;
  int64_t end_ns;
  const int64_t *price; /* [list * n_devices + device] */
  bool *may;
  int64_t *head, *tail;
  int64_t *first, *last; /* starts and tails that joins know */
  int64_t *start, *rest; /* [n] no operator starts before; no less time is after its end */
  bool *before;          /* [n * n], ordered by tail; or NULL */
  __int128 *work;        /* [n * n_lists] least priced work of each operator */
  rank *order;
  check_items items;
} case_;

static bool item_may(const case_ *c, int32_t item, int32_t d) {
  bool all = true;
  for (int32_t k = c->items.start[item]; k < c->items.start[item + 1]; k++)
    all = all && c->may[(int64_t)c->items.member[k] * c->n_devices + d];
  return all;
}

/* Takes from items the devices that one of their members may not use. False when one has none left. */
static bool agree(case_ *c) {
  for (int32_t i = 0; i < c->items.n; i++) {
    int32_t left = 0;
    for (int32_t d = 0; d < c->n_devices; d++) {
      bool all = item_may(c, i, d);
      left += all;
      for (int32_t k = c->items.start[i]; k < c->items.start[i + 1]; k++)
        c->may[(int64_t)c->items.member[k] * c->n_devices + d] = all;
    }
    if (left == 0) return false;
  }
  return true;
}

COMPARATOR(descending, rank, DOWN(key) UP(v))

static void sort_operators(case_ *c, bool by_tail) {
  for (int32_t v = 0; v < c->n; v++) {
    c->order[v] = (rank){SITU_NEVER_NS, v};
    for (int32_t d = 0; d < c->n_devices; d++) {
      int64_t at = (int64_t)v * c->n_devices + d;
      if (c->may[at])
        c->order[v].key = min64(c->order[v].key, by_tail ? c->tail[at] : c->head[at] - judge_time_ns(c->j, v, d));
    }
  }
  qsort(c->order, (size_t)c->n, sizeof *c->order, descending);
}

/* Of operators that all have a device. */
static void price_work(case_ *c) {
  for (int64_t i = 0; i < (int64_t)c->n * c->n_lists; i++) {
    const int64_t *price = c->price + i % c->n_lists * c->n_devices;
    int32_t v = (int32_t)(i / c->n_lists);
    __int128 min = -1;
    for (int32_t d = 0; d < c->n_devices; d++) {
      __int128 here = (__int128)judge_time_ns(c->j, v, d) * price[d];
      if (c->may[(int64_t)v * c->n_devices + d] && (min < 0 || here < min)) min = here;
    }
    c->work[i] = min;
  }
}

/* The operators before v (or after it), from the one that starts (or ends) nearest to v: together they need the time
 * in between on the devices that one of them may use. */
static int64_t time_around(const case_ *c, int32_t v, bool after, int64_t known) {
  bool used[DEVICES] = {false};
  __int128 work[FIELD_PRICE_LISTS] = {0}, sum[FIELD_PRICE_LISTS] = {0};
  for (int32_t i = 0; i < c->n; i++) {
    int32_t x = c->order[i].v;
    if (!(after ? c->before[(int64_t)x * c->n + v] : c->before[(int64_t)v * c->n + x])) continue;
    for (int32_t d = 0; d < c->n_devices; d++) {
      if (used[d] || !c->may[(int64_t)x * c->n_devices + d]) continue;
      used[d] = true;
      for (int32_t k = 0; k < c->n_lists; k++) sum[k] += c->price[(int64_t)k * c->n_devices + d];
    }
    for (int32_t k = 0; k < c->n_lists; k++) {
      work[k] += c->work[(int64_t)x * c->n_lists + k];
      __int128 gain = (__int128)known - c->order[i].key;
      if (sum[k] == 0 || work[k] <= gain * sum[k]) continue;
      __int128 found = c->order[i].key + (work[k] + sum[k] - 1) / sum[k];
      if (found > known) known = found > SITU_NEVER_NS ? SITU_NEVER_NS : (int64_t)found;
    }
  }
  return known;
}

/* One round. False without memory; *refuted when an item has no device. */
static bool follow(case_ *c, bool *refuted) {
  int64_t cells = (int64_t)c->n * c->n_devices;
  for (int64_t i = 0; i < cells; i++) {
    c->head[i] = max64(c->first[i], c->start[i / c->n_devices]);
    c->tail[i] = max64(c->last[i], c->rest[i / c->n_devices]);
  }
  if (!check_chains(c->head, c->tail, c->may, c->j)) return false;
  for (int64_t i = 0; i < cells; i++) c->may[i] = c->may[i] && sat_add(c->head[i], c->tail[i]) <= c->end_ns;
  *refuted = !agree(c);
  if (*refuted || !c->before || (c->n > CLOSURE && c->end_ns != ANY_END)) return true;
  price_work(c);
  for (int after = 0; after < 2; after++) {
    int64_t *known = after ? c->rest : c->start;
    sort_operators(c, after);
    for (int32_t v = 0; v < c->n; v++) known[v] = time_around(c, v, after, known[v]);
  }
  return true;
}

/* Whether the items must do more priced work within [a, b] than the devices can. */
static bool overflows(const case_ *c, int64_t a, int64_t b, const int64_t *price) {
  __int128 work = 0, sum = 0;
  for (int32_t d = 0; d < c->n_devices; d++) {
    bool used = false;
    for (int32_t v = 0; v < c->n; v++) used = used || c->may[(int64_t)v * c->n_devices + d];
    sum += used ? price[d] : 0;
  }
  for (int32_t i = 0; i < c->items.n; i++) {
    __int128 min = -1;
    for (int32_t d = 0; d < c->n_devices; d++) {
      __int128 parts = 0;
      if (!item_may(c, i, d)) continue;
      for (int32_t k = c->items.start[i]; k < c->items.start[i + 1]; k++) {
        int32_t v = c->items.member[k];
        int64_t at = (int64_t)v * c->n_devices + d, time = judge_time_ns(c->j, v, d);
        __int128 early = (__int128)c->head[at] - a, late = (__int128)b - c->end_ns + c->tail[at] + time;
        __int128 part = early < late ? early : late;
        part = part < time ? part : time;
        part = part < b - a ? part : b - a;
        parts += part > 0 ? part : 0;
      }
      if (min < 0 || parts * price[d] < min) min = parts * price[d];
    }
    if (min > 0) work += min;
  }
  return work > (__int128)(b - a) * sum;
}

/* What precedes what, for as many operators as the work rule is for. */
static bool find_order(case_ *c, arena *a) {
  const situ_graph *g = c->j->graph;
  if (c->n > FREE_CLOSURE) return true;
  c->before = ARENA_ZERO(a, bool, (int64_t)c->n * c->n);
  if (!c->before) return false;
  for (int32_t v = 0; v < c->n; v++)
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      c->before[(int64_t)v * c->n + u] = true;
      for (int32_t x = 0; x < u; x++) c->before[(int64_t)v * c->n + x] |= c->before[(int64_t)u * c->n + x];
    }
  return true;
}

/* From before any device is ruled out; a window of 0 is none. */
static bool find_joins(case_ *c, int64_t window) {
  if (window == 0) return true;
  if (!check_joins(c->first, c->last, c->may, (int32_t)window, c->j)) return false;
  for (int64_t i = 0; i < (int64_t)c->n * c->n_devices; i++)
    if (c->first[i] != SITU_NEVER_NS)
      c->first[i] -= judge_time_ns(c->j, (int32_t)(i / c->n_devices), (int32_t)(i % c->n_devices));
  return true;
}

static bool case_init(case_ *c, int64_t window, const judge *j) {
  arena *a = j->scratch;
  int64_t cells = (int64_t)c->n * c->n_devices;
  if (!ARENA_ARRAYS(a, ARRAY(c->may, cells), ZEROS(c->first, cells), ZEROS(c->last, cells), ARRAY(c->head, cells),
                    ARRAY(c->tail, cells), ZEROS(c->start, c->n), ZEROS(c->rest, c->n), ARRAY(c->order, c->n),
                    ARRAY(c->work, (int64_t)c->n * c->n_lists)))
    return false;
  return check_alive_rooms(c->may, j, -1) && check_items_find(&c->items, j) && find_order(c, a) &&
         find_joins(c, window);
}

static situ_status prove(int64_t *proved_ns, judge *j, const certificate *proof, situ_error *error) {
  int32_t n = j->problem->n_operators, n_devices = j->problem->n_devices;
  int64_t n_prices = certificate_size(proof, "prices"), n_interval = certificate_size(proof, "interval");
  const int64_t *rounds = certificate_get(proof, "rounds", 1), *price = certificate_get(proof, "prices", -1);
  const int64_t *interval = certificate_get(proof, "interval", -1);
  const int64_t *window = certificate_get(proof, "window", 1);
  const int64_t *free_rounds = certificate_get(proof, "free_rounds", 1);
  case_ c = {.j = j,
             .n = n,
             .n_devices = n_devices,
             .n_lists = (int32_t)(n_prices / n_devices),
             .price = price,
             .end_ns = ANY_END};
  *proved_ns = CERTIFICATE_MALFORMED;
  if (n_interval == 3 && (interval[1] <= interval[0] || interval[2] >= c.n_lists)) return SITU_STATUS_OK;
  *proved_ns = CERTIFICATE_TOO_LONG;
  if (n_devices > DEVICES || n > OPERATORS || !check_joins_are_short(*window, j)) return SITU_STATUS_OK;
  *proved_ns = 0;
  if (proof->lower_ns <= 0 || proof->lower_ns == SITU_NEVER_NS) return SITU_STATUS_OK;
  if (!case_init(&c, *window, j)) return fail_no_memory(error);
  bool refuted = !agree(&c);
  for (int64_t round = 0; round < *free_rounds + *rounds && !refuted; round++) {
    if (round == *free_rounds) c.end_ns = proof->lower_ns - 1;
    if (!follow(&c, &refuted)) return fail_no_memory(error);
  }
  if (!refuted && n_interval == 3 && *rounds > 0)
    refuted = overflows(&c, interval[0], interval[1], price + interval[2] * n_devices);
  if (refuted) *proved_ns = proof->lower_ns;
  return SITU_STATUS_OK;
}

const certificate_rule destructive_rule = {
    .kind = "destructive",
    .form = "an interval that ends after it begins, with one of its lists of prices",
    .models = MODEL_STREAM,
    .prove = prove};
