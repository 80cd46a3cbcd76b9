/* The call graph, its ideals, the calls between them, and the bound that goes over them: by hand, and the costs of
 * calls against the simulator on random problems. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "exact/call_price.h"

static const situ_problem_options calls = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS};

/* A host and an accelerator with room for 100 bytes. Operators take 10 ns on the host and 1 ns on the accelerator. */
static lab machine(int32_t n, int64_t weight_bytes) {
  lab s = lab_new();
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
  lab_device(&s, 100, -1, false);
  lab_star(&s);
  for (int32_t v = 0; v < n; v++) {
    lab_operator(&s, NULL, 10, weight_bytes, 0);
    s.time_ns[v][1] = 1;
  }
  return s;
}

/* What a problem's call_graph gives: its ideals, and the prices of calls between them. It points into itself. */
typedef struct found {
  call_graph g;
  call_lattice l;
  call_price c;
  budget b;
} found;

static void find_ideals(found *f, const situ_problem *problem, int32_t most, arena *a) {
  f->b = budget_new(0, 0, NULL, NULL);
  assert_true(call_graph_find(&f->g, problem, 0, a));
  assert_int_equal(call_lattice_find(&f->l, &f->g, most, a, &f->b), CALL_LATTICE_ALL);
}

static void find_prices(found *f, const lab *s) {
  bool unsupported;
  find_ideals(f, s->problem, 100, s->arena);
  assert_true(call_price_make(&f->c, &f->l, &unsupported, s->arena));
}

TEST(a_diamond_has_six_ideals) {
  OWN(lab) s = machine(4, 7);
  lab_tensor(&s, 0, 3, 1, 2, -1);
  lab_tensor(&s, 1, 5, 3, -1);
  lab_tensor(&s, 2, 6, 3, -1);
  lab_pose(&s, &calls);
  found f;
  find_ideals(&f, s.problem, 100, s.arena);
  assert_int_equal(f.g.n, 4);
  assert_int_equal(f.l.n, 6); /* {} 0 01 02 012 0123 */
  assert_int_equal(call_lattice_find(&f.l, &f.g, 5, s.arena, &f.b), CALL_LATTICE_TOO_LARGE);
}

/* a feeds b, which takes no time, has no weights and hands on nothing that costs, to c; d takes no time and feeds c. */
TEST(idle_operators_are_fused) {
  OWN(lab) s = machine(4, 0);
  for (int32_t v = 1; v < 4; v += 2) s.time_ns[v][0] = s.time_ns[v][1] = 0;
  lab_tensor(&s, 0, 5, 1, -1);
  lab_tensor(&s, 1, 0, 2, -1);
  lab_tensor(&s, 3, 4, 2, -1);
  lab_pose(&s, &calls);
  call_graph g;
  assert_true(call_graph_find(&g, s.problem, 0, s.arena));
  assert_int_equal(g.n, 2);
  assert_int_equal(g.n_tensors, 1);
  assert_int_equal(g.in_ns[0], 0);
}

/* The same b, needing 50 bytes while it runs and c none: it stays by itself, for the accelerator may have room for c
 * alone. */
TEST(what_needs_more_memory_than_its_user_is_not_fused) {
  for (int32_t workspace = 0; workspace <= 50; workspace += 50) {
    OWN(lab) s = machine(0, 0);
    lab_operator(&s, "b", 0, 0, workspace);
    lab_operator(&s, "c", 1, 0, 0);
    lab_tensor(&s, 0, 4, 1, -1);
    lab_tensor(&s, 1, 4, -1);
    lab_pose(&s, &calls);
    call_graph g;
    assert_true(call_graph_find(&g, s.problem, 0, s.arena));
    assert_int_equal(g.n, workspace ? 2 : 1);
  }
}

