/* Splitting: the graph is split into modules with much inner traffic (stream/modules.h). These are solved exactly, one
 * at a time, in the context of earlier decisions (stream/window.h). Then windows of one or two modules are solved again
 * while everything else is fixed. The word is from DiviML (Ghannane, Abdelfattah, 2023), of which only the abstract was
 * available. docs/theory/heuristics/splitting.md describes the method. */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/hash.h"
#include "bound/bound.h"
#include "graph/topological.h"
#include "solve/common/repair.h"
#include "solve/common/solver.h"
#include "solve/stream/current.h"
#include "solve/stream/modules.h"
#include "solve/stream/rank.h"
#include "solve/stream/window.h"
#include "view/unit.h"

enum {
  FIRST_SIZE = 10,
  SMALLEST = 4,
  N_FIRST = 5,
  BUCKETS = 256,
  MAX_FINDINGS = 4096,
  NODES_PER_STEP = 32,
  NODES_TO_BUILD = 1000,
  NODES_TO_IMPROVE = 6000,
  TRIED = 24,
  FAILED = 3,
  OPERATORS_LIMIT = 20000
};

/* A module that was solved. Equal signatures have equal solutions. */
typedef struct finding {
  struct finding *next;
  uint64_t hash;
  size_t n_bytes;
  uint8_t *bytes;
  window_schedule best;
} finding;

typedef struct splitting {
  solve_run *run;
  const situ_problem *problem;
  const situ_graph *graph;
  strand_graph grains[2];      /* by strand_grain */
  const strand_graph *strands; /* one of them */
  int64_t *tail_ns;            /* [operator * devices + device] B1's */
  rng random;
  int32_t *order; /* [strand] */
  window window;
  uint8_t *signature;
  finding *findings[BUCKETS];
  int32_t n_findings;

  current now;
  placement trial;
  int64_t *ends_ns;              /* [operator] as the window sees them: of what is built so far, or of trial */
  bool *on_path;                 /* [operator] on the critical path of now */
  critical context;              /* of trial */
  bool *inside, *ahead, *behind; /* [operator] in the window; its ancestors; its descendants */
  int32_t *place;                /* scratch [operator] */
  int32_t n_inside, at;          /* operators of the window are trial.order[at .. at + n_inside) */
  int32_t n_tried;
  bool gained;
} splitting;

/* ---- building one module at a time ---- */

/* The minimum time from the end of v on d to the end of everything, through users outside the window; -1 without
 * any. */
static int64_t min_leave(const splitting *s, int32_t v, int32_t d) {
  const situ_problem *p = s->problem;
  const situ_graph *g = s->graph;
  int64_t leave = -1;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t x = g->use[i];
      int64_t shortest = WINDOW_FAR_NS;
      if (s->inside[x]) continue;
      for (int32_t e = 0; e < p->n_devices; e++) {
        if (!problem_allows(p, x, e)) continue;
        int64_t way = sat_add(problem_transfer_ns(p, t, d, e), problem_time_ns(p, x, e));
        shortest = min64(shortest, sat_add(way, s->tail_ns[(int64_t)x * p->n_devices + e]));
      }
      leave = max64(leave, shortest);
    }
  return leave;
}

/* Fills the inputs of the strand from outside the window. */
static void fill_arrivals(splitting *s, int32_t i, const int32_t *device) {
  const situ_problem *p = s->problem;
  const situ_graph *g = s->graph;
  int32_t v = s->strands->member[s->strands->member_start[s->window.strand[i]]];
  for (int64_t k = g->in_start[v]; k < g->in_start[v + 1]; k++) {
    int32_t t = g->in[k], u = g->producer[t];
    for (int32_t d = 0; d < p->n_devices && !s->inside[u]; d++) {
      int64_t *arrive = &s->window.arrive_ns[i][d];
      *arrive = max64(*arrive, min64(sat_add(s->ends_ns[u], problem_transfer_ns(p, t, device[u], d)), WINDOW_FAR_NS));
    }
  }
}

