/* Problems by hand, and what all problems of tests have in common. */
#include "lab.h"

#include "cost/cost_models.h"
#include "solve/common/best_single.h"
#include "test.h"

void must(situ_status status, const situ_error *error) {
  if (status != SITU_STATUS_OK) fail_msg("%s: %s %s", situ_status_name(status), error->where, error->text);
}

lab lab_new(void) {
  lab l = {.arena = arena_new()};
  assert_int_equal(situ_graph_builder_new(&l.builder, "scenario", NULL), SITU_STATUS_OK);
  return l;
}

int32_t lab_device(lab *l, int64_t memory_bytes, int32_t shares, bool is_host) {
  int32_t d = l->n_devices++;
  snprintf(l->device_name[d], sizeof l->device_name[d], "d%d", (int)d);
  l->devices[d] = (situ_device){.memory_bytes_per_s = 1e9,
                                .peak_flops[SITU_DTYPE_F32] = 1e9,
                                .memory_bytes = memory_bytes,
                                .shares_memory_with = shares,
                                .is_host = is_host};
  return d;
}

void lab_link(lab *l, int32_t from, int32_t to, int64_t latency_ns, int32_t channel) {
  l->links[l->n_links++] = (situ_link){from, to, latency_ns, 1e9, channel};
}

void lab_star(lab *l) {
  for (int32_t d = 1; d < l->n_devices; d++) {
    lab_link(l, 0, d, 0, -1);
    lab_link(l, d, 0, 0, -1);
  }
}

lab lab_mesh(int32_t n_devices, int64_t memory_bytes) {
  lab l = lab_new();
  for (int32_t d = 0; d < n_devices; d++) lab_device(&l, memory_bytes, -1, d == 0);
  for (int32_t from = 0; from < n_devices; from++)
    for (int32_t to = 0; to < n_devices; to++)
      if (from != to) lab_link(&l, from, to, 0, -1);
  return l;
}

int32_t lab_add(lab *l, situ_operator op, int64_t time_ns) {
  int32_t v, n = l->n_operators;
  if ((n & (n - 1)) == 0) { /* a power of two, or none: twice as many fit */
    int64_t(*rows)[LAB_MAX_DEVICES] = arena_alloc(l->arena, 2 * (int64_t)n + 1, sizeof *rows);
    assert_non_null(rows);
    if (n > 0) memcpy(rows, l->time_ns, (size_t)n * sizeof *rows);
    l->time_ns = rows;
  }
  assert_int_equal(builder_add_operator(l->builder, &op, &v, NULL), SITU_STATUS_OK);
  for (int32_t d = 0; d < LAB_MAX_DEVICES; d++) l->time_ns[v][d] = time_ns;
  l->n_operators++;
  return v;
}

int32_t lab_operator(lab *l, const char *name, int64_t time_ns, int64_t weight_bytes, int64_t workspace_bytes) {
  return lab_add(l,
                 (situ_operator){.name = name,
                                 .source_id = l->n_operators,
                                 .colocation = -1,
                                 .weight_bytes = weight_bytes,
                                 .workspace_bytes = workspace_bytes},
                 time_ns);
}

int32_t lab_of_phase(lab *l, const char *name, int64_t time_ns, situ_phase phase, int64_t group) {
  return lab_add(l, (situ_operator){.name = name, .source_id = -1, .colocation = group, .phase = phase}, time_ns);
}

int32_t lab_tensor(lab *l, int32_t v, int64_t size_bytes, ...) {
  int32_t t;
  situ_tensor about = {.rank = -1, .size_bytes = size_bytes};
  assert_int_equal(builder_add_tensor(l->builder, v, &about, &t, NULL), SITU_STATUS_OK);
  va_list users;
  va_start(users, size_bytes);
  for (int w; (w = va_arg(users, int)) >= 0;) assert_int_equal(builder_add_use(l->builder, w, t, NULL), SITU_STATUS_OK);
  va_end(users);
  return t;
}

