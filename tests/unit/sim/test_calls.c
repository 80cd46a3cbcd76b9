/* The calls model: by hand, and against a recursive reading of docs/model.md on random problems. */
#include "../../lab/lab.h"
#include "../../lab/test.h"

static const situ_problem_options calls = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_CALLS};

/* Three operators, 10 ns on a host and 1 ns on an accelerator of 100 bytes. */
static lab three(void) {
  lab s = lab_new();
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
  lab_device(&s, 100, -1, false);
  lab_star(&s);
  for (int32_t v = 0; v < 3; v++) {
    lab_operator(&s, NULL, 10, 7, 0);
    s.time_ns[v][1] = 1;
  }
  return s;
}

/* A host and an accelerator; a chain of three operators of 10 ns on the host and 1 ns on the accelerator, tensors of 3
 * and 5 bytes at 1 ns a byte. */
static lab chain(void) {
  lab s = three();
  lab_tensor(&s, 0, 3, 1, -1);
  lab_tensor(&s, 1, 5, 2, -1);
  lab_pose(&s, &calls);
  return s;
}

TEST(a_call_takes_in_computes_and_gives_out) {
  OWN(lab) s = chain();
  int32_t device[3] = {0, 1, 0};
  simulation r = simulator_run(s.simulator, &(placement){.device = device}, true);
  assert_int_equal(r.start_ns[1], 10);
  assert_int_equal(r.finish_ns[1], 10 + 3 + 1 + 5);
  assert_int_equal(r.value_ns, 10 + 9 + 10);
  assert_int_equal(r.peak_bytes[1], 7 + 3 + 5);
}

TEST(a_whole_chain_in_one_call_moves_nothing) {
  OWN(lab) s = chain();
  int32_t device[3] = {1, 1, 1};
  simulation r = simulator_run(s.simulator, &(placement){.device = device}, true);
  assert_int_equal(r.value_ns, 3);
  int32_t apart[3] = {0, 0, 1}; /* the same as three calls: each tensor out and in */
  r = simulator_run(s.simulator, &(placement){.device = device, .call = apart}, true);
  assert_int_equal(r.value_ns, (2 + 5) + (5 + 1));
}

TEST(a_device_left_and_entered_again_makes_two_calls) {
  OWN(lab) s = chain();
  int32_t device[3] = {1, 0, 1};
  simulation r = simulator_run(s.simulator, &(placement){.device = device}, true);
  assert_int_equal(r.value_ns, (1 + 3) + 10 + (5 + 1));
  int32_t one[3] = {0, -1, 0}; /* one call that waits for itself */
  r = simulator_run(s.simulator, &(placement){.device = device, .call = one}, true);
  assert_true(r.value_ns == SITU_NEVER_NS);
  int32_t on_the_host[3] = {0, 1, 0}, none[3] = {-1, -1, -1}, beyond[3] = {0, -1, 3};
  assert_true(simulator_run(s.simulator, &(placement){.device = device, .call = on_the_host}, true).value_ns ==
              SITU_NEVER_NS);
  assert_true(simulator_run(s.simulator, &(placement){.device = device, .call = none}, true).value_ns == SITU_NEVER_NS);
  assert_true(simulator_run(s.simulator, &(placement){.device = device, .call = beyond}, true).value_ns ==
              SITU_NEVER_NS);
}

/* The same with one call at most: the two calls do not run; the whole chain in one call does, but not cut into two. */
TEST(no_more_calls_run_than_are_allowed) {
  OWN(lab) s = three();
  lab_tensor(&s, 0, 3, 1, -1);
  lab_tensor(&s, 1, 5, 2, -1);
  lab_pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options), .max_calls = 1});
  assert_int_equal(s.problem->execution, SITU_EXECUTION_CALLS);
  assert_int_equal(s.problem->max_calls, 1);
  int32_t left[3] = {1, 0, 1}, whole[3] = {1, 1, 1}, apart[3] = {0, 0, 1};
  assert_true(simulator_run(s.simulator, &(placement){.device = left}, true).value_ns == SITU_NEVER_NS);
  assert_int_equal(simulator_run(s.simulator, &(placement){.device = whole}, true).value_ns, 3);
  assert_true(simulator_run(s.simulator, &(placement){.device = whole, .call = apart}, true).value_ns == SITU_NEVER_NS);
  int32_t host[3] = {0, 0, 0}; /* where nothing is called */
  assert_int_equal(simulator_run(s.simulator, &(placement){.device = host}, true).value_ns, 30);
}

TEST(a_number_of_calls_goes_with_calls_only) {
  OWN(lab) s = chain();
  situ_problem *p;
  situ_error error;
  for (situ_execution e = SITU_EXECUTION_STREAM; e <= SITU_EXECUTION_PIPELINE; e++) {
    situ_problem_options options = {.size = sizeof(situ_problem_options), .execution = e, .max_calls = 2};
    situ_status status = situ_problem_pose(&p, s.graph, s.platform, s.costs, &options, &error);
    assert_int_equal(status, e == SITU_EXECUTION_CALLS ? SITU_STATUS_OK : SITU_STATUS_BAD_ARGUMENT);
    situ_problem_free(p);
  }
}

