/* Destructive bound: suppose that everything ends by T and propagate what follows. A contradiction proves that every
 * plan takes at least T + 1. The rules run in rounds, the first rule once for all T, the others for each T:
 *
 *   chains    heads and tails by device as in critical_path.c, over the devices that are left, from those of joins.c;
 *   devices   v may not run on d when head(v,d) + tail(v,d) > T; a colocation group runs where all members may;
 *   work      all ancestors of v that start at a or later run between a and the start of v: for prices u of device time
 *             start(v) >= a + sum of min over d of u_d p / sum of u over the devices that one of them may use;
 *             likewise descendants after the end of v;
 *   energy    in an interval [a,b] the groups do at least the sum of min over d of u_d psi(d) priced work, where psi is
 *             the minimum part of an operator within the interval, started as early or as late as can be; the devices
 *             have no more than (b - a) sum u.
 *
 * A group without a device, or too much energy, is a contradiction. docs/theory/bounds/destructive.md */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "bound/joins.h"
#include "graph/ancestors.h"

enum {
  MAX_DEVICES = 64,
  PRICES = 6,
  ROUNDS = 6,
  MAX_OPERATORS = 12000,
  WORK_OPERATORS = 1500, /* maximum for the work rule at each T */
  FREE_OPERATORS = 6000, /* maximum for the rounds for all T together */
  FREE_ROUNDS = 1,
  MAX_PRICE = 1 << 10,
  FIRST_STEP = 64,
  PRECISION = 10000
};
static const double INTERVAL_WORK = 3e6, ALL_WORK = 1e8;
static const int64_t SMALL_NS = (int64_t)1 << 46; /* times the sum of all prices: less than 2^63 */
static const int64_t MAX_NS = (int64_t)1 << 50;   /* limit on all work, so that priced sums fit 63 bits */

/* An operator and its sort key. */
typedef struct ranked {
  int64_t key;
  int32_t v;
} ranked;

typedef struct destructive_search {
  const situ_problem *p;
  arena *scratch;
  budget *budget;
  int32_t n, n_devices;
  int64_t end_ns;                         /* the T being tried */
  bool *may;                              /* [n * devices] */
  int32_t width;                          /* of the join search; 0: none */
  int64_t *first, *last;                  /* [n * devices] starts and tails from joins */
  int64_t *release0, *after0;             /* [n] results of the work rule that hold for every T */
  int64_t *head, *tail, *release, *after; /* [n * devices]; [n] from the work rule */
  bit_rows before; /* ancestors of each operator; empty when there are too many operators for the work rule */
  int64_t price[PRICES][MAX_DEVICES]; /* n_prices lists */
  int32_t n_prices;
  ranked *order;            /* [n] */
  int64_t *work;            /* [n * PRICES] minimum priced work of each operator */
  uint64_t *devices;        /* [n] those that it may still use */
  int64_t *ends_a, *ends_b; /* [n] candidates */
  double n_steps;           /* work so far */
  /* the latest contradiction: */
  int32_t free_rounds, rounds, price_at; /* price_at -1: a group without a device */
  int64_t from_ns, to_ns;
} destructive_search;

static int64_t time_of(const destructive_search *s, int32_t v, int32_t d) { return problem_time_ns(s->p, v, d); }
static bool is_before(const destructive_search *s, int32_t u, int32_t v) { return bit_rows_has(&s->before, v, u); }

/* ---- chains and devices ---- */

/* Leaves a unit only the devices on which all members may run. */
static void keep_together(destructive_search *s) {
  for (int32_t k = 0; k < s->p->units.n; k++) {
    unit_members u = unit_list_members(&s->p->units, k);
    for (int32_t d = 0; d < s->n_devices && u.n > 1; d++) {
      bool all = true;
      for (int32_t i = 0; i < u.n; i++) all &= s->may[(int64_t)u.member[i] * s->n_devices + d];
      for (int32_t i = 0; i < u.n; i++) s->may[(int64_t)u.member[i] * s->n_devices + d] = all;
    }
  }
}

