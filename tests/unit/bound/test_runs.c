/* Runs of a chain, by hand; and which chains are tried, by the judge on each of them. */
#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "bound/bound.h"
#include "view/contract.h"

static const situ_problem_options pipeline = {.execution = SITU_EXECUTION_PIPELINE,
                                              .objective = SITU_OBJECTIVE_THROUGHPUT};

/* What the bound finds, which the judge must see in its certificate. */
static int64_t found(lab *s, const situ_problem_options *options) {
  certificate proof;
  lab_pose(s, options);
  int64_t lower = proved_bound(&proof, &runs_bound, s->problem, s->arena);
  if (proof.kind) assert_true(proved_by(s->problem, &proof) == lower);
  return lower;
}

/* n operators in a row, 10 ns each, 7 bytes of weights. */
static void add_row(lab *s, int32_t n) {
  for (int32_t v = 0; v < n; v++) {
    lab_operator(s, "", 10, 7, 0);
    if (v > 0) lab_tensor(s, v - 1, 1, v, -1);
  }
}

/* Five operators on two devices: one has at least three of them in a row, 30 ns. Work alone says 25. */
TEST(a_chain_is_cut_between_operators) {
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  add_row(&s, 5);
  assert_int_equal(found(&s, &pipeline), 30);
}

/* a and d, 10 ns each, with b and c, 4 ns each, beside each other between them. By the chain a, b, d one device has two
 * of them, 14 ns; and a, b | c, d takes 14 ns. */
TEST(what_is_beside_the_chain_is_left_out) {
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 4; v++) lab_operator(&s, "", v == 0 || v == 3 ? 10 : 4, 0, 0);
  lab_tensor(&s, 0, 1, 1, 2, -1);
  lab_tensor(&s, 1, 1, 3, -1);
  lab_tensor(&s, 2, 1, 3, -1);
  assert_int_equal(found(&s, &pipeline), 14);
}

/* One device alone has all four: 10 + 4 + 4 + 10. The chain a, d knows what lies between its ends. */
TEST(what_lies_between_the_ends_of_a_run_counts) {
  OWN(lab) s = lab_mesh(1, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 4; v++) lab_operator(&s, "", v == 0 || v == 3 ? 10 : 4, 0, 0);
  lab_tensor(&s, 0, 1, 1, 2, -1);
  lab_tensor(&s, 1, 1, 3, -1);
  lab_tensor(&s, 2, 1, 3, -1);
  assert_int_equal(found(&s, &pipeline), 28);
}

/* The host takes 100 ns for each of five; the other device 10, and has room for 14 bytes, two of them: 300. With 6
 * bytes it has room for none: 500. */
TEST(a_run_has_room_in_memory) {
  for (int32_t none = 0; none < 2; none++) {
    OWN(lab) s = lab_new();
    lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
    lab_device(&s, none ? 6 : 14, -1, false);
    lab_star(&s);
    add_row(&s, 5);
    for (int32_t v = 0; v < 5; v++) s.time_ns[v][0] = 100;
    assert_int_equal(found(&s, &pipeline), none ? 500 : 300);
  }
}

/* Three forward operators in a row and their backward ones, each pair one group: three groups in a row, 20 ns each, of
 * which one of two devices has two. Work alone says 30. Where backward operators come in the order of the forward ones
 * too, that is the same: between groups with forward operators only these count. */
TEST(groups_of_a_training_step_are_a_chain) {
  for (int same_order = 0; same_order < 2; same_order++) {
    OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
    for (int32_t v = 0; v < 6; v++) {
      int32_t group = v < 3 ? v : same_order ? v - 3 : 5 - v;
      lab_of_phase(&s, "", 10, v < 3 ? SITU_PHASE_FORWARD : SITU_PHASE_BACKWARD, group);
      if (v > 0) lab_tensor(&s, v - 1, 1, v, -1);
    }
    assert_int_equal(found(&s, &pipeline), 40);
  }
}

/* Without contiguity, or with shared parts, nothing is proved. */
TEST(only_contiguous_parts_are_runs) {
  for (int32_t shared = 0; shared < 2; shared++) {
    OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
    situ_problem_options o = pipeline;
    o.free = !shared;
    o.replicate = shared;
    add_row(&s, 5);
    assert_int_equal(found(&s, &o), 0);
    certificate c;
    certificate_start(&c, "runs", 0);
    int64_t *chain = certificate_add_operators(&c, "chain", 5, s.arena);
    for (int32_t v = 0; v < 5; v++) chain[v] = v;
    assert_int_equal(proved_by(s.problem, &c), 0);
  }
}

