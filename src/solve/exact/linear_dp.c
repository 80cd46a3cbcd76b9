/* linear_dp: the best contiguous split of one linear order, the published one (the "linearised" dynamic program of
 * Tarnawski et al., NeurIPS 2020, section 5): their values to the last digit. many_orders goes further.
 *
 * A step is one end of a segment, with all its beginnings (order_split.h). */
#include "base/fail.h"
#include "solve/kit/order_split.h"
#include "solve/kit/orders.h"

static situ_status solve(solve_run *run) {
  contraction classes;
  if (!contract(&classes, run->problem, true, run->arena)) return fail_no_memory(run->error);
  int32_t *order = ARENA_NEW(run->arena, int32_t, classes.n_classes);
  order_split *split = order_split_new(run, &classes);
  if (!order || !split || !order_published(order, &classes, run->problem->graph, run->arena))
    return fail_no_memory(run->error);
  order_split_offer(split, order, NULL);
  return SITU_STATUS_OK;
}

const solver linear_dp_solver = {
    .name = "linear_dp",
    .title = "best split of the published linear order of the operators",
    .source = "Tarnawski et al., Efficient Algorithms for Device Placement of DNN Graph Operators, NeurIPS 2020",
    .pipeline = true,
    .portfolio = 10,
    .solve = solve,
};