TEST(a_chain_that_does_not_fit_pays_for_the_host_or_for_its_cut) {
  OWN(lab) s = machine(3, 40); /* two fit at a time */
  lab_tensor(&s, 0, 3, 1, -1);
  lab_tensor(&s, 1, 5, 2, -1);
  lab_pose(&s, &calls);
  found f;
  find_prices(&f, &s);
  assert_true(call_price_solve(&f.c, &f.b));
  assert_int_equal(f.c.lower_ns, (1 + 3) + (3 + 1 + 1)); /* two calls; without a price 120 bytes fit */
  assert_true(call_price_improve(&f.c, &f.b));
  assert_true(f.c.lower_ns >= 9);
  assert_true(f.c.lower_ns <= 10 + 3 + 1 + 1); /* the optimum: 120 bytes do not fit into 100, so one is on the host */
}

/* a hands 5 bytes to b, which takes no time and hands 5 on to c, and that 7 to d; a, which makes 20 more for d, needs
 * the most memory. b is one with a, whatever c makes. */
TEST(what_hands_on_no_more_than_it_takes_is_fused) {
  OWN(lab) s = machine(4, 0);
  s.time_ns[1][0] = s.time_ns[1][1] = 0;
  for (int32_t v = 0; v < 3; v++) lab_tensor(&s, v, v == 2 ? 7 : 5, v + 1, -1);
  lab_tensor(&s, 0, 20, 3, -1);
  lab_pose(&s, &calls);
  call_graph g;
  assert_true(call_graph_find(&g, s.problem, 0, s.arena));
  assert_int_equal(g.n, 3);
  assert_int_equal(g.node_of[1], g.node_of[0]);
}

/* a hands 5 bytes to b, which takes no time and hands 2 and 2 on to c; a makes 20 more for c. With 2 ns of latency on
 * one way, there or back, those of a take 7 ns on it and those of b 8: b stays by itself. With none it is one with a.
 */
TEST(each_way_may_cost_what_is_handed_on) {
  for (int slow = -1; slow < 2; slow++) {
    OWN(lab) s = machine(3, 0);
    if (slow >= 0) s.links[slow].latency_ns = 2;
    s.time_ns[1][0] = s.time_ns[1][1] = 0;
    lab_tensor(&s, 0, 5, 1, -1);
    lab_tensor(&s, 0, 20, 2, -1);
    for (int i = 0; i < 2; i++) lab_tensor(&s, 1, 2, 2, -1);
    lab_pose(&s, &calls);
    call_graph g;
    assert_true(call_graph_find(&g, s.problem, 0, s.arena));
    assert_int_equal(g.n, slow >= 0 ? 3 : 2);
  }
}

/* In ms: a and c take 10 on the host and 1 on the accelerator, b 10 and 50; each tensor takes 1. Two calls and b on the
 * host take 2 + 10 + 2 = 14, one call 2 + 20 = 22, none 30. Only one is allowed: at a toll of y a call, two come to 14
 * + y and one to 22, so that a toll of 8 proves all of it. */
TEST(a_toll_counts_the_calls) {
  enum { MS = 1000000 };
  OWN(lab) s = machine(3, 7);
  for (int32_t v = 0; v < 3; v++) {
    s.time_ns[v][0] = 10 * MS;
    s.time_ns[v][1] = v == 1 ? 50 * MS : MS;
    if (v > 0) lab_tensor(&s, v - 1, MS, v, -1);
  }
  s.devices[1].memory_bytes = SITU_UNLIMITED_BYTES;
  lab_pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options), .max_calls = 1});
  found f;
  find_prices(&f, &s);
  assert_true(call_price_solve(&f.c, &f.b));
  assert_int_equal(f.c.lower_ns, 14 * MS);
  assert_true(call_price_improve(&f.c, &f.b));
  assert_true(f.c.lower_ns > 21 * MS && f.c.lower_ns <= 22 * MS);
}

/* With g = 2^20 ns: a and c take g on the accelerator and 2 g on the host, b 1000 g and 62 g; tensors take no time. Two
 * calls take 64 g, one 65 g, none 66 g; one is allowed. At a toll of g, a 64th of 64 g and the first that is tried, all
 * three prove 65 g. The tolls tried later are too low: the last that halving reaches, g (1 - 2^-11), proves 512 ns
 * less. */
