/* Area price: for any prices u >= 0 of the devices, T * sum of u_d >= sum over operators of min over d of u_d p(v,d), since
 * no device works longer than T. Holds for stream (no device runs two operators at once) and for pipelines (its
 * load holds all its compute). Not for calls: calls of one device are not queued.
 *
 * The sum is concave in u; prices are moved by multiplicative updates towards equal use of all devices, then the best
 * are polished one by one. Whatever the search does, the certificate is an integer price vector, and the value is
 * computed from it exactly in 128 bits. */
#include <math.h>

#include "base/checked.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "bound/items.h"

enum { PRICE_SCALE = 1 << 24, MAX_ROUNDS = 300, POLISH_ROUNDS = 24 };
static const double WORK_LIMIT = 4e8;

typedef struct prices {
  const items *all;
  double *price, *load; /* [column] */
  int64_t *whole;       /* [column] the prices as integers */
  int64_t best_ns;
  double *best;
} prices;

/* The bound of these prices, exactly; loads, as far as each operator goes to its cheapest sort, are left in load. */
static void evaluate(prices *s) {
  const items *all = s->all;
  double most = 0;
  for (int32_t k = 0; k < all->n_columns; k++) most = s->price[k] > most ? s->price[k] : most;
  __int128 divisor = 0, sum = 0;
  for (int32_t k = 0; k < all->n_columns; k++) {
    s->whole[k] = all->devices[k] > 0 && most > 0 ? (int64_t)(s->price[k] / most * PRICE_SCALE) : 0;
    divisor += (__int128)s->whole[k] * all->devices[k];
    s->load[k] = 0;
  }
  if (divisor == 0) return;
  for (int32_t i = 0; i < all->n; i++) {
    const int64_t *row = all->time_ns + (int64_t)i * all->n_columns;
    __int128 least = -1;
    int32_t at = -1;
    for (int32_t k = 0; k < all->n_columns; k++) {
      if (row[k] == SITU_NEVER_NS) continue;
      __int128 cost = (__int128)row[k] * s->whole[k];
      if (at >= 0 && cost >= least) continue;
      least = cost;
      at = k;
    }
    if (at < 0) continue; /* no plan: another matter */
    sum += least;
    s->load[at] += (double)row[at];
  }
  __int128 value = (sum + divisor - 1) / divisor;
  int64_t found = value > INT64_MAX - 1 ? INT64_MAX - 1 : (int64_t)value;
  if (found <= s->best_ns) return;
  s->best_ns = found;
  for (int32_t k = 0; k < all->n_columns; k++) s->best[k] = s->price[k];
}

/* Prices of sorts that are used more than evenly rise, others fall. */
static void update(prices *s, double step) {
  double even = 0, devices = 0;
  for (int32_t k = 0; k < s->all->n_columns; k++) {
    even += s->load[k];
    devices += s->all->devices[k];
  }
  even = devices > 0 ? even / devices : 0;
  for (int32_t k = 0; k < s->all->n_columns && even > 0; k++) {
    if (s->all->devices[k] == 0) continue;
    double use = s->load[k] / s->all->devices[k] / even;
    s->price[k] *= exp(step * (use > 4 ? 3 : use - 1));
    if (s->price[k] < 1e-9) s->price[k] = 1e-9;
  }
}

/* Tries each price a little up and down from the best, ever closer. */
static void polish(prices *s, budget *b) {
  double factor = 1.2;
  for (int32_t round = 0; round < POLISH_ROUNDS && !budget_over(b); round++, factor = sqrt(factor)) {
    for (int32_t k = 0; k < s->all->n_columns; k++)
      for (int32_t way = 0; way < 2; way++) {
        for (int32_t i = 0; i < s->all->n_columns; i++) s->price[i] = s->best[i];
        s->price[k] *= way ? factor : 1 / factor;
        evaluate(s);
      }
  }
}

/* The starting prices: the inverse of the time of all operators on each sort. */
static void start(prices *s) {
  for (int32_t k = 0; k < s->all->n_columns; k++) {
    double time = 0;
    for (int32_t i = 0; i < s->all->n; i++) {
      int64_t here = s->all->time_ns[(int64_t)i * s->all->n_columns + k];
      if (here != SITU_NEVER_NS) time += (double)here;
    }
    s->price[k] = s->best[k] = 1 / (1 + time);
  }
}

static situ_status compute(int64_t *lower_ns, const situ_problem *p, arena *scratch, budget *b, situ_error *error) {
  items all;
  TRY(items_list(&all, p, scratch, error));
  prices s = {.all = &all, .price = ARENA_NEW(scratch, double, all.n_columns),
              .load = ARENA_NEW(scratch, double, all.n_columns), .best = ARENA_NEW(scratch, double, all.n_columns),
              .whole = ARENA_NEW(scratch, int64_t, all.n_columns)};
  if (!s.price || !s.load || !s.best || !s.whole) return fail_no_memory(error);
  start(&s);
  double once = (double)all.n * all.n_columns + 1;
  int32_t rounds = once * MAX_ROUNDS > WORK_LIMIT ? (int32_t)(WORK_LIMIT / once) + 1 : MAX_ROUNDS;
  for (int32_t round = 0; round < rounds && !budget_over(b); round++) {
    evaluate(&s);
    update(&s, 0.5 / (1 + round * 0.1));
  }
  if (once * all.n_columns * 2 * POLISH_ROUNDS <= WORK_LIMIT && all.n_columns > 1) polish(&s, b);
  *lower_ns = s.best_ns;
  return SITU_STATUS_OK;
}

const bound area_bound = {
    .name = "area_price",
    .title = "all work at the best prices of device time",
    .source = "",
    .stream = true,
    .pipeline = true,
    .compute = compute,
};
