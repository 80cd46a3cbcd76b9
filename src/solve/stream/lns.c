/* Large neighbourhood search for stream problems: the exact search of exact/block.h solves a window of the schedule
 * again, and the rest stays as it is. Before the window this means when devices are free and inputs arrive, after it
 * the tails of what follows. Without contention nothing else about the rest matters, so the search finds the best
 * window, as long as none of its layers is too wide. The simulator judges the whole schedule.
 * docs/theory/search.md. */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "exact/block.h"
#include "solve/stream/current.h"
#include "view/unit.h"

enum { TRACE_ROOM = 1 << 15, MAX_COPIES = 16 /* the most for which links can be simulated */ };

enum { SHORTEST, LONGEST, FIRST_LENGTH, WIDTH, MAX_CHILDREN, N_PARAMETERS };
static const double SLACK = 0.01; /* with contention, estimates may exceed the current value by this fraction */
static const solver_parameter LNS_PARAMETERS[N_PARAMETERS] = {
    [SHORTEST] = {"shortest", 4, 1, 64, "operators in a window, at least"},
    [LONGEST] = {"longest", 32, 1, 64, "operators in a window, at most"},
    [FIRST_LENGTH] = {"first_length", 16, 1, 64, "maximum length at first: it grows while windows are solved"},
    [WIDTH] = {"width", 256, 1, 65536, "partial schedules kept in each layer of a window"},
    [MAX_CHILDREN] = {"max_children", 1 << 17, 1, 1e9, "partial schedules made for a window before it is given up"},
};

typedef struct lns {
  STREAM_SEARCH;
  block_machine machine;
  int32_t longest;  /* the longest windows that the search can solve by now */
  thin_graph graph; /* in the order of the current schedule */
  arena *ordered;   /* of graph */
  arena_mark empty;
  arena *scratch;
  block_trace trace;
} lns;

/* ---- the current schedule ---- */

/* Makes the trial, just simulated, the current schedule, with the operators in order of their starts. */
static bool take_over(lns *x, const simulation *found) {
  int32_t *order = x->trial.order;
  for (int32_t k = 1; k < x->s.problem->n_operators; k++) { /* nearly sorted; stable, so that it stays topological */
    int32_t v = order[k], at = k;
    for (; at > 0 && found->start_ns[order[at - 1]] > found->start_ns[v]; at--) order[at] = order[at - 1];
    order[at] = v;
  }
  current_settle(&x->now, &x->trial, found);
  current_explain(&x->now);
  arena_release(x->ordered, x->empty);
  return thin_ordered(&x->graph, x->s.problem, order, x->now.critical.position, x->ordered);
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

static void fix_devices(const lns *x, block *b) {
  int32_t n = x->s.problem->n_devices;
  for (int32_t i = 0; i < b->n; i++) {
    int32_t v = b->operator_of[i];
    bool free = moves_alone(x->s.problem, v);
    for (int32_t d = 0; d < n; d++)
      if (d != x->now.where.device[v] && (!free || !unit_allows(x->s.problem, v, d)))
        b->time_ns[(int64_t)i * n + d] = BLOCK_FAR_NS;
  }
}

/* Tensors between members of a group need no transfer. */
static void free_groups(const lns *x, block *b) {
  const int32_t *group = x->s.problem->graph->colocation;
  int32_t cells = x->s.problem->n_memories * x->s.problem->n_memories;
  for (int32_t j = 0; j < b->n_tensors; j++) {
    int32_t k = group[x->graph.operator_of[b->source[j]]];
    bool inside = k >= 0;
    for (uint64_t users = b->users[j]; users; users &= users - 1)
      inside &= group[b->operator_of[__builtin_ctzll(users)]] == k;
    if (inside) memset(b->transfer_ns + (int64_t)j * cells, 0, (size_t)cells * sizeof *b->transfer_ns);
  }
}

/* Fills when devices are free and inputs arrive; with `copies` links are simulated, with channels idle at first. Inputs
 * are in their producers' memories, and where they were used before. */
static void start_vector(const lns *x, const block *b, int64_t *vector, block_copies *copies) {
  const situ_problem *p = x->s.problem;
  const situ_graph *g = p->graph;
  int32_t n = p->n_memories, base = p->n_devices + (copies ? p->platform->n_channels : 0);
  for (int32_t d = 0; d < base; d++) vector[d] = 0;
  for (int32_t k = 0; k < b->first; k++) {
    int32_t v = x->now.where.order[k];
    vector[x->now.where.device[v]] = max64(vector[x->now.where.device[v]], x->now.finish_ns[v]);
  }
  int64_t *there = vector + base;
  for (int32_t j = 0; j < b->n_entry; j++) {
    int32_t u = x->now.where.order[b->source[j]], m = p->memory_of[x->now.where.device[u]], t = b->real_tensor[j];
    for (int32_t w = 0; w < n; w++)
      there[j * n + w] = min64(x->now.finish_ns[u] + b->transfer_ns[((int64_t)j * n + m) * n + w], BLOCK_FAR_NS);
    if (!copies || j >= MAX_COPIES || (j + 1) * n > 64) continue;
    copies->home |= (uint64_t)m << (4 * j);
    copies->there |= (uint64_t)1 << (j * n + m);
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      if (x->now.critical.position[g->use[i]] < b->first)
        copies->there |= (uint64_t)1 << (j * n + p->memory_of[x->now.where.device[g->use[i]]]);
  }
}

/* The minimum time from the end of each operator on each device to the end of everything, through what follows the
 * window. */
static void tails_behind(const lns *x, const block *b, int64_t *behind_ns) {
  const situ_problem *p = x->s.problem;
  const situ_graph *g = p->graph;
  int32_t last = b->first + b->n - 1;
  int64_t next_ns[BLOCK_DEVICES] = {0};
  for (int32_t k = p->n_operators - 1; k > last; k--)
    next_ns[x->now.where.device[x->now.where.order[k]]] = x->now.critical.tail_ns[x->now.where.order[k]];
  for (int32_t i = 0; i < b->n; i++)
    for (int32_t d = 0; d < p->n_devices; d++) {
      int32_t v = b->operator_of[i];
      int64_t tail_ns = next_ns[d];
      for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
        for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++) {
          int32_t user = g->use[k];
          if (x->now.critical.position[user] > last)
            tail_ns = max64(tail_ns, sat_add(problem_transfer_ns(p, t, d, x->now.where.device[user]),
                                             x->now.critical.tail_ns[user]));
        }
      behind_ns[(int64_t)i * p->n_devices + d] = tail_ns;
    }
}

