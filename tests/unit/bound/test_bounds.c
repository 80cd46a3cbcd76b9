/* Bounds by hand arithmetic. */
#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "bound/bound.h"
#include "cost/cost_models.h"
#include "graph/builder.h"

static int64_t bound_of(const situ_problem *p, const char *name) {
  OWN(arena) *a = arena_new();
  int64_t lower = -1;
  for (int32_t i = 0; bounds[i]; i++)
    if (strcmp(bounds[i]->name, name) == 0) lower = proved_bound(NULL, bounds[i], p, a);
  return lower;
}

/* JOIN: the last one waits for all others. HOURGLASS: so does the one in the middle for those before it, and those
 * after it and before the last wait for that. */
typedef enum shape { APART, CHAIN, JOIN, HOURGLASS } shape;

static bool waits_for(shape form, int32_t v, int32_t u, int32_t n) {
  if (form == CHAIN) return u == v - 1;
  if (form == JOIN) return v == n - 1;
  return form == HOURGLASS && (v == n / 2 || u == n / 2 || (v == n - 1 && u > n / 2));
}

/* Operators with given weights on a slow host without limit and a fast device. */
static lab two_devices(const int64_t (*times)[2], const int64_t *weights, int32_t n, int64_t room, shape form) {
  lab l = lab_new();
  lab_device(&l, SITU_UNLIMITED_BYTES, -1, true);
  lab_device(&l, room, -1, false);
  lab_link(&l, 0, 1, 2, -1);
  lab_link(&l, 1, 0, 2, -1);
  for (int32_t v = 0; v < n; v++) {
    lab_operator(&l, NULL, 0, weights ? weights[v] : 0, 0);
    for (int32_t d = 0; d < 2; d++) l.time_ns[v][d] = times[v][d];
    lab_tensor(&l, v, 10, -1);
    for (int32_t u = 0; u < v; u++)
      if (waits_for(form, v, u, n)) assert_int_equal(builder_add_use(l.builder, v, u, NULL), SITU_STATUS_OK);
  }
  lab_pose(&l, NULL);
  return l;
}

TEST(a_chain_pays_the_cheaper_of_moving_and_staying) {
  /* each tensor takes 2 + 10 = 12 ns between the devices. All on the host: 5 + 30 + 5 = 40; on the fast one: 25 + 10 +
   * 25 = 60; host, fast, host: 5 + 12 + 10 + 12 + 5 = 44; host, host, ... : the least is 40. */
  static const int64_t times[3][2] = {{5, 25}, {30, 10}, {5, 25}};
  OWN(lab) l = two_devices(times, NULL, 3, SITU_UNLIMITED_BYTES, CHAIN);
  assert_int_equal(bound_of(l.problem, "critical_path"), 40);
}

TEST(work_is_balanced_over_unlike_devices) {
  /* 12 operators of 6 on the host and 3 on the fast device: x there gives 6 (12 - x) = 3 x, x = 8, T = 24; prices 1 : 2
   * say 12 * 6 / 3 = 24. */
  int64_t times[12][2];
  for (int32_t v = 0; v < 12; v++) {
    times[v][0] = 6;
    times[v][1] = 3;
  }
  OWN(lab) l = two_devices((const int64_t(*)[2])times, NULL, 12, SITU_UNLIMITED_BYTES, APART);
  assert_true(bound_of(l.problem, "area_price") >= 23);
  assert_true(bound_of(l.problem, "area_price") <= 24);
}

/* Two kinds in turn, 12 of each, which count as one item each: 6 or 3, and 8 or 2. The fast device takes all of the
 * second kind, 24, and x of the first: 6 (12 - x) = 24 + 3 x, x = 16/3, T = 40; prices 1 : 2 say (12 * 6 + 12 * 4) / 3
 * = 40. */
TEST(equal_work_counts_as_often_as_there_is) {
  int64_t times[24][2];
  for (int32_t v = 0; v < 24; v++) {
    times[v][0] = v % 2 ? 8 : 6;
    times[v][1] = v % 2 ? 2 : 3;
  }
  OWN(lab) l = two_devices((const int64_t(*)[2])times, NULL, 24, SITU_UNLIMITED_BYTES, APART);
  assert_true(bound_of(l.problem, "area_price") >= 39);
  assert_true(bound_of(l.problem, "area_price") <= 40);
}

