/* server_dp: the best plan of a chain over servers, in which each device holds one interval of the chain and the devices of
 * a server follow each other. Exact among such plans where only the tensors of the operator at a boundary cross it and
 * links are not shared; docs/theory/server_dp.md has the recursion and the argument.
 *
 * Equal servers, and equal devices within one, count once: a state says how many of each type are used, so orders of
 * types are tried and not orders of devices. A step is one state with all its continuations. */
#include <string.h>

#include "base/checked.h"
#include "base/fail.h"
#include "solve/kit/chain.h"
#include "solve/kit/repair.h"
#include "solve/kit/server_types.h"

enum {
  MOST_ELEMENTS = 2048,
  LEAST_ELEMENTS = 8,
  PARTS_OF_DEVICE = 16, /* throughput: elements for each device, at least */
  MOST_STATES = 1 << 16,
  MOST_CELLS = 1 << 23,
  MOST_ROUNDS = 6 /* of making the limits of memory narrower */
};
static const double MOST_WORK = 1e9;

/* A device type of a server type: what the recursion chooses from. */
typedef struct slot {
  int32_t server_type, type; /* numbers */
  int32_t device;            /* the first one, which stands for all */
  int32_t class;
  int64_t limit_bytes;
  int32_t stride;    /* in the numbers of inner states */
  int32_t first_state; /* of its server type, within the inner states of all types */
  int64_t *in_ns, *out_ns; /* [boundary] host-staged: what crossing it costs the device; else NULL */
} slot;

typedef struct cell {
  int64_t value_ns;
  int32_t state, element; /* where it came from; state -1: the beginning */
} cell;

typedef struct table {
  solve_run *run;
  const situ_problem *problem;
  bool latency, staged;
  chain chain;
  server_type *servers;
  int32_t n_server_types, n_slots;
  slot *slots;
  int32_t *first_slot;    /* [server type + 1] */
  int32_t *outer_stride;  /* [server type] */
  int32_t n_outer, n_inner, n_states;
  int32_t *inner_slot;    /* [inner state] the slot of its last device, -1: no such state */
  int32_t *inner_used;    /* [inner state] number of devices used, mixed radix over the types of its server type */
  int64_t **crossing_ns;  /* [kind of route] -> [boundary] time of what crosses; NULL: not looked at yet */
  int64_t *rest_ns;       /* [element] latency: least time from there to the end */
  cell *cells;            /* [state * (elements + 1) + element]: elements before it are done */
  int64_t upper_ns;       /* only plans below this are wanted */
} table;

/* ---- numbers of states ---- */

/* An inner state: which devices of the current server are used, and the last one. An outer state: servers of each type that
 * are used, the current one included. */
static bool number_states(table *t, arena *a) {
  int64_t outer = 1, inner = 0;
  t->outer_stride = ARENA_NEW(a, int32_t, t->n_server_types);
  if (!t->outer_stride) return false;
  for (int32_t k = 0; k < t->n_server_types; k++) {
    const server_type *s = &t->servers[k];
    t->outer_stride[k] = (int32_t)outer;
    outer = min64(sat_mul(outer, s->n_servers + 1), MOST_STATES + 1);
    int64_t used = 1;
    for (int32_t i = 0; i < s->n_types; i++) {
      slot *x = &t->slots[t->first_slot[k] + i];
      x->stride = (int32_t)used;
      x->first_state = (int32_t)inner;
      used = min64(sat_mul(used, s->count[i] + 1), MOST_STATES + 1);
    }
    inner = min64(inner + sat_mul(used, s->n_types), MOST_STATES + 1);
  }
  if (sat_mul(outer, inner) > MOST_STATES) return true; /* n_states stays 0: too many */
  t->n_outer = (int32_t)outer;
  t->n_inner = (int32_t)inner;
  t->n_states = t->n_outer * t->n_inner;
  t->inner_slot = ARENA_NEW(a, int32_t, inner);
  t->inner_used = ARENA_NEW(a, int32_t, inner);
  if (!t->inner_slot || !t->inner_used) return false;
  for (int32_t k = 0, i = 0; k < t->n_server_types; k++) {
    const server_type *s = &t->servers[k];
    int32_t end = k + 1 < t->n_server_types ? t->slots[t->first_slot[k + 1]].first_state : t->n_inner;
    for (int32_t used = 0; i < end; used++)
      for (int32_t type = 0; type < s->n_types; type++, i++) {
        int32_t x = t->first_slot[k] + type;
        bool there = used / t->slots[x].stride % (s->count[type] + 1) > 0;
        t->inner_slot[i] = there ? x : -1;
        t->inner_used[i] = used;
      }
  }
  return true;
}

