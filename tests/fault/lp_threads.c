/* Linear programs on several threads at once: each gets what it gets alone. Under helgrind (threads.py) it shows which
 * globals the engine shares between threads. */
#include <stdio.h>
#include <stdlib.h>

#include "base/parallel.h"
#include "base/rng.h"
#include "lp/lp.h"

enum { COLUMNS = 40, ROWS = 30, PROGRAMS = 16 };

/* Minimises a random cost over a random polytope that contains 0. */
static double solve(uint64_t seed) {
  rng r = rng_new(seed);
  double cost[COLUMNS], lower[COLUMNS] = {0}, upper[COLUMNS], value[ROWS * COLUMNS], from[ROWS], to[ROWS];
  int32_t start[ROWS + 1] = {0}, column[ROWS * COLUMNS];
  for (int32_t j = 0; j < COLUMNS; j++) {
    cost[j] = -1.0 - (double)rng_below(&r, 5);
    upper[j] = 10;
  }
  for (int32_t i = 0; i < ROWS; i++) {
    start[i + 1] = start[i];
    for (int32_t j = 0; j < COLUMNS; j++) {
      if (rng_below(&r, 3)) continue;
      column[start[i + 1]] = j;
      value[start[i + 1]++] = 1.0 + (double)rng_below(&r, 4);
    }
    from[i] = -1e30;
    to[i] = 10.0 + (double)i;
  }
  lp *model = lp_new(COLUMNS, cost, lower, upper);
  double best = 1;
  if (model && lp_add_rows(model, ROWS, start, column, value, from, to) && lp_solve(model, 60)) best = lp_cost(model);
  lp_free(model);
  return best;
}

static double found[PROGRAMS];

static void task(void *context, int32_t k, bool here) {
  (void)context;
  (void)here;
  found[k] = solve((uint64_t)k);
}

static void watch(void *context) { (void)context; }

int main(void) {
  if (lp_missing()) {
    puts("no engine for linear programs");
    return 77;
  }
  parallel_run(PROGRAMS, 2, task, watch, NULL);
  for (int32_t k = 0; k < PROGRAMS; k++)
    if (!(found[k] < 0) || found[k] != solve((uint64_t)k)) {
      printf("program %d: %.17g beside others, %.17g alone\n", (int)k, found[k], solve((uint64_t)k));
      return 1;
    }
  return 0;
}
