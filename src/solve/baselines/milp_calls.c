/* The program for one input in calls on accelerators (Tarnawski et al., NeurIPS 2020, latency program), over slots k:
 * each host is one slot, and each accelerator has one for each call that it may run.
 *
 *     min C
 *     sum over k of x[v,k] = 1;  sum over k of d of x[u,k] = sum over k of d of x[v,k]       u, v colocated
 *     in[t,k] >= x[v,k] - x[u,k],  out[t,k] >= x[u,k] - x[v,k]                  u makes t, v uses it; k a call
 *     end[k] = begin[k] + 1 + sum of p[v,k] x[v,k] + sum of (c_in[t,k] in[t,k] + c_out[t,k] out[t,k])
 *     begin[k] >= lat[u] - M (1 - in[t,k]),  lat[v] >= end[k] - M (1 - x[v,k])
 *     lat[v] >= lat[u] + sum over hosts k of p[v,k] x[v,k],  lat[v] >= sum over k of head[v,k] x[v,k],  C >= lat[v]
 *     begin[k] >= end[k - 1]                                                    both calls of one device
 *     sum of weights[v] x[v,k] + f[m] <= room[m],  f[m] >= footprint[v] x[v,k]  k on memory m
 *
 * A call cannot wait for itself, through other calls or hosts, because each call has a positive length: that is the
 * purpose of the 1, which is one tick. A nanosecond has more ticks than there are calls, so these ticks never add up to
 * one. M is the known value, which nothing in a plan of interest exceeds. */
#include "base/checked.h"
#include "base/fail.h"
#include "bound/bound.h"
#include "solve/baselines/milp.h"
#include "solve/baselines/milp_units.h"
#include "view/footprint.h"

enum { MIN_CALLS = 2, MAX_CALLS = 8 }; /* on each accelerator */
static const int64_t LONGEST_TICKS = (int64_t)1 << 52, MAX_ENTRIES = 500000;

typedef struct milp_calls_state {
  solve_run *run;
  const situ_problem *problem;
  milp_units units; /* its units are the operators, its devices the slots */
  int32_t n_slots, n_calls;
  int32_t *device_of;       /* [slot] */
  bool *is_call;            /* [slot] */
  int32_t *x;               /* [operator * n_slots + slot] */
  int32_t *begin, *end;     /* [slot] of calls */
  int32_t *finish;          /* [operator] lat above */
  int32_t *known;           /* [operator] slots of the best plan; NULL where it has more calls */
  int32_t *call, *device;   /* [operator] scratch */
  int64_t *head;            /* [operator * n_devices + device] */
  int64_t ticks, max_ticks; /* ticks in a nanosecond, in the longest plan */
} milp_calls_state;

/* Slots of an accelerator: as many as it may have calls, unless the program would get too large. */
static int32_t min_calls(const situ_problem *p) { return p->max_calls <= MAX_CALLS ? p->max_calls : MIN_CALLS; }

static bool milp_calls_serves(const situ_problem *p) {
  if (p->execution != SITU_EXECUTION_CALLS || p->n_operators == 0) return false;
  int64_t slots = (int64_t)p->n_devices * min_calls(p), uses = sat_add(p->graph->n_uses, p->graph->n_tensors);
  return sat_mul(sat_mul(uses, 9), slots) + sat_mul((int64_t)p->n_operators * 8, slots) <= MAX_ENTRIES;
}

/* ---- slots ---- */

/* known[v]: how many calls its device runs before that of v. Returns the maximum over devices. number[call] and
 * used[device], which must be zero, are scratch. */
static int32_t number_calls(int32_t *known, int32_t *number, int32_t *used, const situ_plan *plan) {
  int32_t n = plan->n_operators, max = 0;
  for (int32_t k = 0; k < n; k++) number[k] = -1;
  for (int32_t v = 0; v < n; v++)
    if (plan->call[v] >= 0) number[plan->call[v]] = plan->device[v];
  for (int32_t k = 0; k < n; k++)
    if (number[k] >= 0) {
      int32_t d = number[k];
      number[k] = used[d]++;
      if (used[d] > max) max = used[d];
    }
  for (int32_t v = 0; v < n; v++) known[v] = plan->call[v] < 0 ? 0 : number[plan->call[v]];
  return max;
}

