/* A graph and a machine made by hand, for programs that have their own model format: two branches that can run side by
 * side, on two equal devices joined by a fast link. Expects the branches apart: 3 ms, against 5 ms on one device.
 * Builders keep their first failure, so nothing is checked before freezing. A status says whether a call worked;
 * whether there is a plan is asked afterwards. */
#include <situ.h>
#include <stdio.h>

static int32_t layer(situ_graph_builder *builder, const char *name, int64_t flops) {
  situ_operator op = SITU_OPERATOR_INIT;
  op.name = name;
  op.kind = "Layer";
  op.dtype = SITU_DTYPE_F32;
  op.flops = flops;
  return situ_graph_builder_add_operator(builder, &op);
}

/* A tensor of 1000 bytes from one layer to another. */
static void join(situ_graph_builder *builder, int32_t from, int32_t to) {
  situ_tensor tensor = SITU_TENSOR_INIT;
  tensor.size_bytes = 1000;
  situ_graph_builder_add_use(builder, to, situ_graph_builder_add_tensor(builder, from, &tensor));
}

static situ_status network(situ_graph **graph, situ_error *error) {
  situ_graph_builder *builder = NULL;
  situ_status status = situ_graph_builder_new(&builder, "two branches", error);
  if (status != SITU_STATUS_OK) return status;
  int32_t stem = layer(builder, "stem", 500000000), head = layer(builder, "head", 500000000);
  int32_t left = layer(builder, "left", 2000000000), right = layer(builder, "right", 2000000000);
  join(builder, stem, left);
  join(builder, stem, right);
  join(builder, left, head);
  join(builder, right, head);
  status = situ_graph_freeze(graph, builder, error);
  situ_graph_builder_free(builder);
  return status;
}

static situ_status machine(situ_platform **platform, situ_error *error) {
  situ_platform_builder *builder = NULL;
  situ_status status = situ_platform_builder_new(&builder, "two hands", error);
  if (status != SITU_STATUS_OK) return status;
  situ_device hand = SITU_DEVICE_INIT;
  hand.class_name = "hand";
  hand.peak_flops[SITU_DTYPE_F32] = 1e12; /* so that 1e9 FLOPs take 1 ms at efficiency 1 */
  hand.memory_bytes_per_s = 1e12;
  hand.name = "left-hand";
  hand.is_host = true;
  int32_t left = situ_platform_builder_add_device(builder, &hand);
  hand.name = "right-hand";
  hand.is_host = false;
  int32_t right = situ_platform_builder_add_device(builder, &hand);
  const situ_link there = {left, right, 1000, 1e10, -1}, back = {right, left, 1000, 1e10, -1};
  situ_platform_builder_add_link(builder, &there);
  situ_platform_builder_add_link(builder, &back);
  status = situ_platform_freeze(platform, builder, error);
  situ_platform_builder_free(builder);
  return status;
}

/* The schedule in order of the starts, then what is proved. */
static void show(const situ_plan *plan, const situ_plan_summary *found) {
  const situ_problem *problem = situ_plan_problem(plan);
  const situ_graph *graph = situ_problem_graph(problem);
  const situ_platform *platform = situ_problem_platform(problem);
  const int32_t *order = NULL;
  int32_t n = situ_plan_order(plan, &order);
  for (int32_t i = 0; i < n; i++)
    printf("%-10s  %-5s  %7lld .. %7lld ns\n", situ_platform_device_name(platform, situ_plan_device(plan, order[i])),
           situ_graph_operator_name(graph, order[i]), (long long)situ_plan_start_ns(plan, order[i]),
           (long long)situ_plan_finish_ns(plan, order[i]));
  printf("%lld ns on both, %lld ns on one; no plan is below %lld ns (%s)\n", (long long)found->value_ns,
         (long long)found->best_single_ns, (long long)found->lower_bound_ns, situ_outcome_name(found->outcome));
}

int main(void) {
  situ_graph *graph = NULL;
  situ_platform *platform = NULL;
  situ_costs *costs = NULL;
  situ_problem *problem = NULL;
  situ_plan *plan = NULL;
  situ_error error = {SITU_STATUS_OK, "", ""};
  situ_cost_options full_speed = SITU_COST_OPTIONS_INIT;
  situ_solve_options effort = SITU_SOLVE_OPTIONS_INIT;
  full_speed.efficiency = 1;
  effort.max_steps = 500; /* repeatable: no clock is looked at */

  situ_status status = network(&graph, &error);
  if (status == SITU_STATUS_OK) status = machine(&platform, &error);
  if (status == SITU_STATUS_OK) status = situ_costs_estimate(&costs, graph, platform, &full_speed, &error);
  if (status == SITU_STATUS_OK) status = situ_problem_pose(&problem, graph, platform, costs, NULL, &error);
  if (status == SITU_STATUS_OK) status = situ_solve(&plan, problem, &effort, &error);
  situ_problem_free(problem); /* the plan keeps what it needs */
  situ_costs_free(costs);
  situ_platform_free(platform);
  situ_graph_free(graph);
  situ_plan_summary found = SITU_PLAN_SUMMARY_INIT;
  situ_plan_get_summary(plan, &found);
  if (status != SITU_STATUS_OK)
    fprintf(stderr, "%s: %s: %s\n", situ_status_name(status), error.where, error.text);
  else if (!found.exists)
    fprintf(stderr, "no plan (%s): %s\n", situ_outcome_name(found.outcome), found.reason);
  else
    show(plan, &found);
  situ_plan_free(plan);
  return !(found.best_single_ns == 5000000 && found.value_ns < 3100000 && found.value_ns >= 3000000);
}
