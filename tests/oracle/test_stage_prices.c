/* Prices of stages against brute force: the least priced sum of loads is that of counting all assignments; what is
 * dropped is in none of those cheap enough; and stage_prices, stopped anywhere, has the optimum between bound and
 * value. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "base/checked.h"
#include "base/rng.h"
#include "situ/solve.h"
#include "solve/pipeline/boundary_ranges.h"
#include "solve/pipeline/stage_ascent.h"

/* Every third problem need not be contiguous: it has fewer operators, since there are more assignments. */
static lab draw(uint64_t seed, int32_t max_operators) {
  rng random = rng_new(seed);
  bool free = seed % 3 == 0;
  if (free) max_operators -= 2;
  lab_options options = {.seed = seed,
                         .n_operators = (int32_t)(3 + rng_below(&random, max_operators - 2)),
                         .n_devices = (int32_t)(2 + rng_below(&random, 3)),
                         .n_hosts = (int32_t)(1 + (rng_below(&random, 6) == 0)),
                         .density = 0.05 + 0.5 * rng_unit(&random),
                         .n_colocations = (int32_t)rng_below(&random, 2),
                         .training = rng_below(&random, 3) == 0,
                         .pinned = rng_below(&random, 6) == 0,
                         .unsupported = rng_below(&random, 3) == 0,
                         .equal = rng_below(&random, 2) == 0,
                         .memory = rng_below(&random, 3) ? 0 : 0.4 + rng_unit(&random),
                         .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                                     .free = free,
                                     .communication = SITU_COMMUNICATION_HOST_STAGED,
                                     .async_copies = rng_below(&random, 4) == 0}};
  return lab_random(&options);
}

static bool serves(const lab *l) { return situ_solver_serves("stage_prices", l->problem) && !l->problem->conflict; }

/* All assignments of the classes to the stages of `may`; of contiguous plans those in which no edge of F goes back. */
typedef struct counting {
  const stages *s;
  const device_sequence *sequence;
  const uint16_t *may, *held;
  const stage_price *price;
  int64_t most;
  uint8_t stage[16];
  int64_t least;
  uint16_t seen[16], holders[64], dropped_held; /* over the assignments of at most `most` */
  uint16_t new_may[16], new_held[64];
  int wrong;
} counting;

static uint16_t who_holds(const counting *c, int32_t e) {
  uint32_t at = 0;
  for (int32_t i = c->s->pin_start[e]; i < c->s->pin_start[e + 1]; i++) at |= 1u << c->stage[c->s->pin[i]];
  return (uint16_t)at;
}

/* The priced loads by the words of the model: held tensors are received where nobody uses them. */
static int64_t price_of(const counting *c) {
  const stages *s = c->s;
  int64_t sum = 0;
  for (int32_t v = 0; v < s->n; v++) {
    int32_t k = c->stage[v];
    sum += c->price->compute[k] * s->time_ns[(int64_t)c->sequence->type[k] * s->n + v];
  }
  for (int32_t e = 0; e < s->n_edges; e++) {
    int32_t made = c->stage[s->pin[s->pin_start[e]]];
    uint16_t receives = (uint16_t)((who_holds(c, e) | c->held[e]) & ~(1u << made));
    if (receives) sum += c->price->out[made] * s->out_ns[(int64_t)c->sequence->type[made] * s->n_edges + e];
    for (int32_t k = 0; k < c->sequence->n; k++)
      if (receives >> k & 1) sum += c->price->in[k] * s->in_ns[(int64_t)c->sequence->type[k] * s->n_edges + e];
  }
  return sum;
}

static void count_all(counting *c, int32_t v, void (*visit)(counting *c, int64_t sum)) {
  const stages *s = c->s;
  if (v == s->n) {
    visit(c, price_of(c));
    return;
  }
  for (int32_t k = 0; k < c->sequence->n; k++) {
    bool fits = c->may[v] >> k & 1;
    for (int32_t u = 0; u < v; u++)
      if (!s->free && s->predecessors[(int64_t)v * s->n_words + u / 64] >> (u % 64) & 1) fits &= c->stage[u] <= k;
    c->stage[v] = (uint8_t)k;
    if (fits) count_all(c, v + 1, visit);
  }
}

