/* The cut-vertex bound and the block dynamic program: against brute force on graphs of blocks, and on layer graphs with
 * three unlike devices at several scales of transfers (skipped without the shared data). With SITU_TABLE=1 in the
 * environment the table of docs/theory/exact/block_dp.md is printed. */
#include "../../../lab/lab.h"
#include "../../../lab/proved.h"
#include "../../../lab/test.h"
#include "../../../lab/tier.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/rng.h"
#include "bound/bound.h"
#include "cost/cost_models.h"
#include "exact/thin_graph.h"
#include "plan/plan.h"
#include "read/reader.h"
#include "sim/simulate.h"
#include "solve/common/solver.h"

extern const reader workload_reader;
extern const bound critical_path_bound, area_bound, cut_vertex_bound;

/* ---- layer graphs on a CPU and two unlike GPUs ---- */

typedef struct layers {
  read_result model;
  situ_platform *platform;
  situ_costs *costs;
  situ_problem *problem;
} layers;

static situ_platform *three_devices(void) {
  situ_device devices[3] = {{.name = "cpu", .class_name = "cpu", .is_host = true},
                            {.name = "gpu0", .class_name = "gpu0"},
                            {.name = "gpu1", .class_name = "gpu1"}};
  situ_link links[6];
  int32_t n = 0;
  for (int32_t a = 0; a < 3; a++) {
    devices[a].memory_bytes_per_s = 1e9;
    devices[a].memory_bytes = SITU_UNLIMITED_BYTES;
    devices[a].shares_memory_with = -1;
    devices[a].peak_flops[SITU_DTYPE_F32] = 1e9;
    for (int32_t b = 0; b < 3; b++)
      if (a != b)
        links[n++] =
            (situ_link){.from_device = a, .to_device = b, .bytes_per_s = a > 0 && b > 0 ? 1e9 : 1.5e9, .channel = -1};
  }
  situ_platform *out;
  situ_error e;
  assert_int_equal(platform_new(&out, "three", devices, 3, links, 6, &e), SITU_STATUS_OK);
  return out;
}

/* gpu1 takes 0.7 to 1.6 times as long as gpu0; transfers are scale x the given cost, half as much again between GPUs.
 */
static bool open_layers(layers *l, const char *name, double scale, situ_contention contention) {
  const char *shared = getenv("SITU_SHARED");
  char path[600];
  snprintf(path, sizeof path, "%s/data/workloads/throughput/%s.json", shared ? shared : ".", name);
  file_view view;
  situ_error e = {0};
  *l = (layers){0};
  if (file_open(&view, path, &e) != SITU_STATUS_OK) return false;
  situ_read_options options = {.size = sizeof(situ_read_options), .default_dim = 1};
  read_source source = {.path = path, .bytes = view.bytes, .size_bytes = view.size_bytes, .options = &options};
  if (workload_reader.read(&l->model, &source, &e) != SITU_STATUS_OK) fail_msg("%s: %s", e.where, e.text);
  file_close(&view);
  const situ_graph *g = l->model.graph;
  const situ_costs *given = l->model.costs;
  l->platform = three_devices();
  assert_int_equal(costs_new_with_transfers(&l->costs, g, l->platform, NULL, &e), SITU_STATUS_OK);
  int32_t host = l->model.platform->class_of[l->model.platform->n_devices - 1];
  for (int32_t d = 0; d < l->model.platform->n_devices; d++)
    if (l->model.platform->devices[d].is_host) host = l->model.platform->class_of[d];
  int32_t fast = 1 - host, kinds = l->costs->n_kinds, far = l->costs->pair_kind[1 * 3 + 2];
  rng r = rng_new(7);
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t *row = l->costs->time_ns + (int64_t)v * 3, on_gpu = given->time_ns[v * given->n_classes + fast];
    row[l->platform->class_of[0]] = given->time_ns[v * given->n_classes + host];
    row[l->platform->class_of[1]] = on_gpu;
    row[l->platform->class_of[2]] =
        on_gpu == SITU_NEVER_NS ? on_gpu : (int64_t)((double)on_gpu * (0.7 + 0.9 * rng_unit(&r)));
  }
  for (int32_t t = 0; t < g->n_tensors; t++)
    for (int32_t k = 1; k < kinds; k++)
      l->costs->transfer_ns[t][k] = sat_round((double)given->transfer_ns[t][1] * scale * (k == far ? 1.5 : 1));
  costs_find_extremes(l->costs);
  situ_problem_options posed = {
      .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .contention = contention};
  assert_int_equal(situ_problem_pose(&l->problem, g, l->platform, l->costs, &posed, &e), SITU_STATUS_OK);
  return true;
}

