/* What is certain to be in memory at one instant of a stream, against every plan of small problems with little memory:
 * wherever bounds say that a unit has no room, no plan has it; and no certificate with an instant, whatever operator
 * that is and whatever the prices are, proves more than the optimum. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/proved.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "base/rng.h"
#include "bound/alive.h"

static lab draw(uint64_t seed) {
  rng r = rng_new(seed);
  lab_options o = {.seed = seed,
                   .n_operators = (int32_t)(3 + rng_below(&r, 3)),
                   .n_devices = (int32_t)(2 + rng_below(&r, 2)),
                   .n_hosts = 1,
                   .density = 0.3 + 0.6 * rng_unit(&r),
                   .n_colocations = (int32_t)(1 + rng_below(&r, 2)),
                   .pinned = rng_below(&r, 4) == 0,
                   .unsupported = rng_below(&r, 4) == 0,
                   .equal = rng_below(&r, 2) == 0,
                   .memory = 0.1 + 0.7 * rng_unit(&r),
                   .host_memory = rng_below(&r, 2) ? 0.3 + 0.9 * rng_unit(&r) : 0,
                   .options = {.execution = SITU_EXECUTION_STREAM,
                               .contention = rng_below(&r, 2) ? SITU_CONTENTION_LINK : SITU_CONTENTION_NONE}};
  return lab_random(&o);
}

typedef struct seen {
  const situ_problem *problem;
  simulator *simulator;
  const int64_t *bytes; /* [instant * units + unit] weights, and what is certain to be there */
  const bool *may;      /* [(instant * operators + operator) * n_devices + device] */
  int64_t value_ns;     /* the optimum */
  uint64_t seed;
} seen;

/* A plan that fits has room for what is certain, at each instant, and each unit where it may be. */
static void hold_against(void *context, const placement *where) {
  seen *s = context;
  const situ_problem *p = s->problem;
  simulation found = simulator_run(s->simulator, where, true);
  if (found.excess_bytes > 0 || found.value_ns == SITU_NEVER_NS) return;
  if (found.value_ns < s->value_ns) s->value_ns = found.value_ns;
  for (int32_t at = 0; at < p->n_operators; at++) {
    int64_t sum[16] = {0};
    for (int32_t u = 0; u < p->units.n; u++)
      sum[p->memory_of[where->device[p->units.member[p->units.start[u]]]]] += s->bytes[at * p->units.n + u];
    for (int32_t m = 0; m < p->n_memories; m++)
      if (sum[m] > p->platform->memory_bytes[m])
        fail_msg("seed %d: while %d runs, memory %d would hold %lld bytes for sure", (int)s->seed, (int)at, (int)m,
                 (long long)sum[m]);
    for (int32_t v = 0; v < p->n_operators; v++)
      if (!s->may[(at * p->n_operators + v) * p->n_devices + where->device[v]])
        fail_msg("seed %d: a plan has operator %d on device %d, instant %d", (int)s->seed, (int)v,
                 (int)where->device[v], (int)at);
  }
}

/* Prices from nowhere. Returns whether the instant made them prove more. */
static bool judge_prices(const seen *s, rng *r, arena *a) {
  static const char *const kinds[] = {"area_price", "critical_path", "join"};
  const situ_problem *p = s->problem;
  certificate c;
  certificate_start(&c, kinds[rng_below(r, 3)], 0);
  int64_t *instant = certificate_add_operators(&c, "instant", 1, a), *operator_ = NULL, *time, *byte;
  *instant = rng_below(r, p->n_operators);
  operator_ = certificate_add_operators(&c, "operator", 1, a);
  *operator_ = rng_below(r, p->n_operators);
  *certificate_add(&c, "window", 1, a) = 1 + rng_below(r, 4);
  time = certificate_add(&c, "time_prices", p->n_devices, a);
  byte = certificate_add(&c, "byte_prices", p->n_memories, a);
  for (int32_t d = 0; d < p->n_devices; d++) time[d] = rng_below(r, 6) * 10;
  for (int32_t m = 0; m < p->n_memories; m++)
    byte[m] = p->platform->memory_bytes[m] == SITU_UNLIMITED_BYTES ? 0 : rng_below(r, 8);
  int64_t with = proved_by(p, &c);
  if (with > s->value_ns)
    fail_msg("seed %d: a certificate of kind %s proves %lld, but %lld is possible", (int)s->seed, c.kind,
             (long long)with, (long long)s->value_ns);
  c.list[0].n = 0;
  return with > proved_by(p, &c);
}

TEST(what_is_certain_is_so_in_every_plan) {
  const char *wanted = getenv("SITU_PROBLEMS");
  int32_t n_seeds = wanted ? atoi(wanted) : rounds_of(3000), n_fewer = 0, n_bytes = 0, n_more = 0, n_plans = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)n_seeds; seed++) {
    OWN(lab) l = draw(seed);
    const situ_problem *p = l.problem;
    OWN(arena) *a = arena_new();
    rng r = rng_new(seed + 77);
    int64_t *bytes = arena_zero(a, (int64_t)p->n_operators * p->units.n, sizeof *bytes);
    bool *may = arena_zero(a, (int64_t)p->n_operators * p->n_operators * p->n_devices, sizeof *may);
    for (int32_t at = 0; at < p->n_operators; at++) {
      int64_t *own = bytes + (int64_t)at * p->units.n;
      bool fewer;
      assert_true(alive_bytes(own, p, at, a));
      assert_true(alive_rooms(may + (int64_t)at * p->n_operators * p->n_devices, &fewer, p, at, a));
      n_fewer += fewer;
      for (int32_t u = 0; u < p->units.n; u++) n_bytes += own[u] > 0;
      for (int32_t v = 0; v < p->n_operators; v++) own[p->units.of[v]] += p->graph->weight_bytes[v];
    }
    seen s = {p, simulator_new(p, a), bytes, may, SITU_NEVER_NS, seed};
    brute_each(p, hold_against, &s);
    n_plans += s.value_ns < SITU_NEVER_NS;
    for (int32_t round = 0; round < 30; round++) n_more += judge_prices(&s, &r, a);
  }
  print_message(
      "%d problems, %d with plans; %d instants forbid something, %d hold something; %d of %d proofs by them\n",
      (int)n_seeds, (int)n_plans, (int)n_fewer, (int)n_bytes, (int)n_more, (int)n_seeds * 30);
  assert_true(n_plans > n_seeds / 4 && n_fewer > n_seeds && n_bytes > n_seeds && n_more > n_seeds);
}

TEST_MAIN
