#include "write/equal_shares.h"

#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "cost/fusion.h"
#include "cost/training_split.h"

static bool is_attention(const situ_graph *g, int32_t v) { return strcmp(g->kind_name[g->kind[v]], "Attention") == 0; }

static int64_t width_of(const situ_graph *g, int32_t t) {
  return g->rank[t] > 0 ? g->dims[g->dims_start[t] + g->rank[t] - 1] : 0;
}

/* Heads of queries: keys and values of equal widths have those that are known, and queries as many as they are wider.
 * Else the known ones. */
static int64_t heads_of(const situ_graph *g, int32_t v) {
  int64_t min = INT64_MAX, max = 0;
  int32_t n_min = 0, n = 0;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int64_t width = width_of(g, g->in[i]);
    if (g->weight_bytes[g->producer[g->in[i]]] == 0) continue;
    n++;
    n_min = width < min ? 1 : n_min + (width == min);
    min = min64(min, width);
    max = max64(max, width);
  }
  bool known = n == 3 && n_min >= 2 && min > 0 && max % min == 0;
  return known ? g->split_ways[v] * (max / min) : g->split_ways[v];
}

static situ_status refuse(const situ_graph *g, int32_t v, int64_t n, const char *what, int32_t members,
                          const char *engine, situ_error *error) {
  return fail_with(error, SITU_STATUS_UNSUPPORTED, g->name[v],
                   "has %lld %s, which %d devices of %s cannot share evenly", (long long)n, what, (int)members, engine);
}

/* Whether v makes what an attention takes, or takes what one makes: engines share its heads, whatever is between. */
static bool is_by_attention(const situ_graph *g, int32_t v) {
  bool by = false;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) by |= is_attention(g, g->producer[g->in[i]]);
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) by |= is_attention(g, g->use[i]);
  return by;
}

static situ_status check(const situ_graph *g, const tensor_split *s, int32_t k, bool copies, const char *engine,
                         situ_error *error) {
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t heads = g->split_ways[v];
    if (is_attention(g, v) && heads > 0) {
      if (heads_of(g, v) % k != 0) return refuse(g, v, heads_of(g, v), "heads", k, engine, error);
      if (heads % k != 0 && !(copies && k % heads == 0))
        return refuse(g, v, heads, "heads of keys and values", k, engine, error);
    }
    bool sums = s->made[v] == HOLDS_TERM && fusion_class_of(g->kind_name[g->kind[v]]) == FUSION_MATMUL;
    if (sums && s->ways[v] % k != 0 && !is_by_attention(g, v))
      return refuse(g, v, s->ways[v], "hidden units", k, engine, error);
  }
  return SITU_STATUS_OK;
}

situ_status equal_shares_check(const situ_problem *p, bool copies, const char *engine, situ_error *error) {
  int32_t k = 1;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (platform_members(p->platform, d) > k) k = platform_members(p->platform, d);
  if (k == 1) return SITU_STATUS_OK;
  tensor_split split;
  arena *a = arena_new();
  situ_status status = a && training_split_find(&split, p->graph, a) ? check(p->graph, &split, k, copies, engine, error)
                                                                     : fail_no_memory(error);
  arena_free(a);
  return status;
}

situ_status equal_shares_check_schedule(const situ_problem *p, unsigned has, const char *engine, situ_error *error) {
  if (p->micro_batches == 0 || has >> p->schedule & 1) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_UNSUPPORTED, NULL, "%s has no schedule %s", engine,
                   situ_schedule_name(p->schedule));
}
