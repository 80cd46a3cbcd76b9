/* The program for one input in a stream: bound/latency_program.h, and for operators i, j of which neither must precede
 * the other
 *
 *     (4) o[i,j] + o[j,i] <= 1,  o[i,j] + o[j,i] >= x[i,d] + x[j,d] - 1
 *     (5) s[j] >= s[i] + sum over d of p[i,d] x[i,d] - M[i,j] (1 - o[i,j])
 *
 * with o 0 or 1 and M[i,j] = known value - minimum tail of i - minimum start of j, the smallest M that cuts off no
 * plan. Where the period matters,
 *
 *     (9)  P >= sum over i of p[i,d] x[i,d]
 *     (10) y[t,m,w] >= x[i,m] + x[j,w] - 1                                               j uses tensor t of i; m is not
 * w (11) P >= sum over t and m, w whose route has channel c of time[t,c] y[t,m,w]
 *
 * and P is what is minimized, with C at most its limit, or itself at most its limit. Without contention and with enough
 * memory this is the stream model. Links that serve one transfer at a time, and memory over time, are left to the
 * simulator, which judges what is found. */
#include "base/checked.h"
#include "base/fail.h"
#include "bound/latency_program.h"
#include "bound/linear_relaxation.h"
#include "graph/ancestors.h"
#include "solve/baselines/milp.h"
#include "solve/baselines/milp_units.h"
#include "solve/common/repair.h"
#include "view/unit.h"

enum { MAX_OPERATORS = 400, MAX_ENTRIES = 500000 };

typedef struct pair {
  int32_t i, j;   /* i < j */
  int32_t ij, ji; /* columns: i before j; j before i */
} pair;

typedef struct milp_stream_state {
  solve_run *run;
  latency_program latency;
  milp_units units;
  int32_t n_pairs;
  pair *pairs;
  int32_t *order;   /* of the latest solution read */
  int32_t *waiting; /* scratch [operator] inputs and pairs that are to come before it; below 0: in the order */
  int32_t *inputs;  /* scratch [operator] of these the inputs */
  double *when;     /* scratch [operator] */
  bit_rows above;   /* ancestors of each operator */
} milp_stream_state;

static bool milp_stream_serves(const situ_problem *p) {
  return p->execution == SITU_EXECUTION_STREAM && p->n_operators <= MAX_OPERATORS &&
         latency_program_fits(p, MAX_ENTRIES);
}

/* ---- pairs ---- */

/* The minimum tail over the devices that may run v. */
static int64_t min_tail(const latency_program *l, int32_t v) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t d = 0; d < l->problem->n_devices; d++)
    if (latency_x(l, v, d) >= 0) min = min64(min, l->tail[(int64_t)v * l->problem->n_devices + d]);
  return min;
}

static int64_t min_start(const latency_program *l, int32_t v) {
  int64_t min = SITU_NEVER_NS;
  for (int32_t d = 0; d < l->problem->n_devices; d++)
    if (latency_x(l, v, d) >= 0)
      min = min64(min, l->head[(int64_t)v * l->problem->n_devices + d] - problem_time_ns(l->problem, v, d));
  return min;
}

/* Row (5): i ends before j starts if `first` is 1. */
static void order_row(const latency_program *l, program *q, int32_t i, int32_t j, int32_t first) {
  int64_t slack = l->upper_ns - min_tail(l, i) - min_start(l, j);
  int64_t m = max64(slack, 0);
  program_row(q, -m, PROGRAM_ANY_HIGH);
  program_add(q, l->start[j], 1);
  program_add(q, l->start[i], -1);
  for (int32_t d = 0; d < l->problem->n_devices; d++)
    program_add(q, latency_x(l, i, d), -problem_time_ns(l->problem, i, d));
  program_add(q, first, -m);
}

static void part_pair(const latency_program *l, program *q, const pair *o) {
  bool together = unit_joins(l->problem, o->i, o->j);
  program_row(q, together ? 1 : PROGRAM_ANY_LOW, 1);
  program_add(q, o->ij, 1);
  program_add(q, o->ji, 1);
  for (int32_t d = 0; d < l->problem->n_devices && !together; d++) {
    int32_t x = latency_x(l, o->i, d), y = latency_x(l, o->j, d);
    if (x < 0 || y < 0) continue;
    program_row(q, -1, PROGRAM_ANY_HIGH);
    program_add(q, o->ij, 1);
    program_add(q, o->ji, 1);
    program_add(q, x, -1);
    program_add(q, y, -1);
  }
  order_row(l, q, o->i, o->j, o->ij);
  order_row(l, q, o->j, o->i, o->ji);
}

/* Whether both may be on one device. */
static bool can_meet(const latency_program *l, int32_t i, int32_t j) {
  for (int32_t d = 0; d < l->problem->n_devices; d++)
    if (latency_x(l, i, d) >= 0 && latency_x(l, j, d) >= 0) return true;
  return false;
}

