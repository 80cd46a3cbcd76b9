/* Chains as nouns: sums over joined elements and over divisions that leave operators out; and chain_dp where a slot is
 * a group of devices, against all divisions. What chain_find finds is tested beside server_dp. */
#include "../../lab/lab.h"
#include "../../lab/test.h"
#include "../../lab/tier.h"
#include "base/checked.h"
#include "base/rng.h"
#include "chain/chain.h"
#include "chain/chain_dp.h"

static lab draw(uint64_t seed, bool pipeline) {
  lab_options o = {.seed = seed,
                   .n_operators = 4 + (int32_t)(seed % 12),
                   .n_devices = 2 + (int32_t)(seed % 3),
                   .density = 0.2 + 0.1 * (double)(seed % 7),
                   .n_colocations = seed % 5 == 0 ? 1 : 0,
                   .pinned = seed % 7 == 0,
                   .unsupported = seed % 3 == 0,
                   .options = {.execution = pipeline ? SITU_EXECUTION_PIPELINE : SITU_EXECUTION_STREAM}};
  return lab_random(&o);
}

/* The time of some operators on device d: SITU_NEVER_NS where one of them may not be there. */
static int64_t time_of(const situ_problem *p, const bool *in, int32_t d) {
  int64_t sum = 0;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (in[v]) sum = problem_allows(p, v, d) ? sat_add(sum, problem_time_ns(p, v, d)) : SITU_NEVER_NS;
  return sum;
}

TEST(intervals_are_differences_of_sums) {
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(1000); seed++) {
    OWN(lab) l = draw(seed, seed % 2);
    const situ_problem *p = l.problem;
    OWN(arena) *a = arena_new();
    rng r = rng_new(seed);
    chain c;
    int32_t element[16], n = 1 + (int32_t)rng_below(&r, 4);
    bool in[16];
    for (int32_t v = 0; v < p->n_operators; v++) element[v] = (int32_t)rng_below(&r, n + 1) - 1;
    assert_true(chain_sum(&c, p, element, n, a));
    for (int32_t i = 0; i < n; i++)
      for (int32_t j = i + 1; j <= n; j++) {
        int64_t weights = 0;
        for (int32_t v = 0; v < p->n_operators; v++) {
          in[v] = element[v] >= i && element[v] < j;
          weights += in[v] ? p->graph->weight_bytes[v] : 0;
        }
        assert_true(c.weight_bytes[j] - c.weight_bytes[i] == weights);
        for (int32_t d = 0; d < p->n_devices; d++)
          if (c.column_of[d] >= 0) assert_true(chain_time_ns(&c, d, i, j) == time_of(p, in, d));
      }
  }
}

TEST(joined_elements_have_the_sums_of_their_members) {
  int32_t joined = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(1000); seed++) {
    OWN(lab) l = draw(seed, seed % 2);
    const situ_problem *p = l.problem;
    OWN(arena) *a = arena_new();
    rng r = rng_new(seed);
    chain c, few;
    int32_t begin[17] = {0}, n = 1;
    assert_true(seed % 4 < 2 ? chain_find(&c, p, 1000, 8, a) : chain_of_units(&c, p, &p->units, a));
    for (int32_t k = 1; k < c.n; k++)
      if (rng_below(&r, 2)) begin[n++] = k;
    assert_true(chain_join(&few, &c, begin, n, a));
    for (int32_t k = 0; k <= n; k++) {
      int32_t from = k < n ? begin[k] : c.n, end = k + 1 < n ? begin[k + 1] : c.n;
      assert_true(few.weight_bytes[k] == c.weight_bytes[from] && few.kept_bytes[k] == c.kept_bytes[from]);
      for (int32_t kind = 0; kind < p->n_kinds && k > 0 && k < n; kind++)
        assert_true(few.crossing_ns[k * p->n_kinds + kind] == c.crossing_ns[from * p->n_kinds + kind]);
      int64_t peak = 0;
      for (int32_t e = from; e < end && k < n; e++) {
        int64_t before = seed % 2 ? 0 : c.kept_bytes[e] - c.kept_bytes[from];
        peak = max64(peak, before + c.peak_bytes[e]);
        for (int32_t x = c.first[e]; x < c.first[e + 1]; x++) assert_int_equal(few.element[c.order[x]], k);
      }
      if (k < n) assert_true(few.peak_bytes[k] == peak);
      for (int32_t d = 0; d < p->n_devices && k < n; d++)
        if (c.column_of[d] >= 0) assert_true(chain_time_ns(&few, d, k, k + 1) == chain_time_ns(&c, d, from, end));
    }
    joined += n > 1 && n < c.n;
  }
  assert_true(joined > rounds_of(200));
}

