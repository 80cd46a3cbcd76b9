/* Plans with few hand-overs: contiguous ones, and the choice among plans that are nearly as good. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "../../../lab/tier.h"
#include "base/rng.h"
#include "graph/builder.h"
#include "sim/simulate.h"
#include "situ.h"
#include "solve/answer/handover_search.h"
#include "solve/stream/contiguous.h"
#include "view/handovers.h"

/* ---- hand-overs ---- */

static int32_t naive_handovers(const situ_problem *p, const int32_t *device) {
  int32_t n = 0;
  for (int32_t t = 0; t < p->graph->n_tensors; t++)
    for (int32_t d = 0; d < p->n_devices; d++) {
      bool receives = false;
      for (int64_t i = p->graph->use_start[t]; i < p->graph->use_start[t + 1]; i++)
        receives |= device[p->graph->use[i]] == d;
      n += receives && d != device[p->graph->producer[t]];
    }
  return n;
}

TEST(handovers_are_pairs_of_tensor_and_receiving_device) {
  for (uint64_t seed = 0; seed < 200; seed++) {
    OWN(lab)
    l = lab_random(&(lab_options){.seed = seed,
                                  .n_operators = 12,
                                  .n_devices = 4,
                                  .density = 0.2,
                                  .options = {.execution = SITU_EXECUTION_STREAM}});
    int32_t device[12];
    rng r = rng_new(seed);
    handovers h;
    OWN(arena) *a = arena_new();
    for (int32_t v = 0; v < 12; v++) device[v] = (int32_t)rng_below(&r, 4);
    assert_true(handovers_find(&h, l.problem, device, a));
    assert_int_equal(h.n, naive_handovers(l.problem, device));
    for (int32_t t = 0; t < l.graph->n_tensors; t++) /* an edge within a device joins */
      for (int64_t i = l.graph->use_start[t]; i < l.graph->use_start[t + 1]; i++)
        if (device[l.graph->producer[t]] == device[l.graph->use[i]])
          assert_int_equal(h.island[l.graph->producer[t]], h.island[l.graph->use[i]]);
    for (int32_t v = 0; v < 12; v++) device[v] = 2;
    assert_true(handovers_find(&h, l.problem, device, a));
    assert_int_equal(h.n, 0);
    assert_int_equal(h.n_parts, 1); /* however many pieces the graph has */
  }
}

/* ---- contiguous plans of chains, against all of them ---- */

/* A chain with random times and transfers, on three devices with memories of their own. */
static lab random_chain(uint64_t seed, int32_t n) {
  situ_graph_builder *b;
  rng r = rng_new(seed);
  assert_int_equal(situ_graph_builder_new(&b, "chain", NULL), SITU_STATUS_OK);
  for (int32_t v = 0; v < n; v++) {
    int32_t at, t;
    situ_operator o = {.kind = "Add", .colocation = -1, .source_id = -1, .flops = rng_below(&r, 2000000000)};
    situ_tensor made = {.rank = -1, .size_bytes = rng_below(&r, 2000000)};
    o.weight_bytes = rng_below(&r, 1000000);
    assert_int_equal(builder_add_operator(b, &o, &at, NULL), SITU_STATUS_OK);
    assert_int_equal(builder_add_tensor(b, at, &made, &t, NULL), SITU_STATUS_OK);
    if (v > 0) assert_int_equal(builder_add_use(b, at, t - 1, NULL), SITU_STATUS_OK);
  }
  lab l = lab_of_builder(b, "cpu+v100-16g+p100-16g");
  for (int64_t i = 0; i < (int64_t)n * l.costs->n_classes; i++) /* any device may be the best for any operator */
    l.costs->time_ns[i] = rng_below(&r, 12) == 0 ? SITU_NEVER_NS : rng_below(&r, 400000);
  for (int32_t v = 0; v < n; v++) l.costs->time_ns[(int64_t)v * l.costs->n_classes] = 300000;
  assert_int_equal(situ_problem_pose(&l.problem, l.graph, l.platform, l.costs, NULL, NULL), SITU_STATUS_OK);
  return l;
}

