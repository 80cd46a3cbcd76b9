/* The judge of calls: the latency recurrence, from the calls that the plan gives. Sums of times saturate. */
#include "base/checked.h"
#include "base/fail.h"
#include "check/model_rules.h"

/* Calls and operators of hosts are units. A unit is known by the operator that comes first in it. */
typedef struct units {
  int32_t *of;                          /* [operator] */
  int64_t *in_ns, *compute_ns, *out_ns; /* [unit] */
  int64_t *waiting;                     /* [unit] (tensor, user) pairs from other units */
  int32_t *seen;                        /* [unit] last tensor taken in */
  int32_t *next;                        /* [unit] the call that follows on its device, or -1 */
  int64_t *start_ns, *finish_ns;
  int32_t *member_start, *member; /* operators of units */
} units;

static bool on_host(const judge *j, int32_t v) { return j->platform->devices[j->plan->device[v]].is_host; }

/* Gives every operator its unit. False if the calls of the plan are unusable. */
static bool find_units(judge *j, units *u, int32_t *first_of_call) {
  const situ_graph *g = j->graph;
  int64_t before = j->verdict->n_found;
  for (int32_t v = 0; v < g->n_operators; v++) first_of_call[v] = -1;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t call = j->plan->call[v];
    u->of[v] = v;
    if (on_host(j, v)) {
      if (call != -1) judge_note(j, "call", "%s is on a host but in call %d; expected none", g->name[v], (int)call);
      continue;
    }
    if (call < 0 || call >= g->n_operators) {
      judge_note(j, "call", "%s is in call %d; expected 0 to %d", g->name[v], (int)call, (int)g->n_operators - 1);
      continue;
    }
    if (first_of_call[call] < 0) first_of_call[call] = v;
    u->of[v] = first_of_call[call];
    if (j->plan->device[u->of[v]] != j->plan->device[v])
      judge_note(j, "call", "%s and %s are in call %d but on two devices", g->name[u->of[v]], g->name[v], (int)call);
  }
  return j->verdict->n_found == before;
}

static void find_durations(judge *j, units *u) {
  const situ_problem *p = j->problem;
  const situ_graph *g = j->graph;
  int32_t host = j->platform->memory_of[p->host];
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t time = judge_time_ns(j, v, j->plan->device[v]);
    u->compute_ns[u->of[v]] = sat_add(u->compute_ns[u->of[v]], time);
  }
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t from = u->of[g->producer[t]], from_memory = j->platform->memory_of[j->plan->device[from]];
    bool leaves = false;
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
      int32_t to = u->of[g->use[i]];
      if (to == from) continue;
      leaves = true;
      u->waiting[to]++;
      if (on_host(j, to) || u->seen[to] == t) continue;
      u->seen[to] = t;
      int32_t to_memory = j->platform->memory_of[j->plan->device[to]];
      u->in_ns[to] = sat_add(u->in_ns[to], judge_transfer_ns(j, t, host, to_memory));
    }
    if (leaves && !on_host(j, from))
      u->out_ns[from] = sat_add(u->out_ns[from], judge_transfer_ns(j, t, from_memory, host));
  }
}

/* A device runs its calls sequentially, in the order of their numbers. */
static bool find_queues(judge *j, units *u, const int32_t *first_of_call) {
  int32_t *last = ARENA_NEW(j->scratch, int32_t, j->problem->n_devices);
  if (!last) return false;
  for (int32_t d = 0; d < j->problem->n_devices; d++) last[d] = -1;
  for (int32_t call = 0; call < j->graph->n_operators; call++) {
    int32_t s = first_of_call[call];
    if (s < 0) continue;
    int32_t *before = &last[j->plan->device[s]];
    if (*before >= 0) {
      u->next[*before] = s;
      u->waiting[s]++;
    }
    *before = s;
  }
  return true;
}

/* No accelerator runs more calls than it may. */
static bool count_calls(judge *j, const int32_t *first_of_call) {
  const situ_problem *p = j->problem;
  int32_t *n_calls = ARENA_ZERO(j->scratch, int32_t, p->n_devices);
  if (!n_calls) return false;
  for (int32_t call = 0; call < j->graph->n_operators; call++)
    if (first_of_call[call] >= 0) n_calls[j->plan->device[first_of_call[call]]]++;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (n_calls[d] > p->max_calls)
      judge_note(j, "call", "%s runs %d calls; at most %d are allowed", j->platform->devices[d].name, (int)n_calls[d],
                 (int)p->max_calls);
  return true;
}

/* Operators by unit, for walking over a unit. */
static void list_members(const judge *j, units *u) {
  int32_t n = j->graph->n_operators;
  for (int32_t v = 0; v < n; v++) u->member_start[u->of[v] + 2]++;
  for (int32_t v = 0; v < n; v++) u->member_start[v + 2] += u->member_start[v + 1];
  for (int32_t v = 0; v < n; v++) u->member[u->member_start[u->of[v] + 1]++] = v;
}

