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

/* One schedule, of nothing. */
static block_front start_of(const situ_problem *p, int32_t *step, int64_t *bound_ns, block_copies *copies, arena *a) {
  int64_t *zeros = ARENA_ZERO(a, int64_t, p->n_devices + p->platform->n_channels);
  return (block_front){.n = 1, .vectors = zeros, .step = step, .bound_ns = bound_ns, .copies = copies};
}

/* The whole graph as one block, beginning at time 0; budget and the value to be below are those of `limits`. What is
 * kept of its end is made in `keep`; trace and end may be NULL. */
static block_result search_traced(const situ_problem *p, block_limits limits, block_trace *trace, block_front *end,
                                  arena *keep) {
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
  block_copies nowhere = {0, 0};
  block_front start = start_of(p, &none, zeros, &nowhere, a);
  budget unlimited = budget_new(0, 0, NULL, NULL);
  limits.budget = &unlimited;
  block_result found;
  assert_true(block_search(&found, end, &b, &start, &limits, trace, a, keep ? keep : a));
  arena_free(a);
  return found;
}

static block_result search_within(const situ_problem *p, block_limits limits) {
  return search_traced(p, limits, NULL, NULL, NULL);
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

TEST(a_merged_search_never_says_more_than_the_exact_one) {
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

/* What a schedule takes whose operators go, in this order, to these devices as soon as they can. */
static int64_t time_of_schedule(const situ_problem *p, const int32_t *device, const int32_t *order) {
  int64_t free_ns[BLOCK_DEVICES] = {0}, finish_ns[16], end_ns = 0;
  for (int32_t k = 0; k < p->n_operators; k++) {
    int32_t v = order[k], d = device[v];
    int64_t start = free_ns[d];
    for (int64_t i = p->graph->in_start[v]; i < p->graph->in_start[v + 1]; i++) {
      int32_t u = p->graph->producer[p->graph->in[i]];
      start = max64(start, finish_ns[u] + problem_transfer_ns(p, p->graph->in[i], device[u], d));
    }
    finish_ns[v] = free_ns[d] = start + problem_time_ns(p, v, d);
    end_ns = max64(end_ns, finish_ns[v]);
  }
  return end_ns;
}

/* Equal devices are sorted on the way: their names have to be found again. */
TEST(the_best_schedule_is_read_back_from_the_trace) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(400); seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 7 + (int32_t)(seed % 4),
                     .n_devices = 3 + (int32_t)(seed % 3),
                     .density = 0.1 + 0.05 * (double)(seed % 5),
                     .equal = true,
                     .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE}};
    lab l = lab_random(&o);
    block_front end = {0};
    block_step steps[4096];
    block_trace trace = {.steps = steps, .room = 4096};
    arena *keep = arena_new();
    block_limits limits = {.width = 64, .upper_ns = BLOCK_FAR_NS, .max_children = INT64_MAX};
    block_result found = search_traced(l.problem, limits, &trace, &end, keep);
    int32_t best = 0, device[16], order[4096];
    for (int32_t i = 1; i < end.n; i++)
      if (end.bound_ns[i] < end.bound_ns[best]) best = i;
    block_machine machine;
    assert_true(end.n > 0 && block_machine_init(&machine, l.problem, keep));
    assert_int_equal(block_trace_read(&trace, end.step[best], &machine, device, order), l.problem->n_operators);
    int64_t takes = time_of_schedule(l.problem, device, order);
    if (takes != found.value_ns)
      fail_msg("seed %d: the search says %lld, what is read back takes %lld", (int)seed, (long long)found.value_ns,
               (long long)takes);
    arena_free(keep);
    lab_free(&l);
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
  lab s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 8; v++) {
    lab_operator(&s, (const char *[]){"a", "b", "c", "d", "e", "f", "g", "h"}[v], v < 6 ? 1000 : 1, 0, 0);
    if (v < 6) s.time_ns[v][0] = SITU_NEVER_NS;
  }
  s.time_ns[6][0] = 5999;
  s.time_ns[7][0] = 5000;
  s.time_ns[7][1] = SITU_NEVER_NS;
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE});
  says_at_once(s.problem, 6000);
  lab_free(&s);
}

/* Seven operators of 1000 ns on the first device alone, and one that takes no time on either: a device that does
 * nothing else has no work to be even with. */
