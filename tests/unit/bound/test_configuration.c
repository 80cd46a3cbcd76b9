/* The sweep against all sets, the configuration bound against all placements. */
#include <math.h>

#include "../../lab/brute.h"
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/checked.h"
#include "base/rng.h"
#include "bound/configuration.h"
#include "exact/sweep.h"
#include "lp/lp.h"
#include "situ/instance.h"

enum { TOP = 40 };

static lab random_lab(uint64_t seed, int32_t max_operators) {
  rng random = rng_new(seed);
  lab_options options = {.seed = seed,
                         .n_operators = (int32_t)(2 + rng_below(&random, (uint64_t)max_operators - 1)),
                         .n_devices = (int32_t)(2 + rng_below(&random, 3)),
                         .density = 0.2 + 0.6 * rng_unit(&random),
                         .n_colocations = (int32_t)rng_below(&random, 3),
                         .training = rng_below(&random, 3) == 0,
                         .pinned = rng_below(&random, 4) == 0,
                         .unsupported = rng_below(&random, 3) == 0,
                         .memory = rng_below(&random, 3) == 0 ? 0.4 + rng_unit(&random) : 0,
                         .options = {.objective = SITU_OBJECTIVE_THROUGHPUT,
                                     .communication = SITU_COMMUNICATION_HOST_STAGED,
                                     .free = rng_below(&random, 4) > 0,
                                     .in_flight = (int32_t)rng_below(&random, 3)}};
  return lab_random(&options);
}

/* Straight from the definition. */
static int64_t load_of(const shares *s, int32_t type, uint32_t set) {
  int64_t load = 0;
  for (int32_t c = 0; c < s->n; c++)
    if (set >> c & 1) load = sat_add(load, s->time_ns[(int64_t)type * s->n + c]);
  for (int32_t e = 0; e < s->n_edges; e++) {
    uint32_t pins = 0;
    for (int32_t i = s->pin_start[e]; i < s->pin_start[e + 1]; i++) pins |= 1u << s->pin[i];
    if ((pins & set) == 0 || (pins & ~set) == 0) continue;
    bool made_here = set >> s->producer[e] & 1;
    load = sat_add(load, (made_here ? s->out_ns : s->in_ns)[(int64_t)type * s->n_edges + e]);
  }
  return load;
}

static void check_curve(const shares *s, const sweep *w, int32_t type, const int32_t *price, int32_t limit, bool exact,
                        arena *a) {
  int32_t least[TOP + 1], same[TOP + 1], none = -1, within = limit - limit / 3;
  bool taken[32] = {0};
  int32_t *scratch = ARENA_NEW(a, int32_t, sweep_curve_cells(w, TOP) + sweep_best_cells(w, TOP));
  sweep_curve(least, w, price, TOP, limit, scratch);
  sweep_best(taken, same, w, price, TOP, limit, within, scratch + sweep_curve_cells(w, TOP));
  assert_memory_equal(least, same, sizeof least);
  sweep_curve(&none, w, price, 0, limit, scratch);
  assert_int_equal(none, 0); /* nothing costs nothing */
  int64_t expected[TOP + 1];
  for (int32_t x = 0; x <= TOP; x++) expected[x] = SWEEP_NEVER;
  for (uint32_t set = 0; set < 1u << s->n; set++) {
    int64_t load = load_of(s, type, set), sum = 0;
    for (int32_t c = 0; c < s->n; c++) sum += set >> c & 1 ? price[c] : 0;
    for (int32_t x = 0; x <= TOP && x <= sum && load <= limit; x++) expected[x] = min64(expected[x], load);
  }
  int32_t best = 0;
  uint32_t set = 0;
  int64_t sum = 0;
  for (int32_t x = 0; x <= TOP; x++) {
    if (exact) assert_int_equal(least[x], expected[x]);
    assert_true(least[x] <= expected[x]);
    if (least[x] <= within) best = x;
  }
  for (int32_t c = 0; c < s->n; c++)
    if (taken[c]) set |= 1u << c, sum += price[c];
  assert_true(sum >= best);
  if (exact) assert_int_equal(load_of(s, type, set), least[best]);
}

