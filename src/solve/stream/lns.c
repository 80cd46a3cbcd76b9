/* Large neighbourhood search for stream problems: the exact search of exact/block.h solves a window of the schedule
 * again, and the rest stays as it is. Before the window this means when devices are free and inputs arrive, after it
 * the tails of what follows. Without contention nothing else about the rest matters, so the search finds the best
 * window, as long as none of its layers is too wide. The simulator judges the whole schedule.
 * docs/theory/heuristics/lns.md. */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "exact/block.h"
#include "solve/stream/present.h"
#include "view/unit.h"

enum {
  SHORTEST = 4,
  LONGEST = 32,
  FIRST_LENGTH = 16,
  WIDTH = 256,
  MAX_CHILDREN = 1 << 17,
  TRACE_ROOM = 1 << 15,
  MAX_COPIES = 16 /* the most for which links can be simulated */
};
static const double SLACK = 0.01; /* with contention, estimates may exceed the present value by this */

typedef struct lns {
  solve_run *run;
  const situ_problem *problem;
  rng random;
  block_machine machine;
  present now;
  placement trial;
  int32_t longest;  /* the longest windows that the search can solve at present */
  thin_graph graph; /* in the order of now */
  arena *ordered;   /* of graph */
  arena_mark empty;
  arena *scratch;
  block_trace trace;
} lns;

/* ---- the present schedule ---- */

/* Makes the trial, just simulated, the present schedule, with the operators in order of their starts. */
static bool settle(lns *s, const simulation *found) {
  int32_t *order = s->trial.order;
  for (int32_t k = 1; k < s->problem->n_operators; k++) { /* nearly sorted; stable, so that it stays topological */
    int32_t v = order[k], at = k;
    for (; at > 0 && found->start_ns[order[at - 1]] > found->start_ns[v]; at--) order[at] = order[at - 1];
    order[at] = v;
  }
  present_settle(&s->now, &s->trial, found);
  present_explain(&s->now);
  arena_release(s->ordered, s->empty);
  return thin_ordered(&s->graph, s->problem, order, s->now.critical.position, s->ordered);
}

/* ---- a window ---- */

/* Whether v may move: everything else colocated with it takes no time anywhere. */
static bool moves_alone(const situ_problem *p, int32_t v) {
  unit_members u = unit_of(p, v);
  if (p->pin[v] >= 0) return false;
  for (int32_t i = 0; i < u.n; i++)
    for (int32_t k = 0; u.member[i] != v && k < p->n_classes; k++)
      if (p->time_ns[(int64_t)u.member[i] * p->n_classes + k] > 0) return false;
  return true;
}

static void fix_devices(const lns *s, block *b) {
  int32_t n = s->problem->n_devices;
  for (int32_t i = 0; i < b->n; i++) {
    int32_t v = b->operator_of[i];
    bool free = moves_alone(s->problem, v);
    for (int32_t d = 0; d < n; d++)
      if (d != s->now.where.device[v] && (!free || !unit_allows(s->problem, v, d)))
        b->time_ns[(int64_t)i * n + d] = BLOCK_FAR_NS;
  }
}

/* Tensors between members of a group need no transfer. */
static void free_groups(const lns *s, block *b) {
  const int32_t *group = s->problem->graph->colocation;
  int32_t cells = s->problem->n_memories * s->problem->n_memories;
  for (int32_t j = 0; j < b->n_tensors; j++) {
    int32_t k = group[s->graph.operator_of[b->source[j]]];
    bool inside = k >= 0;
    for (uint64_t users = b->users[j]; users; users &= users - 1)
      inside &= group[b->operator_of[__builtin_ctzll(users)]] == k;
    if (inside) memset(b->transfer_ns + (int64_t)j * cells, 0, (size_t)cells * sizeof *b->transfer_ns);
  }
}

/* Fills when devices are free and inputs arrive; with `copies` links are simulated, with channels idle at first. Inputs
 * are in their producers' memories, and where they were used before. */
