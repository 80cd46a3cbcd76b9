/* Branch and bound for small stream problems, with the complete model: contention, memory over time, colocation.
 *
 * A plan is a device for each operator and a sequence on each device. Operators are appended in order of their starts
 * without contention, which reaches every plan once, ties aside. The simulator evaluates each complete plan. Without
 * contention nothing starts later than with it, so values without contention bound those of the simulator.
 * docs/theory/exact/branch_and_bound.md has the proof. */
#include "base/checked.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "exact/block.h"
#include "solve/common/solver.h"
#include "view/footprint.h"

enum { MAX_OPERATORS = 20, NODES_PER_STEP = 256 };

typedef struct branching {
  solve_run *run;
  const situ_problem *problem;
  const situ_graph *graph;
  int32_t n, n_devices;
  int64_t *tail_ns;                          /* [operator * devices] of the critical path */
  block_machine machine;                     /* its prices */
  int64_t rest[MAX_OPERATORS][BLOCK_PRICES]; /* work of an operator at its cheapest */
  int32_t device[MAX_OPERATORS], order[MAX_OPERATORS];
  int64_t finish_ns[MAX_OPERATORS], free_ns[BLOCK_DEVICES];
  int32_t unit_device[MAX_OPERATORS], unit_placed[MAX_OPERATORS]; /* [unit] members placed */
  uint32_t done;
  int64_t nodes;
  bool symmetric; /* twins can be exchanged */
  bool stopped;
} branching;

/* One way to extend the partial plan. */
typedef struct branch {
  int32_t v, d;
  int64_t start_ns, through_ns; /* its start, and a bound on the end of everything */
} branch;

static bool is_done(const branching *s, int32_t v) { return s->done >> v & 1; }

static bool may_go(const branching *s, int32_t v, int32_t d) {
  int32_t u = s->problem->units.of[v];
  if (s->unit_placed[u] > 0) return s->unit_device[u] == d;
  return problem_allows(s->problem, v, d);
}

/* ---- bounds ---- */

/* The earliest arrival of tensor t on d from an operator still to come, which ends on device e at ends_ns[e]. */
static int64_t earliest_arrival(const branching *s, int32_t t, int32_t d, const int64_t *ends_ns) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t e = 0; e < s->n_devices; e++)
    if (ends_ns[e] < min) min = min64(min, sat_add(ends_ns[e], problem_transfer_ns(s->problem, t, e, d)));
  return min;
}

/* The earliest start of v on d: nothing may start before `now` any more. ends_ns[operator][device]: the earliest ends
 * of producers still to come. */
static int64_t earliest(const branching *s, int32_t v, int32_t d, int64_t now,
                        const int64_t (*ends_ns)[BLOCK_DEVICES]) {
  const situ_graph *g = s->graph;
  int64_t start = max64(now, s->free_ns[d]);
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
    int32_t t = g->in[i], u = g->producer[t];
    start = max64(start, is_done(s, u) ? sat_add(s->finish_ns[u], problem_transfer_ns(s->problem, t, s->device[u], d))
                                       : earliest_arrival(s, t, d, ends_ns[u]));
  }
  return start;
}

/* Bound from the work that is left at given prices of device time, after what each device has done. */
static int64_t load_bound(const branching *s, int64_t now) {
  int64_t best = 0;
  for (int32_t q = 0; q < s->machine.n_prices; q++) {
    __int128 sum = 0;
    int64_t prices = 0;
    for (int32_t v = 0; v < s->n; v++)
      if (!is_done(s, v)) sum += s->rest[v][q];
    for (int32_t d = 0; d < s->n_devices; d++) {
      sum += (__int128)s->machine.price[q][d] * max64(now, s->free_ns[d]);
      prices += s->machine.price[q][d];
    }
    if (prices > 0 && sum / prices < SITU_NEVER_NS) best = max64(best, (int64_t)((sum + prices - 1) / prices));
  }
  return best;
}

/* A bound on the end of every plan that extends this one. */
static int64_t bound_rest(const branching *s, int64_t now) {
  int64_t min = load_bound(s, now), ends_ns[MAX_OPERATORS][BLOCK_DEVICES];
  for (int32_t v = 0; v < s->n; v++) { /* operators are numbered topologically */
    if (is_done(s, v)) continue;
    int64_t through = SITU_NEVER_NS;
    for (int32_t d = 0; d < s->n_devices; d++) {
      ends_ns[v][d] = SITU_NEVER_NS;
      if (!may_go(s, v, d)) continue;
      ends_ns[v][d] = sat_add(earliest(s, v, d, now, ends_ns), problem_time_ns(s->problem, v, d));
      through = min64(through, sat_add(ends_ns[v][d], s->tail_ns[(int64_t)v * s->n_devices + d]));
    }
    min = max64(min, through);
  }
  return min;
}

/* ---- branching ---- */

static bool is_ready(const branching *s, int32_t v) {
  const situ_graph *g = s->graph;
  if (is_done(s, v)) return false;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
    if (!is_done(s, g->producer[g->in[i]])) return false;
  return true;
}

static bool is_empty(const branching *s, int32_t d, int32_t placed) {
  for (int32_t k = 0; k < placed; k++)
    if (s->device[s->order[k]] == d) return false;
  return true;
}

/* Whether an identical device with a lower number is also empty. */
static bool is_repeated(const branching *s, int32_t d, int32_t placed) {
  for (int32_t e = 0; e < d && s->symmetric; e++)
    if (s->machine.twin[e] == d) return is_empty(s, d, placed) && is_empty(s, e, placed);
  return false;
}

