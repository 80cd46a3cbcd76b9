/* Visits by labels: by hand, against brute force with paths and bypasses from nowhere, and before the judge. */
#include "../../lab/brute.h"
#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/checked.h"
#include "base/clock.h"
#include "base/rng.h"
#include "bound/bound.h"
#include "chain/visit_path.h"
#include "check/judge.h"
#include "graph/builder.h"
#include "situ/plan.h"

enum { MAX_OPERATORS = 16 };

/* A host without limit, and n_fast devices of one class with a memory each, joined to the host alone by a link of each
 * direction. */
static lab machine(int32_t n_fast, int64_t memory_bytes) {
  lab l = lab_new();
  l.alike = true;
  for (int32_t d = 0; d <= n_fast; d++) {
    lab_device(&l, d == 0 ? SITU_UNLIMITED_BYTES : memory_bytes, -1, d == 0);
    if (d == 0) continue;
    lab_link(&l, 0, d, 0, -1);
    lab_link(&l, d, 0, 0, -1);
  }
  return l;
}

/* An operator of 5 ns on a fast device. */
static int32_t add(lab *l, int64_t host_ns, int64_t weight_bytes) {
  int32_t v = lab_operator(l, NULL, 5, weight_bytes, 0);
  l->time_ns[v][0] = host_ns;
  return v;
}

static void pose(lab *l, situ_contention contention) {
  lab_pose(l, &(situ_problem_options){
                  .size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM, .contention = contention});
}

static void expect(lab *l, int64_t expected_ns) {
  OWN(arena) *a = arena_new();
  certificate proof;
  bool objected;
  assert_int_equal(proved_bound(&proof, &visit_label_bound, l->problem, a), expected_ns);
  assert_true(proved_of_claim(l->problem, &proof, &objected) == expected_ns && !objected);
}

/* Where the bound would have each operator. */
static void expect_placed(lab *l, const int32_t *expected) {
  OWN(arena) *a = arena_new();
  certificate proof;
  proved_bound(&proof, &visit_label_bound, l->problem, a);
  assert_int_equal(proof.n_placed, l->problem->n_operators);
  for (int32_t v = 0; v < l->problem->n_operators; v++) assert_int_equal(proof.memory[v], expected[v]);
}

/* a, b, c, d in a row, and d reads a too (60 bytes). The fast memory holds two of four. With a and d there, b and c are
 * on the host: 5 + 10 + 50 + 50 + 10 + 5 = 130; any other two take longer. If d found the memory emptied of a and b,
 * c alone would be on the host: 5 + 5 + 10 + 50 + 10 + 5 = 85. */
TEST(what_comes_back_finds_its_memory_as_it_left_it) {
  OWN(lab) l = machine(1, 290);
  int32_t a = add(&l, 60, 100), b = add(&l, 50, 100), c = add(&l, 50, 100), d = add(&l, 60, 100);
  lab_tensor(&l, a, 10, b, -1);
  lab_tensor(&l, a, 60, d, -1);
  lab_tensor(&l, b, 10, c, -1);
  lab_tensor(&l, c, 10, d, -1);
  pose(&l, SITU_CONTENTION_LINK);
  int64_t optimum_ns = brute_force(l.problem, NULL);
  assert_int_equal(optimum_ns, 130);
  expect(&l, 130);
  expect_placed(&l, (int32_t[]){1, 0, 0, 1});
}

/* a, b, c, d in a row, d reads a too (60 bytes): a and b on the host alone, c and d on the fast device alone. What a
 * sends keeps the link busy until 10 + 60, so what b sends (20 bytes) at 20 is there at 90: 90 + 5 + 5. Without
 * contention it is there at 40, and d waits for a until 70. */
TEST(what_passes_by_first_keeps_the_link_busy) {
  for (int contended = 0; contended < 2; contended++) {
    OWN(lab) l = machine(1, 300);
    int32_t v[4] = {add(&l, 10, 0), add(&l, 10, 0), add(&l, 1000, 100), add(&l, 1000, 100)};
    for (int i = 0; i < 2; i++) l.time_ns[v[i]][1] = 2000;
    lab_tensor(&l, v[0], 0, v[1], -1);
    lab_tensor(&l, v[0], 60, v[3], -1);
    lab_tensor(&l, v[1], 20, v[2], -1);
    lab_tensor(&l, v[2], 0, v[3], -1);
    int32_t heavy = add(&l, 1, 1000); /* so that not all fits */
    (void)heavy;
    pose(&l, contended ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE);
    assert_int_equal(brute_force(l.problem, NULL), contended ? 100 : 75);
    expect(&l, contended ? 100 : 75);
  }
}

