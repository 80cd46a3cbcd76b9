/* For integer prices y >= 0 of the classes, let a_t(U) be the most that a device of type t can hold, in prices, with a
 * load of at most U. Where all n_t devices of all types together hold less than all classes cost,
 *
 *     sum over t of n_t a_t(U) < sum over v of y_v,
 *
 * no plan has a period of U or less. It is the dual of the configuration program, which covers all classes by n_t sets
 * of load <= U for each type (Gilmore and Gomory, Operations Research 9, 1961).
 *
 * a_t is exact for integer prices (exact/sweep.h), so any prices are a certificate. Good ones are found in floating
 * point: first by multiplicative updates (Plotkin, Shmoys and Tardos, 1995), which lower the price of what is covered
 * too often; then by column generation with smoothed prices (Wentges, 1997), where an engine for linear programs is
 * built in. */
#include "bound/configuration.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "exact/sweep.h"
#include "lp/lp.h"

enum { MAX_CLASSES = 20000, MAX_STATES = 1024, MAX_ROWS = 1 << 20 };
/* Integer prices: about `grid` for each device. The grid goes from coarse to fine, and stays coarser where the table
 * would be too large. */
enum {
  GRID = 250,
  MIN_GRID = 16,
  FINE = 8,
  FINEST_GRID = 8000,
  MAX_CELLS = 1 << 25,
  SMALL_CELLS = 1 << 22,
  MAX_WORK = 1 << 28
};
enum { PATIENCE = 100, STALL = 40, COMPLEMENTS = 6, MAX_SLACK = 3 }; /* rounds without a better bound, ... */
static const double SMOOTH = 0.7, RATE = 0.02, CLOSE = 1e-4;
static const double SLACK = 0.1;                    /* of alpha: rows with more slack are dropped when there are many */
static const double AHEAD = 5e-4, FAR_AHEAD = 0.05; /* how far beyond the bound sets, and curves, may reach */

typedef struct configuration_search {
  const shares *s;
  int32_t n_devices;
  int32_t grid, finest; /* of the sets; of curves alone */
  sweep *sweep;         /* [type] */
  int32_t **min;        /* [type] the curve of the last prices */
  int32_t *top;         /* [type] of the curve */
  int32_t *whole;       /* [class] integer prices */
  int64_t sum;          /* of them */
  bool *taken;          /* [type * n + class] whether the latest sets hold the class */
  double *best, *trial; /* [class] prices that sum to 1: those of the best bound, and the next */
  int64_t lower_ns, enough_ns, max_ns;
  lp *master;      /* NULL without an engine */
  int32_t *column; /* [n + n_types] scratch for a row */
  double *coefficient;
  int32_t *table; /* scratch of the sweeps */
  int64_t n_cells;
  arena *arena;
  budget *budget;
  bool at_end; /* no prices refute a longer period */
} configuration_search;

/* Integer prices of about `grid` for each device. Sets that cost more than their even share refute nothing, so curves
 * stop there. */
static void make_whole(configuration_search *c, const double *price, int32_t grid) {
  double scale = (double)grid * c->n_devices;
  c->sum = 0;
  for (int32_t v = 0; v < c->s->n; v++) {
    double x = floor(price[v] * scale + 0.5);
    c->whole[v] = x > 0 ? (int32_t)x : 0;
    c->sum += c->whole[v];
  }
  for (int32_t t = 0; t < c->s->n_types; t++) c->top[t] = (int32_t)(c->sum / c->s->n_devices[t]) + 1;
}

