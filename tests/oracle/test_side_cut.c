/* Cuts between two sides against brute force: never above the optimum, and between two memories exactly the least
 * priced sum of loads of all placements. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/proved.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "base/checked.h"
#include "base/rng.h"
#include "bound/bound.h"

static lab draw(uint64_t seed, int32_t n_devices, bool limits) {
  rng r = rng_new(seed ^ 0x51de);
  lab_options o = {.seed = seed,
                   .n_operators = 3 + (int32_t)rng_below(&r, 4),
                   .n_devices = n_devices,
                   .density = 0.15 + 0.5 * rng_unit(&r),
                   .n_colocations = (int32_t)rng_below(&r, 2),
                   .unfused = true,
                   .ways_differ = rng_below(&r, 2),
                   .training = limits && rng_below(&r, 4) == 0,
                   .pinned = limits && rng_below(&r, 3) == 0,
                   .unsupported = rng_below(&r, 4) == 0,
                   .host_last = rng_below(&r, 2),
                   .equal = rng_below(&r, 2),
                   .memory = limits && rng_below(&r, 2) ? 0.3 + 0.5 * rng_unit(&r) : 0,
                   .options = {.execution = SITU_EXECUTION_PIPELINE,
                               .objective = SITU_OBJECTIVE_THROUGHPUT,
                               .communication = SITU_COMMUNICATION_HOST_STAGED,
                               .schedule = rng_below(&r, 2) ? SITU_SCHEDULE_GPIPE : SITU_SCHEDULE_1F1B,
                               .async_copies = limits && rng_below(&r, 8) == 0,
                               .replicate = limits && rng_below(&r, 8) == 0,
                               .free = !limits || rng_below(&r, 2)}};
  if (o.training) o.n_operators = 3;
  return lab_random(&o);
}

TEST(no_bound_is_above_the_optimum) {
  int32_t n_more = 0, n_tight = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(2000); seed++) {
    OWN(lab) l = draw(seed, 2 + (int32_t)(seed % 3), true);
    OWN(arena) *a = arena_new();
    certificate c;
    int64_t optimum = brute_force(l.problem, NULL), lower_ns = proved_bound(&c, &side_cut_bound, l.problem, a);
    if (!l.problem->conflict && lower_ns > optimum)
      fail_msg("seed %d: the optimum is %lld; bound %lld", (int)seed, (long long)optimum, (long long)lower_ns);
    if (c.kind && !l.problem->conflict && !proved_claim(l.problem, &c)) fail_msg("seed %d: not verified", (int)seed);
    n_more += lower_ns > proved_bound(NULL, &area_bound, l.problem, a);
    n_tight += lower_ns > 0 && lower_ns == optimum;
  }
  assert_true(n_more * 5 > rounds_of(2000) && n_tight * 50 > rounds_of(2000)); /* or the problems are too tame */
}

typedef struct least {
  const lab *l;
  const int64_t *price; /* [device] */
  __int128 min;
} least;

/* The load of each device by docs/model.md, times its price. */
static void see(void *context, const placement *where) {
  least *x = context;
  const situ_problem *p = x->l->problem;
  const situ_graph *g = x->l->graph;
  __int128 sum = 0;
  for (int32_t v = 0; v < g->n_operators; v++)
    sum += (__int128)problem_time_ns(p, v, where->device[v]) * x->price[where->device[v]];
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = where->device[g->producer[t]];
    bool there[LAB_MAX_DEVICES] = {false}, leaves = false;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = where->device[g->use[i]];
      if (p->memory_of[to] == p->memory_of[from] || there[to]) continue;
      there[to] = leaves = true;
      if (!problem_is_host(p, to)) sum += (__int128)problem_transfer_ns(p, t, p->host, to) * x->price[to];
    }
    if (leaves && !problem_is_host(p, from)) sum += (__int128)problem_transfer_ns(p, t, from, p->host) * x->price[from];
  }
  if (x->min < 0 || sum < x->min) x->min = sum;
}

/* Two devices, two memories: the cut is the least of all priced sums at its prices. */
TEST(between_two_memories_the_cut_is_exact) {
  int32_t n = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(1500); seed++) {
    OWN(lab) l = draw(seed, 2, false);
    OWN(arena) *a = arena_new();
    certificate c;
    int64_t lower_ns = proved_bound(&c, &side_cut_bound, l.problem, a);
    if (!l.problem->conflict && c.kind) {
      least x = {.l = &l, .price = certificate_get(&c, "time_prices", 2), .min = -1};
      brute_each(l.problem, see, &x);
      __int128 prices = x.price[0] + x.price[1], expected = (x.min + prices - 1) / prices;
      if (expected != lower_ns) fail_msg("seed %d: bound %d, %d expected", (int)seed, (int)lower_ns, (int)expected);
      n++;
    }
  }
  assert_true(n * 2 > rounds_of(1500));
}

/* Operator a takes 2 us on the host and 9 on the accelerator, b the reverse; the tensor between them 4 us. At prices x
 * of the host and 1 - x of the accelerator the placements cost 11 x, 11 (1 - x) and, apart, 2 x + 6 (1 - x): at x = 0.4
 * the least is 4.4 us. Balance of work alone sees 2 us. */
TEST(transfers_count_with_the_work) {
  enum { US = 1000 };
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  int32_t a = lab_operator(&s, "a", 2 * US, 0, 0), b = lab_operator(&s, "b", 9 * US, 0, 0);
  s.time_ns[a][1] = 9 * US;
  s.time_ns[b][1] = 2 * US;
  lab_tensor(&s, a, 4 * US, b, -1);
  lab_tensor(&s, b, (int64_t)1 << 50, -1); /* nobody uses it, so its size has no limit */
  lab_pose(&s,
           &(situ_problem_options){
               .objective = SITU_OBJECTIVE_THROUGHPUT, .communication = SITU_COMMUNICATION_HOST_STAGED, .free = true});
  assert_int_equal(proved_bound(NULL, &area_bound, s.problem, s.arena), 2 * US);
  int64_t lower_ns = proved_bound(NULL, &side_cut_bound, s.problem, s.arena);
  assert_true(lower_ns >= 4399 && lower_ns <= 4400);
}

TEST_MAIN
