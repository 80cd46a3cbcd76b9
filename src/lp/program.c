#include "lp/program.h"

#include <math.h>
#include <string.h>

#include "base/contracts.h"
#include "base/csr.h"

/* Prices fill 52 bits; more than 40 fractional bits would be finer than times need. */
enum { PRICE_BITS = 52, MAX_SHIFT = 40 };

program program_new(arena *a) {
  program p = {.arena = a};
  p.row_start = ARENA_ZERO(a, int64_t, 1);
  p.out_of_memory = !p.row_start;
  return p;
}

/* Room for one more; the old array stays in the arena. */
static bool grow(arena *a, void **at, int64_t n, int64_t room, size_t size) {
  void *larger = arena_alloc(a, room, size);
  if (larger && n > 0) memcpy(larger, *at, (size_t)n * size);
  if (larger) *at = larger;
  return larger;
}

static bool grow_columns(program *p) {
  int64_t n = p->n_columns, room = p->column_room;
  if (n < room) return true;
  room = room ? 2 * room : 64;
  arena *a = p->arena;
  if (!grow(a, (void **)&p->cost, n, room, sizeof *p->cost) ||
      !grow(a, (void **)&p->lower, n, room, sizeof *p->lower) ||
      !grow(a, (void **)&p->upper, n, room, sizeof *p->upper) ||
      !grow(a, (void **)&p->is_whole, n, room, sizeof *p->is_whole) ||
      !grow(a, (void **)&p->unit, n, room, sizeof *p->unit) ||
      !grow(a, (void **)&p->entry_of, n, room, sizeof *p->entry_of))
    return false;
  p->column_room = room;
  return true;
}

int32_t program_column(program *p, int64_t lower, int64_t upper, bool is_whole) {
  REQUIRE(lower <= upper);
  if (p->out_of_memory || !grow_columns(p)) {
    p->out_of_memory = true;
    return -1;
  }
  int32_t j = p->n_columns++;
  p->cost[j] = 0;
  p->lower[j] = lower;
  p->upper[j] = upper;
  p->is_whole[j] = is_whole;
  p->unit[j] = 1;
  p->entry_of[j] = -1;
  return j;
}

static bool grow_rows(program *p) {
  int64_t n = p->n_rows, room = p->row_room;
  if (n < room) return true;
  room = room ? 2 * room : 64;
  arena *a = p->arena;
  if (!grow(a, (void **)&p->row_lower, n, room, sizeof *p->row_lower) ||
      !grow(a, (void **)&p->row_upper, n, room, sizeof *p->row_upper) ||
      !grow(a, (void **)&p->row_start, n + 1, room + 1, sizeof *p->row_start))
    return false;
  p->row_room = room;
  return true;
}

int32_t program_row(program *p, int64_t lower, int64_t upper) {
  REQUIRE(lower <= upper);
  if (p->out_of_memory || !grow_rows(p)) {
    p->out_of_memory = true;
    return -1;
  }
  int32_t i = p->n_rows++;
  p->row_lower[i] = lower;
  p->row_upper[i] = upper;
  p->row_start[i + 1] = p->n_entries;
  return i;
}

void program_add(program *p, int32_t column, int64_t coefficient) {
  REQUIRE(p->out_of_memory || (column < p->n_columns && p->n_rows > 0));
  if (p->out_of_memory || column < 0 || coefficient == 0) return;
  int64_t first = p->row_start[p->n_rows - 1], at = p->entry_of[column];
  if (at >= first) {
    p->coefficient[at] += coefficient;
    return;
  }
  if (p->n_entries == p->entry_room) {
    int64_t room = p->entry_room ? 2 * p->entry_room : 256;
    if (!grow(p->arena, (void **)&p->column, p->n_entries, room, sizeof *p->column) ||
        !grow(p->arena, (void **)&p->coefficient, p->n_entries, room, sizeof *p->coefficient)) {
      p->out_of_memory = true;
      return;
    }
    p->entry_room = room;
  }
  at = p->n_entries++;
  p->entry_of[column] = at;
  p->column[at] = column;
  p->coefficient[at] = coefficient;
  p->row_start[p->n_rows] = p->n_entries;
}

double program_unit_of(int64_t greatest) { return fmax(1, exp2(floor(log2(fmax((double)greatest, 1))) - 10)); }

/* *sum += a * b; false on overflow. */
static bool add_product(__int128 *sum, __int128 a, __int128 b) {
  __int128 product;
  return !__builtin_mul_overflow(a, b, &product) && !__builtin_add_overflow(*sum, product, sum);
}

bool program_bound(int64_t *out, const program *p, const int64_t *price, int64_t scale) {
  REQUIRE(!p->out_of_memory);
  arena_mark mark = arena_get_mark(p->arena);
  __int128 *reduced = ARENA_NEW(p->arena, __int128, p->n_columns), sum = 0;
  bool sound = reduced != NULL && scale > 0;
  for (int32_t j = 0; j < p->n_columns && sound; j++) reduced[j] = (__int128)p->cost[j] * scale;
  for (int32_t i = 0; i < p->n_rows && sound; i++) {
    if (price[i] == 0) continue;
    int64_t side = price[i] > 0 ? p->row_lower[i] : p->row_upper[i];
    sound = side != PROGRAM_ANY_LOW && side != PROGRAM_ANY_HIGH && add_product(&sum, side, price[i]);
    for (int64_t k = p->row_start[i]; k < p->row_start[i + 1] && sound; k++)
      sound = add_product(&reduced[p->column[k]], -(__int128)p->coefficient[k], price[i]);
  }
  for (int32_t j = 0; j < p->n_columns && sound; j++)
    sound = add_product(&sum, reduced[j], reduced[j] > 0 ? p->lower[j] : p->upper[j]);
  arena_release(p->arena, mark);
  if (!sound) return false;
  __int128 whole = sum / scale;
  if (sum > 0 && sum % scale != 0) whole++;
  if (whole > INT64_MAX || whole < INT64_MIN) return false;
  *out = (int64_t)whole;
  return true;
}

