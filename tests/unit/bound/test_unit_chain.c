/* Chains of units: by hand, and against brute force with chains and prices from nowhere. */
#include "../../lab/brute.h"
#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/rng.h"
#include "bound/bound.h"

/* The bound is this one, and its certificate proves it. */
static void bound_is(const situ_problem *problem, int64_t expected_ns) {
  OWN(arena) *a = arena_new();
  certificate proof;
  int64_t lower_ns = proved_bound(&proof, &unit_chain_bound, problem, a);
  if (lower_ns != expected_ns) fail_msg("%lld ns", (long long)lower_ns);
  assert_int_equal(proved_by(problem, &proof), lower_ns);
}

/* A host without limit and a device of memory_bytes, linked both ways. */
static lab host_and_device(int64_t memory_bytes) {
  lab s = lab_new();
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
  lab_device(&s, memory_bytes, -1, false);
  lab_star(&s);
  return s;
}

/* Two units of four operators, each a diamond, one after the other. An operator takes 50 ns on the host and 5 on the
 * other device, and weighs 1000 bytes; the tensor between the units takes 10 ns. The device has room for 4100 bytes of
 * weights, so one unit at most: 4 * 5 + 10 + 4 * 50 = 230. At a price of y a byte the program takes
 *   both 40 + 8000 y, one 230 + 4000 y, none 400, each less 4100 y:
 * the greatest minimum is where 40 + 3900 y = 400 - 4100 y: y = 0.045, 215.5; one would take 225.5 there. Without units
 * nothing says that the second operators of the diamonds take their time too. */
TEST(what_lies_between_the_ends_of_a_unit_takes_its_time) {
  OWN(lab) s = host_and_device(4100);
  static const int32_t together[8] = {0, 0, 0, 0, 1, 1, 1, 1};
  for (int32_t v = 0; v < 8; v++) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    lab_operator(&s, names[v], 50, 1000, 0);
    s.time_ns[v][1] = 5;
  }
  for (int32_t first = 0; first < 8; first += 4) {
    lab_tensor(&s, first, 1, first + 1, first + 2, -1);
    lab_tensor(&s, first + 1, 1, first + 3, -1);
    lab_tensor(&s, first + 2, 1, first + 3, -1);
  }
  lab_tensor(&s, 3, 10, 4, -1);
  situ_problem_options o = {
      .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .keep_together = together};
  lab_pose(&s, &o);
  bound_is(s.problem, 215);
  assert_int_equal(brute_force(s.problem, NULL), 230);
}

/* a, then a unit of two readers of what a makes (b, c) and their sum d, which are slow on the device, as a is on the
 * host: a there, 10 ns of way, 60 + 50 + 50 on the host. The chain goes through b; c waits for a too. With a tensor of
 * its own that takes no time (two_tensors), c need not wait for the way and is not counted. */
TEST(what_waits_for_one_tensor_follows_it) {
  static const int32_t together[4] = {-1, 0, 0, 0};
  for (int two_tensors = 0; two_tensors < 2; two_tensors++) {
    OWN(lab) s = host_and_device(4000);
    lab_operator(&s, "a", 50, 0, 0);
    lab_operator(&s, "b", 60, 1000, 0);
    lab_operator(&s, "c", 50, 1000, 0);
    lab_operator(&s, "d", 50, 1000, 0);
    for (int32_t v = 0; v < 4; v++) s.time_ns[v][1] = v == 0 ? 5 : 1000;
    if (two_tensors) {
      lab_tensor(&s, 0, 10, 1, -1);
      lab_tensor(&s, 0, 0, 2, -1);
    } else {
      lab_tensor(&s, 0, 10, 1, 2, -1);
    }
    lab_tensor(&s, 1, 1, 3, -1);
    lab_tensor(&s, 2, 1, 3, -1);
    situ_problem_options o = {
        .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .keep_together = together};
    lab_pose(&s, &o);
    bound_is(s.problem, two_tensors ? 5 + 10 + 110 : 5 + 10 + 160);
    assert_int_equal(brute_force(s.problem, NULL), two_tensors ? 5 + 160 : 5 + 10 + 160);
  }
}

/* What the next two tests are about: a layer (a, x, c), its experts (b), whether x hands to them too. */
static void experts_and_layer(bool x_too, int64_t bound_ns, int64_t optimum_ns) {
  OWN(lab) s = host_and_device(3100);
  static const int32_t together[4] = {0, 0, 1, 0};
  static const char *const names[] = {"a", "x", "b", "c"};
  for (int32_t v = 0; v < 4; v++) {
    lab_operator(&s, names[v], v == 2 ? 60 : 50, v == 2 ? 5000 : 1000, 0);
    s.time_ns[v][1] = v == 2 ? 6 : 5;
  }
  lab_tensor(&s, 0, 10, 2, -1);
  lab_tensor(&s, 0, 10, 1, -1);
  if (x_too)
    lab_tensor(&s, 1, 10, 2, 3, -1);
  else
    lab_tensor(&s, 1, 10, 3, -1);
  lab_tensor(&s, 2, 10, 3, -1);
  situ_problem_options o = {.size = sizeof(situ_problem_options),
                            .execution = SITU_EXECUTION_STREAM,
                            .overlap = SITU_OVERLAP_NONE,
                            .keep_together = together};
  lab_pose(&s, &o);
  bound_is(s.problem, bound_ns);
  assert_int_equal(brute_force(s.problem, NULL), optimum_ns);
}

