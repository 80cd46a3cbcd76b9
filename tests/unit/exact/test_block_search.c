/* The search in a block: exact ones against all schedules of small graphs, merged ones against exact ones of larger
 * graphs, and the ways that deletion leaves behind. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/checked.h"
#include "exact/block.h"

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

/* The whole graph as one block, beginning at time 0; the value to be below is that of `limits`. */
static block_result search_within(const situ_problem *p, block_limits limits) {
  OWN(arena) *a = arena_new();
  block_machine machine;
  thin_graph g;
  block b;
  bool fits;
  assert_true(block_machine_init(&machine, p, a));
  assert_true(thin_whole(&g, p, a));
  assert_true(block_take(&b, &fits, &machine, &g, 0, g.n - 1, a));
  int32_t *cut = ARENA_NEW(a, int32_t, g.n), n_cuts = thin_cuts(cut, &g, a);
  int64_t zeros[BLOCK_DEVICES] = {0};
  block_set_tails(&b, n_cuts > 0 && cut[n_cuts - 1] == g.n - 1 ? zeros : NULL);
  budget unlimited = budget_new(0, 0, NULL, NULL);
  limits.budget = &unlimited;
  block_result found;
  assert_true(block_search(&found, &b, zeros, &limits, a));
  return found;
}

static block_result search_whole(const situ_problem *p, int32_t width, bool merge) {
  return search_within(
      p, (block_limits){.width = width, .merge = merge, .upper_ns = BLOCK_FAR_NS, .max_children = INT64_MAX});
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

TEST(an_exact_search_finds_the_least_of_all_schedules) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(3000); seed++) {
    OWN(lab) l = problem_of(seed, 4 + (int32_t)(seed % 3), 2 + (int32_t)(seed % 2));
    block_result found = search_whole(l.problem, 1 << 20, false);
    int64_t least = least_of_all(l.problem);
    assert_true(found.exact);
    if (found.value_ns != least)
      fail_msg("seed %d: the search says %lld, the least is %lld", (int)seed, (long long)found.value_ns,
               (long long)least);
  }
}

TEST(a_merged_search_never_says_more_than_the_exact_one) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(400); seed++) {
    OWN(lab) l = problem_of(seed, 8 + (int32_t)(seed % 3), 2 + (int32_t)(seed % 3));
    int64_t exact = search_whole(l.problem, 1 << 20, false).value_ns;
    for (int32_t width = 1; width <= 256; width *= 4) {
      int64_t merged = search_whole(l.problem, width, true).value_ns;
      int64_t forgot = search_whole(l.problem, width, false).value_ns;
      if (merged > exact || forgot < exact)
        fail_msg("seed %d, width %d: merged %lld, exact %lld, a plan %lld", (int)seed, width, (long long)merged,
                 (long long)exact, (long long)forgot);
    }
  }
}

/* ---- work that is left ---- */

/* How many children a search has for what is below the value. */
static int64_t children_below(const situ_problem *p, int64_t upper_ns) {
  block_limits limits = {.width = 1 << 10, .upper_ns = upper_ns, .max_children = INT64_MAX};
  return search_within(p, limits).n_children;
}

/* Whether work alone says that nothing is below `value_ns`: as with 1 ns, no operator is put on a device. There is a
 * schedule of one more. */
static void says_at_once(const situ_problem *p, int64_t value_ns) {
  assert_int_equal(children_below(p, value_ns), children_below(p, 1));
  assert_true(children_below(p, value_ns + 2) > children_below(p, 1));
}

/* Six operators run on the second device alone, 1000 ns each; a seventh takes 1 ns there and 5999 on the first; an
 * eighth runs on the first alone, 5000 ns. All work of the second is 6001 ns, of the first 10,999. At no price for the
 * first device there are 6000 ns for the second to do. At the other prices, 34, 69 and 139 of the first for 128 of the
 * second, it is (768,000 + 128 + 5000 x) / (128 + x): 5791, 5651 and 5480. */