static void mark_inside(splitting *s, bool inside) {
  s->n_inside = 0;
  for (int32_t i = 0; i < s->window.n; i++) {
    int32_t u = s->window.strand[i];
    for (int32_t k = s->strands->member_start[u]; k < s->strands->member_start[u + 1]; k++, s->n_inside++)
      s->inside[s->strands->member[k]] = inside;
  }
}

/* Fixes groups with a member outside the window that is already placed. */
static void fix_groups(splitting *s, const int32_t *device) {
  const situ_problem *p = s->problem;
  window *w = &s->window;
  for (int32_t i = 0; i < w->n; i++) {
    unit_members u = unit_of(p, s->strands->member[s->strands->member_start[w->strand[i]]]);
    for (int32_t k = 0; k < u.n; k++) {
      int32_t member = u.member[k];
      for (int32_t d = 0; d < w->n_devices && !s->inside[member] && device[member] >= 0; d++)
        if (d != device[member]) w->time_ns[i][d] = WINDOW_FAR_NS;
    }
  }
}

/* Fills the room for weights of the window, beside those of operators placed outside. */
static void fill_room(splitting *s, const int32_t *device) {
  const situ_problem *p = s->problem;
  for (int32_t m = 0; m < p->n_memories; m++)
    s->window.room_bytes[m] =
        p->platform->memory_bytes[m] == SITU_UNLIMITED_BYTES ? INT64_MAX : p->platform->memory_bytes[m];
  for (int32_t v = 0; v < p->n_operators; v++) {
    if (s->inside[v] || device[v] < 0) continue;
    int64_t *room = &s->window.room_bytes[p->memory_of[device[v]]];
    if (*room != INT64_MAX) *room = max64(*room - s->graph->weight_bytes[v], 0);
  }
}

static int64_t keep_best(void *context, const window_schedule *found, int64_t upper_ns) {
  *(window_schedule *)context = *found;
  return found->value_ns;
}

static finding *find_same(const splitting *s, uint64_t hash, size_t n) {
  for (finding *f = s->findings[hash % BUCKETS]; f; f = f->next)
    if (f->hash == hash && f->n_bytes == n && memcmp(f->bytes, s->signature, n) == 0) return f;
  return NULL;
}

static bool keep_finding(splitting *s, uint64_t hash, size_t n, const window_schedule *best) {
  if (n == 0 || s->n_findings == MAX_FINDINGS) return true;
  finding *f = ARENA_NEW(s->run->arena, finding, 1);
  if (!f) return false;
  *f = (finding){.next = s->findings[hash % BUCKETS], .hash = hash, .n_bytes = n, .best = *best};
  f->bytes = ARENA_COPY(s->run->arena, s->signature, uint8_t, (int64_t)n);
  s->findings[hash % BUCKETS] = f;
  s->n_findings++;
  return f->bytes;
}

/* The best schedule of the window; memory limits are ignored where nothing fits. False without any, or without
 * memory. */
static bool solve_window(splitting *s, window_schedule *best) {
  size_t n = window_signature(&s->window, s->signature);
  uint64_t hash = hash_bytes(s->signature, n, 0);
  const finding *same = n > 0 ? find_same(s, hash, n) : NULL;
  if (same) {
    *best = same->best;
    solve_count(s->run, "splitting.repeated", 1);
    return true;
  }
  best->value_ns = WINDOW_FAR_NS;
  for (int32_t attempt = 0; attempt < 2 && best->value_ns == WINDOW_FAR_NS; attempt++) {
    int64_t nodes;
    for (int32_t m = 0; m < s->problem->n_memories && attempt > 0; m++) s->window.room_bytes[m] = INT64_MAX;
    window_search(&s->window, WINDOW_FAR_NS, NODES_TO_BUILD, keep_best, best, &nodes, s->run->arena);
    budget_spend(s->run->budget, nodes / NODES_PER_STEP);
  }
  solve_count(s->run, "splitting.modules", 1);
  return best->value_ns < WINDOW_FAR_NS && keep_finding(s, hash, n, best);
}