/* A layer of three operators (a, x beside the chain, c) and its experts (b) between a and c, of 1000 bytes each and
 * 5000. They take 50 ns each and 60 on the host, 5 each and 6 on the other device, which has room for the layer and 100
 * bytes of tensors; a tensor takes 10 ns, and nothing overlaps. The layer there and the experts on the host take 15 +
 * 60 and the way there and back: 95. The choices at y a byte of the 3100: that one 95 - 100 y, all on the device 21 +
 * 4900 y, the layer alone on the host 176 + 1900 y, all on the host 210 - 3100 y. The first two are equal at y =
 * 0.0148: 93.5. Could the layer go on where the experts are, or did x not count, it would be less. */
TEST(experts_are_a_detour_from_their_layer) { experts_and_layer(false, 93, 95); }

/* The same layer, whose second operator hands 10 ns to the experts too: from the host they take 15 + 60 and three ways,
 * 105. Equal to all on the device where 105 - 100 y = 21 + 4900 y, y = 0.0168: 103.3. With one way
 * there it would be 93. */
TEST(all_that_goes_to_the_experts_takes_its_way) { experts_and_layer(true, 103, 105); }

/* On the host a and b take 50 ns each and c 100, on the other device nothing and 1; a and b weigh 4000 bytes, of which
 * the device has room for 4100; each tensor takes 10 ns. At y a byte: all there 1 + 8000 y, one of a and b on the host
 * at least 61 + 4000 y, both 111, each less 4100 y. All and none are equal at y = 0.01375: 54.6; one would take 59.6
 * there. */
TEST(what_takes_no_time_takes_room) {
  OWN(lab) s = host_and_device(4100);
  lab_operator(&s, "a", 50, 4000, 0);
  lab_operator(&s, "b", 50, 4000, 0);
  lab_operator(&s, "c", 100, 0, 0);
  for (int32_t v = 0; v < 3; v++) s.time_ns[v][1] = v == 2;
  lab_tensor(&s, 0, 10, 1, -1);
  lab_tensor(&s, 1, 10, 2, -1);
  lab_pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM});
  bound_is(s.problem, 54);
  assert_int_equal(brute_force(s.problem, NULL), 61);
}

/* A layer (a, c) that takes no time on the device, its experts (b) between, and what follows (d): 0, 6 and 1 ns there,
 * 50 each, 60 and 100 on the host; the layer weighs 2000 bytes, the experts 5000, and the device has room for 2100. The
 * experts alone on the host take 60 + 20 + 1 = 81 less 100 y at y a byte, all on the device 7 + 4900 y: equal at y =
 * 0.0148, 79.5. With the layer on the host it takes 100 and more. */
TEST(a_detour_from_a_layer_that_takes_no_time_is_taken) {
  OWN(lab) s = host_and_device(2100);
  static const int32_t together[4] = {0, 1, 0, 2};
  lab_operator(&s, "a", 50, 1000, 0);
  lab_operator(&s, "b", 60, 5000, 0);
  lab_operator(&s, "c", 50, 1000, 0);
  lab_operator(&s, "d", 100, 0, 0);
  for (int32_t v = 0; v < 4; v++) {
    s.time_ns[v][1] = v == 1 ? 6 : v == 3;
    if (v > 0) lab_tensor(&s, v - 1, 10, v, -1);
  }
  lab_pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options),
                                       .execution = SITU_EXECUTION_STREAM,
                                       .overlap = SITU_OVERLAP_NONE,
                                       .keep_together = together});
  bound_is(s.problem, 79);
  assert_int_equal(brute_force(s.problem, NULL), 81);
}

/* A layer (a, c), 5 ns each on the device and 500 on the host, and its experts (b) between, 6 and 61; a tensor takes 10
 * ns. All on the device take 16 ns, the experts on the host 5 + 10 + 61 + 10 + 5 = 91. By the secondary costs the
 * experts take 100 ns on the device and all else nothing; 50 are allowed. At a price of z the first is worth 16 + 50 z
 * and the second 91 - 50 z: equal at z = 0.75, 53.5. */
