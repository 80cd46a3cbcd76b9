/* Visits by labels: a path of operators moves from memory to memory, and a label holds what the present visit keeps,
 * what the memory keeps in which a bypass began, and when links are free behind it. docs/theory/bounds/visit_labels.md
 */
#include "chain/visit_path.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/fail.h"
#include "bound/bound.h"

enum { FINEST = 16384, COARSEST = 16, COARSER = 4 }; /* units of bytes that make up the smallest memory */
enum { PATH_MEASURES = 4 };

static const double FAMILIAR = 0.75; /* of a path that differs little, which takes as long and proves as much */
static const double MAX_STEPS = 4e8; /* uses of tensors times memories cubed, beyond which nothing is tried */

/* A path past the chain; its operators are pool[first .. first + n). */
typedef struct bypass {
  int32_t from, to, first, n;
  int64_t transfer_ns; /* the minimum time of its first tensor between memories */
} bypass;

COMPARATOR(by_ends, bypass, UP(from) UP(to) UP(n) UP(first))

typedef struct chooser {
  visits v;
  int64_t *head, *tail;       /* of bound_heads_tails */
  int64_t unit_ns, min_bytes; /* the critical path; the smallest memory that may be too small for all */
  int32_t *path, *next, n;    /* [operator]; path: the latest, of n operators */
  double *length;             /* [operator] */
  int32_t *at;                /* [operator] its position in the path, -1: none */
  bypass *found;              /* [use of a tensor] */
  int32_t n_found, *pool, n_pool;
  int64_t *saved;                             /* [position] by the bypasses that end up to it */
  int32_t *taken;                             /* [position] the first of the last of these; -1: none ends there */
  bool *used;                                 /* [operator] in a bypass already */
  int32_t *ends, *from, *to, *start, *beside; /* the bypasses of the path */
  visit_path best;                            /* the path of the best bound, with lists of its own */
  int32_t *memory, *best_memory;              /* [operator] where the relaxation has it; of the best bound */
  int64_t best_ns;
} chooser;

/* ---- paths that are long by several measures ---- */

/* The smallest memory that may be too small for all weights and an operator's tensors. SITU_UNLIMITED_BYTES: none. */
static int64_t min_bytes(const visits *v) {
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

static int64_t critical_path(const chooser *c) {
  const situ_problem *p = c->v.problem;
  int64_t longest = 0;
  for (int64_t v = 0; v < p->n_operators; v++) {
    int64_t min = SITU_NEVER_NS;
    for (int64_t at = v * p->n_devices; at < (v + 1) * p->n_devices; at++)
      min = min64(min, sat_add(c->head[at], c->tail[at]));
    longest = max64(longest, min);
  }
  return longest;
}

static int64_t min_time(const visits *v, int32_t operator_) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t m = 0; m < v->n_memories; m++) min = min64(min, v->time_ns[(int64_t)operator_ * v->n_memories + m]);
  return min;
}

/* The minimum time of a tensor from one memory to another. */
static int64_t transfer_ns(const chooser *c, int32_t t) {
  const situ_costs *costs = c->v.problem->costs;
  return costs->row_min_ns[costs_row(costs, t)];
}

/* The longest path by time + by_weight * weights + by_transfer * minimum transfer times, where a full memory weighs as
 * much as the critical path. */
static void find_longest(chooser *c, double by_weight, double by_transfer) {
  const situ_graph *g = c->v.problem->graph;
  double by_byte = by_weight * (double)c->unit_ns / (double)max64(c->min_bytes, 1);
  int32_t first = g->n_operators - 1;
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    c->length[v] = 0;
    c->next[v] = -1;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        double longer = c->length[g->use[i]] + by_transfer * (double)transfer_ns(c, t);
        if (longer <= c->length[v]) continue;
        c->length[v] = longer;
        c->next[v] = g->use[i];
      }
    c->length[v] += (double)min_time(&c->v, v) + by_byte * (double)c->v.weight_bytes[v];
    if (c->length[v] >= c->length[first]) first = v;
  }
  c->n = 0;
  for (int32_t v = first; v >= 0; v = c->next[v]) c->path[c->n++] = v;
}

/* ---- bypasses ---- */

/* Follows the first users of operators outside the path from x on, to the path. */
static void follow(chooser *c, int32_t from, int32_t t, int32_t x) {
  const situ_graph *g = c->v.problem->graph;
  bypass b = {.from = from, .first = c->n_pool, .transfer_ns = transfer_ns(c, t)};
  while (c->at[x] < 0) {
    int32_t out = g->out_start[x];
    if (c->used[x] || out == g->out_start[x + 1] || g->use_start[out] == g->use_start[out + 1]) break;
    c->used[x] = true;
    c->pool[b.first + b.n++] = x;
    x = g->use[g->use_start[out]];
  }
  b.to = c->at[x];
  if (b.to < from + (b.n > 0 ? 1 : 2)) return;
  c->n_pool += b.n;
  c->found[c->n_found++] = b;
}