/* False when an operator has no device left. */
static bool drop_devices(destructive_search *s, bool *changed) {
  for (int64_t i = 0; i < (int64_t)s->n * s->n_devices; i++)
    if (s->may[i] && sat_add(s->head[i], s->tail[i]) > s->end_ns) {
      s->may[i] = false;
      *changed = true;
    }
  keep_together(s);
  for (int32_t v = 0; v < s->n; v++) {
    s->devices[v] = 0;
    for (int32_t d = 0; d < s->n_devices; d++)
      if (s->may[(int64_t)v * s->n_devices + d]) s->devices[v] |= (uint64_t)1 << d;
    if (!s->devices[v]) return false;
  }
  return true;
}

static bool follow_chains(destructive_search *s) {
  for (int64_t i = 0; i < (int64_t)s->n * s->n_devices; i++) {
    s->head[i] = max64(s->first[i], s->release[i / s->n_devices]);
    s->tail[i] = max64(s->last[i], s->after[i / s->n_devices]);
  }
  s->n_steps += (double)s->p->graph->n_uses * (s->n_devices + s->p->n_memories * s->p->n_memories);
  return bound_chains(s->head, s->tail, s->may, s->p, s->scratch);
}

/* ---- work ---- */

COMPARATOR(by_key, ranked, DOWN(key) UP(v))

/* Sorts operators by their minimum start (or tail), the largest first. */
static void rank_by(destructive_search *s, bool tails) {
  for (int32_t v = 0; v < s->n; v++) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t d = 0; d < s->n_devices; d++) {
      int64_t i = (int64_t)v * s->n_devices + d;
      if (s->may[i]) min = min64(min, tails ? s->tail[i] : s->head[i] - time_of(s, v, d));
    }
    s->order[v] = (ranked){min, v};
  }
  qsort(s->order, (size_t)s->n, sizeof *s->order, by_key);
}

static void price_work(destructive_search *s) {
  for (int32_t v = 0; v < s->n; v++)
    for (int32_t k = 0; k < s->n_prices; k++) {
      int64_t *work = &s->work[(int64_t)v * PRICES + k];
      *work = INT64_MAX;
      for (int32_t d = 0; d < s->n_devices; d++)
        if (s->devices[v] >> d & 1) *work = min64(*work, time_of(s, v, d) * s->price[k][d]);
    }
}

static int64_t sum_prices(const destructive_search *s, const int64_t *price, uint64_t devices) {
  int64_t sum = 0;
  for (int32_t d = 0; d < s->n_devices; d++)
    if (devices >> d & 1) sum += price[d];
  return sum;
}

/* What the prices prove about the start of v (or the time after its end), adding operators in sorted order. */
static int64_t work_around(const destructive_search *s, int32_t v, bool tails, int64_t known) {
  int64_t work[PRICES] = {0}, sum[PRICES] = {0};
  uint64_t devices = 0;
  for (int32_t i = 0; i < s->n; i++) {
    int32_t x = s->order[i].v;
    if (tails ? !is_before(s, v, x) : !is_before(s, x, v)) continue;
    if (s->devices[x] & ~devices) {
      devices |= s->devices[x];
      for (int32_t k = 0; k < s->n_prices; k++) sum[k] = sum_prices(s, s->price[k], devices);
    }
    for (int32_t k = 0; k < s->n_prices; k++) {
      int64_t gain = known - s->order[i].key; /* only more than this improves on what is known */
      work[k] += s->work[(int64_t)x * PRICES + k];
      bool small = known < SMALL_NS; /* then products fit */
      if (sum[k] > 0 && (gain < 0 || (small ? work[k] > gain * sum[k] : work[k] > (__int128)gain * sum[k])))
        known = sat_add(s->order[i].key, (work[k] + sum[k] - 1) / sum[k]);
    }
  }
  return known;
}

static void follow_work(destructive_search *s, bool *changed) {
  price_work(s);
  for (int tails = 0; tails < 2; tails++) {
    rank_by(s, tails);
    int64_t *known = tails ? s->after : s->release;
    for (int32_t v = 0; v < s->n; v++) {
      int64_t found = work_around(s, v, tails, known[v]);
      *changed |= found > known[v];
      known[v] = found;
    }
    s->n_steps += (double)s->n * s->n;
  }
}

/* ---- energy ---- */