static int32_t append_strand(splitting *s, int32_t u, int32_t d, int32_t placed) {
  const situ_problem *p = s->problem;
  for (int32_t k = s->strands->member_start[u]; k < s->strands->member_start[u + 1]; k++) {
    int32_t v = s->strands->member[k];
    s->trial.device[v] = d;
    s->trial.order[placed++] = v;
    int64_t start = max64(s->window.free_ns[d], critical_arrival(p, s->trial.device, s->ends_ns, v, d));
    s->ends_ns[v] = s->window.free_ns[d] = min64(sat_add(start, problem_time_ns(p, v, d)), WINDOW_FAR_NS);
  }
  return placed;
}

/* Solves all modules in order, each exactly in the context of those before. False where some module has no place. */
static bool build(splitting *s, const modules *parts) {
  const situ_problem *p = s->problem;
  int64_t free_ns[WINDOW_DEVICES] = {0};
  int32_t placed = 0;
  for (int32_t v = 0; v < p->n_operators; v++) s->trial.device[v] = -1;
  for (int32_t k = 0; k < parts->n; k++) {
    window_schedule best;
    window *w = &s->window;
    if (!window_take(w, p, s->strands, parts->strand + parts->start[k], parts->start[k + 1] - parts->start[k]))
      return false;
    memcpy(w->free_ns, free_ns, sizeof free_ns);
    mark_inside(s, true);
    for (int32_t i = 0; i < w->n; i++) {
      int32_t u = w->strand[i];
      fill_arrivals(s, i, s->trial.device);
      for (int32_t d = 0; d < p->n_devices; d++)
        for (int32_t q = s->strands->member_start[u]; q < s->strands->member_start[u + 1]; q++)
          w->leave_ns[i][d] = max64(w->leave_ns[i][d], min_leave(s, s->strands->member[q], d));
    }
    fix_groups(s, s->trial.device);
    fill_room(s, s->trial.device);
    mark_inside(s, false);
    if (budget_over(s->run->budget) || !solve_window(s, &best)) return false;
    for (int32_t i = 0; i < w->n; i++)
      placed = append_strand(s, w->strand[best.sequence[i]], best.device[best.sequence[i]], placed);
    memcpy(free_ns, w->free_ns, sizeof free_ns);
  }
  return true;
}

/* ---- windows ---- */

/* Fills trial with the current schedule, the window's operators made consecutive. Before them come their ancestors, and
 * what starts before the middle of the window and does not depend on it. */
static void part_order(splitting *s) {
  const situ_graph *g = s->graph;
  int32_t n = s->problem->n_operators, n_ahead = 0;
  int64_t first = INT64_MAX, last = 0;
  for (int32_t k = 0; k < n; k++) {
    int32_t v = s->now.where.order[k];
    s->ahead[v] = false;
    s->behind[v] = false;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      s->behind[v] |= !s->inside[v] && (s->inside[u] || s->behind[u]);
    }
    if (!s->inside[v]) continue;
    first = min64(first, s->now.start_ns[v]);
    last = max64(last, s->now.start_ns[v]);
  }
  for (int32_t k = n - 1; k >= 0; k--) {
    int32_t v = s->now.where.order[k];
    if (s->inside[v]) continue;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
        s->ahead[v] |= s->inside[g->use[i]] || s->ahead[g->use[i]];
    if (!s->behind[v] && s->now.start_ns[v] < first + (last - first) / 2) s->ahead[v] = true;
    n_ahead += s->ahead[v];
  }
  s->at = n_ahead;
  int32_t place[3] = {0, n_ahead, n_ahead + s->n_inside};
  for (int32_t k = 0; k < n; k++) {
    int32_t v = s->now.where.order[k];
    s->trial.order[place[s->ahead[v] ? 0 : s->inside[v] ? 1 : 2]++] = v;
  }
  memcpy(s->trial.device, s->now.where.device, (size_t)n * sizeof(int32_t));
}

