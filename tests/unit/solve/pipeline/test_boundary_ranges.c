/* The spans of edges, on which it depends where short edges count, against all parts that a device could hold. */
#include "../../../lab/lab.h"
#include "../../../lab/test.h"
#include "base/rng.h"
#include "solve/pipeline/boundary_ranges.h"

enum { MAX_N = 12 };

static bool directly_before(const stages *s, int32_t u, int32_t v) {
  return s->predecessors[(int64_t)v * s->n_words + u / 64] >> (u % 64) & 1;
}

static bool before(const stages *s, int32_t u, int32_t v) {
  if (u == v) return true;
  for (int32_t k = 0; k < v; k++)
    if (directly_before(s, k, v) && before(s, u, k)) return true;
  return false;
}

static bool is_ideal(const stages *s, uint32_t set) {
  for (int32_t v = 0; v < s->n; v++)
    for (int32_t u = 0; u < v && set >> v & 1; u++)
      if (directly_before(s, u, v) && !(set >> u & 1)) return false;
  return true;
}

/* The price of the classes of a part, and of the loose edges that lie in it: where neither end is outside of it, or one
 * end is beside it, which they may be taken to. */
static int64_t price_of(const boundary_ranges *w, uint32_t inner, uint32_t outer) {
  const stages *s = w->stages;
  uint32_t part = outer & ~inner;
  int64_t sum = 0;
  for (int32_t v = 0; v < s->n; v++)
    if (part >> v & 1) sum += w->price[v];
  for (int32_t e = 0; e < s->n_edges; e++) {
    int32_t u = s->pin[s->pin_start[e]], v = s->pin[s->pin_start[e] + 1];
    bool is_before = inner >> v & 1, is_behind = !(outer >> u & 1); /* with its user, with its producer */
    if (w->loose[e] > 0 && !is_before && !is_behind) sum += w->loose[e];
  }
  return sum;
}

/* The most price of the difference of two ideals that holds no pin of the edge but lies between some of them. */
static int64_t max_between(const boundary_ranges *w, int32_t e) {
  const stages *s = w->stages;
  uint32_t pins = 0, all = (1u << s->n) - 1;
  int64_t most = 0;
  for (int32_t i = s->pin_start[e]; i < s->pin_start[e + 1]; i++) pins |= 1u << s->pin[i];
  for (uint32_t outer = 0; outer <= all; outer++) {
    if (!is_ideal(s, outer) || !(pins & ~outer)) continue;
    for (uint32_t inner = outer;; inner = (inner - 1) & outer) {
      if (is_ideal(s, inner) && (pins & inner) && !(pins & outer & ~inner)) {
        int64_t price = price_of(w, inner, outer);
        if (price > most) most = price;
      }
      if (inner == 0) break;
    }
  }
  return most;
}

/* Whether pin i of the edge comes before all others, or after them. */
static bool is_end(const stages *s, int32_t e, bool first) {
  int32_t x = s->pin[s->pin_start[e]];
  for (int32_t i = s->pin_start[e] + 1; i < s->pin_start[e + 1]; i++)
    if (first ? !before(s, x, s->pin[i]) : !before(s, s->pin[i], x)) return false;
  return true;
}

/* Spans: exact for edges with two pins, never too small for others, unknown where no pin is an end. */
static void hold_spans(const boundary_ranges *w, int64_t tally[3]) {
  const stages *s = w->stages;
  for (int32_t e = 0; e < s->n_edges; e++) {
    int64_t most = max_between(w, e);
    if (!is_end(s, e, true) && !is_end(s, e, false)) {
      assert_true(w->span[e] == INT64_MAX);
      tally[2]++;
    } else if (s->pin_start[e + 1] - s->pin_start[e] == 2) {
      assert_int_equal(w->span[e], most);
      tally[0]++;
    } else {
      assert_true(w->span[e] >= most && w->span[e] <= w->total);
      tally[1]++;
    }
  }
}

TEST(spans_are_what_a_device_between_the_pins_can_hold) {
  int64_t tally[3] = {0};
  for (uint64_t seed = 1; seed <= 600; seed++) {
    rng r = rng_new(seed);
    OWN(lab)
    l = lab_random(&(lab_options){
        .seed = seed,
        .n_operators = 4 + (int32_t)(seed % 7),
        .n_devices = 2 + (int32_t)(seed % 3),
        .density = 0.15 + 0.05 * (double)(seed % 6),
        .training = seed % 3 == 0,
        .equal = true,
        .options = {.objective = SITU_OBJECTIVE_THROUGHPUT, .communication = SITU_COMMUNICATION_HOST_STAGED}});
    OWN(arena) *a = arena_new();
    stages s;
    boundary_ranges w, coarse;
    assert_true(stages_find(&s, l.problem, a) && s.n <= MAX_N && boundary_ranges_init(&w, &s, a));
    hold_spans(&w, tally);
    int64_t *loose = ARENA_ZERO(a, int64_t, s.n_edges + 1);
    for (int32_t e = 0; e < s.n_edges; e++)
      if (s.pin_start[e + 1] - s.pin_start[e] == 2 && is_end(&s, e, true) && rng_below(&r, 2))
        loose[e] = rng_below(&r, 30);
    assert_true(boundary_ranges_of(&coarse, &s, &w, w.price, w.in_price, w.out_price, loose, a));
    for (int32_t e = 0; e < s.n_edges; e++) coarse.total += loose[e];
    assert_true(
        boundary_ranges_of(&coarse, &s, &coarse, w.price, w.in_price, w.out_price, loose, a)); /* with that total */
    hold_spans(&coarse, tally);
  }
  assert_true(tally[0] > 1000 && tally[1] > 300 && tally[2] > 20);
}

TEST_MAIN
