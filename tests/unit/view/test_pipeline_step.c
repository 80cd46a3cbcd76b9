/* Steps of several micro-batches: by hand, and against a simulation of the schedules pass by pass. */
#include "view/pipeline_step.h"

#include <stdio.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"

enum { MAX_PARTS = 5, MAX_INPUTS = 12 };

/* Parts on devices 1, 2, ..., each with one forward and one backward operator, which is the gradient of weights and of
 * one input, half and half (of the first part of weights alone, unless `reads`), where the part learns; part a hands
 * over to part b where bytes[a][b] >= 0, that many bytes there and as many back. Links carry 1 byte a nanosecond. */
typedef struct shape {
  int32_t n, micro_batches;
  int64_t there_ns[MAX_PARTS], back_ns[MAX_PARTS], bytes[MAX_PARTS][MAX_PARTS];
  bool learns[MAX_PARTS], reads;
  situ_schedule schedule;
} shape;

/* Forward operators from the first part on, then backward ones from the last. */
static int32_t part_of(const shape *s, int32_t v) { return v < s->n ? v : 2 * s->n - 1 - v; }

static pipeline_step step_of(const shape *s, int64_t *period_ns) {
  OWN(lab) l = lab_mesh(s->n + 1, SITU_UNLIMITED_BYTES);
  int32_t device[2 * MAX_PARTS];
  for (int32_t v = 0; v < 2 * s->n; v++) {
    char name[16];
    int32_t k = part_of(s, v);
    snprintf(name, sizeof name, "v%d", (int)v);
    situ_operator op = {.name = name, .source_id = -1, .colocation = k, .phase = SITU_PHASE_FORWARD};
    if (v >= s->n) op.phase = SITU_PHASE_BACKWARD, op.weight_bytes = s->learns[k];
    lab_add(&l, op, v < s->n ? s->there_ns[k] : s->back_ns[k]);
  }
  for (int32_t a = 0; a < s->n; a++)
    for (int32_t b = 0; b < s->n; b++) {
      if (s->bytes[a][b] < 0) continue;
      lab_tensor(&l, a, s->bytes[a][b], b, -1);
      lab_tensor(&l, 2 * s->n - 1 - b, s->bytes[a][b], 2 * s->n - 1 - a, -1);
    }
  lab_tensor(&l, s->n - 1, 0, s->n, -1);
  if (s->reads) lab_tensor(&l, 2 * s->n - 1, 0, -1);
  situ_problem_options o = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                            .communication = SITU_COMMUNICATION_LINK,
                            .schedule = s->schedule,
                            .micro_batches = s->micro_batches};
  lab_pose(&l, &o);
  for (int32_t v = 0; v < 2 * s->n; v++) device[v] = 1 + part_of(s, v);
  simulation found = simulator_run(l.simulator, &(placement){.device = device}, false);
  int64_t busiest_ns = 0;
  for (int32_t d = 0; d < l.problem->n_devices; d++)
    if (found.load_ns[d] > busiest_ns) busiest_ns = found.load_ns[d];
  pipeline_step step;
  OWN(arena) *a = arena_new();
  assert_true(pipeline_step_find(&step, l.problem, device, NULL, found.value_ns, busiest_ns, a));
  *period_ns = found.value_ns;
  return step;
}

static shape chain_of(int32_t n, int32_t micro_batches) {
  shape s = {.n = n, .micro_batches = micro_batches};
  for (int32_t a = 0; a < MAX_PARTS; a++)
    for (int32_t b = 0; b < MAX_PARTS; b++) s.bytes[a][b] = b == a + 1 && b < n ? 0 : -1;
  return s;
}

/* ---- by hand ---- */

TEST(equal_stages_idle_for_a_share_that_is_known) {
  /* Narayanan et al., SC 2021, section 2.2: p stages and m micro-batches idle for (p - 1) / m of the ideal time, which
   * is m of 10 + 20 ns; both schedules do. */
  for (int schedule = 0; schedule < 2; schedule++) {
    shape s = chain_of(4, 8);
    s.schedule = schedule ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B;
    for (int32_t k = 0; k < 4; k++) s.there_ns[k] = 10, s.back_ns[k] = 20;
    int64_t period_ns;
    pipeline_step step = step_of(&s, &period_ns);
    assert_int_equal(step.fill_ns, 4 * 30);
    assert_int_equal(step.interval_ns, 30);
    assert_int_equal(step.step_ns, (8 + 3) * 30);
    assert_true(step.bubble > 3.0 / 11 - 1e-9 && step.bubble < 3.0 / 11 + 1e-9);
  }
}

