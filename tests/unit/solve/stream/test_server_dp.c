/* Chains found in graphs, equal servers found in platforms, and the dynamic program over both against all plans of its
 * kind. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "../../../lab/tier.h"
#include "base/rng.h"
#include "chain/chain.h"
#include "cost/cost_models.h"
#include "graph/builder.h"
#include "sim/simulate.h"
#include "situ/instance.h"
#include "situ/solve.h"
#include "solve/common/solver.h"
#include "view/server_types.h"

enum { MAX_DEVICES = 6, MAX_OPERATORS = 7 };

/* ---- chains ---- */

static int32_t count_boundaries_slowly(const situ_graph *g) {
  enum { MAX_N = 40 };
  static bool reaches[MAX_N][MAX_N];
  int32_t n = g->n_operators, cuts = 0;
  memset(reaches, 0, sizeof reaches);
  for (int32_t v = n - 1; v >= 0; v--)
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        reaches[v][g->use[i]] = true;
        for (int32_t w = 0; w < n; w++) reaches[v][w] |= reaches[g->use[i]][w];
      }
  for (int32_t v = 0; v < n; v++) {
    bool cut = false;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) cut |= g->use_start[t] < g->use_start[t + 1];
    for (int32_t w = 0; w < n; w++) cut &= w == v || reaches[v][w] || reaches[w][v];
    for (int32_t u = 0; u < n && cut; u++)
      for (int32_t w = 0; w < n; w++) {
        if (!reaches[u][v] || !reaches[v][w]) continue;
        for (int64_t i = g->in_start[w]; i < g->in_start[w + 1]; i++) cut &= g->producer[g->in[i]] != u;
      }
    cuts += cut;
  }
  return cuts;
}

/* A graph in which all lies between one source and one sink: then the main part is everything. */
static bool is_closed(const situ_graph *g) {
  int32_t sources = 0, sinks = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    bool used = false;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) used |= g->use_start[t] < g->use_start[t + 1];
    sources += g->in_start[v] == g->in_start[v + 1];
    sinks += !used;
  }
  return sources == 1 && sinks == 1;
}

static void check_chain(const chain *c, const situ_graph *g) {
  for (int32_t v = 0; v < g->n_operators; v++) {
    assert_in_range(c->element[v], 0, c->n - 1);
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      assert_true(c->element[g->producer[g->in[i]]] <= c->element[v]);
    for (int32_t w = 0; w < v; w++)
      if (g->colocation[v] >= 0 && g->colocation[v] == g->colocation[w]) assert_int_equal(c->element[v], c->element[w]);
  }
  for (int32_t k = 0; k < c->n; k++) {
    assert_true(c->first[k] < c->first[k + 1]); /* none is empty */
    for (int32_t x = c->first[k]; x < c->first[k + 1]; x++) {
      assert_int_equal(c->element[c->order[x]], k);
      if (x > c->first[k]) assert_true(c->order[x - 1] < c->order[x]);
    }
  }
  const situ_problem *p = c->problem;
  for (int32_t k = 1; k < c->n; k++) /* all that crosses, and no more */
    for (int32_t kind = 0; kind < p->n_kinds; kind++) {
      int64_t crossing = 0;
      for (int32_t t = 0; t < g->n_tensors; t++) {
        bool behind = false;
        for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) behind |= c->element[g->use[i]] >= k;
        crossing += c->element[g->producer[t]] < k && behind ? p->transfer_ns[t][kind] : 0;
      }
      assert_true(c->crossing_ns[k * p->n_kinds + kind] == crossing);
    }
}

