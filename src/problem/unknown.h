/* problem/unknown.h - what of a problem is guessed: what readers stated (graph/graph.h), as far as no measured time
 * makes it irrelevant, and its share of the time.
 *
 * The share of a guess is the time of the kernels that contain one of its operators over the time of all kernels, each
 * on its fastest class of devices; transfers do not count. Where all times are 0, operators count instead. An operator
 * whose time is measured or given on every class that can run it is not guessed. */
#ifndef SITU_PROBLEM_UNKNOWN_H
#define SITU_PROBLEM_UNKNOWN_H

#include "base/text.h"
#include "cost/costs.h"
#include "graph/graph.h"

typedef struct unknown_row {
  situ_guess_kind kind;
  const char *subject; /* of the graph */
  int32_t n_operators; /* at least 1 */
  double share;
} unknown_row;

typedef struct unknown_list {
  const unknown_row *rows; /* by falling share, else as the readers stated them */
  int32_t n;
  int32_t n_operators; /* of all rows together, each counted once */
  double share;        /* likewise */
  const bool *single;  /* [operator] of a row that is not about all operators; NULL if n is 0 */
} unknown_list;

/* Arrays in the arena. False without memory. O(operators * classes + those of all guesses). */
bool unknown_find(unknown_list *out, const situ_graph *graph, const situ_costs *costs, arena *a);

/* A copy in another arena, without `single`. False without memory. */
bool unknown_copy(unknown_list *out, const unknown_list *list, arena *a);

/* "12 operators, 7.3 % of the time: no cost rule for Foo, Bar; size of seq assumed"; nothing if nothing is unknown. */
void unknown_add_words(text_buffer *t, const unknown_list *list);

#endif
