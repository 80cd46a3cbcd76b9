/* What HSDAG's network knows of groups: distances counted by hand, rows of a small model. */
#include <float.h>
#include <math.h>

#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "learn/hsdag_features.h"

static void assert_near(double x, double expected) {
  if (!(fabs(x - expected) < 1e-12)) fail_msg("%.15g, expected %.15g", x, expected);
}

/* 0 -> 1 -> 2 -> 3 */
static int32_t path_start[] = {0, 1, 2, 3, 3}, path_to[] = {1, 2, 3};
static int32_t back_start[] = {0, 0, 1, 2, 3}, back_to[] = {0, 1, 2};
/* 0 -> 1, 2; 1 -> 3, 4; 2 -> 5, 6 */
static int32_t tree_start[] = {0, 2, 4, 6, 6, 6, 6, 6}, tree_to[] = {1, 2, 3, 4, 5, 6};

TEST(the_fractal_dimension_is_the_slope_of_what_grows) {
  OWN(arena) *a = arena_new();
  double d[7];
  assert_true(hsdag_fractal_dimensions(d, &(group_lists){path_start, path_to}, 4, false, a));
  assert_near(d[0], 1); /* N(1), N(2), N(3) = 1, 2, 3: ln N = ln r */
  assert_near(d[1], 1);
  assert_near(d[2], 0); /* one radius */
  assert_near(d[3], 0); /* none */
  assert_true(hsdag_fractal_dimensions(d, &(group_lists){tree_start, tree_to}, 7, false, a));
  assert_near(d[0], log(3) / log(2)); /* N(1) = 2, N(2) = 6 */
  assert_near(d[1], 0);
}

/* Published, node 1 of the path has points (0, 0), (ln 2, ln 2) and, for node 0, that it cannot reach, (L, ln 3) with L
 * the logarithm of the greatest double; node 2 has (0, 0) and (L, ln 3), node 3 has (L, ln 3) alone. */
TEST(the_published_fractal_dimension_hangs_on_what_is_out_of_reach) {
  OWN(arena) *a = arena_new();
  double d[4], far = log(DBL_MAX), x = (log(2) + far) / 3, y = (log(2) + log(3)) / 3;
  double above = x * y + (log(2) - x) * (log(2) - y) + (far - x) * (log(3) - y);
  double below = x * x + (log(2) - x) * (log(2) - x) + (far - x) * (far - x);
  assert_true(hsdag_fractal_dimensions(d, &(group_lists){path_start, path_to}, 4, true, a));
  assert_near(d[0], 1);
  assert_near(d[1], above / below);
  assert_near(d[2], log(3) / far);
  assert_near(d[3], 0);
  assert_true(d[1] < 0.002);
}

/* Wasserman and Faust: node 2 of the path is reached by two of three others, from distances 1 and 2. */
TEST(closeness_counts_those_that_reach_a_group) {
  OWN(arena) *a = arena_new();
  double c[4];
  assert_true(hsdag_closeness(c, &(group_lists){back_start, back_to}, 4, a));
  assert_near(c[0], 0);
  assert_near(c[1], 1.0 / 1 * 1 / 3);
  assert_near(c[2], 2.0 / 3 * 2 / 3);
  assert_near(c[3], 3.0 / 6 * 3 / 3);
}

enum { N_KINDS = 8 };

/* Each feature alone: its columns are those said to be used, and all others are 0. */
TEST(a_feature_that_is_left_out_is_0) {
  for (uint64_t seed = 0; seed < 40; seed++) {
    lab_options o = {
        .seed = seed, .n_operators = 20, .n_devices = 3, .density = 0.15, .n_colocations = (int32_t)(seed % 2)};
    o.options.objective = SITU_OBJECTIVE_LATENCY;
    OWN(lab) l = lab_random(&o);
    OWN(arena) *a = arena_new();
    environment env;
    hsdag_groups g;
    assert_true(environment_init(&env, l.problem, a) && hsdag_groups_find(&g, &env, false, a));
    int32_t columns = hsdag_features_count(N_KINDS), kind[N_KINDS], n_used = 0;
    assert_true(l.graph->n_kinds <= N_KINDS);
    for (int32_t k = 0; k < l.graph->n_kinds; k++) kind[k] = N_KINDS - 1 - k;
    nn_real *value = ARENA_NEW(a, nn_real, (int64_t)g.n * columns), *used = ARENA_NEW(a, nn_real, columns);
    for (uint32_t f = 0; f < HSDAG_N_FEATURES; f++) {
      hsdag_choice choice = {1u << f, false, N_KINDS, kind, -1};
      assert_true(hsdag_features_find(value, used, &choice, &env, &g, a));
      for (int32_t c = 0; c < columns; c++) n_used += used[c] > 0;
      for (int32_t i = 0; i < g.n; i++) {
        double sum = 0;
        for (int32_t c = 0; c < columns; c++) {
          nn_real x = value[(int64_t)i * columns + c];
          assert_true(isfinite((double)x) && fabs((double)x) < 5);
          assert_true(used[c] > 0 || x == 0);
          sum += (double)x;
        }
        if (f == HSDAG_KINDS) assert_true(fabs(sum - 1) < 1e-5);
        if (f == HSDAG_DEGREES) assert_true(sum == 2);
        if (f == HSDAG_INDEX) assert_true(sum == (double)((nn_real)i / (nn_real)g.n));
      }
    }
    assert_int_equal(n_used, columns - N_KINDS + l.graph->n_kinds); /* each column belongs to one feature */
  }
}

TEST_MAIN