/* The maximum x <= top with least[x] <= units. */
static int32_t held_by(const configuration_search *c, int32_t t, int32_t units) {
  int32_t low = 0, high = c->top[t];
  while (low < high) {
    int32_t middle = (low + high + 1) / 2;
    if (c->min[t][middle] <= units)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/* Whether the curves allow the devices to hold everything with loads of at most `units`. */
static bool holds_all(const configuration_search *c, int32_t units) {
  int64_t held = 0;
  for (int32_t t = 0; t < c->s->n_types; t++) held += (int64_t)held_by(c, t, units) * c->s->n_devices[t];
  return held >= c->sum;
}

/* The bound that these curves give; they are known for loads of at most `limit` units. */
static int64_t refute(const configuration_search *c, int32_t limit) {
  int32_t low = 0, high = limit + 1;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (holds_all(c, middle))
      high = middle;
    else
      low = middle + 1;
  }
  return (int64_t)low * c->sweep[0].unit_ns;
}

/* Converts ns to units, at most the range of the sweeps. */
static int32_t to_limit(const configuration_search *c, double ns) {
  double max = (double)c->sweep[0].limit;
  double units = floor(ns / (double)c->sweep[0].unit_ns);
  return (int32_t)fmax(0, fmin(units, max));
}

static void keep_bound(configuration_search *c, const double *price, int64_t found_ns) {
  if (found_ns <= c->lower_ns) return;
  c->lower_ns = found_ns;
  if (price != c->best) memcpy(c->best, price, (size_t)c->s->n * sizeof *price);
}

static bool is_done(configuration_search *c) {
  return c->lower_ns >= c->enough_ns || c->lower_ns > c->max_ns || budget_over(c->budget);
}

/* The load allowed for the next sets: a little more than what is refuted. */
static int32_t target(const configuration_search *c) {
  double next = fmin((double)c->lower_ns * (1 + AHEAD), (double)c->enough_ns - 1);
  return to_limit(c, fmax(next, (double)c->lower_ns));
}

/* The best set of each type at the integer prices, with a load of at most `within`. */
static void price_sets(configuration_search *c, int32_t limit, int32_t within) {
  for (int32_t t = 0; t < c->s->n_types; t++) {
    budget_spend(c->budget, 1);
    sweep_best(c->taken + (int64_t)t * c->s->n, c->min[t], &c->sweep[t], c->whole, c->top[t], limit, within, c->table);
  }
}

/* The bound of the best prices on the finest grid, without sets. */
static void evaluate_fine(configuration_search *c) {
  make_whole(c, c->best, c->finest);
  for (double ahead = 0.1;; ahead *= 4) { /* reach further while everything is refuted */
    int64_t before_ns = c->lower_ns;
    int32_t limit = to_limit(c, (double)c->lower_ns * (1 + ahead));
    for (int32_t t = 0; t < c->s->n_types; t++)
      sweep_curve(c->min[t], &c->sweep[t], c->whole, c->top[t], limit, c->table);
    keep_bound(c, c->best, refute(c, limit));
    if (c->lower_ns == before_ns || c->lower_ns / c->sweep[0].unit_ns <= limit || is_done(c)) return;
  }
}

/* One round: finds the sets and the bound of the trial prices. */
static void evaluate_trial(configuration_search *c) {
  int32_t within = target(c), limit = to_limit(c, (double)c->lower_ns * (1 + FAR_AHEAD));
  if (limit < within) limit = within;
  make_whole(c, c->trial, c->grid);
  price_sets(c, limit, within);
  keep_bound(c, c->trial, refute(c, limit));
}

/* Adds the sets found to the master program as rows: the prices in a set sum to at most the alpha of its type. */
static bool add_sets(configuration_search *c) {
  const shares *s = c->s;
  for (int32_t t = 0; t < s->n_types && c->master; t++) {
    int32_t n = 0;
    for (int32_t v = 0; v < s->n; v++)
      if (c->taken[(int64_t)t * s->n + v]) {
        c->column[n] = v;
        c->coefficient[n++] = 1;
      }
    c->column[n] = s->n + t;
    c->coefficient[n++] = -1;
    if (!lp_add_row(c->master, n, c->column, c->coefficient, -HUGE_VAL, 0)) return false;
  }
  return true;
}

/* How many sets of all devices cover class v. */
static int32_t times_covered(const configuration_search *c, int32_t v) {
  int32_t times = 0;
  for (int32_t t = 0; t < c->s->n_types; t++)
    if (c->taken[(int64_t)t * c->s->n + v]) times += c->s->n_devices[t];
  return times;
}

/* Multiplicative update: the price of a class falls with how much more than once it is covered. */
static bool update_prices(configuration_search *c) {
  int32_t n = c->s->n, since = 0;
  memcpy(c->trial, c->best, (size_t)n * sizeof *c->trial);
  for (int32_t round = 0; since < PATIENCE && !is_done(c); round++) {
    int64_t before_ns = c->lower_ns;
    evaluate_trial(c);
    if (!add_sets(c)) return false;
    since = c->lower_ns > before_ns ? 0 : since + 1;
    double sum = 0, rate = RATE / sqrt(1 + round * 0.1);
    for (int32_t v = 0; v < n; v++) {
      c->trial[v] *= exp(-rate * (times_covered(c, v) - 1));
      sum += c->trial[v];
    }
    for (int32_t v = 0; v < n; v++) c->trial[v] /= sum;
  }
  return true;
}

/* Starts the master program with prices y and a value alpha for a device of each type: minimise the total value of the
 * devices, with prices that sum to 1. */
static bool master_init(configuration_search *c) {
  const shares *s = c->s;
  int32_t n = s->n + s->n_types;
  double *cost, *lower, *upper;
  if (!ARENA_ARRAYS(c->arena, ZEROS(cost, n), ZEROS(lower, n), ARRAY(upper, n))) return false;
  for (int32_t v = 0; v < n; v++) {
    upper[v] = 1;
    c->column[v] = v;
    c->coefficient[v] = 1;
  }
  for (int32_t t = 0; t < s->n_types; t++) cost[s->n + t] = s->n_devices[t];
  c->master = lp_new(n, cost, lower, upper);
  return c->master && lp_add_row(c->master, s->n, c->column, c->coefficient, 1, 1);
}

/* Whether the latest sets cut off the solution of the master program. */
static bool cuts_off(const configuration_search *c, const double *price, double value) {
  double held = 0;
  for (int32_t v = 0; v < c->s->n; v++) held += price[v] * times_covered(c, v);
  return held > value + 1e-6;
}

/* Adds sets for what the last ones leave. Together they come close to a plan, and the master program needs them
 * jointly. */
static bool add_complements(configuration_search *c) {
  int32_t within = target(c);
  for (int32_t k = 1; k < COMPLEMENTS && k < c->n_devices && !is_done(c); k++) {
    for (int32_t v = 0; v < c->s->n; v++)
      if (times_covered(c, v) > 0) c->whole[v] = 0;
    price_sets(c, within, within);
    if (!add_sets(c)) return false;
  }
  return true;
}

static double seconds_left(const configuration_search *c) {
  if (c->budget->deadline_ns == INT64_MAX) return 1e9;
  return fmax(0.001, (double)(c->budget->deadline_ns - clock_now_ns()) / 1e9);
}

/* The maximum sum of prices on a curve of type t. Rounding adds up to one half for each class. */
static int64_t max_top(const configuration_search *c, int32_t t, int64_t grid) {
  return (grid * c->n_devices + c->s->n / 2 + 1) / c->s->n_devices[t] + 1;
}

static int64_t cells_of(const configuration_search *c, int64_t grid, bool with_sets) {
  int64_t cells = 0;
  for (int32_t t = 0; t < c->s->n_types; t++) {
    int64_t top = max_top(c, t, grid);
    cells = max64(cells, with_sets ? sweep_best_cells(&c->sweep[t], top) : sweep_curve_cells(&c->sweep[t], top));
  }
  return cells;
}

static bool reserve(configuration_search *c, int64_t cells) {
  if (cells <= c->n_cells) return true;
  c->n_cells = cells;
  return (c->table = ARENA_NEW(c->arena, int32_t, cells)) != NULL;
}

/* Refines the prices while their tables stay small; *finer says whether it did. False without memory. */
static bool refine_grid(configuration_search *c, bool *finer) {
  int32_t grid = 2 * c->grid;
  *finer = grid <= c->finest && cells_of(c, grid, true) <= MAX_CELLS;
  if (!*finer) return true;
  c->grid = grid;
  return reserve(c, cells_of(c, grid, true));
}

/* The first grid is coarse because that is fast, unless the table is small anyway. */
static bool choose_grids(configuration_search *c) {
  int64_t curves = 0;
  c->finest = FINEST_GRID;
  while (c->finest > MIN_GRID) {
    curves = 0;
    for (int32_t t = 0; t < c->s->n_types; t++) curves += max_top(c, t, c->finest) + 1;
    bool short_work = cells_of(c, c->finest, true) <= MAX_WORK;
    if (short_work && curves <= MAX_CELLS && cells_of(c, c->finest, false) <= MAX_CELLS) break;
    c->finest /= 2;
  }
  c->grid = c->finest / FINE;
  while (c->grid >= MIN_GRID && cells_of(c, c->grid, true) > (c->grid > GRID ? SMALL_CELLS : MAX_CELLS))
    c->grid = c->grid * 2 / 3;
  for (int32_t t = 0; t < c->s->n_types; t++)
    if (!(c->min[t] = ARENA_NEW(c->arena, int32_t, max_top(c, t, c->finest) + 1))) return false;
  return c->grid < MIN_GRID || reserve(c, max64(cells_of(c, c->grid, true), cells_of(c, c->finest, false)));
}

/* Column generation until the bound stops rising, or the master program shows that no prices refute the target. */
static bool generate(configuration_search *c) {
  int32_t n = c->s->n, max_rows = MAX_SLACK * (n + c->s->n_types);
  int32_t since = 0; /* rounds since the bound rose */
  double smooth = SMOOTH;
  while (!is_done(c)) {
    if (!lp_solve(c->master, seconds_left(c))) return true;
    int64_t before_ns = c->lower_ns;
    double value = lp_cost(c->master);
    if (value > 1 - CLOSE) {
      c->at_end = true;
      return true;
    }
    memcpy(c->coefficient, lp_values(c->master), (size_t)n * sizeof *c->coefficient);
    for (int32_t v = 0; v < n; v++) c->trial[v] = smooth * c->best[v] + (1 - smooth) * fmax(c->coefficient[v], 0);
    evaluate_trial(c);
    bool cut = cuts_off(c, c->coefficient, value);
    since = c->lower_ns > before_ns ? 0 : since + 1;
    if ((!cut && smooth == 0) || since == STALL) return true;
    smooth = cut ? SMOOTH : 0;
    if (lp_n_rows(c->master) > max_rows) {
      lp_drop_slack(c->master, 1, SLACK / c->n_devices);
      if (lp_n_rows(c->master) * 2 > max_rows) max_rows *= 2;
    }
    if (!add_sets(c) || !add_complements(c)) return false;
  }
  return true;
}

/* Alternates updates and generation, with finer prices each time, until neither helps. */
static bool improve(configuration_search *c) {
  bool finer = true;
  evaluate_fine(c);
  while (!is_done(c) && !c->at_end) {
    int64_t before_ns = c->lower_ns;
    if (!update_prices(c) || (c->master && !generate(c)) || !refine_grid(c, &finer)) return false;
    if (!finer && c->lower_ns == before_ns) break;
  }
  if (!is_done(c)) evaluate_fine(c);
  return true;
}

/* Starting prices: the minimum time of each class over the types. */
static void start_prices(configuration_search *c) {
  const shares *s = c->s;
  double sum = 0;
  for (int32_t v = 0; v < s->n; v++) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t t = 0; t < s->n_types; t++) min = min64(min, s->time_ns[(int64_t)t * s->n + v]);
    c->best[v] = min == SITU_NEVER_NS ? 0 : (double)min;
    sum += c->best[v];
  }
  for (int32_t v = 0; v < s->n; v++) c->best[v] = sum > 0 ? c->best[v] / sum : 1.0 / s->n;
}

