/* Two versions of a graph: what is the same in them. */
#include "graph/match.h"

#include "../../lab/random_graph.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/rng.h"
#include "situ.h"

static void done(situ_status status, const situ_error *error) {
  if (status != SITU_STATUS_OK) fail_msg("%s: %s", error->where, error->text);
}

/* A chain of products with work first, first + 1, ...; one more operator, of another kind, before number `extra`. Names
 * are numbers, so that they move. */
static situ_graph *chain(int32_t n, int64_t first, int32_t extra, bool named) {
  OWN(situ_graph_builder) *b = NULL;
  situ_graph *g = NULL;
  situ_error error = {0};
  int32_t last = -1;
  done(situ_graph_builder_new(&b, "chain", &error), &error);
  for (int32_t v = 0; v < n + (extra >= 0); v++) {
    char name[32];
    bool is_extra = v == extra;
    int32_t number = extra >= 0 && v > extra ? v - 1 : v;
    snprintf(name, sizeof name, is_extra ? "new" : "layer%d", (int)number);
    situ_operator op = SITU_OPERATOR_INIT;
    op.kind = is_extra ? "Quantize" : "MatMul";
    op.flops = is_extra ? 1 : first + number;
    op.name = named ? name : NULL;
    int32_t made = situ_graph_builder_add_operator(b, &op);
    if (last >= 0) situ_graph_builder_add_use(b, made, last);
    situ_tensor t = SITU_TENSOR_INIT;
    t.size_bytes = 1000000;
    last = situ_graph_builder_add_tensor(b, made, &t);
  }
  done(situ_graph_freeze(&g, b, &error), &error);
  return g;
}

TEST(what_is_inserted_is_new_and_the_rest_is_found) {
  for (int32_t extra = 0; extra <= 10; extra++)
    for (int named = 0; named < 2; named++) {
      OWN(situ_graph) *old = chain(10, 5, -1, named), *now = chain(10, 5, extra, named);
      OWN(arena) *a = arena_new();
      int32_t other[11];
      assert_true(graph_match(other, now, old, a));
      for (int32_t v = 0; v < 11; v++) assert_int_equal(other[v], v == extra ? -1 : v > extra ? v - 1 : v);
    }
}

TEST(names_that_are_kept_win_over_work_that_changed) {
  OWN(situ_graph) *old = chain(6, 5, -1, true), *now = chain(6, 1000, 3, true);
  OWN(arena) *a = arena_new();
  int32_t other[7];
  assert_true(graph_match(other, now, old, a));
  for (int32_t v = 0; v < 7; v++) assert_int_equal(other[v], v == 3 ? -1 : v > 3 ? v - 1 : v);
}

TEST(a_graph_matches_itself_and_nothing_is_used_twice) {
  for (int32_t round = 0; round < rounds_of(300); round++) {
    OWN(situ_graph) *x = NULL, *y = NULL;
    situ_error error = {0};
    graph_random_options o = {
        .n_operators = 1 + round % 60, .edge_density = 0.1, .seed = (uint64_t)round + 1, .n_colocations = 1};
    done(graph_random(&x, &o, &error), &error);
    o.seed += 1000;
    o.n_operators = 1 + (round * 7) % 60;
    done(graph_random(&y, &o, &error), &error);
    OWN(arena) *a = arena_new();
    int32_t other[64];
    bool used[64] = {false};
    assert_true(graph_match(other, x, x, a));
    for (int32_t v = 0; v < x->n_operators; v++) assert_int_equal(other[v], v);
    assert_true(graph_match(other, x, y, a));
    for (int32_t v = 0; v < x->n_operators; v++) {
      if (other[v] < 0) continue;
      assert_true(other[v] < y->n_operators && !used[other[v]]);
      used[other[v]] = true;
    }
  }
}

/* ---- plans carried over ---- */

static situ_problem *pose(const situ_graph *g, const char *platform) {
  OWN(situ_platform) *m = NULL;
  OWN(situ_costs) *costs = NULL;
  situ_problem *p = NULL;
  situ_error error = {0};
  done(situ_platform_read(&m, platform, &error), &error);
  done(situ_costs_estimate(&costs, g, m, NULL, &error), &error);
  done(situ_problem_pose(&p, g, m, costs, NULL, &error), &error);
  return p;
}

TEST(a_plan_is_carried_over_to_a_changed_graph) {
  const int32_t split[] = {1, 1, 1, 2, 2, 2, 0, 0}; /* gpu0, gpu1, cpu */
  OWN(situ_graph) *old = chain(8, 5, -1, false), *now = chain(8, 5, 4, false);
  situ_problem *before = pose(old, "cpu+2*v100-16g"), *after = pose(now, "cpu+2*v100-16g"),
               *more = pose(now, "cpu+3*v100-16g"), *less = pose(now, "cpu+v100-16g");
  situ_plan *plan = NULL, *carried = NULL;
  situ_error error = {0};
  done(situ_simulate(&plan, before, split, NULL, &error), &error);
  done(situ_plan_carry(&carried, plan, after, &error), &error);
  for (int32_t v = 0; v < 9; v++) /* the new one is where its input is made */
    assert_int_equal(situ_plan_device(carried, v), split[v >= 4 ? v - 1 : v]);
  situ_plan_free(carried);
  done(situ_plan_carry(&carried, plan, more, &error), &error);
  for (int32_t v = 0; v < 9; v++) assert_int_equal(situ_plan_device(carried, v), split[v >= 4 ? v - 1 : v]);
  situ_plan_free(carried);
  done(situ_plan_carry(&carried, plan, less, &error), &error); /* gpu1 is gone: what it had follows its input */
  for (int32_t v = 0; v < 9; v++) assert_int_equal(situ_plan_device(carried, v), v < 7 ? 1 : 0);
  situ_plan_free(carried);
  situ_problem *const problems[] = {before, after, more, less};
  for (int k = 0; k < 4; k++) situ_problem_free(problems[k]);
  situ_plan_free(plan);
}

/* A solve of one step that starts from the plan of the graph before is as good as that plan. */
TEST(a_search_starts_from_what_was_carried_over) {
  for (int32_t round = 0; round < rounds_of(20); round++) {
    OWN(situ_graph) *g = NULL;
    OWN(situ_plan) *plan = NULL, *carried = NULL, *found = NULL;
    situ_error error = {0};
    graph_random_options o = {.n_operators = 40, .edge_density = 0.1, .seed = (uint64_t)round + 1};
    done(graph_random(&g, &o, &error), &error);
    OWN(situ_problem) *p = pose(g, "cpu+2*v100-16g");
    situ_solve_options solve = SITU_SOLVE_OPTIONS_INIT;
    solve.max_steps = 3000;
    done(situ_solve(&plan, p, &solve, &error), &error);
    done(situ_plan_carry(&carried, plan, p, &error), &error);
    situ_plan_summary was = SITU_PLAN_SUMMARY_INIT, is = SITU_PLAN_SUMMARY_INIT;
    situ_plan_get_summary(plan, &was);
    situ_plan_get_summary(carried, &is);
    assert_int_equal(is.value_ns, was.value_ns); /* the same graph: the same plan, its sequence too */
    solve.max_steps = 1;
    solve.starts = (const situ_plan *const *)&carried;
    solve.n_starts = 1;
    done(situ_solve(&found, p, &solve, &error), &error);
    situ_plan_get_summary(found, &is);
    assert_true(is.value_ns <= was.value_ns);
  }
}

TEST_MAIN