static void start_vector(const lns *s, const block *b, int64_t *vector, block_copies *copies) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  int32_t n = p->n_memories, base = p->n_devices + (copies ? p->platform->n_channels : 0);
  for (int32_t d = 0; d < base; d++) vector[d] = 0;
  for (int32_t k = 0; k < b->first; k++) {
    int32_t v = s->now.where.order[k];
    vector[s->now.where.device[v]] = max64(vector[s->now.where.device[v]], s->now.finish_ns[v]);
  }
  int64_t *there = vector + base;
  for (int32_t j = 0; j < b->n_entry; j++) {
    int32_t u = s->now.where.order[b->source[j]], m = p->memory_of[s->now.where.device[u]], t = b->real_tensor[j];
    for (int32_t w = 0; w < n; w++)
      there[j * n + w] = min64(s->now.finish_ns[u] + b->transfer_ns[((int64_t)j * n + m) * n + w], BLOCK_FAR_NS);
    if (!copies || j >= MAX_COPIES || (j + 1) * n > 64) continue;
    copies->home |= (uint64_t)m << (4 * j);
    copies->there |= (uint64_t)1 << (j * n + m);
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      if (s->now.critical.position[g->use[i]] < b->first)
        copies->there |= (uint64_t)1 << (j * n + p->memory_of[s->now.where.device[g->use[i]]]);
  }
}

/* The minimum time from the end of each operator on each device to the end of everything, through what follows the
 * window. */
static void tails_behind(const lns *s, const block *b, int64_t *behind_ns) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  int32_t last = b->first + b->n - 1;
  int64_t next_ns[BLOCK_DEVICES] = {0};
  for (int32_t k = p->n_operators - 1; k > last; k--)
    next_ns[s->now.where.device[s->now.where.order[k]]] = s->now.critical.tail_ns[s->now.where.order[k]];
  for (int32_t i = 0; i < b->n; i++)
    for (int32_t d = 0; d < p->n_devices; d++) {
      int32_t v = b->operator_of[i];
      int64_t most = next_ns[d];
      for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
        for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++) {
          int32_t x = g->use[k];
          if (s->now.critical.position[x] > last)
            most =
                max64(most, sat_add(problem_transfer_ns(p, t, d, s->now.where.device[x]), s->now.critical.tail_ns[x]));
        }
      behind_ns[(int64_t)i * p->n_devices + d] = most;
    }
}

/* The present value of the window, computed as in the search. */
static int64_t window_value(const lns *s, const block *b) {
  int64_t value = 0;
  for (int32_t i = 0; i < b->n; i++) {
    int32_t v = b->operator_of[i], d = s->now.where.device[v];
    value = max64(value, s->now.finish_ns[v] + b->tail_ns[(int64_t)i * s->problem->n_devices + d]);
  }
  return value;
}

/* Puts the best result into the trial. */
static void read_filling(lns *s, const block *b, const block_front *end) {
  const situ_problem *p = s->problem;
  int32_t best = 0;
  for (int32_t i = 1; i < end->n; i++)
    if (end->bound_ns[i] < end->bound_ns[best]) best = i;
  present_copy(&s->trial, &s->now.where, p->n_operators);
  block_trace_read(&s->trace, end->step[best], &s->machine, s->trial.device, s->trial.order + b->first);
  for (int32_t i = 0; i < b->n; i++) {
    int32_t v = b->operator_of[i];
    if (moves_alone(p, v)) unit_members_put(unit_of(p, v), s->trial.device, s->trial.device[v]);
  }
}

