/* Block dynamic program: a bound from the last cut back to the first (exact/block_list.h), then a plan from the first
 * block to the last, guided by the bound on what is still to come. Both are exact while no layer is wider than allowed;
 * each round allows more. The plan assumes links without contention; the simulator evaluates it with contention.
 * Details: docs/theory/exact/block_dp.md. */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/sort.h"
#include "bound/bound.h"
#include "exact/block_list.h"
#include "solve/common/solver.h"
#include "solve/stream/list.h"
#include "view/unit.h"

enum {
  FIRST_WIDTH = 64,
  WIDTH_FACTOR = 4,
  LAST_WIDTH = 1 << 18,
  OFFERED = 8,
  LARGEST_BLOCK = 20,
  UNITS_TRIED = 8,
  CERTIFIED_WIDTH = 256
};
static const int64_t TRACE_ROOM = (int64_t)1 << 22, OPERATORS_LIMIT = 4000;

typedef struct block_dp {
  solve_run *run;
  block_machine machine;
  thin_graph graph; /* all operators, or as many as blocks can hold */
  block_list chain;
  int64_t *head_ns, *tail_ns;
  partial_schedule partial;
  double *priority;
  block_finding *findings;
  int64_t *rest_ns;                     /* best of all rounds so far */
  int32_t *device, *order, *kept_order; /* device: -1 where the current schedule gives none; kept_order: of graph */
  bool *placed;
  arena *scratch;
  bool hopeless; /* a block is too large: no plan can be found, and the bound cannot grow */
} block_dp;

static int64_t children_left(const solve_run *run) {
  return min64(sat_mul(budget_steps_left(run->budget), block_children_per_step(run->problem)), INT64_MAX / 2);
}

static void spend(solve_run *run, int64_t n_children) {
  budget_spend(run->budget, n_children / block_children_per_step(run->problem));
}

/* ---- backward: the bound ---- */

static situ_status improve_bound(block_dp *s, int32_t width, bool *exact) {
  solve_run *run = s->run;
  block_list_limits limits = {.width = width,
                              .max_children = children_left(run),
                              .budget = run->budget,
                              .upper_ns = min64(run->incumbent->value_ns, BLOCK_FAR_NS),
                              .head_ns = s->head_ns,
                              .findings = &s->findings};
  if (!block_list_find(&s->chain, &s->machine, &s->graph, &limits, run->arena)) return fail_no_memory(run->error);
  spend(run, s->chain.n_children);
  int64_t n = (int64_t)(s->chain.n_blocks + 1) * s->machine.n_devices;
  if (!s->rest_ns) s->rest_ns = ARENA_ZERO(run->arena, int64_t, n);
  if (!s->rest_ns) return fail_no_memory(run->error);
  for (int64_t i = 0; i < n; i++) s->rest_ns[i] = max64(s->rest_ns[i], s->chain.rest_ns[i]);
  int64_t lower = min64(s->rest_ns[0], limits.upper_ns);
  bool checkable = s->chain.exact || width <= CERTIFIED_WIDTH; /* the checker takes too long for wider ones */
  if (lower < BLOCK_FAR_NS && lower > run->incumbent->proof.lower_ns && checkable) {
    certificate proof;
    if (!block_list_certify(&proof, &s->chain, s->rest_ns, limits.upper_ns, s->head_ns, run->arena))
      return fail_no_memory(run->error);
    proof.bound = "cut_vertex";
    TRY(solve_prove(run, &proof));
  }
  if (lower < BLOCK_FAR_NS) solve_bound(run, lower, "block_dp");
  *exact = s->chain.exact;
  return SITU_STATUS_OK;
}

/* ---- forward: a plan ---- */

/* Appends v to the order, after those of its ancestors that are not in it yet, since they were deleted. */
static int32_t append(block_dp *s, int32_t n, int32_t v) {
  const situ_graph *g = s->run->problem->graph;
  int32_t first = n;
  s->order[n++] = v;
  s->placed[v] = true;
  for (int32_t i = first; i < n; i++)
    for (int64_t k = g->in_start[s->order[i]]; k < g->in_start[s->order[i] + 1]; k++) {
      int32_t u = g->producer[g->in[k]];
      if (s->placed[u]) continue;
      s->placed[u] = true;
      s->order[n++] = u;
    }
  sort32(s->order + first, n - first);
  return n;
}

/* Extends the order to all operators: deleted ones come right before those that need them. */
static void complete_order(block_dp *s, int32_t n_kept) {
  int32_t n = 0;
  memset(s->placed, 0, (size_t)s->run->problem->n_operators * sizeof *s->placed);
  for (int32_t i = 0; i < n_kept; i++) n = append(s, n, s->kept_order[i]);
  for (int32_t v = 0; v < s->run->problem->n_operators; v++)
    if (!s->placed[v]) n = append(s, n, v);
}

