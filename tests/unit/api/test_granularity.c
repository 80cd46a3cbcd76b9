/* What is placed as a whole: layers, blocks and keys of the caller. */
#include <unistd.h>

#include "../../lab/brute.h"
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "api/granularity.h"
#include "base/disjoint.h"
#include "base/rng.h"
#include "check/judge.h"
#include "graph/layers.h"
#include "read/builtin.h"
#include "read/reader.h"
#include "situ.h"

static const char decoder[] =
    "builtin:llama?layers=4&hidden=64&ffn=128&heads=4&kv_heads=4&vocab=2000&tokens=1&context=8";

static situ_graph *generate(const char *path) {
  situ_graph *g;
  int64_t parameters;
  assert_int_equal(builtin_generate(&g, path, SITU_DTYPE_UNKNOWN, &parameters, NULL), SITU_STATUS_OK);
  return g;
}

static void expect_decoder(const char *model, bool expected) {
  OWN(arena) *a = arena_new();
  OWN(situ_graph) *g = generate(model);
  if (granularity_is_decoder(g, a) != expected) fail_msg("%s", model);
}

TEST(decoders_of_language_are_told_from_other_networks) {
  expect_decoder(decoder, true);
  expect_decoder("builtin:llama", true);
  expect_decoder("builtin:gpt2", true);
  expect_decoder("builtin:moe?layers=2", true);
  expect_decoder("builtin:bert-base", false);
  expect_decoder("builtin:resnet50", false);
  expect_decoder("builtin:inception-v3", false);
}

static situ_instance *open_as(situ_granularity which, const char *model) {
  situ_instance *i;
  situ_error error;
  situ_instance_options o = SITU_INSTANCE_OPTIONS_INIT;
  situ_cost_options cost = SITU_COST_OPTIONS_INIT;
  o.model = model;
  o.platform = "cpu+2*v100-16g";
  o.granularity = which;
  if (which >= SITU_GRANULARITY_LAYER) cost.fusion = "none"; /* what is counted is layers alone */
  o.cost = &cost;
  if (situ_instance_open(&i, &o, &error) != SITU_STATUS_OK) fail_msg("%s %s", error.where, error.text);
  return i;
}

static int32_t units_of(situ_granularity which, const char *model) {
  OWN(situ_instance) *i = open_as(which, model);
  int32_t n = situ_instance_problem(i)->units.n;
  return n;
}

TEST(whole_layers_are_units) {
  OWN(arena) *a = arena_new();
  OWN(situ_graph) *g = generate(decoder);
  layer_list l;
  assert_true(layers_find(&l, g, a));
  int32_t outside = 0;
  for (int32_t v = 0; v < g->n_operators; v++) outside += l.of[v] < 0;
  assert_int_equal(units_of(SITU_GRANULARITY_OPERATOR, decoder), g->n_operators);
  assert_int_equal(units_of(SITU_GRANULARITY_LAYER, decoder), l.n + outside);
  assert_int_equal(units_of(SITU_GRANULARITY_BLOCK, decoder), l.n + 2); /* what is before, what is after */
  assert_int_equal(units_of(SITU_GRANULARITY_DEFAULT, decoder), l.n + outside);
  assert_int_equal(units_of(SITU_GRANULARITY_DEFAULT, "builtin:resnet50"),
                   units_of(SITU_GRANULARITY_OPERATOR, "builtin:resnet50")); /* nothing is fused here */
}

/* blk.0 .. blk.3, each a product, an operator of its routed experts and a sum, one after the other. */
static situ_graph *layers_of_experts(void) {
  static const char *const names[] = {"attn_q", "ffn_up_exps", "ffn_add"};
  static const char *const kinds[] = {"MatMul", "ExpertsMatMul", "Add"};
  OWN(situ_graph_builder) *b = NULL;
  situ_graph *g;
  assert_int_equal(situ_graph_builder_new(&b, "experts", NULL), SITU_STATUS_OK);
  for (int32_t v = 0; v < 12; v++) {
    char name[32];
    snprintf(name, sizeof name, "blk.%d.%s", (int)v / 3, names[v % 3]);
    situ_operator op = SITU_OPERATOR_INIT;
    situ_tensor made = SITU_TENSOR_INIT;
    op.name = name;
    op.kind = kinds[v % 3];
    situ_graph_builder_add_operator(b, &op);
    situ_graph_builder_add_tensor(b, v, &made);
    if (v > 0) situ_graph_builder_add_use(b, v, v - 1);
  }
  assert_int_equal(situ_graph_freeze(&g, b, NULL), SITU_STATUS_OK);
  return g;
}

/* Whether v belongs to its experts rather than to the rest of its layer: the sum that is joined to them does. */
static bool goes_with_experts(int32_t v, bool joined) { return v % 3 == 1 || (joined && v % 3 == 2); }

