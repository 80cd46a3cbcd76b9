/* Programs in whole numbers: what is written down, what engines see of it, what prices prove; and the engine for
 * mixed-integer programs on knapsacks. */
#include <math.h>
#include <unistd.h>

#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "../broken.h"
#include "base/rng.h"
#include "lp/lp.h"
#include "lp/mip.h"

TEST(entries_of_one_column_add_up) {
  OWN(arena) *a = arena_new();
  program p = program_new(a);
  int32_t x = program_column(&p, 0, 9, false), y = program_column(&p, 0, 9, false);
  program_row(&p, 3, PROGRAM_ANY_HIGH);
  program_add(&p, x, 2);
  program_add(&p, y, 1);
  program_add(&p, x, 5);
  program_add(&p, -1, 100); /* not there */
  program_row(&p, PROGRAM_ANY_LOW, 8);
  program_add(&p, x, 1);
  assert_false(p.out_of_memory);
  assert_int_equal(p.n_entries, 3);
  assert_int_equal(p.column[0], x);
  assert_int_equal(p.coefficient[0], 7);
  assert_int_equal(p.coefficient[1], 1);
  assert_int_equal(p.row_start[1], 2);
  assert_int_equal(p.coefficient[2], 1);
}

/* min 3 x + 2 y, x + y >= 4, x <= 3, y <= 3: by the price 2 of the row, 8 + min(0 .. 3) of (3 - 2) x = 8. By the price
 * 3 the second column has 2 - 3 = -1 at its upper side: 12 - 3 = 9, the optimum x = 1, y = 3. In 1 / 10 also 2.5: 10
 * - 1.5 = 8.5, so that a whole value is 9. */
TEST(prices_prove_the_dual_value_rounded_up) {
  OWN(arena) *a = arena_new();
  program p = program_new(a);
  int32_t x = program_column(&p, 0, 3, false), y = program_column(&p, 0, 3, false);
  p.cost[x] = 3;
  p.cost[y] = 2;
  program_row(&p, 4, PROGRAM_ANY_HIGH);
  program_add(&p, x, 1);
  program_add(&p, y, 1);
  int64_t found, two = 2, three = 3, between = 25, against = -1;
  assert_true(program_bound(&found, &p, &two, 1));
  assert_int_equal(found, 8);
  assert_true(program_bound(&found, &p, &three, 1));
  assert_int_equal(found, 9);
  assert_true(program_bound(&found, &p, &between, 10));
  assert_int_equal(found, 9);
  assert_false(program_bound(&found, &p, &against, 1)); /* the side that has no limit */
  assert_false(program_bound(&found, &p, &two, 0));
}

TEST(sums_beyond_128_bits_prove_nothing) {
  OWN(arena) *a = arena_new();
  program p = program_new(a);
  int32_t x = program_column(&p, 0, INT64_MAX, false);
  p.cost[x] = 1;
  program_row(&p, 1, PROGRAM_ANY_HIGH);
  program_add(&p, x, INT64_MAX);
  int64_t found, price = INT64_MAX;
  assert_false(program_bound(&found, &p, &price, 1));
}

/* A random program with few small columns, so that all its points can be counted. */
enum { COLUMNS = 5, TOP = 3 };
static program draw(uint64_t seed, arena *a) {
  rng r = rng_new(seed);
  program p = program_new(a);
  for (int32_t j = 0; j < COLUMNS; j++) {
    program_column(&p, 0, TOP, true);
    p.cost[j] = rng_below(&r, 21) - 5;
  }
  for (int32_t i = 0; i < 4; i++) {
    int64_t side = rng_below(&r, 12);
    bool low = rng_below(&r, 2);
    program_row(&p, low ? side : PROGRAM_ANY_LOW, low && rng_below(&r, 3) > 0 ? PROGRAM_ANY_HIGH : side + 2);
    for (int32_t j = 0; j < COLUMNS; j++) program_add(&p, j, rng_below(&r, 9) - 3);
  }
  return p;
}

static bool keeps_rows(const program *p, const int64_t *x) {
  for (int32_t i = 0; i < p->n_rows; i++) {
    int64_t sum = 0;
    for (int64_t k = p->row_start[i]; k < p->row_start[i + 1]; k++) sum += p->coefficient[k] * x[p->column[k]];
    if (sum < p->row_lower[i] || sum > p->row_upper[i]) return false;
  }
  return true;
}

/* INT64_MAX where no point keeps the rows. */
static int64_t count_all(const program *p) {
  int64_t best = INT64_MAX, x[COLUMNS] = {0};
  for (int32_t code = 0; code < 1 << (2 * COLUMNS); code++) {
    int64_t value = 0;
    for (int32_t j = 0; j < COLUMNS; j++) value += p->cost[j] * (x[j] = code >> (2 * j) & TOP);
    if (value < best && keeps_rows(p, x)) best = value;
  }
  return best;
}

TEST(no_prices_prove_more_than_is_true) {
  for (uint64_t seed = 1; seed <= 2000; seed++) {
    OWN(arena) *a = arena_new();
    program p = draw(seed, a);
    int64_t best = count_all(&p), found, price[4];
    rng r = rng_new(seed + 99);
    for (int32_t k = 0; k < 20; k++) {
      for (int32_t i = 0; i < 4; i++) price[i] = rng_below(&r, 41) - 20;
      if (program_bound(&found, &p, price, 1 + rng_below(&r, 12)) && found > best)
        fail_msg("seed %d: %lld proved, %lld possible", (int)seed, (long long)found, (long long)best);
    }
  }
}

