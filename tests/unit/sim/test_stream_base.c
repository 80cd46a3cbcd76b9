/* Runs that take over from a base what is the same, against whole runs. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "base/rng.h"
#include "sim/simulate.h"

enum { N_PROBLEMS = 1500, MAX_N = 60, TRIALS = 12 };

typedef struct draw {
  lab l;
  rng random;
  bool memory;
  int32_t device[MAX_N], order[MAX_N];
} draw;

static draw draw_problem(uint64_t seed) {
  draw x = {.random = rng_new(seed)};
  lab_options o = {.seed = seed,
                   .n_operators = 2 + (int32_t)rng_below(&x.random, seed % 3 ? MAX_N / 2 - 1 : MAX_N / 4 - 1),
                   .n_devices = 2 + (int32_t)rng_below(&x.random, 4),
                   .density = 0.02 + 0.3 * rng_unit(&x.random),
                   .unsupported = seed % 5 == 0,
                   .memory = seed % 2 ? 0.3 : 0,
                   .pools = seed % 4 == 1};
  o.options.objective = SITU_OBJECTIVE_LATENCY;
  o.options.contention = seed / 2 % 3 ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE;
  if (o.options.contention == SITU_CONTENTION_LINK) o.options.overlap = (situ_overlap)(seed / 6 % 4);
  x.l = lab_random(&o);
  x.memory = seed % 2;
  for (int32_t v = 0; v < x.l.problem->n_operators; v++) {
    x.device[v] = (int32_t)rng_below(&x.random, seed % 5 ? x.l.problem->n_devices : 1);
    x.order[v] = v;
  }
  return x;
}

/* A few operators go elsewhere, or places in the order; sometimes against the data, sometimes where they cannot run. */
static void change(draw *x, int32_t *device, int32_t *order) {
  int32_t n = x->l.problem->n_operators, times = (int32_t)rng_below(&x->random, 4);
  memcpy(device, x->device, sizeof x->device);
  memcpy(order, x->order, sizeof x->order);
  for (int32_t k = 0; k < times; k++) {
    int32_t a = (int32_t)rng_below(&x->random, n), b = (int32_t)rng_below(&x->random, n), v = order[a];
    if (rng_below(&x->random, 2)) device[v] = (int32_t)rng_below(&x->random, x->l.problem->n_devices);
    if (rng_below(&x->random, 2)) continue;
    if (rng_below(&x->random, 2)) b = a + 1 < n ? a + 1 : a; /* near, so that it often stays topological */
    if (a < b) memmove(order + a, order + a + 1, (size_t)(b - a) * sizeof *order);
    if (a > b) memmove(order + b + 1, order + b, (size_t)(a - b) * sizeof *order);
    order[b] = v;
  }
}

static void same(const draw *x, const simulation *a, const simulation *b) {
  const situ_problem *p = x->l.problem;
  assert_int_equal(a->value_ns, b->value_ns);
  assert_false(a->stopped);
  if (a->value_ns == SITU_NEVER_NS) return;
  assert_int_equal(a->excess_bytes, b->excess_bytes);
  assert_int_equal(a->worst_device, b->worst_device);
  assert_memory_equal(a->start_ns, b->start_ns, (size_t)p->n_operators * sizeof *a->start_ns);
  assert_memory_equal(a->finish_ns, b->finish_ns, (size_t)p->n_operators * sizeof *a->finish_ns);
  assert_memory_equal(a->load_ns, b->load_ns, (size_t)p->n_devices * sizeof *a->load_ns);
  if (x->memory) assert_memory_equal(a->peak_bytes, b->peak_bytes, (size_t)p->n_memories * sizeof *a->peak_bytes);
}

/* What trials of one problem came to. */
typedef struct tally {
  int64_t cut, whole, never;
} tally;

static void try(draw *x, simulator *plain, simulator *s, simulator_base *base, tally *t) {
  int32_t device[MAX_N], order[MAX_N];
  change(x, device, order);
  placement where = {.device = device, .order = order};
  simulation expected = simulator_run(plain, &where, x->memory), found;
  if (rng_below(&x->random, 4) == 0) {
    found = simulator_run_base(s, base, &where, x->memory);
    same(x, &found, &expected);
    if (found.value_ns == SITU_NEVER_NS) return;
    memcpy(x->device, device, sizeof device);
    memcpy(x->order, order, sizeof order);
    return;
  }
  found = simulator_run_below(s, base, &where, x->memory, SITU_NEVER_NS);
  same(x, &found, &expected);
  int64_t limit = rng_below(&x->random, 100) + (expected.value_ns < SITU_NEVER_NS ? expected.value_ns - 50 : 0);
  if (rng_below(&x->random, 4) == 0 && expected.value_ns < SITU_NEVER_NS) limit = expected.value_ns + 1;
  if (limit < 1) limit = 1;
  found = simulator_run_below(s, base, &where, x->memory, limit);
  t->never += expected.value_ns == SITU_NEVER_NS;
  if (expected.value_ns < limit) {
    t->whole++;
    same(x, &found, &expected);
    return;
  }
  t->cut++;
  assert_true(found.stopped);
  assert_null(found.start_ns);
  assert_true(found.value_ns == SITU_NEVER_NS || found.value_ns == limit);
  if (expected.value_ns < SITU_NEVER_NS) assert_int_equal(found.value_ns, limit);
}