TEST(the_sweep_finds_the_least_load_of_every_sum_of_prices) {
  int32_t n_exact = 0, n_forgetful = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(1000); seed++) {
    OWN(lab) l = random_lab(seed, 9);
    OWN(arena) *a = arena_new();
    shares s;
    assert_true(shares_find(&s, l.problem, a));
    rng random = rng_new(seed);
    int32_t price[32];
    for (int32_t c = 0; c < s.n; c++) price[c] = (int32_t)rng_below(&random, seed % 3 == 0 ? 60 : 9);
    for (int32_t t = 0; t < s.n_types; t++) {
      sweep w;
      static const int32_t max_states[] = {4, 16, 64, 4096, 4096};
      int32_t max_ns = seed % 4 == 0 ? 20 + (int32_t)rng_below(&random, 60) : 400;
      assert_true(sweep_find(&w, &s, t, max_ns, max_states[seed % 5], a));
      assert_int_equal(w.unit_ns, 1);
      assert_int_equal(w.limit, max_ns);
      (w.n_forgotten ? n_forgetful++ : n_exact++);
      check_curve(&s, &w, t, price, (int32_t)rng_below(&random, (uint64_t)max_ns + 1), w.n_forgotten == 0, a);
    }
  }
  assert_true(n_exact > rounds_of(1000) && n_forgetful > rounds_of(50));
}

TEST(the_bound_is_never_above_the_optimum) {
  int32_t n_equal = 0, n_held = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(3000); seed++) {
    OWN(lab) l = random_lab(seed, 6);
    if (!l.problem->conflict) {
      int64_t optimum_ns = brute_force(l.problem, NULL);
      for (int32_t known = 0; known < 2; known++) { /* without and with a plan to prove */
        OWN(arena) *a = arena_new();
        budget limited = budget_new(400, 0, NULL, NULL);
        situ_error error = {0};
        int64_t lower_ns = 0;
        situ_status status =
            configuration_raise(&lower_ns, l.problem, known ? optimum_ns : SITU_NEVER_NS, a, &limited, &error);
        assert_int_equal(status, SITU_STATUS_OK);
        if (lower_ns > optimum_ns)
          fail_msg("seed %llu: the bound says %lld, but %lld is possible", (unsigned long long)seed,
                   (long long)lower_ns, (long long)optimum_ns);
        n_held++;
        n_equal += lower_ns == optimum_ns;
      }
    }
  }
  print_message("%d of %d bounds equal the optimum\n", n_equal, n_held);
  assert_true(n_held > rounds_of(3000) && n_equal > n_held / 3);
}

TEST(the_engine_solves_a_program_known_from_arithmetic) {
  if (lp_missing()) skip();
  /* least x + 2y with x + y >= 3, x <= 2: x = 2, y = 1, cost 4; with y >= 2 as well: x = 1, y = 2, cost 5 */
  double cost[] = {1, 2}, lower[] = {0, 0}, upper[] = {2, 10}, ones[] = {1, 1};
  int32_t columns[] = {0, 1};
  lp *model = lp_new(2, cost, lower, upper);
  assert_non_null(model);
  assert_true(lp_add_row(model, 2, columns, ones, 3, HUGE_VAL));
  assert_true(lp_solve(model, 10));
  assert_true(fabs(lp_cost(model) - 4) < 1e-9 && fabs(lp_values(model)[0] - 2) < 1e-9);
  assert_true(lp_add_row(model, 1, columns + 1, ones, 2, HUGE_VAL));
  assert_true(lp_solve(model, 10));
  assert_true(fabs(lp_cost(model) - 5) < 1e-9 && fabs(lp_values(model)[1] - 2) < 1e-9);
  lp_free(model);
}

