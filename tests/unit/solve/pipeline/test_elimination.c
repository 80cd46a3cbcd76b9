/* The least of a sum of small functions, and of its solutions with one value given, against counting all. */
#include "../../../lab/test.h"
#include "base/checked.h"
#include "base/rng.h"
#include "solve/pipeline/elimination.h"

enum { MAX_VARIABLES = 7, MAX_VALUES = 4, MAX_FACTORS = 16 };

typedef struct question {
  int32_t n, n_factors, size[MAX_VARIABLES];
  factor factors[MAX_FACTORS];
  int64_t values[MAX_FACTORS][MAX_VALUES * MAX_VALUES];
} question;

static void draw(question *q, rng *r) {
  q->n = (int32_t)(1 + rng_below(r, MAX_VARIABLES));
  q->n_factors = (int32_t)rng_below(r, MAX_FACTORS + 1);
  for (int32_t v = 0; v < q->n; v++) q->size[v] = (int32_t)(1 + rng_below(r, MAX_VALUES));
  for (int32_t i = 0; i < q->n_factors; i++) {
    int32_t u = (int32_t)rng_below(r, q->n), v = (int32_t)rng_below(r, q->n);
    q->factors[i] = (factor){.variable = {u, u == v ? -1 : v}, .value = q->values[i]};
    for (int32_t k = 0; k < MAX_VALUES * MAX_VALUES; k++)
      q->values[i][k] = rng_below(r, 6) == 0 ? ELIMINATION_NEVER : rng_below(r, 30);
  }
}

static int64_t sum_at(const question *q, const int32_t *value) {
  int64_t sum = 0;
  for (int32_t i = 0; i < q->n_factors; i++) {
    const factor *f = &q->factors[i];
    int32_t at = value[f->variable[0]];
    if (f->variable[1] >= 0) at = at * q->size[f->variable[1]] + value[f->variable[1]];
    sum = min64(sum + f->value[at], ELIMINATION_NEVER);
  }
  return sum;
}

/* least[v * MAX_VALUES + a] by counting; returns the least of all. */
static int64_t count(const question *q, int64_t *least) {
  int32_t value[MAX_VARIABLES] = {0};
  int64_t best = ELIMINATION_NEVER;
  for (int32_t i = 0; i < MAX_VARIABLES * MAX_VALUES; i++) least[i] = ELIMINATION_NEVER;
  while (true) {
    int64_t sum = sum_at(q, value);
    best = min64(best, sum);
    for (int32_t v = 0; v < q->n; v++) {
      int64_t *at = &least[v * MAX_VALUES + value[v]];
      *at = min64(*at, sum);
    }
    int32_t v = 0;
    while (v < q->n && ++value[v] == q->size[v]) value[v++] = 0;
    if (v == q->n) return best;
  }
}

TEST(the_least_sum_and_that_of_each_value_are_those_of_counting) {
  rng r = rng_new(1);
  int32_t n_never = 0;
  for (int32_t round = 0; round < 4000; round++) {
    question q;
    elimination e;
    int32_t value[MAX_VARIABLES];
    int64_t counted[MAX_VARIABLES * MAX_VALUES], found[MAX_VARIABLES * MAX_VALUES], start[MAX_VARIABLES];
    OWN(arena) *a = arena_new();
    draw(&q, &r);
    for (int32_t v = 0; v < q.n; v++) start[v] = v * MAX_VALUES;
    int64_t best = count(&q, counted);
    assert_int_equal(elimination_init(&e, q.n, q.size, q.n_factors, q.factors, 1 << 20, a), ELIMINATION_READY);
    assert_int_equal(elimination_minimise(&e, value), best);
    n_never += best == ELIMINATION_NEVER;
    if (best < ELIMINATION_NEVER) {
      assert_int_equal(sum_at(&q, value), best);
      elimination_marginals(&e, start, found);
      for (int32_t v = 0; v < q.n; v++)
        for (int32_t k = 0; k < q.size[v]; k++)
          assert_int_equal(found[v * MAX_VALUES + k], counted[v * MAX_VALUES + k]);
      assert_int_equal(elimination_minimise(&e, value), best); /* the tables are filled afresh */
    }
  }
  assert_true(n_never > 100 && n_never < 2000);
}

/* Five variables of three values, each beside each other: the first table takes 3^5 entries. */
TEST(tables_beyond_the_limit_are_not_made) {
  enum { N = 5, SIZE = 3, ALL = 243 + 81 + 27 + 9 + 3 };
  int64_t zero[SIZE * SIZE] = {0};
  int32_t size[N] = {SIZE, SIZE, SIZE, SIZE, SIZE}, n = 0;
  factor factors[N * N];
  elimination e;
  for (int32_t u = 0; u < N; u++)
    for (int32_t v = u + 1; v < N; v++) factors[n++] = (factor){.variable = {u, v}, .value = zero};
  OWN(arena) *a = arena_new();
  assert_int_equal(elimination_init(&e, N, size, n, factors, ALL - 1, a), ELIMINATION_TOO_WIDE);
  assert_int_equal(elimination_init(&e, N, size, n, factors, ALL, a), ELIMINATION_READY);
  assert_int_equal(e.n_entries, ALL);
}

TEST_MAIN