/* Fills the context of the window from the schedule of trial, just simulated. */
static void fill_context(splitting *s, const simulation *found) {
  const situ_problem *p = s->problem;
  const situ_graph *g = s->graph;
  window *w = &s->window;
  critical_find(&s->context, &s->trial, found->start_ns, found->finish_ns);
  memcpy(s->ends_ns, found->finish_ns, (size_t)p->n_operators * sizeof *s->ends_ns);
  for (int32_t k = 0; k < s->at; k++) {
    int32_t v = s->trial.order[k], d = s->trial.device[v];
    w->free_ns[d] = max64(w->free_ns[d], found->finish_ns[v]);
  }
  for (int32_t k = p->n_operators - 1; k >= s->at + s->n_inside; k--) {
    int32_t v = s->trial.order[k];
    w->after_ns[s->trial.device[v]] = s->context.tail_ns[v];
  }
  for (int32_t i = 0; i < w->n; i++) {
    fill_arrivals(s, i, s->trial.device);
    for (int32_t q = s->strands->member_start[w->strand[i]]; q < s->strands->member_start[w->strand[i] + 1]; q++) {
      int32_t v = s->strands->member[q];
      for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
        for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++) {
          int32_t x = g->use[k];
          for (int32_t d = 0; d < p->n_devices && !s->inside[x]; d++) {
            int64_t way = sat_add(problem_transfer_ns(p, t, d, s->trial.device[x]), s->context.tail_ns[x]);
            w->leave_ns[i][d] = max64(w->leave_ns[i][d], min64(way, WINDOW_FAR_NS));
          }
        }
    }
  }
  fix_groups(s, s->trial.device);
  fill_room(s, s->trial.device);
}

/* Simulates a schedule of the window in its context, and takes it if it is better than the current one. */
static int64_t try_schedule(void *context, const window_schedule *found, int64_t upper_ns) {
  splitting *s = context;
  int32_t n = s->at;
  for (int32_t i = 0; i < s->window.n; i++) {
    int32_t at = found->sequence[i], u = s->window.strand[at];
    for (int32_t k = s->strands->member_start[u]; k < s->strands->member_start[u + 1]; k++) {
      s->trial.order[n++] = s->strands->member[k];
      s->trial.device[s->strands->member[k]] = found->device[at];
    }
  }
  simulation simulated = solve_try(s->run, &s->trial);
  if (current_cost(&s->now, &simulated) < s->now.cost) {
    current_settle(&s->now, &s->trial, &simulated);
    s->gained = true;
    s->n_tried = 0;
  }
  if (++s->n_tried > TRIED || solve_done(s->run)) return 0;
  /* Similar schedules fail similarly where links contend. After some failures, only a schedule that is better without
   * contention is worth a run. */
  if (s->n_tried > FAILED && simulated.excess_bytes == 0) upper_ns = min64(upper_ns, found->value_ns);
  return min64(upper_ns, s->now.cost < (double)WINDOW_FAR_NS ? (int64_t)s->now.cost : WINDOW_FAR_NS);
}

/* Whether the window is promising: an operator of it is on the critical path, or limits are broken, in which case any
 * change may help. */
static bool is_worth_it(splitting *s) {
  if (s->now.excess_bytes > 0 || s->now.over_ns > 0) return true;
  if (!s->now.explained) {
    current_explain(&s->now);
    memset(s->on_path, false, (size_t)s->problem->n_operators * sizeof *s->on_path);
    for (int32_t i = 0; i < s->now.critical.n_path; i++) s->on_path[s->now.critical.path[i]] = true;
  }
  for (int32_t i = 0; i < s->window.n; i++) {
    int32_t u = s->window.strand[i];
    for (int32_t k = s->strands->member_start[u]; k < s->strands->member_start[u + 1]; k++)
      if (s->on_path[s->strands->member[k]]) return true;
  }
  return false;
}

/* The nodes left for a window, at least one. */
static int64_t nodes_left(const solve_run *run) {
  int64_t steps = budget_steps_left(run->budget);
  return steps < NODES_TO_IMPROVE / NODES_PER_STEP ? steps * NODES_PER_STEP + 1 : NODES_TO_IMPROVE;
}