static void close_layers(layers *l) {
  situ_problem_free(l->problem);
  situ_costs_free(l->costs);
  situ_platform_free(l->platform);
  situ_costs_free(l->model.costs);
  situ_platform_free(l->model.platform);
  situ_graph_free(l->model.graph);
  text_free(&l->model.notes);
}

static int64_t value_of(const bound *row, const situ_problem *p) {
  arena *a = arena_new();
  int64_t lower = proved_bound(NULL, row, p, a);
  arena_free(a);
  return lower;
}

/* Returns the gap as a part of the value. */
static double solve_layers(const char *name, double scale, situ_contention contention, const char *solvers_,
                           double limit_s) {
  layers l;
  if (!open_layers(&l, name, scale, contention)) skip();
  situ_plan *plan;
  situ_error e;
  situ_solve_options o = {.size = sizeof(situ_solve_options), .solvers = solvers_, .time_limit_s = limit_s};
  int64_t start = clock_now_ns();
  if (situ_solve(&plan, l.problem, &o, &e) != SITU_STATUS_OK) fail_msg("%s", e.text);
  double seconds = (double)(clock_now_ns() - start) / 1e9;
  int64_t value = plan->value_ns, lower = plan->lower_bound_ns;
  double gap = value > 0 ? (double)(value - lower) / (double)value : 0;
  if (getenv("SITU_TABLE"))
    printf("%-38s %6.3f %-4s %10.4f %10.4f %10.4f %10.4f %10.4f %10.4f %6.2f%% %7.3fs\n", name, scale,
           contention == SITU_CONTENTION_NONE ? "none" : "link", (double)value / 1e6,
           (double)plan->best_single_ns / 1e6, (double)value_of(&critical_path_bound, l.problem) / 1e6,
           (double)value_of(&area_bound, l.problem) / 1e6, (double)value_of(&cut_vertex_bound, l.problem) / 1e6,
           (double)lower / 1e6, 100 * gap, seconds);
  fflush(stdout);
  situ_plan_free(plan);
  close_layers(&l);
  return gap;
}

/* Proofs take tenths of a second; the limit is for machines that are very busy. */
static const double PROOF_LIMIT_S = 60;
static const double scales[] = {0, 0.005, 0.02, 0.1, 0.3, 1, 10, 100};

TEST(layer_graphs_are_proved_optimal) {
  static const char *const names[] = {"LayerGraphs/resnet50_inference", "LayerGraphs/bert24_inference"};
  const int32_t step = rounds_of(100) < 100 ? 3 : 1; /* of the scales some in make test */
  for (int32_t i = 0; i < 2; i++)
    for (int32_t k = i % step; k < 8; k += step)
      for (int32_t c = 0; c < 2; c++) {
        situ_contention contention = c == 0 ? SITU_CONTENTION_NONE : SITU_CONTENTION_LINK;
        if (solve_layers(names[i], scales[k], contention, "auto", PROOF_LIMIT_S) > 0)
          fail_msg("%s at %g is not proved optimal", names[i], scales[k]);
      }
}

TEST(table_of_hard_graphs) {
  if (!getenv("SITU_TABLE")) skip();
  const char *only = getenv("SITU_ONLY"), *with = getenv("SITU_WITH"), *limit = getenv("SITU_LIMIT");
  static const char *const names[] = {"LayerGraphs/inceptionv3_inference",  "OperatorGraphs/resnet50_inference",
                                      "OperatorGraphs/bert_l-3_inference",  "OperatorGraphs/bert_l-6_inference",
                                      "OperatorGraphs/bert_l-12_inference", "LayerGraphs/gnmt_inference"};
  for (int32_t i = 0; i < 6; i++)
    for (int32_t k = 2; k < 6 && (!only || strstr(names[i], only)); k++)
      for (int32_t c = 0; c < 2; c++)
        solve_layers(names[i], scales[k], c == 0 ? SITU_CONTENTION_NONE : SITU_CONTENTION_LINK, with ? with : "auto",
                     limit ? strtod(limit, NULL) : 10);
}

