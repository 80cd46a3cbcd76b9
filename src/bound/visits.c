/* Memory visits: a chain of operators moves from memory to memory, since none holds all of it, and pays for a transfer
 * at each move. Or it stays and operators beside it move away, which takes time as well. docs/theory/bounds/visits.md
 *
 * The paths tried are long by several measures. Of each path, those operators are taken that have little weight beside
 * them. What lies between two of them then counts with all branches, not only the longest. */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "chain/visit_chain.h"

enum { N_PRICES = 14, N_MEASURES = 4, N_THINNED = 5, CHEAPEST = 4 };
/* Beyond this many uses of tensors times memories cubed, nothing is tried. */
static const double MAX_STEPS = 4e8;

/* A path beside the chain from one place to another, and its minimum time when the memory changes. */
typedef struct bypass {
  int32_t from, to;
  int64_t transfer_ns;
} bypass;

typedef struct chooser {
  visits v;
  int64_t unit_ns, room_bytes; /* the critical path, the minimum memory */
  int64_t price[N_PRICES];
  int32_t *path, *chain, *next, *before, *behind; /* [operator] */
  int32_t *tried, n_tried;                        /* the previous path, which may recur */
  double *length;                                 /* [operator] */
  int64_t *beside;                                /* [place in the path] */
  int32_t *from, *to;                             /* [bypass] places in the chain */
  bypass *bypasses;                               /* [use of a tensor] */
  int64_t *saved;                                 /* [place in the chain] by the bypasses that end up to it */
  int32_t *taken;                                 /* [place in the chain] the last of these; -1: none ends there */
  int32_t *best, *best_from, *best_to;            /* the chain of the best bound */
  int32_t n_best, n_best_bypasses;
  int64_t best_ns;
} chooser;

/* The smallest memory that may be too small for all weights and an operator's tensors. SITU_UNLIMITED_BYTES: none. */
static int64_t min_room(const visits *v) {
  const situ_problem *p = v->problem;
  int64_t all = 0, max = 0, min = SITU_UNLIMITED_BYTES;
  for (int32_t i = 0; i < p->n_operators; i++) {
    all = sat_add(all, p->graph->weight_bytes[i]);
    max = max64(max, v->footprint_bytes[i]);
  }
  for (int32_t m = 0; m < v->n_memories; m++)
    if (p->platform->memory_bytes[m] < sat_add(all, max)) min = min64(min, p->platform->memory_bytes[m]);
  return min;
}

static int64_t critical_path(const visits *v) {
  int64_t longest = 0;
  for (int32_t i = 0; i < v->problem->n_operators; i++) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t m = 0; m < v->n_memories; m++) {
      int64_t at = (int64_t)i * v->n_memories + m;
      min = min64(min, sat_add(v->head[at], v->tail[at]));
    }
    longest = max64(longest, min);
  }
  return longest;
}

/* Prices of a byte, from almost 0 to many times the critical path divided by the bytes of a memory. */
static void choose_prices(chooser *c) {
  static const double dearest = (double)((int64_t)1 << 40);
  double price = (double)c->unit_ns / (double)max64(c->room_bytes, 1) * (double)((int64_t)1 << VISIT_PRICE_BITS);
  price /= 1 << CHEAPEST;
  c->price[0] = 0;
  for (int32_t q = 1; q < N_PRICES; q++, price *= 2) c->price[q] = (int64_t)(price < dearest ? price : dearest);
}

static int64_t min_time(const visits *v, int32_t operator_) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t m = 0; m < v->n_memories; m++) min = min64(min, v->time_ns[(int64_t)operator_ * v->n_memories + m]);
  return min;
}

static int64_t min_transfer(const situ_problem *p, int32_t t) { return p->costs->row_min_ns[costs_row(p->costs, t)]; }

/* The longest path by time + by_weight * weights + by_transfer * minimum transfer times, where a full memory weighs as
 * much as the critical path. Returns its number of operators. */
static int32_t find_path(chooser *c, double by_weight, double by_transfer) {
  const situ_problem *p = c->v.problem;
  const situ_graph *g = p->graph;
  double by_byte = by_weight * (double)c->unit_ns / (double)max64(c->room_bytes, 1);
  int32_t first = p->n_operators - 1, n = 0;
  for (int32_t v = p->n_operators - 1; v >= 0; v--) {
    c->length[v] = 0;
    c->next[v] = -1;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        double longer = c->length[g->use[i]] + by_transfer * (double)min_transfer(p, t);
        if (longer <= c->length[v]) continue;
        c->length[v] = longer;
        c->next[v] = g->use[i];
      }
    c->length[v] += (double)min_time(&c->v, v) + by_byte * (double)c->v.weight_bytes[v];
    if (c->length[v] >= c->length[first]) first = v;
  }
  for (int32_t v = first; v >= 0; v = c->next[v]) c->path[n++] = v;
  return n;
}

