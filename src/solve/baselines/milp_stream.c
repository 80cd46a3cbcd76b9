/* The program for one input in a stream: bound/latency_program.h, and for operators i, j of which neither must precede
 * the other
 *
 *     (4) o[i,j] + o[j,i] <= 1,  o[i,j] + o[j,i] >= x[i,d] + x[j,d] - 1
 *     (5) s[j] >= s[i] + sum over d of p[i,d] x[i,d] - M[i,j] (1 - o[i,j])
 *
 * with o 0 or 1 and M[i,j] = known value - minimum tail of i - minimum start of j, the smallest M that cuts off no
 * plan. Where the period is limited, the sum over i of p[i,d] x[i,d] is at most that limit. Without contention and with
 * enough memory this is the stream model. Links that serve one transfer at a time or have a period of their own, and
 * memory over time, are left to the simulator, which judges what is found. */
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
  int32_t *waiting; /* scratch [operator] */
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

/* No device works longer than the period limit. The simulator checks links. */
static void limit_period(const latency_program *l, program *q) {
  const situ_problem *p = l->problem;
  for (int32_t d = 0; d < p->n_devices && p->max_period_ns < SITU_NEVER_NS; d++) {
    program_row(q, PROGRAM_ANY_LOW, p->max_period_ns);
    for (int32_t v = 0; v < p->n_operators; v++)
      if (latency_x(l, v, d) >= 0) program_add(q, latency_x(l, v, d), problem_time_ns(p, v, d));
  }
}

/* ---- the row ---- */

static void *write_program(program *q, solve_run *run) {
  arena *a = run->arena;
  const situ_problem *p = run->problem;
  milp_stream_state *s = ARENA_ZERO(a, milp_stream_state, 1);
  if (!s || !latency_program_write(&s->latency, q, p, run->incumbent->value_ns, true, a)) return NULL;
  s->run = run;
  s->units = (milp_units){
      .problem = p, .n_units = p->units.n, .n_devices = p->n_devices, .unit_of = p->units.of, .x = s->latency.x};
  if (!ARENA_ARRAYS(a, ARRAY(s->order, p->n_operators), ARRAY(s->waiting, p->n_operators),
                    ARRAY(s->when, p->n_operators)) ||
      !equal_devices_find(&s->units.equal, p, EQUAL_LINKED, a) || !milp_units_init(&s->units, a) ||
      !ancestors_find(&s->above, p->graph, a) || !add_pairs(s, q, a))
    return NULL;
  limit_period(&s->latency, q);
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

/* Reads the order: by start, but topological and consistent with the pairs, since starts are rounded. False where the
 * pairs form a cycle. */
static bool read_order(milp_stream_state *s, const double *x) {
  const situ_graph *g = s->latency.problem->graph;
  int32_t n = g->n_operators;
  for (int32_t v = 0; v < n; v++) {
    s->when[v] = x[s->latency.start[v]];
    s->waiting[v] = (int32_t)(g->in_start[v + 1] - g->in_start[v]);
  }
  for (int32_t k = 0; k < s->n_pairs; k++) {
    int first = first_of(s, &s->pairs[k], x);
    if (first != 0) s->waiting[first > 0 ? s->pairs[k].j : s->pairs[k].i]++;
  }
  for (int32_t at = 0; at < n; at++) {
    int32_t next = -1;
    for (int32_t v = 0; v < n; v++)
      if (s->waiting[v] == 0 && (next < 0 || s->when[v] < s->when[next])) next = v;
    if (next < 0) return false;
    s->order[at] = next;
    s->waiting[next] = -1;
    for (int32_t t = g->out_start[next]; t < g->out_start[next + 1]; t++)
      for (int64_t k = g->use_start[t]; k < g->use_start[t + 1]; k++) s->waiting[g->use[k]]--;
    for (int32_t k = 0; k < s->n_pairs; k++) {
      const pair *o = &s->pairs[k];
      int first = o->i == next || o->j == next ? first_of(s, o, x) : 0;
      if (first > 0 && o->i == next) s->waiting[o->j]--;
      if (first < 0 && o->j == next) s->waiting[o->i]--;
    }
  }
  return true;
}

static void offer(void *context, const double *x) {
  milp_stream_state *s = context;
  if (!milp_read_devices(&s->units, x) || !read_order(s, x)) return;
  repair_offer(s->run, &(placement){.device = s->units.operator_device, .order = s->order});
}

/* Bounds the value by the root of the program, given what the best plan so far rules out. */
static situ_status prove(solve_run *run) {
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