/* The minimum of all divisions into at most `most` intervals, each on a group of `size` devices of four. */
static int64_t best_division(const chain *c, int32_t most, const int32_t *device) {
  int64_t best = SITU_NEVER_NS;
  int32_t kind = c->problem->device_kind[device[0] * c->problem->n_devices + device[1]];
  for (int32_t cuts = 0; cuts < 1 << (c->n - 1); cuts++) {
    if (__builtin_popcount((unsigned)cuts) + 1 > most) continue;
    int64_t sum = chain_time_ns(c, device[0], 0, c->n);
    for (int32_t k = 1; k < c->n && sum < SITU_NEVER_NS; k++)
      if (cuts >> (k - 1) & 1) sum += c->main_ns[k * c->problem->n_kinds + kind];
    best = min64(best, sum);
  }
  return best;
}

TEST(a_group_takes_as_many_devices_as_it_has) {
  int32_t found = 0;
  for (uint64_t seed = 1; seed <= (uint64_t)rounds_of(400); seed++) {
    lab_options o = {.seed = seed,
                     .n_operators = 3 + (int32_t)(seed % 6),
                     .n_devices = 5,
                     .density = 0.6,
                     .equal = true,
                     .memory = 0.3 + 0.1 * (double)(seed % 8),
                     .options = {.execution = SITU_EXECUTION_STREAM}};
    OWN(lab) l = lab_random(&o);
    const situ_problem *p = l.problem;
    OWN(arena) *a = arena_new();
    chain c;
    chain_dp t;
    int32_t device[4] = {1, 2, 3, 4}, type_of[4] = {0}, count[1] = {4}, place[4] = {0, 1, 2, 3}, best;
    int32_t device_of[16], slot_of[16];
    server_type all = {.n_servers = 1,
                       .n_places = 4,
                       .device = device,
                       .n_types = 1,
                       .type_of = type_of,
                       .count = count,
                       .place = place};
    assert_true(chain_of_units(&c, p, &p->units, a));
    for (int32_t size = 1; size <= 5; size++) { /* none holds 5 */
      assert_true(chain_dp_init(&t, p, &all, 1, a, NULL) && chain_dp_set_chain(&t, &c));
      t.slots[0].n_devices = size;
      t.slots[0].limit_bytes = SITU_UNLIMITED_BYTES;
      t.upper_ns = SITU_NEVER_NS;
      assert_true(chain_dp_run(&t, &best));
      int64_t min_ns = best_division(&c, 4 / size, device);
      assert_true(best < 0 ? min_ns == SITU_NEVER_NS : chain_dp_value_ns(&t, best) == min_ns);
      /* Too little memory for everything in one group: some intervals, on different devices. */
      t.slots[0].limit_bytes = c.weight_bytes[c.n] / 2 + c.peak_bytes[0];
      assert_true(chain_dp_run(&t, &best));
      if (best < 0) continue;
      assert_true(chain_dp_expand(&t, best, device_of, slot_of));
      for (int32_t k = 0, n = 0; k < c.n; k++) {
        n += k > 0 && device_of[k] != device_of[k - 1];
        assert_true(n * size + size <= 4);
        assert_int_equal(device_of[k], device[n * size]);
        found += n > 0 && size > 1;
      }
    }
  }
  assert_true(found >= rounds_of(400) / 20); /* such plans are seen at all */
}

TEST_MAIN