/* The part of v on d that lies within [a, b] wherever v starts. */
static int64_t part_within(const destructive_search *s, int32_t v, int32_t d, int64_t a, int64_t b) {
  int64_t i = (int64_t)v * s->n_devices + d, time = time_of(s, v, d);
  int64_t max = min64(time, b - a), early = s->head[i] - a, late = b - (s->end_ns - s->tail[i] - time);
  return max64(0, min64(max, min64(early, late)));
}

/* Adds the minimum priced parts of a unit to energy[]. */
static void add_unit(const destructive_search *s, unit_members u, int64_t a, int64_t b, int64_t *energy) {
  int64_t min[PRICES];
  for (int32_t k = 0; k < s->n_prices; k++) min[k] = INT64_MAX;
  for (int32_t d = 0; d < s->n_devices; d++) {
    if (!(s->devices[u.member[0]] >> d & 1)) continue;
    int64_t part = 0;
    for (int32_t i = 0; i < u.n; i++) part += part_within(s, u.member[i], d, a, b);
    for (int32_t k = 0; k < s->n_prices; k++) min[k] = min64(min[k], part * s->price[k][d]);
  }
  for (int32_t k = 0; k < s->n_prices; k++) energy[k] += min[k];
}

static bool refutes(destructive_search *s, int64_t a, int64_t b, uint64_t devices) {
  int64_t energy[PRICES] = {0};
  for (int32_t k = 0; k < s->p->units.n; k++) add_unit(s, unit_list_members(&s->p->units, k), a, b, energy);
  for (int32_t k = 0; k < s->n_prices; k++)
    if (energy[k] > (__int128)(b - a) * sum_prices(s, s->price[k], devices)) {
      s->from_ns = a;
      s->to_ns = b;
      s->price_at = k;
      return true;
    }
  return false;
}

/* Picks about `count` distinct keys of s->order, evenly spaced, as ends of intervals. */
static int32_t pick_ends(const destructive_search *s, int64_t *ends, int32_t count, bool late) {
  int32_t n = 0;
  for (int32_t i = 0; i < count; i++) {
    int64_t key = s->order[(int64_t)i * s->n / count].key, end = late ? s->end_ns - key : key;
    if (n == 0 || ends[n - 1] != end) ends[n++] = end;
  }
  return n;
}

static bool too_much_energy(destructive_search *s) {
  uint64_t devices = 0;
  for (int32_t v = 0; v < s->n; v++) devices |= s->devices[v];
  int32_t count = s->n;
  double once = (double)s->n * s->n_devices * s->n_prices;
  while (count > 2 && (double)count * count * once > INTERVAL_WORK) count = count * 3 / 4;
  rank_by(s, false);
  int32_t n_a = pick_ends(s, s->ends_a, count, false);
  rank_by(s, true);
  int32_t n_b = pick_ends(s, s->ends_b, count, true);
  for (int32_t i = 0; i < n_a; i++)
    for (int32_t j = 0; j < n_b; j++) {
      if (s->ends_b[j] <= s->ends_a[i]) continue;
      s->n_steps += once;
      if (refutes(s, s->ends_a[i], s->ends_b[j], devices)) return true;
    }
  return false;
}

/* ---- one T ---- */

/* *refuted says whether no plan ends by end_ns. False without memory. */
static bool try_end(destructive_search *s, int64_t end_ns, bool *refuted) {
  bool changed = true;
  s->end_ns = end_ns;
  s->price_at = -1;
  *refuted = true;
  memcpy(s->release, s->release0, (size_t)s->n * sizeof *s->release);
  memcpy(s->after, s->after0, (size_t)s->n * sizeof *s->after);
  for (int64_t i = 0; i < (int64_t)s->n * s->n_devices; i++)
    s->may[i] = problem_allows(s->p, (int32_t)(i / s->n_devices), (int32_t)(i % s->n_devices));
  keep_together(s);
  for (s->rounds = 0; s->rounds < ROUNDS && changed && !budget_over(s->budget);) {
    changed = false;
    s->rounds++;
    if (!follow_chains(s)) return false;
    if (!drop_devices(s, &changed)) return true;
    if (s->n <= WORK_OPERATORS) follow_work(s, &changed);
  }
  *refuted = too_much_energy(s);
  return true;
}

