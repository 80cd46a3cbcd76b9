/* Pipelines whose layers are recomputed one by one: the program against all choices of layers and all placements. */
#include <stdio.h>
#include <string.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/checked.h"
#include "base/hash.h"
#include "cost/cost_models.h"
#include "exact/recompute_chain.h"
#include "graph/segments.h"

enum { MAX_LAYERS = 4, MAX_UNITS = 8, MAX_OPS = 160 };

/* ---- a small network, and the steps that train it ---- */

static void join(situ_graph_builder *b, int32_t u, int32_t v, int64_t size) {
  situ_tensor tensor = {.dtype = SITU_DTYPE_F32, .rank = -1, .size_bytes = size};
  int32_t t;
  must(builder_add_tensor(b, u, &tensor, &t, NULL), NULL);
  must(builder_add_use(b, v, t, NULL), NULL);
}

static int32_t put(situ_graph_builder *b, rng *r, const char *name) {
  static const char *const kinds[] = {"MatMul", "MatMul", "Relu", "Add", "LayerNorm", "Softmax"};
  situ_operator op = SITU_OPERATOR_INIT;
  int32_t v;
  op.name = name;
  op.kind = kinds[rng_below(r, 6)];
  op.dtype = SITU_DTYPE_F32;
  op.weight_bytes = (int64_t)rng_below(r, 4);
  op.flops = 1;
  op.moved_bytes = 1;
  op.workspace_bytes = (int64_t)rng_below(r, 3);
  must(builder_add_operator(b, &op, &v, NULL), NULL);
  return v;
}

/* Layers one after the other, each a few operators in a random order of reading; before them an operator, which later
 * ones may read too, behind them one, or three of which two are side by side. */