TEST(work_that_one_device_alone_can_do_counts_whole) {
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 8; v++) {
    lab_operator(&s, (const char *[]){"a", "b", "c", "d", "e", "f", "g", "h"}[v], v < 6 ? 1000 : 1, 0, 0);
    if (v < 6) s.time_ns[v][0] = SITU_NEVER_NS;
  }
  s.time_ns[6][0] = 5999;
  s.time_ns[7][0] = 5000;
  s.time_ns[7][1] = SITU_NEVER_NS;
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE});
  says_at_once(s.problem, 6000);
}

/* Seven operators of 1000 ns on the first device alone, and one that takes no time on either: a device that does
 * nothing else has no work to be even with. */
TEST(a_device_without_work_leaves_the_prices_of_the_others) {
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 8; v++) {
    lab_operator(&s, (const char *[]){"a", "b", "c", "d", "e", "f", "g", "h"}[v], v < 7 ? 1000 : 0, 0, 0);
    if (v < 7) s.time_ns[v][1] = SITU_NEVER_NS;
  }
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE});
  says_at_once(s.problem, 7000);
}

/* ---- width ---- */

/* Eight operators that need nothing from each other, of 2 ns on one device and 5 on the other, so that many schedules
 * have equal bounds. From the start there are 8 * 2 children, and of each schedule of k operators (8 - k) * 2. */
TEST(a_layer_is_no_wider_than_allowed) {
  int64_t widest = 0;
  OWN(lab) s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 8; v++) {
    lab_operator(&s, (const char *[]){"a", "b", "c", "d", "e", "f", "g", "h"}[v], 2, 0, 0);
    s.time_ns[v][1] = 5;
  }
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE});
  for (int32_t width = 1; width <= 64; width++) {
    block_limits limits = {.width = width, .upper_ns = BLOCK_FAR_NS, .max_children = INT64_MAX};
    int64_t most = 8 * 2;
    for (int32_t k = 1; k < 8; k++) most += (int64_t)width * (8 - k) * 2;
    int64_t children = search_within(s.problem, limits).n_children - children_below(s.problem, 1);
    assert_true(children <= most);
    assert_true(children > widest); /* a wider layer is used */
    widest = children;
  }
}

/* Two operators, one after the other, on one device: each layer has one schedule, and nothing is left out at a width of
 * one. */
TEST(a_layer_that_just_fits_is_kept_whole) {
  OWN(lab) s = lab_mesh(1, SITU_UNLIMITED_BYTES);
  lab_operator(&s, "a", 2, 0, 0);
  lab_operator(&s, "b", 3, 0, 0);
  lab_tensor(&s, 0, 1, 1, -1);
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  block_result found = search_whole(s.problem, 1, true);
  assert_true(found.exact);
  assert_int_equal(found.value_ns, 2 + 3);
}

TEST(blocks_are_for_streams_of_8_devices) {
  OWN(lab) l = problem_of(1, 4, 2);
  situ_problem many = *l.problem, other = *l.problem;
  many.n_devices = BLOCK_DEVICES;
  assert_true(block_serves(l.problem) && block_serves(&many));
  many.n_devices++;
  other.execution = SITU_EXECUTION_CALLS;
  assert_false(block_serves(&many) || block_serves(&other));
}

/* ---- deletion ---- */

/* Task 7 takes 7, 15, 11; it gets 23 from task 3 and gives 17 to task 10. What deletes task 4 afterwards keeps its way.
 */
TEST(a_second_deletion_keeps_the_ways_of_the_first) {
  OWN(lab) l = lab_topcuoglu();
  OWN(arena) *a = arena_new();
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
    if (l.graph->source_id[twice.operator_of[twice.producer[t]]] != 3 || !twice.transfer_ns[t]) continue;
    found++;
    assert_int_equal(twice.transfer_ns[t][0 * 3 + 0], 7);       /* all on the first device */
    assert_int_equal(twice.transfer_ns[t][1 * 3 + 2], 15 + 17); /* task 7 on the second, then over */
  }
  assert_int_equal(found, 1);
}

TEST_MAIN