/* Finds the calls of the best plan by device, and the maximum number on one device. */
static situ_status find_calls(milp_calls_state *s, int32_t *max) {
  const situ_problem *p = s->problem;
  arena *a = s->run->arena;
  situ_plan *plan = NULL;
  *max = 0;
  if (!s->run->incumbent->best.device) return SITU_STATUS_OK;
  TRY(simulator_plan(&plan, s->run->simulator, &s->run->incumbent->best, s->run->error));
  int32_t *number = ARENA_NEW(a, int32_t, p->n_operators), *used = ARENA_ZERO(a, int32_t, p->n_devices);
  s->known = ARENA_NEW(a, int32_t, p->n_operators);
  situ_status status = number && used && s->known ? SITU_STATUS_OK : fail_no_memory(s->run->error);
  if (status == SITU_STATUS_OK) *max = number_calls(s->known, number, used, plan);
  situ_plan_free(plan);
  return status;
}

/* Makes the slots of hosts and calls in the order of their devices; known[] becomes slots. */
static bool make_slots(milp_calls_state *s, int32_t calls) {
  const situ_problem *p = s->problem;
  arena *a = s->run->arena;
  int32_t *first = ARENA_NEW(a, int32_t, p->n_devices);
  int64_t max = (int64_t)p->n_devices * calls;
  s->device_of = ARENA_NEW(a, int32_t, max);
  s->is_call = ARENA_NEW(a, bool, max);
  s->begin = ARENA_NEW(a, int32_t, max);
  s->end = ARENA_NEW(a, int32_t, max);
  if (!first || !s->device_of || !s->is_call || !s->begin || !s->end) return false;
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool host = problem_is_host(p, d);
    first[d] = s->n_slots;
    for (int32_t k = 0; k < (host ? 1 : calls); k++) {
      s->device_of[s->n_slots] = d;
      s->is_call[s->n_slots++] = !host;
    }
    s->n_calls += host ? 0 : calls;
  }
  for (int32_t v = 0; s->known && v < p->n_operators; v++) s->known[v] += first[s->run->incumbent->best.device[v]];
  return true;
}

static int32_t x_of(const milp_calls_state *s, int32_t v, int32_t k) { return s->x[(int64_t)v * s->n_slots + k]; }

/* ---- columns and rows ---- */

static void add_columns(milp_calls_state *s, program *q) {
  const situ_problem *p = s->problem;
  double unit = program_unit_of(s->max_ticks);
  for (int32_t v = 0; v < p->n_operators; v++)
    for (int32_t k = 0; k < s->n_slots; k++)
      s->x[(int64_t)v * s->n_slots + k] = problem_allows(p, v, s->device_of[k]) ? program_column(q, 0, 1, true) : -1;
  int32_t first = q->n_columns;
  for (int32_t v = 0; v < p->n_operators; v++) s->finish[v] = program_column(q, 0, s->max_ticks, false);
  for (int32_t k = 0; k < s->n_slots; k++) {
    if (!s->is_call[k]) continue;
    s->begin[k] = program_column(q, 0, s->max_ticks, false);
    s->end[k] = program_column(q, 0, s->max_ticks, false);
  }
  for (int32_t j = first; j < q->n_columns; j++) q->unit[j] = unit;
}

/* left >= right - most (1 - given): a constraint that holds only if a binary column is 1. */
static void follow_row(const milp_calls_state *s, program *q, int32_t left, int32_t right, int32_t given) {
  program_row(q, -s->max_ticks, PROGRAM_ANY_HIGH);
  program_add(q, left, 1);
  program_add(q, right, -1);
  program_add(q, given, -s->max_ticks);
}

/* Adds a column that is 1 where `inside` is 1 and `outside` is not. */
static void cut_row(program *q, int32_t cut, int32_t inside, int32_t outside) {
  if (inside < 0) return;
  program_row(q, 0, PROGRAM_ANY_HIGH);
  program_add(q, cut, 1);
  program_add(q, inside, -1);
  program_add(q, outside, 1);
}

/* Adds what enters or leaves call k, with its price in the row of its length. */
static void add_cuts(const milp_calls_state *s, program *q, int32_t k, int32_t *in, int32_t *out) {
  const situ_graph *g = s->problem->graph;
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t u = g->producer[t];
    in[t] = out[t] = -1;
    if (g->use_start[t] == g->use_start[t + 1]) continue;
    in[t] = program_column(q, 0, 1, false);
    out[t] = program_column(q, 0, 1, false);
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      cut_row(q, in[t], x_of(s, g->use[i], k), x_of(s, u, k));
      cut_row(q, out[t], x_of(s, u, k), x_of(s, g->use[i], k));
    }
    follow_row(s, q, s->begin[k], s->finish[u], in[t]);
  }
}