/* Start and finish of units in topological order; false when there is none. */
static bool follow(const judge *j, units *u, int32_t *queue) {
  const situ_graph *g = j->graph;
  int32_t n_units = 0, n_queued = 0;
  for (int32_t v = 0; v < g->n_operators; v++) {
    if (u->of[v] != v) continue;
    n_units++;
    if (u->waiting[v] == 0) queue[n_queued++] = v;
  }
  for (int32_t at = 0; at < n_queued; at++) {
    int32_t s = queue[at];
    u->finish_ns[s] = sat_add(u->start_ns[s], sat_add(u->in_ns[s], sat_add(u->compute_ns[s], u->out_ns[s])));
    int32_t next = u->next[s];
    if (next >= 0) {
      u->start_ns[next] = max64(u->start_ns[next], u->finish_ns[s]);
      if (--u->waiting[next] == 0) queue[n_queued++] = next;
    }
    for (int32_t k = u->member_start[s]; k < u->member_start[s + 1]; k++) {
      int32_t v = u->member[k];
      for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
        for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) {
          int32_t to = u->of[g->use[i]];
          if (to == s) continue;
          u->start_ns[to] = max64(u->start_ns[to], u->finish_ns[s]);
          if (--u->waiting[to] == 0) queue[n_queued++] = to;
        }
    }
  }
  return n_queued == n_units;
}

static situ_status compare(judge *j, const units *u, situ_error *error) {
  const situ_graph *g = j->graph;
  int64_t *load = ARENA_ZERO(j->scratch, int64_t, j->problem->n_devices), *memory_bytes, value = 0;
  if (!load) return fail_no_memory(error);
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t s = u->of[v];
    if (j->plan->start_ns[v] != u->start_ns[s] || j->plan->finish_ns[v] != u->finish_ns[s])
      judge_note(j, "precedence", "%s: the plan states %lld to %lld ns; it starts at %lld and ends at %lld", g->name[v],
                 (long long)j->plan->start_ns[v], (long long)j->plan->finish_ns[v], (long long)u->start_ns[s],
                 (long long)u->finish_ns[s]);
    value = max64(value, u->finish_ns[s]);
    if (s == v) {
      int64_t *of_device = &load[j->plan->device[v]];
      *of_device = sat_add(*of_device, sat_add(u->in_ns[v], sat_add(u->compute_ns[v], u->out_ns[v])));
    }
  }
  judge_value(j, value);
  TRY(check_static_memory(j, NULL, NULL, &memory_bytes, error));
  judge_uses(j, load, memory_bytes);
  return SITU_STATUS_OK;
}

static situ_status check(judge *j, situ_error *error) {
  int32_t n = j->graph->n_operators;
  if (!j->plan->call || !j->plan->start_ns || !j->plan->finish_ns) {
    bool runs = j->plan->value_ns != SITU_NEVER_NS;
    judge_note(j, "schedule",
               runs ? "the plan does not state which operators form a call, or when they run"
                    : "calls wait for each other in a cycle, or there are more than allowed");
    return SITU_STATUS_OK;
  }
  units u = {0};
  int32_t *scratch = ARENA_NEW(j->scratch, int32_t, n);
  if (!scratch || !(u.next = ARENA_NEW(j->scratch, int32_t, n)) || !(u.of = ARENA_NEW(j->scratch, int32_t, n)) ||
      !(u.in_ns = ARENA_ZERO(j->scratch, int64_t, n)) || !(u.compute_ns = ARENA_ZERO(j->scratch, int64_t, n)) ||
      !(u.out_ns = ARENA_ZERO(j->scratch, int64_t, n)) || !(u.waiting = ARENA_ZERO(j->scratch, int64_t, n)) ||
      !(u.seen = ARENA_NEW(j->scratch, int32_t, n)) || !(u.start_ns = ARENA_ZERO(j->scratch, int64_t, n)) ||
      !(u.finish_ns = ARENA_ZERO(j->scratch, int64_t, n)) ||
      !(u.member_start = ARENA_ZERO(j->scratch, int32_t, (int64_t)n + 2)) ||
      !(u.member = ARENA_NEW(j->scratch, int32_t, n)))
    return fail_no_memory(error);
  for (int32_t v = 0; v < n; v++) u.seen[v] = u.next[v] = -1;
  if (!find_units(j, &u, scratch)) return SITU_STATUS_OK;
  find_durations(j, &u);
  if (!count_calls(j, scratch) || !find_queues(j, &u, scratch)) return fail_no_memory(error);
  list_members(j, &u);
  if (!follow(j, &u, scratch)) {
    judge_note(j, "call", "calls wait for each other in a cycle");
    return SITU_STATUS_OK;
  }
  return compare(j, &u, error);
}

const model_rule calls_model_rule = {.execution = SITU_EXECUTION_CALLS, .check = check};