/* Whether v on d could equally have come before the last appended operator. Another branch covers that. */
static bool is_swapped(const branching *s, int32_t v, int32_t d, int64_t start, int64_t now, int32_t placed) {
  if (placed == 0 || start != now) return false;
  const situ_graph *g = s->graph;
  int32_t last = s->order[placed - 1];
  if (v > last || s->device[last] == d) return false;
  for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++)
    if (g->producer[g->in[i]] == last) return false;
  return true;
}

/* Lists the branches, the most promising first. */
static int32_t list_branches(const branching *s, branch *list, int64_t now, int32_t placed) {
  int32_t n = 0;
  for (int32_t v = 0; v < s->n; v++) {
    if (!is_ready(s, v)) continue;
    for (int32_t d = 0; d < s->n_devices; d++) {
      if (!may_go(s, v, d) || is_repeated(s, d, placed)) continue;
      int64_t start = earliest(s, v, d, 0, NULL);
      if (start < now || is_swapped(s, v, d, start, now, placed)) continue;
      int64_t through =
          sat_add(sat_add(start, problem_time_ns(s->problem, v, d)), s->tail_ns[(int64_t)v * s->n_devices + d]);
      int32_t at = n++;
      for (; at > 0 && list[at - 1].through_ns > through; at--) list[at] = list[at - 1];
      list[at] = (branch){.v = v, .d = d, .start_ns = start, .through_ns = through};
    }
  }
  return n;
}

static void branch_and_bound_search(branching *s, int32_t placed, int64_t now) {
  solve_run *run = s->run;
  if (placed == s->n) {
    solve_try(run, &(placement){.device = s->device, .order = s->order});
    return;
  }
  if (++s->nodes % NODES_PER_STEP == 0) budget_spend(run->budget, 1);
  if ((s->stopped = s->stopped || run->budget->stop) || bound_rest(s, now) >= run->incumbent->value_ns) return;
  branch list[MAX_OPERATORS * BLOCK_DEVICES];
  int32_t n = list_branches(s, list, now, placed);
  for (int32_t i = 0; i < n && !s->stopped; i++) {
    int32_t v = list[i].v, d = list[i].d, u = s->problem->units.of[v];
    if (list[i].through_ns >= run->incumbent->value_ns) return; /* and so for all that follow */
    int64_t free_before = s->free_ns[d];
    s->order[placed] = v;
    s->device[v] = d;
    s->finish_ns[v] = s->free_ns[d] = sat_add(list[i].start_ns, problem_time_ns(s->problem, v, d));
    s->done |= 1u << v;
    if (s->unit_placed[u]++ == 0) s->unit_device[u] = d;
    branch_and_bound_search(s, placed + 1, list[i].start_ns);
    s->unit_placed[u]--;
    s->done &= ~(1u << v);
    s->free_ns[d] = free_before;
  }
}

/* ---- the row ---- */

/* Whether exchanging identical devices only renames them: no channel and no memory tells them apart. */
static bool is_symmetric(const situ_problem *p) {
  for (int32_t m = 0; m < p->n_memories; m++)
    if (p->platform->memory_bytes[m] != p->platform->memory_bytes[0] && !footprint_fits_always(p)) return false;
  return p->contention == SITU_CONTENTION_NONE;
}

static void find_rest(branching *s) {
  for (int32_t v = 0; v < s->n; v++)
    for (int32_t q = 0; q < s->machine.n_prices; q++) {
      __int128 min = -1;
      for (int32_t d = 0; d < s->n_devices; d++) {
        __int128 work = (__int128)s->machine.price[q][d] * problem_time_ns(s->problem, v, d);
        if (problem_allows(s->problem, v, d) && (min < 0 || work < min)) min = work;
      }
      s->rest[v][q] = min < 0 ? 0 : min > BLOCK_FAR_NS ? BLOCK_FAR_NS : (int64_t)min;
    }
}

static situ_status branch_and_bound_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  if (solve_done(run)) return SITU_STATUS_OK;
  branching *s = ARENA_ZERO(run->arena, branching, 1);
  int64_t cells = (int64_t)p->n_operators * p->n_devices, *head_ns = ARENA_NEW(run->arena, int64_t, cells);
  if (!s || !head_ns) return fail_no_memory(run->error);
  s->run = run;
  s->problem = p;
  s->graph = p->graph;
  s->n = p->n_operators;
  s->n_devices = p->n_devices;
  s->symmetric = is_symmetric(p);
  s->tail_ns = ARENA_NEW(run->arena, int64_t, cells);
  if (!s->tail_ns || !bound_heads_tails(head_ns, s->tail_ns, p) || !block_machine_init(&s->machine, p, run->arena))
    return fail_no_memory(run->error);
  find_rest(s);
  branch_and_bound_search(s, 0, 0);
  solve_count(run, "nodes", s->nodes);
  if (!s->stopped) solve_bound(run, run->incumbent->value_ns, "branch_and_bound");
  return SITU_STATUS_OK;
}

static bool branch_and_bound_serves(const situ_problem *p) {
  /* With overlap none the order across devices matters too, because of what memories hold. Here only the order on each
   * device is searched. */
  bool orders = p->overlap != SITU_OVERLAP_NONE || footprint_fits_always(p);
  return block_serves(p) && !problem_has_period(p) && !p->secondary && p->n_copies == 1 &&
         p->n_operators <= MAX_OPERATORS && orders;
}

const solver branch_and_bound_solver = {
    .name = "branch_and_bound",
    .title = "branch and bound over all plans of a small problem",
    .source = "",
    .models = MODEL_STREAM,
    .exact = true,
    .serves = branch_and_bound_serves,
    .starts = {{&heft_solver, 1}, {&single_solver, 1}},
    .solve = branch_and_bound_solve,
};
