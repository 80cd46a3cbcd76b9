/* The calls model: one input, an accelerator runs sub-graphs as single calls (docs/model.md, "calls"; Tarnawski et al.,
 * NeurIPS 2020, Appendix).
 *
 * A unit is a call or an operator on a host; it is identified by its first operator. A run processes the units in
 * topological order: O(V + E) with given calls. If calls are not given, each device examines the operators between its
 * first and its last, which is O(V + E) in total if devices hold neighbouring parts. Nothing is allocated. */
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "sim/models.h"
#include "view/footprint.h"

typedef struct calls {
  const situ_problem *problem;
  int64_t *footprint_bytes; /* [operator] */

  /* of a run */
  int32_t *piece;                /* [operator] */
  int32_t *call;                 /* [operator] -1 on hosts */
  int32_t *head;                 /* [call] its first operator */
  int32_t *unit;                 /* [operator] the first operator of its unit */
  int32_t *next, *last;          /* [operator] members of a unit as a list from its first operator; [unit] its end */
  int64_t *cost_ns;              /* [unit] duration */
  int64_t *waiting;              /* [unit] uses of tensors of other units that have not arrived */
  int32_t *seen;                 /* [unit] the last tensor that arrived */
  int32_t *queued;               /* [unit] the unit of the next call of its device, or -1 */
  int32_t *ready;                /* units in the order in which they became ready */
  int64_t *start_ns, *finish_ns; /* [operator] */
  int64_t *load_ns;              /* [device] */
  int64_t *weight_bytes, *max_footprint_bytes, *peak_bytes; /* [memory] */
  int32_t *first_of, *last_of;                              /* [device] lowest and highest operator */
} calls;

static void *make_calls(const situ_problem *p, arena *a) {
  int32_t n = p->n_operators, d = p->n_devices, w = p->n_memories;
  calls *m = ARENA_ZERO(a, calls, 1);
  if (!m) return NULL;
  m->problem = p;
  if (!(m->footprint_bytes = ARENA_NEW(a, int64_t, n)) || !(m->piece = ARENA_NEW(a, int32_t, n)) ||
      !(m->call = ARENA_NEW(a, int32_t, n)) || !(m->head = ARENA_NEW(a, int32_t, n)) ||
      !(m->unit = ARENA_NEW(a, int32_t, n)) || !(m->next = ARENA_NEW(a, int32_t, n)) ||
      !(m->last = ARENA_NEW(a, int32_t, n)) || !(m->cost_ns = ARENA_NEW(a, int64_t, n)) ||
      !(m->waiting = ARENA_NEW(a, int64_t, n)) || !(m->seen = ARENA_NEW(a, int32_t, n)) ||
      !(m->queued = ARENA_NEW(a, int32_t, n)) || !(m->ready = ARENA_NEW(a, int32_t, n)) ||
      !(m->start_ns = ARENA_NEW(a, int64_t, n)) || !(m->finish_ns = ARENA_NEW(a, int64_t, n)) ||
      !(m->load_ns = ARENA_NEW(a, int64_t, d)) || !(m->weight_bytes = ARENA_NEW(a, int64_t, w)) ||
      !(m->max_footprint_bytes = ARENA_NEW(a, int64_t, w)) || !(m->peak_bytes = ARENA_NEW(a, int64_t, w)) ||
      !(m->first_of = ARENA_NEW(a, int32_t, d)) || !(m->last_of = ARENA_NEW(a, int32_t, d)))
    return NULL;
  for (int32_t v = 0; v < n; v++) m->footprint_bytes[v] = footprint_bytes(p->graph, v);
  return m;
}

/* The published rule, for one device d: an operator of d is in the piece that follows all pieces which an input from
 * outside depends on. Pieces count from 1; 0: no path has passed d. All operators before the
 * first one of d have 0, those after the last do not matter. Returns the number of pieces. */
static int32_t split_device(calls *m, const int32_t *device, int32_t d, int32_t first_call) {
  const situ_graph *g = m->problem->graph;
  int32_t from = m->first_of[d], n_pieces = 0;
  for (int32_t v = from; v <= m->last_of[d]; v++) {
    bool here = device[v] == d;
    int32_t piece = here;
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]], reached = u < from ? 0 : m->piece[u];
      if (here && device[u] != d) reached++;
      if (reached > piece) piece = reached;
    }
    m->piece[v] = piece;
    if (!here) continue;
    m->call[v] = first_call + piece - 1;
    if (piece > n_pieces) n_pieces = piece;
  }
  return n_pieces;
}

