#include "solve/pipeline/coarsen.h"

#include "base/disjoint.h"

#include "base/contracts.h"

enum { MAX_PINS = 64 }; /* larger hyperedges are ignored */

typedef struct clustering {
  const hypergraph *h;
  int32_t *into;   /* [unit] the unit it joined, or itself */
  double *time_ns; /* [unit] of the cluster that it represents */
  bool *allowed;   /* [unit * n_rows + row] whether its whole cluster may run there */
  double *rating;  /* [unit] of the clusters that share a tensor with the current unit; else 0 */
  int32_t *near, n_near;
  double mean_ns;
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
  c->n_near = 0;
  for (int32_t i = h->touch_start[u]; i < h->touch_start[u + 1]; i++) {
    int32_t e = h->touch[i].edge, n_pins = h->pin_start[e + 1] - h->pin_start[e];
    if (n_pins > MAX_PINS) continue;
    const crossing *price = &h->price[(int64_t)row * h->n_edges + e];
    for (int32_t k = h->pin_start[e]; k < h->pin_start[e + 1]; k++) {
      int32_t w = disjoint_root(c->into, h->pin[k]);
      if (w == u || (label && label[w] != label[u])) continue;
      if (c->rating[w] == 0) c->near[c->n_near++] = w;
      c->rating[w] += 1e-9 + (double)(price->in_ns + price->out_ns) / (n_pins - 1);
    }
  }
}

/* Whether some device may hold both clusters. */
static bool may_share(const clustering *c, int32_t u, int32_t w) {
  int32_t n_rows = c->h->n_rows;
  const bool *one = c->allowed + (int64_t)u * n_rows, *other = c->allowed + (int64_t)w * n_rows;
  for (int32_t row = 0; row < n_rows; row++)
    if (one[row] && other[row]) return true;
  return false;
}

static void join(clustering *c, int32_t u, int32_t w) {
  int32_t n_rows = c->h->n_rows;
  c->into[u] = w;
  c->time_ns[w] += c->time_ns[u];
  for (int32_t row = 0; row < n_rows; row++)
    c->allowed[(int64_t)w * n_rows + row] &= c->allowed[(int64_t)u * n_rows + row];
}

/* The near cluster with the best rating for its size, randomised; -1 for none. */
static int32_t choose(clustering *c, double max_ns, int32_t u, rng *random) {
  int32_t best = -1;
  double max = 0;
  for (int32_t k = 0; k < c->n_near; k++) {
    int32_t w = c->near[k];
    double both_ns = c->time_ns[u] + c->time_ns[w];
    double rating = c->rating[w] / (both_ns + 0.1 * c->mean_ns + 1) * (1 + rng_unit(random));
    c->rating[w] = 0;
    if (both_ns > max_ns || rating <= max || !may_share(c, u, w)) continue;
    max = rating;
    best = w;
  }
  return best;
}

static bool coarsen_init(clustering *c, const hypergraph *h, int32_t *into, int32_t row, arena *a) {
  int32_t n = h->n_units;
  *c = (clustering){.h = h, .into = into};
  if (!ARENA_ARRAYS(a, ARRAY(c->time_ns, n), ARRAY(c->allowed, (int64_t)n * h->n_rows), ZEROS(c->rating, n),
                    ARRAY(c->near, n)))
    return false;
  for (int32_t u = 0; u < n; u++) {
    int64_t time_ns = h->time_ns[(int64_t)row * n + u];
    c->time_ns[u] = time_ns == SITU_NEVER_NS ? 0 : (double)time_ns;
    c->mean_ns += c->time_ns[u] / n;
    for (int32_t k = 0; k < h->n_rows; k++)
      c->allowed[(int64_t)u * h->n_rows + k] = h->time_ns[(int64_t)k * n + u] != SITU_NEVER_NS;
  }
  disjoint_init(into, n);
  return true;
}

int32_t coarsen_units(int32_t *into, const hypergraph *h, const coarsen_rules *rules, rng *random, arena *a) {
  REQUIRE(rules->n_wanted >= 0 && rules->max_time_ns >= 0);
  clustering c;
  int32_t n = h->n_units, row = common_row(h), left = n, n_clusters = 0;
  int32_t *order = ARENA_NEW(a, int32_t, n);
  if (!order || !coarsen_init(&c, h, into, row, a)) return -1;
  for (int32_t i = 0; i < n; i++) {
    int32_t k = (int32_t)rng_below(random, i + 1);
    order[i] = order[k];
    order[k] = i;
  }
  for (int32_t i = 0; i < n && left > rules->n_wanted; i++) {
    int32_t u = order[i];
    if (into[u] != u) continue;
    rate_near(&c, rules->label, row, u);
    int32_t w = choose(&c, rules->max_time_ns, u, random);
    if (w < 0) continue;
    join(&c, u, w);
    left--;
  }
  for (int32_t u = 0; u < n; u++) into[u] = disjoint_root(into, u);
  for (int32_t u = 0; u < n; u++) order[u] = into[u] == u ? n_clusters++ : -1;
  for (int32_t u = 0; u < n; u++) into[u] = order[into[u]];
  ENSURE(contracts_within(into, n, 0, n_clusters));
  return n_clusters;
}
