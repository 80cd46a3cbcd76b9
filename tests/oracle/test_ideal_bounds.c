/* What ideal_dp believes without a full program, against brute force: the coarse problem never refutes a period that
 * some plan has, the boundary_ranges never leave out a boundary of a best plan, and a solve that is stopped anywhere
 * has a plan and a bound with the optimum between them. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "base/checked.h"
#include "base/rng.h"
#include "situ/solve.h"
#include "solve/pipeline/coarse.h"
#include "solve/pipeline/relaxed.h"

/* Long work and cheap tensors, as in real networks: an accelerator must hold something, so that edges become short. The
 * host is slow, or cannot run anything. */
static void make_real(lab *l, rng *random) {
  int32_t host = l->platform->class_of[0], factor = (int32_t)(1 + rng_below(random, 30));
  bool never = rng_below(random, 2) == 0;
  for (int32_t v = 0; v < l->costs->n_operators; v++)
    for (int32_t c = 0; c < l->costs->n_classes; c++) {
      int64_t *time_ns = &l->costs->time_ns[(int64_t)v * l->costs->n_classes + c];
      if (*time_ns == SITU_NEVER_NS) continue;
      *time_ns = c == host && never ? SITU_NEVER_NS : *time_ns * factor * (c == host ? 5 : 1);
    }
}

static lab draw(uint64_t seed, int32_t max_operators) {
  rng random = rng_new(seed);
  lab_options options = {.seed = seed,
                         .n_operators = (int32_t)(4 + rng_below(&random, max_operators - 3)),
                         .n_devices = (int32_t)(2 + rng_below(&random, 3)),
                         .density = 0.05 + 0.5 * rng_unit(&random),
                         .n_colocations = (int32_t)rng_below(&random, 2),
                         .training = rng_below(&random, 4) == 0,
                         .pinned = rng_below(&random, 6) == 0,
                         .unsupported = rng_below(&random, 3) == 0,
                         .memory = rng_below(&random, 3) ? 0 : 0.5 + rng_unit(&random),
                         .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                                     .communication = SITU_COMMUNICATION_HOST_STAGED,
                                     .async_copies = rng_below(&random, 4) == 0}};
  lab l = lab_random(&options);
  if (rng_below(&random, 4) > 0) make_real(&l, &random);
  return l;
}

static bool serves(const lab *l) { return situ_solver_serves("ideal_dp", l->problem) && !l->problem->conflict; }

/* Counts of what the draws had, so that the test is known to test something. */
typedef struct tally {
  int served, folded, with_short, refuted;
} tally;

static void look_at(const lab *l, uint64_t seed, tally *n) {
  int64_t best_ns = brute_force(l->problem, NULL);
  OWN(arena) *a = arena_new();
  stages fine, coarse;
  boundary_ranges open, open_coarse;
  bool folded, refuted;
  assert_true(stages_find(&fine, l->problem, a) && boundary_ranges_init(&open, &fine, a));
  assert_true(coarse_find(&coarse, &open_coarse, &folded, &open, a));
  n->served++;
  n->folded += folded;
  budget b = budget_new(0, 0, NULL, NULL);
  int64_t best = best_ns == SITU_NEVER_NS ? 0 : best_ns; /* without a plan there is nothing to hold against */
  int64_t periods[] = {best, best + 1, best + best / 8, best + best / 2, best * 3};
  for (size_t i = 0; best_ns != SITU_NEVER_NS && i < sizeof periods / sizeof periods[0]; i++) {
    assert_true(relaxed_refutes(&refuted, &open_coarse, periods[i], INT64_MAX / 8, INT64_MAX / 8, &b));
    if (refuted)
      fail_msg("seed %llu: %lld refuted, but %lld is the best", (unsigned long long)seed, (long long)periods[i],
               (long long)best_ns);
  }
  bool some = false;
  for (int32_t e = 0; e < coarse.n_edges && best_ns != SITU_NEVER_NS; e++) some |= open_coarse.is_short[e];
  n->with_short += some;
  if (best_ns > 0 && best_ns != SITU_NEVER_NS) {
    assert_true(relaxed_refutes(&refuted, &open_coarse, best_ns - 1, INT64_MAX / 8, INT64_MAX / 8, &b));
    n->refuted += refuted;
  }
}

TEST(no_period_that_a_plan_has_is_refuted) {
  tally n = {0};
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(4000); seed++) {
    OWN(lab) l = draw(seed, 8);
    if (serves(&l)) look_at(&l, seed, &n);
  }
  print_message("%d served, %d folded, %d with short edges, %d optima refuted less one\n", n.served, n.folded,
                n.with_short, n.refuted);
  assert_true(n.served > rounds_of(2000) && n.folded > rounds_of(200) && n.with_short > rounds_of(200) &&
              n.refuted > rounds_of(200));
}

TEST(a_solve_that_is_stopped_brackets_the_optimum) {
  int n_open = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(300); seed++) {
    OWN(lab) l = draw(seed, 7);
    int64_t best_ns = serves(&l) ? brute_force(l.problem, NULL) : SITU_NEVER_NS;
    for (int64_t steps = 1; best_ns != SITU_NEVER_NS && steps < 60; steps += 1 + steps / 8) {
      OWN(situ_plan) *plan = NULL;
      situ_error error = {0};
      situ_solve_options effort = {.size = sizeof(situ_solve_options), .solvers = "ideal_dp", .max_steps = steps};
      if (situ_solve(&plan, l.problem, &effort, &error) != SITU_STATUS_OK)
        fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
      int64_t value_ns = plan->value_ns, bound_ns = plan->lower_bound_ns;
      if (bound_ns > best_ns || value_ns < best_ns)
        fail_msg("seed %llu, %lld steps: %lld <= %lld <= %lld is wrong", (unsigned long long)seed, (long long)steps,
                 (long long)bound_ns, (long long)best_ns, (long long)value_ns);
      n_open += bound_ns < value_ns;
    }
  }
  print_message("%d solves ended with a gap\n", n_open);
  assert_true(n_open > rounds_of(100));
}

TEST_MAIN
