/* The linearised dynamic programme against every chain of its order, and against every placement. */
#include "../../../lab/brute.h"
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "../../../lab/tier.h"
#include "base/rng.h"
#include "solve/common/solver.h"
#include "solve/pipeline/orders.h"
#include "view/contract.h"

extern const solver linear_dp_solver;

/* The value of the solver with all its orders, or with the published one alone (a limit of one step). */
static int64_t linear_dp(const situ_problem *p, bool published_only) {
  OWN(arena) *a = arena_new();
  budget b = budget_new(published_only ? 1 : 0, 0, NULL, NULL);
  incumbent best;
  assert_true(incumbent_init(&best, p, a));
  solve_run run = {.problem = p,
                   .simulator = simulator_new(p, a),
                   .budget = &b,
                   .incumbent = &best,
                   .solver = "linear_dp",
                   .arena = a};
  assert_int_equal(linear_dp_solver.solve(&run), SITU_STATUS_OK);
  int64_t value = best.value_ns;
  return value;
}

/* The published order as orders.h documents it: of the classes that are ready, the one that became ready last;
 * among those that became so together the one with the greatest least file identity, at the start the least. */
static void order_by_the_letter(const situ_problem *p, const contraction *c, int32_t *order) {
  int32_t ready_since[64];
  int64_t id[64];
  bool done[64] = {false};
  for (int32_t k = 0; k < c->n_classes; k++) {
    id[k] = INT64_MAX;
    for (int32_t i = c->member_start[k]; i < c->member_start[k + 1]; i++)
      if (p->graph->source_id[c->member[i]] < id[k]) id[k] = p->graph->source_id[c->member[i]];
    ready_since[k] = -1;
  }
  for (int32_t n = 0; n < c->n_classes; n++) {
    for (int32_t k = 0; k < c->n_classes; k++) {
      bool ready = true;
      for (int32_t u = 0; u < c->n_classes; u++)
        for (int64_t i = c->forward.start[u]; i < c->forward.start[u + 1]; i++)
          ready &= c->forward.to[i] != k || done[u];
      if (ready && ready_since[k] < 0) ready_since[k] = n;
    }
    int32_t next = -1;
    for (int32_t k = 0; k < c->n_classes; k++) {
      if (done[k] || ready_since[k] < 0) continue;
      if (next < 0 || ready_since[k] > ready_since[next]) {
        next = k;
      } else if (ready_since[k] == ready_since[next]) {
        bool greater = id[k] > id[next] || (id[k] == id[next] && k > next);
        if (greater == (ready_since[k] > 0)) next = k;
      }
    }
    done[next] = true;
    order[n] = next;
  }
}

typedef struct chains {
  const situ_problem *p;
  const contraction *c;
  const int32_t *order;
  simulator *s;
  int32_t class_device[64], device[64];
  bool taken[8];
  int64_t best;
} chains;

static void try_chains(chains *h, int32_t from) {
  if (from == h->c->n_classes) {
    contraction_expand(h->c, h->class_device, h->device);
    for (int32_t v = 0; v < h->p->n_operators; v++)
      if (!problem_allows(h->p, v, h->device[v])) return;
    simulation found = simulator_run(h->s, &(placement){.device = h->device}, true);
    if (found.excess_bytes == 0 && found.value_ns < h->best) h->best = found.value_ns;
    return;
  }
  for (int32_t d = 0; d < h->p->n_devices; d++) {
    if (h->taken[d]) continue;
    h->taken[d] = true;
    for (int32_t to = from + 1; to <= h->c->n_classes; to++) {
      h->class_device[h->order[to - 1]] = d;
      try_chains(h, to);
    }
    h->taken[d] = false;
  }
}

/* Every order that can be made is a permutation in which F goes forward and places never decrease. */
TEST(made_orders_are_linear_extensions) {
  for (uint64_t seed = 0; seed < (uint64_t)rounds_of(300); seed++) {
    rng r = rng_new(seed);
    lab_options o = {.seed = seed,
                     .n_operators = 1 + (int32_t)rng_below(&r, 30),
                     .n_devices = 2,
                     .density = 0.3 * rng_unit(&r),
                     .training = seed % 3 == 0,
                     .options = {.objective = SITU_OBJECTIVE_THROUGHPUT}};
    OWN(lab) l = lab_random(&o);
    OWN(arena) *a = arena_new();
    contraction c;
    order_maker m;
    assert_true(contract(&c, l.problem, true, a) && order_maker_init(&m, &c.forward, a));
    int32_t order[64], at[64], place[64];
    assert_true(order_published(order, &c, l.problem->graph, a));
    for (int32_t i = 0; i < c.n_classes; i++) place[order[i]] = i * 3 / c.n_classes;
    for (int32_t k = 0; k < 32; k++) {
      order_style style = {.backward = k & 1,
                           .descending = k & 2,
                           .random = k & 4 ? &r : NULL,
                           .loose = (k & 4) && (k & 8),
                           .place = k & 16 ? place : NULL,
                           .n_places = c.n_classes < 3 ? c.n_classes : 3};
      order_make(&m, order, &style);
      for (int32_t i = 0; i < c.n_classes; i++) at[i] = -1;
      for (int32_t i = 0; i < c.n_classes; i++) at[order[i]] = i;
      for (int32_t i = 0; i < c.n_classes; i++) {
        assert_true(at[i] >= 0);
        if (style.place && i > 0) assert_true(place[order[i - 1]] <= place[order[i]]);
        for (int64_t e = c.forward.start[i]; e < c.forward.start[i + 1]; e++) assert_true(at[i] < at[c.forward.to[e]]);
      }
    }
  }
}

