/* One way for each layer in the memory there is: against all choices. */
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/checked.h"
#include "base/rng.h"
#include "stages/stage_choice.h"

/* The least time of a choice that fits, over all of them. */
static int64_t least_time(const stage_choice *c, int64_t n_kept, int64_t memory, int32_t v) {
  int64_t best = INT64_MAX;
  if (v == c->n) return memory < 0 ? best : 0;
  for (int32_t w = c->start[v]; w < c->start[v + 1]; w++) {
    int64_t rest = least_time(c, n_kept, memory - c->variant[w].kept_bytes * n_kept - c->variant[w].fixed_bytes, v + 1);
    best = min64(best, sat_add(rest, c->variant[w].time_ns));
  }
  return best;
}

TEST(the_knapsack_is_decided_exactly) {
  OWN(arena) *a = arena_new();
  stage_choice c;
  assert_true(stage_choice_make(&c, 9, 27, a));
  for (int32_t round = 0; round < rounds_of(20000); round++) {
    rng r = rng_new((uint64_t)round + 1);
    int64_t scale = round % 3 == 0 ? (int64_t)1 << 44 : 1, n_kept = 1 + (int64_t)rng_below(&r, 3);
    int32_t n_kinds = 1 + (int32_t)rng_below(&r, 9), n = 0;
    c.n = 1 + (int32_t)rng_below(&r, 9);
    for (int32_t v = 0; v < c.n; v++) { /* layers of one kind have equal ways */
      rng kind = rng_new((uint64_t)round * 100 + rng_below(&r, (uint64_t)n_kinds));
      c.start[v] = n;
      for (int32_t k = (int32_t)rng_below(&kind, 3); k >= 0; k--)
        c.variant[n++] = (choice_variant){.time_ns = (int64_t)rng_below(&kind, 20) * scale,
                                          .kept_bytes = (int64_t)rng_below(&kind, 20) * scale,
                                          .fixed_bytes = (int64_t)rng_below(&kind, 20) * scale};
    }
    c.start[c.n] = n;
    int64_t memory = (int64_t)rng_below(&r, 60 * (uint64_t)c.n) * scale, best = least_time(&c, n_kept, memory, 0);
    if (best > 0)
      assert_int_equal(stage_choice_find(&c, n_kept, min64(best, (int64_t)1 << 60) - 1, memory), CHOICE_NONE);
    if (best == INT64_MAX) continue;
    assert_int_equal(stage_choice_find(&c, n_kept, best, memory), CHOICE_FOUND);
    int64_t ns = 0, bytes = 0;
    for (int32_t v = 0; v < c.n; v++) {
      const choice_variant *w = &c.variant[c.start[v] + c.pick[v]];
      assert_true(c.start[v] + c.pick[v] < c.start[v + 1]);
      ns += w->time_ns;
      bytes += w->kept_bytes * n_kept + w->fixed_bytes;
    }
    assert_int_equal(ns, best);
    assert_true(bytes <= memory);
  }
}

TEST_MAIN
