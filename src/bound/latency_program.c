#include "bound/latency_program.h"

#include "base/checked.h"
#include "base/contracts.h"
#include "bound/bound.h"
#include "view/unit.h"

/* The limits of the certificate checker (check/check_linear_relaxation.c). */
static const int64_t LONGEST_NS = (int64_t)1 << 42, HEAVIEST_BYTES = (int64_t)1 << 48;

bool latency_program_fits(const situ_problem *p, int64_t max_entries) {
  if (problem_serial_ns(p, 0) > LONGEST_NS || p->n_operators == 0) return false;
  int64_t pairs = (int64_t)p->n_memories * p->n_memories,
          each = sat_mul(p->graph->n_uses, 3 * pairs + 2 * p->n_devices);
  return sat_add(each, sat_mul(p->n_operators, 5 * (int64_t)p->n_devices)) <= max_entries;
}

/* ---- columns ---- */

/* Whether all operators of a unit may run on d in a plan of at most upper_ns. */
static bool may_run(const latency_program *l, int32_t unit, int32_t d) {
  const situ_problem *p = l->problem;
  for (int32_t k = p->units.start[unit]; k < p->units.start[unit + 1]; k++) {
    int32_t v = p->units.member[k];
    int64_t at = (int64_t)v * p->n_devices + d;
    if (!problem_allows(p, v, d) || sat_add(l->head[at], l->tail[at]) > l->upper_ns) return false;
  }
  return true;
}

static void add_columns(latency_program *l, program *q, double unit, bool whole) {
  const situ_problem *p = l->problem;
  l->makespan = program_column(q, 0, l->upper_ns, false);
  for (int32_t u = 0; u < p->units.n; u++)
    for (int32_t d = 0; d < p->n_devices; d++)
      l->x[(int64_t)u * p->n_devices + d] = may_run(l, u, d) ? program_column(q, 0, 1, whole) : -1;
  for (int32_t v = 0; v < p->n_operators; v++) {
    l->start[v] = program_column(q, 0, l->upper_ns, false);
    if (!q->out_of_memory) q->unit[l->start[v]] = unit;
  }
  if (q->out_of_memory) return;
  q->cost[l->makespan] = 1;
  q->unit[l->makespan] = unit;
}

/* ---- rows ---- */

static void add_devices(const latency_program *l, program *q) {
  for (int32_t u = 0; u < l->problem->units.n; u++) {
    program_row(q, 1, 1);
    for (int32_t d = 0; d < l->problem->n_devices; d++) program_add(q, l->x[(int64_t)u * l->problem->n_devices + d], 1);
  }
}

/* The longest transfer between two memories of the tensors from i to j, which are uses first .. last-1 of j. */
static int64_t longest(const situ_problem *p, int32_t i, int64_t first, int64_t last, int32_t m, int32_t w) {
  int32_t kind = p->costs->pair_kind[m * p->n_memories + w];
  int64_t max = 0;
  for (int64_t k = first; k < last; k++) {
    int32_t t = p->graph->in[k];
    if (p->graph->producer[t] == i) max = max64(max, p->transfer_ns[t][kind]);
  }
  return max;
}

/* Rows (2): the z of one memory at one end sum to its x. Returns the first row. */
static int32_t tie_ends(const latency_program *l, program *q, int32_t v, const int32_t *z, bool at_user) {
  const situ_problem *p = l->problem;
  int32_t first = q->n_rows;
  for (int32_t m = 0; m < p->n_memories; m++) {
    program_row(q, 0, 0);
    for (int32_t w = 0; w < p->n_memories; w++)
      program_add(q, z[at_user ? w * p->n_memories + m : m * p->n_memories + w], 1);
    for (int32_t d = 0; d < p->n_devices; d++)
      if (p->memory_of[d] == m) program_add(q, latency_x(l, v, d), -1);
  }
  return first;
}

/* Rows (2) and (3): operator i, whose tensor is a use of j, ends before j starts. z and cost are scratch [memory
 * pair]. */
static void add_edge(const latency_program *l, program *q, int64_t use, int32_t j, int64_t *cost, int32_t *z) {
  const situ_problem *p = l->problem;
  int32_t nm = p->n_memories, i = p->graph->producer[p->graph->in[use]];
  bool costs = false, together = unit_joins(p, i, j);
  for (int32_t m = 0; m < nm; m++)
    for (int32_t w = 0; w < nm; w++) {
      bool within = m == w || together;
      cost[m * nm + w] = within ? 0 : longest(p, i, p->graph->in_start[j], p->graph->in_start[j + 1], m, w);
      costs |= cost[m * nm + w] > 0;
    }
  for (int32_t k = 0; k < nm * nm; k++)
    z[k] = costs && cost[k] != SITU_NEVER_NS ? program_column(q, 0, 1, false) : -1; /* no route, no column */
  if (costs) {
    l->from_row[use] = tie_ends(l, q, i, z, false);
    tie_ends(l, q, j, z, true);
  }
  l->edge_row[use] = program_row(q, 0, PROGRAM_ANY_HIGH);
  program_add(q, l->start[j], 1);
  program_add(q, l->start[i], -1);
  for (int32_t d = 0; d < p->n_devices; d++) program_add(q, latency_x(l, i, d), -problem_time_ns(p, i, d));
  for (int32_t k = 0; k < nm * nm; k++) program_add(q, z[k], -cost[k]);
}