/* The state after `state` when slot x of the same server is next, or of a new server; -1 where none is left. */
static int32_t next_state(const table *t, int32_t state, int32_t x, bool new_server) {
  const slot *to = &t->slots[x];
  const server_type *s = &t->servers[to->server_type];
  int32_t outer = state < 0 ? 0 : state / t->n_inner, used = 0;
  if (new_server) {
    int32_t stride = t->outer_stride[to->server_type];
    if (outer / stride % (s->n_servers + 1) == s->n_servers) return -1;
    outer += stride;
  } else {
    used = t->inner_used[state % t->n_inner];
    if (used / to->stride % (s->count[to->type] + 1) == s->count[to->type]) return -1;
  }
  return outer * t->n_inner + to->first_state + (used + to->stride) * s->n_types + to->type;
}

/* ---- costs ---- */

/* Two devices that stand for slots x and y: of one server, or of two. */
static void stand_for(const table *t, int32_t x, int32_t y, bool new_server, int32_t *from, int32_t *to) {
  const slot *a = &t->slots[x], *b = &t->slots[y];
  const server_type *s = &t->servers[b->server_type];
  bool second_server = new_server && a->server_type == b->server_type;
  int32_t place = !new_server && x == y ? 1 : 0;
  *from = a->device;
  *to = s->device[(second_server ? s->n_places : 0) + s->place[(int64_t)b->type * s->n_places + place]];
}

/* What crosses boundary k from one device to another: in all, or on its slowest hop where each is a resource. Tensors from
 * farther back count as if they came the same way; in a single input they come early. */
static int64_t cross(const table *t, int32_t k, int32_t from, int32_t to) {
  const situ_problem *p = t->problem;
  const chain *c = &t->chain;
  const situ_platform *f = p->platform;
  int64_t most = 0, sum = 0;
  if (t->latency) {
    for (int32_t i = c->cut_start[k]; i < c->own_end[k]; i++) {
      int64_t one = problem_transfer_ns(p, c->cut[i], from, to);
      most = max64(most, one);
      sum = sat_add(sum, one);
    }
    return p->contention == SITU_CONTENTION_NONE ? most : sum;
  }
  int64_t route = (int64_t)p->memory_of[from] * p->n_memories + p->memory_of[to];
  for (int32_t h = f->route_start[route]; h < f->route_start[route + 1]; h++) {
    int64_t load = 0;
    int32_t kind = p->costs->link_kind[f->route_link[h]];
    for (int32_t i = c->cut_start[k]; i < c->cut_start[k + 1]; i++)
      load = sat_add(load, p->transfer_ns[(int64_t)c->cut[i] * p->n_kinds + kind]);
    most = max64(most, load);
  }
  return most;
}

/* The table of crossings for the kind of route between two devices; NULL without memory. */
static const int64_t *crossings(table *t, int32_t from, int32_t to) {
  int64_t **of_kind = &t->crossing_ns[t->problem->device_kind[(int64_t)from * t->problem->n_devices + to]];
  if (*of_kind) return *of_kind;
  int64_t *made = ARENA_ZERO(t->run->arena, int64_t, (int64_t)t->chain.n + 1);
  for (int32_t k = 0; made && k < t->chain.n - 1; k++) made[k] = t->staged ? 0 : cross(t, k, from, to);
  return *of_kind = made;
}

static bool stage(table *t, slot *x) {
  const situ_problem *p = t->problem;
  const chain *c = &t->chain;
  x->in_ns = ARENA_ZERO(t->run->arena, int64_t, (int64_t)c->n + 1);
  x->out_ns = ARENA_ZERO(t->run->arena, int64_t, (int64_t)c->n + 1);
  if (!x->in_ns || !x->out_ns) return false;
  if (problem_is_host(p, x->device)) return true;
  for (int32_t k = 0; k < c->n - 1; k++)
    for (int32_t i = c->cut_start[k]; i < c->cut_start[k + 1]; i++) {
      x->in_ns[k] = sat_add(x->in_ns[k], problem_transfer_ns(p, c->cut[i], p->host, x->device));
      if (i < c->own_end[k])
        x->out_ns[k] = sat_add(x->out_ns[k], problem_transfer_ns(p, c->cut[i], x->device, p->host));
    }
  return true;
}

