/* The call graph, its ideals, the calls between them, and the bound that goes over them: by hand, and the costs of
 * calls against the simulator on random problems. */
#include "../../lab/lab.h"
#include "../scenario.h"
#include "bound/call_price.h"

static const situ_problem_options calls = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS};

/* A host and an accelerator with room for 100 bytes. Operators take 10 ns on the host and 1 ns on the accelerator. */
static scenario machine(int32_t n, int64_t weight_bytes) {
  scenario s = scenario_new();
  scenario_device(&s, SITU_UNLIMITED_BYTES, -1, true);
  scenario_device(&s, 100, -1, false);
  scenario_link(&s, 0, 1, 0, -1);
  scenario_link(&s, 1, 0, 0, -1);
  for (int32_t v = 0; v < n; v++) {
    scenario_operator(&s, NULL, 10, weight_bytes, 0);
    s.time_ns[v][1] = 1;
  }
  return s;
}

static void a_diamond_has_six_ideals(void **state) {
  (void)state;
  scenario s = machine(4, 7);
  scenario_tensor(&s, 0, 3, 1, 2, -1);
  scenario_tensor(&s, 1, 5, 3, -1);
  scenario_tensor(&s, 2, 6, 3, -1);
  scenario_pose(&s, &calls);
  call_graph g;
  call_lattice l;
  budget b = budget_new(0, 0, NULL, NULL);
  assert_true(call_graph_find(&g, s.problem, 0, s.arena));
  assert_int_equal(g.n, 4);
  assert_int_equal(call_lattice_find(&l, &g, 100, s.arena, &b), CALL_LATTICE_ALL);
  assert_int_equal(l.n, 6); /* {} 0 01 02 012 0123 */
  assert_int_equal(call_lattice_find(&l, &g, 5, s.arena, &b), CALL_LATTICE_TOO_LARGE);
  scenario_free(&s);
}

/* a feeds b, which takes no time, has no weights and hands on nothing that costs, to c; d takes no time and feeds c. */
static void idle_operators_are_fused(void **state) {
  (void)state;
  scenario s = machine(4, 0);
  for (int32_t v = 1; v < 4; v += 2) s.time_ns[v][0] = s.time_ns[v][1] = 0;
  scenario_tensor(&s, 0, 5, 1, -1);
  scenario_tensor(&s, 1, 0, 2, -1);
  scenario_tensor(&s, 3, 4, 2, -1);
  scenario_pose(&s, &calls);
  call_graph g;
  assert_true(call_graph_find(&g, s.problem, 0, s.arena));
  assert_int_equal(g.n, 2);
  assert_int_equal(g.n_tensors, 1);
  assert_int_equal(g.in_ns[0], 0);
  scenario_free(&s);
}

static void a_chain_that_does_not_fit_pays_for_the_host_or_for_its_cut(void **state) {
  (void)state;
  scenario s = machine(3, 40); /* two fit at a time */
  scenario_tensor(&s, 0, 3, 1, -1);
  scenario_tensor(&s, 1, 5, 2, -1);
  scenario_pose(&s, &calls);
  call_graph g;
  call_lattice l;
  call_price c;
  bool unfit;
  budget b = budget_new(0, 0, NULL, NULL);
  assert_true(call_graph_find(&g, s.problem, 0, s.arena));
  assert_int_equal(call_lattice_find(&l, &g, 100, s.arena, &b), CALL_LATTICE_ALL);
  assert_true(call_price_make(&c, &l, &unfit, s.arena));
  assert_true(call_price_solve(&c, &b));
  assert_int_equal(c.lower_ns, (1 + 3) + (3 + 1 + 1)); /* two calls; without a price 120 bytes fit */
  assert_true(call_price_improve(&c, &b));
  assert_true(c.lower_ns >= 9);
  assert_true(c.lower_ns <= 10 + 3 + 1 + 1); /* the optimum: 120 bytes do not fit into 100, so one is on the host */
  scenario_free(&s);
}

/* Runs all of a random problem that is inside `upper` but not inside `lower` as one call, the rest on the host. */
static int64_t simulated_cost(const call_lattice *l, simulator *s, int32_t lower, int32_t upper) {
  const situ_problem *p = l->graph->problem;
  int32_t device[SCENARIO_MOST] = {0}, call[SCENARIO_MOST];
  int32_t member = -1;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t k = l->graph->node_of[v];
    bool inside = k >= 0 && !call_lattice_has(l, lower, k) && call_lattice_has(l, upper, k);
    device[v] = inside;
    call[v] = inside ? 0 : -1;
    if (inside) member = v;
  }
  simulation r = simulator_run(s, &(placement){.device = device, .call = call}, false);
  return r.value_ns == SITU_NEVER_NS ? r.value_ns : r.finish_ns[member] - r.start_ns[member];
}

static void the_walk_passes_each_call_once_at_its_price(void **state) {
  (void)state;
  int64_t n_calls = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    lab_options o = {
        .seed = seed, .n_operators = 3 + (int32_t)(seed % 6), .n_devices = 2, .density = 0.35, .options = calls};
    lab random = lab_random(&o);
    arena *a = arena_new();
    simulator *s = simulator_new(random.problem, a);
    call_graph g;
    call_lattice l;
    call_iterator w;
    budget b = budget_new(0, 0, NULL, NULL);
    assert_true(call_graph_find(&g, random.problem, 0, a));
    assert_int_equal(call_lattice_find(&l, &g, 4096, a, &b), CALL_LATTICE_ALL);
    assert_true(call_iterator_make(&w, &l, NULL, NULL, a));
    for (int32_t from = 0; from < l.n; from++) {
      bool seen[4096] = {false};
      int32_t n = 0, above = 0;
      call_iterator_start(&w, from);
      for (int32_t to; (to = call_iterator_next(&w, true)) >= 0; n++) {
        assert_false(seen[to]);
        seen[to] = true;
        assert_int_equal(w.compute_ns + w.in_ns + w.out_ns, simulated_cost(&l, s, from, to));
      }
      for (int32_t to = 0; to < l.n; to++) {
        bool subset = to != from;
        for (int32_t v = 0; v < g.n; v++) subset &= !call_lattice_has(&l, from, v) || call_lattice_has(&l, to, v);
        above += subset;
      }
      assert_int_equal(n, above);
      n_calls += n;
    }
    arena_free(a);
    lab_free(&random);
  }
  assert_true(n_calls > 10000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_diamond_has_six_ideals),
      cmocka_unit_test(idle_operators_are_fused),
      cmocka_unit_test(a_chain_that_does_not_fit_pays_for_the_host_or_for_its_cut),
      cmocka_unit_test(the_walk_passes_each_call_once_at_its_price),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
