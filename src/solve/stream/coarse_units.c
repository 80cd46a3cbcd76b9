#include "solve/stream/coarse_units.h"

#include "base/checked.h"
#include "base/disjoint.h"

enum { MAX_USERS = 64 }; /* tensors with more users tie nothing together */
enum { FEWEST = 32, FACTOR = 4, PER_DEVICE = 16, SLACK = 2, MAX_PASSES = 64 };

typedef struct clustering {
  const situ_problem *p;
  const unit_list *fine;
  const rank_costs *costs;
  const coarse_rules *rules;
  int32_t *into;   /* [unit] the unit it joined, or itself */
  double *work_ns; /* [unit] of the cluster that it represents */
  int64_t *bytes;  /* likewise */
  bool *pinned;    /* [unit] */
  double *rating;  /* [unit] of the clusters near the current unit; 0 elsewhere */
  int32_t *near, n_near;
} clustering;

static void rate(clustering *c, int32_t u, int32_t v, double transfer_ns) {
  int32_t w = disjoint_root(c->into, c->fine->of[v]);
  if (w == u) return;
  if (c->rating[w] == 0) c->near[c->n_near++] = w;
  c->rating[w] += 1e-9 + transfer_ns;
}

/* Rates the clusters near unit u by the cost of the tensors between them. */
static void rate_near(clustering *c, int32_t u) {
  const situ_graph *g = c->p->graph;
  unit_members m = unit_list_members(c->fine, u);
  c->n_near = 0;
  for (int32_t k = 0; k < m.n; k++) {
    int32_t v = m.member[k];
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      rate(c, u, g->producer[g->in[i]], c->costs->transfer[g->in[i]]);
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) {
      if (g->use_start[t + 1] - g->use_start[t] > MAX_USERS) continue;
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) rate(c, u, g->use[i], c->costs->transfer[t]);
    }
  }
}

/* Whether the same classes can run both clusters; a first member of each suffices to tell. */
static bool run_on_same_classes(const clustering *c, int32_t u, int32_t w) {
  const situ_problem *p = c->p;
  int64_t one = (int64_t)unit_list_members(c->fine, u).member[0] * p->n_classes;
  int64_t other = (int64_t)unit_list_members(c->fine, w).member[0] * p->n_classes;
  for (int32_t k = 0; k < p->n_classes; k++)
    if ((p->time_ns[one + k] == SITU_NEVER_NS) != (p->time_ns[other + k] == SITU_NEVER_NS)) return false;
  return true;
}

/* The near cluster with the best rating for its work; -1 for none. */
static int32_t choose(clustering *c, int32_t u, double mean_ns) {
  int32_t best = -1;
  double most = 0;
  for (int32_t k = 0; k < c->n_near; k++) {
    int32_t w = c->near[k];
    double both_ns = c->work_ns[u] + c->work_ns[w], rating = c->rating[w] / (both_ns + 0.1 * mean_ns + 1);
    c->rating[w] = 0;
    if (c->pinned[w] || both_ns > c->rules->max_work_ns || sat_add(c->bytes[u], c->bytes[w]) > c->rules->max_bytes ||
        rating <= most || !run_on_same_classes(c, u, w))
      continue;
    most = rating;
    best = w;
  }
  return best;
}

/* Sums up unit u. If its members run on different classes, it counts as pinned. */
static void sum_unit(clustering *c, int32_t u) {
  const situ_problem *p = c->p;
  const situ_graph *g = p->graph;
  unit_members m = unit_list_members(c->fine, u);
  const int64_t *first = p->time_ns + (int64_t)m.member[0] * p->n_classes;
  for (int32_t k = 0; k < m.n; k++) {
    int32_t v = m.member[k];
    c->work_ns[u] += c->costs->work[v];
    c->bytes[u] = sat_add(c->bytes[u], g->weight_bytes[v]);
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      c->bytes[u] = sat_add(c->bytes[u], g->size_bytes[t]);
    c->pinned[u] |= p->pin[v] >= 0;
    for (int32_t q = 0; q < p->n_classes; q++)
      c->pinned[u] |= (p->time_ns[(int64_t)v * p->n_classes + q] == SITU_NEVER_NS) != (first[q] == SITU_NEVER_NS);
  }
}