TEST(prices_of_the_engine_prove_its_value) {
  if (lp_missing()) skip();
  int32_t n_exact = 0, n_solved = 0;
  for (uint64_t seed = 1; seed <= 500; seed++) {
    OWN(arena) *a = arena_new();
    program p = draw(seed, a);
    program_table t;
    int64_t best = count_all(&p), found, price[4], scale;
    assert_true(program_tabulate(&t, &p, a));
    lp *model = lp_load(&t, p.n_columns, p.n_rows);
    assert_non_null(model);
    if (lp_solve(model, 10)) {
      program_round_prices(price, &scale, &p, &t, lp_prices(model));
      assert_true(program_bound(&found, &p, price, scale));
      if (found > best) fail_msg("seed %d: %lld proved, %lld possible", (int)seed, (long long)found, (long long)best);
      n_solved++;
      n_exact += fabs((double)found - ceil(lp_cost(model) * t.cost_scale - 1e-6)) < 0.5;
    }
    lp_free(model);
  }
  assert_true(n_solved > 100);
  assert_true(n_exact >= n_solved * 99 / 100);
}

typedef struct judged {
  const program *program;
  int64_t best;
} judged;

static void judge(void *context, const double *x) {
  judged *j = context;
  int64_t whole[COLUMNS], value = 0;
  for (int32_t k = 0; k < COLUMNS; k++) value += j->program->cost[k] * (whole[k] = (int64_t)floor(x[k] + 0.5));
  if (keeps_rows(j->program, whole) && value < j->best) j->best = value;
}

TEST(the_engine_finds_the_best_and_prints_nothing) {
  if (mip_missing()) skip();
  FILE *into = tmpfile();
  assert_non_null(into);
  fflush(NULL);
  int out = dup(1), err = dup(2), n_wrong = 0;
  dup2(fileno(into), 1);
  dup2(fileno(into), 2);
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(600); seed++) {
    OWN(arena) *a = arena_new();
    program p = draw(seed, a);
    mip_limits limits = {.seconds = HUGE_VAL, .max_nodes = INT64_MAX};
    mip_outcome found = {0};
    judged j = {&p, INT64_MAX};
    bool made = mip_search(&found, &p, &limits, judge, &j, a);
    n_wrong += !made || !found.is_ended || j.best != count_all(&p);
  }
  fflush(NULL);
  dup2(out, 1);
  dup2(err, 2);
  close(out);
  close(err);
  long printed = lseek(fileno(into), 0, SEEK_END);
  fclose(into);
  assert_int_equal(n_wrong, 0);
  assert_int_equal(printed, 0);
}

static bool at_once(void *context) {
  ++*(int *)context;
  return true;
}

static void ignore(void *context, const double *x) {}

/* Jobs on equal machines, without any order among them: far more than could be searched. */
TEST(a_stop_is_heard) {
  if (mip_missing()) skip();
  enum { JOBS = 60, MACHINES = 5 };
  OWN(arena) *a = arena_new();
  program p = program_new(a);
  rng r = rng_new(1);
  int32_t longest = program_column(&p, 0, 1000000, false), x[JOBS][MACHINES], asked = 0;
  p.cost[longest] = 1;
  p.unit[longest] = program_unit_of(1000000);
  for (int32_t i = 0; i < JOBS; i++) {
    program_row(&p, 1, 1);
    for (int32_t m = 0; m < MACHINES; m++) program_add(&p, x[i][m] = program_column(&p, 0, 1, true), 1);
  }
  int64_t time[JOBS];
  for (int32_t i = 0; i < JOBS; i++) time[i] = 10000 + rng_below(&r, 10000);
  for (int32_t m = 0; m < MACHINES; m++) {
    program_row(&p, 0, PROGRAM_ANY_HIGH);
    program_add(&p, longest, 1);
    for (int32_t i = 0; i < JOBS; i++) program_add(&p, x[i][m], -time[i]);
  }
  mip_limits limits = {.seconds = HUGE_VAL, .max_nodes = INT64_MAX, .stop = at_once, .context = &asked};
  mip_outcome found;
  assert_true(mip_search(&found, &p, &limits, ignore, NULL, a));
  assert_true(asked > 0);
  assert_false(found.is_ended);
  assert_true(found.n_nodes < 1000);
}

TEST(a_broken_program_is_named) {
  OWN(arena) *a = arena_new();
  program p = draw(3, a);
  assert_true(p.n_entries > 2 && p.n_rows > 1);
  BREAKS(program_check(&p), p.row_start[1], -1, "row_start");
  BREAKS(program_check(&p), p.column[0], p.n_columns, "entries are of columns");
  BREAKS(program_check(&p), p.lower[0], p.upper[0] + 1, "a column may");
  BREAKS(program_check(&p), p.unit[0], 0, "units");
  BREAKS(program_check(&p), p.row_lower[0], PROGRAM_ANY_HIGH, "a row may");
}

TEST_MAIN
