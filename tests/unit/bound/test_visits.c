/* Memory visits: by hand, against brute force with chains and prices from nowhere, and before the judge. */
#include "../../lab/brute.h"
#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/checked.h"
#include "base/rng.h"
#include "bound/bound.h"
#include "chain/visit_chain.h"
#include "check/judge.h"
#include "cost/cost_models.h"
#include "graph/builder.h"
#include "situ/plan.h"
#include "situ/solve.h"

enum { MAX_OPERATORS = 16, MAX_PRICES = 4 };

/* A host without limit on which an operator takes 50, and n_fast devices with a memory each on which it takes 5; each
 * operator weighs 1000 and makes 10 bytes, which take 10 ns to the host and as long from it. `edges` by pairs. */
static lab make(const int32_t (*edges)[2], int32_t n_edges, int32_t n, int32_t n_fast, int64_t room) {
  lab l = lab_new();
  l.alike = true;
  for (int32_t d = 0; d <= n_fast; d++) {
    lab_device(&l, d == 0 ? SITU_UNLIMITED_BYTES : room, -1, d == 0);
    if (d == 0) continue;
    lab_link(&l, 0, d, 0, -1);
    lab_link(&l, d, 0, 0, -1);
  }
  for (int32_t v = 0; v < n; v++) {
    lab_operator(&l, NULL, 5, 1000, 0);
    l.time_ns[v][0] = 50;
    lab_tensor(&l, v, 10, -1);
  }
  for (int32_t i = 0; i < n_edges; i++)
    assert_int_equal(builder_add_use(l.builder, edges[i][1], edges[i][0], NULL), SITU_STATUS_OK);
  lab_pose(&l, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE});
  return l;
}

static void expect_bound(lab l, int64_t expected_ns) {
  arena *a = arena_new();
  certificate proof;
  bool objected;
  assert_int_equal(proved_bound(&proof, &memory_visits_bound, l.problem, a), expected_ns);
  assert_true(proof.kind ? proved_of_claim(l.problem, &proof, &objected) == expected_ns && !objected
                         : expected_ns == 0);
  if (expected_ns > 0) assert_int_equal(brute_force(l.problem, NULL), expected_ns);
  arena_free(a);
  lab_free(&l);
}

/* Six operators in a row: a memory of 2,025 bytes holds two with what they take and make (20). Three visits of 10 ns
 * and two changes of 20 ns: 70. With one memory alone the others are on the host, 2 times 5 + 4 times 50 + one change
 * of 10: 220. */
TEST(a_chain_pays_for_each_change_of_memory) {
  static const int32_t row[5][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}};
  expect_bound(make(row, 5, 6, 3, 2025), 70);
}

/* Of the same row nothing is said once the budget is spent, as of any chain. */
TEST(a_spent_budget_proves_nothing) {
  static const int32_t row[5][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}};
  static const int32_t whole[] = {0, 1, 2, 3, 4, 5};
  static const int64_t price = (int64_t)1 << VISIT_PRICE_BITS; /* 1 ns a byte */
  lab l = make(row, 5, 6, 3, 2025);
  arena *a = arena_new();
  visits v;
  visit_chain c = {.chain = whole, .n = 6, .price = &price, .n_prices = 1};
  assert_true(visits_init(&v, l.problem, a));
  for (int spent = 0; spent < 2; spent++) {
    budget b = budget_new(1, 0, NULL, NULL);
    int64_t lower_ns = -1;
    if (spent) assert_true(budget_spend(&b, 1));
    assert_true(visits_bound(&lower_ns, &v, &c, &b));
    assert_int_equal(lower_ns > 0, !spent);
  }
  arena_free(a);
  lab_free(&l);
}

/* The same row, whose third operator also makes something for a seventh that nothing waits for: the longest path is
 * the row all the same. */
TEST(the_longest_path_is_followed) {
  static const int32_t row[6][2] = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {2, 6}};
  lab l = make(row, 6, 7, 3, 2025);
  arena *a = arena_new();
  certificate proof;
  assert_int_equal(proved_bound(&proof, &memory_visits_bound, l.problem, a), 70);
  arena_free(a);
  lab_free(&l);
}

/* Two branches of one operator each between first and last. A memory of 3,035 bytes has no room for the fourth. Either
 * branch elsewhere takes 5 + 20 + 5 + 20 + 5 = 55; first or last elsewhere 5 + 20 + 5 + 5 = 35. At 0.02 ns for a byte
 * the block takes 10 with both branches, which cost 40, or 50 with none: 50 either way. The ends cost 40 and the room,
 * 3,005 beside the 30 bytes that the last one takes and makes, is worth 60.1: 5 + 50 - 20.1, so 35 as well. */
