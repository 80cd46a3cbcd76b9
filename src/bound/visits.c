/* Memory visits: a chain of operators moves from memory to memory, since none holds all of it, and pays for a transfer
 * at each move. Or it stays and operators beside it move away, which takes time as well. docs/theory/bounds/visits.md
 *
 * The paths tried are long by several measures. Of each path, those operators are taken that have little weight beside
 * them. What lies between two of them then counts with all branches, not only the longest. */
#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "bound/long_paths.h"

enum { N_PRICES = 14, N_THINNED = 5, CHEAPEST = 4 };

/* A path beside the chain from one place to another, and its minimum time when the memory changes. */
typedef struct bypass {
  int32_t from, to;
  int64_t transfer_ns;
} bypass;

typedef struct chooser {
  long_paths paths;
  int64_t price[N_PRICES];
  int32_t *chain, *before, *behind;    /* [operator] */
  int64_t *beside;                     /* [place in the path] */
  int32_t *from, *to;                  /* [bypass] places in the chain */
  bypass *bypasses;                    /* [use of a tensor] */
  int64_t *saved;                      /* [place in the chain] by the bypasses that end up to it */
  int32_t *taken;                      /* [place in the chain] the last of these; -1: none ends there */
  int32_t *best, *best_from, *best_to; /* the chain of the best bound */
  int32_t n_best, n_best_bypasses;
  int64_t best_ns;
} chooser;

/* Prices of a byte, from almost 0 to many times the critical path divided by the bytes of a memory. */
static void choose_prices(chooser *c) {
  static const double dearest = (double)((int64_t)1 << 40);
  double price =
      (double)c->paths.unit_ns / (double)max64(c->paths.min_bytes, 1) * (double)((int64_t)1 << VISIT_PRICE_BITS);
  price /= 1 << CHEAPEST;
  c->price[0] = 0;
  for (int32_t q = 1; q < N_PRICES; q++, price *= 2) c->price[q] = (int64_t)(price < dearest ? price : dearest);
}

/* beside[k]: weights of operators between the ends of the path that neither precede nor follow path[k]. Each is beside
 * a run of places: it is added at the first and subtracted after the last. */
static bool weigh_beside(chooser *c, int32_t n) {
  const situ_graph *g = c->paths.v.problem->graph;
  int64_t heaviest = INT64_MAX / (g->n_operators + 1);
  if (!visits_span(c->before, c->behind, g, c->paths.path, n, c->paths.v.scratch)) return false;
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
    if (k == 0 || k == n - 1 || c->beside[k] <= max) c->chain[kept++] = c->paths.path[k];
  return kept;
}

COMPARATOR(by_end, bypass, UP(to) UP(from))

/* Lists the paths beside the chain from one place to another at least two further on, sorted by their end. */
static int32_t list_bypasses(chooser *c, int32_t n) {
  const situ_problem *p = c->paths.v.problem;
  const situ_graph *g = p->graph;
  int32_t found = 0;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t u = g->producer[t], from = c->before[u];
    bool of_chain = from >= 0 && c->behind[u] == from;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1] && from >= 0; i++) {
      int32_t x = g->use[i], to = c->behind[x];
      bool in_part = (of_chain || c->behind[u] == to) && (c->before[x] == to || c->before[x] == from);
      if (!in_part || to == n || to < from + 2) continue;
      c->bypasses[found++] = (bypass){from, to, long_paths_transfer_ns(p, t)};
    }
  }
  qsort(c->bypasses, (size_t)found, sizeof *c->bypasses, by_end);
  return found;
}

/* Chooses bypasses that do not overlap and together transfer the most. */
static bool choose_bypasses(chooser *c, visit_chain *chain) {
  int32_t at = 0, n = 0;
  if (!visits_span(c->before, c->behind, c->paths.v.problem->graph, chain->chain, chain->n, c->paths.v.scratch))
    return false;
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
  if (!choose_bypasses(c, &chain) || !visits_bound(&lower, &c->paths.v, &chain, b)) return false;
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

static bool try_path(chooser *c, budget *b) {
  int64_t min_bytes = c->paths.min_bytes;
  int64_t max[N_THINNED] = {SITU_UNLIMITED_BYTES, min_bytes / 8, min_bytes / 20, min_bytes / 50, 0};
  if (!weigh_beside(c, c->paths.n)) return false;
  for (int32_t i = 0, tried = 0; i < N_THINNED && !budget_over(b); i++) {
    int32_t kept = thin(c, c->paths.n, max[i]);
    if (kept == tried) continue; /* each chain is contained in the one before */
    tried = kept;
    if (!try_chain(c, kept, b)) return false;
  }
  return true;
}

static bool chooser_init(chooser *c, const situ_problem *p, arena *a) {
  int64_t n = p->n_operators;
  return ARENA_ARRAYS(a, ARRAY(c->chain, n), ARRAY(c->before, n), ARRAY(c->behind, n), ARRAY(c->beside, n + 1),
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
  chooser c = {0};
  bool worth;
  *lower_ns = 0;
  TRY(long_paths_init(&c.paths, &worth, p, scratch, error));
  if (!worth) return SITU_STATUS_OK;
  if (!chooser_init(&c, p, scratch)) return fail_no_memory(error);
  choose_prices(&c);
  for (int32_t i = 0; i < PATH_MEASURES && !budget_over(b); i++)
    if (long_paths_find(&c.paths, i) && !try_path(&c, b)) return fail_no_memory(error);
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
