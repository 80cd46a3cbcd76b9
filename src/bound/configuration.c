/* Configuration bound: for whole prices y >= 0 of the classes let a_t(U) be the most that a device of type t can hold,
 * in prices, with a load of at most U. Where the devices together hold less than all classes cost,
 *
 *     sum over t of n_t a_t(U) < sum over v of y_v,
 *
 * no plan has a period of U or less. It is the dual of the configuration program that covers all classes by n_t sets of
 * load <= U for each type (Gilmore and Gomory, 1961), whose value counts communication, unlike balance and area.
 *
 * a_t is exact for whole prices (bound/sweep.h), so that any prices are a certificate. They are found by column
 * generation with smoothing (Wentges, 1997) where a linear programming engine is built in, else by multiplicative updates. */
#include <math.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "bound/sweep.h"
#include "lp/lp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 1000, FINE_GRID = 6000, MAX_STATES = 1024, MAX_ROUNDS = 3000 };

typedef struct cover {
  const shares *s;
  sweep *sweep;    /* [type] */
  int32_t **least; /* [type] the curve */
  int32_t *top;    /* [type] of the curve */
  int32_t *whole;  /* [class] prices */
  int64_t sum;     /* of them */
  bool *taken;     /* [type * n + class] */
  double *best, *trial; /* [class] prices that sum to 1 */
  int64_t best_ns;
  lp *master;
  int32_t *column;     /* scratch for a row */
  double *coefficient;
  arena *scratch;
} cover;

static int32_t count_devices(const shares *s) {
  int32_t n = 0;
  for (int32_t t = 0; t < s->n_types; t++) n += s->n_devices[t];
  return n;
}

/* Whole prices of about `grid` for each device. */
static void make_whole(cover *c, const double *price, int32_t grid) {
  double scale = (double)grid * count_devices(c->s);
  c->sum = 0;
  for (int32_t v = 0; v < c->s->n; v++) {
    double x = floor(price[v] * scale + 0.5);
    c->whole[v] = x > 0 ? (int32_t)x : 0;
    c->sum += c->whole[v];
  }
  for (int32_t t = 0; t < c->s->n_types; t++) {
    c->top[t] = (int32_t)(c->sum / c->s->n_devices[t]) + 1;
  }
}

/* Whether the devices hold everything with loads of at most `units`, as far as these curves tell. */
static bool holds_all(const cover *c, int32_t units) {
  int64_t held = 0;
  for (int32_t t = 0; t < c->s->n_types; t++) {
    int32_t low = 0, high = c->top[t]; /* the greatest x with least[x] <= units */
    while (low < high) {
      int32_t middle = (low + high + 1) / 2;
      if (c->least[t][middle] <= units)
        low = middle;
      else
        high = middle - 1;
    }
    held += low == c->top[t] ? c->sum : (int64_t)low * c->s->n_devices[t];
  }
  return held >= c->sum;
}