void lab_pose(lab *l, const situ_problem_options *options) {
  situ_problem_options posed = options ? *options : (situ_problem_options){0};
  situ_error error = {0};
  posed.size = sizeof posed;
  for (int32_t d = 0; d < l->n_devices; d++) {
    l->devices[d].name = l->devices[d].class_name = l->device_name[d];
    if (l->alike && !l->devices[d].is_host) l->devices[d].class_name = "alike";
  }
  must(situ_graph_freeze(&l->graph, l->builder, &error), &error);
  assert_int_equal(l->n_operators, l->graph->n_operators); /* whose times are known */
  must(platform_new(&l->platform, "scenario", l->devices, l->n_devices, l->links, l->n_links, &error), &error);
  must(costs_new_with_transfers(&l->costs, l->graph, l->platform, NULL, &error), &error);
  l->costs->source = "scenario";
  for (int32_t v = 0; v < l->graph->n_operators; v++)
    for (int32_t d = 0; d < l->n_devices; d++)
      l->costs->time_ns[v * l->platform->n_classes + l->platform->class_of[d]] =
          l->time_ns[l->graph->built_index[v]][d];
  must(situ_problem_pose(&l->problem, l->graph, l->platform, l->costs, &posed, &error), &error);
  l->simulator = simulator_new(l->problem, l->arena);
  assert_non_null(l->simulator);
}

situ_plan *lab_plan(lab *l, const placement *where) {
  situ_plan *plan;
  best_single single;
  assert_int_equal(best_single_find(&single, l->simulator, l->problem, l->arena, NULL), SITU_STATUS_OK);
  assert_int_equal(simulator_plan(&plan, l->simulator, where, NULL), SITU_STATUS_OK);
  plan->best_single_ns = single.value_ns;
  plan->best_single_device = single.device;
  return plan;
}

lab lab_of_builder(situ_graph_builder *builder, const char *platform) {
  lab l = {0};
  situ_error error;
  situ_cost_options cost = SITU_COST_OPTIONS_INIT;
  cost.fusion = "none";
  must(situ_graph_freeze(&l.graph, builder, &error), &error);
  situ_graph_builder_free(builder);
  must(situ_platform_read(&l.platform, platform, &error), &error);
  must(situ_costs_estimate(&l.costs, l.graph, l.platform, &cost, &error), &error);
  return l;
}

lab lab_topcuoglu(void) {
  static const int64_t times[10][3] = {{14, 16, 9}, {13, 19, 18}, {11, 13, 19}, {13, 8, 17},  {12, 13, 10},
                                       {13, 16, 9}, {7, 15, 11},  {5, 11, 14},  {18, 12, 20}, {21, 7, 16}};
  static const int32_t edges[15][3] = {{1, 2, 18}, {1, 3, 12}, {1, 4, 9},   {1, 5, 11},  {1, 6, 14},
                                       {2, 8, 19}, {2, 9, 16}, {3, 7, 23},  {4, 8, 27},  {4, 9, 23},
                                       {5, 9, 13}, {6, 8, 15}, {7, 10, 17}, {8, 10, 11}, {9, 10, 13}};
  lab l = lab_new();
  for (int32_t d = 0; d < 3; d++) lab_device(&l, SITU_UNLIMITED_BYTES, -1, false);
  for (int32_t d = 0; d < 3; d++)
    for (int32_t to = 0; to < 3; to++)
      if (to != d) lab_link(&l, d, to, 0, -1);
  for (int32_t v = 0; v < 10; v++) {
    lab_add(&l, (situ_operator){.colocation = -1, .source_id = v + 1}, 0);
    for (int32_t d = 0; d < 3; d++) l.time_ns[v][d] = times[v][d];
  }
  for (int32_t e = 0; e < 15; e++) lab_tensor(&l, edges[e][0] - 1, edges[e][2], edges[e][1] - 1, -1);
  lab_pose(&l, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE});
  return l;
}

void lab_free(lab *l) {
  situ_problem_free(l->problem);
  situ_costs_free(l->costs);
  situ_platform_free(l->platform);
  situ_graph_free(l->graph);
  situ_graph_builder_free(l->builder);
  arena_free(l->arena);
  free(l->pins);
  free(l->unused);
  *l = (lab){0};
}

situ_instance *lab_published_calls(const char *name) {
  const char *shared = getenv("SITU_SHARED");
  char path[512];
  snprintf(path, sizeof path, "%s/data/workloads/latency/%s.json", shared ? shared : ".", name);
  situ_instance *instance = NULL;
  situ_error error;
  situ_instance_options o = SITU_INSTANCE_OPTIONS_INIT;
  situ_problem_options calls = SITU_PROBLEM_OPTIONS_INIT;
  calls.execution = SITU_EXECUTION_CALLS;
  o.model = path;
  o.problem = &calls;
  if (situ_instance_open(&instance, &o, &error) != SITU_STATUS_OK) skip();
  return instance;
}

double lab_value_ms(situ_plan **plan, const situ_instance *instance, const char *solver) {
  situ_error error;
  situ_solve_options with = SITU_SOLVE_OPTIONS_INIT;
  with.solvers = solver;
  must(situ_solve(plan, situ_instance_problem(instance), &with, &error), &error);
  return (double)(*plan)->value_ns / 1e6;
}
