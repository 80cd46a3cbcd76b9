/* The program of a chain of elements: at any prices it proves what the judge, which is written apart from it, works out
 * of them; its plan comes to what it says; and the price of secondary costs is the best there is. */
#include "../../lab/test.h"

#include <math.h>

#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/tier.h"
#include "base/rng.h"
#include "chain/branch_chain.h"

/* A random stream and, for half of them, a limit by secondary costs. */
typedef struct chained {
  lab l;
  situ_costs *other;
  situ_problem *p;
  branch_chain chain;
  arena *a;
} chained;

static situ_costs *other_costs_of(const lab *l, rng *r) {
  situ_costs *c = costs_copies(l->costs, 1);
  assert_non_null(c);
  for (int64_t i = 0; i < (int64_t)l->graph->n_operators * c->n_classes; i++)
    if (c->time_ns[i] != SITU_NEVER_NS) c->time_ns[i] = (int64_t)rng_below(r, 25);
  for (int64_t i = 0; i < (int64_t)c->n_rows * c->n_kinds; i++) c->transfer_rows[i] *= (int64_t)rng_below(r, 3);
  costs_find_extremes(c);
  return c;
}

static bool draw(chained *c, uint64_t seed, int32_t min, int32_t most, bool limited, double memory) {
  rng r = rng_new(seed);
  *c = (chained){0};
  lab_options o = {.seed = seed,
                   .n_operators = min + (int32_t)rng_below(&r, most - min + 1),
                   .n_devices = 2 + (int32_t)rng_below(&r, 3),
                   .density = 0.2 + 0.6 * rng_unit(&r),
                   .n_colocations = (int32_t)rng_below(&r, 4),
                   .ways_differ = rng_below(&r, 3) == 0,
                   .pinned = rng_below(&r, 5) == 0,
                   .unsupported = rng_below(&r, 3) == 0,
                   .equal = rng_below(&r, 3) == 0,
                   .memory = memory,
                   .pools = true,
                   .options = {.execution = SITU_EXECUTION_STREAM, .overlap = (situ_overlap)rng_below(&r, 4)}};
  if (limited) o.options.overlap = SITU_OVERLAP_NONE;
  c->l = lab_random(&o);
  c->p = c->l.problem;
  if (limited) {
    situ_problem_options options = problem_options_of(c->l.problem);
    c->other = other_costs_of(&c->l, &r);
    options.secondary_costs = c->other;
    options.max_secondary_ns = 1 + (int64_t)rng_below(&r, 15 * c->l.graph->n_operators);
    assert_int_equal(situ_problem_pose(&c->p, c->l.graph, c->l.platform, c->l.costs, &options, NULL), SITU_STATUS_OK);
  }
  if (c->p->conflict) return false;
  c->a = arena_new();
  assert_int_equal(branch_chain_find(&c->chain, c->p, c->a, NULL), SITU_STATUS_OK);
  return true;
}

static void end(chained *c) {
  arena_free(c->a);
  if (c->other) situ_problem_free(c->p);
  lab_free(&c->l);
  situ_costs_free(c->other);
}

/* What the numbers of a certificate prove. */
static int64_t judged(const branch_chain *s, const int64_t *byte, int64_t secondary_price, arena *a) {
  certificate proof = {0};
  certificate_start(&proof, "unit_chain", 1);
  int64_t *chain = certificate_add_operators(&proof, "chain", s->n_chain, a);
  int64_t *price = certificate_add(&proof, "byte_prices", s->problem->n_memories, a);
  for (int32_t i = 0; i < s->n_chain; i++) chain[i] = s->chain[i];
  for (int32_t m = 0; m < s->problem->n_memories; m++) price[m] = byte[m];
  if (secondary_price > 0) *certificate_add(&proof, "other_price", 1, a) = secondary_price;
  return proved_by(s->problem, &proof);
}

typedef struct seen {
  int64_t last_ns, best_ns;
  int32_t n;
} seen;

static int64_t transfer(const branch_chain *s, const int64_t *row, int32_t from, int32_t to) {
  return row[s->problem->device_kind[(int64_t)from * s->problem->n_devices + to]];
}