TEST(what_stays_beside_the_chain_takes_room_too) {
  static const int32_t diamond[4][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
  lab l = make(diamond, 4, 4, 2, 3035);
  arena *a = arena_new();
  budget unlimited = budget_new(0, 0, NULL, NULL);
  visits v;
  int64_t lower_ns, price[] = {0, 85899345};
  assert_true(visits_init(&v, l.problem, a));
  visit_chain chain = {.chain = (int32_t[]){0, 3}, .n = 2, .price = price, .n_prices = 2};
  assert_true(visits_bound(&lower_ns, &v, &chain, &unlimited));
  assert_int_equal(lower_ns, 35);
  assert_int_equal(brute_force(l.problem, NULL), 35);
  arena_free(a);
  lab_free(&l);
}

TEST(it_is_silent_where_all_fits) {
  static const int32_t row[2][2] = {{0, 1}, {1, 2}};
  expect_bound(make(row, 2, 3, 2, 3030), 0);
}

static lab draw(uint64_t seed) {
  rng r = rng_new(seed);
  lab_options o = {.seed = seed,
                   .n_operators = (int32_t)(2 + rng_below(&r, 4)),
                   .n_devices = (int32_t)(2 + rng_below(&r, 3)),
                   .n_hosts = (int32_t)(rng_below(&r, 3) == 0 ? 2 : 0),
                   .density = 0.1 + 0.6 * rng_unit(&r),
                   .n_colocations = (int32_t)rng_below(&r, 3),
                   .pinned = rng_below(&r, 4) == 0,
                   .unsupported = rng_below(&r, 3) == 0,
                   .equal = rng_below(&r, 2) == 0,
                   .memory = 0.1 + 0.5 * rng_unit(&r),
                   .options = {.execution = SITU_EXECUTION_STREAM,
                               .contention = rng_below(&r, 2) ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE}};
  if (o.n_operators > 4) o.n_devices = 3;
  return lab_random(&o);
}

/* Each with a chance, those that come after the one before. */
static int32_t draw_chain(int32_t *chain, const situ_graph *g, rng *r) {
  bool after[MAX_OPERATORS];
  int32_t n = 0, skips = 2 * (int32_t)rng_below(r, g->n_operators > 9 ? 4 : 3);
  for (int32_t v = 0; v < g->n_operators; v++) {
    after[v] = false;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      after[v] |= after[g->producer[g->in[i]]] || (n > 0 && g->producer[g->in[i]] == chain[n - 1]);
    if ((n > 0 && !after[v]) || rng_below(r, 8) < skips) continue;
    chain[n++] = v;
    for (int32_t u = 0; u <= v; u++) after[u] = false;
  }
  return n;
}

/* Pairs of places, each at least two apart, one behind the other. */
static int32_t draw_bypasses(int32_t *from, int32_t *to, int32_t n_chain, rng *r) {
  int32_t n = 0;
  for (int32_t at = 0; at + 2 < n_chain;) {
    from[n] = at + (int32_t)rng_below(r, 2);
    to[n] = from[n] + 2 + (int32_t)rng_below(r, 3);
    if (to[n] >= n_chain) break;
    at = to[n++];
  }
  return n;
}

/* Any chain, bypasses and prices: never above the optimum, and the judge proves the very same. */
static void try_any_chain(const situ_problem *p, int64_t optimum_ns, rng *r, uint64_t seed) {
  int32_t chain[MAX_OPERATORS], from[MAX_OPERATORS], to[MAX_OPERATORS];
  int64_t price[MAX_PRICES], lower_ns;
  budget unlimited = budget_new(0, 0, NULL, NULL);
  arena *a = arena_new();
  visits v;
  certificate c;
  bool objected;
  int32_t n = draw_chain(chain, p->graph, r), n_prices = (int32_t)(1 + rng_below(r, MAX_PRICES));
  for (int32_t q = 0; q < n_prices; q++)
    price[q] = rng_below(r, 3) == 0 ? 0 : (int64_t)rng_below(r, INT64_C(1) << (3 + rng_below(r, 30)));
  if (n > 0) {
    assert_true(visits_init(&v, p, a));
    visit_chain any = {.chain = chain, .n = n, .from = from, .to = to, .price = price, .n_prices = n_prices};
    any.n_bypasses = draw_bypasses(from, to, n, r);
    assert_true(visits_bound(&lower_ns, &v, &any, &unlimited));
    if (lower_ns > optimum_ns)
      fail_msg("seed %d: %lld proved, %lld possible", (int)seed, (long long)lower_ns, (long long)optimum_ns);
    certificate_start(&c, "visits", lower_ns);
    int64_t *names = certificate_add_operators(&c, "chain", n, a), *prices;
    for (int32_t k = 0; k < n; k++) names[k] = chain[k];
    int64_t *begin = certificate_add(&c, "from", any.n_bypasses, a),
            *end = certificate_add(&c, "to", any.n_bypasses, a);
    for (int32_t i = 0; i < any.n_bypasses; i++) {
      begin[i] = from[i];
      end[i] = to[i];
    }
    prices = certificate_add(&c, "byte_prices", n_prices, a);
    memcpy(prices, price, (size_t)n_prices * sizeof *price);
    int64_t found = proved_of_claim(p, &c, &objected);
    if (found != lower_ns || objected)
      fail_msg("seed %d: %lld of %lld ns verified", (int)seed, (long long)found, (long long)lower_ns);
    if (lower_ns < SITU_NEVER_NS) {
      c.lower_ns++;
      assert_true(proved_of_claim(p, &c, &objected) == 0 && objected);
    }
  }
  arena_free(a);
}

/* The critical path with room for everything. */
static int64_t longest_chain(const situ_problem *p, arena *a) {
  int64_t cells = (int64_t)p->n_operators * p->n_devices, longest = 0;
  int64_t *head = arena_alloc(a, cells, sizeof *head), *tail = arena_alloc(a, cells, sizeof *tail);
  assert_true(bound_heads_tails(head, tail, p));
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t least = SITU_NEVER_NS;
    for (int64_t i = (int64_t)v * p->n_devices; i < (int64_t)(v + 1) * p->n_devices; i++)
      least = min64(least, sat_add(head[i], tail[i]));
    longest = max64(longest, least);
  }
  return longest;
}