/* in and out are scratch [tensor]. */
static void add_call(const milp_calls_state *s, program *q, int32_t k, int32_t *in, int32_t *out) {
  const situ_problem *p = s->problem;
  int32_t d = s->device_of[k];
  add_cuts(s, q, k, in, out);
  if (k > 0 && s->device_of[k - 1] == d) {
    program_row(q, 0, PROGRAM_ANY_HIGH);
    program_add(q, s->begin[k], 1);
    program_add(q, s->end[k - 1], -1);
  }
  program_row(q, 1, 1);
  program_add(q, s->end[k], 1);
  program_add(q, s->begin[k], -1);
  for (int32_t v = 0; v < p->n_operators; v++)
    if (x_of(s, v, k) >= 0) program_add(q, x_of(s, v, k), -s->ticks * problem_time_ns(p, v, d));
  for (int32_t t = 0; t < p->graph->n_tensors; t++) {
    program_add(q, in[t], -s->ticks * problem_transfer_ns(p, t, p->host, d));
    program_add(q, out[t], -s->ticks * problem_transfer_ns(p, t, d, p->host));
  }
  for (int32_t v = 0; v < p->n_operators; v++)
    if (x_of(s, v, k) >= 0) follow_row(s, q, s->finish[v], s->end[k], x_of(s, v, k));
}

static void add_operators(const milp_calls_state *s, program *q, int32_t makespan) {
  const situ_problem *p = s->problem;
  const situ_graph *g = p->graph;
  for (int32_t v = 0; v < p->n_operators; v++) {
    for (int64_t i = g->in_start[v] - 1; i < g->in_start[v + 1]; i++) { /* first once without an input */
      program_row(q, 0, PROGRAM_ANY_HIGH);
      program_add(q, s->finish[v], 1);
      if (i >= g->in_start[v]) program_add(q, s->finish[g->producer[g->in[i]]], -1);
      for (int32_t k = 0; k < s->n_slots; k++)
        if (!s->is_call[k] && x_of(s, v, k) >= 0)
          program_add(q, x_of(s, v, k), -s->ticks * problem_time_ns(p, v, s->device_of[k]));
    }
    program_row(q, 0, PROGRAM_ANY_HIGH);
    program_add(q, s->finish[v], 1);
    for (int32_t k = 0; k < s->n_slots; k++) {
      int64_t head = s->head[(int64_t)v * p->n_devices + s->device_of[k]];
      if (x_of(s, v, k) >= 0) program_add(q, x_of(s, v, k), -s->ticks * min64(head, s->max_ticks / s->ticks));
    }
    program_row(q, 0, PROGRAM_ANY_HIGH);
    program_add(q, makespan, 1);
    program_add(q, s->finish[v], -1);
  }
}

/* Each operator has one slot, and colocated operators have slots of one device. */
static void add_slots(const milp_calls_state *s, program *q) {
  const situ_problem *p = s->problem;
  for (int32_t v = 0; v < p->n_operators; v++) {
    program_row(q, 1, 1);
    for (int32_t k = 0; k < s->n_slots; k++) program_add(q, x_of(s, v, k), 1);
  }
  for (int32_t u = 0; u < p->units.n; u++)
    for (int32_t i = p->units.start[u] + 1; i < p->units.start[u + 1]; i++)
      for (int32_t d = 0; d < p->n_devices; d++) {
        program_row(q, 0, 0);
        for (int32_t k = 0; k < s->n_slots; k++) {
          if (s->device_of[k] != d) continue;
          program_add(q, x_of(s, p->units.member[i - 1], k), 1);
          program_add(q, x_of(s, p->units.member[i], k), -1);
        }
      }
}

static void add_memories(const milp_calls_state *s, program *q) {
  const situ_problem *p = s->problem;
  int64_t all = 0, max = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    all = sat_add(all, p->graph->weight_bytes[v]);
    max = max64(max, footprint_bytes(p->graph, v));
  }
  for (int32_t m = 0; m < p->n_memories; m++) {
    int64_t room = p->platform->memory_bytes[m];
    if (room >= sat_add(all, max) || sat_add(all, max) == INT64_MAX) continue;
    int32_t greatest = program_column(q, 0, max, false);
    if (greatest < 0) return;
    q->unit[greatest] = program_unit_of(max);
    for (int32_t v = 0; v < p->n_operators; v++)
      for (int32_t k = 0; k < s->n_slots; k++) {
        if (p->memory_of[s->device_of[k]] != m || x_of(s, v, k) < 0) continue;
        program_row(q, 0, PROGRAM_ANY_HIGH);
        program_add(q, greatest, 1);
        program_add(q, x_of(s, v, k), -footprint_bytes(p->graph, v));
      }
    program_row(q, PROGRAM_ANY_LOW, room);
    program_add(q, greatest, 1);
    for (int32_t v = 0; v < p->n_operators; v++)
      for (int32_t k = 0; k < s->n_slots; k++)
        if (p->memory_of[s->device_of[k]] == m) program_add(q, x_of(s, v, k), p->graph->weight_bytes[v]);
  }
}

