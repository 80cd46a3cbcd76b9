/* The bound packing against every placement of small problems: it says that there is no plan exactly where memory
 * leaves none, in the models in which a placement alone says what its memories hold; in streams, where that depends on
 * the schedule too, never where there is one. What it says is judged, and so are lists that nobody proved. */
#include "../lab/brute.h"
#include "../lab/lab.h"
#include "../lab/proved.h"
#include "../lab/test.h"
#include "../lab/tier.h"
#include "base/rng.h"
#include "bound/bound.h"

static lab draw(uint64_t seed, situ_execution execution) {
  rng r = rng_new(seed * 3 + (uint64_t)execution);
  bool pipeline = execution == SITU_EXECUTION_PIPELINE, stream = execution == SITU_EXECUTION_STREAM;
  lab_options o = {.seed = seed,
                   .n_operators = (int32_t)(2 + rng_below(&r, stream || pipeline ? 4 : 3)),
                   .n_devices = (int32_t)(2 + rng_below(&r, 3)),
                   .n_hosts = (int32_t)(1 + rng_below(&r, 2)),
                   .density = 0.1 + 0.6 * rng_unit(&r),
                   .n_colocations = (int32_t)rng_below(&r, 2),
                   .training = pipeline && rng_below(&r, 2),
                   .pinned = rng_below(&r, 4) == 0,
                   .unsupported = rng_below(&r, 3) == 0,
                   .equal = rng_below(&r, 2) == 0,
                   .memory = 0.2 + 1.2 * rng_unit(&r),
                   .host_memory = 0.2 + 1.2 * rng_unit(&r),
                   .options = {.execution = execution}};
  if (pipeline) {
    o.options.free = rng_below(&r, 2);
    o.options.communication = rng_below(&r, 2) ? SITU_COMMUNICATION_LINK : SITU_COMMUNICATION_HOST_STAGED;
    o.options.in_flight = (int32_t)rng_below(&r, 4);
    o.options.replicate = rng_below(&r, 4) == 0;
  }
  if (stream && rng_below(&r, 3) == 0) { /* a view as a pipeline, whose memory is that of streams */
    o.options.objective = SITU_OBJECTIVE_THROUGHPUT;
    o.options.max_latency_ns = INT64_MAX - 1;
  }
  return lab_random(&o);
}

/* Whether the bound says that there is no plan, which the judge verifies then. */
static bool is_refuted(const situ_problem *p) {
  situ_problem view;
  if (p->execution == SITU_EXECUTION_STREAM && p->objective == SITU_OBJECTIVE_THROUGHPUT) {
    problem_view_pipeline(&view, p);
    p = &view;
  }
  OWN(arena) *a = arena_new();
  certificate proof;
  int64_t lower_ns = proved_bound(&proof, &packing_bound, p, a);
  assert_true(lower_ns == 0 || lower_ns == SITU_NEVER_NS);
  assert_true((lower_ns == SITU_NEVER_NS) == (proof.kind != NULL));
  if (proof.kind) assert_true(proved_claim(p, &proof));
  return lower_ns == SITU_NEVER_NS;
}

/* Any list proves only what is true: one of all operators, and one of a random few. */
static void judge_lists(const situ_problem *p, bool possible, uint64_t seed) {
  rng r = rng_new(seed);
  for (int32_t k = 0; k < 2; k++) {
    OWN(arena) *a = arena_new();
    certificate c;
    certificate_start(&c, "packing", SITU_NEVER_NS);
    int64_t n = k ? 1 + rng_below(&r, 4) : p->n_operators, *list = certificate_add_operators(&c, "operators", n, a);
    assert_non_null(list);
    for (int64_t i = 0; i < n; i++) list[i] = k ? rng_below(&r, p->n_operators) : i;
    if (possible) assert_false(proved_claim(p, &c));
  }
}

static int32_t try_all(situ_execution execution, int32_t n_seeds) {
  int32_t n_refuted = 0, n_none = 0;
  const char *wanted = getenv("SITU_PROBLEMS");
  n_seeds = wanted ? atoi(wanted) : rounds_of(n_seeds);
  for (uint64_t seed = 1; seed <= (uint64_t)n_seeds; seed++) {
    OWN(lab) l = draw(seed, execution);
    bool refuted = is_refuted(l.problem);
    situ_problem loose = *l.problem;
    bool contiguous = loose.contiguous;
    loose.contiguous = false; /* whether memory leaves a plan, whatever else does not */
    bool possible = brute_force(contiguous ? &loose : l.problem, NULL) != SITU_NEVER_NS;
    bool allowed = brute_force(l.problem, NULL) != SITU_NEVER_NS;
    if (refuted && allowed) fail_msg("seed %d: there is a plan", (int)seed);
    if (execution != SITU_EXECUTION_STREAM && !refuted && !possible && !l.problem->conflict)
      fail_msg("seed %d: not seen", (int)seed);
    judge_lists(l.problem, allowed, seed);
    n_refuted += refuted;
    n_none += !allowed;
  }
  print_message("%s: %d of %d problems have no plan, %d are refuted\n", situ_execution_name(execution), (int)n_none,
                (int)n_seeds, (int)n_refuted);
  return n_refuted;
}

TEST(what_calls_cannot_hold_is_refuted) { assert_true(try_all(SITU_EXECUTION_CALLS, 1500) > rounds_of(100)); }

TEST(what_pipelines_cannot_hold_is_refuted) { assert_true(try_all(SITU_EXECUTION_PIPELINE, 1500) > rounds_of(100)); }

TEST(streams_that_have_a_plan_are_not_refuted) { assert_true(try_all(SITU_EXECUTION_STREAM, 1500) > rounds_of(100)); }

TEST_MAIN