/* ---- the search for T ---- */

static bool destructive_certify(certificate *proof, const destructive_search *s, arena *a) {
  const situ_problem *p = s->p;
  certificate_start(proof, "destructive", s->end_ns + 1); /* replaces the one before */
  int64_t *rounds = certificate_add(proof, "rounds", 1, a);
  int64_t *price = certificate_add(proof, "prices", (int64_t)s->n_prices * p->n_devices, a);
  int64_t *interval = certificate_add(proof, "interval", s->price_at < 0 ? 0 : 3, a);
  int64_t *width = certificate_add(proof, "window", 1, a);
  int64_t *free_rounds = certificate_add(proof, "free_rounds", 1, a);
  if (!rounds || !price || !interval || !width || !free_rounds) return false;
  *free_rounds = s->free_rounds;
  *rounds = s->rounds;
  *width = s->width;
  for (int32_t k = 0; k < s->n_prices; k++)
    for (int32_t d = 0; d < p->n_devices; d++) price[k * p->n_devices + d] = s->price[k][d];
  if (s->price_at < 0) return true;
  interval[0] = s->from_ns;
  interval[1] = s->to_ns;
  interval[2] = s->price_at;
  return true;
}

/* Chooses lists of prices: the inverse of the total time on each device, flatter and steeper variants, and each device
 * alone. With equal devices these are all one list. */
static void choose_prices(destructive_search *s) {
  static const double power[PRICES] = {0, 0.5, 1, 1.5, 2, 8};
  double total[MAX_DEVICES] = {0}, min = 0;
  for (int32_t d = 0; d < s->n_devices; d++) {
    for (int32_t v = 0; v < s->n; v++)
      if (problem_allows(s->p, v, d)) total[d] += (double)time_of(s, v, d);
    if (total[d] > 0 && (min == 0 || total[d] < min)) min = total[d];
  }
  for (int32_t k = 0; k < PRICES; k++) {
    int64_t *price = s->price[s->n_prices];
    for (int32_t d = 0; d < s->n_devices; d++) {
      double relative = 1;
      for (double e = power[k]; e >= 0.5 && total[d] > min; e -= 0.5) relative *= sqrt(min / total[d]);
      price[d] = (int64_t)(MAX_PRICE * relative + 0.5);
    }
    if (k == 0 || memcmp(price, s->price[0], (size_t)s->n_devices * sizeof *price) != 0) s->n_prices++;
  }
}

/* All work in sequence on the slowest devices. No longer T can be contradicted, and sums up to it do not overflow. */
static int64_t max_work(const destructive_search *s) {
  int64_t sum = 0;
  for (int32_t v = 0; v < s->n; v++) {
    int64_t max = 0;
    for (int32_t d = 0; d < s->n_devices; d++)
      if (problem_allows(s->p, v, d)) max = max64(max, time_of(s, v, d));
    sum = sat_add(sum, max);
  }
  return sum;
}

static bool destructive_init(destructive_search *s, arena *a) {
  int64_t cells = (int64_t)s->n * s->n_devices;
  return ARENA_ARRAYS(a, ARRAY(s->may, cells), ZEROS(s->first, cells), ZEROS(s->last, cells), ARRAY(s->head, cells),
                      ARRAY(s->tail, cells), ZEROS(s->release0, s->n), ZEROS(s->after0, s->n), ZEROS(s->release, s->n),
                      ZEROS(s->after, s->n), ARRAY(s->order, s->n), ARRAY(s->work, (int64_t)s->n * PRICES),
                      ARRAY(s->devices, s->n), ARRAY(s->ends_a, s->n), ARRAY(s->ends_b, s->n)) &&
         (s->n > FREE_OPERATORS || ancestors_find(&s->before, s->p->graph, a));
}