/* ---- the recursion ---- */

static int64_t load_of(const table *t, const slot *x, int64_t compute, int32_t from, int32_t to) {
  if (!t->staged) return compute;
  int64_t in = from > 0 ? x->in_ns[from - 1] : 0, out = x->out_ns[to - 1];
  return t->problem->overlap ? max64(compute, max64(in, out)) : sat_add(compute, sat_add(in, out));
}

/* All intervals that begin at element j, on a device of slot x, after `before` (the value so far) and a crossing. */
static void extend(table *t, int32_t state, int32_t j, int32_t to_state, const slot *x, int64_t before, int64_t crossing) {
  const chain *c = &t->chain;
  const situ_problem *p = t->problem;
  const int64_t *time = c->time_ns + (int64_t)x->class * (c->n + 1);
  const int32_t *never = c->never + (int64_t)x->class * (c->n + 1);
  cell *row = t->cells + (int64_t)to_state * (c->n + 1);
  int64_t peak = 0, in_flight = t->latency ? 1 : p->in_flight;
  int64_t start = t->latency ? sat_add(before, crossing) : max64(before, crossing);
  for (int32_t k = j + 1; k <= c->n; k++) {
    int64_t kept = c->kept_bytes[t->latency ? k - 1 : k] - c->kept_bytes[j];
    peak = max64(peak, sat_add(t->latency ? kept : 0, c->peak_bytes[k - 1]));
    int64_t each = sat_add(t->latency ? 0 : kept, peak);
    if (sat_add(c->weight_bytes[k] - c->weight_bytes[j], sat_mul(in_flight, each)) > x->limit_bytes) break;
    if (never[k] != never[j] || (c->pin[k - 1] != -1 && c->pin[k - 1] != x->device)) break;
    int64_t compute = time[k] - time[j];
    if (compute >= t->upper_ns) break;
    int64_t value = t->latency ? sat_add(start, compute) : max64(start, load_of(t, x, compute, j, k));
    if ((t->latency ? sat_add(value, t->rest_ns[k]) : value) >= t->upper_ns || value >= row[k].value_ns) continue;
    row[k] = (cell){value, state, j};
  }
}

/* Everything after `state` in which the next device is of slot y. */
static bool continue_with(table *t, int32_t state, int32_t y, bool new_server) {
  int32_t x = t->inner_slot[state % t->n_inner], from, to, next = next_state(t, state, y, new_server);
  if (next < 0) return true;
  stand_for(t, x, y, new_server, &from, &to);
  const int64_t *crossing = crossings(t, from, to);
  if (!crossing) return false;
  const cell *row = t->cells + (int64_t)state * (t->chain.n + 1);
  for (int32_t j = 1; j < t->chain.n; j++)
    if (row[j].value_ns < t->upper_ns) extend(t, state, j, next, &t->slots[y], row[j].value_ns, crossing[j - 1]);
  return true;
}

static bool continue_state(table *t, int32_t state) {
  int32_t x = t->inner_slot[state % t->n_inner];
  const cell *row = t->cells + (int64_t)state * (t->chain.n + 1);
  bool reached = false;
  for (int32_t j = 1; j < t->chain.n && !reached; j++) reached = row[j].value_ns < t->upper_ns;
  if (!reached) return true;
  int32_t here = t->slots[x].server_type;
  for (int32_t y = t->first_slot[here]; y < t->first_slot[here + 1]; y++)
    if (!continue_with(t, state, y, false)) return false;
  for (int32_t y = 0; y < t->n_slots; y++)
    if (!continue_with(t, state, y, true)) return false;
  return true;
}