/* The current value of the window, computed as in the search. */
static int64_t window_value(const lns *x, const block *b) {
  int64_t value = 0;
  for (int32_t i = 0; i < b->n; i++) {
    int32_t v = b->operator_of[i], d = x->now.where.device[v];
    value = max64(value, x->now.finish_ns[v] + b->tail_ns[(int64_t)i * x->s.problem->n_devices + d]);
  }
  return value;
}

/* Puts the best result into the trial. */
static void read_filling(lns *x, const block *b, const block_front *end) {
  const situ_problem *p = x->s.problem;
  int32_t best = 0;
  for (int32_t i = 1; i < end->n; i++)
    if (end->bound_ns[i] < end->bound_ns[best]) best = i;
  current_copy(&x->trial, &x->now.where, p->n_operators);
  block_trace_read(&x->trace, end->step[best], &x->machine, x->trial.device, x->trial.order + b->first);
  for (int32_t i = 0; i < b->n; i++) {
    int32_t v = b->operator_of[i];
    if (moves_alone(p, v)) unit_members_put(unit_of(p, v), x->trial.device, x->trial.device[v]);
  }
}

/* Solves a window again. *found: a different result is in the trial. */
static situ_status fill_window(lns *x, int32_t first, int32_t last, bool *found) {
  solve_run *run = x->s.run;
  block b;
  bool fits;
  *found = false;
  if (!block_take(&b, &fits, &x->machine, &x->graph, first, last, false, x->scratch))
    return fits ? fail_no_memory(run->error) : SITU_STATUS_OK;
  int32_t none = -1, n = x->s.problem->n_devices;
  int64_t zero = 0, *behind_ns = ARENA_NEW(x->scratch, int64_t, (int64_t)b.n * n);
  bool contended = x->s.problem->contention == SITU_CONTENTION_LINK, links = contended && search_draw(&x->s, 2);
  block_copies copies = {0, 0};
  int64_t *vector = ARENA_NEW(x->scratch, int64_t,
                              n + x->s.problem->platform->n_channels + (int64_t)b.n_entry * x->s.problem->n_memories);
  if (!behind_ns || !vector) return fail_no_memory(run->error);
  fix_devices(x, &b);
  free_groups(x, &b);
  tails_behind(x, &b, behind_ns);
  block_set_open_tails(&b, behind_ns);
  start_vector(x, &b, vector, links ? &copies : NULL);
  int64_t value_ns = window_value(x, &b);
  block_front start = {.n = 1,
                       .n_tensors = b.n_entry,
                       .vectors = vector,
                       .step = &none,
                       .bound_ns = &zero,
                       .copies = &copies},
              end;
  int64_t per_step = block_children_per_step(x->s.problem);
  int64_t max_children = min64(search_get(&x->s, MAX_CHILDREN), sat_mul(budget_steps_left(run->budget), per_step));
  block_limits limits = {.width = (int32_t)search_get(&x->s, WIDTH),
                         .upper_ns = value_ns + (contended ? (int64_t)(SLACK * (double)value_ns) : 0),
                         .max_children = max_children,
                         .links = links,
                         .budget = run->budget};
  block_result result;
  x->trace.n = 0;
  if (!block_search(&result, &end, &b, &start, &limits, &x->trace, x->scratch, run->arena))
    return fail_no_memory(run->error);
  budget_spend(run->budget, result.n_children / per_step);
  if (result.finished && b.n == x->longest && x->longest < search_get(&x->s, LONGEST)) x->longest++;
  if (!result.finished && x->longest > search_get(&x->s, SHORTEST)) x->longest--;
  *found = result.finished && end.n > 0;
  if (*found) read_filling(x, &b, &end);
  return SITU_STATUS_OK;
}