static void keep_least(counting *c, int64_t sum) { c->least = min64(c->least, sum); }

/* An assignment that is cheap enough, and really holds what it should, is still there. */
static void see_kept(counting *c, int64_t sum) {
  if (sum > c->most) return;
  for (int32_t e = 0; e < c->s->n_edges; e++)
    if (c->held[e] & ~who_holds(c, e)) return;
  for (int32_t v = 0; v < c->s->n; v++) c->wrong += !(c->new_may[v] >> c->stage[v] & 1);
  for (int32_t e = 0; e < c->s->n_edges; e++) c->wrong += (c->new_held[e] & ~who_holds(c, e)) != 0;
}

static void draw_part(counting *c, rng *r, stage_price *price, uint16_t *may, uint16_t *held) {
  int64_t left = STAGE_PRICE_ONE;
  for (int32_t k = 0; k < c->sequence->n; k++) {
    price->compute[k] = rng_below(r, left / 2 + 1);
    price->in[k] = c->s->overlaps ? rng_below(r, left / 3 + 1) : price->compute[k];
    price->out[k] = c->s->overlaps ? rng_below(r, left / 3 + 1) : price->compute[k];
    left -= max64(price->compute[k], max64(price->in[k], price->out[k]));
  }
  for (int32_t v = 0; v < c->s->n; v++) {
    uint16_t some = may[v] & (uint16_t)rng_next(r);
    if (some && rng_below(r, 4) == 0) may[v] = some;
  }
  for (int32_t e = 0; e < c->s->n_edges; e++)
    if (rng_below(r, 5) == 0) held[e] = (uint16_t)(1u << rng_below(r, c->sequence->n));
}

typedef struct tally {
  int parts, dropped, impossible;
} tally;

static void look_at_part(const stage_space *space, const device_sequence *sequence, rng *r, tally *n) {
  const stages *s = space->s;
  OWN(arena) *a = arena_new();
  stage_energy e;
  stage_price price;
  uint16_t may[16], held[64];
  uint8_t stage[16];
  counting c = {.s = s, .sequence = sequence, .may = may, .held = held, .price = &price, .least = ELIMINATION_NEVER};
  stage_space_open(space, sequence, STAGE_MAX_NS, may, held);
  draw_part(&c, r, &price, may, held);
  if (stage_space_tighten(space, may, held)) {
    assert_int_equal(stage_energy_init(&e, s, &space->order, sequence, may, held, 1 << 20, a), ELIMINATION_READY);
    int32_t *value = ARENA_NEW(a, int32_t, e.n_variables);
    int64_t *scratch = ARENA_NEW(a, int64_t, e.n_values), least = stage_energy_minimise(&e, &price, value, stage);
    count_all(&c, 0, keep_least);
    assert_int_equal(least, c.least);
    n->parts++;
    n->impossible += least == ELIMINATION_NEVER;
    if (least < ELIMINATION_NEVER) {
      memcpy(c.stage, stage, sizeof stage);
      assert_int_equal(price_of(&c), least);
      memcpy(c.new_may, may, sizeof may);
      memcpy(c.new_held, held, sizeof held);
      c.most = least + rng_below(r, least / 4 + 2);
      n->dropped += stage_energy_drop(&e, &price, c.most, c.new_may, c.new_held, scratch) > 0;
      count_all(&c, 0, see_kept);
      assert_int_equal(c.wrong, 0);
    }
  }
}