static bool memories_are_shared(const situ_problem *p) { return p->n_memories < p->n_devices; }

TEST(the_best_chain_of_the_order_is_found) {
  int32_t n_compared = 0, n_infeasible = 0, n_optimal = 0, n_many_optimal = 0;
  for (uint64_t seed = 0; seed < (uint64_t)rounds_of(2500); seed++) {
    rng r = rng_new(seed ^ 0x11ea);
    lab_options o = {.seed = seed,
                     .n_operators = 1 + (int32_t)rng_below(&r, 6),
                     .n_devices = 2 + (int32_t)rng_below(&r, 2),
                     .density = rng_unit(&r),
                     .n_colocations = (int32_t)rng_below(&r, 3),
                     .training = rng_below(&r, 3) == 0,
                     .pinned = rng_below(&r, 3) == 0,
                     .unsupported = rng_below(&r, 2),
                     .memory = rng_below(&r, 2) ? 0.6 : 0,
                     .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                                 .communication = SITU_COMMUNICATION_HOST_STAGED,
                                 .async_copies = rng_below(&r, 2),
                                 .in_flight = 1 + (int32_t)rng_below(&r, 2)}};
    if (o.training && o.n_operators > 3) o.n_operators = 3; /* training adds as many again */
    OWN(lab) l = lab_random(&o);
    const situ_problem *p = l.problem;
    int64_t value = linear_dp(p, true), many = linear_dp(p, false), optimum = brute_force(p, NULL);
    assert_true(value >= many && many >= optimum);
    n_optimal += value == optimum;
    n_many_optimal += many == optimum;
    if (!memories_are_shared(p)) {
      OWN(arena) *a = arena_new();
      contraction c;
      int32_t order[64];
      assert_true(contract(&c, p, true, a));
      order_by_the_letter(p, &c, order);
      chains h = {.p = p, .c = &c, .order = order, .s = simulator_new(p, a), .best = SITU_NEVER_NS};
      try_chains(&h, 0);
      if (value != h.best)
        fail_msg("seed %d: found %lld, expected %lld", (int)seed, (long long)value, (long long)h.best);
      n_compared++;
      n_infeasible += value == SITU_NEVER_NS;
    }
  }
  assert_true(n_compared > rounds_of(500) && n_infeasible > rounds_of(20) && n_optimal > rounds_of(1000) &&
              n_many_optimal > n_optimal);
}

TEST(with_links_what_is_offered_keeps_the_rules) {
  for (uint64_t seed = 0; seed < (uint64_t)rounds_of(500); seed++) {
    rng r = rng_new(seed);
    lab_options o = {.seed = seed,
                     .n_operators = 1 + (int32_t)rng_below(&r, 5),
                     .n_devices = 3,
                     .density = rng_unit(&r),
                     .unsupported = true,
                     .memory = 0.7,
                     .options = {.objective = SITU_OBJECTIVE_THROUGHPUT, .communication = SITU_COMMUNICATION_LINK}};
    OWN(lab) l = lab_random(&o);
    assert_true(linear_dp(l.problem, false) >= brute_force(l.problem, NULL));
  }
}

/* Thousands of operators are cut at some places only; the answer is still a plan, and with equal operators a good one.
 */
TEST(a_long_graph_is_cut_into_slices) {
  if (!in_check()) skip();
  lab_options o = {
      .seed = 3,
      .n_operators = 4500,
      .n_devices = 4,
      .density = 0.002, /* about 24,000 uses of tensors, so that 1e8 / (24,000 + 4500) slices are affordable, 3500 */
      .options = {.objective = SITU_OBJECTIVE_THROUGHPUT, .communication = SITU_COMMUNICATION_HOST_STAGED}};
  OWN(lab) l = lab_random(&o);
  assert_true(linear_dp(l.problem, false) < SITU_NEVER_NS);
}

TEST_MAIN