/* Puts a unit on the device of its member with the most work. Returns how many members have any work. */
static int32_t gather_unit(block_dp *s, unit_members u) {
  const situ_problem *p = s->run->problem;
  int32_t to = -1, works = 0;
  int64_t max = -1;
  for (int32_t i = 0; i < u.n; i++) {
    int32_t v = u.member[i], class = p->class_of[s->device[v] < 0 ? 0 : s->device[v]];
    int64_t time = p->time_ns[(int64_t)v * p->n_classes + class];
    works += time > 0;
    if (s->device[v] < 0 || time <= max) continue;
    max = time;
    to = s->device[v];
  }
  if (to >= 0) unit_members_put(u, s->device, to);
  return works;
}

/* Offers the list schedule of the current order, with gaps filled. Operators without a device go where they and the
 * rest end first; with `early`, they go as early as possible. */
static void offer_schedule(block_dp *s, bool early) {
  solve_run *run = s->run;
  for (int32_t k = 0; k < run->problem->n_operators; k++) {
    int32_t v = s->order[k];
    s->priority[v] = early && s->device[v] < 0 ? 1 : -(double)k;
  }
  partial_clear(&s->partial);
  list_policy policy = {.priority = s->priority, .tail_ns = s->tail_ns, .forced = s->device};
  if (list_schedule(&s->partial, &policy, run->budget, run->arena)) list_offer(run, &s->partial);
}

static void offer_schedules(block_dp *s) {
  const situ_problem *p = s->run->problem;
  int32_t n_tried = 0;
  unit_members tried[UNITS_TRIED];
  for (int32_t k = 0; k < p->units.n; k++) {
    unit_members u = unit_list_members(&p->units, k);
    if (gather_unit(s, u) > 1 && n_tried < UNITS_TRIED) tried[n_tried++] = u;
  }
  offer_schedule(s, false);
  offer_schedule(s, true);
  for (int32_t i = 0; i < n_tried; i++) {
    int32_t first = s->device[tried[i].member[0]];
    for (int32_t d = 0; d < p->n_devices && !solve_done(s->run); d++) {
      if (d == first) continue;
      unit_members_put(tried[i], s->device, d);
      offer_schedule(s, false);
    }
    unit_members_put(tried[i], s->device, first);
  }
}

/* Offers the schedules with the lowest bounds at the end, each completed. */
static void offer_best(block_dp *s, const block_front *end, const block_trace *trace) {
  bool *tried = ARENA_ZERO(s->run->arena, bool, end->n);
  for (int32_t k = 0; tried && k < OFFERED && k < end->n && !solve_done(s->run); k++) {
    int32_t best = -1;
    for (int32_t i = 0; i < end->n; i++)
      if (!tried[i] && (best < 0 || end->bound_ns[i] < end->bound_ns[best])) best = i;
    tried[best] = true;
    for (int32_t v = 0; v < s->run->problem->n_operators; v++) s->device[v] = -1;
    complete_order(s, block_trace_read(trace, end->step[best], &s->machine, s->device, s->kept_order));
    offer_schedules(s);
  }
}

static bool start_of_all(block_front *front, const block_dp *s, arena *a) {
  *front = (block_front){.n = 1};
  if (!ARENA_ARRAYS(a, ZEROS(front->vectors, s->machine.n_devices + s->machine.problem->platform->n_channels),
                    ZEROS(front->copies, 1), ARRAY(front->step, 1), ZEROS(front->bound_ns, 1)))
    return false;
  front->step[0] = -1;
  return true;
}