/* ---- the table ---- */

static double side_of(int64_t side, double scale) {
  if (side == PROGRAM_ANY_LOW) return -HUGE_VAL;
  return side == PROGRAM_ANY_HIGH ? HUGE_VAL : (double)side * scale;
}

static double nearest_power(double x) {
  int exponent;
  frexp(x, &exponent);
  return ldexp(1, exponent - 1);
}

static void scale_rows(program_table *t, const program *p) {
  for (int32_t i = 0; i < p->n_rows; i++) {
    double greatest = 0;
    for (int64_t k = p->row_start[i]; k < p->row_start[i + 1]; k++)
      greatest = fmax(greatest, fabs((double)p->coefficient[k]) * p->unit[p->column[k]]);
    t->row_scale[i] = greatest > 0 ? 1 / nearest_power(greatest) : 1;
    t->row_lower[i] = side_of(p->row_lower[i], t->row_scale[i]);
    t->row_upper[i] = side_of(p->row_upper[i], t->row_scale[i]);
  }
}

static void scale_columns(program_table *t, const program *p) {
  double greatest = 0;
  for (int32_t j = 0; j < p->n_columns; j++) greatest = fmax(greatest, fabs((double)p->cost[j]) * p->unit[j]);
  t->cost_scale = greatest > 0 ? nearest_power(greatest) : 1;
  for (int32_t j = 0; j < p->n_columns; j++) {
    t->cost[j] = (double)p->cost[j] * p->unit[j] / t->cost_scale;
    t->lower[j] = (double)p->lower[j] / p->unit[j];
    t->upper[j] = (double)p->upper[j] / p->unit[j];
  }
}

static void transpose(program_table *t, const program *p) {
  for (int64_t k = 0; k < p->n_entries; k++) csr_count(t->start, p->column[k]);
  csr_sum(t->start, p->n_columns);
  for (int32_t i = 0; i < p->n_rows; i++)
    for (int64_t k = p->row_start[i]; k < p->row_start[i + 1]; k++) {
      int32_t j = p->column[k], at = csr_put(t->start, j);
      t->row[at] = i;
      t->value[at] = (double)p->coefficient[k] * p->unit[j] * t->row_scale[i];
    }
}

bool program_tabulate(program_table *t, const program *p, arena *a) {
  REQUIRE(!p->out_of_memory && p->n_entries <= INT32_MAX);
  CONTRACT(program_check(p));
  *t = (program_table){.start = ARENA_ZERO(a, int32_t, (int64_t)p->n_columns + 2),
                       .row = ARENA_NEW(a, int32_t, p->n_entries),
                       .value = ARENA_NEW(a, double, p->n_entries),
                       .cost = ARENA_NEW(a, double, p->n_columns),
                       .lower = ARENA_NEW(a, double, p->n_columns),
                       .upper = ARENA_NEW(a, double, p->n_columns),
                       .row_lower = ARENA_NEW(a, double, p->n_rows),
                       .row_upper = ARENA_NEW(a, double, p->n_rows),
                       .row_scale = ARENA_NEW(a, double, p->n_rows)};
  if (!t->start || !t->row || !t->value || !t->cost || !t->lower || !t->upper || !t->row_lower || !t->row_upper ||
      !t->row_scale)
    return false;
  scale_rows(t, p);
  scale_columns(t, p);
  transpose(t, p);
  return true;
}

void program_round_prices(int64_t *price, int64_t *scale, const program *p, const program_table *t,
                          const double *given) {
  double greatest = 0;
  for (int32_t i = 0; i < p->n_rows; i++) greatest = fmax(greatest, fabs(given[i] * t->row_scale[i] * t->cost_scale));
  int exponent = 0;
  if (isfinite(greatest)) frexp(greatest, &exponent);
  int shift = PRICE_BITS - exponent;
  if (shift > MAX_SHIFT) shift = MAX_SHIFT;
  if (shift < 0) shift = 0;
  *scale = (int64_t)1 << shift;
  for (int32_t i = 0; i < p->n_rows; i++) {
    double whole = given[i] * t->row_scale[i] * t->cost_scale * ldexp(1, shift);
    bool sound = fabs(whole) < ldexp(1, PRICE_BITS + 1); /* false for NaN */
    bool has_side = whole > 0 ? p->row_lower[i] != PROGRAM_ANY_LOW : p->row_upper[i] != PROGRAM_ANY_HIGH;
    price[i] = sound && has_side ? (int64_t)whole : 0;
  }
}

const char *program_check(const program *p) {
  EXPECT(contracts_long_lists(p->row_start, p->n_rows, p->n_entries), "row_start lists entries by row");
  EXPECT(contracts_within(p->column, p->n_entries, 0, p->n_columns), "entries are of columns");
  for (int32_t j = 0; j < p->n_columns; j++) {
    EXPECT(p->lower[j] <= p->upper[j], "a column may have some value");
    EXPECT(p->unit[j] > 0, "units are above 0");
  }
  for (int32_t i = 0; i < p->n_rows; i++) EXPECT(p->row_lower[i] <= p->row_upper[i], "a row may have some value");
  return NULL;
}