/* The state in which the best plan ends; -1 where there is none below the upper bound. False without memory. */
static bool run_table(table *t, int32_t *best) {
  const chain *c = &t->chain;
  int64_t n_cells = (int64_t)t->n_states * (c->n + 1);
  *best = -1;
  for (int64_t i = 0; i < n_cells; i++) t->cells[i] = (cell){SITU_NEVER_NS, -1, 0};
  for (int32_t x = 0; x < t->n_slots; x++) extend(t, -1, 0, next_state(t, -1, x, true), &t->slots[x], 0, 0);
  for (int32_t s = 0; s < t->n_states; s++) {
    if (t->inner_slot[s % t->n_inner] < 0) continue;
    if (!continue_state(t, s)) return false;
    if (budget_spend(t->run->budget, 1)) return true;
  }
  int64_t least = SITU_NEVER_NS;
  for (int32_t s = 0; s < t->n_states; s++) {
    int64_t value = t->cells[(int64_t)s * (c->n + 1) + c->n].value_ns;
    if (value >= least) continue;
    least = value;
    *best = s;
  }
  return true;
}

/* ---- from states to devices ---- */

/* The intervals of the best plan, from the end to the beginning, then devices from the beginning on. */
static bool name_devices(const table *t, int32_t best, int32_t *device_of_element, int32_t *slot_of_element) {
  const chain *c = &t->chain;
  arena *a = t->run->arena;
  int32_t most = t->problem->n_devices + 1, n = 0, *state = ARENA_NEW(a, int32_t, most), *end = ARENA_NEW(a, int32_t, most);
  int32_t *server = ARENA_ZERO(a, int32_t, t->n_server_types), *used = ARENA_NEW(a, int32_t, most);
  if (!state || !end || !server || !used) return false;
  for (int32_t s = best, e = c->n; s >= 0; n++) {
    cell at = t->cells[(int64_t)s * (c->n + 1) + e];
    state[n] = s;
    end[n] = e;
    s = at.state;
    e = at.element;
  }
  for (int32_t i = n - 1, e = 0, outer = 0; i >= 0; i--) {
    int32_t x = t->inner_slot[state[i] % t->n_inner];
    const slot *now = &t->slots[x];
    const server_type *s = &t->servers[now->server_type];
    if (state[i] / t->n_inner != outer) {
      server[now->server_type]++;
      memset(used, 0, (size_t)s->n_types * sizeof *used);
    }
    outer = state[i] / t->n_inner;
    int32_t place = s->place[(int64_t)now->type * s->n_places + used[now->type]++];
    for (; e < end[i]; e++) {
      device_of_element[e] = s->device[(int64_t)(server[now->server_type] - 1) * s->n_places + place];
      slot_of_element[e] = x;
    }
  }
  return true;
}

/* Offers plans; as long as one takes too much memory by simulation, with narrower limits. */
static bool offer(table *t) {
  const situ_problem *p = t->problem;
  const chain *c = &t->chain;
  arena *a = t->run->arena;
  int32_t *device = ARENA_NEW(a, int32_t, p->n_operators), *order = ARENA_COPY(a, c->order, int32_t, p->n_operators);
  int32_t *device_of = ARENA_NEW(a, int32_t, c->n), *slot_of = ARENA_NEW(a, int32_t, c->n);
  if (!device || !order || !device_of || !slot_of) return false;
  placement where = {.device = device, .order = p->execution == SITU_EXECUTION_STREAM ? order : NULL};
  for (int32_t round = 0; round < MOST_ROUNDS; round++) {
    int32_t best;
    t->upper_ns = t->run->incumbent->value_ns;
    if (!run_table(t, &best)) return false;
    if (best < 0) return true;
    if (!name_devices(t, best, device_of, slot_of)) return false;
    for (int32_t v = 0; v < p->n_operators; v++) device[v] = device_of[c->element[v]];
    simulation found = solve_try(t->run, &where);
    if (found.excess_bytes == 0) return true;
    bool narrower = false;
    for (int32_t e = 0; e < c->n; e++) {
      int32_t m = p->memory_of[device_of[e]];
      int64_t over = found.peak_bytes[m] - p->platform->memory_bytes[m];
      slot *x = &t->slots[slot_of[e]];
      int64_t limit = p->platform->memory_bytes[m] - max64(over, 0) - (p->platform->memory_bytes[m] - x->limit_bytes);
      if (over <= 0 || (e > 0 && device_of[e] == device_of[e - 1])) continue;
      x->limit_bytes = max64(limit, 0);
      narrower = true;
    }
    if (!narrower) break;
  }
  repair_offer(t->run, &where);
  return true;
}

