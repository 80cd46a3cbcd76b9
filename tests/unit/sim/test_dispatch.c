/* Sequences that arise from ready queues. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "base/checked.h"
#include "base/rng.h"
#include "plan/plan.h"
#include "sim/simulate.h"
#include "situ/solve.h"
#include "solve/stream/sequence.h"

enum { N_PROBLEMS = 400, MAX_N = 16 };

typedef struct draw {
  lab l;
  int32_t device[MAX_N];
  double priority[MAX_N];
} draw;

/* A stream problem, devices that can run what they are given, and priorities with ties. */
static draw draw_problem(uint64_t seed) {
  rng random = rng_new(seed);
  lab_options o = {.seed = seed,
                   .n_operators = 2 + (int32_t)rng_below(&random, MAX_N - 1),
                   .n_devices = 2 + (int32_t)rng_below(&random, 3),
                   .density = 0.1 + 0.3 * rng_unit(&random)};
  o.options.objective = SITU_OBJECTIVE_LATENCY;
  draw x = {.l = lab_random(&o)};
  for (int32_t v = 0; v < o.n_operators; v++) {
    x.device[v] = (int32_t)rng_below(&random, o.n_devices);
    x.priority[v] = (double)rng_below(&random, 6);
  }
  return x;
}

/* When the last input of v is in its memory, by the transfers of the plan. */
static int64_t ready_ns(const situ_problem *p, const situ_plan *plan, int32_t v) {
  const situ_graph *g = p->graph;
  int64_t ready = 0;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t t = g->in[i], to = p->memory_of[plan->device[v]];
    ready = max64(ready, plan->finish_ns[g->producer[t]]);
    for (int32_t k = 0; k < plan->n_transfers; k++)
      if (plan->transfers[k].tensor == t && plan->transfers[k].to_memory == to)
        ready = max64(ready, plan->transfers[k].finish_ns);
  }
  return ready;
}

static void judge(const situ_problem *p, const situ_plan *plan, const double *priority, int32_t v) {
  int64_t ready = ready_ns(p, plan, v), busy = 0;
  for (int32_t x = 0; x < p->n_operators; x++) {
    if (plan->device[x] != plan->device[v] || x == v) continue;
    int64_t from = max64(plan->start_ns[x], ready), to = min64(plan->finish_ns[x], plan->start_ns[v]);
    if (to > from) busy += to - from;
    if (plan->start_ns[x] > ready && plan->start_ns[x] < plan->start_ns[v]) assert_true(priority[x] >= priority[v]);
  }
  if (plan->start_ns[v] > ready) assert_int_equal(busy, plan->start_ns[v] - ready); /* never idle while v waits */
}

TEST(no_device_waits_for_what_is_ready) {
  for (uint64_t seed = 0; seed < N_PROBLEMS; seed++) {
    draw x = draw_problem(seed);
    const situ_problem *p = x.l.problem;
    arena *a = arena_new();
    int32_t order[MAX_N];
    int64_t time = simulator_dispatch(simulator_new(p, a), x.device, x.priority, order, SITU_NEVER_NS);
    situ_plan *plan;
    situ_error error;
    assert_true(time < SITU_NEVER_NS);
    if (situ_simulate(&plan, p, x.device, order, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
    assert_int_equal(plan->value_ns, time); /* the strict sequence takes as long */
    for (int32_t v = 0; v < p->n_operators; v++) judge(p, plan, x.priority, v);
    situ_plan_free(plan);
    arena_free(a);
    lab_free(&x.l);
  }
}

TEST(what_cannot_run_is_never_done) {
  OWN(lab)
  l = lab_random(&(lab_options){.seed = 3,
                                .n_operators = 8,
                                .n_devices = 3,
                                .density = 0.3,
                                .unsupported = true,
                                .options.objective = SITU_OBJECTIVE_LATENCY});
  const situ_problem *p = l.problem;
  OWN(arena) *a = arena_new();
  simulator *s = simulator_new(p, a);
  int32_t device[8] = {0}, order[8], tried = 0;
  double priority[8] = {0};
  for (int32_t v = 0; v < 8; v++)
    for (int32_t d = 0; d < 3; d++) {
      if (problem_time_ns(p, v, d) < SITU_NEVER_NS) continue;
      device[v] = d;
      assert_true(simulator_dispatch(s, device, priority, order, SITU_NEVER_NS) == SITU_NEVER_NS);
      device[v] = 0;
      tried++;
    }
  assert_true(tried > 0);
  assert_true(simulator_dispatch(s, device, priority, order, SITU_NEVER_NS) <
              SITU_NEVER_NS); /* and nothing is left of that */
}

/* What a dispatch with a limit returns is the lesser of both; below the limit the order is the same. */
TEST(a_limit_ends_what_takes_as_long) {
  int32_t n_below = 0, n_ended = 0;
  for (uint64_t seed = 0; seed < N_PROBLEMS; seed++) {
    draw x = draw_problem(seed);
    arena *a = arena_new();
    simulator *s = simulator_new(x.l.problem, a);
    rng random = rng_new(seed);
    int32_t whole[MAX_N], order[MAX_N];
    int64_t time = simulator_dispatch(s, x.device, x.priority, whole, SITU_NEVER_NS);
    int64_t limits[] = {0, 1, time / 2, time - 1, time, time + 1, (int64_t)rng_below(&random, time + 1)};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
      int64_t found = simulator_dispatch(s, x.device, x.priority, order, limits[k]);
      assert_true(found == min64(time, limits[k]));
      n_ended += time >= limits[k];
      if (time >= limits[k]) continue;
      n_below++;
      assert_memory_equal(order, whole, (size_t)x.l.problem->n_operators * sizeof *order);
    }
    arena_free(a);
    lab_free(&x.l);
  }
  assert_true(n_below >= N_PROBLEMS && n_ended >= N_PROBLEMS);
}

TEST(a_sequence_is_found_without_contention_too) {
  for (uint64_t seed = 0; seed < 100; seed++) {
    lab_options o = {.seed = seed, .n_operators = 10, .n_devices = 3, .density = 0.2};
    o.options.objective = SITU_OBJECTIVE_LATENCY;
    o.options.contention = seed % 2 ? SITU_CONTENTION_NONE : SITU_CONTENTION_LINK;
    OWN(lab) l = lab_random(&o);
    OWN(arena) *a = arena_new();
    simulator *s = simulator_new(l.problem, a);
    rng random = rng_new(seed);
    int32_t device[10], order[10];
    for (int32_t v = 0; v < 10; v++) device[v] = (int32_t)rng_below(&random, 3);
    assert_true(sequence_find(order, s, l.problem, device, a));
    assert_true(simulator_run(s, &(placement){.device = device, .order = order}, true).value_ns < SITU_NEVER_NS);
  }
}

TEST_MAIN