static bool add_pairs(milp_stream_state *s, program *q, arena *a) {
  const latency_program *l = &s->latency;
  int64_t n = l->problem->n_operators;
  s->pairs = ARENA_NEW(a, pair, n * (n - 1) / 2);
  if (!s->pairs) return false;
  for (int32_t j = 0; j < n; j++)
    for (int32_t i = 0; i < j; i++) {
      if (bit_rows_has(&s->above, j, i) || !can_meet(l, i, j)) continue;
      pair *o = &s->pairs[s->n_pairs++];
      *o = (pair){i, j, program_column(q, 0, 1, true), program_column(q, 0, 1, true)};
      part_pair(l, q, o);
    }
  return true;
}

/* ---- the period ---- */

/* Adds `by` times x[v, m], for all devices of a memory. */
static void add_memory(const latency_program *l, program *q, int32_t v, int32_t m, int64_t by) {
  for (int32_t d = 0; d < l->problem->n_devices; d++)
    if (l->problem->memory_of[d] == m) program_add(q, latency_x(l, v, d), by);
}

/* Rows (10) of a tensor and its column. */
static void cross(const latency_program *l, int32_t *y, program *q, int32_t t, int32_t m, int32_t w) {
  const situ_graph *g = l->problem->graph;
  *y = program_column(q, 0, 1, false);
  for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++) {
    program_row(q, -1, PROGRAM_ANY_HIGH);
    program_add(q, *y, 1);
    add_memory(l, q, g->producer[t], m, -1);
    add_memory(l, q, g->use[k], w, -1);
  }
}

/* Row (11) of a channel. */
static void channel_row(const latency_program *l, const int32_t *y, program *q, int32_t period, int32_t channel) {
  const situ_problem *p = l->problem;
  const situ_platform *f = p->platform;
  int32_t pairs = p->n_memories * p->n_memories;
  program_row(q, 0, PROGRAM_ANY_HIGH);
  program_add(q, period, 1);
  for (int32_t route = 0; route < pairs; route++)
    for (int32_t k = f->route_start[route]; k < f->route_start[route + 1]; k++) {
      int32_t link = f->route_link[k];
      for (int32_t t = 0; f->links[link].channel == channel && t < p->graph->n_tensors; t++)
        program_add(q, y[(int64_t)t * pairs + route], -p->transfer_ns[t][p->costs->link_kind[link]]);
    }
}

/* Rows (9) to (11). */
static bool add_period(const latency_program *l, program *q, int32_t period, arena *a) {
  const situ_problem *p = l->problem;
  int32_t pairs = p->n_memories * p->n_memories;
  int32_t *y = ARENA_NEW(a, int32_t, (int64_t)p->graph->n_tensors * pairs);
  if (!y) return false;
  for (int32_t d = 0; d < p->n_devices; d++) {
    program_row(q, 0, PROGRAM_ANY_HIGH);
    program_add(q, period, 1);
    for (int32_t v = 0; v < p->n_operators; v++)
      if (latency_x(l, v, d) >= 0) program_add(q, latency_x(l, v, d), -problem_time_ns(p, v, d));
  }
  for (int32_t t = 0; t < p->graph->n_tensors; t++)
    for (int32_t route = 0; route < pairs; route++) {
      int32_t m = route / p->n_memories, w = route % p->n_memories, *at = &y[(int64_t)t * pairs + route];
      *at = -1;
      if (m != w) cross(l, at, q, t, m, w);
    }
  for (int32_t c = 0; c < p->platform->n_channels; c++) channel_row(l, y, q, period, c);
  return true;
}

/* The period as a column: limited, or the value of the program in place of the latency, which then is limited. */
static bool mind_period(const latency_program *l, program *q, const incumbent *best, arena *a) {
  const situ_problem *p = l->problem;
  if (!problem_has_period(p)) return true;
  bool minimize = p->objective == SITU_OBJECTIVE_THROUGHPUT;
  int64_t upper_ns = min64(problem_serial_ns(p, 0), minimize ? best->value_ns : p->max_period_ns);
  int64_t lower_ns = minimize ? min64(best->lower_bound_ns, upper_ns) : 0;
  int32_t period = program_column(q, lower_ns, upper_ns, false);
  if (period < 0) return false;
  q->unit[period] = program_unit_of(upper_ns);
  q->cost[period] = minimize;
  if (minimize) q->cost[l->makespan] = 0;
  return add_period(l, q, period, a);
}

/* ---- the row ---- */

