/* Heads and tails that know joins against every schedule of small problems, operator by operator and device by device.
 */
#include "../../lab/brute.h"
#include "../../lab/lab.h"
#include "../../lab/proved.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/checked.h"
#include "bound/bound.h"
#include "bound/joins.h"

enum { MAX_CELLS = 64 };

typedef struct earliest {
  const situ_problem *problem;
  simulator *simulator;
  int64_t end[MAX_CELLS], rest[MAX_CELLS]; /* the least of all schedules */
} earliest;

static void look(void *context, const placement *where) {
  earliest *e = context;
  simulation found = simulator_run(e->simulator, where, false);
  for (int32_t v = 0; v < e->problem->n_operators && found.value_ns != SITU_NEVER_NS; v++) {
    int32_t at = v * e->problem->n_devices + where->device[v];
    if (found.finish_ns[v] < e->end[at]) e->end[at] = found.finish_ns[v];
    if (found.value_ns - found.finish_ns[v] < e->rest[at]) e->rest[at] = found.value_ns - found.finish_ns[v];
  }
}

/* Whether joins say more than chains somewhere; they never say less, and never more than is true. */
static bool hold(const situ_problem *p, uint64_t seed, int32_t width) {
  int64_t head[MAX_CELLS], tail[MAX_CELLS], chain_head[MAX_CELLS], chain_tail[MAX_CELLS];
  int32_t cells = p->n_operators * p->n_devices;
  bool may[MAX_CELLS], more = false;
  OWN(arena) *a = arena_new();
  budget unlimited = budget_new(0, 0, NULL, NULL);
  earliest e = {.problem = p, .simulator = simulator_new(p, a)};
  for (int32_t i = 0; i < cells; i++) may[i] = problem_allows(p, i / p->n_devices, i % p->n_devices);
  for (int32_t i = 0; i < cells; i++) e.end[i] = e.rest[i] = SITU_NEVER_NS;
  for (int32_t i = 0; i < cells; i++) head[i] = tail[i] = SITU_NEVER_NS / 2; /* whatever is there is not looked at */
  brute_each(p, look, &e);
  assert_true(joins_find(joins_new(p, width, a), head, tail, may, &unlimited));
  assert_true(bound_heads_tails(chain_head, chain_tail, p));
  for (int32_t i = 0; i < cells; i++) {
    if (head[i] > e.end[i] || tail[i] > e.rest[i])
      fail_msg("seed %d, operator %d on %d: ends at %lld of %lld, is followed by %lld of %lld", (int)seed,
               i / p->n_devices, i % p->n_devices, (long long)head[i], (long long)e.end[i], (long long)tail[i],
               (long long)e.rest[i]);
    assert_true(head[i] >= chain_head[i] && tail[i] >= chain_tail[i]);
    more |= may[i] && (head[i] > chain_head[i] || tail[i] > chain_tail[i]);
  }
  return more;
}

TEST(no_operator_ends_before_its_head_or_is_followed_by_less_than_its_tail) {
  int32_t n_more = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(3000); seed++) {
    lab_options o = {.seed = seed + 70000,
                     .n_operators = 3 + (int32_t)(seed % 4),
                     .n_devices = seed % 4 < 3 ? 2 + (int32_t)(seed % 3) : 2,
                     .density = 0.2 + 0.1 * (double)(seed % 7),
                     .n_colocations = (int32_t)(seed % 5 == 0),
                     .pinned = seed % 3 == 0,
                     .unsupported = seed % 7 == 0,
                     .equal = seed % 2,
                     .memory = seed % 6 == 1 ? 0.5 : 0,
                     .options = {.execution = SITU_EXECUTION_STREAM,
                                 .contention = seed % 2 ? SITU_CONTENTION_NONE : SITU_CONTENTION_LINK}};
    OWN(lab) l = lab_random(&o);
    if (!l.problem->conflict) n_more += hold(l.problem, seed, 1 + (int32_t)(seed % 8));
  }
  assert_true(n_more > rounds_of(300)); /* or else nothing was tried */
}

/* The least head and tail of each operator is what the judge proves of it, who looks at as many before it by code of
 * his own: of more operators than are looked at both take the same ones. */
TEST(the_judge_looks_at_the_same_operators) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(200); seed++) {
    lab_options o = {.seed = seed + 80000,
                     .n_operators = 12,
                     .n_devices = 2 + (int32_t)(seed % 2),
                     .density = 0.3 + 0.1 * (double)(seed % 5),
                     .unsupported = seed % 3 == 0,
                     .equal = seed % 2,
                     .options = {.execution = SITU_EXECUTION_STREAM, .contention = SITU_CONTENTION_NONE}};
    OWN(lab) l = lab_random(&o);
    const situ_problem *p = l.problem;
    for (int64_t width = 1; width <= 4 && !p->conflict; width++) {
      int64_t head[MAX_CELLS], tail[MAX_CELLS];
      bool may[MAX_CELLS];
      OWN(arena) *a = arena_new();
      budget unlimited = budget_new(0, 0, NULL, NULL);
      certificate proof;
      certificate_start(&proof, "join", 0);
      int64_t *v = certificate_add_operators(&proof, "operator", 1, a);
      *certificate_add(&proof, "window", 1, a) = width;
      for (int32_t i = 0; i < p->n_operators * p->n_devices; i++)
        may[i] = problem_allows(p, i / p->n_devices, i % p->n_devices);
      assert_true(joins_find(joins_new(p, (int32_t)width, a), head, tail, may, &unlimited));
      for (*v = 0; *v < p->n_operators; ++*v) {
        int64_t least = SITU_NEVER_NS;
        for (int64_t i = *v * p->n_devices; i < (*v + 1) * p->n_devices; i++)
          if (may[i]) least = min64(least, head[i] + tail[i]);
        assert_int_equal(proved_by(p, &proof), least);
      }
    }
  }
}

TEST(joins_are_for_streams) {
  lab_options o = {.seed = 1, .n_operators = 5, .n_devices = 3, .density = 0.4};
  o.options.execution = SITU_EXECUTION_STREAM;
  lab l = lab_random(&o);
  assert_true(joins_width(l.problem) > 0);
  lab_free(&l);
  o.options.execution = SITU_EXECUTION_CALLS;
  l = lab_random(&o);
  assert_int_equal(joins_width(l.problem), 0);
  lab_free(&l);
}

/* Sets of devices are bits of one word. */
TEST(joins_are_for_64_devices) {
  lab_options o = {.seed = 1, .n_operators = 5, .n_devices = 3, .density = 0.4};
  o.options.execution = SITU_EXECUTION_STREAM;
  OWN(lab) l = lab_random(&o);
  situ_problem many = *l.problem;
  many.n_devices = 64;
  assert_true(joins_width(&many) > 0);
  many.n_devices = 65;
  assert_int_equal(joins_width(&many), 0);
}

TEST(a_budget_that_is_over_gives_no_bound) {
  lab_options o = {.seed = 1, .n_operators = 5, .n_devices = 3, .density = 0.4};
  o.options.execution = SITU_EXECUTION_STREAM;
  OWN(lab) l = lab_random(&o);
  OWN(arena) *a = arena_new();
  int64_t head[15], tail[15];
  bool may[15] = {false};
  budget over = budget_new(1, 0, NULL, NULL);
  budget_spend(&over, 1);
  assert_false(joins_find(joins_new(l.problem, 4, a), head, tail, may, &over));
}

TEST_MAIN
