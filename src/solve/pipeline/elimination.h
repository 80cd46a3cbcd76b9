/* solve/pipeline/elimination.h - minimises a sum of functions of one or two variables, each with few values, by
 * variable elimination: the sum of the functions of a variable, at its best value, is a function of the other variables
 * in them. Exact; the tables stay small if the variables are connected like a tree.
 *
 * Source: Bertele and Brioschi, Nonserial Dynamic Programming, 1972. The order is greedy: the smallest table next.
 *
 * Sums are integers. ELIMINATION_NEVER marks incompatible values; the magnitude of all other sums must stay below
 * it. */
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

/* The table of a variable: indexed by its value and those of its remaining neighbours, its own value varying
 * fastest. */
typedef struct elimination_table {
  int32_t variable, n_behind, *behind;     /* by the order in which they are eliminated */
  int32_t n_terms, parent, term_of_parent; /* the table that takes its message in, -1: none; as which of its terms */
  int64_t n_rows;                          /* number of combined values of the remaining neighbours: the size of its
                                              message */
  elimination_term *terms;
  int64_t *sum;     /* [n_rows * values] */
  int64_t *message; /* [n_rows] the minimum of each row */
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

/* The minimum sum, ELIMINATION_NEVER if no values are compatible; otherwise value[v] is that of a solution. */
int64_t elimination_least(elimination *e, int32_t *value);
/* Call after it: least[start[v] + a] is the minimum sum over solutions in which variable v has value a. Modifies the
 * tables. */
void elimination_marginals(elimination *e, const int64_t *start, int64_t *least);

#endif
