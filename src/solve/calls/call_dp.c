/* Calls to proven optimality: a dynamic program over the ideals of the call graph. A flow and a price of memory give a
 * bound and, for each ideal, the minimum cost still to come (exact/call_price.h). Labels grow from the empty ideal to
 * the full one (solve/calls/call_labels.h): at first only those that end near the bound, and few for each ideal, then
 * more. The result is packed onto the accelerators (solve/calls/call_pack.h). docs/theory/exact/call_dp.md. */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/calls/call_labels.h"
#include "solve/calls/call_pack.h"
#include "solve/common/solver.h"

enum {
  MAX_IDEALS = 1 << 17,
  MAX_OPERATORS = 1 << 14,
  FIRST_WIDTH = 16,
  LAST_WIDTH = 1 << 14,
  WIDTH_FACTOR = 4,
  NARROWER = 16,
  OFFERED = 64
};

typedef struct call_dp {
  solve_run *run;
  call_graph graph;
  call_lattice lattice;
  call_price price;
  call_labels labels;
  int32_t *unit, *device, *call; /* [node], [operator], [operator] */
  bool *host;                    /* [unit] */
} call_dp;

/* Offers the plan of a label of the full ideal. */
static void offer(call_dp *s, int32_t label) {
  const call_lattice *l = &s->lattice;
  int32_t n_units = 0;
  for (int32_t i = label; s->labels.label[i].parent >= 0; i = s->labels.label[i].parent) n_units++;
  for (int32_t i = label, u = n_units - 1; u >= 0; i = s->labels.label[i].parent, u--) {
    const call_label *now = &s->labels.label[i], *before = &s->labels.label[now->parent];
    s->host[u] = now->host;
    for (int32_t v = 0; v < s->graph.n; v++)
      if (call_lattice_has(l, now->ideal, v) && !call_lattice_has(l, before->ideal, v)) s->unit[v] = u;
  }
  arena_mark mark = arena_get_mark(s->run->arena);
  if (call_pack(&s->graph, s->unit, s->host, n_units, s->device, s->call, s->run->arena))
    solve_offer(s->run, &(placement){.device = s->device, .call = s->call});
  arena_release(s->run->arena, mark);
}

typedef enum found_what { FOUND_NOTHING, FOUND_PART, FOUND_ALL, FOUND_STOP, FOUND_NO_MEMORY } found_what;

/* One run of labels below `limit`: offers what it finds. ALL: no relevant label was dropped. */
static found_what try_labels(call_dp *s, int32_t width, int64_t limit) {
  solve_run *run = s->run;
  call_labels *labels = &s->labels;
  call_labels_result result = call_labels_run(labels, width, limit, run->budget);
  if (result != CALL_LABELS_DONE) return result == CALL_LABELS_STOPPED ? FOUND_STOP : FOUND_NO_MEMORY;
  int32_t best = labels->first[s->lattice.n - 1], n = 0;
  int64_t found = best >= 0 ? labels->label[best].min_ns : limit;
  solve_bound(run, min64(found, labels->dropped_ns), "call_dp");
  for (int32_t i = best; i >= 0 && n < OFFERED && !solve_done(run); i = labels->label[i].next, n++) offer(s, i);
  return labels->dropped_ns >= found ? FOUND_ALL : best >= 0 ? FOUND_PART : FOUND_NOTHING;
}

/* Whether the latest run found something. */
static bool is_found(const call_dp *s) { return s->labels.first[s->lattice.n - 1] >= 0; }

/* Rounds of labels that end below a limit: the incumbent, if that is near the bound. Otherwise one limit near the
 * bound, which is cheap and raises it, and a farther one with few labels, to find a plan: the cost grows fast with the
 * distance. Rounds get wider while labels are dropped, and go farther while nothing is found. `forgets`: labels do not
 * count calls, so their plans may break the limit on calls; the best label found is then as good a limit as a plan. */