/* Starts and tails from joins, with may[] as the problem allows. *closed says whether time ran out. */
static bool find_joins(destructive_search *s, bool *closed) {
  *closed = false;
  s->width = joins_width(s->p);
  if (s->width == 0) return true;
  arena_mark mark = arena_get_mark(s->scratch);
  joins *j = joins_new(s->p, s->width, s->scratch);
  if (!j) return false;
  *closed = !joins_find(j, s->first, s->last, s->may, s->budget);
  for (int64_t i = 0; i < (int64_t)s->n * s->n_devices; i++)
    if (s->first[i] != SITU_NEVER_NS)
      s->first[i] -= time_of(s, (int32_t)(i / s->n_devices), (int32_t)(i % s->n_devices));
  arena_release(s->scratch, mark);
  return true;
}

/* What holds for every T. *lower_ns is the bound of the chains; 0 when there is no plan or no time left. */
static bool find_chains(int64_t *lower_ns, destructive_search *s) {
  bool ignored = false, closed;
  s->end_ns = SITU_NEVER_NS - 1; /* but not where an operator cannot end at all */
  *lower_ns = 0;
  for (int64_t i = 0; i < (int64_t)s->n * s->n_devices; i++)
    s->may[i] = problem_allows(s->p, (int32_t)(i / s->n_devices), (int32_t)(i % s->n_devices));
  if (!find_joins(s, &closed)) return false;
  if (closed) return true;
  for (s->free_rounds = 0;; s->free_rounds++) {
    if (!follow_chains(s)) return false;
    if (!drop_devices(s, &ignored)) return true;
    if (!s->before.bits || s->free_rounds == FREE_ROUNDS || budget_over(s->budget)) break;
    follow_work(s, &ignored);
  }
  memcpy(s->release0, s->release, (size_t)s->n * sizeof *s->release);
  memcpy(s->after0, s->after, (size_t)s->n * sizeof *s->after);
  for (int32_t v = 0; v < s->n; v++) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t d = 0; d < s->n_devices; d++)
      min = min64(min, sat_add(s->head[(int64_t)v * s->n_devices + d], s->tail[(int64_t)v * s->n_devices + d]));
    if (min == SITU_NEVER_NS) *lower_ns = 0;
    if (min == SITU_NEVER_NS) return true;
    *lower_ns = max64(*lower_ns, min);
  }
  return true;
}

/* Raises T from the bound of the chains in growing steps while it is contradicted, then bisects. Nothing more is tried
 * where the bound of the chains itself has no contradiction. */
static situ_status destructive_compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch,
                                       budget *b, situ_error *error) {
  destructive_search s = {.p = p, .scratch = scratch, .budget = b, .n = p->n_operators, .n_devices = p->n_devices};
  int64_t closed, open = -1; /* every T below `closed` is refuted, `open` is not */
  *lower_ns = 0;
  if (s.n_devices > MAX_DEVICES || s.n > MAX_OPERATORS || max_work(&s) > MAX_NS) return SITU_STATUS_OK;
  if (!destructive_init(&s, scratch)) return fail_no_memory(error);
  choose_prices(&s);
  if (!find_chains(&closed, &s)) return fail_no_memory(error);
  int64_t chains = closed, step = closed / FIRST_STEP + 1, end = closed - 1;
  while (closed > 0 && closed != open && s.n_steps < ALL_WORK && !budget_over(b)) {
    bool refuted;
    if (end > 2 * MAX_NS || (open >= 0 && open - closed < closed / PRECISION)) break;
    if (!try_end(&s, end, &refuted)) return fail_no_memory(error);
    if (!refuted)
      open = end;
    else
      *lower_ns = closed = end + 1;
    if (refuted && !destructive_certify(proof, &s, scratch)) return fail_no_memory(error);
    if (end < chains) {
      end = chains;
      continue;
    }
    end = open < 0 ? closed + step : closed + (open - closed) / 2;
    step *= 2;
  }
  if (end > 2 * MAX_NS) { /* nothing is possible: no plan exists, which other bounds report */
    *lower_ns = 0;
    *proof = (certificate){0};
  }
  return SITU_STATUS_OK;
}

const bound destructive_bound = {
    .name = "destructive",
    .title = "smallest time that arguments on chains, work and energy do not refute",
    .source = "Klein and Scholl, EJOR 1999; Fernandez and Bussell, IEEE Trans. Computers 1973",
    .models = MODEL_STREAM,
    .compute = destructive_compute,
};
