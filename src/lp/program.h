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
  double *unit;                  /* [column] unit of the column for engines: about its maximum value / 1000, or 1 */
  int64_t *row_lower, *row_upper;
  int64_t *row_start;   /* [n_rows + 1]; entries of row i: [row_start[i], row_start[i + 1]) */
  int32_t *column;      /* [entry] distinct within a row */
  int64_t *coefficient; /* [entry] */

  int64_t column_room, row_room, entry_room;
  int64_t *entry_of; /* [column] its entry in the row being written, if that is not older than the row */
  bool out_of_memory;
} program;

/* An empty program. Any later failure to allocate sets out_of_memory. */
program program_new(arena *a);
/* Adds a column and gives its number. */
int32_t program_column(program *p, int64_t lower, int64_t upper, bool is_whole);
/* Starts a row and returns its number; program_add fills the last row, entries of one column add up. A column of -1
 * means 0 and is skipped. */
int32_t program_row(program *p, int64_t lower, int64_t upper);
void program_add(program *p, int32_t column, int64_t coefficient);

/* NULL, or which of the invariants above does not hold (base/contracts.h); that columns are distinct within a row is
 * left to program_add. */
const char *program_check(const program *p);

/* A unit for columns that go up to about this: engines then see numbers up to about a thousand. */
double program_unit_of(int64_t greatest);

/* A lower bound on cost * x by these integer prices of the rows, in units of 1 / scale, valid for integer and for
 * continuous columns. Exact, as the sum over columns of the minimum of cost - price * A / scale within the limits of
 * each (Neumaier and Shcherbina, 2004, without their rounding). Prices of rows with a lower limit are 0 or more, of
 * those with an upper limit 0 or less. False if nothing is proved or 128 bits overflow. */
bool program_bound(int64_t *out, const program *p, const int64_t *price, int64_t scale);

/* By columns and in floating point: column x in its unit, every row divided by a power of two near its largest
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