TEST(weights_that_do_not_fit_are_work_for_the_host) {
  /* 10 operators of 100 on the host and 1 on the fast device, 7 bytes each, room for 21 bytes: at most 3 go there, the
   * host works at least 7 * 100. Prices: host 1, fast 0, byte 100 / 7: 10 * 100 - 21 * 100 / 7 = 700. */
  int64_t times[10][2], weights[10];
  for (int32_t v = 0; v < 10; v++) {
    times[v][0] = 100;
    times[v][1] = 1;
    weights[v] = 7;
  }
  OWN(lab) l = two_devices((const int64_t(*)[2])times, weights, 10, 21, APART);
  int64_t found = bound_of(l.problem, "area_price");
  assert_true(found >= 690);
  assert_true(found <= 700);
}

/* The host alone can run a, 100 ns; b takes 1 ns on the fast device and 100 on the host. The search begins with a price
 * of 1 / 201 for the host and 1 / 2 for the fast device, so 2 / 201 and 1: 200 / 201 of work for each of them, over 203
 * / 201, is 1.97, rounded up 2. The best prices, nothing for the fast device, would say 100. */
TEST(a_budget_that_is_spent_leaves_the_first_prices) {
  static const int64_t times[2][2] = {{100, SITU_NEVER_NS}, {100, 1}};
  OWN(lab) l = two_devices(times, NULL, 2, SITU_UNLIMITED_BYTES, APART);
  OWN(arena) *a = arena_new();
  budget spent = budget_new(1, 0, NULL, NULL);
  assert_true(budget_spend(&spent, 1));
  int64_t lower = -1;
  assert_int_equal(area_bound.compute(&lower, &(certificate){0}, l.problem, a, &spent, NULL), SITU_STATUS_OK);
  assert_int_equal(lower, 2);
  assert_true(bound_of(l.problem, "area_price") >= 99);
}

/* Two operators of 7 bytes that only the fast device can run, with results of 10 bytes that stay: room for 34 is just
 * enough, 13 bytes are too few for the weights alone. */
TEST(weights_without_room_leave_no_plan) {
  static const int64_t times[3][2] = {{SITU_NEVER_NS, 1}, {SITU_NEVER_NS, 1}, {5, 1}}, weights[3] = {7, 7, 100};
  lab l = two_devices(times, weights, 3, 34, APART);
  assert_int_equal(bound_of(l.problem, "memory_price"), 0);
  lab_free(&l);
  l = two_devices(times, weights, 3, 13, APART);
  assert_true(bound_of(l.problem, "memory_price") == SITU_NEVER_NS);
  lab_free(&l);
}

/* A training step in small: each of five operators makes 10 bytes, which the next one reads, and its own backward
 * operator, which stays with it. While the fifth runs all 50 are in memory; each operator alone needs 20. */
TEST(activations_without_room_leave_no_plan) {
  enum { FORWARD = 5 };
  for (int64_t room = 24; room <= 25; room++) {
    lab s = lab_mesh(2, room);
    for (int v = 0; v < FORWARD; v++) lab_of_phase(&s, NULL, 1, SITU_PHASE_FORWARD, v);
    for (int v = FORWARD - 1; v >= 0; v--) lab_of_phase(&s, NULL, 1, SITU_PHASE_BACKWARD, v);
    for (int v = 0; v < FORWARD - 1; v++) lab_tensor(&s, v, 10, v + 1, 2 * FORWARD - 1 - v, -1);
    lab_tensor(&s, FORWARD - 1, 10, FORWARD, -1);
    for (int v = FORWARD; v < 2 * FORWARD - 1; v++) lab_tensor(&s, v, 0, v + 1, -1);
    lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
    assert_int_equal(bound_of(s.problem, "memory_price") == SITU_NEVER_NS, room == 24);
    lab_free(&s);
  }
}

/* Two memories of 10 bytes for 8 and 8 bytes, then for 8, 8 and 5: 21 bytes are more than 20, 16 are not. */
TEST(memories_count_together) {
  for (int n = 2; n <= 3; n++) {
    OWN(lab) s = lab_mesh(2, 10);
    for (int v = 0; v < n; v++) lab_operator(&s, (const char *[]){"a", "b", "c"}[v], 1, v < 2 ? 8 : 5, 0);
    lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
    assert_int_equal(bound_of(s.problem, "memory_price"), n == 2 ? 0 : SITU_NEVER_NS);
  }
}