/* ---- the row ---- */

/* All operators and transfers in sequence: no plan of interest takes longer. */
static int64_t serial_ns(const situ_problem *p) {
  int64_t sum = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t max = 0;
    for (int32_t d = 0; d < p->n_devices; d++)
      if (problem_time_ns(p, v, d) != SITU_NEVER_NS) max = max64(max, problem_time_ns(p, v, d));
    sum = sat_add(sum, max);
  }
  for (int32_t t = 0; t < p->graph->n_tensors; t++)
    for (int32_t k = 0; k < p->n_kinds; k++)
      sum = sat_add(sum, sat_mul(p->transfer_ns[t][k], 1 + p->graph->use_start[t + 1] - p->graph->use_start[t]));
  return sum;
}

static bool milp_calls_init(milp_calls_state *s) {
  const situ_problem *p = s->problem;
  arena *a = s->run->arena;
  int32_t *unit_of;
  int64_t n = p->n_operators, *tail;
  if (!ARENA_ARRAYS(a, ARRAY(unit_of, n), ARRAY(s->x, n * s->n_slots), ARRAY(s->finish, n), ARRAY(s->call, n),
                    ARRAY(s->device, n), ARRAY(s->head, n * p->n_devices), ARRAY(tail, n * p->n_devices)))
    return false;
  for (int32_t v = 0; v < p->n_operators; v++) unit_of[v] = v;
  s->units.problem = p;
  s->units.n_units = p->n_operators;
  s->units.n_devices = s->n_slots;
  s->units.unit_of = unit_of;
  s->units.x = s->x;
  return bound_heads_tails(s->head, tail, p) && milp_units_init(&s->units, a);
}

static void *write_program(program *q, solve_run *run) {
  const situ_problem *p = run->problem;
  milp_calls_state *s = ARENA_ZERO(run->arena, milp_calls_state, 1);
  int32_t max;
  if (!s) return NULL;
  s->run = run;
  s->problem = p;
  if (find_calls(s, &max) != SITU_STATUS_OK) return NULL;
  int32_t min = min_calls(p), calls = max < min ? min : max;
  if (calls > MAX_CALLS) {
    calls = min;
    s->known = NULL;
  }
  if (!make_slots(s, calls) || !milp_calls_init(s)) return NULL;
  s->ticks = s->n_calls + 1;
  int64_t upper_ns = min64(run->incumbent->value_ns, serial_ns(p));
  if (upper_ns > LONGEST_TICKS / s->ticks) return s;
  s->max_ticks = s->ticks * upper_ns + s->n_calls;
  int32_t makespan = program_column(q, 0, s->max_ticks, false);
  if (makespan < 0) return NULL;
  q->cost[makespan] = 1;
  q->unit[makespan] = program_unit_of(s->max_ticks);
  add_columns(s, q);
  if (q->out_of_memory) return NULL;
  add_slots(s, q);
  add_operators(s, q, makespan);
  int32_t *in, *out;
  if (!ARENA_ARRAYS(run->arena, ARRAY(in, p->graph->n_tensors), ARRAY(out, p->graph->n_tensors))) return NULL;
  for (int32_t k = 0; k < s->n_slots; k++)
    if (s->is_call[k]) add_call(s, q, k, in, out);
  add_memories(s, q);
  return s;
}

static bool start_from(void *context, int64_t *x) {
  milp_calls_state *s = context;
  return s->known && milp_write_devices(&s->units, s->known, x);
}

static int64_t ticks(const void *context) { return ((const milp_calls_state *)context)->ticks; }

static void offer(void *context, const double *x) {
  milp_calls_state *s = context;
  if (!milp_read_devices(&s->units, x)) return;
  const int32_t *slot = s->units.operator_device;
  for (int32_t k = 0, n = 0; k < s->n_slots; k++) {
    bool used = false;
    for (int32_t v = 0; v < s->problem->n_operators; v++) {
      if (slot[v] != k) continue;
      s->device[v] = s->device_of[k];
      s->call[v] = s->is_call[k] ? n : -1;
      used |= s->is_call[k];
    }
    n += used;
  }
  solve_offer(s->run, &(placement){.device = s->device, .call = s->call});
  solve_offer(s->run, &(placement){.device = s->device}); /* the splitting rule may improve it further */
}

const milp_program milp_calls = {
    .serves = milp_calls_serves, .write = write_program, .start = start_from, .ticks = ticks, .offer = offer};