/* Solves modules first .. last of the division again, with everything else fixed. */
static void improve(splitting *s, const modules *parts, int32_t first, int32_t last) {
  int32_t strand[WINDOW_STRANDS], n = 0;
  if (parts->start[last + 1] - parts->start[first] > WINDOW_STRANDS) return;
  for (int32_t u = 0; u < WINDOW_STRANDS && parts->start[first] + u < parts->start[last + 1]; u++) {
    int32_t x = parts->strand[parts->start[first] + u], k = n++;
    for (; k > 0 && strand[k - 1] > x; k--) strand[k] = strand[k - 1];
    strand[k] = x;
  }
  if (!window_take(&s->window, s->problem, s->strands, strand, n) || !is_worth_it(s)) return;
  mark_inside(s, true);
  part_order(s);
  simulation found = solve_try(s->run, &s->trial);
  if (found.value_ns != SITU_NEVER_NS) {
    int64_t nodes;
    s->n_tried = 0;
    fill_context(s, &found);
    if (current_cost(&s->now, &found) < s->now.cost) current_settle(&s->now, &s->trial, &found);
    int64_t upper = s->now.cost < (double)WINDOW_FAR_NS ? (int64_t)s->now.cost : WINDOW_FAR_NS;
    window_search(&s->window, upper, nodes_left(s->run), try_schedule, s, &nodes, s->run->arena);
    budget_spend(s->run->budget, nodes / NODES_PER_STEP);
    solve_count(s->run, "splitting.windows", 1);
  }
  mark_inside(s, false);
}

/* Improves all windows of a division until none gains. */
static void improve_all(splitting *s, const modules *parts) {
  do {
    s->gained = false;
    for (int32_t k = 0; k < parts->n && !solve_done(s->run); k++) {
      improve(s, parts, k, k);
      if (k + 1 < parts->n && !solve_done(s->run)) improve(s, parts, k, k + 1);
    }
  } while (s->gained && !solve_done(s->run));
}

/* ---- divisions ---- */

/* A topological order of strands from one of operators, by their first members. */
static void order_strands(splitting *s, const int32_t *order) {
  int32_t n = 0;
  for (int32_t k = 0; k < s->problem->n_operators; k++) {
    int32_t u = s->strands->strand_of[order[k]];
    if (order[k] == s->strands->member[s->strands->member_start[u]]) s->order[n++] = u;
  }
}

static bool order_by_rank(splitting *s, arena *a) {
  rank_costs costs;
  double *rank = ARENA_NEW(a, double, s->problem->n_operators);
  if (!rank || !rank_costs_find(&costs, a, s->problem, RANK_MEAN)) return false;
  rank_upward(rank, s->problem, &costs);
  return rank_order(s->place, a, rank, s->problem->n_operators);
}

/* Makes the k-th of the initial divisions: each method, the last one with three orders. Later divisions are drawn. */
static bool divide(splitting *s, modules *out, int32_t k, arena *a) {
  const situ_problem *p = s->problem;
  bool drawn = k >= N_FIRST;
  int32_t way = drawn ? (int32_t)rng_below(&s->random, 4) : k, n = p->n_operators;
  module_rules rules = {.max_size = FIRST_SIZE, .resolution = 1, .order = s->order};
  if (drawn) {
    rules.max_size = SMALLEST + (int32_t)rng_below(&s->random, WINDOW_STRANDS - SMALLEST);
    rules.resolution = 0.25 + 2 * rng_unit(&s->random);
  }
  s->strands = &s->grains[drawn && rng_below(&s->random, 2) ? STRANDS_FINE : STRANDS_COARSE];
  rules.way = way == 0 ? MODULES_MERGED : way == 1 ? MODULES_GROWN : MODULES_ORDERED;
  if (way == 4) {
    for (int32_t v = 0; v < n; v++) s->place[v] = v;
  } else if (way == 2 && !drawn) {
    if (!order_by_rank(s, a)) return false;
  } else if (way == 2) {
    memcpy(s->place, s->now.where.order, (size_t)n * sizeof(int32_t));
  } else if (!topological_deep(s->place, s->graph, drawn ? &s->random : NULL, a)) {
    return false;
  }
  order_strands(s, s->place);
  return modules_find(out, s->strands, &rules, a);
}