TEST(what_meets_shares_a_device_or_pays_a_transfer) {
  /* A tensor takes 12 ns. Three operators of 10 and the one that waits for them, of 5, on either device: the longest
   * chain says 15. All four on one device take 35; one of the three on the other device brings its tensor at 22, two of
   * them at 22 and 32, and the last one ends at 27 at the earliest, when two are with it. */
  static const int64_t times[4][2] = {{10, 10}, {10, 10}, {10, 10}, {5, 5}};
  OWN(lab) l = two_devices(times, NULL, 4, SITU_UNLIMITED_BYTES, JOIN);
  assert_int_equal(bound_of(l.problem, "critical_path"), 15);
  assert_int_equal(bound_of(l.problem, "join"), 27);
}

/* 751 operators of 2 ns before the one in the middle, which takes 1000, 749 behind it, and one that waits for these: on
 * two devices 751 + 1000 + 749 + 2. All work over two devices would be 2001. There are too many operators for the rule
 * of work at every T, so that the round for all of them has to say it. */
TEST(work_counts_where_operators_are_many) {
  enum { N = 1502 };
  static int64_t times[N][2];
  for (int32_t v = 0; v < N; v++) times[v][0] = times[v][1] = v == N / 2 ? 1000 : 2;
  OWN(lab) l = two_devices((const int64_t(*)[2])times, NULL, N, SITU_UNLIMITED_BYTES, HOURGLASS);
  assert_int_equal(bound_of(l.problem, "destructive"), 751 + 1000 + 749 + 2);
}

/* 1600 operators of 1 ns that the host alone can run, one of 100 ns for the fast device alone, and one of 1 ns on the
 * host that waits for all: 1601. At any price the fast device is worth more than the host, and of its time much is
 * left, so that the energy of no interval says so: it is in the time before the last one, as the round for every T
 * found it. */
TEST(work_before_an_operator_is_kept_where_operators_are_many) {
  enum { N = 1602 };
  static int64_t times[N][2];
  for (int32_t v = 0; v < N; v++) {
    times[v][0] = v == N - 2 ? SITU_NEVER_NS : 1;
    times[v][1] = v == N - 2 ? 100 : SITU_NEVER_NS;
  }
  OWN(lab) l = two_devices((const int64_t(*)[2])times, NULL, N, SITU_UNLIMITED_BYTES, JOIN);
  assert_int_equal(bound_of(l.problem, "destructive"), 1600 + 1);
}

TEST(heads_and_tails_of_the_last_and_the_first) {
  static const int64_t times[3][2] = {{5, 25}, {30, 10}, {5, 25}};
  OWN(lab) l = two_devices(times, NULL, 3, SITU_UNLIMITED_BYTES, CHAIN);
  int64_t head[6], tail[6];
  assert_true(bound_heads_tails(head, tail, l.problem));
  /* head of the second on the fast device: 5 + 12 + 10 = 27; its tail there: 12 + 5 = 17 (25 to stay) */
  assert_int_equal(head[0], 5);
  assert_int_equal(head[1], 25);
  assert_int_equal(head[2], 35);
  assert_int_equal(head[3], 27);
  assert_int_equal(tail[2], 5);
  assert_int_equal(tail[3], 17);
  assert_int_equal(tail[4], 0);
  /* tail of the first on the host: host, host 35; fast 12 + 10 + 17 = 39 */
  assert_int_equal(tail[0], 35);
}

/* A chain of 40 ns: the bound that says so hands over its certificate, by which it is judged. */
TEST(a_bound_comes_with_its_proof) {
  static const int64_t times[3][2] = {{5, 25}, {30, 10}, {5, 25}};
  OWN(lab) l = two_devices(times, NULL, 3, SITU_UNLIMITED_BYTES, CHAIN);
  OWN(arena) *a = arena_new();
  bound_result results[BOUNDS] = {{.known = false}};
  bound_found best;
  budget b = budget_new(1, 0, NULL, NULL);
  assert_int_equal(bound_compute(results, NULL, l.problem, 1, a, &b, NULL), SITU_STATUS_OK);
  bound_pick(&best, results, l.problem);
  assert_int_equal(best.lower_ns, 40);
  assert_non_null(best.proof.kind);
  assert_int_equal(proved_by(l.problem, &best.proof), 40);
}

static bool stops(void *context) { return *(bool *)context; }