bool coarse_units_find(unit_list *out, const situ_problem *p, const unit_list *fine, const rank_costs *costs,
                       const coarse_rules *rules, arena *a) {
  clustering c = {.p = p, .fine = fine, .costs = costs, .rules = rules};
  int32_t n = fine->n, *key;
  double mean_ns = 0;
  if (!ARENA_ARRAYS(a, ARRAY(key, p->n_operators), ARRAY(c.into, n), ZEROS(c.work_ns, n), ZEROS(c.bytes, n),
                    ZEROS(c.pinned, n), ZEROS(c.rating, n), ARRAY(c.near, n)))
    return false;
  disjoint_init(c.into, n);
  for (int32_t u = 0; u < n; u++) {
    sum_unit(&c, u);
    mean_ns += c.work_ns[u] / n;
  }
  for (int32_t u = 0; u < n; u++) {
    if (c.into[u] != u || c.pinned[u]) continue;
    rate_near(&c, u);
    int32_t w = choose(&c, u, mean_ns);
    if (w < 0) continue;
    c.into[u] = w;
    c.work_ns[w] += c.work_ns[u];
    c.bytes[w] = sat_add(c.bytes[w], c.bytes[u]);
  }
  for (int32_t v = 0; v < p->n_operators; v++) key[v] = disjoint_root(c.into, fine->of[v]);
  return unit_list_find(out, key, p->n_operators, n, a);
}

/* The smallest memory with a limit. */
static int64_t min_room(const situ_problem *p) {
  int64_t room = SITU_UNLIMITED_BYTES;
  for (int32_t m = 0; m < p->n_memories; m++) room = min64(room, p->platform->memory_bytes[m]);
  return room;
}

bool coarse_levels_find(coarse_levels *out, const situ_problem *p, const rank_costs *costs, arena *a) {
  double work_ns = 0;
  unit_list now = p->units;
  int32_t wanted = FEWEST;
  out->n = 0;
  for (int32_t v = 0; v < p->n_operators; v++) work_ns += costs->work[v];
  for (int32_t k = 1; k < COARSE_LEVELS; k++) wanted *= FACTOR;
  for (int32_t passes = 0; wanted >= FEWEST && passes < MAX_PASSES; passes++) {
    if (now.n <= wanted * SLACK) {
      if (now.n < p->units.n && out->n < COARSE_LEVELS) out->of[out->n++] = now;
      wanted /= FACTOR;
      continue;
    }
    coarse_rules rules = {.max_work_ns = work_ns / wanted, .max_bytes = min_room(p) / PER_DEVICE};
    unit_list next;
    if (!coarse_units_find(&next, p, &now, costs, &rules, a)) return false;
    if (next.n > now.n / 20 * 19) wanted /= FACTOR; /* these limits allow few joins */
    now = next;
  }
  return true;
}

void coarse_units_gather(int32_t *device, const situ_problem *p, const unit_list *units, const rank_costs *costs,
                         double *scratch) {
  for (int32_t u = 0; u < units->n; u++) {
    unit_members m = unit_list_members(units, u);
    int32_t best = device[m.member[0]];
    for (int32_t d = 0; d < p->n_devices; d++) scratch[d] = 0;
    for (int32_t k = 0; k < m.n; k++) scratch[device[m.member[k]]] += costs->work[m.member[k]];
    for (int32_t d = 0; d < p->n_devices; d++)
      if (scratch[d] > scratch[best] && problem_allows_all(p, m, d)) best = d;
    for (int32_t k = 0; k < m.n; k++) device[m.member[k]] = best;
  }
}