TEST(a_device_without_work_leaves_the_prices_of_the_others) {
  lab s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 8; v++) {
    lab_operator(&s, (const char *[]){"a", "b", "c", "d", "e", "f", "g", "h"}[v], v < 7 ? 1000 : 0, 0, 0);
    if (v < 7) s.time_ns[v][1] = SITU_NEVER_NS;
  }
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE});
  says_at_once(s.problem, 7000);
  lab_free(&s);
}

/* ---- width ---- */

/* Eight operators that need nothing from each other, of 2 ns on one device and 5 on the other, so that many schedules
 * have equal bounds. From the start there are 8 * 2 children, and of each schedule of k operators (8 - k) * 2. */
TEST(a_layer_is_no_wider_than_allowed) {
  int64_t widest = 0;
  lab s = lab_mesh(2, SITU_UNLIMITED_BYTES);
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
  lab_free(&s);
}

/* Two operators, one after the other, on one device: each layer has one schedule, and nothing is left out at a width of
 * one. */
TEST(a_layer_that_just_fits_is_kept_whole) {
  lab s = lab_mesh(1, SITU_UNLIMITED_BYTES);
  lab_operator(&s, "a", 2, 0, 0);
  lab_operator(&s, "b", 3, 0, 0);
  lab_tensor(&s, 0, 1, 1, -1);
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  block_result found = search_whole(s.problem, 1, true);
  assert_true(found.exact);
  assert_int_equal(found.value_ns, 2 + 3);
  lab_free(&s);
}

/* ---- links ---- */

/* a, b and k follow one another on the second device, 1 ns each; c and d run on the first. 10 bytes go from a to c, 10
 * from b to d, 1 from k to both, at 1 ns a byte over one link. With c first: a's are there at 11, k's at 12, c ends at
 * 13; b's are there at 22, and d ends at 23. With d first: b's at 12, k's at 13, a's at 23, and c ends at 24. */
static lab two_that_send(void) {
  lab s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 5; v++) {
    lab_operator(&s, (const char *[]){"a", "b", "k", "c", "d"}[v], 1, 0, 0);
    s.time_ns[v][v < 3 ? 0 : 1] = SITU_NEVER_NS;
  }
  lab_tensor(&s, 0, 10, 3, -1);
  lab_tensor(&s, 1, 10, 4, -1);
  lab_tensor(&s, 0, 1, 1, -1);
  lab_tensor(&s, 1, 1, 2, -1);
  lab_tensor(&s, 2, 1, 3, 4, -1);
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  return s;
}

TEST(a_link_carries_one_tensor_after_the_other) {
  lab s = two_that_send();
  block_limits limits = {.width = 1 << 10, .links = true, .upper_ns = BLOCK_FAR_NS, .max_children = INT64_MAX};
  assert_int_equal(search_within(s.problem, limits).value_ns, 23);
  lab_free(&s);
}

/* a runs on the first device, c and d on the second, 1 ns each, and both use a's 10 bytes, which go there once: they
 * are there at 11, c ends at 12 and d at 13. */
TEST(what_is_there_is_not_sent_again) {
  lab s = lab_mesh(2, SITU_UNLIMITED_BYTES);
  for (int32_t v = 0; v < 3; v++) {
    lab_operator(&s, (const char *[]){"a", "c", "d"}[v], 1, 0, 0);
    s.time_ns[v][v == 0] = SITU_NEVER_NS;
  }
  lab_tensor(&s, 0, 10, 1, 2, -1);
  lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
  block_limits limits = {.width = 1 << 10, .links = true, .upper_ns = BLOCK_FAR_NS, .max_children = INT64_MAX};
  assert_int_equal(search_within(s.problem, limits).value_ns, 13);
  lab_free(&s);
}

/* The problem of two that send, cut behind k: what a and b made passes the cut, and is still where it was made. */
TEST(what_passes_a_cut_is_where_it_was) {
  lab s = two_that_send();
  block_machine machine;
  thin_graph g;
  block b;
  bool fits;
  int32_t none = -1;
  int64_t zeros[BLOCK_DEVICES] = {0};
  block_copies nowhere = {0, 0};
  block_front front = start_of(s.problem, &none, zeros, &nowhere, s.arena), end;
  budget unlimited = budget_new(0, 0, NULL, NULL);
  block_limits limits = {
      .width = 1 << 10, .links = true, .upper_ns = BLOCK_FAR_NS, .max_children = INT64_MAX, .budget = &unlimited};
  block_result found;
  arena *scratch = arena_new();
  assert_true(block_machine_init(&machine, s.problem, s.arena) && thin_whole(&g, s.problem, s.arena));
  for (int32_t k = 0; k < 2; k++) {
    assert_true(block_take(&b, &fits, &machine, &g, k ? 3 : 0, k ? 4 : 2, true, s.arena));
    block_set_tails(&b, k ? NULL : zeros);
    assert_true(block_search(&found, &end, &b, &front, &limits, NULL, scratch, s.arena));
    front = end;
  }
  assert_int_equal(found.value_ns, 23);
  arena_free(scratch);
  lab_free(&s);
}

