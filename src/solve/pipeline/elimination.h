/* solve/pipeline/elimination.h - minimises a sum of functions of one or two variables with few values each, by
 * variable elimination: the minimum, over the values of a variable, of the sum of its functions is a function of its
 * neighbours. Exact; the tables stay small if the graph of the variables is close to a tree (small treewidth).
 *
 * Source: Bertele and Brioschi, Nonserial Dynamic Programming, 1972. The order is greedy: the variable with the
 * smallest table next.
 *
 * Sums are integers. ELIMINATION_NEVER marks incompatible values; the magnitude of all other sums must stay below
 * it. */
#ifndef SITU_SOLVE_PIPELINE_ELIMINATION_H
#define SITU_SOLVE_PIPELINE_ELIMINATION_H

#include <stdbool.h>

#include "base/arena.h"

#define ELIMINATION_NEVER (INT64_MAX / 4)

/* A function of variable[0] alone, value[a], or of two variables, value[a * size of the second + b]. */
typedef struct factor {
  int32_t variable[2]; /* the second is -1 if there is only one */
  int64_t *value;
} factor;

/* A term of a table: it adds value[at[i]] to entry i. */
typedef struct elimination_term {
  const int64_t *value;
  int32_t *at;
} elimination_term;

/* The table of a variable, indexed by the values of its remaining neighbours and its own, which varies fastest. */
typedef struct elimination_table {
  int32_t variable, n_neighbours, *neighbours; /* those eliminated later, in that order */
  int32_t n_terms, parent, term_of_parent; /* the table that has its message as a term, -1: none; which of its terms */
  int64_t n_rows;                          /* number of combinations of values of the neighbours: the size of its
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

/* Sets up tables for n variables with size[v] >= 1 values. The values of factors may change afterwards, their addresses
 * may not. TOO_WIDE: the tables would have more than max_entries. All lies in the arena. */
elimination_made elimination_init(elimination *out, int32_t n, const int32_t *size, int32_t n_factors,
                                  const factor *factors, int64_t max_entries, arena *a);
/* NULL, or which invariant of the tables does not hold (base/contracts.h). */
const char *elimination_check(const elimination *e);

/* The minimum sum, ELIMINATION_NEVER if no values are compatible; otherwise value[] is a solution. */
int64_t elimination_minimise(elimination *e, int32_t *value);
/* Call after it: min[start[v] + a] is the minimum sum over solutions in which variable v has value a. Overwrites the
 * tables. */
void elimination_marginals(elimination *e, const int64_t *start, int64_t *min);

#endif
