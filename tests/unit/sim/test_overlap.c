/* What a stream does at the same time: schedules worked out by hand. The star: d0 is a host, d1 and d2 are not; every
 * link takes 1 ns a byte. */
#include "../../lab/lab.h"
#include "../../lab/test.h"

static const situ_problem_options full = {
    .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .overlap = SITU_OVERLAP_FULL};
static const situ_problem_options blocking = {
    .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .overlap = SITU_OVERLAP_HOST_BLOCKING};
static const situ_problem_options serial = {
    .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .overlap = SITU_OVERLAP_NONE};

static lab star(void) {
  lab s = lab_new();
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, false);
  lab_device(&s, SITU_UNLIMITED_BYTES, -1, false);
  lab_star(&s);
  return s;
}

static simulation run(lab *s, int32_t *device, int32_t *order) {
  return simulator_run(s->simulator, &(placement){.device = device, .order = order}, false);
}

/* a on d1: 2 ns, 3 bytes for b on d0 (1 ns); c on d0 takes 5 ns and needs nothing.
 *   full           c 0..5, copy 2..5, b 5..6
 *   host-blocking  c 0..5, copy 5..8, b 8..9: the host cannot copy while it runs c
 *   none, c first  c 0..5, a 5..7, copy 7..10, b 10..11 */
TEST(a_copy_back_waits_for_its_host) {
  const struct {
    const situ_problem_options *options;
    int64_t value_ns, b_starts_ns;
  } rows[] = {{&full, 6, 5}, {&blocking, 9, 8}, {&serial, 11, 10}};
  for (int i = 0; i < 3; i++) {
    OWN(lab) s = star();
    int32_t c = lab_operator(&s, "c", 5, 0, 0), a = lab_operator(&s, "a", 2, 0, 0);
    int32_t b = lab_operator(&s, "b", 1, 0, 0);
    lab_tensor(&s, a, 3, b, -1);
    lab_pose(&s, rows[i].options);
    int32_t device[] = {0, 1, 0}, order[] = {c, a, b};
    simulation found = run(&s, device, order);
    assert_int_equal(found.value_ns, rows[i].value_ns);
    assert_int_equal(found.start_ns[b], rows[i].b_starts_ns);
  }
}

/* a on d1 ends at 2 with 3 bytes for b and none for f, both on d0 in the order f, b. Both could have the host at 2:
 * operators go first. f 2..6, copy 6..9, b 9..10. */
TEST(operators_go_before_copies) {
  OWN(lab) s = star();
  int32_t a = lab_operator(&s, "a", 2, 0, 0), f = lab_operator(&s, "f", 4, 0, 0);
  int32_t b = lab_operator(&s, "b", 1, 0, 0);
  lab_tensor(&s, a, 3, b, -1);
  lab_tensor(&s, a, 0, f, -1);
  lab_pose(&s, &blocking);
  int32_t device[] = {1, 0, 0};
  simulation found = run(&s, device, NULL);
  assert_int_equal(found.start_ns[f], 2);
  assert_int_equal(found.value_ns, 10);
}