TEST(boundaries_are_where_one_operator_parts_the_graph) {
  int32_t closed = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(3000); seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 3 + (int32_t)(seed / 9 % 14),
                     .n_devices = 2,
                     .density = 0.1 + 0.1 * (double)(seed % 9),
                     .n_colocations = seed % 5 == 0 ? 1 : 0,
                     .options = {.execution = SITU_EXECUTION_STREAM}};
    OWN(lab) l = lab_random(&o);
    OWN(arena) *a = arena_new();
    chain c;
    assert_true(chain_find(&c, l.problem, 1000, 0, a));
    check_chain(&c, l.graph);
    if (is_closed(l.graph) && l.graph->n_colocations == 0) {
      assert_int_equal(c.n, count_boundaries_slowly(l.graph) + 1);
      for (int32_t k = 1; k < c.n; k++) { /* what one operator makes */
        int32_t from = -1;
        for (int32_t x = 0; x < l.graph->n_tensors; x++) {
          int32_t producer = l.graph->producer[x], last = c.element[producer];
          for (int64_t i = l.graph->use_start[x]; i < l.graph->use_start[x + 1]; i++)
            if (c.element[l.graph->use[i]] > last) last = c.element[l.graph->use[i]];
          if (c.element[producer] >= k || last < k) continue;
          assert_true(from < 0 || from == producer);
          from = producer;
        }
      }
      closed++;
    }
    chain few;
    assert_true(chain_find(&few, l.problem, 3, 12, a));
    assert_true(few.n <= 3);
    check_chain(&few, l.graph);
  }
  if (getenv("SITU_TELL")) printf("%d of 3000 graphs have one beginning and one end\n", (int)closed);
  assert_true(closed > rounds_of(200));
}