/* Times and other times of a choice of a device for each element. */
static void sum_elements(const branch_chain *s, const int32_t *at, int64_t *value_ns, int64_t *secondary_ns) {
  *value_ns = *secondary_ns = 0;
  for (int32_t x = 0, before = -1; x < s->n; x++) {
    const chain_element *element = &s->elements[x];
    int32_t from = element->parent >= 0 ? element->parent : before;
    *value_ns += branch_chain_time_ns(s, x, at[x]);
    if (s->secondary_ns) *secondary_ns += s->secondary_ns[(int64_t)x * s->n_types + s->equal.type_of[at[x]]];
    if (from >= 0) *value_ns += transfer(s, element->in_ns, at[from], at[x]);
    if (from >= 0 && element->secondary_in_ns) *secondary_ns += transfer(s, element->secondary_in_ns, at[from], at[x]);
    if (element->parent >= 0) *value_ns += transfer(s, element->out_ns, at[x], at[from]);
    if (element->parent >= 0 && element->secondary_out_ns)
      *secondary_ns += transfer(s, element->secondary_out_ns, at[x], at[from]);
    if (element->parent < 0) before = x;
  }
}

/* Time of unit u on device d, by the secondary costs too. */
static int64_t unit_ns(const branch_chain *s, int32_t u, int32_t d, bool other) {
  unit_members of = unit_list_members(&s->problem->units, u);
  int64_t sum = 0;
  for (int32_t i = 0; i < of.n; i++)
    sum +=
        other ? problem_secondary_time_ns(s->problem, of.member[i], d) : problem_time_ns(s->problem, of.member[i], d);
  return sum;
}

static int64_t unit_bytes(const branch_chain *s, int32_t u) {
  unit_members of = unit_list_members(&s->problem->units, u);
  int64_t sum = 0;
  for (int32_t i = 0; i < of.n; i++) sum += s->problem->graph->weight_bytes[of.member[i]];
  return sum;
}

/* The plan that is offered: its numbers are those of its devices, and the bound is what they come to at the prices.
 * Units off the chain are where they are cheapest. */
static void plan_is_as_offered(void *context, const branch_chain *s, int64_t lower_ns) {
  const situ_problem *p = s->problem;
  seen *all = context;
  int64_t value_ns, secondary_ns, used_bytes[16] = {0};
  sum_elements(s, s->at, &value_ns, &secondary_ns);
  for (int32_t x = 0; x < s->n; x++)
    if (s->elements[x].holds_weights) used_bytes[p->memory_of[s->at[x]]] += unit_bytes(s, s->elements[x].unit);
  for (int32_t u = 0; u < p->units.n; u++) {
    int32_t d = -1;
    if (s->on_chain[u] || branch_chain_off_now(s, u, &d) < 0) continue;
    used_bytes[p->memory_of[d]] += unit_bytes(s, u);
    if (s->sums) value_ns += unit_ns(s, u, d, false);
    if (p->secondary) secondary_ns += unit_ns(s, u, d, true);
  }
  assert_true(s->plan.value_ns == value_ns && s->plan.secondary_ns == secondary_ns);
  __int128 sum = (__int128)value_ns << 32;
  double priced_ns = (double)value_ns, terms = fabs(priced_ns);
  for (int32_t m = 0; m < p->n_memories; m++) {
    assert_true(s->used_bytes[m] == (double)used_bytes[m]);
    if (s->byte[m] == 0) continue;
    sum += (__int128)s->byte[m] * (used_bytes[m] - p->platform->memory_bytes[m]);
    double term = ldexp((double)s->byte[m], -32) * (double)(used_bytes[m] - p->platform->memory_bytes[m]);
    priced_ns += term;
    terms += fabs(term);
  }
  assert_true(fabs(s->plan.priced_ns - priced_ns) <= 1e-13 * terms); /* a price of 2^-32 shows */
  if (s->by.secondary > 0) sum += (__int128)s->by.secondary * (secondary_ns - p->max_secondary_ns) * (1 << 12);
  assert_true(lower_ns == (sum <= 0 ? 0 : (int64_t)(sum >> 32)));
  all->last_ns = lower_ns;
  if (lower_ns > all->best_ns) all->best_ns = lower_ns;
  all->n++;
}

TEST(any_prices_prove_what_the_judge_says) {
  int32_t rounds = rounds_of(4000), n = 0, n_branches = 0, n_priced = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds; seed++) {
    chained c;
    rng r = rng_new(seed + 900000);
    bool limited = rng_below(&r, 2) == 0;
    if (draw(&c, seed, 3, 14, limited, rng_below(&r, 3) ? 0.1 + 0.9 * rng_unit(&r) : 0)) {
      int64_t byte[16] = {0}, of_type[16],
              secondary_price = limited ? (int64_t)rng_below(&r, INT64_C(1) << rng_below(&r, 27)) : 0;
      seen offered = {.last_ns = -1};
      for (int32_t k = 0; k < c.chain.equal.n_all; k++)
        of_type[k] = (int64_t)rng_below(&r, INT64_C(1) << (1 + rng_below(&r, 34)));
      for (int32_t m = 0; m < c.p->n_memories; m++)
        if (c.p->platform->memory_bytes[m] != SITU_UNLIMITED_BYTES) byte[m] = of_type[c.chain.type_of[m]];
      branch_chain_at(&c.chain, byte, secondary_price, plan_is_as_offered, &offered);
      int64_t proved_ns = judged(&c.chain, byte, secondary_price, c.a);
      if (offered.n == 1 && offered.last_ns != proved_ns)
        fail_msg("seed %d: proves %lld, %lld says the judge", (int)seed, (long long)offered.last_ns,
                 (long long)proved_ns);
      n += proved_ns > 0;
      n_priced += proved_ns > 0 && secondary_price > 0;
      for (int32_t x = 0; x < c.chain.n; x++) n_branches += proved_ns > 0 && c.chain.elements[x].parent >= 0;
    }
    end(&c);
  }
  if (n < rounds / 3 || n_priced < rounds / 20 || n_branches < rounds / 40)
    fail_msg("%d proved, %d with other costs, %d branches", (int)n, (int)n_priced, (int)n_branches);
}