/* a and b have nothing to do with each other: each 1 ns and 3 ns out, then c on the host. */
TEST(calls_of_a_device_run_one_after_the_other) {
  OWN(lab) s = three();
  lab_tensor(&s, 0, 3, 2, -1);
  lab_tensor(&s, 1, 3, 2, -1);
  lab_pose(&s, &calls);
  int32_t device[3] = {1, 1, 0}, call[3] = {1, 0, -1};
  simulation r = simulator_run(s.simulator, &(placement){.device = device, .call = call}, true);
  assert_int_equal(r.start_ns[1], 0);
  assert_int_equal(r.start_ns[0], 4);
  assert_int_equal(r.value_ns, 4 + 4 + 10);
}

/* ---- the same again, by recursion ---- */

typedef struct naive {
  const situ_problem *p;
  const int32_t *device;
  int32_t call[64]; /* device * 1000 + piece, or -1 */
} naive;

static bool feeds(const situ_graph *g, int32_t u, int32_t v) {
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
    if (g->producer[g->in[i]] == u) return true;
  return false;
}

static int32_t naive_piece(const naive *n, int32_t v, int32_t d) {
  int32_t piece = n->device[v] == d;
  for (int32_t u = 0; u < v; u++) {
    if (!feeds(n->p->graph, u, v)) continue;
    int32_t reached = naive_piece(n, u, d) + (n->device[v] == d && n->device[u] != d);
    piece = reached > piece ? reached : piece;
  }
  return piece;
}

static bool inside(const naive *n, int32_t call, int32_t v) { return n->call[v] == call; }

/* When v is done; a way longer than all operators is a circle: SITU_NEVER_NS then. */
static int64_t naive_finish(const naive *n, int32_t v, int32_t depth) {
  const situ_problem *p = n->p;
  const situ_graph *g = p->graph;
  if (depth > n->p->n_operators) return SITU_NEVER_NS;
  int64_t start = 0, cost = 0;
  if (n->call[v] < 0) {
    for (int32_t u = 0; u < v; u++) {
      int64_t done = feeds(g, u, v) ? naive_finish(n, u, depth + 1) : 0;
      start = done > start ? done : start;
    }
    return start == SITU_NEVER_NS ? start : start + problem_time_ns(p, v, n->device[v]);
  }
  int32_t call = n->call[v], d = n->device[v];
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t u = g->producer[t];
    bool used_inside = false, used_outside = false;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      used_inside |= inside(n, call, g->use[i]);
      used_outside |= !inside(n, call, g->use[i]);
    }
    if (inside(n, call, u) && used_outside) cost += problem_transfer_ns(p, t, d, p->host);
    if (inside(n, call, u) || !used_inside) continue;
    cost += problem_transfer_ns(p, t, p->host, d);
    int64_t done = naive_finish(n, u, depth + 1);
    start = done > start ? done : start;
  }
  for (int32_t w = 0; w < g->n_operators; w++) {
    if (inside(n, call, w)) cost += problem_time_ns(p, w, d);
    if (n->device[w] != d || n->call[w] >= call) continue;
    int64_t done = naive_finish(n, w, depth + 1); /* an earlier call of the device */
    start = done > start ? done : start;
  }
  return start == SITU_NEVER_NS ? start : start + cost;
}

TEST(random_placements_agree_with_the_recursion) {
  int32_t n_cyclic = 0;
  for (uint64_t seed = 0; seed < 1500; seed++) {
    rng r = rng_new(seed + 5);
    lab_options o = {.seed = seed,
                     .n_operators = 2 + (int32_t)rng_below(&r, 6),
                     .n_devices = 2 + (int32_t)rng_below(&r, 3),
                     .density = 0.35,
                     .ways_differ = seed % 3 == 1,
                     .host_last = seed % 4 == 1,
                     .options = calls};
    OWN(lab) l = lab_random(&o);
    const situ_problem *p = l.problem;
    OWN(arena) *a = arena_new();
    simulator *s = simulator_new(p, a);
    int32_t device[64];
    naive n = {.p = p, .device = device};
    for (int32_t v = 0; v < p->n_operators; v++) device[v] = (int32_t)rng_below(&r, p->n_devices);
    bool given = rng_below(&r, 3) == 0; /* calls at random, often in circles */
    for (int32_t v = 0; v < p->n_operators; v++) {
      int32_t call = given ? (int32_t)rng_below(&r, 2) * p->n_devices + device[v]
                           : device[v] * 1000 + naive_piece(&n, v, device[v]);
      n.call[v] = problem_is_host(p, device[v]) ? -1 : given ? call % p->n_operators : call;
    }
    bool apart = false; /* numbers that wrapped round onto two devices are no calls */
    for (int32_t v = 0; v < p->n_operators; v++)
      for (int32_t w = 0; w < v; w++) apart |= n.call[v] >= 0 && n.call[v] == n.call[w] && device[v] != device[w];
    int64_t value = 0;
    for (int32_t v = 0; v < p->n_operators && !apart; v++) {
      int64_t done = naive_finish(&n, v, 0);
      value = done > value ? done : value;
    }
    simulation got = simulator_run(s, &(placement){.device = device, .call = given ? n.call : NULL}, true);
    assert_true(got.value_ns == (apart ? SITU_NEVER_NS : value));
    n_cyclic += value == SITU_NEVER_NS;
  }
  assert_true(n_cyclic > 10);
}

TEST_MAIN