static void split_devices(calls *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  for (int32_t d = 0; d < p->n_devices; d++) m->first_of[d] = -1;
  for (int32_t v = 0; v < p->n_operators; v++) {
    if (m->first_of[device[v]] < 0) m->first_of[device[v]] = v;
    m->last_of[device[v]] = v;
    m->call[v] = -1;
  }
  int32_t n = 0;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (m->first_of[d] >= 0 && !problem_is_host(p, d)) n += split_device(m, device, d, n);
}

/* Lists the members of each unit; false if a given call is invalid: out of range, on a host, or on two devices. */
static bool list_units(calls *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  for (int32_t v = 0; v < p->n_operators; v++) m->head[v] = -1;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t call = m->call[v];
    bool host = problem_is_host(p, device[v]);
    if (host ? call != -1 : call < 0 || call >= p->n_operators) return false;
    int32_t head = host ? -1 : m->head[call];
    if (head >= 0 && device[head] != device[v]) return false;
    m->next[v] = -1;
    if (head < 0) {
      m->unit[v] = m->last[v] = v;
      if (!host) m->head[call] = v;
    } else {
      m->unit[v] = head;
      m->next[m->last[head]] = v;
      m->last[head] = v;
    }
  }
  return true;
}

/* Whether no device has more calls than it may run. */
static bool keeps_max_calls(calls *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  int32_t *n_calls = m->first_of; /* [device] no longer in use */
  if (p->max_calls == INT32_MAX) return true;
  for (int32_t d = 0; d < p->n_devices; d++) n_calls[d] = 0;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (m->unit[v] == v && m->call[v] >= 0 && ++n_calls[device[v]] > p->max_calls) return false;
  return true;
}

/* Given calls of a device run in the order of their numbers. Calls of the published rule wait for each other anyway. */
static void queue_calls(calls *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  int32_t *last = m->last_of; /* [device] no longer in use */
  for (int32_t d = 0; d < p->n_devices; d++) last[d] = -1;
  for (int32_t k = 0; k < p->n_operators; k++) {
    int32_t unit = m->head[k], d = unit < 0 ? -1 : device[unit];
    if (unit < 0) continue;
    if (last[d] >= 0) {
      m->queued[last[d]] = unit;
      m->waiting[unit]++;
    }
    last[d] = unit;
  }
}

/* Durations and numbers of awaited inputs of all units; false if an operator cannot run on its device. */
static bool weigh_units(calls *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  const situ_graph *g = p->graph;
  bool runs = true;
  for (int32_t v = 0; v < p->n_operators; v++) {
    m->cost_ns[v] = m->waiting[v] = m->start_ns[v] = 0;
    m->seen[v] = m->queued[v] = -1;
  }
  for (int32_t v = 0; v < p->n_operators; v++) {
    int64_t time_ns = problem_time_ns(p, v, device[v]);
    runs &= time_ns != SITU_NEVER_NS;
    m->cost_ns[m->unit[v]] = sat_add(m->cost_ns[m->unit[v]], time_ns);
  }
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = m->unit[g->producer[t]];
    bool leaves = false;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = m->unit[g->use[i]], d = device[to];
      if (to == from) continue;
      leaves = true;
      m->waiting[to]++;
      if (m->seen[to] == t || problem_is_host(p, d)) continue;
      m->seen[to] = t;
      m->cost_ns[to] = sat_add(m->cost_ns[to], problem_transfer_ns(p, t, p->host, d));
    }
    if (leaves && !problem_is_host(p, device[from]))
      m->cost_ns[from] = sat_add(m->cost_ns[from], problem_transfer_ns(p, t, device[from], p->host));
  }
  return runs;
}

