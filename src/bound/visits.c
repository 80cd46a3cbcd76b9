/* Memory visits: a chain of operators goes from memory to memory, since none holds all of it, and pays a transfer
 * whenever it goes on; or it stays and lets operators beside it go, which takes time as well. docs/theory/visits.md
 *
 * Tried are paths that are long by several measures, and of each path those operators that little weight is beside:
 * what is between two of them then counts with both branches and not only with the longer. */
#include "base/checked.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "bound/visit_chain.h"

enum { N_PRICES = 14, N_MEASURES = 4, N_THINNED = 5, CHEAPEST = 4 };
/* Above this, uses of tensors times memories to the third power, nothing is tried. */
static const double MOST_STEPS = 4e8;

typedef struct chooser {
  visits v;
  int64_t unit_ns, room_bytes; /* the critical path, the least memory */
  int64_t price[N_PRICES];
  int32_t *path, *chain, *next, *before, *behind; /* [operator] */
  double *length;                                 /* [operator] */
  int64_t *beside;                                /* [place in the path] */
  int32_t *best;                                  /* [operator] the chain of the best bound */
  int32_t n_best;
  int64_t best_ns;
} chooser;

/* The least memory that may be too small for all weights and an operator's tensors; SITU_UNLIMITED_BYTES: none may. */
static int64_t least_room(const visits *v) {
  const situ_problem *p = v->problem;
  int64_t all = 0, most = 0, least = SITU_UNLIMITED_BYTES;
  for (int32_t i = 0; i < p->n_operators; i++) {
    all = sat_add(all, p->graph->weight_bytes[i]);
    most = max64(most, v->footprint_bytes[i]);
  }
  for (int32_t m = 0; m < v->n_memories; m++)
    if (p->platform->memory_bytes[m] < sat_add(all, most)) least = min64(least, p->platform->memory_bytes[m]);
  return least;
}

static int64_t critical_path(const visits *v) {
  int64_t longest = 0;
  for (int32_t i = 0; i < v->problem->n_operators; i++) {
    int64_t least = SITU_NEVER_NS;
    for (int32_t m = 0; m < v->n_memories; m++) {
      int64_t at = (int64_t)i * v->n_memories + m;
      least = min64(least, sat_add(v->head[at], v->tail[at]));
    }
    longest = max64(longest, least);
  }
  return longest;
}

/* Prices of a byte from next to nothing to many times what the critical path costs by byte of a memory. */
static void choose_prices(chooser *c) {
  static const double dearest = (double)((int64_t)1 << 40);
  double price = (double)c->unit_ns / (double)max64(c->room_bytes, 1) * (double)((int64_t)1 << VISIT_PRICE_BITS);
  price /= 1 << CHEAPEST;
  c->price[0] = 0;
  for (int32_t q = 1; q < N_PRICES; q++, price *= 2) c->price[q] = (int64_t)(price < dearest ? price : dearest);
}

static int64_t least_time(const visits *v, int32_t operator_) {
  int64_t least = SITU_NEVER_NS;
  for (int32_t m = 0; m < v->n_memories; m++) least = min64(least, v->time_ns[(int64_t)operator_ * v->n_memories + m]);
  return least;
}

static int64_t least_transfer(const situ_problem *p, int32_t t) {
  int64_t least = SITU_NEVER_NS;
  for (int32_t k = 1; k < p->n_kinds; k++) least = min64(least, p->transfer_ns[(int64_t)t * p->n_kinds + k]);
  return p->n_kinds > 1 ? least : 0;
}

/* The longest path, by time + by_weight of weights, a full memory counting like the critical path, + by_transfer of
 * what transfers take at least. Returns its length in operators. */
static int32_t find_path(chooser *c, double by_weight, double by_transfer) {
  const situ_problem *p = c->v.problem;
  const situ_graph *g = p->graph;
  double by_byte = by_weight * (double)c->unit_ns / (double)max64(c->room_bytes, 1);
  int32_t first = 0, n = 0;
  for (int32_t v = p->n_operators - 1; v >= 0; v--) {
    c->length[v] = 0;
    c->next[v] = -1;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        double way = c->length[g->use[i]] + by_transfer * (double)least_transfer(p, t);
        if (c->next[v] >= 0 && way <= c->length[v]) continue;
        c->length[v] = way;
        c->next[v] = g->use[i];
      }
    c->length[v] += (double)least_time(&c->v, v) + by_byte * (double)c->v.weight_bytes[v];
    if (c->length[v] >= c->length[first]) first = v;
  }
  for (int32_t v = first; v >= 0; v = c->next[v]) c->path[n++] = v;
  return n;
}