TEST(the_best_toll_is_gone_back_to) {
  enum { G = 1 << 20 };
  OWN(lab) s = machine(3, 7);
  for (int32_t v = 0; v < 3; v++) {
    s.time_ns[v][0] = v == 1 ? 62 * G : 2 * G;
    s.time_ns[v][1] = v == 1 ? 1000 * G : G;
    if (v > 0) lab_tensor(&s, v - 1, 0, v, -1);
  }
  lab_pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options), .max_calls = 1});
  found f;
  find_prices(&f, &s);
  assert_true(call_price_solve(&f.c, &f.b));
  assert_int_equal(f.c.lower_ns, 64 * G);
  assert_true(call_price_improve(&f.c, &f.b));
  assert_int_equal(f.c.lower_ns, 65 * G);
}

/* Into the accelerator a tensor of 3 bytes takes 3 ns, out of it 5. Two operators take 10 and 1 each, and the tensor
 * goes from the one to the other: 22 + 5 + 3. */
TEST(all_times_are_added_up) {
  OWN(lab) s = machine(2, 7);
  s.links[1].latency_ns = 2;
  lab_tensor(&s, 0, 3, 1, -1);
  lab_pose(&s, &calls);
  call_graph g;
  assert_true(call_graph_find(&g, s.problem, 0, s.arena));
  assert_int_equal(g.in_ns[0], 3);
  assert_int_equal(g.out_ns[0], 5);
  assert_int_equal(g.total_ns, 30);
}

/* Of the two ways through a diamond the one over operator 2, which takes 2 ns at least and not 1, is the longest. */
TEST(the_path_is_the_longest_way) {
  OWN(lab) s = machine(4, 7);
  s.time_ns[2][1] = 2;
  lab_tensor(&s, 0, 3, 1, 2, -1);
  lab_tensor(&s, 1, 5, 3, -1);
  lab_tensor(&s, 2, 6, 3, -1);
  lab_pose(&s, &calls);
  found f;
  find_prices(&f, &s);
  for (int32_t v = 0; v < 4; v++) {
    assert_int_equal(f.c.through[v], v == 1 ? 0 : CALL_PARTS);
    assert_int_equal(f.c.ending[v], v == 3 ? CALL_PARTS : 0);
  }
  for (int32_t t = 0; t < 3; t++)
    for (int32_t i = f.g.use_start[t]; i < f.g.use_start[t + 1]; i++) {
      bool on_path = (t == 0 && f.g.use[i] == 2) || t == 2;
      assert_int_equal(f.c.flow_in[i], on_path ? CALL_PARTS : 0);
    }
}

/* A chain of groups of two operators. An ideal cuts the group whose first operator is its last; of groups there are
 * bits for 64, and the others are not followed. Each is cut by one ideal: less than a quarter of all from four groups
 * on, which have nine ideals; three have seven. */
static void groups_are_followed(int32_t n_groups) {
  situ_graph_builder *builder;
  assert_int_equal(situ_graph_builder_new(&builder, "groups", NULL), SITU_STATUS_OK);
  for (int32_t v = 0; v < 2 * n_groups; v++) {
    situ_operator op = {.colocation = v / 2, .source_id = -1, .flops = 1e9, .moved_bytes = 1e6};
    situ_tensor t = {.rank = -1, .size_bytes = 1000};
    assert_int_equal(builder_add_operator(builder, &op, NULL, NULL), SITU_STATUS_OK);
    assert_int_equal(builder_add_tensor(builder, v, &t, NULL, NULL), SITU_STATUS_OK);
    if (v > 0) assert_int_equal(builder_add_use(builder, v, v - 1, NULL), SITU_STATUS_OK);
  }
  OWN(lab) chain = lab_of_builder(builder, "cpu+v100-16g");
  assert_int_equal(situ_problem_pose(&chain.problem, chain.graph, chain.platform, chain.costs, &calls, NULL), 0);
  OWN(arena) *a = arena_new();
  found f;
  find_ideals(&f, chain.problem, 1000, a);
  assert_int_equal(f.g.n, 2 * n_groups);
  assert_int_equal(f.l.n, 2 * n_groups + 1);
  for (int32_t v = 0; v < 2 * n_groups; v++) assert_true(f.l.groups[v] == (v < 128 ? (uint64_t)1 << (v / 2) : 0));
  for (int32_t i = 0; i < f.l.n; i++) /* of i operators */
    assert_true(f.l.cut[i] == (i % 2 && i < 128 ? (uint64_t)1 << (i / 2) : 0));
  bool unsupported;
  uint64_t all = n_groups < 64 ? ((uint64_t)1 << n_groups) - 1 : ~(uint64_t)0;
  assert_true(call_price_make(&f.c, &f.l, &unsupported, a));
  assert_true(f.c.ties == (n_groups < 4 ? 0 : all));
  assert_int_equal(f.c.n_levels, n_groups < 4 ? 1 : CALL_LEVELS);
}