/* All plans of the program as lines over the price of secondary costs: what each comes to, and by how much it exceeds
 * the limit. */
typedef struct lines {
  double value_ns[4096], over_ns[4096];
  int32_t n;
} lines;

static void list_plans(const chained *c, lines *out) {
  const branch_chain *s = &c->chain;
  int32_t off[16], n_off = 0, at[32], n_plans = 1;
  for (int32_t u = 0; u < c->p->units.n; u++)
    if (!s->on_chain[u]) off[n_off++] = u;
  for (int32_t i = 0; i < s->n + n_off; i++) n_plans *= s->n_types;
  out->n = 0;
  for (int32_t code = 0; code < n_plans && n_plans <= 4096; code++) {
    int64_t value_ns, secondary_ns;
    int32_t rest = code;
    bool may = true;
    for (int32_t i = 0; i < s->n + n_off; i++, rest /= s->n_types) at[i] = s->first[rest % s->n_types];
    for (int32_t x = 0; x < s->n; x++) may &= branch_chain_time_ns(s, x, at[x]) != SITU_NEVER_NS;
    for (int32_t i = 0; i < n_off; i++) {
      unit_members of = unit_list_members(&c->p->units, off[i]);
      for (int32_t k = 0; k < of.n; k++) may &= problem_allows(c->p, of.member[k], at[s->n + i]);
    }
    if (!may) continue;
    sum_elements(s, at, &value_ns, &secondary_ns);
    for (int32_t i = 0; i < n_off; i++) {
      value_ns += unit_ns(s, off[i], at[s->n + i], false);
      secondary_ns += unit_ns(s, off[i], at[s->n + i], true);
    }
    out->value_ns[out->n] = (double)value_ns;
    out->over_ns[out->n++] = (double)(secondary_ns - c->p->max_secondary_ns);
  }
}

static double lowest(const lines *all, double secondary_multiplier) {
  double min = HUGE_VAL;
  for (int32_t i = 0; i < all->n; i++) min = fmin(min, all->value_ns[i] + secondary_multiplier * all->over_ns[i]);
  return min;
}

/* The highest point of the lowest of all lines, which is concave. Prices beyond 4096 change nothing: lines meet where
 * times, below 1000 ns in all, outweigh 1 ns by the secondary costs. */
static double highest(const lines *all) {
  double low = 0, high = 4096;
  for (int i = 0; i < 200; i++) {
    double a = low + (high - low) / 3, b = high - (high - low) / 3;
    if (lowest(all, a) < lowest(all, b))
      low = a;
    else
      high = b;
  }
  return lowest(all, low);
}

TEST(the_price_of_other_costs_is_the_best) {
  static lines all;
  int32_t rounds = rounds_of(1000), n = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds; seed++) {
    chained c;
    if (draw(&c, seed + 5000, 3, 6, true, 0)) {
      seen offered = {0};
      budget unlimited = budget_new(0, 0, NULL, NULL);
      bool fits = false, late = false;
      list_plans(&c, &all);
      for (int32_t i = 0; i < all.n; i++) {
        fits |= all.over_ns[i] <= 0;
        late |= all.over_ns[i] > 0;
      }
      branch_chain_ascend(&c.chain, &unlimited, plan_is_as_offered, &offered);
      if (fits) {
        double best = highest(&all);
        if (offered.best_ns < floor(best - 0.51) || (double)offered.best_ns > best + 0.01)
          fail_msg("seed %d: %lld, the best is %.3f", (int)seed, (long long)offered.best_ns, best);
        n += late && best > lowest(&all, 0) + 1;
      }
    }
    end(&c);
  }
  if (n < rounds / 10) fail_msg("%d problems where the price matters", (int)n);
}

TEST_MAIN