static bool configuration_init(configuration_search *c, arena *a) {
  const shares *s = c->s;
  c->arena = a;
  for (int32_t t = 0; t < s->n_types; t++) c->n_devices += s->n_devices[t];
  if (!ARENA_ARRAYS(a, ARRAY(c->sweep, s->n_types), ARRAY(c->min, s->n_types), ARRAY(c->top, s->n_types),
                    ARRAY(c->whole, s->n), ZEROS(c->taken, (int64_t)s->n * s->n_types), ARRAY(c->best, s->n),
                    ARRAY(c->trial, s->n), ARRAY(c->column, s->n + s->n_types),
                    ARRAY(c->coefficient, s->n + s->n_types)))
    return false;
  int32_t max_states = MAX_ROWS / s->n < MAX_STATES ? MAX_ROWS / s->n : MAX_STATES;
  for (int32_t t = 0; t < s->n_types; t++)
    if (!sweep_find(&c->sweep[t], s, t, c->max_ns, max_states, a)) return false;
  if (!choose_grids(c)) return false;
  start_prices(c);
  return true;
}

/* The longest period worth refuting: that of the known plan, or of everything in sequence where it is fastest. */
static int64_t most_of(const shares *s, int64_t enough_ns) {
  int64_t sum = 0;
  for (int32_t v = 0; v < s->n; v++) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t t = 0; t < s->n_types; t++) min = min64(min, s->time_ns[(int64_t)t * s->n + v]);
    if (min == SITU_NEVER_NS) return 0; /* no plan exists; other bounds report that */
    sum = sat_add(sum, min);
  }
  return enough_ns == SITU_NEVER_NS ? sum : enough_ns;
}

bool configuration_serves(const situ_problem *problem) { return shares_serve(problem); }

situ_status configuration_raise(int64_t *lower_ns, const situ_problem *problem, int64_t enough_ns, arena *scratch,
                                budget *b, situ_error *error) {
  REQUIRE(configuration_serves(problem) && *lower_ns >= 0 && enough_ns >= 0);
  shares s;
  if (!shares_find(&s, problem, scratch)) return fail_no_memory(error);
  configuration_search c = {
      .s = &s, .lower_ns = *lower_ns, .enough_ns = enough_ns, .budget = b, .max_ns = most_of(&s, enough_ns)};
  if (!shares_fit(&s) || s.n > MAX_CLASSES || s.n_types == 0 || c.max_ns <= 0 || is_done(&c)) return SITU_STATUS_OK;
  if (!configuration_init(&c, scratch)) return fail_no_memory(error);
  bool made = true;
  if (c.grid >= MIN_GRID) {
    made = (lp_missing() || master_init(&c)) && improve(&c);
    lp_free(c.master);
  }
  *lower_ns = c.lower_ns;
  return made ? SITU_STATUS_OK : fail_no_memory(error);
}