/* beside[k]: the weights of operators between the ends of the path that neither wait for path[k] nor it for them. */
static bool weigh_beside(chooser *c, int32_t n) {
  const situ_graph *g = c->v.problem->graph;
  if (!visits_span(c->before, c->behind, g, c->path, n, c->v.scratch)) return false;
  for (int32_t k = 0; k <= n; k++) c->beside[k] = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (c->before[v] < 0 || c->behind[v] == n || c->behind[v] <= c->before[v] + 1) continue;
    for (int32_t k = c->before[v] + 1; k < c->behind[v]; k++) c->beside[k] = sat_add(c->beside[k], g->weight_bytes[v]);
  }
  return true;
}

/* The operators of the path that at most `most` is beside, and its ends. */
static int32_t thin(chooser *c, int32_t n, int64_t most) {
  int32_t kept = 0;
  for (int32_t k = 0; k < n; k++)
    if (k == 0 || k == n - 1 || c->beside[k] <= most) c->chain[kept++] = c->path[k];
  return kept;
}

static bool try_path(chooser *c, int32_t n, budget *b) {
  int64_t most[N_THINNED] = {SITU_UNLIMITED_BYTES, c->room_bytes / 8, c->room_bytes / 20, c->room_bytes / 50, 0};
  if (!weigh_beside(c, n)) return false;
  for (int32_t i = 0, tried = 0; i < N_THINNED && !budget_over(b); i++) {
    int64_t lower;
    int32_t kept = thin(c, n, most[i]);
    if (kept == tried) continue; /* each is a part of the one before */
    tried = kept;
    if (!visits_bound(&lower, &c->v, c->chain, kept, c->price, N_PRICES, b)) return false;
    if (lower <= c->best_ns) continue;
    c->best_ns = lower;
    c->n_best = kept;
    for (int32_t k = 0; k < kept; k++) c->best[k] = c->chain[k];
  }
  return true;
}

static bool chooser_init(chooser *c, const situ_problem *p, arena *a) {
  int64_t n = p->n_operators;
  c->path = ARENA_NEW(a, int32_t, n);
  c->chain = ARENA_NEW(a, int32_t, n);
  c->next = ARENA_NEW(a, int32_t, n);
  c->before = ARENA_NEW(a, int32_t, n);
  c->behind = ARENA_NEW(a, int32_t, n);
  c->length = ARENA_NEW(a, double, n);
  c->beside = ARENA_NEW(a, int64_t, n + 1);
  c->best = ARENA_NEW(a, int32_t, n);
  return c->path && c->chain && c->next && c->before && c->behind && c->length && c->beside && c->best;
}

static bool certify(certificate *proof, const chooser *c, arena *a) {
  if (c->best_ns == 0) return true;
  certificate_start(proof, "visits", c->best_ns);
  int64_t *chain = certificate_add_operators(proof, "chain", c->n_best, a);
  int64_t *price = certificate_add(proof, "byte_prices", N_PRICES, a);
  if (!chain || !price) return false;
  for (int32_t k = 0; k < c->n_best; k++) chain[k] = c->best[k];
  for (int32_t q = 0; q < N_PRICES; q++) price[q] = c->price[q];
  return true;
}

static situ_status compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch, budget *b,
                           situ_error *error) {
  static const double by_weight[N_MEASURES] = {0, 0, 1, 10}, by_transfer[N_MEASURES] = {0, 1, 0, 1};
  double n_memories = p->n_memories;
  chooser c = {0};
  *lower_ns = 0;
  if ((double)p->graph->n_uses * n_memories * n_memories * n_memories > MOST_STEPS) return SITU_STATUS_OK;
  if (!visits_init(&c.v, p, scratch) || !chooser_init(&c, p, scratch)) return fail_no_memory(error);
  c.room_bytes = least_room(&c.v);
  c.unit_ns = critical_path(&c.v);
  if (c.room_bytes == SITU_UNLIMITED_BYTES || c.unit_ns == SITU_NEVER_NS) return SITU_STATUS_OK;
  choose_prices(&c);
  for (int32_t i = 0; i < N_MEASURES && !budget_over(b); i++) {
    int32_t n = find_path(&c, by_weight[i], by_transfer[i]);
    if (!try_path(&c, n, b)) return fail_no_memory(error);
  }
  *lower_ns = c.best_ns;
  return certify(proof, &c, scratch) ? SITU_STATUS_OK : fail_no_memory(error);
}

const bound memory_visits_bound = {
    .name = "visits",
    .title = "a chain whose visits to memories keep no more than fits",
    .source = "",
    .stream = true,
    .compute = compute,
};