static situ_instance *open_instance(const char *model, const char *platform, const situ_problem_options *problem) {
  situ_instance_options o = {
      .size = sizeof(situ_instance_options), .model = model, .platform = platform, .problem = problem};
  situ_instance *instance = NULL;
  situ_error error = {0};
  if (situ_instance_open(&instance, &o, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  return instance;
}

/* Each layer has two: attention and feed-forward part, each closed by its addition. Rotary tables do not tie them. */
TEST(a_transformer_is_a_chain_of_half_layers) {
  OWN(situ_instance) *instance =
      open_instance("builtin:llama?layers=6&hidden=64&heads=4&kv_heads=2&ffn=128&vocab=100", "cpu+2*a100-80g", NULL);
  const situ_problem *p = situ_instance_problem(instance);
  const situ_graph *g = p->graph;
  OWN(arena) *a = arena_new();
  chain c;
  assert_true(chain_find(&c, p, 1000, 0, a));
  check_chain(&c, g);
  assert_true(c.n >= 2 * 6);
  for (int32_t layer = 0; layer < 6; layer++) {
    char name[64];
    snprintf(name, sizeof name, "layer%d.attention_add", (int)layer);
    int32_t half = situ_graph_find(g, name);
    snprintf(name, sizeof name, "layer%d.mlp_add", (int)layer);
    int32_t whole = situ_graph_find(g, name);
    if (half < 0 || whole < 0) fail_msg("no operator is called %s", name);
    assert_true(c.element[half] < c.element[whole]);
    if (layer > 0) {
      snprintf(name, sizeof name, "layer%d.mlp_add", (int)layer - 1);
      assert_true(c.element[situ_graph_find(g, name)] < c.element[half]);
    }
  }
}

/* ---- servers ---- */

TEST(equal_servers_and_devices_are_found) {
  OWN(situ_instance) *instance = open_instance(
      "builtin:resnet50", "2*(cpu+4*a100-80g@nvlink)+3*(cpu+2*v100-16g)+(cpu+2*v100-16g)@ethernet-1g", NULL);
  OWN(arena) *a = arena_new();
  server_type *types;
  int32_t n;
  assert_true(server_types_find(&types, &n, situ_instance_problem(instance), a));
  assert_int_equal(n, 3); /* the last has a slower network */
  assert_int_equal(types[0].n_servers, 2);
  assert_int_equal(types[0].n_places, 5);
  assert_int_equal(types[0].n_types, 2);
  assert_int_equal(types[0].count[1], 4);
  assert_int_equal(types[1].n_servers, 3);
  assert_int_equal(types[1].n_types, 2);
  assert_int_equal(types[2].n_servers, 1);
}

/* ---- the dynamic program ---- */

/* A chain of operators; servers of one or two kinds with one to three devices, all joined. */
static lab small_random(uint64_t seed, situ_problem_options options, bool memory) {
  static const char *const names[MAX_DEVICES] = {"d0", "d1", "d2", "d3", "d4", "d5"};
  static const char *const classes[3] = {"c0", "c1", "c2"};
  lab s = {0};
  rng r = rng_new(seed * 77 + 5);
  situ_error error = {0};
  situ_graph_builder *b;
  must(situ_graph_builder_new(&b, "small", &error), &error);
  int32_t n = 3 + (int32_t)rng_below(&r, MAX_OPERATORS - 3), before = -1;
  for (int32_t v = 0; v < n; v++) {
    situ_operator op = {.colocation = -1, .weight_bytes = (int64_t)rng_below(&r, 30)};
    must(builder_add_operator(b, &op, NULL, &error), &error);
    if (before >= 0) must(builder_add_use(b, v, before, &error), &error);
    situ_tensor t = {.rank = -1, .size_bytes = (int64_t)rng_below(&r, 20)};
    must(builder_add_tensor(b, v, &t, &before, &error), &error);
  }
  must(situ_graph_freeze(&s.graph, b, &error), &error);
  situ_graph_builder_free(b);
  situ_device devices[MAX_DEVICES];
  situ_link links[MAX_DEVICES * MAX_DEVICES];
  int32_t n_devices = 0, n_links = 0, server = 0;
  int32_t kinds = 1 + (int32_t)rng_below(&r, 2), places[2], of_server[MAX_DEVICES];
  int32_t class_of[2][3];
  for (int32_t k = 0; k < kinds; k++) {
    places[k] = 1 + (int32_t)rng_below(&r, 3);
    for (int32_t i = 0; i < 3; i++) class_of[k][i] = (int32_t)rng_below(&r, 2 + seed % 2);
  }
  int64_t room = memory ? 30 + (int64_t)rng_below(&r, 60) : SITU_UNLIMITED_BYTES;
  for (int32_t k = 0; n_devices + places[k] <= MAX_DEVICES; k = (k + 1) % kinds, server++) {
    for (int32_t i = 0; i < places[k]; i++) {
      of_server[n_devices] = k;
      devices[n_devices] = (situ_device){.name = names[n_devices],
                                         .class_name = classes[class_of[k][i]],
                                         .memory_bytes_per_s = 1e9,
                                         .memory_bytes = room,
                                         .shares_memory_with = -1,
                                         .is_host = n_devices == 0,
                                         .server = server};
      devices[n_devices++].peak_flops[SITU_DTYPE_F32] = 1e9;
    }
    if (server > 0 && rng_below(&r, 3) == 0) break;
  }
  double inner = 2e9, outer = rng_below(&r, 2) ? 0.5e9 : 1e9;
  int32_t odd = rng_below(&r, 3) == 0 ? (int32_t)rng_below(&r, (uint64_t)n_devices) : -1;
  for (int32_t x = 0; x < n_devices; x++)
    for (int32_t y = 0; y < n_devices; y++) {
      if (x == y) continue;
      bool near = devices[x].server == devices[y].server;
      double rate = near ? inner : outer * (of_server[x] != of_server[y] ? 0.5 : 1);
      if (x == odd) rate *= 4; /* a device unlike its fellows */
      links[n_links++] = (situ_link){x, y, near ? 1 : 3, rate, -1};
    }
  must(platform_new(&s.platform, "small", devices, n_devices, links, n_links, &error), &error);
  must(costs_new_with_transfers(&s.costs, s.graph, s.platform, NULL, &error), &error);
  for (int32_t i = 0; i < n * s.costs->n_classes; i++)
    s.costs->time_ns[i] =
        rng_below(&r, 9) == 0 && i % s.costs->n_classes > 0 ? SITU_NEVER_NS : 1 + (int64_t)rng_below(&r, 40);
  s.pins = malloc(sizeof *s.pins * (size_t)n);
  assert_non_null(s.pins);
  for (int32_t v = 0; v < n; v++) s.pins[v] = rng_below(&r, 12) == 0 ? (int32_t)rng_below(&r, (uint64_t)n_devices) : -1;
  options.pins = s.pins;
  must(situ_problem_pose(&s.problem, s.graph, s.platform, s.costs, &options, &error), &error);
  return s;
}

/* Whether each device holds one interval and each server's devices follow each other, for elements in order. */
static bool is_of_the_kind(const situ_problem *p, const int32_t *device, int32_t n) {
  bool left[64] = {false}, left_server[64] = {false};
  for (int32_t e = 1; e < n; e++) {
    int32_t before = device[e - 1], now = device[e];
    if (before == now) continue;
    left[before] = true;
    if (left[now]) return false;
    int32_t from = p->platform->devices[before].server, to = p->platform->devices[now].server;
    if (from == to) continue;
    left_server[from] = true;
    if (left_server[to]) return false;
  }
  return true;
}

typedef struct search {
  const situ_problem *problem;
  simulator *simulator;
  const chain *chain;
  int32_t of_element[128], *device;
  int64_t best_ns, best_of_all_ns;
} search;

static void try_all(search *s, int32_t e, bool only_kind) {
  const chain *c = s->chain;
  if (only_kind && !is_of_the_kind(s->problem, s->of_element, e)) return;
  if (e == c->n) {
    for (int32_t v = 0; v < s->problem->n_operators; v++) s->device[v] = s->of_element[c->element[v]];
    if (!solve_allows(s->problem, s->device)) return;
    placement where = {.device = s->device, .order = s->problem->execution == SITU_EXECUTION_STREAM ? c->order : NULL};
    simulation found = simulator_run(s->simulator, &where, true);
    if (found.excess_bytes > 0) return;
    if (found.value_ns < s->best_of_all_ns) s->best_of_all_ns = found.value_ns;
    if (found.value_ns < s->best_ns && is_of_the_kind(s->problem, s->of_element, c->n)) s->best_ns = found.value_ns;
    return;
  }
  for (int32_t d = 0; d < s->problem->n_devices; d++) {
    s->of_element[e] = d;
    try_all(s, e + 1, only_kind);
  }
}

static int64_t solved_by(const situ_problem *p, const char *name) {
  OWN(situ_plan) *plan = NULL;
  situ_error error;
  situ_solve_options o = {.size = sizeof(situ_solve_options), .solvers = name};
  must(situ_solve(&plan, p, &o, &error), &error);
  int64_t value = plan->value_ns;
  assert_true(plan->lower_bound_ns <= value);
  return value;
}

static int64_t solved(const situ_problem *p) { return solved_by(p, "server_dp"); }

static void compare(situ_problem_options options, int32_t seeds, bool memory) {
  seeds = rounds_of(seeds);
  int32_t equal_to_all = 0, plans = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)seeds; seed++) {
    OWN(lab) x = small_random(seed, options, memory);
    OWN(arena) *a = arena_new();
    chain c;
    assert_true(chain_find(&c, x.problem, 1000, 0, a));
    assert_int_equal(c.n, x.problem->n_operators);
    search s = {.problem = x.problem,
                .simulator = simulator_new(x.problem, a),
                .chain = &c,
                .device = ARENA_NEW(a, int32_t, x.problem->n_operators),
                .best_ns = SITU_NEVER_NS,
                .best_of_all_ns = SITU_NEVER_NS};
    try_all(&s, 0, c.n > 5);
    int64_t value = x.problem->conflict ? s.best_ns : solved(x.problem);
    if (value != s.best_ns)
      fail_msg("seed %d: the best plan of the kind takes %lld, found %lld", (int)seed, (long long)s.best_ns,
               (long long)value);
    plans += value != SITU_NEVER_NS;
    equal_to_all += value != SITU_NEVER_NS && c.n <= 5 && value == s.best_of_all_ns;
  }
  assert_true(plans > seeds / 4);
  if (getenv("SITU_TELL")) printf("%d plans, %d optimal among all placements\n", (int)plans, (int)equal_to_all);
}