/* Where they are made is noted in 4 bits for each tensor that somebody still needs, where they are in one for each
 * memory: of 16 tensors, and of 64 such places. With more the search gives up. */
TEST(links_are_followed_for_16_tensors) {
  static const struct {
    int32_t n_devices, n_tensors;
    bool finished;
  } rows[] = {{2, 16, true}, {2, 17, false}, {4, 16, true}, {5, 13, false}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    lab s = lab_mesh(rows[i].n_devices, SITU_UNLIMITED_BYTES);
    lab_operator(&s, "a", 1, 0, 0);
    lab_operator(&s, "b", 1, 0, 0);
    for (int32_t t = 0; t < rows[i].n_tensors; t++) lab_tensor(&s, 0, 1, 1, -1);
    lab_pose(&s, &(situ_problem_options){.execution = SITU_EXECUTION_STREAM});
    block_limits limits = {.width = 1 << 10, .links = true, .upper_ns = BLOCK_FAR_NS, .max_children = INT64_MAX};
    assert_int_equal(search_within(s.problem, limits).finished, rows[i].finished);
    lab_free(&s);
  }
}

/* What a schedule takes whose operators are appended in this order: the inputs of each are sent, in the order of their
 * producers, where they are not yet, and each channel carries what it was given first. */
static int64_t time_over_links(const thin_graph *g, const int32_t *device, const int32_t *order) {
  const situ_problem *p = g->problem;
  const situ_platform *q = p->platform;
  int64_t free_ns[BLOCK_DEVICES] = {0}, channel_ns[64] = {0}, there_ns[64][BLOCK_DEVICES], end_ns = 0;
  int32_t home[64];
  assert_true(g->n_tensors <= 64 && q->n_channels <= 64);
  for (int32_t t = 0; t < g->n_tensors; t++)
    for (int32_t m = 0; m < p->n_memories; m++) there_ns[t][m] = -1;
  for (int32_t k = 0; k < g->n; k++) {
    int32_t x = 0, d = device[order[k]], w = p->memory_of[d];
    int64_t start = free_ns[d];
    while (g->operator_of[x] != order[k]) x++;
    for (int32_t t = 0; t < g->n_tensors; t++) {
      bool used = false;
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) used |= g->use[i] == x;
      if (!used) continue;
      int32_t m = home[t];
      int64_t *there = &there_ns[t][w], now = there_ns[t][m];
      if (*there < 0 && g->transfer_ns[t]) *there = now + g->transfer_ns[t][m * p->n_memories + w];
      const int32_t *hop = q->route_start + (int64_t)m * p->n_memories + w;
      for (int32_t i = hop[0]; i < hop[1] && *there < 0; i++) {
        int64_t takes = p->transfer_ns[g->tensor_of[t]][p->costs->link_kind[q->route_link[i]]];
        int64_t *channel = &channel_ns[q->links[q->route_link[i]].channel];
        if (takes > 0) now = *channel = max64(now, *channel) + takes;
      }
      if (*there < 0) *there = now;
      start = max64(start, *there);
    }
    free_ns[d] = start + problem_time_ns(p, order[k], d);
    end_ns = max64(end_ns, free_ns[d]);
    for (int32_t t = 0; t < g->n_tensors; t++) {
      if (g->producer[t] != x) continue;
      home[t] = w;
      there_ns[t][w] = free_ns[d];
    }
  }
  return end_ns;
}

