/* solve/pipeline/elimination.h - the least of a sum of functions of one or two variables, each with few values, by
 * eliminating one variable after the other: the sum of the functions that know the variable, at its best value, is a
 * function of the other variables that they know. Exact; the tables stay small where the variables hang together like a
 * tree.
 *
 * Source: Bertele and Brioschi, Nonserial Dynamic Programming, 1972. The order is greedy: the least table next.
 *
 * Sums are whole numbers. ELIMINATION_NEVER says that values do not go together; all other sums must stay below it in
 * size. */
#ifndef SITU_SOLVE_PIPELINE_ELIMINATION_H
#define SITU_SOLVE_PIPELINE_ELIMINATION_H

#include <stdbool.h>

#include "base/arena.h"

#define ELIMINATION_NEVER (INT64_MAX / 4)

/* A function: of variable[0] alone, value[a], or of two, value[a * size of the second + b]. */
typedef struct factor {
  int32_t variable[2]; /* the second is -1 where there is one only */
  int64_t *value;
} factor;

/* A term of a table: entry i takes value[at[i]] of it. */
typedef struct elimination_term {
  const int64_t *value;
  int32_t *at;
} elimination_term;

/* The table of a variable: of what it and the variables that it leaves behind are, it itself running fastest. */
typedef struct elimination_table {
  int32_t variable, n_behind, *behind;     /* by the order in which they are eliminated */
  int32_t n_terms, parent, term_of_parent; /* the table that takes its message in, -1: none; as which of its terms */
  int64_t n_rows;                          /* values of those behind, together: the size of its message */
  elimination_term *terms;
  int64_t *sum;     /* [n_rows * values] */
  int64_t *message; /* [n_rows] the least of each row */
} elimination_table;

typedef struct elimination {
  int32_t n;
  const int32_t *size;
  elimination_table *tables; /* in the order of elimination */
  int64_t n_entries;         /* of all tables */
  int64_t work;              /* of one elimination */
  int64_t *scratch;          /* as large as the largest message */
} elimination;

typedef enum elimination_made { ELIMINATION_READY, ELIMINATION_TOO_WIDE, ELIMINATION_NO_MEMORY } elimination_made;

/* Sets up tables for n variables with size[v] >= 1 values; the factors' values may change from then on, not their
 * places. Too wide: the tables would have more than most_entries. All lies in the arena. */
elimination_made elimination_init(elimination *out, int32_t n, const int32_t *size, int32_t n_factors,
                                  const factor *factors, int64_t most_entries, arena *a);
/* NULL, or which invariant of the tables does not hold (base/contracts.h). */
const char *elimination_check(const elimination *e);

/* The least sum, ELIMINATION_NEVER when nothing goes together; else value[v] is that of a solution. */
int64_t elimination_least(elimination *e, int32_t *value);
/* After it: least[start[v] + a] is the least sum of those solutions in which variable v has value a. Changes the
 * tables. */
void elimination_marginals(elimination *e, const int64_t *start, int64_t *least);

#endif