/* ---- thin graphs ---- */

TEST(cuts_are_the_operators_that_all_others_come_before_or_after) {
  lab l = lab_topcuoglu();
  arena *a = arena_new();
  thin_graph g;
  int32_t cut[10];
  assert_true(thin_whole(&g, l.problem, a));
  assert_int_equal(thin_cuts(cut, &g, a), 2); /* task 1 and task 10 */
  assert_int_equal(l.graph->source_id[cut[0]], 1);
  assert_int_equal(l.graph->source_id[cut[1]], 10);
  arena_free(a);
  lab_free(&l);
}

/* Task 7 takes 7, 15, 11; it gets 23 from task 3 and gives 17 to task 10. */
TEST(a_deleted_operator_still_takes_its_time_on_the_way) {
  lab l = lab_topcuoglu();
  arena *a = arena_new();
  thin_graph whole, g;
  bool deleted[10];
  assert_true(thin_whole(&whole, l.problem, a));
  for (int32_t v = 0; v < 10; v++) deleted[v] = l.graph->source_id[v] == 7;
  assert_true(thin_delete(&g, &whole, deleted, a));
  assert_int_equal(g.n, 9);
  const int64_t *way = NULL;
  for (int32_t t = 0; t < g.n_tensors; t++) {
    if (!g.transfer_ns[t]) continue;
    assert_null(way); /* there is one */
    way = g.transfer_ns[t];
    assert_int_equal(l.graph->source_id[g.operator_of[g.producer[t]]], 3);
    assert_int_equal(l.graph->source_id[g.operator_of[g.use[g.use_start[t]]]], 10);
  }
  assert_non_null(way);
  assert_int_equal(way[0 * 3 + 0], 7);       /* all on the first device */
  assert_int_equal(way[0 * 3 + 1], 7 + 17);  /* task 7 on the first, then over */
  assert_int_equal(way[1 * 3 + 1], 15);      /* all on the second: less than 23 + 7 + 15 */
  assert_int_equal(way[1 * 3 + 2], 15 + 17); /* task 7 on the second, then over: less than 23 + 11 */
  arena_free(a);
  lab_free(&l);
}

/* HEFT ends at 80; the block dynamic program proves its own value, which the schedule of HEFT bounds. */
TEST(the_example_of_topcuoglu_is_solved_to_proof) {
  lab l = lab_topcuoglu();
  situ_plan *plan;
  situ_error e;
  situ_solve_options o = {.size = sizeof(situ_solve_options), .solvers = "block_dp"};
  assert_int_equal(situ_solve(&plan, l.problem, &o, &e), SITU_STATUS_OK);
  assert_true(plan->value_ns < 80);
  assert_int_equal(plan->value_ns, plan->lower_bound_ns);
  if (getenv("SITU_TABLE")) printf("topcuoglu: %lld\n", (long long)plan->value_ns);
  situ_plan_free(plan);
  lab_free(&l);
}

/* States of equal devices are sorted, and the plan has to find its way back through who was who. */
TEST(plans_of_equal_devices_are_as_good_as_the_search_says) {
  int32_t n_proved = 0, seeds = rounds_of(300);
  for (uint64_t seed = 1; seed <= (uint64_t)seeds; seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 6 + (int32_t)(seed % 4),
                     .n_devices = 5,
                     .density = 0.3,
                     .equal = true,
                     .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE}};
    lab l = lab_random(&o);
    situ_plan *plan;
    situ_solve_options with = {.size = sizeof(situ_solve_options), .solvers = "block_dp"};
    assert_int_equal(situ_solve(&plan, l.problem, &with, NULL), SITU_STATUS_OK);
    n_proved += plan->lower_bound_ns == plan->value_ns;
    situ_plan_free(plan);
    lab_free(&l);
  }
  assert_int_equal(n_proved, seeds);
}

TEST_MAIN
