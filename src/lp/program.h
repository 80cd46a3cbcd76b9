/* lp/program.h - a linear program in whole numbers, as a solver writes it down: minimise cost * x over
 * lower <= x <= upper and row_lower <= A x <= row_upper, some columns whole.
 *
 * Because all of it is whole, a bound from row prices is checked exactly (program_bound), whatever engine they come
 * from. Engines get the table: the same by columns, in floating point and scaled. */
#ifndef SITU_LP_PROGRAM_H
#define SITU_LP_PROGRAM_H

#include <stdbool.h>

#include "base/arena.h"

/* No limit, for the sides of a row. Columns always have both. */
#define PROGRAM_ANY_LOW INT64_MIN
#define PROGRAM_ANY_HIGH INT64_MAX

typedef struct program {
  arena *arena;
  int32_t n_columns, n_rows;
  int64_t n_entries;
  int64_t *cost, *lower, *upper; /* [column] */
  bool *is_whole;                /* [column] */
  double *unit;                  /* [column] what engines count it in: about its greatest value / 1000, or 1 */
  int64_t *row_lower, *row_upper;
  int64_t *row_start;   /* [n_rows + 1]; entries of row i: [row_start[i], row_start[i + 1]) */
  int32_t *column;      /* [entry] distinct within a row */
  int64_t *coefficient; /* [entry] */

  int64_t column_room, row_room, entry_room;
  int64_t *entry_of; /* [column] its entry in the row being written, if that is not older than the row */
  bool out_of_memory;
} program;

/* An empty program. Whatever fails for want of memory from here on is told by out_of_memory. */
program program_new(arena *a);
/* Adds a column and gives its number. */
int32_t program_column(program *p, int64_t lower, int64_t upper, bool is_whole);
/* Starts a row and gives its number; program_add fills the last row, entries of one column add up. A column of -1
 * stands for 0 and is left out. */
int32_t program_row(program *p, int64_t lower, int64_t upper);
void program_add(program *p, int32_t column, int64_t coefficient);

/* NULL, or which of the invariants above does not hold (base/contracts.h); that columns are distinct within a row is
 * left to program_add. */
const char *program_check(const program *p);

/* A unit for columns that go up to about this: engines then see numbers up to about a thousand. */
double program_unit_of(int64_t greatest);

/* The least whole number that cost * x can be, by these whole prices of the rows, in 1 / scale: nowhere is it less, be
 * columns whole or not. Exact, by the sum over columns of the least that cost - price * A / scale can make of each
 * within its limits (Neumaier and Shcherbina, 2004, without their rounding). Prices of rows that are at least something
 * are 0 or more, of those that are at most something 0 or less. False where nothing is proved or 128 bits overflow. */
bool program_bound(int64_t *out, const program *p, const int64_t *price, int64_t scale);

/* By columns and in floating point: column x counted in units, every row divided by a power of two near its greatest
 * coefficient, costs divided by cost_scale. */
typedef struct program_table {
  int32_t *start, *row; /* [n_columns + 1], [entry] */
  double *value;
  double *cost, *lower, *upper, *row_lower, *row_upper;
  double *row_scale, cost_scale;
} program_table;

/* In the arena; false without memory. n_entries must be below 2^31. */
bool program_tabulate(program_table *out, const program *p, arena *a);

/* An engine's prices of the rows of the table, as whole prices of the program's rows in 1 / *scale, a power of two: as
 * fine as they can be, and none on a side that has no limit. */
void program_round_prices(int64_t *price, int64_t *scale, const program *p, const program_table *t,
                          const double *given);

#endif