/* Solves a window again. *found: a different result is in the trial. */
static situ_status fill_window(lns *s, int32_t first, int32_t last, bool *found) {
  solve_run *run = s->run;
  block b;
  bool fits;
  *found = false;
  if (!block_take(&b, &fits, &s->machine, &s->graph, first, last, false, s->scratch))
    return fits ? fail_no_memory(run->error) : SITU_STATUS_OK;
  int32_t none = -1, n = s->problem->n_devices;
  int64_t zero = 0, *behind_ns = ARENA_NEW(s->scratch, int64_t, (int64_t)b.n * n);
  bool contended = s->problem->contention == SITU_CONTENTION_LINK, links = contended && rng_below(&s->random, 2);
  block_copies copies = {0, 0};
  int64_t *vector = ARENA_NEW(s->scratch, int64_t,
                              n + s->problem->platform->n_channels + (int64_t)b.n_entry * s->problem->n_memories);
  if (!behind_ns || !vector) return fail_no_memory(run->error);
  fix_devices(s, &b);
  free_groups(s, &b);
  tails_behind(s, &b, behind_ns);
  block_set_open_tails(&b, behind_ns);
  start_vector(s, &b, vector, links ? &copies : NULL);
  int64_t value_ns = window_value(s, &b);
  block_front start = {.n = 1,
                       .n_tensors = b.n_entry,
                       .vectors = vector,
                       .step = &none,
                       .bound_ns = &zero,
                       .copies = &copies},
              end;
  int64_t per_step = block_children_per_step(s->problem);
  int64_t most = min64(MAX_CHILDREN, sat_mul(budget_steps_left(run->budget), per_step));
  block_limits limits = {.width = WIDTH,
                         .upper_ns = value_ns + (contended ? (int64_t)(SLACK * (double)value_ns) : 0),
                         .max_children = most,
                         .links = links,
                         .budget = run->budget};
  block_result result;
  s->trace.n = 0;
  if (!block_search(&result, &end, &b, &start, &limits, &s->trace, s->scratch, run->arena))
    return fail_no_memory(run->error);
  budget_spend(run->budget, result.n_children / per_step);
  if (result.finished && b.n == s->longest && s->longest < LONGEST) s->longest++;
  if (!result.finished && s->longest > SHORTEST) s->longest--;
  *found = result.finished && end.n > 0;
  if (*found) read_filling(s, &b, &end);
  return SITU_STATUS_OK;
}

static situ_status lns_step(lns *s) {
  int32_t n = s->problem->n_operators, length = SHORTEST + (int32_t)rng_below(&s->random, s->longest - SHORTEST + 1);
  if (length > n) length = n;
  int32_t first = (int32_t)rng_below(&s->random, n - length + 1);
  bool found;
  arena_mark mark = arena_get_mark(s->scratch), kept = arena_get_mark(s->run->arena);
  situ_status status = fill_window(s, first, first + length - 1, &found);
  arena_release(s->scratch, mark);
  arena_release(s->run->arena, kept);
  budget_spend(s->run->budget, 1);
  if (status != SITU_STATUS_OK || !found) return status;
  simulation result = solve_try(s->run, &s->trial);
  if (present_cost(&s->now, &result) > s->now.cost) return SITU_STATUS_OK;
  return settle(s, &result) ? SITU_STATUS_OK : fail_no_memory(s->run->error);
}

static bool lns_init(lns *s, solve_run *run) {
  const situ_problem *p = run->problem;
  s->trace = (block_trace){.room = TRACE_ROOM, .steps = ARENA_NEW(run->arena, block_step, TRACE_ROOM)};
  if (!s->trace.steps || !present_init(&s->now, run, false) || !present_room(&s->trial, run) ||
      !block_machine_init(&s->machine, p, run->arena))
    return false;
  for (int32_t d = 0; d < p->n_devices; d++) s->machine.twin[d] = -1; /* the rest tells equal devices apart */
  s->empty = arena_get_mark(s->ordered);
  present_copy(&s->trial, &run->incumbent->best, p->n_operators);
  simulation found = simulator_run(run->simulator, &s->trial, !run->roomy);
  return settle(s, &found);
}

static situ_status lns_solve(solve_run *run) {
  if (solve_done(run) || run->problem->n_operators == 0 || !run->incumbent->best.device) return SITU_STATUS_OK;
  lns s = {.run = run,
           .problem = run->problem,
           .random = rng_new(run->seed),
           .longest = FIRST_LENGTH,
           .ordered = arena_new(),
           .scratch = arena_new()};
  situ_status status = s.ordered && s.scratch && lns_init(&s, run) ? SITU_STATUS_OK : fail_no_memory(run->error);
  while (status == SITU_STATUS_OK && !solve_done(run)) status = lns_step(&s);
  arena_free(s.ordered);
  arena_free(s.scratch);
  return status;
}

const solver lns_solver = {
    .name = "lns",
    .title = "large neighbourhood search: solves one window of the schedule after another",
    .source = "",
    .models = MODEL_STREAM,
    .anytime = true,
    .multistart = true,
    .serves = block_serves,
    .starts = {{&heft_solver, 1}, {&single_solver, 1}},
    .solve = lns_solve,
};