/* The least load that the curves do not refute, at most limit + 1. */
static int32_t refute(const cover *c, int32_t limit) {
  int32_t low = 0, high = limit + 1;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (holds_all(c, middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

static bool cover_init(cover *c, const shares *s, int64_t most_ns, arena *a) {
  *c = (cover){.s = s, .scratch = a};
  c->sweep = ARENA_NEW(a, sweep, s->n_types);
  c->least = ARENA_NEW(a, int32_t *, s->n_types);
  c->top = ARENA_NEW(a, int32_t, s->n_types);
  c->whole = ARENA_NEW(a, int32_t, s->n);
  c->taken = ARENA_NEW(a, bool, (int64_t)s->n * s->n_types);
  c->best = ARENA_NEW(a, double, s->n);
  c->trial = ARENA_NEW(a, double, s->n);
  c->column = ARENA_NEW(a, int32_t, s->n + s->n_types);
  c->coefficient = ARENA_NEW(a, double, s->n + s->n_types);
  if (!c->sweep || !c->least || !c->top || !c->whole || !c->taken || !c->best || !c->trial || !c->column ||
      !c->coefficient)
    return false;
  for (int32_t t = 0; t < s->n_types; t++) {
    if (!(c->least[t] = ARENA_NEW(a, int32_t, (int64_t)(2 * FINE_GRID) * count_devices(s) / s->n_devices[t] + 2))) return false;
    if (!sweep_find(&c->sweep[t], s, t, most_ns, MAX_STATES, a)) return false;
  }
  return true;
}

/* Prices in the measure of the least times: the balance bound. */
static void start_prices(cover *c) {
  const shares *s = c->s;
  double sum = 0;
  for (int32_t v = 0; v < s->n; v++) {
    int64_t least = SITU_NEVER_NS;
    for (int32_t t = 0; t < s->n_types; t++) least = min64(least, s->time_ns[(int64_t)t * s->n + v]);
    c->best[v] = least == SITU_NEVER_NS ? 0 : (double)least;
    sum += c->best[v];
  }
  for (int32_t v = 0; v < s->n; v++) c->best[v] = sum > 0 ? c->best[v] / sum : 1.0 / s->n;
}

static bool master_init(cover *c) {
  const shares *s = c->s;
  int32_t n = s->n + s->n_types;
  double *cost = ARENA_ZERO(c->scratch, double, n), *lower = ARENA_ZERO(c->scratch, double, n);
  double *upper = ARENA_NEW(c->scratch, double, n);
  if (!cost || !lower || !upper) return false;
  for (int32_t v = 0; v < s->n; v++) {
    upper[v] = 1;
    c->column[v] = v;
    c->coefficient[v] = 1;
  }
  for (int32_t t = 0; t < s->n_types; t++) {
    cost[s->n + t] = s->n_devices[t];
    upper[s->n + t] = 1;
  }
  c->master = lp_new(n, cost, lower, upper);
  return c->master && lp_add_row(c->master, s->n, c->column, c->coefficient, 1, 1);
}

/* Adds the sets taken as rows: sum of y over the set <= alpha of its type. */
static void add_sets(cover *c) {
  const shares *s = c->s;
  for (int32_t t = 0; t < s->n_types; t++) {
    int32_t n = 0;
    for (int32_t v = 0; v < s->n; v++)
      if (c->taken[(int64_t)t * s->n + v]) {
        c->column[n] = v;
        c->coefficient[n++] = 1;
      }
    c->column[n] = s->n + t;
    c->coefficient[n++] = -1;
    lp_add_row(c->master, n, c->column, c->coefficient, -HUGE_VAL, 0);
  }
}

static bool price_sets(cover *c, int32_t limit, int32_t within) {
  const shares *s = c->s;
  for (int32_t t = 0; t < s->n_types; t++)
    if (!sweep_best(c->taken + (int64_t)t * s->n, c->least[t], &c->sweep[t], c->whole, c->top[t], limit, within,
                    c->scratch))
      return false;
  return true;
}

static int32_t limit_of(const cover *c, int64_t ns) {
  int64_t units = ns / c->sweep[0].unit_ns;
  return (int32_t)min64(units, SWEEP_NEVER - 1);
}

static situ_status improve(cover *c, int64_t most_ns, budget *b, situ_error *error) {
  const shares *s = c->s;
  double smooth = 0;
  double SM = getenv("SM") ? atof(getenv("SM")) : 0.7;
  bool verbose = getenv("FB") != NULL;
  int64_t t0 = clock_now_ns();
  double lpt = 0;
  for (int32_t round = 0; round < MAX_ROUNDS && !budget_over(b); round++) {
    const double *from = c->best;
    double value = 0;
    if (round > 0) {
      int64_t t1 = clock_now_ns();
      if (!lp_solve(c->master, 10)) break;
      lpt += (clock_now_ns() - t1) / 1e9;
      value = lp_cost(c->master);
      if (value > 0.9995) {if (verbose) printf("  converged %.5f\n", value); break;}
      from = lp_values(c->master);
    }
    for (int32_t v = 0; v < s->n; v++) c->trial[v] = smooth * c->best[v] + (1 - smooth) * fmax(from[v], 0);
    make_whole(c, c->trial, GRID);
    int32_t within = limit_of(c, c->best_ns + c->best_ns / 2000), limit = limit_of(c, c->best_ns + c->best_ns / 20);
    if (!price_sets(c, limit, within)) return fail_no_memory(error);
    int64_t found = (int64_t)refute(c, limit) * c->sweep[0].unit_ns;
    double got = 0;
    for (int32_t t = 0; t < s->n_types; t++) {
      int32_t x = c->top[t];
      while (x > 0 && c->least[t][x] > within) x--;
      got += (double)x * s->n_devices[t] / c->sum;
    }
    if (verbose && round % 50 == 0)
      printf("  %4d lp %.5f got %.5f bound %.4f best %.4f  %.2f s lp %.2f\n", round, value, got, found / 1e6, c->best_ns / 1e6,
             (clock_now_ns() - t0) / 1e9, lpt);
    if (found > c->best_ns) {
      c->best_ns = found;
      memcpy(c->best, c->trial, (size_t)s->n * sizeof *c->best);
    }
    double at_lp = 0;
    for (int32_t t = 0; t < s->n_types && round > 0; t++)
      for (int32_t v = 0; v < s->n; v++)
        if (c->taken[(int64_t)t * s->n + v]) at_lp += from[v] * s->n_devices[t];
    smooth = round > 0 && at_lp <= value + 1e-6 ? 0 : SM;
    add_sets(c);
  }
  return SITU_STATUS_OK;
}

static situ_status compute(int64_t *lower_ns, const situ_problem *p, arena *scratch, budget *b, situ_error *error) {
  *lower_ns = 0;
  if (!shares_serve(p) || p->contiguous) return SITU_STATUS_OK;
  shares s;
  if (!shares_find(&s, p, scratch)) return fail_no_memory(error);
  if (!shares_fit(&s) || lp_missing() || s.n_types == 0) return SITU_STATUS_OK;
  cover c;
  int64_t most_ns = 0;
  for (int32_t v = 0; v < s.n; v++) {
    int64_t least = SITU_NEVER_NS;
    for (int32_t t = 0; t < s.n_types; t++) least = min64(least, s.time_ns[(int64_t)t * s.n + v]);
    if (least == SITU_NEVER_NS) return SITU_STATUS_OK;
    most_ns += least;
  }
  if (!cover_init(&c, &s, most_ns, scratch) || !master_init(&c)) return fail_no_memory(error);
  start_prices(&c);
  c.best_ns = most_ns / count_devices(&s) / 2;
  situ_status status = improve(&c, most_ns, b, error);
  lp_free(c.master);
  *lower_ns = c.best_ns;
  return status;
}

const bound configuration_bound = {
    .name = "configuration",
    .title = "prices that no set of devices can hold, communication counted",
    .source = "Gilmore and Gomory, A linear programming approach to the cutting-stock problem, 1961",
    .pipeline = true,
    .compute = compute,
};