TEST(no_chain_and_prices_prove_too_much_and_the_judge_agrees) {
  int32_t n_above = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(2000); seed++) {
    lab l = draw(seed);
    rng r = rng_new(seed + 77);
    if (!l.problem->conflict) {
      arena *a = arena_new();
      certificate proof;
      bool objected;
      int64_t optimum = brute_force(l.problem, NULL), found = proved_bound(&proof, &memory_visits_bound, l.problem, a);
      if (found > optimum)
        fail_msg("seed %d: bound %lld, optimum %lld", (int)seed, (long long)found, (long long)optimum);
      if (found > 0) assert_true(proved_of_claim(l.problem, &proof, &objected) == found && !objected);
      n_above += found > longest_chain(l.problem, a);
      for (int32_t round = 0; round < 4; round++) try_any_chain(l.problem, optimum, &r, seed);
      arena_free(a);
    }
    lab_free(&l);
  }
  assert_true(n_above > rounds_of(200));
}

/* x and y are between a and b. None takes time on the second device, whose memory has a byte; on the first, which has
 * no limit, x takes 3 ns, y 10, a and b 100; x weighs 100 bytes and y 1. At 1 ns a byte the block takes 3 ns and keeps
 * y, which is less than 10 ns or 101 bytes; less the byte there is that is 3 ns, and x is elsewhere in the best plan.
 */
TEST(what_takes_longest_elsewhere_is_kept_first) {
  for (int turned = 0; turned < 2; turned++) {
    lab s = lab_new();
    lab_device(&s, SITU_UNLIMITED_BYTES, -1, true);
    lab_device(&s, 1, -1, false);
    lab_star(&s);
    int32_t a = lab_operator(&s, "a", 100, 0, 0), first = lab_operator(&s, NULL, 0, turned ? 1 : 100, 0);
    int32_t second = lab_operator(&s, NULL, 0, turned ? 100 : 1, 0), b = lab_operator(&s, "b", 100, 0, 0);
    s.time_ns[first][0] = turned ? 10 : 3;
    s.time_ns[second][0] = turned ? 3 : 10;
    s.time_ns[a][1] = s.time_ns[b][1] = 0;
    lab_tensor(&s, a, 0, first, second, -1);
    lab_tensor(&s, first, 0, b, -1);
    lab_tensor(&s, second, 0, b, -1);
    lab_pose(&s, &(situ_problem_options){.size = sizeof(situ_problem_options), .execution = SITU_EXECUTION_STREAM});
    int32_t chain[] = {a, b};
    int64_t price = (int64_t)1 << 32, lower_ns;
    budget unlimited = budget_new(0, 0, NULL, NULL);
    visits v;
    assert_true(visits_init(&v, s.problem, s.arena));
    assert_true(visits_bound(&lower_ns, &v, &(visit_chain){.chain = chain, .n = 2, .price = &price, .n_prices = 1},
                             &unlimited));
    assert_int_equal(lower_ns, 3);
    assert_int_equal(brute_force(s.problem, NULL), 3);
    lab_free(&s);
  }
}

/* Longer blocks, of which some operators stay and some do not: what they cost is one thing to the bound and the judge.
 */
TEST(chains_of_larger_problems_are_one_thing_to_the_judge) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(1000); seed++) {
    rng r = rng_new(seed);
    lab l = lab_random(&(lab_options){.seed = seed,
                                      .n_operators = 8 + (int32_t)rng_below(&r, 9),
                                      .n_devices = 2 + (int32_t)rng_below(&r, 3),
                                      .density = 0.2 + 0.3 * rng_unit(&r),
                                      .n_colocations = (int32_t)rng_below(&r, 3),
                                      .equal = rng_below(&r, 2),
                                      .memory = 0.3 + 0.7 * rng_unit(&r),
                                      .options = {.execution = SITU_EXECUTION_STREAM}});
    for (int32_t round = 0; round < 6 && !l.problem->conflict; round++)
      try_any_chain(l.problem, SITU_NEVER_NS, &r, seed);
    lab_free(&l);
  }
}

TEST_MAIN