TEST(the_least_priced_sum_is_that_of_counting) {
  tally n = {0};
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(1500); seed++) {
    OWN(lab) l = draw(seed, 8);
    rng random = rng_new(seed);
    OWN(arena) *a = arena_new();
    stages s;
    stage_space space;
    if (serves(&l)) {
      assert_true((l.problem->contiguous ? stages_find : stages_find_free)(&s, l.problem, a));
      assert_true(stage_space_init(&space, &s, a));
      for (int32_t i = 0; i < 4 && space.n_sequences > 0; i++)
        look_at_part(&space, &space.sequences[rng_below(&random, space.n_sequences)], &random, &n);
    }
  }
  print_message("%d parts, %d of them narrowed, %d impossible\n", n.parts, n.dropped, n.impossible);
  assert_true(n.parts > rounds_of(2000) && n.dropped > rounds_of(1000));
}

static situ_plan *solve(const lab *l, const char *names, int64_t steps, uint64_t seed) {
  situ_plan *plan = NULL;
  situ_error error = {0};
  situ_solve_options effort = {.size = sizeof(situ_solve_options), .solvers = names, .max_steps = steps, .seed = seed};
  if (situ_solve(&plan, l->problem, &effort, &error) != SITU_STATUS_OK)
    fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
  return plan;
}

static void hold(const situ_plan *plan, int64_t best_ns, uint64_t seed) {
  int64_t value_ns = plan->value_ns, bound_ns = plan->lower_bound_ns;
  if (bound_ns > best_ns || value_ns < best_ns)
    fail_msg("seed %llu: %lld <= %lld <= %lld is wrong", (unsigned long long)seed, (long long)bound_ns,
             (long long)best_ns, (long long)value_ns);
}

TEST(what_it_ends_with_brackets_the_optimum_and_mostly_meets_it) {
  int n_served = 0, n_proved = 0, n_none = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(3000); seed++) {
    OWN(lab) l = draw(seed, 8);
    if (serves(&l)) {
      int64_t best_ns = brute_force(l.problem, NULL);
      OWN(situ_plan) *plan = solve(&l, "stage_prices", 0, seed);
      hold(plan, best_ns, seed);
      n_served++;
      n_none += best_ns == SITU_NEVER_NS;
      n_proved += plan->lower_bound_ns == best_ns && plan->value_ns == best_ns;
    }
  }
  print_message("%d served, %d of them proved, %d without plan\n", n_served, n_proved, n_none);
  assert_true(n_served > rounds_of(1500) && n_proved > n_served * 9 / 10);
}

TEST(a_search_that_is_stopped_brackets_the_optimum) {
  int n_open = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(400); seed++) {
    OWN(lab) l = draw(seed, 7);
    int64_t best_ns = serves(&l) ? brute_force(l.problem, NULL) : SITU_NEVER_NS;
    for (int64_t steps = 1; best_ns != SITU_NEVER_NS && steps < 100; steps += 1 + steps / 4) {
      OWN(situ_plan) *plan =
          solve(&l, l.problem->contiguous ? "single,stage_prices,stage_lns" : "single,stage_prices", steps, seed);
      hold(plan, best_ns, seed);
      n_open += plan->lower_bound_ns < plan->value_ns;
    }
  }
  print_message("%d solves ended with a gap\n", n_open);
  assert_true(n_open > 100);
}

TEST(large_neighbourhoods_keep_every_rule_and_never_beat_the_optimum) {
  int n_met = 0, n = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(600); seed++) {
    OWN(lab) l = draw(seed, 8);
    int64_t best_ns = serves(&l) && l.problem->contiguous ? brute_force(l.problem, NULL) : SITU_NEVER_NS;
    if (best_ns != SITU_NEVER_NS) {
      OWN(situ_plan) *plan = solve(&l, "single,stage_lns", 60, seed);
      hold(plan, best_ns, seed);
      n++;
      n_met += plan->value_ns == best_ns;
    }
  }
  print_message("%d of %d optima met\n", n_met, n);
  assert_true(n > rounds_of(200) && n_met > n / 3);
}

TEST_MAIN