/* ---- the beginning ---- */

static bool list_slots(table *t, arena *a) {
  int32_t n = 0;
  t->first_slot = ARENA_NEW(a, int32_t, (int64_t)t->n_server_types + 1);
  for (int32_t k = 0; k < t->n_server_types; k++) n += t->servers[k].n_types;
  t->slots = ARENA_ZERO(a, slot, n);
  if (!t->first_slot || !t->slots) return false;
  for (int32_t k = 0; k < t->n_server_types; k++) {
    const server_type *s = &t->servers[k];
    t->first_slot[k] = t->n_slots;
    for (int32_t i = 0; i < s->n_types; i++) {
      int32_t d = s->device[s->place[(int64_t)i * s->n_places]];
      t->slots[t->n_slots++] = (slot){.server_type = k, .type = i, .device = d, .class = t->problem->class_of[d],
                                      .limit_bytes = t->problem->platform->memory_bytes[t->problem->memory_of[d]]};
    }
  }
  t->first_slot[t->n_server_types] = t->n_slots;
  return true;
}

/* How many elements the tables may have. */
static int32_t affordable(const table *t) {
  int64_t n = MOST_ELEMENTS;
  while (n > 0 && ((double)n * (double)n / 2 * t->n_states * (t->n_slots + 1) > MOST_WORK || n * t->n_states > MOST_CELLS))
    n = n * 3 / 4;
  return (int32_t)n;
}

static bool find_rest(table *t, arena *a) {
  const chain *c = &t->chain;
  t->rest_ns = ARENA_ZERO(a, int64_t, (int64_t)c->n + 1);
  if (!t->rest_ns) return false;
  for (int32_t k = c->n - 1; k >= 0; k--) {
    int64_t least = SITU_NEVER_NS;
    for (int32_t x = 0; x < t->n_slots; x++) {
      int64_t at = (int64_t)t->slots[x].class * (c->n + 1) + k;
      if (c->never[at + 1] == c->never[at]) least = min64(least, c->time_ns[at + 1] - c->time_ns[at]);
    }
    t->rest_ns[k] = sat_add(least, t->rest_ns[k + 1]);
  }
  return true;
}

static situ_status solve(solve_run *run) {
  const situ_problem *p = run->problem;
  table t = {.run = run, .problem = p, .latency = p->execution == SITU_EXECUTION_STREAM};
  t.staged = !t.latency && p->communication == SITU_COMMUNICATION_HOST_STAGED;
  if (!server_types_find(&t.servers, &t.n_server_types, p, run->arena) || !list_slots(&t, run->arena) ||
      !number_states(&t, run->arena))
    return fail_no_memory(run->error);
  if (t.n_states == 0 || affordable(&t) < LEAST_ELEMENTS) return SITU_STATUS_OK;
  int32_t parts = t.latency ? 0 : PARTS_OF_DEVICE * p->n_devices;
  if (!chain_find(&t.chain, p, affordable(&t), parts, run->arena)) return fail_no_memory(run->error);
  if (t.chain.n < 2) return SITU_STATUS_OK;
  t.cells = ARENA_NEW(run->arena, cell, (int64_t)t.n_states * (t.chain.n + 1));
  t.crossing_ns = ARENA_ZERO(run->arena, int64_t *, p->n_kinds);
  if (!t.cells || !t.crossing_ns || !find_rest(&t, run->arena)) return fail_no_memory(run->error);
  for (int32_t x = 0; t.staged && x < t.n_slots; x++)
    if (!stage(&t, &t.slots[x])) return fail_no_memory(run->error);
  solve_count(run, "server_dp_elements", t.chain.n);
  return offer(&t) ? SITU_STATUS_OK : fail_no_memory(run->error);
}

static bool serves(const situ_problem *p) { return !p->training; }

const solver server_dp_solver = {
    .name = "server_dp",
    .title = "a chain of layers over servers, equal servers and devices counted once",
    .source = "",
    .stream = true,
    .pipeline = true,
    .portfolio = 8,
    .serves = serves,
    .solve = solve,
};
