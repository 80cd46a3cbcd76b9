/* The search for prices of device time and memory: docs/theory/bounds/area_price.md.
 *
 * The right side is concave; prices are moved by multiplicative updates towards evenly used devices and full memories.
 * Then the best prices are polished one by one. Whatever the search does, what it proves is computed from integers,
 * exactly in 128 bits: prices of time are u / 2^24, prices of a byte y / 2^44.
 *
 * Items with equal times and weights are merged into one with a count. Layers repeat, so a transformer of a million
 * operators has about fifty items. */
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/hash.h"
#include "bound/area_search.h"

enum { TIME_BITS = 24, BYTE_BITS = 20, MAX_ROUNDS = 300, POLISH_ROUNDS = 36, BISECTIONS = 40 };
/* Times and weights are capped here so that no sum overflows. This can only lower the bound. */
static const int64_t LONGEST = (int64_t)1 << 50, HEAVIEST = (int64_t)1 << 48;
/* A byte costs at most 256 times the highest price of a nanosecond. */
static const int64_t MAX_PRICE = (int64_t)1 << 52;
static const double WORK_LIMIT = 4e8;

typedef struct prices {
  const items *all;
  const int32_t *count; /* [item] how many it stands for */
  budget *budget;
  int32_t n;      /* n_columns prices of time, then n_rooms prices of memory */
  double *price;  /* [n] the prices being tried */
  double *use;    /* [n] nanoseconds or bytes used when each item takes its cheapest sort */
  int64_t *whole; /* [n] the prices as integers */
  double *best;   /* [n] */
  int64_t *proof; /* [n] the integer prices that gave best_ns */
  int64_t best_ns;
  bool memory; /* memory is priced */
} prices;

/* Integer prices, scaled so that the highest price of time is 2^24. False when no device has a price. */
static bool make_whole(prices *s, __int128 *divisor, __int128 *rent) {
  const items *all = s->all;
  double max = 0;
  *divisor = *rent = 0;
  for (int32_t k = 0; k < all->n_columns; k++)
    if (all->devices[k] > 0 && s->price[k] > max) max = s->price[k];
  if (!(max > 0)) return false;
  for (int32_t k = 0; k < all->n_columns; k++) {
    s->whole[k] = all->devices[k] > 0 ? (int64_t)(s->price[k] / max * (1 << TIME_BITS)) : 0;
    *divisor += (__int128)s->whole[k] * all->devices[k];
  }
  for (int32_t r = 0; r < all->n_rooms; r++) {
    double y = s->price[all->n_columns + r] / max * (1 << TIME_BITS) * (1 << BYTE_BITS);
    bool priced = s->memory && all->room_bytes[r] != SITU_UNLIMITED_BYTES;
    s->whole[all->n_columns + r] = !priced ? 0 : y < (double)MAX_PRICE ? (int64_t)y : MAX_PRICE;
    *rent += (__int128)s->whole[all->n_columns + r] * (priced ? all->room_bytes[r] : 0);
  }
  return *divisor > 0;
}

/* Computes the bound of these prices exactly, and how much of each sort and room is used at them. */
static void evaluate(prices *s) {
  const items *all = s->all;
  __int128 divisor, rent, sum = 0;
  if (!make_whole(s, &divisor, &rent)) return;
  for (int32_t i = 0; i < s->n; i++) s->use[i] = 0;
  for (int32_t i = 0; i < all->n; i++) {
    const int64_t *row = all->time_ns + (int64_t)i * all->n_columns;
    int64_t weight = min64(all->weight_bytes[i], HEAVIEST);
    __int128 min = -1;
    int32_t at = -1;
    for (int32_t k = 0; k < all->n_columns; k++) {
      if (row[k] == SITU_NEVER_NS) continue;
      __int128 cost = ((__int128)min64(row[k], LONGEST) * s->whole[k]) << BYTE_BITS;
      cost += (__int128)weight * s->whole[all->n_columns + all->room_of[k]];
      if (at >= 0 && cost >= min) continue;
      min = cost;
      at = k;
    }
    if (at < 0) continue; /* no plan exists; other bounds report that */
    sum += min * s->count[i];
    s->use[at] += (double)row[at] * s->count[i];
    s->use[all->n_columns + all->room_of[at]] += (double)weight * s->count[i];
  }
  divisor <<= BYTE_BITS;
  __int128 value = sum > rent ? (sum - rent + divisor - 1) / divisor : 0;
  int64_t found = value > INT64_MAX - 1 ? INT64_MAX - 1 : (int64_t)value;
  if (found <= s->best_ns) return;
  s->best_ns = found;
  for (int32_t i = 0; i < s->n; i++) {
    s->best[i] = s->price[i];
    s->proof[i] = s->whole[i];
  }
}