/* The optima of free plans that HiGHS proved by branch and bound, in ms (free_highs.csv beside the workloads). */
TEST(the_bound_reaches_optima_that_another_method_proved) {
  static const struct {
    const char *name;
    double optimum_ms;
  } cases[] = {{"LayerGraphs/bert24_inference", 17.7147},
               {"LayerGraphs/bert24_training", 39.7895},
               {"OperatorGraphs/bert_l-3_inference", 21.9084},
               {"OperatorGraphs/bert_l-3_training", 54.2074}};
  const char *shared = getenv("SITU_SHARED");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/data/workloads/throughput/%s.json", shared ? shared : "", cases[i].name);
    FILE *there = shared ? fopen(path, "r") : NULL;
    if (!there) skip();
    fclose(there);
    situ_instance_options options = {
        .size = sizeof(situ_instance_options),
        .model = path,
        .problem = &(situ_problem_options){
            .size = sizeof(situ_problem_options), .objective = SITU_OBJECTIVE_THROUGHPUT, .free = true}};
    OWN(situ_instance) *instance = NULL;
    situ_error error = {0};
    assert_int_equal(situ_instance_open(&instance, &options, &error), SITU_STATUS_OK);
    OWN(arena) *a = arena_new();
    budget limited = budget_new(2000, 0, NULL, NULL);
    int64_t lower_ns = 0;
    assert_int_equal(
        configuration_raise(&lower_ns, situ_instance_problem(instance), SITU_NEVER_NS, a, &limited, &error),
        SITU_STATUS_OK);
    double lower_ms = (double)lower_ns / 1e6;
    if (fabs(lower_ms - cases[i].optimum_ms) > 1e-4)
      fail_msg("%s: %.4f, expected %.4f", cases[i].name, lower_ms, cases[i].optimum_ms);
  }
}

/* One class of devices, two units and an edge: all times and prices may come to an eighth of 2^63 - 1 together. */
TEST(sums_of_all_times_are_limited) {
  int64_t time_ns[2] = {100, SITU_NEVER_NS}, in_ns = 20, out_ns = 0;
  shares s = {.n = 2, .n_types = 1, .n_edges = 1, .time_ns = time_ns, .in_ns = &in_ns, .out_ns = &out_ns};
  out_ns = INT64_MAX / 8 - 120;
  assert_true(shares_fit(&s));
  out_ns++;
  assert_false(shares_fit(&s));
}

/* Nine branches leave a and meet in z. With both in front their edges are two groups, 2 * 2 states at most; in an order
 * that leaves the fewest edges open four branches come before a, each a group of its own, 2^4 states. */
TEST(units_of_many_edges_come_first_where_that_makes_fewer_states) {
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 11; v++)
    lab_operator(&s, (const char *[]){"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "z"}[v], 1, 0, 0);
  for (int32_t v = 1; v < 10; v++) {
    lab_tensor(&s, 0, 1, v, -1);
    lab_tensor(&s, v, 1, 10, -1);
  }
  lab_pose(&s,
           &(situ_problem_options){
               .objective = SITU_OBJECTIVE_THROUGHPUT, .communication = SITU_COMMUNICATION_HOST_STAGED, .free = true});
  shares found;
  assert_true(shares_find(&found, s.problem, s.arena));
  assert_int_equal(found.n, 11);
  for (int32_t c = 0; c < 11; c++) assert_int_equal(found.touch_start[c + 1] - found.touch_start[c], c < 2 ? 9 : 2);
}

/* Replicas and transfers beside work would make loads smaller than the sums that the bound counts. */
TEST(pipelines_with_replicas_or_overlap_are_not_served) {
  for (int which = 0; which < 4; which++) {
    OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
    lab_operator(&s, "a", 1, 0, 0);
    lab_pose(&s, &(situ_problem_options){
                     .objective = SITU_OBJECTIVE_THROUGHPUT,
                     .communication = which == 1 ? SITU_COMMUNICATION_LINK : SITU_COMMUNICATION_HOST_STAGED,
                     .async_copies = which == 2,
                     .replicate = which == 3});
    assert_true(configuration_serves(s.problem) == (which == 0));
  }
}

TEST_MAIN