/* 20,000 operators side by side are more than it can look at, which it notices in time. */
TEST(many_branches_do_not_outlast_the_time_limit) {
  enum { N = 20000 };
  OWN(lab) l = machine(1, 50000);
  OWN(arena) *a = arena_new();
  certificate proof = {0};
  int64_t lower_ns;
  int32_t first = add(&l, 10, 0), read = lab_tensor(&l, first, 7, -1), last = add(&l, 10, 100);
  for (int i = 0; i < N; i++) {
    int32_t v = add(&l, 10, 3);
    must(builder_add_use(l.builder, v, read, NULL), NULL);
    lab_tensor(&l, v, 3, last, -1);
  }
  pose(&l, SITU_CONTENTION_LINK);
  int64_t limit_ns = 50000000, before_ns = clock_now_ns();
  budget b = budget_new(0, limit_ns, NULL, NULL);
  assert_int_equal(visit_label_bound.compute(&lower_ns, &proof, l.problem, a, &b, NULL), SITU_STATUS_OK);
  assert_true(clock_now_ns() - before_ns < 30 * limit_ns);
}

/* a to d in a row, and x between a and d. A fast memory holds two of the five, and another one is 2 x 10 ns away.
 * Without the host (100 ns for any of them) no path takes more than 4 x 5 + 3 x 20, so the bound has none there; all
 * that it has in one memory must fit. */
TEST(visits_of_one_kind_get_memories_that_hold_them) {
  OWN(lab) l = machine(4, 290);
  int32_t a = add(&l, 100, 100), b = add(&l, 100, 100), c = add(&l, 100, 100), d = add(&l, 100, 100);
  int32_t x = add(&l, 100, 100), weight[5] = {0};
  lab_tensor(&l, a, 10, b, -1);
  lab_tensor(&l, b, 10, c, -1);
  lab_tensor(&l, c, 10, d, -1);
  lab_tensor(&l, a, 10, x, -1);
  lab_tensor(&l, x, 10, d, -1);
  pose(&l, SITU_CONTENTION_NONE);
  OWN(arena) *scratch = arena_new();
  certificate proof;
  int64_t lower_ns = proved_bound(&proof, &visit_label_bound, l.problem, scratch);
  assert_true(lower_ns > 0 && lower_ns <= brute_force(l.problem, NULL));
  assert_int_equal(proof.n_placed, 5);
  for (int32_t v = 0; v < 5; v++) {
    assert_in_range(proof.memory[v], 1, 4);
    weight[proof.memory[v]] += 100;
  }
  for (int32_t m = 1; m < 5; m++) assert_true(weight[m] <= 200);
}

/* ---- by chance ---- */

static void draw_machine(lab *l, rng *r, int32_t n_fast, int64_t memory_bytes) {
  int64_t host_bytes = rng_below(r, 4) == 0 ? 2 * memory_bytes : SITU_UNLIMITED_BYTES;
  bool alike = n_fast > 2; /* routes too */
  bool duplex = rng_below(r, 3) > 0, direct = rng_below(r, 4) == 0 && !alike;
  l->alike = alike || rng_below(r, 3) > 0;
  lab_device(l, host_bytes, -1, true);
  for (int32_t d = 1; d <= n_fast; d++) {
    lab_device(l, memory_bytes, -1, false);
    lab_link(l, 0, d, (int64_t)rng_below(r, alike ? 1 : 3), duplex ? -1 : d);
    lab_link(l, d, 0, (int64_t)rng_below(r, alike ? 1 : 3), duplex ? -1 : d);
  }
  for (int32_t d = 2; d <= n_fast && direct; d++) {
    lab_link(l, d - 1, d, 0, -1);
    lab_link(l, d, d - 1, 0, -1);
  }
}