TEST(routed_experts_may_leave_their_layer) {
  OWN(arena) *a = arena_new();
  OWN(situ_graph) *g = layers_of_experts();
  int32_t keys[12], sets[12];
  for (int joined = 0; joined < 2; joined++) {
    disjoint_init(sets, 12);
    for (int32_t v = 2; v < 12 && joined; v += 3) disjoint_join(sets, v - 1, v);
    int32_t n = granularity_keys(keys, g, SITU_GRANULARITY_LAYER, sets, a);
    for (int32_t v = 0; v < 12; v++)
      for (int32_t u = 0; u < 12; u++) {
        bool same = u / 3 == v / 3 && goes_with_experts(u, joined) == goes_with_experts(v, joined);
        assert_true(keys[v] >= 0 && keys[v] < n);
        assert_true((keys[u] == keys[v]) == same);
      }
  }
}

TEST(a_plan_file_remembers_its_granularity) {
  char path[] = "/tmp/situ-granularity-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  situ_instance *i = open_as(SITU_GRANULARITY_LAYER, decoder), *again;
  situ_plan *plan, *read;
  situ_solve_options o = SITU_SOLVE_OPTIONS_INIT;
  o.solvers = "heft";
  assert_int_equal(situ_solve(&plan, situ_instance_problem(i), &o, NULL), SITU_STATUS_OK);
  assert_int_equal(situ_plan_write(plan, i, path, NULL), SITU_STATUS_OK);
  assert_int_equal(situ_plan_read(&read, &again, path, NULL), SITU_STATUS_OK);
  assert_int_equal(situ_instance_granularity(again), SITU_GRANULARITY_LAYER);
  assert_int_equal(situ_instance_problem(again)->units.n, situ_instance_problem(i)->units.n);
  situ_plan_free(plan);
  situ_plan_free(read);
  situ_instance_free(i);
  situ_instance_free(again);
  unlink(path);
}

/* Two devices, each with the memory of one and a half of three layers: 2 * (4 * 256^2 + 3 * 256 * 11008) bytes each. */
static void write_narrow_platform(const char *path) {
  FILE *file = fopen(path, "w");
  long long bytes = 2LL * (4 * 256 * 256 + 3 * 256 * 11008) * 7 / 4;
  assert_non_null(file);
  fprintf(file,
          "{\"situ_platform\": 1, \"devices\": [{\"name\": \"cpu\", \"base\": \"cpu\", \"memory_bytes\": %lld}, "
          "{\"name\": \"gpu\", \"base\": \"v100-16g\", \"memory_bytes\": %lld}], "
          "\"links\": [{\"from\": \"cpu\", \"to\": \"gpu\", \"kind\": \"pcie4\"}]}",
          bytes, bytes);
  fclose(file);
}

static bool stop_at_once(void *context, const situ_progress *news) {
  (void)news;
  ++*(int *)context;
  return true;
}

/* Proved by a bound, or, without bounds, since no search finds one: the default gives way; what was asked for does not,
 * and a search that the caller stops is over. */
TEST(layers_that_nobody_asked_for_are_split_where_they_have_no_plan) {
  char path[] = "/tmp/situ-narrow-XXXXXX";
  int file = mkstemp(path), stops = 0;
  assert_true(file >= 0);
  close(file);
  write_narrow_platform(path);
  for (int k = 0; k < 4; k++) {
    bool asked = k == 2, stopped = k == 3;
    OWN(situ_plan) *plan = NULL;
    OWN(situ_instance) *i = NULL;
    situ_error error;
    situ_instance_options o = SITU_INSTANCE_OPTIONS_INIT;
    situ_solve_options solve = SITU_SOLVE_OPTIONS_INIT;
    o.model = "builtin:llama?layers=3&hidden=256&vocab=1000&tokens=16";
    o.platform = path;
    o.granularity = asked ? SITU_GRANULARITY_LAYER : SITU_GRANULARITY_DEFAULT;
    solve.max_steps = 200;
    solve.no_bounds = k == 1 || stopped;
    if (stopped) solve.progress = stop_at_once, solve.context = &stops;
    if (situ_place(&plan, &i, &o, &solve, &error) != SITU_STATUS_OK) fail_msg("%s %s", error.where, error.text);
    const char *notes = situ_instance_model(i)->notes;
    if (stopped && stops > 0) {
      assert_int_equal(plan->outcome, SITU_OUTCOME_CANCELLED);
    } else if (asked) {
      assert_int_equal(plan->outcome, SITU_OUTCOME_INFEASIBLE);
      assert_non_null(strstr(plan->reason, "no plan that keeps layers whole"));
      assert_non_null(strstr(situ_instance_problem(i)->scope, "layers whole"));
    } else {
      assert_true(plan_exists(plan));
      assert_int_equal(situ_instance_granularity(i), SITU_GRANULARITY_FUSED);
      assert_null(strstr(situ_instance_problem(i)->scope, "layers"));
      assert_non_null(
          strstr(notes, k == 0 ? "no plan keeps layers whole" : "no plan was found that keeps layers whole"));
      assert_null(strstr(notes, "use --granularity operator"));
    }
  }
  unlink(path);
}