/* The least simulated value of all placements in which each device has one interval, by number of devices. */
static void all_contiguous(int64_t best[3], const situ_problem *p) {
  OWN(arena) *a = arena_new();
  simulator *s = simulator_new(p, a);
  int32_t n = p->n_operators, device[16], all = 1;
  for (int32_t v = 0; v < n; v++) all *= 3;
  for (int32_t k = 0; k < 3; k++) best[k] = SITU_NEVER_NS;
  for (int32_t code = 0; code < all; code++) {
    int32_t runs = 1, used = 0, n_used = 0;
    for (int32_t v = 0, rest = code; v < n; v++, rest /= 3) device[v] = rest % 3;
    for (int32_t v = 0; v < n; v++) {
      runs += v > 0 && device[v] != device[v - 1];
      used |= 1 << device[v];
    }
    for (int32_t d = 0; d < 3; d++) n_used += used >> d & 1;
    if (runs != n_used) continue;
    simulation found = simulator_run(s, &(placement){.device = device}, true);
    if (found.excess_bytes == 0 && found.value_ns < best[n_used - 1]) best[n_used - 1] = found.value_ns;
  }
}

TEST(contiguous_plans_of_chains_are_the_best_of_all) {
  for (uint64_t seed = 0; seed < 60; seed++) {
    OWN(lab) l = random_chain(seed, 7);
    OWN(arena) *a = arena_new();
    chain c;
    int32_t *device[CONTIGUOUS_DEVICES];
    int64_t value[CONTIGUOUS_DEVICES], best[3];
    assert_true(chain_of_units(&c, l.problem, &l.problem->units, a) && contiguous_by_devices(device, value, &c, a));
    all_contiguous(best, l.problem);
    simulator *s = simulator_new(l.problem, a);
    for (int32_t k = 0; k < 3; k++) {
      assert_true(value[k] == best[k]);
      if (best[k] == SITU_NEVER_NS) continue;
      assert_true(simulator_run(s, &(placement){.device = device[k]}, true).value_ns == best[k]);
    }
  }
}

/* Cuts at a price: the least of value + price * cuts over all placements of a chain. */
TEST(priced_cuts_of_chains_are_the_best_of_all) {
  for (uint64_t seed = 0; seed < 40; seed++) {
    OWN(lab) l = random_chain(seed, 6);
    OWN(arena) *a = arena_new();
    chain c;
    branch_chain path;
    int32_t found[6], device[6];
    int64_t price = (int64_t)(seed % 5) * 50000, least = SITU_NEVER_NS, value = 0;
    simulator *s = simulator_new(l.problem, a);
    assert_true(chain_of_units(&c, l.problem, &l.problem->units, a) && branch_chain_of(&path, &c, a) &&
                contiguous_by_price(found, &c, &path, price));
    for (int32_t code = 0; code < 729; code++) {
      int64_t cuts = 0;
      for (int32_t v = 0, rest = code; v < 6; v++, rest /= 3) device[v] = rest % 3;
      for (int32_t v = 1; v < 6; v++) cuts += device[v] != device[v - 1];
      int64_t sum = simulator_run(s, &(placement){.device = device}, true).value_ns;
      if (sum < SITU_NEVER_NS && sum + cuts * price < least) least = sum + cuts * price;
      if (memcmp(found, device, sizeof device) == 0) value = sum + cuts * price;
    }
    assert_true(value == least);
  }
}

/* ---- the choice ---- */

static handover_plan plan_of(int64_t value, int32_t n, int32_t parts) {
  return (handover_plan){.value_ns = value, .time_ns = value, .cost = {.n = n, .n_parts = parts, .min_units = 1}};
}

