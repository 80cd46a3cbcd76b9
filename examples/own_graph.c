/* A graph and a machine made by hand, for programs that have their own model format: two branches that can run side by
 * side, on two equal devices joined by a fast link. Expects the branches apart: 3 ms, against 5 ms on one device. */
#include <stdio.h>

#include "situ.h"

static int32_t add(situ_graph_builder *builder, const char *name, int64_t flops, int64_t size_bytes, int32_t *tensor) {
  int32_t op = -1;
  situ_graph_builder_add_operator(builder,
                                  &(situ_operator){.name = name,
                                                   .kind = "Layer",
                                                   .dtype = SITU_DTYPE_F32,
                                                   .flops = flops,
                                                   .colocation = -1,
                                                   .source_id = -1,
                                                   .inferred = true},
                                  &op, NULL);
  situ_graph_builder_add_tensor(builder, op, &(situ_tensor){.rank = -1, .size_bytes = size_bytes}, tensor, NULL);
  return op;
}

static situ_status build(situ_graph **graph, situ_error *error) {
  situ_graph_builder *builder = NULL;
  situ_status status = situ_graph_builder_new(&builder, "two branches", error);
  if (status != SITU_STATUS_OK) return status;
  int32_t stem_out, left_out, right_out, head_out;
  add(builder, "stem", 500000000, 1000, &stem_out);
  int32_t left = add(builder, "left", 2000000000, 1000, &left_out);
  int32_t right = add(builder, "right", 2000000000, 1000, &right_out);
  int32_t head = add(builder, "head", 500000000, 0, &head_out);
  situ_graph_builder_add_use(builder, left, stem_out, NULL);
  situ_graph_builder_add_use(builder, right, stem_out, NULL);
  situ_graph_builder_add_use(builder, head, left_out, NULL);
  situ_graph_builder_add_use(builder, head, right_out, NULL);
  status = situ_graph_freeze(graph, builder, error);
  situ_graph_builder_free(builder);
  return status;
}

static situ_status machine(situ_platform **platform, situ_error *error) {
  situ_device devices[2] = {{.name = "left-hand", .is_host = true}, {.name = "right-hand"}};
  for (int d = 0; d < 2; d++) {
    devices[d].class_name = "hand";
    devices[d].peak_flops[SITU_DTYPE_F32] = 1e12; /* so that 1e9 FLOPs take 1 ms at efficiency 1 */
    devices[d].memory_bytes_per_s = 1e12;
    devices[d].memory_bytes = SITU_UNLIMITED_BYTES;
    devices[d].shares_memory_with = -1;
  }
  situ_link links[2] = {{0, 1, 1000, 1e10, -1}, {1, 0, 1000, 1e10, -1}};
  return situ_platform_new(platform, "two hands", devices, 2, links, 2, error);
}

int main(void) {
  situ_graph *graph = NULL;
  situ_platform *platform = NULL;
  situ_costs *costs = NULL;
  situ_problem *problem = NULL;
  situ_plan *plan = NULL;
  situ_error error = {0};
  situ_status status = build(&graph, &error);
  if (status == SITU_STATUS_OK) status = machine(&platform, &error);
  situ_cost_options full_speed = {.efficiency = 1};
  if (status == SITU_STATUS_OK) status = situ_costs_estimate(&costs, graph, platform, &full_speed, &error);
  if (status == SITU_STATUS_OK) status = situ_problem_pose(&problem, graph, platform, costs, NULL, &error);
  situ_solve_options effort = {.max_steps = 500}; /* repeatable: no clock is looked at */
  if (status == SITU_STATUS_OK) status = situ_solve(&plan, problem, &effort, &error);
  int wrong = 1;
  if (status == SITU_STATUS_OK) {
    int64_t value_ns = situ_plan_value_ns(plan), single_ns = situ_plan_best_single_ns(plan);
    printf("%lld ns on both, %lld ns on one\n", (long long)value_ns, (long long)single_ns);
    wrong = !(single_ns == 5000000 && value_ns < 3100000 && value_ns >= 3000000);
  } else {
    fprintf(stderr, "%s %s\n", error.where, error.text);
  }
  situ_plan_free(plan);
  situ_problem_free(problem);
  situ_costs_free(costs);
  situ_platform_free(platform);
  situ_graph_free(graph);
  return wrong;
}