TEST(no_plan_of_its_kind_is_faster) {
  situ_problem_options o = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM};
  compare(o, 500, false);
  compare(o, 500, true);
  o.contention = SITU_CONTENTION_NONE;
  compare(o, 200, true);
}

TEST(no_pipeline_of_its_kind_has_a_shorter_period) {
  situ_problem_options o = {.size = sizeof(situ_problem_options),
                            .objective = SITU_OBJECTIVE_THROUGHPUT,
                            .communication = SITU_COMMUNICATION_LINK};
  compare(o, 500, false);
  compare(o, 500, true);
  o.communication = SITU_COMMUNICATION_HOST_STAGED;
  compare(o, 300, true);
  o.async_copies = true;
  o.in_flight = 2;
  compare(o, 300, true);
}

/* The language model of the documentation, made small, over two servers of two kinds, against all plans of the kind. */
TEST(a_small_language_model_gets_the_best_plan) {
  for (int32_t throughput = 0; throughput < 2; throughput++) {
    situ_problem_options o = {.size = sizeof(situ_problem_options),
                              .objective = throughput ? SITU_OBJECTIVE_THROUGHPUT : SITU_OBJECTIVE_LATENCY};
    OWN(situ_instance) *instance =
        open_instance("builtin:llama?layers=3&hidden=2048&heads=16&kv_heads=4&ffn=4096&vocab=4000",
                      "(2*a100-80g@nvlink)+(v100-16g)@ethernet-10g", &o);
    OWN(situ_problem) *p = NULL;
    situ_error error;
    const situ_problem *whole = situ_instance_problem(instance);
    /* memory for about half of the weights on a device, so that one is not enough */
    situ_device devices[3];
    situ_link links[32];
    int64_t weights = 0;
    for (int32_t v = 0; v < whole->n_operators; v++) weights += whole->graph->weight_bytes[v];
    int32_t n_links = whole->platform->n_links;
    assert_in_range(n_links, 1, 32);
    for (int32_t d = 0; d < 3; d++) devices[d] = whole->platform->devices[d];
    for (int32_t l = 0; l < n_links; l++) links[l] = situ_platform_link(whole->platform, l);
    for (int32_t d = 0; d < 3; d++) devices[d].memory_bytes = weights / 2 + (throughput ? 200000000 : 50000000);
    OWN(situ_platform) *platform = NULL;
    OWN(situ_costs) *costs = NULL;
    must(platform_new(&platform, "small", devices, 3, links, n_links, &error), &error);
    must(situ_costs_estimate(&costs, whole->graph, platform, NULL, &error), &error);
    must(situ_problem_pose(&p, whole->graph, platform, costs, &o, &error), &error);
    OWN(arena) *a = arena_new();
    chain c;
    assert_true(chain_find(&c, p, 1000, throughput ? 64 * 3 : 0, a));
    if (c.n > 120) fail_msg("%d elements", (int)c.n);
    search s = {.problem = p,
                .simulator = simulator_new(p, a),
                .chain = &c,
                .device = ARENA_NEW(a, int32_t, p->n_operators),
                .best_ns = SITU_NEVER_NS,
                .best_of_all_ns = SITU_NEVER_NS};
    try_all(&s, 0, true);
    assert_true(s.best_ns < SITU_NEVER_NS);
    if (getenv("SITU_TELL")) printf("%d elements, best %lld\n", (int)c.n, (long long)s.best_ns);
    assert_int_equal(solved(p), s.best_ns);
  }
}