/* Of a chain of 40 ns a user who stops at once hears nothing, on one thread and on two. */
TEST(a_user_who_stops_waits_for_no_bound) {
  static const int64_t times[3][2] = {{5, 25}, {30, 10}, {5, 25}};
  OWN(lab) l = two_devices(times, NULL, 3, SITU_UNLIMITED_BYTES, CHAIN);
  for (int32_t threads = 1; threads <= 2; threads++)
    for (int stop = 0; stop < 2; stop++) {
      OWN(arena) *a = arena_new();
      bool asked = stop;
      bound_result results[BOUNDS] = {{.known = false}};
      bound_found best;
      budget b = budget_new(0, 0, stops, &asked);
      assert_int_equal(bound_compute(results, NULL, l.problem, threads, a, &b, NULL), SITU_STATUS_OK);
      bound_pick(&best, results, l.problem);
      bool cancelled = b.stop == BUDGET_CANCELLED;
      if (threads == 1 || !stop) assert_int_equal(cancelled, stop); /* of two, one may end before the other asks */
      if (!cancelled) assert_int_equal(best.lower_ns, 40);
      if (stop && threads == 1) assert_int_equal(best.lower_ns, 0);
    }
}

/* The chain above on so many devices that heads and tails would take too much memory: 5 + 10 + 5 ns, each operator in
 * its least time. */
TEST(the_longest_path_serves_where_heads_are_too_many) {
  static const int64_t times[3][2] = {{5, 25}, {30, 10}, {5, 25}};
  OWN(lab) l = two_devices(times, NULL, 3, SITU_UNLIMITED_BYTES, CHAIN);
  situ_problem many = *l.problem;
  OWN(arena) *a = arena_new();
  many.n_devices = 1 << 24;
  assert_int_equal(proved_bound(NULL, &critical_path_bound, &many, a), 5 + 10 + 5);
}

/* With their proofs, whichever thread ends first, and those that another rank has are left alone. */
TEST(bounds_beside_each_other_are_those_one_after_the_other) {
  static const situ_execution executions[] = {SITU_EXECUTION_STREAM, SITU_EXECUTION_CALLS, SITU_EXECUTION_PIPELINE};
  for (uint64_t seed = 0; seed < (uint64_t)rounds_of(60); seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 12,
                     .n_devices = 3,
                     .density = 0.2,
                     .memory = seed % 2 ? 0.5 : 0,
                     .options = {.execution = executions[seed % 3]}};
    OWN(lab) l = lab_random(&o);
    OWN(arena) *a = arena_new();
    bound_result alone[BOUNDS] = {{.known = false}};
    budget b = budget_new(1, 0, NULL, NULL);
    assert_int_equal(bound_compute(alone, NULL, l.problem, 1, a, &b, NULL), SITU_STATUS_OK);
    for (int32_t threads = 2; threads <= 4; threads += 2) {
      bound_result beside[BOUNDS] = {{.known = false}};
      bool some[BOUNDS], others[BOUNDS];
      for (int32_t i = 0; i < BOUNDS; i++) others[i] = !(some[i] = i % 2);
      assert_int_equal(bound_compute(beside, some, l.problem, threads, a, &b, NULL), SITU_STATUS_OK);
      assert_int_equal(bound_compute(beside, others, l.problem, threads, a, &b, NULL), SITU_STATUS_OK);
      for (int32_t i = 0; i < BOUNDS; i++) {
        text_buffer one = {0}, other = {0};
        assert_true(beside[i].known);
        assert_int_equal(beside[i].lower_ns, alone[i].lower_ns);
        certificate_pack(&one, &alone[i].proof);
        certificate_pack(&other, &beside[i].proof);
        assert_int_equal(one.length, other.length);
        assert_memory_equal(one.bytes, other.bytes, one.length);
        text_free(&one);
        text_free(&other);
      }
    }
  }
}

/* 6,100 operators one after the other, 1 ns each on the fast device and 2 ns on the host: beyond the limits of some
 * bounds, which then say less, and no more than the 6,100 ns of the fast device alone. Chains see all of it. */
TEST(a_chain_beyond_the_limits_of_some_bounds_is_no_longer_than_it_is) {
  enum { LONG = 6100 };
  static int64_t times[LONG][2];
  for (int32_t v = 0; v < LONG; v++) {
    times[v][0] = 2;
    times[v][1] = 1;
  }
  OWN(lab) l = two_devices((const int64_t(*)[2])times, NULL, LONG, SITU_UNLIMITED_BYTES, CHAIN);
  static const char *const seen[] = {"critical_path", "join", "destructive"};
  for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++) assert_int_equal(bound_of(l.problem, seen[i]), LONG);
  static const char *const less[] = {"unit_chain",   "area_price", "cut_vertex",
                                     "visit_labels", "packing",    "memory_price"};
  for (size_t i = 0; i < sizeof less / sizeof less[0]; i++) assert_true(bound_of(l.problem, less[i]) <= LONG);
}

TEST_MAIN
