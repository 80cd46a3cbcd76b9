/* m-TOPO: operators in topological order fill one device after the other up to an even share of all memory (Jeon et
 * al., "Baechi: fast device placement of machine learning graphs", SoCC 2020). A device's own limit bounds its share;
 * an operator that the current device cannot run goes to the first that can. */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/kit/draft.h"
#include "solve/kit/repair.h"

typedef struct filling {
  const situ_problem *problem;
  int32_t *device;
  int64_t *used; /* [memory] */
  int64_t share;
} filling;

/* The unit of v: its colocation group or itself. */
static int32_t unit(const situ_problem *p, const int32_t *v, const int32_t **members) {
  int32_t group = p->graph->colocation[*v];
  *members = group >= 0 ? p->group_member + p->group_start[group] : v;
  return group >= 0 ? p->group_start[group + 1] - p->group_start[group] : 1;
}

static int64_t memory_of_operator(const situ_graph *g, int32_t v) {
  int64_t bytes = sat_add(g->weight_bytes[v], g->workspace_bytes[v]);
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++) bytes = sat_add(bytes, g->size_bytes[t]);
  return bytes;
}

static bool allows(const situ_problem *p, const int32_t *members, int32_t n, int32_t d) {
  for (int32_t i = 0; i < n; i++)
    if (!problem_allows(p, members[i], d)) return false;
  return true;
}

static bool fits(const filling *f, int32_t d, int64_t bytes, bool own_share) {
  int32_t m = f->problem->memory_of[d];
  int64_t limit = f->problem->platform->memory_bytes[m];
  if (own_share) limit = min64(limit, f->share);
  return sat_add(f->used[m], bytes) <= limit;
}

/* The device for a unit when the one at hand is no choice: the first with room, else the first allowed. */
static int32_t elsewhere(const filling *f, const int32_t *members, int32_t n, int64_t bytes) {
  int32_t otherwise = -1;
  for (int32_t d = 0; d < f->problem->n_devices; d++) {
    if (!allows(f->problem, members, n, d)) continue;
    if (fits(f, d, bytes, false)) return d;
    if (otherwise < 0) otherwise = d;
  }
  return otherwise;
}

static bool fill(filling *f) {
  const situ_problem *p = f->problem;
  int32_t current = 0;
  while (current < p->n_devices - 1 && p->unused[current]) current++;
  for (int32_t v = 0; v < p->n_operators; v++) {
    if (f->device[v] >= 0) continue;
    const int32_t *members;
    int32_t n = unit(p, &v, &members), d;
    int64_t bytes = 0;
    for (int32_t i = 0; i < n; i++) bytes = sat_add(bytes, memory_of_operator(p->graph, members[i]));
    bool somewhere_else = !allows(p, members, n, current);
    if (!somewhere_else)
      while (current < p->n_devices - 1 && (p->unused[current] || !fits(f, current, bytes, true))) current++;
    d = somewhere_else || !allows(p, members, n, current) ? elsewhere(f, members, n, bytes) : current;
    if (d < 0) return false;
    for (int32_t i = 0; i < n; i++) f->device[members[i]] = d;
    f->used[p->memory_of[d]] = sat_add(f->used[p->memory_of[d]], bytes);
  }
  return true;
}

static situ_status solve(solve_run *run) {
  const situ_problem *p = run->problem;
  filling f = {.problem = p, .device = ARENA_NEW(run->arena, int32_t, p->n_operators),
               .used = ARENA_ZERO(run->arena, int64_t, p->n_memories)};
  if (!f.device || !f.used) return fail_no_memory(run->error);
  int64_t sum = 0, most = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t bytes = memory_of_operator(p->graph, v);
    sum = sat_add(sum, bytes);
    most = max64(most, bytes);
    f.device[v] = -1;
  }
  f.share = sat_add(sum / p->n_memories, most);
  if (fill(&f)) repair_offer(run, &(placement){.device = f.device});
  return SITU_STATUS_OK;
}

const solver m_topo_solver = {
    .name = "m_topo",
    .title = "topological order, filled device by device",
    .source = "Jeon et al. (Baechi), SoCC 2020",
    .stream = true,
    .calls = true,
    .pipeline = true,
    .portfolio = 2,
    .solve = solve,
};