static void *write_program(program *q, solve_run *run) {
  arena *a = run->arena;
  const situ_problem *p = run->problem;
  milp_stream_state *s = ARENA_ZERO(a, milp_stream_state, 1);
  int64_t upper_ns = p->objective == SITU_OBJECTIVE_THROUGHPUT ? p->max_latency_ns : run->incumbent->value_ns;
  if (!s || !latency_program_write(&s->latency, q, p, upper_ns, true, a)) return NULL;
  s->run = run;
  s->units = (milp_units){
      .problem = p, .n_units = p->units.n, .n_devices = p->n_devices, .unit_of = p->units.of, .x = s->latency.x};
  if (!ARENA_ARRAYS(a, ARRAY(s->order, p->n_operators), ARRAY(s->waiting, p->n_operators),
                    ARRAY(s->inputs, p->n_operators), ARRAY(s->when, p->n_operators)) ||
      !equal_devices_find(&s->units.equal, p, EQUAL_LINKED, a) || !milp_units_init(&s->units, a) ||
      !ancestors_find(&s->above, p->graph, a) || !add_pairs(s, q, a) || !mind_period(&s->latency, q, run->incumbent, a))
    return NULL;
  milp_break_symmetry(&s->units, q);
  return s;
}

static bool start_from(void *context, int64_t *x) {
  milp_stream_state *s = context;
  const placement *best = &s->run->incumbent->best;
  if (!milp_write_devices(&s->units, best->device, x)) return false;
  for (int32_t k = 0; k < s->latency.problem->n_operators; k++) s->waiting[best->order ? best->order[k] : k] = k;
  for (int32_t k = 0; k < s->n_pairs; k++) {
    const pair *o = &s->pairs[k];
    if (best->device[o->i] != best->device[o->j]) continue;
    x[s->waiting[o->i] < s->waiting[o->j] ? o->ij : o->ji] = 1;
  }
  return true;
}

/* What pair o says about two operators on one device: 1 for i first, -1 for j first, 0 for nothing. */
static int first_of(const milp_stream_state *s, const pair *o, const double *x) {
  if (s->units.operator_device[o->i] != s->units.operator_device[o->j]) return 0;
  return x[o->ij] >= x[o->ji] ? 1 : -1;
}

/* The earliest of the operators of which `count` is 0 and that are not yet in the order; -1: there is none. */
static int32_t earliest(const milp_stream_state *s, const int32_t *count) {
  int32_t next = -1;
  for (int32_t v = 0; v < s->latency.problem->n_operators; v++)
    if (count[v] == 0 && s->waiting[v] >= 0 && (next < 0 || s->when[v] < s->when[next])) next = v;
  return next;
}

/* Operator v is in the order: one thing less to wait for. */
static void pass_on(milp_stream_state *s, int32_t v, const double *x) {
  const situ_graph *g = s->latency.problem->graph;
  s->waiting[v] = INT32_MIN / 2;
  for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
    for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++) {
      s->waiting[g->use[k]]--;
      s->inputs[g->use[k]]--;
    }
  for (int32_t k = 0; k < s->n_pairs; k++) {
    const pair *o = &s->pairs[k];
    int first = o->i == v || o->j == v ? first_of(s, o, x) : 0;
    if (first > 0 && o->i == v) s->waiting[o->j]--;
    if (first < 0 && o->j == v) s->waiting[o->i]--;
  }
}

/* Reads the order: by start, but topological and consistent with the pairs, since starts are rounded. Where pairs form
 * a cycle, its operators take no time and start together: then any order of them will do. */
static void read_order(milp_stream_state *s, const double *x) {
  const situ_graph *g = s->latency.problem->graph;
  int32_t n = g->n_operators;
  for (int32_t v = 0; v < n; v++) {
    s->when[v] = x[s->latency.start[v]];
    s->waiting[v] = s->inputs[v] = (int32_t)(g->in_start[v + 1] - g->in_start[v]);
  }
  for (int32_t k = 0; k < s->n_pairs; k++) {
    int first = first_of(s, &s->pairs[k], x);
    if (first != 0) s->waiting[first > 0 ? s->pairs[k].j : s->pairs[k].i]++;
  }
  for (int32_t at = 0; at < n; at++) {
    int32_t next = earliest(s, s->waiting);
    if (next < 0) next = earliest(s, s->inputs);
    s->order[at] = next;
    pass_on(s, next, x);
  }
}

static void offer(void *context, const double *x) {
  milp_stream_state *s = context;
  if (!milp_read_devices(&s->units, x)) return;
  read_order(s, x);
  repair_offer(s->run, &(placement){.device = s->units.operator_device, .order = s->order});
}

/* Bounds the latency by the root of the program, given what the best plan so far rules out. */
static situ_status prove(solve_run *run) {
  if (run->problem->objective == SITU_OBJECTIVE_THROUGHPUT) return SITU_STATUS_OK;
  certificate proof = {0};
  int64_t lower_ns = 0;
  arena_mark mark = arena_get_mark(run->arena);
  if (!linear_relaxation_find(&lower_ns, &proof, run->problem, run->incumbent->value_ns, MAX_ENTRIES, run->arena,
                              run->budget))
    return fail_no_memory(run->error);
  proof.bound = "linear_relaxation";
  situ_status status = proof.kind ? solve_prove(run, &proof) : SITU_STATUS_OK;
  arena_release(run->arena, mark);
  return status;
}

const milp_program milp_stream = {
    .serves = milp_stream_serves, .write = write_program, .start = start_from, .offer = offer, .prove = prove};
