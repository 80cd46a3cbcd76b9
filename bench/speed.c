/* Speed of the inner parts, measured in this process: `speed simulate|heft|read ARGUMENTS`. Each prints rows for a
 * table; bench/run.sh puts them together. Figures are the best of several runs, so that a noisy machine disturbs them
 * least. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/rng.h"
#include "graph/graph.h"
#include "read/reader.h"
#include "sim/simulate.h"
#include "situ.h"
#include "solve/stream/list.h"
#include "solve/stream/rank.h"

static long peak_megabytes(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

static int failed(const char *what, const situ_error *error) {
  fprintf(stderr, "speed: %s: %s %s\n", what, error->where, error->text);
  return 1;
}

/* costs: a table of times, or NULL. */
static situ_status open_model(situ_instance **out, const char *model, const char *platform, const char *costs,
                              situ_contention contention, situ_error *error) {
  situ_instance_options options = {
      .size = sizeof(situ_instance_options),
      .model = model,
      .platform = *platform ? platform : NULL, /* "": that of the file */
      .cost = &(situ_cost_options){.size = sizeof(situ_cost_options), .fusion = "none", .table_path = costs},
      .problem = &(situ_problem_options){.size = sizeof(situ_problem_options), .contention = contention}};
  return situ_instance_open(out, &options, error);
}

/* Million operators + edges a second, with a placement that keeps runs of 16 operators together. */
static int simulate(const char *model, const char *platform, const char *costs, situ_contention contention,
                    bool memory) {
  situ_error error = {0};
  situ_instance *instance = NULL;
  if (open_model(&instance, model, platform, costs, contention, &error) != SITU_STATUS_OK) return failed(model, &error);
  const situ_problem *problem = situ_instance_problem(instance);
  const situ_graph *graph = situ_problem_graph(problem);
  int32_t n = graph->n_operators;
  arena *a = arena_new();
  simulator *s = simulator_new(problem, a);
  placement where = {.device = ARENA_NEW(a, int32_t, n)};
  rng random = rng_new(1);
  int32_t device = 0;
  for (int32_t v = 0; v < n; v++) {
    if (rng_below(&random, 16) == 0) device = (int32_t)rng_below(&random, problem->n_devices);
    where.device[v] = device;
  }
  int64_t best_ns = INT64_MAX, value_ns = 0;
  for (int run = 0; run < 15; run++) {
    int64_t start_ns = clock_now_ns();
    value_ns = simulator_run(s, &where, memory).value_ns;
    int64_t took_ns = clock_now_ns() - start_ns;
    if (took_ns < best_ns) best_ns = took_ns;
  }
  double items = (double)n + (double)graph->n_edges;
  printf("| %s | %s | %s | %d | %lld | %.1f | %.3f |\n", model, contention == SITU_CONTENTION_LINK ? "link" : "none",
         memory ? "yes" : "no", n, (long long)graph->n_edges, items / (double)best_ns * 1e3, (double)value_ns / 1e6);
  arena_free(a);
  situ_instance_free(instance);
  return 0;
}

/* One schedule by HEFT with mean ranks: ranks, list scheduling with gaps, no simulation. Best of three. */
static int64_t schedule_ns(const situ_problem *problem) {
  int64_t best_ns = INT64_MAX;
  for (int round = 0; round < 3; round++) {
    arena *a = arena_new();
    double *rank = ARENA_NEW(a, double, problem->n_operators);
    partial_schedule s;
    rank_costs costs;
    budget unlimited = budget_new(0, 0, NULL, NULL);
    int64_t start_ns = clock_now_ns();
    bool good = rank && partial_init(&s, problem, a) && rank_costs_find(&costs, a, problem, RANK_MEAN);
    if (good) rank_upward(rank, problem, &costs);
    if (!good || !list_schedule(&s, &(list_policy){.priority = rank}, &unlimited, a)) return -1;
    best_ns = min64(best_ns, clock_now_ns() - start_ns);
    arena_free(a);
  }
  return best_ns;
}

/* HEFT's schedule alone, and the whole command with it: making the graph, costs, bounds, simulation, check. */
static int heft(const char *model, const char *platform) {
  situ_error error = {0};
  situ_instance *instance = NULL;
  situ_plan *plan = NULL;
  int64_t start_ns = clock_now_ns();
  if (open_model(&instance, model, platform, NULL, SITU_CONTENTION_LINK, &error) != SITU_STATUS_OK)
    return failed(model, &error);
  const situ_problem *problem = situ_instance_problem(instance);
  const situ_graph *graph = situ_problem_graph(problem);
  situ_solve_options options = {.size = sizeof(situ_solve_options), .solvers = "heft", .time_limit_s = 600};
  if (situ_solve(&plan, problem, &options, &error) != SITU_STATUS_OK) return failed(model, &error);
  int64_t whole_ns = clock_now_ns() - start_ns, alone_ns = schedule_ns(problem);
  double items = (double)graph->n_operators + (double)graph->n_edges;
  printf("| %d | %lld | %.3f | %.4f | %.0f | %ld |\n", graph->n_operators, (long long)graph->n_edges,
         (double)whole_ns / 1e9, (double)alone_ns / 1e9, (double)alone_ns / items, peak_megabytes());
  situ_plan_free(plan);
  situ_instance_free(instance);
  return 0;
}

static int read_file(const char *path) {
  situ_error error = {0};
  int64_t best_ns = INT64_MAX;
  int32_t n = 0;
  for (int run = 0; run < 3; run++) {
    situ_model *model = NULL;
    int64_t start_ns = clock_now_ns();
    if (situ_model_read(&model, path, NULL, &error) != SITU_STATUS_OK) return failed(path, &error);
    int64_t took_ns = clock_now_ns() - start_ns;
    if (took_ns < best_ns) best_ns = took_ns;
    n = model->graph->n_operators;
    situ_model_free(model);
  }
  const char *name = strrchr(path, '/');
  printf("| %s | %d | %.2f | %.0f | %ld |\n", name ? name + 1 : path, n, (double)best_ns / 1e6,
         (double)best_ns / (n ? n : 1), peak_megabytes());
  return 0;
}

int main(int argc, char **argv) {
  if (argc >= 4 && strcmp(argv[1], "simulate") == 0) {
    const char *costs = argc >= 5 ? argv[4] : NULL;
    int bad = 0;
    for (int memory = 0; memory < 2; memory++) {
      bad |= simulate(argv[2], argv[3], costs, SITU_CONTENTION_NONE, memory);
      bad |= simulate(argv[2], argv[3], costs, SITU_CONTENTION_LINK, memory);
    }
    return bad;
  }
  if (argc >= 4 && strcmp(argv[1], "heft") == 0) return heft(argv[2], argv[3]);
  if (argc >= 3 && strcmp(argv[1], "read") == 0) return read_file(argv[2]);
  fprintf(stderr, "usage: speed simulate MODEL PLATFORM [COSTS] | heft MODEL PLATFORM | read FILE\n");
  return 2;
}