static double clipped(double x) { return x > 3 ? 3 : x; }

/* Raises the prices of what is used more than evenly, or beyond its capacity, and lowers the others. */
static void update(prices *s, double step) {
  const items *all = s->all;
  double even = 0, devices = 0;
  for (int32_t k = 0; k < all->n_columns; k++) {
    even += s->use[k];
    devices += all->devices[k];
  }
  even = devices > 0 ? even / devices : 0;
  for (int32_t k = 0; k < all->n_columns && even > 0; k++) {
    if (all->devices[k] == 0) continue;
    s->price[k] *= exp(step * clipped(s->use[k] / all->devices[k] / even - 1));
    if (s->price[k] < 1e-12) s->price[k] = 1e-12;
  }
  for (int32_t r = 0; s->memory && r < all->n_rooms; r++)
    s->price[all->n_columns + r] *=
        exp(step * clipped(s->use[all->n_columns + r] / ((double)all->room_bytes[r] + 1) - 1));
}

/* Rounds of updates: as many as the work limit allows for one of `runs` equal runs. */
static void improve(prices *s, int32_t runs) {
  double once = ((double)s->all->n * s->all->n_columns + 1) * runs;
  int32_t rounds = once * MAX_ROUNDS > WORK_LIMIT ? (int32_t)(WORK_LIMIT / once) + 1 : MAX_ROUNDS;
  for (int32_t round = 0; round < rounds && !budget_over(s->budget); round++) {
    evaluate(s);
    update(s, 0.5 / (1 + round * 0.1));
  }
}

/* Tries each of the best prices a little higher and lower, in ever smaller steps. */
static void polish(prices *s) {
  if ((double)s->all->n * s->all->n_columns * s->n * 2 * POLISH_ROUNDS > WORK_LIMIT || s->n < 2) return;
  double factor = 4;
  for (int32_t round = 0; round < POLISH_ROUNDS && !budget_over(s->budget); round++, factor = 1 + (factor - 1) * 0.7)
    for (int32_t i = 0; i < 2 * s->n; i++) {
      for (int32_t k = 0; k < s->n; k++) s->price[k] = s->best[k];
      s->price[i / 2] *= i % 2 ? factor : 1 / factor;
      if (i / 2 < s->all->n_columns || s->memory) evaluate(s);
    }
}

/* Starting prices: time costs the inverse of the total time of all operators on each sort, a byte the cost of all
 * operators divided by their bytes. */
static void area_start(prices *s) {
  const items *all = s->all;
  double bytes = 1;
  for (int32_t i = 0; i < all->n; i++) bytes += (double)all->weight_bytes[i] * s->count[i];
  for (int32_t k = 0; k < all->n_columns; k++) {
    double time = 0;
    for (int32_t i = 0; i < all->n; i++) {
      int64_t here = all->time_ns[(int64_t)i * all->n_columns + k];
      if (here != SITU_NEVER_NS) time += (double)here * s->count[i];
    }
    s->price[k] = s->best[k] = 1 / (1 + time);
  }
  for (int32_t r = 0; r < all->n_rooms; r++) s->price[all->n_columns + r] = s->best[all->n_columns + r] = 1 / bytes;
}

/* Finds the one price of all bytes at which the rooms are just full, with the prices of time as they are. Bisection
 * works because what goes into rooms with a limit falls as the price rises. */
static void fill_rooms(prices *s) {
  const items *all = s->all;
  double room = 0, high = 0;
  for (int32_t r = 0; r < all->n_rooms; r++)
    if (all->room_bytes[r] != SITU_UNLIMITED_BYTES) room += (double)all->room_bytes[r];
  for (int32_t i = 0; i < all->n; i++)
    for (int32_t k = 0; k < all->n_columns; k++) {
      int64_t time = all->time_ns[(int64_t)i * all->n_columns + k];
      double by_byte = s->price[k] * (double)time / ((double)all->weight_bytes[i] + 1);
      if (time != SITU_NEVER_NS && by_byte > high) high = by_byte;
    }
  double low = high * 1e-12;
  for (int32_t round = 0; round < BISECTIONS && !budget_over(s->budget); round++) {
    double y = sqrt(low * high), used = 0;
    for (int32_t r = 0; r < all->n_rooms; r++) s->price[all->n_columns + r] = y;
    evaluate(s);
    for (int32_t r = 0; r < all->n_rooms; r++)
      if (all->room_bytes[r] != SITU_UNLIMITED_BYTES) used += s->use[all->n_columns + r];
    if (used > room)
      low = y;
    else
      high = y;
  }
}

