#include "solve/stream/strands.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/contracts.h"
#include "base/csr.h"
#include "graph/neighbours.h"
#include "solve/stream/rank.h"

static bool run_on_the_same(const situ_problem *p, int32_t u, int32_t v) {
  if (p->graph->colocation[u] != p->graph->colocation[v]) return false;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (problem_allows(p, u, d) != problem_allows(p, v, d)) return false;
  return true;
}

static bool takes_no_time(const situ_problem *p, int32_t v) {
  for (int32_t d = 0; d < p->n_devices; d++)
    if (problem_allows(p, v, d) && problem_time_ns(p, v, d) > 0) return false;
  return true;
}

/* Whether to keep u and its only user v on one device. */
static bool belong_together(const situ_problem *p, int32_t u, int32_t v, strand_grain grain) {
  const situ_graph *g = p->graph;
  if (!run_on_the_same(p, u, v)) return false;
  if (grain == STRANDS_FINE) return takes_no_time(p, u) || takes_no_time(p, v);
  for (int32_t a = 0; a < p->n_devices; a++)
    for (int32_t b = 0; b < p->n_devices; b++) {
      if (a == b || !problem_allows(p, u, a) || !problem_allows(p, u, b)) continue;
      int64_t transfer = 0;
      for (int32_t t = g->out_start[u]; t < g->out_start[u + 1]; t++)
        if (g->use_start[t] < g->use_start[t + 1]) transfer = max64(transfer, problem_transfer_ns(p, t, a, b));
      int64_t gain = min64(problem_time_ns(p, v, a) - problem_time_ns(p, v, b),
                           problem_time_ns(p, u, b) - problem_time_ns(p, u, a));
      if (transfer < gain) return false;
    }
  return true;
}

/* Numbers strands by their first operators. */
static bool number_strands(strand_graph *out, const situ_problem *p, strand_grain grain, arena *a) {
  const situ_graph *g = p->graph;
  int32_t n = p->n_operators;
  out->strand_of = ARENA_NEW(a, int32_t, n);
  if (!out->strand_of) return false;
  for (int32_t v = 0; v < n; v++) {
    int32_t u = neighbours_only_producer(g, v);
    bool joins = u >= 0 && neighbours_only_user(g, u) == v && belong_together(p, u, v, grain);
    out->strand_of[v] = joins ? out->strand_of[u] : out->n++;
  }
  return csr_by_key(&out->member_start, &out->member, out->strand_of, n, out->n, a);
}

typedef struct joint {
  int32_t from, to;
  double weight;
} joint;

COMPARATOR(by_ends, joint, UP(from) UP(to))

/* Sorts joints, sums those of the same pair, and returns how many are left. */
static int64_t merge_joints(joint *all, int64_t n) {
  int64_t kept = 0;
  if (n > 0) qsort(all, (size_t)n, sizeof *all, by_ends);
  for (int64_t i = 0; i < n; i++)
    if (kept > 0 && all[kept - 1].from == all[i].from && all[kept - 1].to == all[i].to)
      all[kept - 1].weight += all[i].weight;
    else
      all[kept++] = all[i];
  return kept;
}

static int64_t list_joints(joint *all, const strand_graph *u, const situ_graph *g, const rank_costs *costs) {
  int64_t n = 0;
  for (int32_t t = 0; t < g->n_tensors; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t from = u->strand_of[g->producer[t]], to = u->strand_of[g->use[i]];
      if (from != to) all[n++] = (joint){from, to, costs->transfer[t]};
    }
  return merge_joints(all, n);
}

static bool list_near(strand_graph *u, const joint *all, int64_t n, arena *a) {
  if (!ARENA_ARRAYS(a, ZEROS(u->next_start, (int64_t)u->n + 2), ARRAY(u->next, n),
                    ZEROS(u->near_start, (int64_t)u->n + 2), ARRAY(u->near, 2 * n), ARRAY(u->weight, 2 * n),
                    ZEROS(u->strength, u->n)))
    return false;
  for (int64_t i = 0; i < n; i++) {
    csr_count(u->next_start, all[i].from);
    csr_count(u->near_start, all[i].from);
    csr_count(u->near_start, all[i].to);
  }
  csr_sum(u->next_start, u->n);
  csr_sum(u->near_start, u->n);
  for (int64_t i = 0; i < n; i++) u->next[csr_put(u->next_start, all[i].from)] = all[i].to;
  for (int64_t i = 0; i < n; i++)
    for (int32_t end = 0; end < 2; end++) {
      int32_t x = end ? all[i].to : all[i].from, at = csr_put(u->near_start, x);
      u->near[at] = end ? all[i].from : all[i].to;
      u->weight[at] = all[i].weight;
      u->strength[x] += all[i].weight;
      u->total += all[i].weight;
    }
  return true;
}

bool strand_graph_find(strand_graph *out, const situ_problem *p, strand_grain grain, arena *a) {
  *out = (strand_graph){0};
  if (!number_strands(out, p, grain, a)) return false;
  rank_costs costs;
  if (!rank_costs_find(&costs, a, p, RANK_MEAN)) return false;
  joint *all = ARENA_NEW(a, joint, p->graph->n_uses);
  if (!all) return false;
  int64_t n = list_joints(all, out, p->graph, &costs);
  for (int64_t i = 0; i < n; i++) all[i].weight += 1; /* add a nanosecond, so that free links join too */
  if (!list_near(out, all, n, a)) return false;
  CONTRACT(strand_graph_check(out, p->n_operators));
  return true;
}

const char *strand_graph_check(const strand_graph *u, int32_t n_operators) {
  int32_t n_next = u->next_start[u->n];
  EXPECT(contracts_within(u->strand_of, n_operators, 0, u->n), "every operator is in a strand");
  EXPECT(contracts_lists(u->member_start, u->n, n_operators), "member_start lists operators by strand");
  EXPECT(contracts_lists(u->next_start, u->n, n_next), "next_start lists users by strand");
  EXPECT(contracts_lists(u->near_start, u->n, 2 * (int64_t)n_next), "near_start lists both directions");
  EXPECT(contracts_within(u->next, n_next, 0, u->n) && contracts_within(u->near, 2 * (int64_t)n_next, 0, u->n),
         "neighbours are strands");
  for (int32_t x = 0; x < u->n; x++) {
    int32_t first = u->member_start[x], n = u->member_start[x + 1] - first;
    EXPECT(n > 0 && contracts_rise(u->member + first, n), "no strand is empty; members ascend");
    for (int32_t i = first; i < first + n; i++) EXPECT(u->strand_of[u->member[i]] == x, "members are of their strand");
    for (int32_t i = u->next_start[x]; i < u->next_start[x + 1]; i++)
      EXPECT(u->next[i] > x, "strands are numbered in a topological order");
    for (int32_t i = u->near_start[x]; i < u->near_start[x + 1]; i++)
      EXPECT(u->near[i] != x && u->weight[i] > 0, "near strands are others, at a distance above 0");
  }
  return NULL;
}