TEST(the_choice_keeps_its_rules) {
  handover_pool pool = {.n = 4, .single = 0};
  pool.plan[0] = plan_of(1200, 0, 1);
  pool.plan[1] = plan_of(1019, 2, 2);
  pool.plan[2] = plan_of(1010, 9, 5);
  pool.plan[3] = plan_of(1000, 40, 30);
  assert_int_equal(handover_choose(&pool, &(handover_rules){.tolerance = 0}), 3);
  assert_int_equal(handover_choose(&pool, &(handover_rules){.tolerance = 0.01}), 2); /* 1010 = 1000 * 1.01 */
  assert_int_equal(handover_choose(&pool, &(handover_rules){.tolerance = 0.02}), 1);
  assert_int_equal(handover_choose(&pool, &(handover_rules){.tolerance = 0.02, .min_gain = 0.21}),
                   0); /* 1000 * 1.21 > 1200 */
  assert_int_equal(handover_choose(&pool, &(handover_rules){.tolerance = 0.02, .min_gain = 0.185}),
                   2); /* at most 1012 */
  assert_int_equal(handover_choose(&pool, &(handover_rules){.tolerance = 0.3}), 0);
  assert_int_equal(handover_choose(&pool, &(handover_rules){.max_parts = 4}), 1);
  assert_int_equal(handover_choose(&pool, &(handover_rules){.min_units = 2}),
                   -1); /* the plans above have parts of one */
  pool.single = -1;     /* no device can run it all */
  assert_int_equal(handover_choose(&pool, &(handover_rules){.tolerance = 0.02, .min_gain = 5}), 1);
}

static int32_t parts_of(const situ_plan *plan, const situ_problem *problem) {
  int32_t *device = malloc(sizeof *device * (size_t)problem->n_operators);
  arena *a = arena_new();
  handovers h;
  for (int32_t v = 0; v < problem->n_operators; v++) device[v] = situ_plan_device(plan, v);
  assert_true(handovers_find(&h, problem, device, a));
  arena_free(a);
  free(device);
  return h.n_parts;
}

static situ_plan *solve(const situ_problem *p, situ_solve_options o) {
  situ_plan *plan;
  situ_error error;
  o.size = sizeof o;
  o.max_steps = 300;
  if (situ_solve(&plan, p, &o, &error) != SITU_STATUS_OK) fail_msg("%s", error.text);
  return plan;
}

/* On random problems: the plan chosen is within the tolerance, has no more hand-overs than the best found, keeps the
 * limit on parts, and passes the checker (situ_solve sees to that). */
TEST(chosen_plans_are_near_the_best_found) {
  int32_t n_fewer = 0, rounds = few_rounds_of(250);
  for (uint64_t seed = 0; seed < (uint64_t)rounds; seed++) {
    OWN(lab)
    l = lab_random(&(lab_options){.seed = seed,
                                  .n_operators = 20,
                                  .n_devices = 3,
                                  .density = 0.12,
                                  .n_colocations = (int32_t)(seed % 3),
                                  .pinned = seed % 5 == 0,
                                  .unsupported = seed % 4 == 0,
                                  .memory = seed % 6 == 0 ? 0.7 : 0,
                                  .options = {.execution = SITU_EXECUTION_STREAM}});
    OWN(situ_plan) *best = solve(l.problem, (situ_solve_options){0});
    OWN(situ_plan) *few = solve(l.problem, (situ_solve_options){.tolerance = 0.1});
    if (plan_exists(few)) {
      int64_t found = plan_best_found_ns(few);
      assert_true(found <= best->value_ns);
      assert_true((double)few->value_ns <= 1.1 * (double)found);
      assert_true(few->n_handovers <= plan_best_found_handovers(few));
      n_fewer += few->n_handovers < best->n_handovers;
    }
    OWN(situ_plan) *two = solve(l.problem, (situ_solve_options){.max_parts = 2});
    if (plan_exists(two)) assert_true(parts_of(two, l.problem) <= 2);
  }
  assert_true(6 * n_fewer > rounds);
}

TEST_MAIN