/* Mostly a chain, with what skips parts of it and what runs beside it, on memories that hold a part. */
static lab draw_residual_on(uint64_t seed, bool small, int32_t max_fast) {
  rng r = rng_new(seed);
  lab l = lab_new();
  int32_t n_fast = max_fast > 2 ? max_fast : 1 + (int32_t)rng_below(&r, 2),
          n = small ? 4 + (int32_t)rng_below(&r, n_fast == 1 ? 4 : 2) : 8 + (int32_t)rng_below(&r, 8);
  int64_t weight = 0, bytes[MAX_OPERATORS];
  for (int32_t v = 0; v < n; v++) weight += bytes[v] = rng_below(&r, 5) == 0 ? 0 : 10 + (int64_t)rng_below(&r, 30);
  draw_machine(&l, &r, n_fast, weight * (3 + (int64_t)rng_below(&r, 5)) / 10 + (int64_t)rng_below(&r, 20));
  for (int32_t v = 0; v < n; v++) {
    lab_operator(&l, NULL, 0, bytes[v], rng_below(&r, 4) == 0 ? (int64_t)rng_below(&r, 8) : 0);
    l.time_ns[v][0] = rng_below(&r, 6) == 0 ? 0 : 2 + (int64_t)rng_below(&r, 30);
    int64_t fast_ns = rng_below(&r, 6) == 0 ? 0 : (int64_t)rng_below(&r, 8);
    for (int32_t d = 1; d <= n_fast; d++) l.time_ns[v][d] = l.alike ? fast_ns : (int64_t)rng_below(&r, 8);
    lab_tensor(&l, v, rng_below(&r, 5) == 0 ? 0 : (int64_t)rng_below(&r, 20), -1);
    bool branches = v > 1 && rng_below(&r, 4) == 0;
    if (v > 0) must(builder_add_use(l.builder, v - 1 - branches, v, NULL), NULL);
    for (int32_t u = 0; u + 1 + branches < v; u++)
      if (u != v - 1 - branches && rng_below(&r, 3) == 0) must(builder_add_use(l.builder, u, v, NULL), NULL);
    if (branches && rng_below(&r, 2)) must(builder_add_use(l.builder, v - 1, v, NULL), NULL);
  }
  pose(&l, rng_below(&r, 5) ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE);
  return l;
}

static lab draw_residual(uint64_t seed, bool small) { return draw_residual_on(seed, small, 2); }

/* Any graph, with colocation groups, pins and devices that do not run all. */
static lab draw_any(uint64_t seed) {
  rng r = rng_new(seed);
  int32_t n = (int32_t)(3 + rng_below(&r, 3));
  return lab_random(
      &(lab_options){.seed = seed,
                     .n_operators = n,
                     .n_devices = n > 4 ? 3 : (int32_t)(2 + rng_below(&r, 3)),
                     .n_hosts = (int32_t)(rng_below(&r, 3) == 0 ? 2 : 0),
                     .density = 0.3 + 0.5 * rng_unit(&r),
                     .n_colocations = (int32_t)rng_below(&r, 3),
                     .pinned = rng_below(&r, 4) == 0,
                     .unsupported = rng_below(&r, 3) == 0,
                     .equal = rng_below(&r, 2) == 0,
                     .memory = 0.2 + 0.5 * rng_unit(&r),
                     .options = {.execution = SITU_EXECUTION_STREAM,
                                 .contention = rng_below(&r, 4) ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE}});
}

typedef struct drawn_path {
  int32_t chain[MAX_OPERATORS], from[MAX_OPERATORS], to[MAX_OPERATORS], start[MAX_OPERATORS + 1];
  int32_t beside[MAX_OPERATORS], at[MAX_OPERATORS]; /* at: [operator] in the chain; -1 free, -2 in a bypass */
  visit_path path;
} drawn_path;

static int32_t draw_user(const situ_graph *g, int32_t v, rng *r) {
  int32_t users[64], n = 0;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1] && n < 64; i++) users[n++] = g->use[i];
  return n == 0 ? -1 : users[rng_below(r, (uint64_t)n)];
}