static bool add_edges(const latency_program *l, program *q, arena *a) {
  const situ_graph *g = l->problem->graph;
  int64_t pairs = (int64_t)l->problem->n_memories * l->problem->n_memories;
  int64_t *cost;
  int32_t *z, *seen;
  if (!ARENA_ARRAYS(a, ARRAY(cost, pairs), ARRAY(z, pairs), ZEROS(seen, g->n_operators))) return false;
  for (int32_t j = 0; j < g->n_operators; j++)
    for (int64_t k = g->in_start[j]; k < g->in_start[j + 1]; k++) {
      int32_t i = g->producer[g->in[k]];
      if (seen[i] != j) add_edge(l, q, k, j, cost, z); /* seen[i] starts at 0, but operator 0 uses nothing */
      seen[i] = j;
    }
  return true;
}

static void add_heads_tails(const latency_program *l, program *q) {
  const situ_problem *p = l->problem;
  for (int32_t i = 0; i < p->n_operators; i++) {
    l->tail_row[i] = program_row(q, 0, PROGRAM_ANY_HIGH);
    program_add(q, l->makespan, 1);
    program_add(q, l->start[i], -1);
    for (int32_t d = 0; d < p->n_devices; d++)
      if (latency_x(l, i, d) >= 0)
        program_add(q, latency_x(l, i, d), -problem_time_ns(p, i, d) - l->tail[(int64_t)i * p->n_devices + d]);
    program_row(q, 0, PROGRAM_ANY_HIGH);
    program_add(q, l->start[i], 1);
    for (int32_t d = 0; d < p->n_devices; d++)
      if (latency_x(l, i, d) >= 0)
        program_add(q, latency_x(l, i, d), problem_time_ns(p, i, d) - l->head[(int64_t)i * p->n_devices + d]);
  }
}

static void add_areas(const latency_program *l, program *q) {
  const situ_problem *p = l->problem;
  for (int32_t d = 0; d < p->n_devices; d++) {
    l->area_row[d] = program_row(q, 0, PROGRAM_ANY_HIGH);
    program_add(q, l->makespan, 1);
    for (int32_t i = 0; i < p->n_operators; i++)
      if (latency_x(l, i, d) >= 0) program_add(q, latency_x(l, i, d), -problem_time_ns(p, i, d));
  }
}

static void add_memories(const latency_program *l, program *q) {
  const situ_problem *p = l->problem;
  int64_t all = 0;
  for (int32_t v = 0; v < p->n_operators; v++) all = sat_add(all, p->graph->weight_bytes[v]);
  for (int32_t m = 0; m < p->n_memories; m++) {
    int64_t room = p->platform->memory_bytes[m];
    if (room >= all || all > HEAVIEST_BYTES) continue;
    l->room_row[m] = program_row(q, PROGRAM_ANY_LOW, room);
    for (int32_t v = 0; v < p->n_operators; v++)
      for (int32_t d = 0; d < p->n_devices; d++)
        if (p->memory_of[d] == m) program_add(q, latency_x(l, v, d), p->graph->weight_bytes[v]);
  }
}

static bool make_arrays(latency_program *l, arena *a) {
  const situ_problem *p = l->problem;
  int64_t cells = (int64_t)p->n_operators * p->n_devices, n_uses = p->graph->n_uses;
  if (!ARENA_ARRAYS(a, ARRAY(l->head, cells), ARRAY(l->tail, cells), ARRAY(l->x, cells),
                    ARRAY(l->start, p->n_operators), ARRAY(l->edge_row, n_uses), ARRAY(l->from_row, n_uses),
                    ARRAY(l->tail_row, p->n_operators), ARRAY(l->area_row, p->n_devices),
                    ARRAY(l->room_row, p->n_memories)))
    return false;
  for (int64_t k = 0; k < n_uses; k++) l->edge_row[k] = l->from_row[k] = -1;
  for (int32_t m = 0; m < p->n_memories; m++) l->room_row[m] = -1;
  return true;
}

bool latency_program_write(latency_program *l, program *q, const situ_problem *p, int64_t upper_ns, bool whole,
                           arena *a) {
  REQUIRE(upper_ns >= 0 && q->n_columns == 0);
  *l = (latency_program){.problem = p, .upper_ns = min64(upper_ns, problem_serial_ns(p, 0))};
  if (!make_arrays(l, a) || !bound_heads_tails(l->head, l->tail, p)) return false;
  add_columns(l, q, program_unit_of(l->upper_ns), whole);
  if (q->out_of_memory) return false;
  add_devices(l, q);
  if (!add_edges(l, q, a)) return false;
  add_heads_tails(l, q);
  add_areas(l, q);
  add_memories(l, q);
  if (q->out_of_memory) return false;
  CONTRACT(program_check(q));
  return true;
}