/* The same operators in another order, or one of them twice, are no chain. Some of them are one: 2 and 4 alone have
 * 3 between them, so that two devices take 10 ns; of 0, 2 and 3 one device has two neighbours, 20 ns or, with 1, 30. */
TEST(the_judge_asks_for_a_chain) {
  static const struct {
    int64_t chain[3];
    int32_t n, proved;
  } rows[] = {{{0, 1, 2}, 3, 20}, {{1, 0, 2}, 3, 0},  {{0, 1, 1}, 3, 0},
              {{2, 4, 0}, 2, 10}, {{0, 2, 3}, 3, 20}, {{3, 0, 0}, 1, 10}};
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  add_row(&s, 5);
  found(&s, &pipeline);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    certificate c;
    certificate_start(&c, "runs", 0);
    int64_t *chain = certificate_add_operators(&c, "chain", rows[i].n, s.arena);
    for (int32_t k = 0; k < rows[i].n; k++) chain[k] = rows[i].chain[k];
    assert_int_equal(proved_by(s.problem, &c), rows[i].proved);
  }
}

/* ---- which chains are tried ---- */

enum { MAX_SIZE = 40 };

/* A contiguous pipeline, with times of 1 ns to 1 ms: no two paths take the same, and some work is a small part of it.
 */
static situ_problem *draw(lab *l, situ_costs **wide, uint64_t seed) {
  rng r = rng_new(seed + 40);
  *l = lab_random(&(lab_options){
      .seed = seed + 4000,
      .n_operators = (int32_t)(4 + rng_below(&r, MAX_SIZE - 3)),
      .n_devices = (int32_t)(2 + rng_below(&r, 4)),
      .density = 0.03 + 0.12 * rng_unit(&r),
      .n_colocations = rng_below(&r, 4) == 0,
      .training = rng_below(&r, 3) == 0,
      .pinned = rng_below(&r, 4) == 0,
      .unsupported = rng_below(&r, 3) == 0,
      .equal = rng_below(&r, 2) == 0,
      .memory = rng_below(&r, 2) ? 0.5 : 0,
      .options = {.execution = SITU_EXECUTION_PIPELINE, .objective = SITU_OBJECTIVE_THROUGHPUT, .in_flight = 2}});
  *wide = costs_copies(l->costs, 1);
  assert_non_null(*wide);
  for (int32_t v = 0; v < l->graph->n_operators; v++) {
    int64_t most = 1;
    for (int64_t k = rng_below(&r, 7); k > 0; k--) most *= 10;
    int64_t time_ns = most + rng_below(&r, most);
    for (int32_t c = 0; c < (*wide)->n_classes; c++) {
      int64_t *t = &(*wide)->time_ns[v * (*wide)->n_classes + c];
      if (*t != SITU_NEVER_NS) *t = time_ns + rng_below(&r, time_ns);
    }
  }
  costs_find_extremes(*wide);
  situ_problem_options options = {.size = sizeof options,
                                  .execution = SITU_EXECUTION_PIPELINE,
                                  .objective = SITU_OBJECTIVE_THROUGHPUT,
                                  .in_flight = 2,
                                  .pins = l->pins,
                                  .unused = l->unused};
  situ_problem *p;
  situ_error error;
  if (situ_problem_pose(&p, l->graph, l->platform, *wide, &options, &error)) fail_msg("%s", error.text);
  return p;
}

typedef struct paths {
  int64_t least_ns[MAX_SIZE],
      length_ns[MAX_SIZE]; /* [class] its least time, 0 where no device may have it; of a path from it */
  bool reach[MAX_SIZE][MAX_SIZE];
  int32_t place[MAX_SIZE], path[MAX_SIZE], n;
  int64_t beside_ns[MAX_SIZE]; /* [place] */
} paths;

static int64_t measure(paths *w, const contraction *c, int32_t k) {
  const constraint_graph *f = &c->forward;
  if (w->length_ns[k] >= 0) return w->length_ns[k];
  int64_t behind = 0;
  for (int32_t e = f->start[k]; e < f->start[k + 1]; e++) {
    int64_t length = measure(w, c, f->to[e]);
    if (length > behind) behind = length;
    w->reach[k][f->to[e]] = true;
    for (int32_t to = 0; to < f->n; to++) w->reach[k][to] |= w->reach[f->to[e]][to];
  }
  return w->length_ns[k] = w->least_ns[k] + behind;
}