/* Qi et al., ICLR 2024, table 2: of p stages whose forward passes take F and whose backward ones B for inputs and W for
 * weights, 1F1B waits (p - 1) (F + B + W), ZB-H1 (p - 1) (F + B - W). */
TEST(zero_bubble_schedules_wait_for_a_time_that_is_known) {
  for (int32_t n = 1; n <= MAX_PARTS; n++)
    for (int32_t m = 2 * n; m <= MAX_INPUTS; m++) {
      shape s = chain_of(n, m);
      s.reads = true;
      for (int32_t k = 0; k < n; k++) s.there_ns[k] = 10, s.back_ns[k] = 20, s.learns[k] = true;
      int64_t period_ns;
      assert_int_equal(step_of(&s, &period_ns).step_ns, m * 30 + (n - 1) * 30);
      s.schedule = SITU_SCHEDULE_ZB_H1;
      assert_int_equal(step_of(&s, &period_ns).step_ns, m * 30 + (n - 1) * 10);
      assert_int_equal(period_ns, 30);
    }
}

TEST(a_stage_that_keeps_few_inputs_waits_for_transfers) {
  /* Two stages of 30 ns; a tensor takes 20 ns each way. The first keeps two inputs: two of them take 30 + 20 + 30 + 20
   * ns there and back, so the interval is 50 ns and not the period, 30 ns. */
  shape s = chain_of(2, 9);
  s.there_ns[0] = s.there_ns[1] = 10;
  s.back_ns[0] = s.back_ns[1] = 20;
  s.bytes[0][1] = 20;
  int64_t period_ns;
  pipeline_step step = step_of(&s, &period_ns);
  assert_int_equal(period_ns, 30);
  assert_int_equal(step.interval_ns, 50);
  assert_int_equal(step.fill_ns, 100);
  assert_int_equal(step.step_ns, 8 * 50 + 100);
  s.schedule = SITU_SCHEDULE_GPIPE; /* which keeps all: forward passes 20 ns apart, backward ones 20 */
  assert_int_equal(step_of(&s, &period_ns).step_ns, 8 * 40 + 100);
}

TEST(one_micro_batch_goes_there_and_back) {
  shape s = chain_of(3, 1);
  for (int32_t k = 0; k < 3; k++) s.there_ns[k] = 1 + k, s.back_ns[k] = 10;
  s.bytes[1][2] = 7;
  int64_t period_ns;
  assert_int_equal(step_of(&s, &period_ns).step_ns, 1 + 2 + 3 + 30 + 14);
}

/* ---- pass by pass ---- */

typedef struct passes {
  const shape *shape;
  int64_t end_ns[2][MAX_PARTS][MAX_INPUTS];             /* of each pass; -1: not yet */
  int64_t came_ns[2][MAX_PARTS][MAX_PARTS][MAX_INPUTS]; /* when its tensor arrived, from part to part */
} passes;

static int32_t depth_of(const shape *s, int32_t k) {
  int32_t deepest = 0;
  for (int32_t to = 0; to < s->n; to++)
    if (s->bytes[k][to] >= 0 && depth_of(s, to) > deepest) deepest = depth_of(s, to);
  return 1 + deepest;
}

/* The passes of a part in their order: phase and input of the i-th. */
static void pass_at(const shape *s, int32_t k, int32_t i, int *phase, int32_t *input) {
  int32_t kept = depth_of(s, k) < s->micro_batches ? depth_of(s, k) : s->micro_batches, m = s->micro_batches;
  if (s->schedule == SITU_SCHEDULE_GPIPE) kept = m;
  bool steady = i >= kept && i < 2 * m - kept;
  *phase = i < kept ? 0 : !steady ? 1 : (i - kept) % 2 == 0 ? 1 : 0;
  *input = i < kept ? i : !steady ? i - m : *phase ? (i - kept) / 2 : kept + (i - kept) / 2;
}

/* When everything that a pass needs from other parts has come; -1: not yet. A way carries one tensor at a time in each
 * direction, in order. */