static void find_bypasses(chooser *c) {
  const situ_graph *g = c->v.problem->graph;
  c->n_found = c->n_pool = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    c->at[v] = -1;
    c->used[v] = false;
  }
  for (int32_t k = 0; k < c->n; k++) c->at[c->path[k]] = k;
  for (int32_t k = 0; k < c->n; k++) {
    int32_t v = c->path[k];
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) follow(c, k, t, g->use[i]);
  }
  qsort(c->found, (size_t)c->n_found, sizeof *c->found, by_ends);
}

/* Those that begin and end like found[i]: up to the one returned. Of those without operators the first counts. */
static int32_t alike_up_to(const chooser *c, int32_t i, int64_t *transfer_ns) {
  const bypass *first = &c->found[i];
  *transfer_ns = 0;
  for (; i < c->n_found && c->found[i].from == first->from && c->found[i].to == first->to; i++)
    if (&c->found[i] == first || c->found[i].n > 0) *transfer_ns = sat_add(*transfer_ns, c->found[i].transfer_ns);
  return i;
}

/* Which bypasses of a block are tried, from few to all: all take 0.5 s on Inception-v3, the first two sets 1 and 50 ms,
 * so something is proved if time runs out. */
typedef struct trial {
  int32_t max_operators; /* of a bypass */
  bool all;              /* of those that begin and end alike; or only the first */
} trial;

/* Chooses bypasses that do not overlap and together transfer the most, of equal ones the shorter. */
static void choose_bypasses(chooser *c, visit_path *path, trial t) {
  int32_t n = 0, n_beside = 0;
  for (int32_t k = 0; k < path->n; k++) {
    c->saved[k] = 0;
    c->taken[k] = -1;
  }
  for (int32_t k = 0, i = 0; k < path->n; k++) { /* found is in the order of `from` */
    if (k > 0 && c->saved[k - 1] >= c->saved[k]) {
      c->saved[k] = c->saved[k - 1];
      c->taken[k] = -1;
    }
    while (i < c->n_found && c->found[i].from == k) {
      int64_t transfer_ns, *saved = &c->saved[c->found[i].to];
      int32_t behind = alike_up_to(c, i, &transfer_ns);
      transfer_ns = sat_add(c->saved[k], transfer_ns);
      if (transfer_ns > *saved) {
        *saved = transfer_ns;
        c->taken[c->found[i].to] = i;
      }
      i = behind;
    }
  }
  int32_t n_ends = 0;
  for (int32_t k = path->n - 1; k > 0; k = c->taken[k] < 0 ? k - 1 : c->found[c->taken[k]].from)
    if (c->taken[k] >= 0) c->ends[n_ends++] = c->taken[k];
  while (n_ends > 0) { /* from the first */
    int64_t transfer_ns;
    int32_t first = c->ends[--n_ends], behind = alike_up_to(c, first, &transfer_ns);
    for (int32_t i = first; i < behind && (t.all || i == first); i++) {
      const bypass *b = &c->found[i];
      if ((i > first && b->n == 0) || b->n > t.max_operators) continue;
      c->from[n] = b->from;
      c->to[n] = b->to;
      c->start[n++] = n_beside;
      for (int32_t q = 0; q < b->n; q++) c->beside[n_beside++] = c->pool[b->first + q];
    }
  }
  c->start[n] = n_beside;
  path->n_bypasses = n;
}

static bool keep_path(chooser *c, const visit_path *path, arena *a) {
  int32_t n_beside = path->start[path->n_bypasses];
  int32_t *chain = ARENA_NEW(a, int32_t, path->n), *from = ARENA_NEW(a, int32_t, path->n_bypasses);
  int32_t *to = ARENA_NEW(a, int32_t, path->n_bypasses), *start = ARENA_NEW(a, int32_t, path->n_bypasses + 1);
  int32_t *beside = ARENA_NEW(a, int32_t, n_beside);
  if (!chain || !from || !to || !start || !beside) return false;
  for (int32_t k = 0; k < path->n; k++) chain[k] = path->chain[k];
  for (int32_t r = 0; r < path->n_bypasses; r++) from[r] = path->from[r], to[r] = path->to[r];
  for (int32_t r = 0; r <= path->n_bypasses; r++) start[r] = path->start[r];
  for (int32_t i = 0; i < n_beside; i++) beside[i] = path->beside[i];
  c->best = *path;
  c->best.chain = chain;
  c->best.from = from;
  c->best.to = to;
  c->best.start = start;
  c->best.beside = beside;
  return true;
}

/* Tries the path with bytes ever coarser until labels are few enough. */
static bool try_bypasses(chooser *c, visit_path *path, arena *a, budget *b) {
  for (int32_t parts = FINEST; parts >= COARSEST && !budget_over(b); parts /= COARSER) {
    int64_t lower;
    path->unit_bytes = max64(1, c->min_bytes / parts);
    if (!visit_labels_bound(&lower, c->memory, &c->v, path, c->head, c->tail, b)) return false;
    if (lower == 0) continue;
    if (lower <= c->best_ns) return true;
    c->best_ns = lower;
    int32_t *swap = c->best_memory;
    c->best_memory = c->memory;
    c->memory = swap;
    return keep_path(c, path, a);
  }
  return true;
}