/* beside[k]: weights of operators between the ends of the path that neither precede nor follow path[k]. Each is beside
 * a run of places: it is added at the first and subtracted after the last. */
static bool weigh_beside(chooser *c, int32_t n) {
  const situ_graph *g = c->v.problem->graph;
  int64_t heaviest = INT64_MAX / (g->n_operators + 1);
  if (!visits_span(c->before, c->behind, g, c->path, n, c->v.scratch)) return false;
  for (int32_t k = 0; k <= n; k++) c->beside[k] = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (c->before[v] < 0 || c->behind[v] == n || c->behind[v] <= c->before[v] + 1) continue;
    int64_t weight = min64(g->weight_bytes[v], heaviest);
    c->beside[c->before[v] + 1] += weight;
    c->beside[c->behind[v]] -= weight;
  }
  for (int32_t k = 1; k <= n; k++) c->beside[k] += c->beside[k - 1];
  return true;
}

/* Keeps the operators of the path with at most `most` beside them, and its ends. */
static int32_t thin(chooser *c, int32_t n, int64_t max) {
  int32_t kept = 0;
  for (int32_t k = 0; k < n; k++)
    if (k == 0 || k == n - 1 || c->beside[k] <= max) c->chain[kept++] = c->path[k];
  return kept;
}

COMPARATOR(by_end, bypass, UP(to) UP(from))

/* Lists the paths beside the chain from one place to another at least two further on, sorted by their end. */
static int32_t list_bypasses(chooser *c, int32_t n) {
  const situ_problem *p = c->v.problem;
  const situ_graph *g = p->graph;
  int32_t found = 0;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t u = g->producer[t], from = c->before[u];
    bool of_chain = from >= 0 && c->behind[u] == from;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1] && from >= 0; i++) {
      int32_t x = g->use[i], to = c->behind[x];
      bool in_part = (of_chain || c->behind[u] == to) && (c->before[x] == to || c->before[x] == from);
      if (!in_part || to == n || to < from + 2) continue;
      c->bypasses[found++] = (bypass){from, to, min_transfer(p, t)};
    }
  }
  qsort(c->bypasses, (size_t)found, sizeof *c->bypasses, by_end);
  return found;
}

/* Chooses bypasses that do not overlap and together transfer the most. */
static bool choose_bypasses(chooser *c, visit_chain *chain) {
  int32_t at = 0, n = 0;
  if (!visits_span(c->before, c->behind, c->v.problem->graph, chain->chain, chain->n, c->v.scratch)) return false;
  int32_t found = list_bypasses(c, chain->n);
  for (int32_t k = 0; k < chain->n; k++) {
    c->saved[k] = k > 0 ? c->saved[k - 1] : 0;
    c->taken[k] = -1;
    for (; at < found && c->bypasses[at].to == k; at++) {
      int64_t sum = sat_add(c->saved[c->bypasses[at].from], c->bypasses[at].transfer_ns);
      if (sum <= c->saved[k]) continue;
      c->saved[k] = sum;
      c->taken[k] = at;
    }
  }
  for (int32_t k = chain->n - 1; k > 0;) { /* backward, so the last come first */
    if (c->taken[k] < 0) {
      k--;
      continue;
    }
    c->from[n] = c->bypasses[c->taken[k]].from;
    c->to[n++] = k;
    k = c->from[n - 1];
  }
  for (int32_t i = 0; i < n / 2; i++) {
    int32_t from = c->from[i], to = c->to[i];
    c->from[i] = c->from[n - 1 - i];
    c->to[i] = c->to[n - 1 - i];
    c->from[n - 1 - i] = from;
    c->to[n - 1 - i] = to;
  }
  chain->from = c->from;
  chain->to = c->to;
  chain->n_bypasses = n;
  return true;
}