static int64_t arrival(passes *x, int phase, int32_t k, int32_t input) {
  const shape *s = x->shape;
  int64_t latest = phase ? x->end_ns[0][k][input] : 0;
  for (int32_t o = 0; o < s->n; o++) {
    int64_t bytes = phase ? s->bytes[k][o] : s->bytes[o][k];
    if (bytes < 0) continue;
    int64_t made = x->end_ns[phase][o][input];
    if (made < 0) return -1;
    int64_t before = input > 0 ? x->came_ns[phase][o][k][input - 1] : 0, came = (made > before ? made : before) + bytes;
    x->came_ns[phase][o][k][input] = came;
    if (came > latest) latest = came;
  }
  return latest;
}

/* Of the backward pass of a part what is of its weights, by ZB-H1: half where it also has the gradient of an input. */
static int64_t late_of(const shape *s, int32_t k) {
  int64_t n = 1 + (k == 0 && s->reads);
  for (int32_t a = 0; a < k; a++) n += s->bytes[a][k] >= 0;
  return s->schedule == SITU_SCHEDULE_ZB_H1 && s->learns[k] ? s->back_ns[k] / n : 0;
}

/* Makes late parts of part k before a pass, as the schedule says: they fill what it waits, and go first where as many
 * inputs are there as there are devices (one more than parts, for the host). */
static int64_t fill(const shape *s, int32_t k, int64_t free_ns, int64_t begin_ns, const int32_t made[3], int32_t *late,
                    bool forward) {
  int32_t room = s->n + 1 < s->micro_batches ? s->n + 1 : s->micro_batches;
  for (; *late < made[1]; ++*late) {
    bool must = forward && made[0] - *late >= room;
    if (!must && free_ns + late_of(s, k) > begin_ns) break;
    free_ns += late_of(s, k);
  }
  return free_ns;
}

/* Runs the schedule to its end. */
static int64_t simulate(const shape *s) {
  static passes x;
  int32_t done[MAX_PARTS] = {0}, made[MAX_PARTS][3] = {{0}}, late[MAX_PARTS] = {0};
  int64_t free_ns[MAX_PARTS] = {0}, end = 0;
  x.shape = s;
  for (int phase = 0; phase < 2; phase++)
    for (int32_t k = 0; k < s->n; k++)
      for (int32_t i = 0; i < s->micro_batches; i++) x.end_ns[phase][k][i] = -1;
  for (bool moved = true; moved;) {
    moved = false;
    for (int32_t k = 0; k < s->n; k++) {
      int phase;
      int32_t input;
      if (done[k] == 2 * s->micro_batches) continue;
      pass_at(s, k, done[k], &phase, &input);
      int64_t barrier = 0, came = phase && x.end_ns[0][k][input] < 0 ? -1 : arrival(&x, phase, k, input);
      for (int32_t o = 0; o < s->n && s->schedule == SITU_SCHEDULE_GPIPE && phase; o++) {
        int64_t last = x.end_ns[0][o][s->micro_batches - 1];
        barrier = last < 0 || barrier < 0 ? -1 : last > barrier ? last : barrier;
      }
      if (came < 0 || barrier < 0) continue;
      if (s->schedule == SITU_SCHEDULE_ZB_H1) free_ns[k] = fill(s, k, free_ns[k], came, made[k], &late[k], !phase);
      int64_t begin = free_ns[k] > came ? free_ns[k] : came;
      if (begin < barrier) begin = barrier;
      free_ns[k] = x.end_ns[phase][k][input] = begin + (phase ? s->back_ns[k] - late_of(s, k) : s->there_ns[k]);
      made[k][phase]++;
      if (free_ns[k] > end) end = free_ns[k];
      done[k]++;
      moved = true;
    }
  }
  for (int32_t k = 0; k < s->n; k++) {
    assert_int_equal(done[k], 2 * s->micro_batches); /* nothing waits for ever */
    int64_t last = free_ns[k] + (made[k][1] - late[k]) * late_of(s, k);
    if (s->schedule == SITU_SCHEDULE_ZB_H1 && last > end) end = last;
  }
  return end;
}