/* *exact: without contention no schedule is better than the bound that is then set. */
static situ_status find_plan(block_dp *s, int32_t width, bool links, bool *exact) {
  solve_run *run = s->run;
  const block_list *c = &s->chain;
  block_trace trace = {.room = min64(TRACE_ROOM, (int64_t)width * s->graph.n)};
  block_front front;
  trace.steps = ARENA_NEW(run->arena, block_step, trace.room);
  if (!trace.steps || !start_of_all(&front, s, run->arena)) return fail_no_memory(run->error);
  int64_t upper = min64(run->incumbent->value_ns, BLOCK_FAR_NS), best = upper;
  *exact = !links;
  for (int32_t k = 0; k < c->n_blocks; k++) {
    block b;
    block_result found;
    block_limits limits = {
        .width = width, .links = links, .upper_ns = upper, .max_children = children_left(run), .budget = run->budget};
    bool fits, closed = k + 1 < c->n_blocks || c->closed;
    if (!block_take(&b, &fits, &s->machine, &s->graph, c->first[k], c->last[k], true, run->arena)) {
      s->hopeless = !fits;
      *exact = false;
      return fits ? fail_no_memory(run->error) : SITU_STATUS_OK;
    }
    block_set_tails(&b, closed ? s->rest_ns + (int64_t)(k + 1) * s->machine.n_devices : NULL);
    block_front end;
    if (!block_search(&found, &end, &b, &front, &limits, &trace, s->scratch, run->arena))
      return fail_no_memory(run->error);
    spend(run, found.n_children);
    *exact &= found.exact;
    best = found.value_ns;
    if (!found.finished) *exact = false;
    if (end.n == 0 && *exact) solve_bound(run, upper, "block_dp"); /* nothing is better than the incumbent */
    if (!found.finished || end.n == 0) return SITU_STATUS_OK;
    front = end;
  }
  offer_best(s, &front, &trace);
  if (*exact) solve_bound(run, best, "block_dp");
  return SITU_STATUS_OK;
}

static situ_status solve_in(block_dp *s) {
  solve_run *run = s->run;
  bool bound_exact = false, plan_exact = false;
  for (int32_t width = FIRST_WIDTH; width <= LAST_WIDTH && !solve_done(run); width *= WIDTH_FACTOR) {
    arena_mark mark;
    if (!bound_exact) TRY(improve_bound(s, width, &bound_exact));
    mark = arena_get_mark(run->arena);
    bool links = run->problem->contention == SITU_CONTENTION_LINK, ignored;
    situ_status status = SITU_STATUS_OK;
    if (!plan_exact && !s->hopeless && !solve_done(run)) status = find_plan(s, width, false, &plan_exact);
    arena_release(run->arena, mark);
    if (links && !s->hopeless && !solve_done(run) && status == SITU_STATUS_OK)
      status = find_plan(s, width, true, &ignored);
    arena_release(run->arena, mark);
    TRY(status);
    if ((plan_exact && bound_exact && !links) || s->hopeless) break;
  }
  return SITU_STATUS_OK;
}

/* Deletes operators where some block would otherwise be too large to search. */
static bool make_graph(block_dp *s, const situ_problem *p, arena *a) {
  thin_graph whole;
  if (!thin_first(&whole, p, a)) return false;
  int32_t *cut = ARENA_NEW(a, int32_t, whole.n);
  bool *deleted = ARENA_NEW(a, bool, whole.n);
  if (!cut || !deleted) return false;
  int32_t n = thin_cuts(cut, &whole, a), largest = n > 0 ? cut[0] : whole.n;
  if (n < 0) return false;
  for (int32_t i = 0; i < n; i++) {
    int32_t size = (i + 1 < n ? cut[i + 1] : whole.n) - cut[i];
    if (size > largest) largest = size;
  }
  s->graph = whole;
  if (largest < BLOCK_OPERATORS) return true;
  return thin_until(deleted, &whole, LARGEST_BLOCK, a) && thin_delete(&s->graph, &whole, deleted, a);
}

static situ_status block_dp_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  block_dp s = {.run = run};
  if (!ARENA_ARRAYS(run->arena, ARRAY(s.device, p->n_operators), ARRAY(s.order, p->n_operators),
                    ARRAY(s.kept_order, p->n_operators), ARRAY(s.placed, p->n_operators)) ||
      !make_graph(&s, p, run->arena))
    return fail_no_memory(run->error);
  int64_t cells = (int64_t)p->n_operators * p->n_devices;
  if (!ARENA_ARRAYS(run->arena, ARRAY(s.tail_ns, cells), ARRAY(s.head_ns, cells), ARRAY(s.priority, p->n_operators)) ||
      !bound_heads_tails(s.head_ns, s.tail_ns, p) || !partial_init(&s.partial, p, run->arena) ||
      !block_machine_init(&s.machine, p, run->arena))
    return fail_no_memory(run->error);
  if (p->contention == SITU_CONTENTION_LINK) partial_follow_links(&s.partial, run->arena);
  s.scratch = arena_new();
  situ_status status = s.scratch ? solve_in(&s) : fail_no_memory(run->error);
  arena_free(s.scratch);
  return status;
}

static bool block_dp_serves(const situ_problem *p) { return block_serves(p) && p->n_operators <= OPERATORS_LIMIT; }

const solver block_dp_solver = {
    .name = "block_dp",
    .title = "exact search, block by block between operators that separate the graph",
    .source = "",
    .models = MODEL_STREAM,
    .exact = true,
    .serves = block_dp_serves,
    .solve = block_dp_solve,
};
