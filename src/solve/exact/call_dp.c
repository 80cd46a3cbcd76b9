/* Calls to proven optimality: a dynamic program over the ideals of the call graph. A flow and a price of memory give a bound
 * and, for each ideal, what is at least to come (bound/call_price.h); labels grow from the empty ideal to the full one
 * (solve/exact/call_labels.h), at first only those that end near the bound, and few for each ideal, then more; and what
 * comes out is packed onto the accelerators (solve/exact/call_pack.h). docs/theory/call_dp.md. */
#include "base/checked.h"
#include "base/fail.h"
#include "solve/exact/call_labels.h"
#include "solve/exact/call_pack.h"
#include "solve/solver.h"

enum { MOST_IDEALS = 1 << 17, FIRST_WIDTH = 16, LAST_WIDTH = 1 << 14, WIDTH_FACTOR = 4, OFFERED = 16 };

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

/* Rounds of labels: wider while some were dropped, farther from the bound while nothing is found. */
static situ_status search(call_dp *s) {
  solve_run *run = s->run;
  call_labels *labels = &s->labels;
  int64_t slack = s->price.lower_ns / 128 + 1;
  int32_t width = FIRST_WIDTH;
  while (!solve_done(run) && width <= LAST_WIDTH) {
    int64_t lower = run->incumbent->lower_bound_ns, limit = min64(run->incumbent->value_ns, sat_add(lower, slack));
    call_labels_result result = call_labels_run(labels, width, limit, run->budget);
    if (result == CALL_LABELS_NO_MEMORY) return fail_no_memory(run->error);
    if (result == CALL_LABELS_STOPPED) return SITU_STATUS_OK;
    int32_t best = labels->first[s->lattice.n - 1], n = 0;
    int64_t found = best >= 0 ? labels->label[best].least_ns : limit;
    solve_bound(run, min64(found, labels->dropped_ns), "call_dp");
    for (int32_t i = best; i >= 0 && n < OFFERED && !solve_done(run); i = labels->label[i].next, n++) offer(s, i);
    if (labels->dropped_ns < found)
      width *= WIDTH_FACTOR;
    else if (best >= 0)
      return SITU_STATUS_OK; /* the optimum of the call graph; it may not have been packed */
    else
      slack = sat_mul(slack, 4);
  }
  return SITU_STATUS_OK;
}

static situ_status solve(solve_run *run) {
  const situ_problem *p = run->problem;
  call_dp *s = ARENA_ZERO(run->arena, call_dp, 1);
  bool unfit = false;
  if (!s || !call_graph_find(&s->graph, p, run->arena)) return fail_no_memory(run->error);
  s->run = run;
  if (s->graph.n == 0) return SITU_STATUS_OK;
  call_lattice_result listed = call_lattice_find(&s->lattice, &s->graph, MOST_IDEALS, run->arena, run->budget);
  if (listed == CALL_LATTICE_NO_MEMORY) return fail_no_memory(run->error);
  if (listed != CALL_LATTICE_ALL) return SITU_STATUS_OK;
  if (!call_price_make(&s->price, &s->lattice, &unfit, run->arena))
    return unfit ? SITU_STATUS_OK : fail_no_memory(run->error);
  if (!call_price_solve(&s->price, run->budget)) return SITU_STATUS_OK;
  solve_bound(run, s->price.lower_ns, "call_dp");
  s->unit = ARENA_NEW(run->arena, int32_t, s->graph.n);
  s->host = ARENA_NEW(run->arena, bool, s->graph.n);
  s->device = ARENA_NEW(run->arena, int32_t, p->n_operators);
  s->call = ARENA_NEW(run->arena, int32_t, p->n_operators);
  if (!s->unit || !s->host || !s->device || !s->call || !call_labels_make(&s->labels, &s->price, run->arena))
    return fail_no_memory(run->error);
  situ_status status = search(s);
  solve_count(run, "call_dp_ideals", s->lattice.n);
  call_labels_free(&s->labels);
  return status;
}

const solver call_dp_solver = {
    .name = "call_dp",
    .title = "dynamic program over ideals, with bounds on what is to come",
    .source = "",
    .calls = true,
    .exact = true,
    .portfolio = 10,
    .solve = solve,
};