/* A room that can hold all weights never fills up, so its bytes are free. */
static void free_large_rooms(items *all) {
  int64_t weights = 0;
  for (int32_t i = 0; i < all->n; i++) weights = sat_add(weights, all->weight_bytes[i]);
  for (int32_t r = 0; r < all->n_rooms; r++)
    if (all->room_bytes[r] >= weights) all->room_bytes[r] = SITU_UNLIMITED_BYTES;
}

/* Keeps the first of equal items, in their order. Returns how many each stands for [item]; NULL without memory. */
static int32_t *merge_equal(items *all, arena *a) {
  size_t row_bytes = (size_t)all->n_columns * sizeof *all->time_ns;
  uint32_t n_slots = 4;
  while (n_slots < 2 * (uint32_t)all->n) n_slots *= 2;
  int32_t *count, *slots, n = 0; /* slots: 1 + item, 0: empty */
  if (!ARENA_ARRAYS(a, ARRAY(count, all->n), ZEROS(slots, n_slots))) return NULL;
  for (int32_t i = 0; i < all->n; i++) {
    const int64_t *row = all->time_ns + (int64_t)i * all->n_columns, *other = NULL;
    uint64_t slot = hash_bytes(row, row_bytes, (uint64_t)all->weight_bytes[i]) & (n_slots - 1);
    for (; slots[slot] > 0; slot = (slot + 1) & (n_slots - 1)) {
      other = all->time_ns + (int64_t)(slots[slot] - 1) * all->n_columns;
      if (all->weight_bytes[slots[slot] - 1] == all->weight_bytes[i] && memcmp(row, other, row_bytes) == 0) break;
    }
    if (slots[slot] > 0) {
      count[slots[slot] - 1]++;
      continue;
    }
    memmove(all->time_ns + (int64_t)n * all->n_columns, row, row_bytes);
    all->weight_bytes[n] = all->weight_bytes[i];
    count[n++] = 1;
    slots[slot] = n;
  }
  all->n = n;
  return count;
}

/* Whether some room is too small for what the best prices without memory would put into it. */
static bool needs_memory(prices *s) {
  const items *all = s->all;
  for (int32_t i = 0; i < s->n; i++) s->price[i] = s->best[i];
  evaluate(s);
  for (int32_t r = 0; r < all->n_rooms; r++)
    if (all->room_bytes[r] != SITU_UNLIMITED_BYTES && s->use[all->n_columns + r] > (double)all->room_bytes[r])
      return true;
  return false;
}

/* Fills in the best prices, in one common unit. */
static bool keep_best(area_prices *out, const prices *s, arena *a) {
  const items *all = s->all;
  *out = (area_prices){.lower_ns = s->best_ns};
  if (!ARENA_ARRAYS(a, ZEROS(out->time, all->n_columns), ZEROS(out->byte, all->n_rooms))) return false;
  for (int32_t k = 0; k < all->n_columns && s->best_ns > 0; k++) out->time[k] = s->proof[k] << BYTE_BITS;
  for (int32_t r = 0; r < all->n_rooms && s->best_ns > 0; r++) out->byte[r] = s->proof[all->n_columns + r];
  return true;
}

bool area_search(area_prices *out, items *all, arena *a, budget *b) {
  free_large_rooms(all);
  prices s = {.all = all, .count = merge_equal(all, a), .budget = b, .n = all->n_columns + all->n_rooms};
  if (!s.count || !ARENA_ARRAYS(a, ARRAY(s.price, s.n), ARRAY(s.use, s.n), ARRAY(s.best, s.n), ARRAY(s.whole, s.n),
                                ARRAY(s.proof, s.n)))
    return false;
  area_start(&s);
  improve(&s, 1);
  polish(&s);
  if (!needs_memory(&s)) return keep_best(out, &s, a);
  s.memory = true;
  for (int32_t d = -1; d < all->n_columns && d < 4; d++) { /* even prices, then one high price */
    area_start(&s);
    if (d >= 0) s.price[d] *= 1000;
    fill_rooms(&s);
    improve(&s, all->n_columns + 1);
  }
  for (int32_t again = 0; again < 3; again++) {
    for (int32_t i = 0; i < s.n; i++) s.price[i] = s.best[i];
    fill_rooms(&s);
    polish(&s);
  }
  return keep_best(out, &s, a);
}
