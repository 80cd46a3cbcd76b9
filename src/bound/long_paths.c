#include "bound/long_paths.h"

#include <string.h>

#include "base/checked.h"
#include "base/fail.h"

/* Beyond this many uses of tensors times memories cubed, nothing is tried. */
static const double MAX_STEPS = 4e8;

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

static int64_t min_time(const visits *v, int32_t operator_) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t m = 0; m < v->n_memories; m++) min = min64(min, v->time_ns[(int64_t)operator_ * v->n_memories + m]);
  return min;
}

int64_t long_paths_transfer_ns(const situ_problem *p, int32_t t) {
  return p->costs->row_min_ns[costs_row(p->costs, t)];
}

/* The longest path by time + by_weight * weights + by_transfer * minimum transfer times, where a full memory weighs as
 * much as the critical path. */
static void find_longest(long_paths *c, double by_weight, double by_transfer) {
  const situ_problem *p = c->v.problem;
  const situ_graph *g = p->graph;
  double by_byte = by_weight * (double)c->unit_ns / (double)max64(c->min_bytes, 1);
  int32_t first = p->n_operators - 1;
  for (int32_t v = p->n_operators - 1; v >= 0; v--) {
    c->length[v] = 0;
    c->next[v] = -1;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
        double longer = c->length[g->use[i]] + by_transfer * (double)long_paths_transfer_ns(p, t);
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

bool long_paths_find(long_paths *c, int32_t measure) {
  static const double by_weight[PATH_MEASURES] = {0, 0, 1, 10}, by_transfer[PATH_MEASURES] = {0, 1, 0, 1};
  find_longest(c, by_weight[measure], by_transfer[measure]);
  if (c->n == c->n_tried && memcmp(c->path, c->tried, (size_t)c->n * sizeof *c->path) == 0) return false;
  memcpy(c->tried, c->path, (size_t)c->n * sizeof *c->path);
  c->n_tried = c->n;
  return true;
}

situ_status long_paths_init(long_paths *out, bool *worth, const situ_problem *p, arena *a, situ_error *error) {
  int64_t n = p->n_operators;
  double memories = p->n_memories;
  *out = (long_paths){.n = 0};
  *worth = (double)p->graph->n_uses * memories * memories * memories <= MAX_STEPS;
  if (!*worth) return SITU_STATUS_OK;
  if (!visits_init(&out->v, p, a) ||
      !ARENA_ARRAYS(a, ARRAY(out->path, n), ARRAY(out->tried, n), ARRAY(out->next, n), ARRAY(out->length, n)))
    return fail_no_memory(error);
  out->min_bytes = min_bytes(&out->v);
  out->unit_ns = critical_path(&out->v);
  *worth = out->min_bytes != SITU_UNLIMITED_BYTES && out->unit_ns != SITU_NEVER_NS;
  return SITU_STATUS_OK;
}
