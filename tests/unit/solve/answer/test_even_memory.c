/* Language models on equal devices: no plan that is nearly as fast leaves the fuller of two neighbours emptier. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "../../../lab/tier.h"
#include "situ/solve.h"

enum { LAYERS = 8, PER_LAYER = 2 };
static const double TOLERANCE = 0.05;

typedef struct model {
  lab s;
  int32_t layer[LAYERS][PER_LAYER], embedding, head;
} model;

static int32_t add(model *m, rng *r, const char *name, int32_t layer, int32_t after, int64_t weight, int64_t time_ns) {
  int32_t v = lab_add(
      &m->s,
      (situ_operator){.name = name, .kind = "MatMul", .source_id = -1, .colocation = layer, .weight_bytes = weight},
      time_ns);
  m->s.time_ns[v][0] = 50 * time_ns; /* the host */
  if (after >= 0) lab_tensor(&m->s, after, 1 + rng_below(r, 5), v, -1);
  return v;
}

/* Layers of unlike size, each kept whole; two or three equal devices, of which one alone cannot hold the model. */
static model random_model(rng *r) {
  model m = {.s = lab_new()};
  int64_t sum = 0, weight[LAYERS];
  int n_devices = 2 + (int)rng_below(r, 2);
  for (int k = 0; k < LAYERS; k++) sum += weight[k] = 100 + 2 * rng_below(r, 400);
  m.s.alike = true;
  lab_device(&m.s, SITU_UNLIMITED_BYTES, -1, true);
  for (int d = 0; d < n_devices; d++)
    lab_device(&m.s, sum / n_devices + 200 + rng_below(r, sum / n_devices), -1, false);
  for (int32_t d = 2; d <= n_devices; d++) m.s.devices[d].memory_bytes = m.s.devices[1].memory_bytes;
  for (int32_t a = 0; a <= n_devices; a++)
    for (int32_t b = 0; b <= n_devices; b++)
      if (a != b) lab_link(&m.s, a, b, 1, -1);
  int32_t before = m.embedding = add(&m, r, "embed", -1, -1, 20, 10);
  for (int k = 0; k < LAYERS; k++)
    for (int i = 0; i < PER_LAYER; i++) {
      char name[32];
      snprintf(name, sizeof name, "model.layers.%d.%s", k, i ? "mlp" : "attn");
      before = m.layer[k][i] = add(&m, r, name, k, before, weight[k] / PER_LAYER, 100 + rng_below(r, 100));
    }
  m.head = add(&m, r, "lm_head", -1, before, 30, 20);
  lab_pose(&m.s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .overlap = SITU_OVERLAP_NONE});
  ((situ_graph *)(uintptr_t)m.s.problem->graph)->cache_tokens = 100; /* a language model, by its caches */
  return m;
}

static int64_t held_bytes(const model *m, const int32_t *device, int32_t d) {
  int64_t bytes = 0;
  for (int32_t v = 0; v < m->s.graph->n_operators; v++)
    if (device[v] == d) bytes += m->s.graph->weight_bytes[v];
  return bytes;
}

/* Value of a placement that fits, else never. */
static int64_t value_of(const model *m, int32_t *device) {
  simulation found = simulator_run(m->s.simulator, &(placement){.device = device}, true);
  return found.excess_bytes == 0 ? found.value_ns : SITU_NEVER_NS;
}

/* Tries all plans that move the boundary before layer `at` by any number of layers, and leave some on both sides. */
static void expect_no_better(const model *m, const situ_plan *plan, const int32_t *of, int32_t at, uint64_t seed) {
  const int32_t *built = m->s.graph->built_index; /* numbers of operators as they were added */
  int32_t a = of[at - 1], b = of[at], n = m->s.graph->n_operators;
  double limit = (1 + TOLERANCE) * (double)plan_best_found_ns(plan);
  int64_t at_a = held_bytes(m, plan->device, a), at_b = held_bytes(m, plan->device, b);
  int64_t fuller = at_a > at_b ? at_a : at_b;
  int32_t first = at - 1, last = at;
  while (first > 0 && of[first - 1] == a) first--;
  while (last + 1 < LAYERS && of[last + 1] == b) last++;
  for (int32_t cut = first + 1; cut <= last; cut++) {
    int32_t device[LAB_MAX_OPERATORS];
    for (int32_t v = 0; v < n; v++) {
      device[v] = plan->device[v];
      for (int32_t k = first; k <= last; k++)
        for (int i = 0; i < PER_LAYER; i++)
          if (built[v] == m->layer[k][i]) device[v] = k < cut ? a : b;
    }
    int64_t x = held_bytes(m, device, a), y = held_bytes(m, device, b), value = value_of(m, device);
    if ((double)value <= limit && (x > y ? x : y) < fuller)
      fail_msg("seed %d: %lld and %lld bytes, but %lld and %lld in %lld ns of %.0f", (int)seed, (long long)at_a,
               (long long)at_b, (long long)x, (long long)y, (long long)value, limit);
  }
}

TEST(neighbours_are_as_even_as_the_tolerance_allows) {
  int32_t rounds = rounds_of(300), n_boundaries = 0, n_evened = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds; seed++) {
    rng r = rng_new(seed);
    model m = random_model(&r);
    situ_plan *plan = NULL;
    situ_error error = {0};
    int32_t of[LAYERS];
    situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
    o.max_steps = 400;
    o.tolerance = TOLERANCE;
    if (situ_solve(&plan, m.s.problem, &o, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
    const int32_t *built = m.s.graph->built_index;
    for (int32_t v = 0; v < m.s.graph->n_operators && plan->device; v++)
      for (int k = 0; k < LAYERS; k++)
        if (built[v] == m.layer[k][0]) of[k] = plan->device[v];
    for (int32_t k = 1; k < LAYERS && plan->device; k++)
      if (of[k] != of[k - 1] && of[k] > 0 && of[k - 1] > 0) {
        n_boundaries++;
        expect_no_better(&m, plan, of, k, seed);
      }
    n_evened += strcmp(plan->solver, "even_memory") == 0;
    if (plan->device) assert_true((double)plan->value_ns <= (1 + TOLERANCE) * (double)plan_best_found_ns(plan));
    situ_plan_free(plan);
    lab_free(&m.s);
  }
  assert_true(n_boundaries > rounds / 2); /* the models are split, and some are evened out */
  assert_true(n_evened > rounds / 10);
}

TEST_MAIN