static bool try_chain(chooser *c, int32_t n, budget *b) {
  visit_chain chain = {.chain = c->chain, .n = n, .price = c->price, .n_prices = N_PRICES};
  int64_t lower;
  if (!choose_bypasses(c, &chain) || !visits_bound(&lower, &c->v, &chain, b)) return false;
  if (lower <= c->best_ns) return true;
  c->best_ns = lower;
  c->n_best = n;
  c->n_best_bypasses = chain.n_bypasses;
  for (int32_t k = 0; k < n; k++) c->best[k] = c->chain[k];
  for (int32_t r = 0; r < chain.n_bypasses; r++) {
    c->best_from[r] = c->from[r];
    c->best_to[r] = c->to[r];
  }
  return true;
}

static bool try_path(chooser *c, int32_t n, budget *b) {
  if (n == c->n_tried && memcmp(c->path, c->tried, (size_t)n * sizeof *c->path) == 0) return true;
  memcpy(c->tried, c->path, (size_t)n * sizeof *c->path);
  c->n_tried = n;
  int64_t max[N_THINNED] = {SITU_UNLIMITED_BYTES, c->room_bytes / 8, c->room_bytes / 20, c->room_bytes / 50, 0};
  if (!weigh_beside(c, n)) return false;
  for (int32_t i = 0, tried = 0; i < N_THINNED && !budget_over(b); i++) {
    int32_t kept = thin(c, n, max[i]);
    if (kept == tried) continue; /* each chain is contained in the one before */
    tried = kept;
    if (!try_chain(c, kept, b)) return false;
  }
  return true;
}

static bool chooser_init(chooser *c, const situ_problem *p, arena *a) {
  int64_t n = p->n_operators;
  return ARENA_ARRAYS(a, ARRAY(c->path, n), ARRAY(c->chain, n), ARRAY(c->tried, n), ARRAY(c->next, n),
                      ARRAY(c->before, n), ARRAY(c->behind, n), ARRAY(c->length, n), ARRAY(c->beside, n + 1),
                      ARRAY(c->from, n), ARRAY(c->to, n), ARRAY(c->bypasses, p->graph->n_uses), ARRAY(c->saved, n),
                      ARRAY(c->taken, n), ARRAY(c->best, n), ARRAY(c->best_from, n), ARRAY(c->best_to, n));
}

static bool memory_visits_certify(certificate *proof, const chooser *c, arena *a) {
  if (c->best_ns == 0) return true;
  certificate_start(proof, "visits", c->best_ns);
  int64_t *chain = certificate_add_operators(proof, "chain", c->n_best, a);
  int64_t *from = certificate_add(proof, "from", c->n_best_bypasses, a);
  int64_t *to = certificate_add(proof, "to", c->n_best_bypasses, a);
  int64_t *price = certificate_add(proof, "byte_prices", N_PRICES, a);
  if (!chain || !from || !to || !price) return false;
  for (int32_t k = 0; k < c->n_best; k++) chain[k] = c->best[k];
  for (int32_t r = 0; r < c->n_best_bypasses; r++) {
    from[r] = c->best_from[r];
    to[r] = c->best_to[r];
  }
  for (int32_t q = 0; q < N_PRICES; q++) price[q] = c->price[q];
  return true;
}

static situ_status memory_visits_compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch,
                                         budget *b, situ_error *error) {
  static const double by_weight[N_MEASURES] = {0, 0, 1, 10}, by_transfer[N_MEASURES] = {0, 1, 0, 1};
  double n_memories = p->n_memories;
  chooser c = {0};
  *lower_ns = 0;
  if ((double)p->graph->n_uses * n_memories * n_memories * n_memories > MAX_STEPS) return SITU_STATUS_OK;
  if (!visits_init(&c.v, p, scratch) || !chooser_init(&c, p, scratch)) return fail_no_memory(error);
  c.room_bytes = min_room(&c.v);
  c.unit_ns = critical_path(&c.v);
  if (c.room_bytes == SITU_UNLIMITED_BYTES || c.unit_ns == SITU_NEVER_NS) return SITU_STATUS_OK;
  choose_prices(&c);
  for (int32_t i = 0; i < N_MEASURES && !budget_over(b); i++) {
    int32_t n = find_path(&c, by_weight[i], by_transfer[i]);
    if (!try_path(&c, n, b)) return fail_no_memory(error);
  }
  *lower_ns = c.best_ns;
  return memory_visits_certify(proof, &c, scratch) ? SITU_STATUS_OK : fail_no_memory(error);
}

const bound memory_visits_bound = {
    .name = "visits",
    .title = "a chain that must change memories, because none holds all of it",
    .source = "",
    .models = MODEL_STREAM,
    .compute = memory_visits_compute,
};
