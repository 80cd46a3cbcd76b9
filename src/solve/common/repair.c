#include "solve/common/repair.h"

#include <stdlib.h>

#include "base/checked.h"
#include "base/compare.h"
#include "base/contracts.h"
#include "view/unit.h"

enum { MAX_ROUNDS = 24 };

typedef struct candidate {
  double merit; /* bytes freed per nanosecond lost */
  int64_t bytes;
  int32_t v, to;
} candidate;

COMPARATOR(by_merit, candidate, DOWN(merit) UP(v))

static int64_t unit_bytes(const situ_problem *p, unit_members u) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < u.n; i++) {
    int32_t v = u.member[i];
    bytes = sat_add(bytes, p->graph->weight_bytes[v]);
    for (int32_t t = p->graph->out_start[v]; t < p->graph->out_start[v + 1]; t++)
      bytes = sat_add(bytes, p->graph->size_bytes[t]);
  }
  return bytes;
}

/* The cost of the unit on d: its time and the transfers of its inputs; NEVER where it may not run. */
static int64_t unit_cost(const situ_problem *p, const int32_t *device, unit_members u, int32_t d) {
  const situ_graph *g = p->graph;
  int64_t cost = 0;
  for (int32_t k = 0; k < u.n; k++) {
    int32_t v = u.member[k];
    if (!problem_allows(p, v, d)) return SITU_NEVER_NS;
    cost = sat_add(cost, problem_time_ns(p, v, d));
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
      cost = sat_add(cost, problem_transfer_ns(p, g->in[i], device[g->producer[g->in[i]]], d));
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      if (g->use_start[t] < g->use_start[t + 1])
        cost = sat_add(cost, problem_transfer_ns(p, t, d, device[g->use[g->use_start[t]]]));
  }
  return cost;
}

/* Lists the units that could leave memory `full`, each with its cheapest destination among the memories with room. */
static int32_t list_candidates(candidate *list, const solve_run *run, const int32_t *device, int32_t full,
                               const int64_t *room) {
  const situ_problem *p = run->problem;
  const unit_list *units = solve_units(run);
  int32_t n = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    if (p->memory_of[device[v]] != full || p->pin[v] >= 0) continue;
    unit_members u = unit_list_members(units, units->of[v]);
    if (u.member[0] != v) continue; /* once for each unit, which may contain all steps of a layer */
    int64_t bytes = unit_bytes(p, u), min_cost = SITU_NEVER_NS;
    if (bytes == 0) continue;
    int32_t to = -1;
    for (int32_t d = 0; d < p->n_devices; d++) {
      if (p->memory_of[d] == full || room[p->memory_of[d]] < bytes) continue;
      int64_t cost = unit_cost(p, device, u, d);
      if (cost >= min_cost) continue;
      min_cost = cost;
      to = d;
    }
    if (to < 0) continue;
    double loss = (double)min_cost - (double)unit_cost(p, device, u, device[v]);
    list[n++] = (candidate){.merit = (double)bytes / (loss > 1 ? loss : 1), .bytes = bytes, .v = v, .to = to};
  }
  return n;
}

/* Moves enough off the memory with the largest excess. False when nothing can move. */
static bool relieve(const solve_run *run, int32_t *device, const int64_t *peak, int64_t *room, candidate *list) {
  const situ_problem *p = run->problem;
  const unit_list *units = solve_units(run);
  int32_t full = -1;
  int64_t worst = 0;
  for (int32_t m = 0; m < p->n_memories; m++) {
    int64_t limit = p->platform->memory_bytes[m];
    room[m] = limit == SITU_UNLIMITED_BYTES ? limit : limit - peak[m];
    if (room[m] >= -worst) continue;
    worst = -room[m];
    full = m;
  }
  if (full < 0) return false;
  int32_t n = list_candidates(list, run, device, full, room);
  if (n > 0) qsort(list, (size_t)n, sizeof *list, by_merit);
  int64_t freed = 0;
  for (int32_t i = 0; i < n && freed < worst; i++) {
    int64_t *there = &room[p->memory_of[list[i].to]];
    if (*there < list[i].bytes) continue;
    if (*there != SITU_UNLIMITED_BYTES) *there -= list[i].bytes;
    freed = sat_add(freed, list[i].bytes);
    unit_members_put(unit_list_members(units, units->of[list[i].v]), device, list[i].to);
  }
  return freed > 0;
}

int64_t repair_offer(solve_run *run, placement *where) {
  REQUIRE(where->device);
  const situ_problem *p = run->problem;
  arena_mark mark = arena_get_mark(run->arena);
  candidate *list = NULL;
  int64_t *room = NULL;
  simulation found = solve_try(run, where);
  int64_t before = INT64_MAX; /* a large problem has no time for rounds with little gain */
  for (int32_t round = 0; round < MAX_ROUNDS && found.excess_bytes > 0 && !budget_over(run->budget); round++) {
    if (solve_is_large(p) && found.excess_bytes > before / 10 * 9) break;
    before = found.excess_bytes;
    if (!list) {
      list = ARENA_NEW(run->arena, candidate, p->n_operators);
      room = ARENA_NEW(run->arena, int64_t, p->n_memories);
    }
    if (!list || !room || !relieve(run, where->device, found.peak_bytes, room, list)) break;
    found = solve_try(run, where);
  }
  arena_release(run->arena, mark);
  return found.excess_bytes > 0 ? SITU_NEVER_NS : found.value_ns;
}
