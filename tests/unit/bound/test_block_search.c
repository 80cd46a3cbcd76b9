/* The search of a block: where layers are too narrow, merging leaves a bound and forgetting a plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../lab/lab.h"
#include "bound/block.h"

/* The least value of the whole graph as one block, or SITU_NEVER_NS where the search gave up. */
static int64_t value_of(const block *b, int32_t width, bool merge, bool *exact, arena *a) {
  budget unlimited = budget_new(0, 0, NULL, NULL);
  block_limits limits = {.width = width, .merge = merge, .upper_ns = BLOCK_FAR_NS, .most_children = 100000,
                         .budget = &unlimited};
  int64_t nothing[64] = {0}, zero = 0;
  int32_t none = -1;
  block_front start = {.n = 1, .vectors = nothing, .step = &none, .bound_ns = &zero};
  block_result found;
  assert_true(block_search(&found, NULL, b, &start, &limits, NULL, a, a));
  *exact = found.exact;
  return found.finished ? found.value_ns : SITU_NEVER_NS;
}

/* What the last operator needs, and it: a block that ends with a cut. */
static thin_graph ancestors_of_last(const thin_graph *whole, arena *a) {
  thin_graph kept;
  bool *deleted = ARENA_NEW(a, bool, whole->n);
  for (int32_t v = 0; v < whole->n; v++) deleted[v] = v < whole->n - 1;
  for (int32_t t = whole->n_tensors - 1; t >= 0; t--)
    for (int64_t i = whole->use_start[t]; i < whole->use_start[t + 1]; i++)
      if (!deleted[whole->use[i]]) deleted[whole->producer[t]] = false;
  assert_true(thin_delete(&kept, whole, deleted, a));
  return kept;
}

static void hold(const block *b, uint64_t seed, int32_t *n_merged, arena *a) {
  bool exact;
  int64_t optimum = value_of(b, 1 << 20, false, &exact, a);
  for (int32_t width = 1; width <= 64 && optimum != SITU_NEVER_NS; width += 1 + width / 4) {
    int64_t bound = value_of(b, width, true, &exact, a), plan = value_of(b, width, false, &exact, a);
    *n_merged += !exact;
    if (bound > optimum || plan < optimum)
      fail_msg("seed %d, width %d: merging says %lld, forgetting %lld; the optimum is %lld", (int)seed, (int)width,
               (long long)bound, (long long)plan, (long long)optimum);
  }
}

static void merged_layers_are_a_bound_and_forgotten_ones_a_plan(void **state) {
  (void)state;
  static const int64_t nothing_after[BLOCK_DEVICES] = {0};
  int32_t n_merged = 0;
  for (uint64_t seed = 1; seed <= 120; seed++) {
    lab_options o = {.seed = seed, .n_operators = 10 + (int32_t)(seed % 8), .n_devices = 2 + (int32_t)(seed % 2),
                     .density = 0.1 + 0.05 * (double)(seed % 4),
                     .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE}};
    lab l = lab_random(&o);
    arena *a = arena_new();
    block_machine machine;
    thin_graph whole, kept;
    block b;
    bool fits;
    block_machine_init(&machine, l.problem);
    assert_true(thin_whole(&whole, l.problem, a));
    kept = ancestors_of_last(&whole, a);
    assert_true(block_take(&b, &fits, &machine, &kept, 0, kept.n - 1, false, a));
    block_set_tails(&b, nothing_after);
    hold(&b, seed, &n_merged, a);
    if (seed % 4 == 0) {
      assert_true(block_take(&b, &fits, &machine, &whole, 0, whole.n - 1, false, a));
      block_set_tails(&b, NULL);
      hold(&b, seed, &n_merged, a);
    }
    arena_free(a);
    lab_free(&l);
  }
  assert_true(n_merged > 200);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(merged_layers_are_a_bound_and_forgotten_ones_a_plan)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