/* Both contentions, memory or not, several bases in one simulator, the base moving on now and then. */
TEST(a_run_from_a_base_is_the_whole_run) {
  tally t = {0};
  for (uint64_t seed = 0; seed < N_PROBLEMS; seed++) {
    draw x = draw_problem(seed);
    arena *a = arena_new();
    simulator *plain = simulator_new(x.l.problem, a), *s = simulator_new(x.l.problem, a);
    simulator_base *base[2] = {simulator_base_new(s, a), simulator_base_new(s, a)};
    assert_true(plain && s && base[0] && base[1]);
    for (int32_t k = 0; k < TRIALS; k++) try(&x, plain, s, base[k == 0 ? 0 : rng_below(&x.random, 8) == 0], &t);
    arena_free(a);
    lab_free(&x.l);
  }
  assert_true(t.cut > 2000 && t.whole > 2000 && t.never > 200);
}

/* a, then b, which cannot run where it is: the whole run finds out when it comes to b; one with a limit of 5 ns is over
 * when a starts, since what follows takes longer. */
TEST(a_run_ends_where_the_rest_takes_too_long) {
  for (int contention = 0; contention < 2; contention++) {
    situ_problem_options o = {.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM};
    if (!contention) o.contention = SITU_CONTENTION_NONE;
    OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
    int32_t a = lab_operator(&s, "a", 3, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
    s.time_ns[b][1] = SITU_NEVER_NS;
    lab_tensor(&s, a, 1, b, -1);
    lab_pose(&s, &o);
    simulator_base *base = simulator_base_new(s.simulator, s.arena);
    int32_t device[] = {1, 1};
    placement where = {.device = device};
    assert_true(simulator_run(s.simulator, &where, false).value_ns == SITU_NEVER_NS);
    simulation found = simulator_run_below(s.simulator, base, &where, false, 5);
    assert_true(found.stopped);
    assert_int_equal(found.value_ns, 5);
  }
}

/* On d1 b ends at 1 and sends 4 bytes, x has 20 bytes of workspace from 1 to 2; on d0 a ends at 2 and sends 10 bytes
 * for c, which are the second that are sent: beside x there are those of b alone, 24 bytes. A trial has b behind a, so
 * that those of a go first; the next one only has z, which comes last, elsewhere. */
TEST(what_was_sent_before_is_that_of_the_base) {
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 6; v++)
    lab_operator(&s, (const char *[]){"a", "b", "x", "c", "e", "z"}[v], v == 0 ? 2 : 1, 0, v == 2 ? 20 : 0);
  lab_tensor(&s, 0, 10, 3, -1);
  lab_tensor(&s, 1, 4, 4, -1);
  lab_tensor(&s, 3, 1, 5, -1);
  lab_pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM});
  simulator_base *base = simulator_base_new(s.simulator, s.arena);
  int32_t device[] = {0, 1, 1, 1, 0, 1};
  placement where = {.device = device};
  assert_int_equal(simulator_run_base(s.simulator, base, &where, true).peak_bytes[1], 24);
  device[1] = 0;
  (void)simulator_run_below(s.simulator, base, &where, true, SITU_NEVER_NS);
  device[1] = 1;
  device[5] = 0;
  assert_int_equal(simulator_run_below(s.simulator, base, &where, true, SITU_NEVER_NS).peak_bytes[1], 24);
}

/* Where nothing is shared, a limit has the same meaning. */
TEST(a_limit_means_the_same_in_every_model) {
  for (uint64_t seed = 0; seed < 50; seed++) {
    lab_options o = {.seed = seed, .n_operators = 8, .n_devices = 3, .density = 0.3};
    o.options.objective = SITU_OBJECTIVE_THROUGHPUT;
    o.options.execution = SITU_EXECUTION_PIPELINE;
    OWN(lab) l = lab_random(&o);
    OWN(arena) *a = arena_new();
    simulator *s = simulator_new(l.problem, a);
    simulator_base *base = simulator_base_new(s, a);
    int32_t device[8] = {0, 0, 1, 0, 2, 1, 2, 0};
    placement where = {.device = device};
    simulation expected = simulator_run(s, &where, true);
    int64_t value_ns = expected.value_ns;
    assert_int_equal(simulator_run_base(s, base, &where, true).value_ns, value_ns);
    if (value_ns < SITU_NEVER_NS) {
      assert_int_equal(simulator_run_below(s, base, &where, true, value_ns + 1).value_ns, value_ns);
      assert_false(simulator_run_below(s, base, &where, true, value_ns + 1).stopped);
      assert_true(simulator_run_below(s, base, &where, true, value_ns).stopped);
    }
  }
}

TEST_MAIN