/* Random streams, a third of whose operators take no time and are left out: what leads over them goes on no link. */
static lab draw_with_idle(uint64_t seed, bool *idle) {
  rng r = rng_new(seed);
  lab_options o = {.seed = seed,
                   .n_operators = 6 + (int32_t)(seed % 6),
                   .n_devices = 2 + (int32_t)(seed % 3),
                   .density = 0.2 + 0.1 * (double)(seed % 5),
                   .ways_differ = seed % 2,
                   .pools = seed % 3 == 0,
                   .unfused = true,
                   .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_LINK}};
  lab l = lab_random(&o);
  situ_problem *busy = l.problem;
  situ_problem_options options = problem_options_of(busy);
  for (int32_t v = 0; v < l.graph->n_operators; v++) {
    idle[v] = rng_below(&r, 3) == 0;
    for (int32_t k = 0; k < l.costs->n_classes && idle[v]; k++) l.costs->time_ns[v * l.costs->n_classes + k] = 0;
  }
  assert_int_equal(situ_problem_pose(&l.problem, l.graph, l.platform, l.costs, &options, NULL), SITU_STATUS_OK);
  situ_problem_free(busy);
  return l;
}

TEST(what_a_search_with_links_says_is_what_its_schedule_takes) {
  int32_t n_ways = 0, n_waits = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(2000); seed++) {
    bool idle[16], fits;
    lab l = draw_with_idle(seed, idle);
    arena *a = arena_new(), *keep = arena_new();
    block_machine machine;
    thin_graph whole, thin;
    block b;
    block_front end;
    block_result found;
    block_step steps[4096];
    block_trace trace = {.steps = steps, .room = 4096};
    block_copies nowhere = {0, 0};
    int64_t zeros[BLOCK_DEVICES] = {0};
    int32_t none = -1, best = 0, device[16], order[4096];
    assert_true(block_machine_init(&machine, l.problem, a) && thin_whole(&whole, l.problem, a));
    assert_true(thin_delete(&thin, &whole, idle, a));
    budget unlimited = budget_new(0, 0, NULL, NULL);
    block_limits limits = {
        .width = 64, .links = true, .upper_ns = BLOCK_FAR_NS, .max_children = INT64_MAX, .budget = &unlimited};
    if (thin.n > 0) {
      block_front start = start_of(l.problem, &none, zeros, &nowhere, a);
      assert_true(block_take(&b, &fits, &machine, &thin, 0, thin.n - 1, false, a));
      block_set_tails(&b, NULL);
      assert_true(block_search(&found, &end, &b, &start, &limits, &trace, a, keep));
    }
    if (thin.n > 0 && found.finished && end.n > 0) {
      for (int32_t i = 1; i < end.n; i++)
        if (end.bound_ns[i] < end.bound_ns[best]) best = i;
      assert_int_equal(block_trace_read(&trace, end.step[best], &machine, device, order), thin.n);
      int64_t takes = time_over_links(&thin, device, order);
      if (takes != found.value_ns)
        fail_msg("seed %d: the search says %lld, its schedule takes %lld", (int)seed, (long long)found.value_ns,
                 (long long)takes);
      for (int32_t t = 0; t < thin.n_tensors; t++) n_ways += thin.transfer_ns[t] != NULL;
      limits.links = false;
      assert_true(block_search(&found, NULL, &b,
                               &(block_front){.n = 1, .vectors = zeros, .step = &none, .bound_ns = zeros}, &limits,
                               NULL, a, a));
      n_waits += found.value_ns < takes;
    }
    arena_free(keep);
    arena_free(a);
    lab_free(&l);
  }
  if (n_ways < rounds_of(1000) || n_waits < rounds_of(100)) fail_msg("%d ways, %d wait", (int)n_ways, (int)n_waits);
}

TEST(blocks_are_for_streams_of_8_devices) {
  lab l = problem_of(1, 4, 2);
  situ_problem many = *l.problem, other = *l.problem;
  many.n_devices = BLOCK_DEVICES;
  assert_true(block_serves(l.problem) && block_serves(&many));
  many.n_devices++;
  other.execution = SITU_EXECUTION_CALLS;
  assert_false(block_serves(&many) || block_serves(&other));
  lab_free(&l);
}

/* ---- deletion ---- */

/* Task 7 takes 7, 15, 11; it gets 23 from task 3 and gives 17 to task 10. What deletes task 4 afterwards keeps its way.
 */
TEST(a_second_deletion_keeps_the_ways_of_the_first) {
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
    if (l.graph->source_id[twice.operator_of[twice.producer[t]]] != 3 || !twice.transfer_ns[t]) continue;
    found++;
    assert_int_equal(twice.transfer_ns[t][0 * 3 + 0], 7);       /* all on the first device */
    assert_int_equal(twice.transfer_ns[t][1 * 3 + 2], 15 + 17); /* task 7 on the second, then over */
  }
  assert_int_equal(found, 1);
  arena_free(a);
  lab_free(&l);
}

TEST_MAIN
