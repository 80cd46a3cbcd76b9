#include "solve/pipeline/coarsen.h"

#include "base/contracts.h"
#include "base/disjoint.h"
#include "view/first_choice.h"

enum { MAX_PINS = 64 }; /* larger hyperedges are ignored */

typedef struct clustering {
  const hypergraph *h;
  first_choice choice;
  bool *allowed; /* [unit * n_rows + row] whether its whole cluster may run there */
} clustering;

/* The row with the most devices that pay for tensors; 0 where none does. */
static int32_t common_row(const hypergraph *h) {
  int32_t best = 0, max = 0;
  for (int32_t row = 0; row < h->n_rows; row++) {
    bool pays = false;
    for (int32_t e = 0; e < h->n_edges && !pays; e++) {
      const crossing *price = &h->price[(int64_t)row * h->n_edges + e];
      pays = price->in_ns > 0 || price->out_ns > 0;
    }
    if (!pays || h->equal.types[row].n_devices <= max) continue;
    max = h->equal.types[row].n_devices;
    best = row;
  }
  return best;
}

/* Rates the clusters near unit u: the cost of the tensors between them, each divided by its other pins. */
static void rate_near(clustering *c, const int32_t *label, int32_t row, int32_t u) {
  const hypergraph *h = c->h;
  for (int32_t i = h->touch_start[u]; i < h->touch_start[u + 1]; i++) {
    int32_t e = h->touch[i].edge, n_pins = h->pin_start[e + 1] - h->pin_start[e];
    if (n_pins > MAX_PINS) continue;
    const crossing *price = &h->price[(int64_t)row * h->n_edges + e];
    for (int32_t k = h->pin_start[e]; k < h->pin_start[e + 1]; k++) {
      int32_t w = disjoint_root(c->choice.into, h->pin[k]);
      if (w == u || (label && label[w] != label[u])) continue;
      first_choice_rate(&c->choice, w, (double)(price->in_ns + price->out_ns) / (n_pins - 1));
    }
  }
}

/* Whether some device may hold both clusters. */
static bool may_share(const void *context, int32_t u, int32_t w) {
  const clustering *c = context;
  int32_t n_rows = c->h->n_rows;
  const bool *one = c->allowed + (int64_t)u * n_rows, *other = c->allowed + (int64_t)w * n_rows;
  for (int32_t row = 0; row < n_rows; row++)
    if (one[row] && other[row]) return true;
  return false;
}

static void join(clustering *c, int32_t u, int32_t w) {
  int32_t n_rows = c->h->n_rows;
  first_choice_join(&c->choice, u, w);
  for (int32_t row = 0; row < n_rows; row++)
    c->allowed[(int64_t)w * n_rows + row] &= c->allowed[(int64_t)u * n_rows + row];
}

static bool coarsen_init(clustering *c, const hypergraph *h, int32_t row, arena *a) {
  int32_t n = h->n_units;
  *c = (clustering){.h = h};
  if (!first_choice_init(&c->choice, n, a) || !ARENA_ARRAYS(a, ARRAY(c->allowed, (int64_t)n * h->n_rows))) return false;
  for (int32_t u = 0; u < n; u++) {
    int64_t time_ns = h->time_ns[(int64_t)row * n + u];
    c->choice.work_ns[u] = time_ns == SITU_NEVER_NS ? 0 : (double)time_ns;
    for (int32_t k = 0; k < h->n_rows; k++)
      c->allowed[(int64_t)u * h->n_rows + k] = h->time_ns[(int64_t)k * n + u] != SITU_NEVER_NS;
  }
  first_choice_begin(&c->choice, n);
  return true;
}

int32_t coarsen_units(int32_t *into, const hypergraph *h, const coarsen_rules *rules, rng *random, arena *a) {
  REQUIRE(rules->n_wanted >= 0 && rules->max_time_ns >= 0);
  clustering c;
  int32_t n = h->n_units, row = common_row(h), left = n, n_clusters = 0;
  int32_t *order = ARENA_NEW(a, int32_t, n);
  if (!order || !coarsen_init(&c, h, row, a)) return -1;
  for (int32_t i = 0; i < n; i++) {
    int32_t k = (int32_t)rng_below(random, i + 1);
    order[i] = order[k];
    order[k] = i;
  }
  for (int32_t i = 0; i < n && left > rules->n_wanted; i++) {
    int32_t u = order[i];
    if (c.choice.into[u] != u) continue;
    rate_near(&c, rules->label, row, u);
    int32_t w = first_choice_best(&c.choice, u, rules->max_time_ns, random, may_share, &c);
    if (w < 0) continue;
    join(&c, u, w);
    left--;
  }
  for (int32_t u = 0; u < n; u++) into[u] = disjoint_root(c.choice.into, u);
  for (int32_t u = 0; u < n; u++) order[u] = into[u] == u ? n_clusters++ : -1;
  for (int32_t u = 0; u < n; u++) into[u] = order[into[u]];
  ENSURE(contracts_within(into, n, 0, n_clusters));
  return n_clusters;
}