/* A random chain, or parts with several ways between them; slow links in some. */
static shape draw(rng *r) {
  shape s = chain_of(1 + (int32_t)rng_below(r, MAX_PARTS), 1 + (int32_t)rng_below(r, MAX_INPUTS));
  bool branches = rng_below(r, 2);
  int64_t slowest = rng_below(r, 3) == 0 ? 1 : 30;
  const situ_schedule schedules[] = {SITU_SCHEDULE_1F1B, SITU_SCHEDULE_GPIPE, SITU_SCHEDULE_ZB_H1};
  s.schedule = schedules[rng_below(r, 3)];
  s.reads = rng_below(r, 2);
  for (int32_t k = 0; k < s.n; k++) s.learns[k] = rng_below(r, 4) > 0;
  for (int32_t a = 0; a < s.n; a++) {
    s.there_ns[a] = rng_below(r, 30);
    s.back_ns[a] = rng_below(r, 2) ? 2 * s.there_ns[a] : rng_below(r, 60);
    for (int32_t b = a + 1; b < s.n; b++) {
      bool edge = branches ? rng_below(r, 3) == 0 : b == a + 1;
      s.bytes[a][b] = edge ? rng_below(r, slowest) : -1;
    }
  }
  return s;
}

TEST(a_step_takes_as_long_as_its_passes) {
  int32_t n_by_rule = 0, n_slower = 0, n_delayed = 0, n = rounds_of(20000);
  for (int32_t seed = 1; seed <= n; seed++) {
    rng r = rng_new((uint64_t)seed);
    shape s = draw(&r);
    int64_t period_ns, took_ns = simulate(&s);
    pipeline_step said = step_of(&s, &period_ns);
    if (took_ns < s.micro_batches * period_ns) took_ns = s.micro_batches * period_ns;
    if (took_ns != said.step_ns)
      fail_msg("seed %d: %d parts, %d inputs, %s: took %lld, said %lld", (int)seed, (int)s.n, (int)s.micro_batches,
               situ_schedule_name(s.schedule), (long long)took_ns, (long long)said.step_ns);
    bool delays = s.schedule == SITU_SCHEDULE_ZB_H1;
    n_by_rule += delays || took_ns <= (s.micro_batches - 1) * said.interval_ns + said.fill_ns;
    shape other = s;
    other.schedule = SITU_SCHEDULE_1F1B;
    if (delays && simulate(&other) < took_ns) n_slower++;
    n_delayed += delays;
  }
  /* the rule of thumb */
  print_message("%d of %d steps take at most the interval for each input but one, and the longest way\n",
                (int)n_by_rule, (int)n);
  assert_true(n_by_rule > n / 100 * 99);
  print_message("%d of %d steps by ZB-H1 are slower than by 1F1B\n", (int)n_slower, (int)n_delayed);
}

/* Parts follow each other one by one, and transfers take no time. */
static bool is_free_chain(const shape *s) {
  for (int32_t a = 0; a < s->n; a++)
    for (int32_t b = 0; b < s->n; b++)
      if (s->bytes[a][b] != (b == a + 1 ? 0 : -1)) return false;
  return true;
}

/* The interval is what many inputs come to: the difference that another fifty make. */
TEST(many_inputs_pass_at_the_interval) {
  int32_t n_slower = 0, n_free = 0;
  for (int32_t seed = 1; seed <= rounds_of(2000); seed++) {
    rng r = rng_new((uint64_t)seed);
    shape s = draw(&r);
    int64_t period_ns;
    s.schedule = SITU_SCHEDULE_1F1B;
    s.micro_batches = 400;
    pipeline_step few = step_of(&s, &period_ns);
    s.micro_batches = 3400;
    pipeline_step many = step_of(&s, &period_ns);
    assert_int_equal(few.interval_ns, many.interval_ns);
    int64_t took_ns = many.step_ns - few.step_ns;
    if (took_ns > 3000 * few.interval_ns || took_ns <= 3000 * (few.interval_ns - 1))
      fail_msg("seed %d: 3000 inputs take %lld, the interval is %lld", (int)seed, (long long)took_ns,
               (long long)few.interval_ns);
    n_slower += few.interval_ns > period_ns;
    if (is_free_chain(&s)) assert_int_equal(few.interval_ns, period_ns); /* no part waits for what it keeps */
    n_free += is_free_chain(&s);
  }
  assert_true(n_slower > 0 && n_free > 0);
}

TEST_MAIN