/* A bypass from chain[k] by chance, to the end of `x`; of the ends `to`, if that is not -1. */
static bool draw_bypass(drawn_path *x, const situ_graph *g, int32_t k, int32_t to, rng *r) {
  int32_t n = 0, first = x->start[x->path.n_bypasses], v = draw_user(g, x->chain[k], r);
  for (; v >= 0 && x->at[v] == -1; v = draw_user(g, v, r)) x->beside[first + n++] = v;
  if (v < 0 || x->at[v] < k + (n == 0 ? 2 : 1) || (to >= 0 && (x->at[v] != to || n == 0))) return false;
  for (int32_t i = 0; i < n; i++) x->at[x->beside[first + i]] = -2;
  x->from[x->path.n_bypasses] = k;
  x->to[x->path.n_bypasses++] = x->at[v];
  x->start[x->path.n_bypasses] = first + n;
  return true;
}

static void draw_path(drawn_path *x, const situ_graph *g, rng *r) {
  memset(x, 0, sizeof *x);
  x->path = (visit_path){.chain = x->chain,
                         .from = x->from,
                         .to = x->to,
                         .start = x->start,
                         .beside = x->beside,
                         .unit_bytes = 1 + (int64_t)rng_below(r, 12) * (int64_t)rng_below(r, 2)};
  for (int32_t v = 0; v < g->n_operators; v++) x->at[v] = -1;
  for (int32_t v = (int32_t)rng_below(r, 2); v >= 0 && v < g->n_operators; v = draw_user(g, v, r)) {
    x->at[v] = x->path.n;
    x->chain[x->path.n++] = v;
  }
  for (int32_t k = 0; k < x->path.n;) {
    int32_t before = x->path.n_bypasses;
    for (int32_t round = 0; round < 4; round++)
      draw_bypass(x, g, k, x->path.n_bypasses > before ? x->to[before] : -1, r);
    k = x->path.n_bypasses > before ? x->to[before] : k + 1;
  }
}

static certificate claim(const visit_path *p, int64_t lower_ns, arena *a) {
  certificate c;
  certificate_start(&c, "visit_labels", lower_ns);
  int64_t *chain = certificate_add_operators(&c, "chain", p->n, a);
  int64_t *from = certificate_add(&c, "from", p->n_bypasses, a), *to = certificate_add(&c, "to", p->n_bypasses, a);
  int64_t *counts = certificate_add(&c, "counts", p->n_bypasses, a);
  int64_t *beside = certificate_add_operators(&c, "beside", p->start[p->n_bypasses], a);
  *certificate_add(&c, "unit_bytes", 1, a) = p->unit_bytes;
  for (int32_t k = 0; k < p->n; k++) chain[k] = p->chain[k];
  for (int32_t r = 0; r < p->n_bypasses; r++) {
    from[r] = p->from[r];
    to[r] = p->to[r];
    counts[r] = p->start[r + 1] - p->start[r];
  }
  for (int32_t i = 0; i < p->start[p->n_bypasses]; i++) beside[i] = p->beside[i];
  return c;
}

/* Any path and bypasses: never above the optimum, and the judge proves the very same. */
static void try_any_path(const situ_problem *p, int64_t optimum_ns, rng *r, uint64_t seed) {
  budget unlimited = budget_new(0, 0, NULL, NULL);
  OWN(arena) *a = arena_new();
  drawn_path x;
  visits v;
  int64_t lower_ns;
  bool objected;
  draw_path(&x, p->graph, r);
  assert_true(visits_init(&v, p, a));
  int64_t cells = (int64_t)p->n_operators * p->n_devices;
  int64_t *head = ARENA_NEW(a, int64_t, cells), *tail = ARENA_NEW(a, int64_t, cells);
  assert_true(head && tail && bound_heads_tails(head, tail, p));
  assert_true(visit_labels_bound(&lower_ns, NULL, &v, &x.path, head, tail, &unlimited));
  if (lower_ns > optimum_ns)
    fail_msg("seed %d: %lld proved, %lld possible", (int)seed, (long long)lower_ns, (long long)optimum_ns);
  certificate c = claim(&x.path, lower_ns, a);
  int64_t found = proved_of_claim(p, &c, &objected);
  if (found != lower_ns || objected)
    fail_msg("seed %d: %lld of %lld ns verified", (int)seed, (long long)found, (long long)lower_ns);
  if (lower_ns < SITU_NEVER_NS) {
    c.lower_ns++;
    assert_true(proved_of_claim(p, &c, &objected) == 0 && objected);
  }
}