static situ_graph *random_forward(rng *r) {
  OWN(situ_graph_builder) *b = NULL;
  situ_graph *g;
  situ_error error;
  must(situ_graph_builder_new(&b, "test", NULL), NULL);
  int32_t n_layers = 2 + (int32_t)rng_below(r, MAX_LAYERS - 1), n_each = 2 + (int32_t)rng_below(r, 3);
  int32_t first = put(b, r, "first"), last = first;
  bool mask = rng_below(r, 4) == 0;
  for (int32_t k = 0; k < n_layers; k++) {
    int32_t begin = last;
    for (int32_t i = 0; i < n_each; i++) {
      char name[32];
      snprintf(name, sizeof name, "layer.%d.op%c", (int)k, 'a' + (int)i);
      int32_t v = put(b, r, name), from = i == 0 ? begin : last - (int32_t)rng_below(r, i + 1 > 2 ? 2 : 1);
      join(b, from < begin ? begin : from, v, 1 + (int64_t)rng_below(r, 6));
      if (i > 0 && from != last) join(b, last, v, 1 + (int64_t)rng_below(r, 6));
      if (mask && rng_below(r, 2)) join(b, first, v, 1 + (int64_t)rng_below(r, 3));
      last = v;
    }
  }
  int32_t head = put(b, r, "head");
  join(b, last, head, 1 + (int64_t)rng_below(r, 4));
  if (rng_below(r, 2)) {
    int32_t left = put(b, r, "left"), right = put(b, r, "right"), loss = put(b, r, "loss");
    join(b, head, left, 1 + (int64_t)rng_below(r, 4));
    join(b, head, right, 1 + (int64_t)rng_below(r, 4));
    join(b, left, loss, 1);
    join(b, right, loss, 1);
  }
  if (situ_graph_freeze(&g, b, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  return g;
}

/* A step that recomputes some layers, on a platform, and its problem. */
typedef struct trained {
  situ_graph *graph;
  situ_costs *costs;
  situ_problem *problem;
} trained;

static void trained_free(trained *t) {
  situ_problem_free(t->problem);
  situ_costs_free(t->costs);
  situ_graph_free(t->graph);
  *t = (trained){0};
}

/* The layer in a name, or -1. */
static int32_t layer_of(const char *name) {
  const char *at = strstr(name, "layer.");
  return at ? at[6] - '0' : -1;
}

/* Operators have times by their names and classes of devices. False: nothing can be trained. */
static bool train(trained *t, const situ_graph *forward, const situ_platform *f, situ_problem_options options,
                  uint32_t layers, uint64_t seed) {
  int64_t unit_ns = seed % 16 == 15 ? (int64_t)1 << 44 : 1; /* 13 days are too few for a stage */
  bool also[MAX_LAYERS];
  int32_t key[MAX_OPS];
  situ_error error;
  for (int32_t k = 0; k < MAX_LAYERS; k++) also[k] = layers >> k & 1;
  *t = (trained){0};
  training_options o = {
      .optimizer = SITU_OPTIMIZER_ADAM, .micro_batches = options.micro_batches, .n_also = MAX_LAYERS, .also = also};
  if (graph_training(&t->graph, forward, o, NULL) != SITU_STATUS_OK) return false;
  assert_true(t->graph->n_operators <= MAX_OPS);
  must(costs_new_with_transfers(&t->costs, t->graph, f, NULL, &error), &error);
  t->costs->source = "test";
  for (int32_t v = 0; v < t->graph->n_operators; v++) {
    key[v] = layer_of(t->graph->name[v]);
    if (seed % 2 && strstr(t->graph->name[v], "first")) key[v] = 0; /* in one unit with a layer */
    for (int32_t c = 0; c < f->n_classes; c++)
      t->costs->time_ns[v * f->n_classes + c] =
          unit_ns * (int64_t)(hash_bytes(t->graph->name[v], strlen(t->graph->name[v]), seed + (uint64_t)c) % 12);
  }
  options.keep_together = key;
  must(situ_problem_pose(&t->problem, t->graph, f, t->costs, &options, &error), &error);
  return true;
}

/* Two or three devices of one or two classes beside a host that stays unused, with links of a byte a nanosecond. */
static situ_platform *random_platform(rng *r, int64_t memory_bytes) {
  static const char *const names[] = {"host", "a", "b", "c"};
  situ_device devices[4];
  situ_link links[16];
  situ_platform *f;
  situ_error error;
  int32_t n = 3 + (int32_t)rng_below(r, 2), n_links = 0;
  bool unlike = rng_below(r, 2);
  for (int32_t d = 0; d < n; d++) {
    devices[d] =
        (situ_device){.name = names[d],
                      .class_name = d == 0             ? "host"
                                    : unlike && d == 1 ? "fast"
                                                       : "slow",
                      .memory_bytes_per_s = 1e9,
                      .peak_flops[SITU_DTYPE_F32] = 1e9,
                      .memory_bytes = d == 0 ? SITU_UNLIMITED_BYTES : memory_bytes + (unlike && d == 1 ? 8 : 0),
                      .shares_memory_with = -1,
                      .is_host = d == 0};
  }
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < n; j++) {
      if (i == j) continue;
      links[n_links++] = (situ_link){.from_device = i, .to_device = j, .bytes_per_s = 1e9, .channel = -1};
    }
  must(platform_new(&f, "test", devices, n, links, n_links, &error), &error);
  return f;
}

/* ---- all placements ---- */

typedef struct unit_search {
  const situ_problem *p;
  simulator *s;
  int32_t device[MAX_OPS];
  int64_t best_ns;
} unit_search;

static void place_units(unit_search *u, int32_t k) {
  if (k < u->p->units.n) {
    for (int32_t d = 1; d < u->p->n_devices; d++) {
      for (int32_t i = u->p->units.start[k]; i < u->p->units.start[k + 1]; i++) u->device[u->p->units.member[i]] = d;
      place_units(u, k + 1);
    }
    return;
  }
  simulation found = simulator_run(u->s, &(placement){.device = u->device}, true);
  if (found.excess_bytes == 0) u->best_ns = min64(u->best_ns, found.value_ns);
}

static int64_t best_of(const situ_problem *p, arena *a) {
  unit_search u = {.p = p, .s = simulator_new(p, a), .best_ns = SITU_NEVER_NS};
  assert_non_null(u.s);
  place_units(&u, 0);
  return u.best_ns;
}

/* ---- the program ---- */

static uint32_t chosen(const recompute_plan *plan, int32_t n) {
  uint32_t layers = 0;
  for (int32_t k = 0; k < n; k++) layers |= (uint32_t)plan->again[k] << k;
  return layers;
}

/* The plan of the program, on the step of its choice: its value, and what it lacks of memory. */
static simulation run_plan(const recompute_plan *plan, const situ_problem *all, const trained *t, arena *a) {
  int32_t device[MAX_OPS];
  simulator *s = simulator_new(t->problem, a);
  for (int32_t v = 0; v < t->graph->n_operators; v++)
    device[v] = plan->device[situ_graph_find(all->graph, t->graph->name[v])];
  return simulator_run(s, &(placement){.device = device}, true);
}

typedef struct counts {
  int32_t served, exact, mixed, infeasible, better;
} counts;

static void try_case(uint64_t seed, counts *n) {
  rng r = rng_new(seed);
  OWN(arena) *a = arena_new();
  OWN(situ_graph) *forward = random_forward(&r);
  OWN(situ_platform) *f = random_platform(&r, 20 + (int64_t)rng_below(&r, 160));
  situ_problem_options options = SITU_PROBLEM_OPTIONS_INIT;
  bool unused[4] = {true, false, false, false};
  trained none = {0}, all = {0}, some;
  options.objective = SITU_OBJECTIVE_THROUGHPUT;
  options.execution = SITU_EXECUTION_PIPELINE;
  options.async_copies = rng_below(&r, 3) == 0;
  options.communication = rng_below(&r, 3) ? SITU_COMMUNICATION_HOST_STAGED : SITU_COMMUNICATION_LINK;
  options.schedule = SITU_SCHEDULE_1F1B;
  if (rng_below(&r, 3))
    options.micro_batches = 1 + (int32_t)rng_below(&r, 5);
  else
    options.in_flight = 1 + (int32_t)rng_below(&r, 3);
  options.unused = unused;
  bool trains = train(&none, forward, f, options, 0, seed) && train(&all, forward, f, options, 15, seed) &&
                all.graph->n_recomputed > 0 && all.problem->units.n <= MAX_UNITS;
  recompute_plan bound, plan;
  budget b = budget_new(0, 0, NULL, NULL);
  if (trains) {
    assert_true(recompute_chain_solve(&bound, none.problem, all.problem, false, &b, a));
    assert_true(recompute_chain_solve(&plan, none.problem, all.problem, true, &b, a));
  }
  if (trains && !bound.unfit) {
    int64_t best_ns = SITU_NEVER_NS;
    int32_t n_layers = all.graph->n_segments;
    for (uint32_t layers = 0; layers < 1u << n_layers; layers++) {
      if (!train(&some, forward, f, options, layers, seed)) fail();
      best_ns = min64(best_ns, best_of(some.problem, a));
      trained_free(&some);
    }
    n->served++;
    if (bound.infeasible) {
      n->infeasible++;
      if (best_ns < SITU_NEVER_NS) fail_msg("seed %d: there is a plan", (int)seed);
    } else if (bound.lower_ns > best_ns) {
      fail_msg("seed %d: %lld is no bound, %lld", (int)seed, (long long)bound.lower_ns, (long long)best_ns);
    }
    if (plan.value_ns < SITU_NEVER_NS) {
      if (!train(&some, forward, f, options, chosen(&plan, n_layers), seed)) fail();
      simulation s = run_plan(&plan, all.problem, &some, a);
      bool staged = options.communication == SITU_COMMUNICATION_HOST_STAGED;
      if (s.excess_bytes > 0) fail_msg("seed %d: the plan does not fit", (int)seed);
      if (staged ? s.value_ns != plan.value_ns : s.value_ns < plan.value_ns)
        fail_msg("seed %d: the plan takes %lld, not %lld", (int)seed, (long long)s.value_ns, (long long)plan.value_ns);
      uint32_t layers = chosen(&plan, n_layers);
      n->exact += s.value_ns == best_ns && bound.lower_ns == best_ns;
      n->mixed += layers > 0 && layers < (1u << n_layers) - 1 && s.value_ns == best_ns;
      trained_free(&some);
      n->better += s.value_ns > best_ns;
    } else if (!bound.infeasible) {
      n->better += best_ns < SITU_NEVER_NS;
    }
  }
  trained_free(&none);
  trained_free(&all);
}

TEST(no_choice_of_layers_is_better) {
  counts n = {0};
  int32_t rounds = rounds_of(1000);
  for (uint64_t seed = 0; seed < (uint64_t)rounds; seed++) try_case(seed, &n);
  print_message("%d networks: %d exact, %d of some layers, %d without a plan, %d with a better one\n", (int)n.served,
                (int)n.exact, (int)n.mixed, (int)n.infeasible, (int)n.better);
  assert_true(n.served > rounds / 2 && n.exact > (n.served - n.infeasible) / 2);
  assert_true(n.mixed > rounds / 100 && n.infeasible > rounds / 20);
}

TEST_MAIN