TEST(a_search_starts_from_the_plan_of_a_file) {
  char path[] = "/tmp/situ-start-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  close(file);
  situ_instance_options o = SITU_INSTANCE_OPTIONS_INIT;
  situ_solve_options solve = SITU_SOLVE_OPTIONS_INIT;
  situ_instance *i;
  situ_plan *good, *again;
  o.model = "builtin:inception-v3";
  o.platform = "cpu+v100-16g+p100-16g";
  solve.solvers = "heft,tabu";
  solve.max_steps = 500;
  assert_int_equal(situ_place(&good, &i, &o, &solve, NULL), SITU_STATUS_OK);
  assert_int_equal(situ_plan_write(good, i, path, NULL), SITU_STATUS_OK);
  situ_instance_free(i);
  solve.solvers = "single"; /* finds nothing better by itself */
  o.start = path;
  assert_int_equal(situ_place(&again, &i, &o, &solve, NULL), SITU_STATUS_OK);
  assert_true(again->value_ns == good->value_ns);
  assert_string_equal(again->solver, "start");
  assert_true(good->value_ns < good->best_single_ns);
  situ_plan_free(good);
  situ_plan_free(again);
  situ_instance_free(i);
  unlink(path);
}

TEST(the_checker_names_a_layer_that_is_split) {
  OWN(situ_instance) *i = open_as(SITU_GRANULARITY_LAYER, decoder),
                     *loose = open_as(SITU_GRANULARITY_OPERATOR, decoder);
  const situ_problem *p = situ_instance_problem(i);
  int32_t *device = calloc((size_t)p->n_operators, sizeof *device);
  for (int32_t v = p->n_operators / 2; v < p->n_operators; v++) device[v] = 1; /* in the midst of a layer */
  situ_plan *plan, *bound;
  situ_verdict *verdict;
  assert_int_equal(situ_simulate(&plan, situ_instance_problem(loose), device, NULL, NULL), SITU_STATUS_OK);
  assert_int_equal(situ_check(&verdict, plan, NULL), SITU_STATUS_OK);
  assert_int_equal(verdict->n_found, 0);
  situ_verdict_free(verdict);
  assert_int_equal(situ_simulate(&bound, p, device, NULL, NULL), SITU_STATUS_OK);
  assert_int_equal(situ_check(&verdict, bound, NULL), SITU_STATUS_OK);
  assert_true(verdict->n_found > 0);
  assert_string_equal(situ_verdict_violation(verdict, 0).rule, "granularity");
  situ_verdict_free(verdict);
  situ_plan_free(bound);
  situ_plan_free(plan);
  free(device);
}

/* The least value among placements that keep operators of one key together. */
typedef struct together {
  const situ_problem *problem;
  const int32_t *key;
  simulator *simulator;
  int64_t min_ns;
} together;

static void look(void *context, const placement *where) {
  together *t = context;
  for (int32_t v = 0; v < t->problem->n_operators; v++)
    for (int32_t w = 0; w < v; w++)
      if (t->key[v] >= 0 && t->key[v] == t->key[w] && where->device[v] != where->device[w]) return;
  simulation found = simulator_run(t->simulator, where, true);
  if (found.excess_bytes == 0 && found.value_ns < t->min_ns) t->min_ns = found.value_ns;
}

TEST(exact_search_finds_the_best_plan_that_keeps_keys_together) {
  for (uint64_t seed = 0; seed < 60; seed++) {
    OWN(lab)
    l = lab_random(&(lab_options){.seed = seed,
                                  .n_operators = 6,
                                  .n_devices = 3,
                                  .density = 0.3,
                                  .n_colocations = (int32_t)(seed % 2),
                                  .unsupported = seed % 3 == 0,
                                  .options = {.execution = SITU_EXECUTION_STREAM}});
    int32_t key[6];
    rng r = rng_new(seed);
    for (int32_t v = 0; v < 6; v++) key[v] = (int32_t)rng_below(&r, 4) - 1;
    situ_problem_options o = SITU_PROBLEM_OPTIONS_INIT;
    o.execution = SITU_EXECUTION_STREAM;
    o.keep_together = key;
    OWN(situ_problem) *p = NULL;
    OWN(situ_plan) *plan = NULL;
    assert_int_equal(situ_problem_pose(&p, l.graph, l.platform, l.costs, &o, NULL), SITU_STATUS_OK);
    situ_problem_options bare = SITU_PROBLEM_OPTIONS_INIT;
    bare.execution = SITU_EXECUTION_STREAM;
    OWN(situ_problem) *free_problem = NULL;
    assert_int_equal(situ_problem_pose(&free_problem, l.graph, l.platform, l.costs, &bare, NULL), SITU_STATUS_OK);
    OWN(arena) *a = arena_new();
    together t = {free_problem, key, simulator_new(free_problem, a), SITU_NEVER_NS};
    brute_each(free_problem, look, &t);
    situ_solve_options s = SITU_SOLVE_OPTIONS_INIT;
    s.solvers = "branch_and_bound";
    assert_int_equal(situ_solve(&plan, p, &s, NULL), SITU_STATUS_OK);
    if (plan->value_ns != t.min_ns)
      fail_msg("seed %d: %lld, not %lld", (int)seed, (long long)plan->value_ns, (long long)t.min_ns);
  }
}

TEST_MAIN