static situ_status call_dp_search(call_dp *s, bool forgets) {
  solve_run *run = s->run;
  int64_t slack = s->price.lower_ns / 128 + 1, farther = 2 * slack, min = SITU_NEVER_NS;
  int32_t width = FIRST_WIDTH;
  found_what what = FOUND_NOTHING;
  while (!solve_done(run) && width <= LAST_WIDTH) {
    int64_t value = min64(run->incumbent->value_ns, min), lower = run->incumbent->lower_bound_ns;
    int64_t near = sat_add(lower, slack), far = sat_add(lower, max64(farther, sat_mul(slack, 2)));
    what = try_labels(s, width, value < far ? value : near);
    if (what == FOUND_NOTHING && value >= far && !solve_done(run)) {
      what = try_labels(s, width < NARROWER * FIRST_WIDTH ? FIRST_WIDTH : width / NARROWER, far);
      farther = sat_mul(farther, 2);
    }
    if (what >= FOUND_STOP || (what == FOUND_ALL && is_found(s))) break;
    if (forgets && is_found(s)) min = s->labels.label[s->labels.first[s->lattice.n - 1]].min_ns + 1;
    if (what == FOUND_ALL)
      slack = sat_mul(slack, 2);
    else
      width *= WIDTH_FACTOR;
  }
  return what == FOUND_NO_MEMORY ? fail_no_memory(run->error) : SITU_STATUS_OK;
}

/* Where the limit on calls does not affect the bound, labels that ignore it come first. They are fewer, and a plan of
 * theirs that keeps the limit is optimal too. */
static situ_status search_all(call_dp *s) {
  call_graph *g = &s->graph;
  int32_t device_calls = g->device_calls, all_calls = g->all_calls;
  bool limited = device_calls < INT32_MAX || all_calls < INT32_MAX;
  if (limited && s->price.toll == 0) {
    g->device_calls = g->all_calls = INT32_MAX;
    TRY(call_dp_search(s, true));
    g->device_calls = device_calls;
    g->all_calls = all_calls;
    if (solve_done(s->run)) return SITU_STATUS_OK;
  }
  return call_dp_search(s, false);
}

/* Finds the lattice of the problem, or of one in which the lightest idle operators count no weights, until it is small
 * enough. */
static call_lattice_result find_lattice(call_dp *s) {
  static const int64_t light_part[] = {0, 512, 32}; /* of the largest memory */
  solve_run *run = s->run;
  call_lattice_result result = CALL_LATTICE_TOO_LARGE;
  for (size_t k = 0; k < sizeof light_part / sizeof *light_part && result == CALL_LATTICE_TOO_LARGE; k++) {
    int64_t light_bytes = k == 0 ? 0 : s->graph.call_bytes / light_part[k];
    if (budget_over(run->budget) || (k > 0 && s->graph.call_bytes == SITU_UNLIMITED_BYTES)) break;
    arena_mark mark = arena_get_mark(run->arena);
    if (!call_graph_find(&s->graph, run->problem, light_bytes, run->arena)) return CALL_LATTICE_NO_MEMORY;
    if (s->graph.n == 0) break;
    result = call_lattice_find(&s->lattice, &s->graph, MAX_IDEALS, run->arena, run->budget);
    if (result == CALL_LATTICE_TOO_LARGE) arena_release(run->arena, mark);
  }
  return result;
}

static situ_status call_dp_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  bool unsupported = false;
  call_dp *s = ARENA_ZERO(run->arena, call_dp, 1);
  if (!s) return fail_no_memory(run->error);
  s->run = run;
  call_lattice_result listed = find_lattice(s);
  if (listed == CALL_LATTICE_NO_MEMORY) return fail_no_memory(run->error);
  if (listed != CALL_LATTICE_ALL) return SITU_STATUS_OK;
  if (!call_price_make(&s->price, &s->lattice, &unsupported, run->arena))
    return unsupported ? SITU_STATUS_OK : fail_no_memory(run->error);
  if (!call_price_improve(&s->price, run->budget)) return SITU_STATUS_OK;
  solve_bound(run, s->price.lower_ns, "call_dp");
  if (!ARENA_ARRAYS(run->arena, ARRAY(s->unit, s->graph.n), ARRAY(s->host, s->graph.n),
                    ARRAY(s->device, p->n_operators), ARRAY(s->call, p->n_operators)) ||
      !call_labels_make(&s->labels, &s->price, run->arena))
    return fail_no_memory(run->error);
  situ_status status = search_all(s);
  solve_count(run, "call_dp_ideals", s->lattice.n);
  call_labels_free(&s->labels);
  return status;
}

static bool call_dp_serves(const situ_problem *p) { return p->n_operators <= MAX_OPERATORS; }

const solver call_dp_solver = {
    .name = "call_dp",
    .title = "dynamic programming over ideals, pruned by bounds on the rest",
    .source = "",
    .models = MODEL_CALLS,
    .exact = true,
    .serves = call_dp_serves,
    .starts = {{&greedy_solver, 1}},
    .solve = call_dp_solve,
};