/* Allows the operators of a path only the memory that the bound says. Returns whether it says one for each, and none
 * for others. */
static bool hold_fast(visits *v, const visit_path *path, const int32_t *memory) {
  bool right = true, *on_path = ARENA_ZERO(v->scratch, bool, v->problem->n_operators);
  for (int32_t k = 0; k < path->n; k++) on_path[path->chain[k]] = true;
  for (int32_t i = 0; i < path->start[path->n_bypasses]; i++) on_path[path->beside[i]] = true;
  for (int32_t x = 0; x < v->problem->n_operators; x++) {
    right &= on_path[x] == (memory[x] >= 0);
    for (int32_t m = 0; m < v->n_memories && memory[x] >= 0; m++)
      if (m != memory[x]) v->time_ns[(int64_t)x * v->n_memories + m] = SITU_NEVER_NS;
  }
  return right;
}

/* With every operator of the path held where the bound has it, the bound is never lower, and where there is a memory
 * for each visit mostly the same: what it says attains it. */
TEST(what_it_says_of_memories_attains_the_bound) {
  int32_t n_tried = 0, n_same = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(600); seed++) {
    rng r = rng_new(seed);
    OWN(lab) l = draw_residual_on(seed, true, 6);
    OWN(arena) *a = arena_new();
    budget unlimited = budget_new(0, 0, NULL, NULL);
    const situ_problem *p = l.problem;
    drawn_path x;
    visits v;
    int64_t lower_ns, held_ns, cells = (int64_t)p->n_operators * p->n_devices;
    int64_t *head = ARENA_NEW(a, int64_t, cells), *tail = ARENA_NEW(a, int64_t, cells);
    int32_t memory[MAX_OPERATORS];
    draw_path(&x, p->graph, &r);
    assert_true(bound_heads_tails(head, tail, p) && visits_init(&v, p, a));
    assert_true(visit_labels_bound(&lower_ns, memory, &v, &x.path, head, tail, &unlimited));
    if (lower_ns > 0 && lower_ns < SITU_NEVER_NS) {
      assert_true(hold_fast(&v, &x.path, memory));
      visits_find_kinds(&v);
      assert_true(visit_labels_bound(&held_ns, NULL, &v, &x.path, head, tail, &unlimited));
      assert_true(v.kinds.n > 8 || held_ns >= lower_ns); /* it gives up beyond 8 kinds */
      n_tried++;
      n_same += held_ns == lower_ns;
    }
  }
  if (n_same < n_tried * 19 / 20 || n_tried < rounds_of(300)) fail_msg("the same %d of %d", n_same, n_tried);
}

TEST(no_path_proves_too_much_and_the_judge_agrees) {
  int32_t n_tight = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(3000); seed++) {
    OWN(lab) l = seed % 3 ? draw_residual(seed, true) : draw_any(seed);
    rng r = rng_new(seed + 77);
    if (!l.problem->conflict) {
      OWN(arena) *a = arena_new();
      certificate proof;
      bool objected;
      int64_t optimum_ns = brute_force(l.problem, NULL);
      int64_t found_ns = proved_bound(&proof, &visit_label_bound, l.problem, a);
      if (found_ns > optimum_ns)
        fail_msg("seed %d: bound %lld, optimum %lld", (int)seed, (long long)found_ns, (long long)optimum_ns);
      if (found_ns > 0) assert_true(proved_of_claim(l.problem, &proof, &objected) == found_ns && !objected);
      n_tight += found_ns == optimum_ns;
      for (int32_t round = 0; round < 4; round++) try_any_path(l.problem, optimum_ns, &r, seed);
    }
  }
  if (n_tight < rounds_of(600)) fail_msg("tight %d", n_tight);
}

/* Longer paths with more beside them: one thing to the bound and the judge. */
TEST(paths_of_larger_problems_are_one_thing_to_the_judge) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(500); seed++) {
    OWN(lab) l = draw_residual(seed, false);
    rng r = rng_new(seed);
    for (int32_t round = 0; round < 4 && !l.problem->conflict; round++)
      try_any_path(l.problem, SITU_NEVER_NS, &r, seed);
  }
}

TEST_MAIN