static bool try_path(chooser *c, arena *a, budget *b) {
  static const trial trials[] = {{2, false}, {INT32_MAX, false}, {INT32_MAX, true}};
  visit_path path = {.chain = c->path, .from = c->from, .to = c->to, .start = c->start, .beside = c->beside, .n = c->n};
  int32_t n_tried = -1;
  find_bypasses(c);
  for (size_t k = 0; k < sizeof trials / sizeof *trials && !budget_over(b); k++) {
    choose_bypasses(c, &path, trials[k]);
    if (path.n_bypasses == n_tried) continue;
    n_tried = path.n_bypasses;
    if (!try_bypasses(c, &path, a, b)) return false;
  }
  return true;
}

static bool chooser_init(chooser *c, const situ_problem *p, arena *a) {
  int64_t n = p->n_operators, uses = p->graph->n_uses;
  return visits_init(&c->v, p, a) &&
         ARENA_ARRAYS(a, ARRAY(c->head, n * p->n_devices), ARRAY(c->tail, n * p->n_devices), ARRAY(c->path, n),
                      ARRAY(c->next, n), ARRAY(c->length, n), ARRAY(c->at, n), ARRAY(c->used, n), ARRAY(c->found, uses),
                      ARRAY(c->pool, n), ARRAY(c->saved, n), ARRAY(c->taken, n), ARRAY(c->ends, n),
                      ARRAY(c->from, uses), ARRAY(c->to, uses), ARRAY(c->start, uses + 1), ARRAY(c->beside, n),
                      ARRAY(c->memory, n), ARRAY(c->best_memory, n)) &&
         bound_heads_tails(c->head, c->tail, p);
}

static void copy(int64_t *to, const int32_t *from, int32_t n) {
  for (int32_t i = 0; i < n; i++) to[i] = from[i];
}

static bool certify(certificate *proof, const chooser *c, arena *a) {
  const visit_path *best = &c->best;
  if (c->best_ns == 0) return true;
  int32_t n = best->n_bypasses, n_beside = best->start[n];
  certificate_start(proof, "visit_labels", c->best_ns);
  int64_t *chain = certificate_add_operators(proof, "chain", best->n, a);
  int64_t *from = certificate_add(proof, "from", n, a), *to = certificate_add(proof, "to", n, a);
  int64_t *counts = certificate_add(proof, "counts", n, a);
  int64_t *beside = certificate_add_operators(proof, "beside", n_beside, a);
  int64_t *unit_bytes = certificate_add(proof, "unit_bytes", 1, a);
  if (!chain || !from || !to || !counts || !beside || !unit_bytes) return false;
  copy(chain, best->chain, best->n);
  copy(from, best->from, n);
  copy(to, best->to, n);
  copy(beside, best->beside, n_beside);
  for (int32_t r = 0; r < n; r++) counts[r] = best->start[r + 1] - best->start[r];
  proof->memory = c->best_memory;
  proof->n_placed = c->v.problem->n_operators;
  unit_bytes[0] = best->unit_bytes;
  return true;
}

/* Whether most of the path is on the one that was tried last. */
static bool is_familiar(const chooser *c) {
  int32_t n_same = 0;
  for (int32_t k = 0; k < c->n; k++) n_same += c->at[c->path[k]] >= 0;
  return n_same == c->n || (c->best_ns > 0 && n_same > FAMILIAR * c->n);
}

static situ_status visit_label_compute(int64_t *lower_ns, certificate *proof, const situ_problem *p, arena *scratch,
                                       budget *b, situ_error *error) {
  static const double by_weight[PATH_MEASURES] = {0, 0, 1, 10}, by_transfer[PATH_MEASURES] = {0, 1, 0, 1};
  chooser c = {0};
  double memories = p->n_memories;
  *lower_ns = 0;
  if ((double)p->graph->n_uses * memories * memories * memories > MAX_STEPS) return SITU_STATUS_OK;
  if (!chooser_init(&c, p, scratch)) return fail_no_memory(error);
  c.min_bytes = min_bytes(&c.v);
  c.unit_ns = critical_path(&c);
  if (c.min_bytes == SITU_UNLIMITED_BYTES || c.unit_ns == SITU_NEVER_NS) return SITU_STATUS_OK; /* all fits anywhere */
  for (int32_t v = 0; v < p->n_operators; v++) c.at[v] = -1;
  for (int32_t i = 0; i < PATH_MEASURES && !budget_over(b); i++) {
    find_longest(&c, by_weight[i], by_transfer[i]);
    if (!is_familiar(&c) && !try_path(&c, scratch, b)) return fail_no_memory(error);
  }
  *lower_ns = c.best_ns;
  return certify(proof, &c, scratch) ? SITU_STATUS_OK : fail_no_memory(error);
}

const bound visit_label_bound = {
    .name = "visit_labels",
    .title = "a path that must change memories, with what each visit keeps and what passes it by",
    .source = "",
    .models = MODEL_STREAM,
    .compute = visit_label_compute,
};