TEST(a_limit_by_other_costs_prices_a_detour) {
  OWN(lab) s = host_and_device(SITU_UNLIMITED_BYTES);
  static const int32_t together[3] = {0, 1, 0};
  for (int32_t v = 0; v < 3; v++) {
    lab_operator(&s, (const char *[]){"a", "b", "c"}[v], v == 1 ? 61 : 500, 0, 0);
    s.time_ns[v][1] = v == 1 ? 6 : 5;
    if (v > 0) lab_tensor(&s, v - 1, 10, v, -1);
  }
  lab_pose(&s, NULL);
  OWN(situ_costs) *other = costs_copies(s.costs, 1);
  assert_non_null(other);
  for (int32_t v = 0; v < 3; v++)
    for (int32_t d = 0; d < 2; d++) other->time_ns[v * 2 + s.platform->class_of[d]] = v == 1 && d == 1 ? 100 : 0;
  for (int64_t i = 0; i < (int64_t)other->n_rows * other->n_kinds; i++) other->transfer_rows[i] = 0;
  costs_find_extremes(other);
  situ_problem_options o = {.size = sizeof o,
                            .execution = SITU_EXECUTION_STREAM,
                            .overlap = SITU_OVERLAP_NONE,
                            .keep_together = together,
                            .secondary_costs = other,
                            .max_secondary_ns = 50};
  OWN(situ_problem) *p = NULL;
  assert_int_equal(situ_problem_pose(&p, s.graph, s.platform, s.costs, &o, NULL), SITU_STATUS_OK);
  bound_is(p, 53);
}

/* An operator of the chain that no device can run, and one beside the chain: there is no plan to bound. */
TEST(a_chain_without_a_plan_has_no_bound) {
  OWN(lab) s = host_and_device(4000);
  for (int32_t v = 0; v < 3; v++) lab_operator(&s, (const char *[]){"a", "b", "c"}[v], 5, 0, 0);
  s.time_ns[0][0] = s.time_ns[0][1] = SITU_NEVER_NS;
  lab_tensor(&s, 0, 10, 1, -1);
  lab_pose(&s,
           &(situ_problem_options){
               .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .overlap = SITU_OVERLAP_NONE});
  assert_non_null(s.problem->conflict);
  bound_is(s.problem, 0);
}

/* Any chain of the graph, with any prices, proves no more than is so. */
TEST(no_chain_proves_too_much) {
  int32_t proved = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(1500); seed++) {
    rng r = rng_new(seed);
    lab_options o = {.seed = seed,
                     .n_operators = 3 + (int32_t)rng_below(&r, 4),
                     .n_devices = 2 + (int32_t)rng_below(&r, 2),
                     .density = 0.3 + 0.6 * rng_unit(&r),
                     .n_colocations = 1 + (int32_t)rng_below(&r, 2),
                     .pinned = rng_below(&r, 4) == 0,
                     .unsupported = rng_below(&r, 4) == 0,
                     .memory = rng_below(&r, 2) ? 0.2 + 0.8 * rng_unit(&r) : 0,
                     .pools = true,
                     .options = {.execution = SITU_EXECUTION_STREAM, .overlap = (situ_overlap)rng_below(&r, 4)}};
    OWN(lab) l = lab_random(&o);
    const situ_graph *g = l.problem->graph;
    int64_t optimum = brute_force(l.problem, NULL);
    OWN(arena) *a = arena_new();
    int32_t way[16], n = 1;
    for (way[0] = (int32_t)rng_below(&r, g->n_operators); n < 16;) { /* backwards, then turned round */
      int32_t v = way[n - 1];
      int64_t many = g->in_start[v + 1] - g->in_start[v];
      if (many == 0 || rng_below(&r, 8) == 0) break;
      way[n++] = g->producer[g->in[g->in_start[v] + (int64_t)rng_below(&r, many)]];
    }
    certificate proof = {0};
    certificate_start(&proof, "unit_chain", 1);
    int64_t *chain = certificate_add_operators(&proof, "chain", n, a);
    int64_t *byte = certificate_add(&proof, "byte_prices", l.problem->n_memories, a);
    for (int32_t i = 0; i < n; i++) chain[i] = way[n - 1 - i];
    for (int32_t m = 0; m < l.problem->n_memories; m++)
      if (l.platform->memory_bytes[m] != SITU_UNLIMITED_BYTES && rng_below(&r, 2))
        byte[m] = (int64_t)rng_below(&r, INT64_C(1) << (1 + rng_below(&r, 34)));
    int64_t found = l.problem->conflict ? 0 : proved_by(l.problem, &proof);
    if (found > optimum && !l.problem->conflict)
      fail_msg("seed %d: proves %lld, %lld is possible", (int)seed, (long long)found, (long long)optimum);
    proved += found > 0;
  }
  if (proved * 3 < rounds_of(1500)) fail_msg("%d proved", (int)proved); /* the certificates are too tame */
}

/* Operators that do not follow each other are no chain. */
TEST(what_is_no_chain_is_refused) {
  OWN(lab)
  l = lab_random(&(lab_options){
      .seed = 3, .n_operators = 6, .n_devices = 2, .density = 0.9, .options = {.execution = SITU_EXECUTION_STREAM}});
  OWN(arena) *a = arena_new();
  certificate proof = {0};
  certificate_start(&proof, "unit_chain", 1);
  int64_t *chain = certificate_add_operators(&proof, "chain", 2, a);
  (void)certificate_add(&proof, "byte_prices", l.problem->n_memories, a);
  chain[0] = 5; /* the last one */
  assert_int_equal(proved_by(l.problem, &proof), PROVED_MALFORMED);
}

TEST_MAIN