/* Times of all units in topological order; false if calls wait for each other in a cycle. */
static bool schedule_units(calls *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  const situ_graph *g = p->graph;
  int32_t n_ready = 0, n_units = 0;
  memset(m->load_ns, 0, (size_t)p->n_devices * sizeof *m->load_ns);
  for (int32_t v = 0; v < p->n_operators; v++) {
    if (m->unit[v] != v) continue;
    n_units++;
    if (m->waiting[v] == 0) m->ready[n_ready++] = v;
  }
  for (int32_t done = 0; done < n_ready; done++) {
    int32_t unit = m->ready[done];
    int64_t start = m->start_ns[unit], finish = sat_add(start, m->cost_ns[unit]);
    int64_t *load_ns = &m->load_ns[device[unit]];
    *load_ns = sat_add(*load_ns, m->cost_ns[unit]);
    int32_t after = m->queued[unit];
    if (after >= 0) {
      m->start_ns[after] = max64(m->start_ns[after], finish);
      if (--m->waiting[after] == 0) m->ready[n_ready++] = after;
    }
    for (int32_t v = unit; v >= 0; v = m->next[v]) {
      m->start_ns[v] = start;
      m->finish_ns[v] = finish;
      for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
        for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
          int32_t to = m->unit[g->use[i]];
          if (to == unit) continue;
          m->start_ns[to] = max64(m->start_ns[to], finish);
          if (--m->waiting[to] == 0) m->ready[n_ready++] = to;
        }
    }
  }
  ENSURE(n_ready <= n_units);
  return n_ready == n_units;
}

static int64_t count_memory(calls *m, const int32_t *device) {
  const situ_problem *p = m->problem;
  for (int32_t w = 0; w < p->n_memories; w++) m->weight_bytes[w] = m->max_footprint_bytes[w] = 0;
  for (int32_t v = 0; v < p->n_operators; v++) {
    int32_t w = p->memory_of[device[v]];
    m->weight_bytes[w] = sat_add(m->weight_bytes[w], p->graph->weight_bytes[v]);
    m->max_footprint_bytes[w] = max64(m->max_footprint_bytes[w], m->footprint_bytes[v]);
  }
  for (int32_t w = 0; w < p->n_memories; w++) m->peak_bytes[w] = sat_add(m->weight_bytes[w], m->max_footprint_bytes[w]);
  return platform_excess_bytes(p->platform, m->peak_bytes);
}

static void run_calls(void *model, const placement *where, bool memory, simulation *out) {
  calls *m = model;
  const situ_problem *p = m->problem;
  if (where->call)
    memcpy(m->call, where->call, (size_t)p->n_operators * sizeof *m->call);
  else
    split_devices(m, where->device);
  if (memory) {
    out->excess_bytes = count_memory(m, where->device);
    out->peak_bytes = m->peak_bytes;
  }
  if (!list_units(m, where->device) || !keeps_max_calls(m, where->device)) return;
  bool runs = weigh_units(m, where->device);
  if (where->call) queue_calls(m, where->device);
  if (!schedule_units(m, where->device)) return;
  out->start_ns = m->start_ns;
  out->finish_ns = m->finish_ns;
  out->load_ns = m->load_ns;
  int32_t latest = 0;
  for (int32_t v = 1; v < p->n_operators; v++)
    if (m->finish_ns[v] > m->finish_ns[latest]) latest = v;
  out->worst_device = where->device[latest];
  if (runs) out->value_ns = m->finish_ns[latest];
}

static situ_status plan_calls(void *model, const placement *where, situ_plan *plan, situ_error *error) {
  calls *m = model;
  const situ_problem *p = m->problem;
  simulation found = {.value_ns = SITU_NEVER_NS, .worst_device = -1};
  run_calls(model, where, true, &found);
  for (int32_t d = 0; d < p->n_devices; d++) plan->uses[d].memory_bytes = m->peak_bytes[p->memory_of[d]];
  if (found.value_ns == SITU_NEVER_NS) return SITU_STATUS_OK;
  plan->value_ns = found.value_ns;
  plan->call = ARENA_COPY(plan->arena, m->call, int32_t, p->n_operators);
  plan->start_ns = ARENA_COPY(plan->arena, m->start_ns, int64_t, p->n_operators);
  plan->finish_ns = ARENA_COPY(plan->arena, m->finish_ns, int64_t, p->n_operators);
  if (!plan->call || !plan->start_ns || !plan->finish_ns) return fail_no_memory(error);
  for (int32_t d = 0; d < p->n_devices; d++) plan->uses[d].load_ns = m->load_ns[d];
  return SITU_STATUS_OK;
}

const execution_model calls_model = {
    .execution = SITU_EXECUTION_CALLS, .make = make_calls, .run = run_calls, .plan = plan_calls};