static bool splitting_init(splitting *s, solve_run *run) {
  const situ_problem *p = run->problem;
  int32_t n = p->n_operators;
  arena *a = run->arena;
  *s = (splitting){.run = run, .problem = p, .graph = p->graph, .random = rng_new(run->seed)};
  for (int32_t grain = 0; grain < 2; grain++)
    if (!strand_graph_find(&s->grains[grain], p, (strand_grain)grain, a)) return false;
  int64_t *head;
  return ARENA_ARRAYS(a, ARRAY(s->tail_ns, (int64_t)n * p->n_devices), ARRAY(head, (int64_t)n * p->n_devices),
                      ARRAY(s->order, n), ARRAY(s->signature, WINDOW_SIGNATURE), ARRAY(s->ends_ns, n),
                      ZEROS(s->on_path, n), ZEROS(s->inside, n), ARRAY(s->ahead, n), ARRAY(s->behind, n),
                      ARRAY(s->place, n)) &&
         bound_heads_tails(head, s->tail_ns, p) && current_init(&s->now, run, false) &&
         current_new_placement(&s->trial, run) && critical_init(&s->context, p, a);
}

/* Continues from the offered schedule if it is better than the current one. */
static void take(splitting *s, const placement *where) {
  simulation found = simulator_run(s->run->simulator, where, true);
  if (found.value_ns != SITU_NEVER_NS && current_cost(&s->now, &found) < s->now.cost)
    current_settle(&s->now, where, &found);
}

/* Builds from scratch, with each of the initial divisions. */
static bool build_all(splitting *s, arena *a) {
  bool ok = true;
  arena_mark empty = arena_get_mark(a);
  for (int32_t k = 0; ok && k < N_FIRST && !solve_done(s->run); k++, arena_release(a, empty)) {
    modules parts;
    if (!(ok = divide(s, &parts, k, a)) || !build(s, &parts)) continue;
    repair_offer(s->run, &s->trial);
    take(s, &s->trial);
  }
  return ok;
}

/* Improves windows of one division after another, from the best plan so far. */
static bool improve_best(splitting *s, arena *a) {
  arena_mark empty = arena_get_mark(a);
  bool ok = s->run->incumbent->best.device || build_all(s, a); /* one that does not fit is better than none */
  if (s->run->incumbent->best.device) take(s, &s->run->incumbent->best);
  for (int32_t k = N_FIRST; ok && s->now.cost < SEARCH_NONE && !solve_done(s->run); k++, arena_release(a, empty)) {
    modules parts;
    if ((ok = divide(s, &parts, k, a))) improve_all(s, &parts);
    budget_spend(s->run->budget, 1);
  }
  return ok;
}

static situ_status run_with(solve_run *run, bool (*what)(splitting *s, arena *a)) {
  if (run->problem->n_operators == 0) return SITU_STATUS_OK;
  splitting *s = ARENA_ZERO(run->arena, splitting, 1);
  arena *a = arena_new();
  bool ok = s && a && splitting_init(s, run) && what(s, a);
  arena_free(a);
  return ok ? SITU_STATUS_OK : fail_no_memory(run->error);
}

static situ_status splitting_start(solve_run *run) { return run_with(run, build_all); }

static situ_status splitting_solve(solve_run *run) { return run_with(run, improve_best); }

static bool splitting_serves(const situ_problem *p) {
  return p->n_devices <= WINDOW_DEVICES && p->n_operators <= OPERATORS_LIMIT;
}

const solver splitting_solver = {
    .name = "splitting",
    .title = "splits the graph into modules and solves each exactly in its context",
    .source = "after the idea of DiviML (Ghannane, Abdelfattah, 2023)",
    .models = MODEL_STREAM,
    .anytime = true,
    .multistart = true,
    .serves = splitting_serves,
    .start = splitting_start,
    .solve = splitting_solve,
};