/* Four servers of two devices, each with half as much again as an even share of the weights. List scheduling over all
 * devices finds no plan that fits; split over servers first, it does, and it gains over a chain of devices by running a
 * layer on both devices of a server. */
TEST(servers_that_spread_their_layers_are_faster_than_chains_of_devices) {
  OWN(situ_instance) *instance = open_instance("builtin:llama?layers=16&hidden=4096&heads=32&kv_heads=8&ffn=11008",
                                               "4*(2*a100-80g@nvlink)@ethernet-25g", NULL);
  const situ_problem *whole = situ_instance_problem(instance);
  situ_device devices[8];
  situ_link links[64];
  int32_t n_links = whole->platform->n_links;
  int64_t weights = 0;
  assert_in_range(n_links, 1, 64);
  for (int32_t v = 0; v < whole->n_operators; v++) weights += whole->graph->weight_bytes[v];
  for (int32_t d = 0; d < 8; d++) {
    devices[d] = whole->platform->devices[d];
    devices[d].memory_bytes = weights * 3 / 16;
  }
  for (int32_t l = 0; l < n_links; l++) links[l] = situ_platform_link(whole->platform, l);
  OWN(situ_platform) *platform = NULL;
  OWN(situ_costs) *costs = NULL;
  OWN(situ_problem) *p = NULL;
  situ_error error;
  must(platform_new(&platform, "tight", devices, 8, links, n_links, &error), &error);
  must(situ_costs_estimate(&costs, whole->graph, platform, NULL, &error), &error);
  must(situ_problem_pose(&p, whole->graph, platform, costs, NULL, &error), &error);
  int64_t chain_of_devices = solved(p), spread = solved_by(p, "server_heft"), list = solved_by(p, "heft");
  if (getenv("SITU_TELL"))
    printf("%lld by devices, %lld by servers, %lld by heft\n", (long long)chain_of_devices, (long long)spread,
           (long long)list);
  assert_true(chain_of_devices < SITU_NEVER_NS);
  assert_true(spread < chain_of_devices);
  assert_true(spread < list);
}

TEST_MAIN
