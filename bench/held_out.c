/* held_out [DRAWS]: plans chosen with and without --robust, under costs that the choice has not seen. A CSV row for
 * each network on two unlike GPUs and a host, and for each way to choose: the best plan found, the default, and
 * --robust. Each is evaluated on DRAWS (1,000) held-out draws at the default uncertainty; the choice saw draws of
 * another seed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "problem/problem.h"
#include "situ.h"
#include "solve/answer/robust.h"

static const char platform[] = "cpu+v100-16g+p100-16g";
static const char *const networks[] = {"randwire-ws", "randwire-er", "randwire-ba",   "inception-v3", "amoebanet-d",
                                       "gnmt",        "rnnlm",       "moe?tokens=64", "wavenet",      "bert-base"};
enum { STEPS = 4000, HELD_OUT_SEED = 20240501 };
static const double UNCERTAINTY = 0.2;

typedef enum way { BEST_FOUND, DEFAULT, ROBUST, WAYS } way;
static const char *const way_name[WAYS] = {"best found", "default", "robust"};

static situ_solve_options options_of(way w) {
  situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
  o.max_steps = STEPS;
  o.tolerance = o.min_gain = o.uncertainty = w == BEST_FOUND ? 0 : SITU_AUTO;
  o.robust = w == ROBUST;
  return o;
}

/* The placement of a plan as the simulator takes it, in the arena. */
static placement placed(const situ_plan *plan, int32_t n, arena *a) {
  const int32_t *order = NULL;
  placement where = {.device = ARENA_NEW(a, int32_t, n)};
  situ_plan_order(plan, &order);
  where.order = ARENA_COPY(a, order, int32_t, n);
  for (int32_t v = 0; v < n; v++) where.device[v] = situ_plan_device(plan, v);
  return where;
}

static situ_status row(const char *network, const situ_problem *p, way w, int32_t draws, situ_error *error) {
  situ_plan *plan = NULL;
  situ_solve_options o = options_of(w);
  situ_robustness r = SITU_ROBUSTNESS_INIT;
  arena *a = arena_new();
  int32_t n = p->n_operators;
  double quantile = 0;
  situ_status status = situ_solve(&plan, p, &o, error);
  if (status == SITU_STATUS_OK) {
    placement where = placed(plan, n, a), single = {.device = ARENA_NEW(a, int32_t, n)};
    for (int32_t v = 0; v < n; v++) single.device[v] = plan->best_single_device;
    budget free = budget_new(0, 0, NULL, NULL);
    bool made = robust_compare(&r, p, &where, &single, UNCERTAINTY, draws, HELD_OUT_SEED, &free, a) &&
                robust_quantiles(&quantile, p, &where, 1, &single, UNCERTAINTY, draws, HELD_OUT_SEED, &free, a);
    if (!made) return SITU_STATUS_NO_MEMORY;
    printf("%s,%s,%.4f,%d,%.3f,%.3f,%.3f,%.3f,%.3f\n", network, way_name[w], (double)plan->value_ns / 1e6,
           (int)plan->n_handovers, (double)plan->best_single_ns / (double)plan->value_ns, quantile, r.speedup_median,
           r.beats_single, (double)r.regret_ns / 1e6);
    fflush(stdout);
  }
  situ_plan_free(plan);
  arena_free(a);
  return status;
}

int main(int argc, char **argv) {
  int32_t draws = argc > 1 ? atoi(argv[1]) : 1000;
  situ_error error = {0};
  puts("network,chosen,latency ms,hand-overs,expected speed-up,10 % quantile,median,beats single,mean regret ms");
  for (size_t k = 0; k < sizeof networks / sizeof networks[0]; k++) {
    char model[64];
    situ_instance *instance = NULL;
    situ_instance_options o = SITU_INSTANCE_OPTIONS_INIT;
    snprintf(model, sizeof model, "builtin:%s", networks[k]);
    o.model = model;
    o.platform = platform;
    o.granularity = SITU_GRANULARITY_DEFAULT;
    situ_status status = situ_instance_open(&instance, &o, &error);
    for (int w = 0; w < WAYS && status == SITU_STATUS_OK; w++)
      status = row(networks[k], situ_instance_problem(instance), (way)w, draws, &error);
    situ_instance_free(instance);
    if (status == SITU_STATUS_OK) continue;
    fprintf(stderr, "held_out: %s %s\n", error.where, error.text);
    return 1;
  }
  return 0;
}