TEST(the_first_64_groups_that_few_ideals_cut_are_followed) {
  for (int32_t n_groups = 1; n_groups < 6; n_groups++) groups_are_followed(n_groups);
  groups_are_followed(66);
}

/* Runs all of a random problem that is inside `upper` but not inside `lower` as one call, the rest on the host. */
static int64_t simulated_cost(const call_lattice *l, simulator *s, int32_t lower, int32_t upper) {
  const situ_problem *p = l->graph->problem;
  int32_t device[LAB_MAX_OPERATORS] = {0}, call[LAB_MAX_OPERATORS];
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

TEST(the_walk_passes_each_call_once_at_its_price) {
  int64_t n_calls = 0;
  for (uint64_t seed = 0; seed < 300; seed++) {
    lab_options o = {
        .seed = seed, .n_operators = 3 + (int32_t)(seed % 6), .n_devices = 2, .density = 0.35, .options = calls};
    OWN(lab) random = lab_random(&o);
    OWN(arena) *a = arena_new();
    simulator *s = simulator_new(random.problem, a);
    found f;
    call_iterator w;
    find_ideals(&f, random.problem, 4096, a);
    const call_lattice *l = &f.l;
    assert_true(call_iterator_make(&w, l, NULL, NULL, a));
    for (int32_t from = 0; from < l->n; from++) {
      bool seen[4096] = {false};
      int32_t n = 0, above = 0;
      call_iterator_start(&w, from); /* a walk that is left midway takes nothing along */
      for (int32_t k = 0; k < 2 && call_iterator_next(&w, true) >= 0; k++) continue;
      call_iterator_start(&w, from);
      for (int32_t to; (to = call_iterator_next(&w, true)) >= 0; n++) {
        assert_false(seen[to]);
        seen[to] = true;
        assert_int_equal(w.compute_ns + w.in_ns + w.out_ns, simulated_cost(l, s, from, to));
      }
      for (int32_t to = 0; to < l->n; to++) {
        bool subset = to != from;
        for (int32_t v = 0; v < f.g.n; v++) subset &= !call_lattice_has(l, from, v) || call_lattice_has(l, to, v);
        above += subset;
      }
      assert_int_equal(n, above);
      n_calls += n;
    }
  }
  assert_true(n_calls > 10000);
}

/* Group 0 is cut by both ideals, at a level of 2 bytes; an accelerator holds 10. A call of 7 more bytes of the group
 * after level 1 makes 9, level 4; after level 2 they are 11 and do not fit. */
TEST(tied_calls_have_to_fit_together) {
  uint64_t cut[2] = {1, 1};
  call_graph g = {.call_bytes = 10};
  call_lattice l = {.graph = &g, .cut = cut, .n = 2};
  call_price c = {.lattice = &l, .n_levels = CALL_LEVELS, .level_bytes = 2, .ties = 1};
  call_move move = {.from = 0, .to = 1, .weight_bytes = 7, .groups = 1};
  assert_int_equal(call_price_level(&c, &move, 1), 4);
  assert_int_equal(call_price_level(&c, &move, 2), -1);
  move.weight_bytes = 6; /* filled to the last byte */
  assert_int_equal(call_price_level(&c, &move, 2), 5);
  move.groups = 2; /* of another group: what is tied stays as it is, and the new bytes are counted by themselves */
  assert_int_equal(call_price_level(&c, &move, 2), 2);
  move.weight_bytes = 11;
  assert_int_equal(call_price_level(&c, &move, 0), -1);
  move.host = true;
  assert_int_equal(call_price_level(&c, &move, 3), 3);
}

TEST_MAIN
