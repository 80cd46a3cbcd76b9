/* Random layered graphs of 8 to 40 operators on three unlike devices, links without contention: what bounds and exact
 * methods make of them. Prints CSV: values in microseconds, user seconds behind them.
 *
 *     layered [SECONDS [SEED...]]      for each method; default 30 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "bound/bound.h"
#include "bound/linear_relaxation.h"
#include "cost/cost_models.h"
#include "graph/builder.h"
#include "plan/plan.h"
#include "situ.h"

enum { DEVICES = 3 };
static const int32_t sizes[] = {8, 12, 16, 20, 24, 30, 40};

typedef struct world {
  situ_graph *graph;
  situ_platform *platform;
  situ_costs *costs;
  situ_problem *problem;
} world;

static void must(situ_status status, const situ_error *error) {
  if (status == SITU_STATUS_OK) return;
  fprintf(stderr, "layered: %s\n", error->text);
  exit(1);
}

/* Layers of 2 to 4; each operator reads from 1 to 3 of the layer before. */
static void make_graph(world *w, int32_t n, rng *r) {
  situ_error error;
  situ_graph_builder *b;
  must(situ_graph_builder_new(&b, "layered", &error), &error);
  int32_t tensor[64], before = 0, before_end = 0;
  for (int32_t first = 0; first < n;) {
    int32_t end = first + 2 + (int32_t)rng_below(r, 3);
    if (end > n) end = n;
    for (int32_t v = first; v < end; v++) {
      situ_operator o = {.colocation = -1};
      situ_tensor t = {.rank = -1, .size_bytes = 1000 * (5 + rng_below(r, 46))};
      must(builder_add_operator(b, &o, NULL, &error), &error);
      must(builder_add_tensor(b, v, &t, &tensor[v], &error), &error);
      int32_t width = before_end - before, degree = width > 0 ? 1 + (int32_t)rng_below(r, width < 3 ? width : 3) : 0;
      int32_t from = width > 0 ? (int32_t)rng_below(r, width) : 0;
      for (int32_t k = 0; k < degree; k++)
        must(builder_add_use(b, v, tensor[before + (from + k) % width], &error), &error);
    }
    before = first;
    before_end = end;
    first = end;
  }
  must(situ_graph_freeze(&w->graph, b, &error), &error);
  situ_graph_builder_free(b);
}

static world make_world(int32_t n, uint64_t seed) {
  static const char *const names[DEVICES] = {"a", "b", "c"};
  world w = {0};
  situ_error error;
  rng r = rng_new(seed * 7919 + (uint64_t)n);
  situ_device devices[DEVICES];
  situ_link links[DEVICES * DEVICES];
  int32_t n_links = 0;
  make_graph(&w, n, &r);
  for (int32_t d = 0; d < DEVICES; d++) {
    devices[d] = (situ_device){.name = names[d],
                               .class_name = names[d],
                               .memory_bytes_per_s = 1e9,
                               .memory_bytes = SITU_UNLIMITED_BYTES,
                               .shares_memory_with = -1};
    devices[d].peak_flops[SITU_DTYPE_F32] = 1e9;
    for (int32_t to = 0; to < DEVICES; to++)
      if (to != d) links[n_links++] = (situ_link){.from_device = d, .to_device = to, .bytes_per_s = 1e9, .channel = -1};
  }
  must(platform_new(&w.platform, "three", devices, DEVICES, links, n_links, &error), &error);
  must(costs_new_with_transfers(&w.costs, w.graph, w.platform, NULL, &error), &error);
  for (int32_t v = 0; v < n; v++)
    for (int32_t k = 0; k < DEVICES; k++) w.costs->time_ns[v * DEVICES + k] = 1000 * (10 + rng_below(&r, 91));
  situ_problem_options options = {
      .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE};
  must(situ_problem_pose(&w.problem, w.graph, w.platform, w.costs, &options, &error), &error);
  return w;
}

static void free_world(world *w) {
  situ_problem_free(w->problem);
  situ_costs_free(w->costs);
  situ_platform_free(w->platform);
  situ_graph_free(w->graph);
}

static double user_seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static int64_t print_solver(const world *w, const char *names, double seconds) {
  situ_plan *plan;
  situ_error error;
  situ_solve_options o = {.size = sizeof(situ_solve_options), .solvers = names, .time_limit_s = seconds};
  double before = user_seconds();
  must(situ_solve(&plan, w->problem, &o, &error), &error);
  int64_t value = plan->value_ns, lower = plan->lower_bound_ns;
  printf(",%.1f%s (%.1f)", (double)value / 1e3, value == lower ? " proved" : "", user_seconds() - before);
  situ_plan_free(plan);
  return value;
}

static void print_bounds(const world *w, int64_t known_ns) {
  arena *a = arena_new();
  budget unlimited = budget_new(0, 0, NULL, NULL);
  for (int32_t i = 0; bounds[i]; i++) {
    certificate proof = {0};
    int64_t lower = 0;
    if (bounds[i]->models & MODEL_STREAM)
      must(bounds[i]->compute(&lower, &proof, w->problem, a, &unlimited, NULL), NULL);
    if (bounds[i]->models & MODEL_STREAM) printf(",%.1f", (double)lower / 1e3);
  }
  certificate proof = {0};
  int64_t lower;
  if (!linear_relaxation_find(&lower, &proof, w->problem, known_ns, INT32_MAX, a, &unlimited)) exit(1);
  printf(",%.1f", (double)lower / 1e3);
  arena_free(a);
}

int main(int argc, char **argv) {
  double seconds = argc > 1 ? atof(argv[1]) : 30;
  printf("operators,seed");
  for (int32_t i = 0; bounds[i]; i++)
    if (bounds[i]->models & MODEL_STREAM) printf(",%s", bounds[i]->name);
  printf(",the same below the best plan,heft,tabu (s),milp (s)\n");
  for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
    for (int s = 2; s < (argc > 2 ? argc : 4); s++) {
      uint64_t seed = argc > 2 ? (uint64_t)atoll(argv[s]) : (uint64_t)s - 1;
      world w = make_world(sizes[k], seed);
      situ_plan *plan;
      situ_error error;
      situ_solve_options o = {.size = sizeof(situ_solve_options), .solvers = "heft,tabu", .time_limit_s = seconds};
      must(situ_solve(&plan, w.problem, &o, &error), &error);
      printf("%d,%d", (int)sizes[k], (int)seed);
      print_bounds(&w, plan->value_ns);
      print_solver(&w, "heft", seconds);
      print_solver(&w, "heft,tabu", seconds / 3);
      print_solver(&w, "heft,milp", seconds);
      printf("\n");
      fflush(stdout);
      situ_plan_free(plan);
      free_world(&w);
    }
  return 0;
}