static bool lns_propose(search *s, int32_t i) {
  lns *x = (lns *)s;
  int32_t n = s->problem->n_operators, shortest = (int32_t)search_get(s, SHORTEST);
  int32_t length = shortest + search_draw(s, x->longest - shortest + 1);
  if (length > n) length = n;
  int32_t first = search_draw(s, n - length + 1);
  bool found;
  arena_mark mark = arena_get_mark(x->scratch), kept = arena_get_mark(s->run->arena);
  s->status = fill_window(x, first, first + length - 1, &found);
  arena_release(x->scratch, mark);
  arena_release(s->run->arena, kept);
  budget_spend(s->run->budget, 1);
  return s->status == SITU_STATUS_OK && found;
}

static void lns_accept(search *s, double cost) {
  lns *x = (lns *)s;
  if (!take_over(x, &x->found)) s->status = fail_no_memory(s->run->error);
}

static situ_status lns_init(search *s) {
  lns *x = (lns *)s;
  const situ_problem *p = s->problem;
  x->ordered = arena_new();
  x->scratch = arena_new();
  x->trace = (block_trace){.room = TRACE_ROOM, .steps = ARENA_NEW(s->run->arena, block_step, TRACE_ROOM)};
  x->longest = (int32_t)search_get(s, FIRST_LENGTH);
  TRY(stream_search_init(s, false));
  if (!x->ordered || !x->scratch || !x->trace.steps || !block_machine_init(&x->machine, p, s->run->arena))
    return fail_no_memory(s->run->error);
  for (int32_t d = 0; d < p->n_devices; d++) x->machine.twin[d] = -1; /* the rest tells equal devices apart */
  x->empty = arena_get_mark(x->ordered);
  return SITU_STATUS_OK;
}

static bool lns_begin(search *s, bool restart) {
  lns *x = (lns *)s;
  current_copy(&x->trial, &s->run->incumbent->best, s->problem->n_operators);
  simulation found = simulator_run(s->run->simulator, &x->trial, !s->run->memory_is_free);
  if (!take_over(x, &found)) s->status = fail_no_memory(s->run->error);
  s->cost = x->now.cost;
  return s->status == SITU_STATUS_OK;
}

static void lns_finish(search *s) {
  lns *x = (lns *)s;
  arena_free(x->ordered);
  arena_free(x->scratch);
}

static const search_row LNS = {
    .size = sizeof(lns),
    .rule = SEARCH_NOT_WORSE,
    .parameters = LNS_PARAMETERS,
    .n_parameters = N_PARAMETERS,
    .init = lns_init,
    .begin = lns_begin,
    .propose = lns_propose,
    .evaluate = stream_search_simulate,
    .accept = lns_accept,
    .finish = lns_finish,
};

const solver lns_solver = {
    .name = "lns",
    .title = "large neighbourhood search: solves one window of the schedule after another",
    .source = "",
    .models = MODEL_STREAM,
    .anytime = true,
    .multistart = true,
    .serves = block_serves,
    .starts = {{&heft_solver, 1}, {&single_solver, 1}},
    .search = &LNS,
};