static void find_least(paths *w, const contraction *c, const situ_problem *p) {
  for (int32_t k = 0; k < c->n_classes; k++) {
    unit_members members = contraction_members(c, k);
    w->least_ns[k] = SITU_NEVER_NS;
    for (int32_t d = 0; d < p->n_devices; d++) {
      int64_t sum = 0;
      for (int32_t i = 0; i < members.n; i++)
        sum = problem_allows(p, members.member[i], d) && sum != SITU_NEVER_NS
                  ? sum + problem_time_ns(p, members.member[i], d)
                  : SITU_NEVER_NS;
      if (sum < w->least_ns[k]) w->least_ns[k] = sum;
    }
    if (w->least_ns[k] == SITU_NEVER_NS) w->least_ns[k] = 0;
    w->length_ns[k] = w->place[k] = -1;
  }
}

/* The longest path, as long as its first class says, then as the next does. False where two are, or where some class
 * has no device. */
static bool walk(paths *w, const contraction *c) {
  int64_t left = 0;
  for (int32_t k = 0; k < c->n_classes; k++) {
    if (w->least_ns[k] == 0) return false;
    if (measure(w, c, k) > left) left = w->length_ns[k];
  }
  for (int32_t last = -1; left > 0;) {
    int32_t next = -1, n = 0;
    for (int32_t k = 0; k < c->n_classes; k++) {
      bool follows = last < 0;
      for (int32_t e = last < 0 ? 0 : c->forward.start[last]; last >= 0 && e < c->forward.start[last + 1]; e++)
        follows |= c->forward.to[e] == k;
      if (!follows || w->length_ns[k] != left) continue;
      n++;
      next = k;
    }
    if (n != 1) return false;
    w->place[next] = w->n;
    w->path[w->n++] = last = next;
    left -= w->least_ns[next];
  }
  return true;
}

/* What no class of the path at a place comes before or behind, though some of its ends do. */
static void find_beside(paths *w, const contraction *c) {
  for (int32_t k = 0; k < c->n_classes; k++) {
    int32_t before = -1, behind = w->n;
    if (w->place[k] >= 0) continue;
    for (int32_t i = 0; i < w->n; i++) {
      if (w->reach[w->path[i]][k]) before = i;
      if (w->reach[k][w->path[i]] && behind == w->n) behind = i;
    }
    for (int32_t i = before + 1; before >= 0 && behind < w->n && i < behind; i++) w->beside_ns[i] += w->least_ns[k];
  }
}

/* The most that the judge accepts of the chains that docs/theory/bounds/runs.md names. */
static int64_t best_chain(const paths *w, const contraction *c, const situ_problem *p, arena *a) {
  int64_t best = 0, all = 0;
  const int64_t part[] = {1, 100, 1000, 10000, INT64_MAX};
  for (int32_t i = 0; i < w->n; i++) all += w->least_ns[w->path[i]];
  for (size_t k = 0; k < sizeof part / sizeof part[0]; k++) {
    certificate proof;
    int64_t kept[MAX_SIZE];
    int32_t n = 0;
    for (int32_t i = 0; i < w->n; i++)
      if (w->beside_ns[i] <= all / part[k]) kept[n++] = contraction_members(c, w->path[i]).member[0];
    if (n == 0) continue;
    certificate_start(&proof, "runs", 0);
    memcpy(certificate_add_operators(&proof, "chain", n, a), kept, (size_t)n * sizeof *kept);
    int64_t proved = proved_by(p, &proof);
    if (proved > best) best = proved;
  }
  return best;
}

TEST(the_best_chain_is_found) {
  int32_t n = 0, rounds = rounds_of(3000);
  for (uint64_t seed = 0; seed < (uint64_t)rounds; seed++) {
    lab l;
    OWN(situ_costs) *wide = NULL;
    OWN(situ_problem) *p = draw(&l, &wide, seed);
    OWN(arena) *a = arena_new();
    certificate proof;
    contraction c;
    paths w = {0};
    int64_t lower = proved_bound(&proof, &runs_bound, p, a);
    assert_true(contract(&c, p, true, a));
    find_least(&w, &c, p);
    if (walk(&w, &c)) {
      find_beside(&w, &c);
      int64_t best = best_chain(&w, &c, p, a);
      if (lower != best) fail_msg("seed %d: %lld, not %lld", (int)seed, (long long)lower, (long long)best);
      n += w.n > 3;
    }
    lab_free(&l);
  }
  print_message("%d of %d problems have a path of more than 3 classes\n", (int)n, (int)rounds);
  assert_true(n > rounds / 5);
}

TEST_MAIN