/* e follows a on d1 and ends at 3, in the middle of the copy 2..5: f, which needs e, starts at 5. f 5..9, b 9..10. */
TEST(an_operator_waits_for_the_copy_under_way) {
  OWN(lab) s = star();
  int32_t a = lab_operator(&s, "a", 2, 0, 0), e = lab_operator(&s, "e", 1, 0, 0);
  int32_t f = lab_operator(&s, "f", 4, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
  lab_tensor(&s, a, 3, b, -1);
  lab_tensor(&s, e, 0, f, -1);
  lab_pose(&s, &blocking);
  int32_t device[] = {1, 1, 0, 0};
  simulation found = run(&s, device, NULL);
  assert_int_equal(found.start_ns[f], 5);
  assert_int_equal(found.value_ns, 10);
}

/* a on d1 and b on d2 both end at 1, with 2 and 3 bytes for c on d0. The host copies one at a time, that of the lower
 * channel first: 1..3, 3..6, c 6..7. With overlap full both at once: c 4..5. */
TEST(a_host_copies_one_tensor_at_a_time) {
  for (int i = 0; i < 2; i++) {
    OWN(lab) s = star();
    int32_t a = lab_operator(&s, "a", 1, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
    int32_t c = lab_operator(&s, "c", 1, 0, 0);
    lab_tensor(&s, a, 2, c, -1);
    lab_tensor(&s, b, 3, c, -1);
    lab_pose(&s, i ? &full : &blocking);
    int32_t device[] = {1, 2, 0};
    simulation found = run(&s, device, NULL);
    assert_int_equal(found.start_ns[c], i ? 4 : 6);
  }
}

/* d0 and d1 are hosts of one memory. a on d2, 2 ns, makes 3 bytes for b on one host; the other runs c 0..5 and, since
 * operators go before copies, d 5..6. The copy, which both do, 6..9, b 9..10. */
TEST(both_hosts_of_a_memory_do_the_copy) {
  for (int busy = 0; busy < 2; busy++) {
    OWN(lab) s = lab_new();
    for (int32_t d = 0; d < 3; d++) lab_device(&s, SITU_UNLIMITED_BYTES, d == 1 ? 0 : -1, d < 2);
    lab_link(&s, 0, 2, 0, -1);
    lab_link(&s, 2, 0, 0, -1);
    int32_t a = lab_operator(&s, "a", 2, 0, 0), b = lab_operator(&s, "b", 1, 0, 0);
    int32_t c = lab_operator(&s, "c", 5, 0, 0), d = lab_operator(&s, "d", 1, 0, 0);
    lab_tensor(&s, a, 3, b, -1);
    lab_pose(&s, &blocking);
    int32_t device[] = {2, busy, 1 - busy, 1 - busy}, order[] = {c, a, b, d};
    simulation found = run(&s, device, order);
    assert_int_equal(found.start_ns[d], 5);
    assert_int_equal(found.start_ns[b], 9);
  }
}

/* Copies to a device keep nobody busy: a on d0 0..1, 4 bytes to d1 1..5, c on d0 1..9 meanwhile, b on d1 5..6. */
TEST(a_copy_to_a_device_leaves_the_host_free) {
  OWN(lab) s = star();
  int32_t a = lab_operator(&s, "a", 1, 0, 0), c = lab_operator(&s, "c", 8, 0, 0);
  int32_t b = lab_operator(&s, "b", 1, 0, 0);
  lab_tensor(&s, a, 4, b, -1);
  lab_pose(&s, &blocking);
  int32_t device[] = {0, 0, 1};
  simulation found = run(&s, device, NULL);
  assert_int_equal(found.start_ns[c], 1);
  assert_int_equal(found.start_ns[b], 5);
}

/* One after the other, whatever the order, the latency is the sum: operators 2 + 5 + 1 + 1, 3 bytes of a to d0 and over
 * d0 to d2 (its way there has two hops): 3 + 3 + 3. The time of a tensor with two users in one memory counts once. */
TEST(with_overlap_none_the_latency_is_the_sum) {
  OWN(lab) s = star();
  int32_t c = lab_operator(&s, "c", 5, 0, 0), a = lab_operator(&s, "a", 2, 0, 0);
  int32_t b = lab_operator(&s, "b", 1, 0, 0), d = lab_operator(&s, "d", 1, 0, 0);
  int32_t e = lab_operator(&s, "e", 0, 0, 0);
  lab_tensor(&s, a, 3, b, d, e, -1);
  lab_pose(&s, &serial);
  int32_t device[] = {0, 1, 0, 2, 2}, orders[][5] = {{c, a, b, d, e}, {a, c, e, d, b}, {a, d, b, c, e}};
  for (int i = 0; i < 3; i++) assert_int_equal(run(&s, device, orders[i]).value_ns, 2 + 5 + 1 + 1 + 3 + 3 + 3);
  int32_t against[] = {c, b, a, d, e};
  assert_true(run(&s, device, against).value_ns == SITU_NEVER_NS);
}

TEST_MAIN
