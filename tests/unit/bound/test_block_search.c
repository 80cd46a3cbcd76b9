/* The search in a block: exact ones against all schedules of small graphs, merged ones against exact ones of larger
 * graphs, and the ways that deletion leaves behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../lab/lab.h"
#include "../../lab/tier.h"
#include "base/checked.h"
#include "bound/block.h"

/* ---- all schedules ---- */

typedef struct every {
  const situ_problem *problem;
  int32_t device[16];
  int64_t finish_ns[16], best_ns;
} every;

static void try_all(every *e, uint32_t done, const int64_t *free_ns, int64_t end_ns) {
  const situ_problem *p = e->problem;
  const situ_graph *g = p->graph;
  if (end_ns >= e->best_ns) return;
  if (done == (1u << p->n_operators) - 1) e->best_ns = end_ns;
  for (int32_t v = 0; v < p->n_operators; v++) {
    bool ready = !(done >> v & 1);
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) ready &= done >> g->producer[g->in[i]] & 1;
    for (int32_t d = 0; d < p->n_devices && ready; d++) {
      if (!problem_allows(p, v, d)) continue;
      int64_t start = free_ns[d], next[BLOCK_DEVICES];
      for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
        int32_t u = g->producer[g->in[i]];
        start = max64(start, e->finish_ns[u] + problem_transfer_ns(p, g->in[i], e->device[u], d));
      }
      for (int32_t k = 0; k < p->n_devices; k++) next[k] = free_ns[k];
      e->device[v] = d;
      e->finish_ns[v] = next[d] = start + problem_time_ns(p, v, d);
      try_all(e, done | 1u << v, next, max64(end_ns, e->finish_ns[v]));
    }
  }
}

static int64_t least_of_all(const situ_problem *p) {
  every e = {.problem = p, .best_ns = BLOCK_FAR_NS};
  int64_t free_ns[BLOCK_DEVICES] = {0};
  try_all(&e, 0, free_ns, 0);
  return e.best_ns;
}

/* ---- the search ---- */

/* The whole graph as one block. */
static block_result search_whole(const situ_problem *p, int32_t width, bool merge) {
  arena *a = arena_new();
  block_machine machine;
  thin_graph g;
  block b;
  bool fits;
  assert_true(block_machine_init(&machine, p, a));
  assert_true(thin_whole(&g, p, a));
  assert_true(block_take(&b, &fits, &machine, &g, 0, g.n - 1, false, a));
  int32_t *cut = ARENA_NEW(a, int32_t, g.n), n_cuts = thin_cuts(cut, &g, a), none = -1;
  int64_t zeros[BLOCK_DEVICES] = {0};
  block_set_tails(&b, n_cuts > 0 && cut[n_cuts - 1] == g.n - 1 ? zeros : NULL);
  block_front start = {.n = 1, .vectors = ARENA_ZERO(a, int64_t, p->n_devices), .step = &none, .bound_ns = zeros};
  budget unlimited = budget_new(0, 0, NULL, NULL);
  block_limits limits = {
      .width = width, .merge = merge, .upper_ns = BLOCK_FAR_NS, .most_children = INT64_MAX, .budget = &unlimited};
  block_result found;
  assert_true(block_search(&found, NULL, &b, &start, &limits, NULL, a, a));
  arena_free(a);
  return found;
}

static lab problem_of(uint64_t seed, int32_t n_operators, int32_t n_devices) {
  lab_options o = {.seed = seed,
                   .n_operators = n_operators,
                   .n_devices = n_devices,
                   .density = 0.1 + 0.1 * (double)(seed % 6),
                   .pinned = seed % 7 == 0,
                   .unsupported = seed % 2 == 0,
                   .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE}};
  return lab_random(&o);
}

static void an_exact_search_finds_the_least_of_all_schedules(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(3000); seed++) {
    lab l = problem_of(seed, 4 + (int32_t)(seed % 3), 2 + (int32_t)(seed % 2));
    block_result found = search_whole(l.problem, 1 << 20, false);
    int64_t least = least_of_all(l.problem);
    assert_true(found.exact);
    if (found.value_ns != least)
      fail_msg("seed %d: the search says %lld, the least is %lld", (int)seed, (long long)found.value_ns,
               (long long)least);
    lab_free(&l);
  }
}

static void a_merged_search_never_says_more_than_the_exact_one(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(400); seed++) {
    lab l = problem_of(seed, 8 + (int32_t)(seed % 3), 2 + (int32_t)(seed % 3));
    int64_t exact = search_whole(l.problem, 1 << 20, false).value_ns;
    for (int32_t width = 1; width <= 256; width *= 4) {
      int64_t merged = search_whole(l.problem, width, true).value_ns;
      int64_t forgot = search_whole(l.problem, width, false).value_ns;
      if (merged > exact || forgot < exact)
        fail_msg("seed %d, width %d: merged %lld, exact %lld, a plan %lld", (int)seed, width, (long long)merged,
                 (long long)exact, (long long)forgot);
    }
    lab_free(&l);
  }
}

/* ---- deletion ---- */

/* Task 7 takes 7, 15, 11; it gets 23 from task 3 and gives 17 to task 10. What deletes task 4 afterwards keeps its way.
 */
static void a_second_deletion_keeps_the_ways_of_the_first(void **state) {
  (void)state;
  lab l = lab_topcuoglu();
  arena *a = arena_new();
  thin_graph whole, once, twice;
  bool deleted[10];
  assert_true(thin_whole(&whole, l.problem, a));
  for (int32_t v = 0; v < 10; v++) deleted[v] = l.graph->source_id[v] == 7;
  assert_true(thin_delete(&once, &whole, deleted, a));
  for (int32_t v = 0; v < once.n; v++) deleted[v] = l.graph->source_id[once.operator_of[v]] == 4;
  assert_true(thin_delete(&twice, &once, deleted, a));
  assert_int_equal(twice.n, 8);
  int32_t found = 0;
  for (int32_t t = 0; t < twice.n_tensors; t++) {
    if (l.graph->source_id[twice.operator_of[twice.producer[t]]] != 3 || !twice.way_ns[t]) continue;
    found++;
    assert_int_equal(twice.way_ns[t][0 * 3 + 0], 7);       /* all on the first device */
    assert_int_equal(twice.way_ns[t][1 * 3 + 2], 15 + 17); /* task 7 on the second, then over */
  }
  assert_int_equal(found, 1);
  arena_free(a);
  lab_free(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_exact_search_finds_the_least_of_all_schedules),
      cmocka_unit_test(a_merged_search_never_says_more_than_the_exact_one),
      cmocka_unit_test(a_second_deletion_keeps_the_ways_of_the_first),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
