#include "chain/chain_dp.h"

#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"

enum { MAX_ELEMENTS = 2048, MAX_STATES = 1 << 16, MAX_CELLS = 1 << 23 };
static const double MAX_WORK = 4e9;

/* ---- numbers of states ---- */

/* Numbers the states. An inner state is the set of used devices of the current server and the last one. An outer state
 * is the number of used servers of each type, the current one included. */
static bool number_states(chain_dp *t, arena *a) {
  int64_t outer = 1, inner = 0;
  t->outer_stride = ARENA_NEW(a, int32_t, t->n_server_types);
  if (!t->outer_stride) return false;
  for (int32_t k = 0; k < t->n_server_types; k++) {
    const server_type *s = &t->servers[k];
    t->outer_stride[k] = (int32_t)outer;
    outer = min64(sat_mul(outer, s->n_servers + 1), MAX_STATES + 1);
    int64_t used = 1;
    for (int32_t i = 0; i < s->n_types; i++) {
      chain_slot *x = &t->slots[t->first_slot[k] + i];
      x->stride = (int32_t)used;
      x->first_state = (int32_t)inner;
      used = min64(sat_mul(used, s->count[i] + 1), MAX_STATES + 1);
    }
    inner = min64(inner + sat_mul(used, s->n_types), MAX_STATES + 1);
  }
  if (sat_mul(outer, inner) > MAX_STATES) return true; /* n_states stays 0: too many */
  t->n_outer = (int32_t)outer;
  t->n_inner = (int32_t)inner;
  t->n_states = t->n_outer * t->n_inner;
  if (!ARENA_ARRAYS(a, ARRAY(t->inner_slot, inner), ARRAY(t->inner_used, inner))) return false;
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

/* The state after `state` when slot x comes next, in the same server or a new one; -1 where none is left. */
static int32_t next_state(const chain_dp *t, int32_t state, int32_t x, bool new_server) {
  const chain_slot *to = &t->slots[x];
  const server_type *s = &t->servers[to->server_type];
  int32_t outer = state < 0 ? 0 : state / t->n_inner, used = 0;
  if (new_server) {
    int32_t stride = t->outer_stride[to->server_type];
    if (outer / stride % (s->n_servers + 1) == s->n_servers) return -1;
    outer += stride;
  } else {
    used = t->inner_used[state % t->n_inner];
  }
  if (used / to->stride % (s->count[to->type] + 1) + to->n_devices > s->count[to->type]) return -1;
  return outer * t->n_inner + to->first_state + (used + to->n_devices * to->stride) * s->n_types + to->type;
}

/* ---- costs ---- */

/* Two devices that represent slots x and y, in one server or in two. */
static void find_representatives(const chain_dp *t, int32_t x, int32_t y, bool new_server, int32_t *from, int32_t *to) {
  const chain_slot *a = &t->slots[x], *b = &t->slots[y];
  const server_type *s = &t->servers[b->server_type];
  bool second_server = new_server && a->server_type == b->server_type;
  int32_t place = !new_server && x == y ? 1 : 0;
  *from = a->device;
  *to = s->device[(second_server ? s->n_places : 0) + s->place[(int64_t)b->type * s->n_places + place]];
}

/* The time of what crosses the boundary before element k from one device to another: that of the main part, or in all
 * on its slowest hop where each hop is a resource. Tensors from earlier elements count as if they took the same route;
 * with a single input they come early. */
static int64_t cross(const chain_dp *t, int32_t k, int32_t from, int32_t to) {
  const situ_problem *p = t->problem;
  const situ_platform *f = p->platform;
  int64_t max = 0, row = (int64_t)k * p->n_kinds,
          route = (int64_t)p->memory_of[from] * p->n_memories + p->memory_of[to];
  if (t->latency) return t->chain.main_ns[row + p->device_kind[(int64_t)from * p->n_devices + to]];
  for (int32_t h = f->route_start[route]; h < f->route_start[route + 1]; h++)
    max = max64(max, t->chain.crossing_ns[row + p->costs->link_kind[f->route_link[h]]]);
  return max;
}

/* The table of crossings for the kind of route between two devices; NULL without memory. */
static const int64_t *crossings(chain_dp *t, int32_t from, int32_t to) {
  int64_t **of_kind = &t->crossing_ns[t->problem->device_kind[(int64_t)from * t->problem->n_devices + to]];
  if (*of_kind) return *of_kind;
  int64_t *made = ARENA_ZERO(t->arena, int64_t, (int64_t)t->chain.n + 1);
  for (int32_t k = 1; made && k < t->chain.n; k++) made[k] = t->staged ? 0 : cross(t, k, from, to);
  return *of_kind = made;
}

static bool stage(chain_dp *t, chain_slot *x) {
  const situ_problem *p = t->problem;
  const chain *c = &t->chain;
  if (!ARENA_ARRAYS(t->arena, ZEROS(x->in_ns, (int64_t)c->n + 1), ZEROS(x->out_ns, (int64_t)c->n + 1))) return false;
  if (problem_is_host(p, x->device)) return true;
  int32_t in = p->device_kind[(int64_t)p->host * p->n_devices + x->device];
  int32_t out = p->device_kind[(int64_t)x->device * p->n_devices + p->host];
  for (int32_t k = 1; k < c->n; k++) {
    x->in_ns[k] = c->crossing_ns[(int64_t)k * p->n_kinds + in];
    x->out_ns[k] = c->main_ns[(int64_t)k * p->n_kinds + out];
  }
  return true;
}

/* ---- the recursion ---- */

static int64_t load_of(const chain_dp *t, const chain_slot *x, int64_t compute, int32_t from, int32_t to) {
  if (!t->staged) return compute;
  int64_t in = x->in_ns[from], out = x->out_ns[to];
  return t->problem->async_copies ? max64(compute, max64(in, out)) : sat_add(compute, sat_add(in, out));
}

/* Extends by all intervals that begin at element j on a device of slot x, given the value so far and a crossing. */
static void extend(chain_dp *t, int32_t state, int32_t j, int32_t to_state, const chain_slot *x, int64_t before,
                   int64_t crossing) {
  const chain *c = &t->chain;
  const situ_problem *p = t->problem;
  const int64_t *time = x->time_ns;
  const int32_t *never = x->never;
  chain_cell *row = t->cells + (int64_t)to_state * (c->n + 1);
  int64_t peak = 0;
  int64_t start = t->latency ? sat_add(before, crossing) : max64(before, crossing);
  for (int32_t k = j + 1; k <= c->n; k++) {
    int64_t kept = c->kept_bytes[t->latency ? k - 1 : k] - c->kept_bytes[j];
    peak = max64(peak, sat_add(t->latency ? kept : 0, c->peak_bytes[k - 1]));
    int64_t activations = sat_add(t->latency ? 0 : sat_mul(p->in_flight, kept), peak);
    if (sat_add(c->weight_bytes[k] - c->weight_bytes[j], activations) > x->limit_bytes) break;
    if (never[k] != never[j]) break;
    int64_t compute = time[k] - time[j];
    if (compute >= t->upper_ns) break;
    int64_t value = t->latency ? sat_add(start, compute) : max64(start, load_of(t, x, compute, j, k));
    if ((t->latency ? sat_add(value, t->rest_ns[k]) : value) >= t->upper_ns || value >= row[k].value_ns) continue;
    row[k] = (chain_cell){value, state, j};
  }
}

/* Everything after `state` in which the next device is of slot y. */
static bool continue_with(chain_dp *t, int32_t state, int32_t y, bool new_server) {
  int32_t x = t->inner_slot[state % t->n_inner], from, to, next = next_state(t, state, y, new_server);
  if (next < 0) return true;
  find_representatives(t, x, y, new_server, &from, &to);
  const int64_t *crossing = crossings(t, from, to);
  if (!crossing) return false;
  const chain_cell *row = t->cells + (int64_t)state * (t->chain.n + 1);
  for (int32_t j = 1; j < t->chain.n; j++)
    if (row[j].value_ns < t->upper_ns) extend(t, state, j, next, &t->slots[y], row[j].value_ns, crossing[j]);
  return true;
}

static bool continue_state(chain_dp *t, int32_t state) {
  int32_t x = t->inner_slot[state % t->n_inner];
  const chain_cell *row = t->cells + (int64_t)state * (t->chain.n + 1);
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

static void find_rest(chain_dp *t) {
  const chain *c = &t->chain;
  t->rest_ns[c->n] = 0;
  for (int32_t k = c->n - 1; k >= 0; k--) {
    int64_t min = SITU_NEVER_NS;
    for (int32_t x = 0; x < t->n_slots; x++) {
      const chain_slot *y = &t->slots[x];
      if (y->never[k + 1] == y->never[k]) min = min64(min, y->time_ns[k + 1] - y->time_ns[k]);
    }
    t->rest_ns[k] = sat_add(min, t->rest_ns[k + 1]);
  }
}

bool chain_dp_run(chain_dp *t, int32_t *best) {
  const chain *c = &t->chain;
  int64_t n_cells = (int64_t)t->n_states * (c->n + 1);
  *best = -1;
  find_rest(t);
  for (int64_t i = 0; i < n_cells; i++) t->cells[i] = (chain_cell){SITU_NEVER_NS, -1, 0};
  for (int32_t x = 0; x < t->n_slots; x++) {
    int32_t first = next_state(t, -1, x, true);
    if (first >= 0) extend(t, -1, 0, first, &t->slots[x], 0, 0);
  }
  for (int32_t s = 0; s < t->n_states; s++) {
    if (t->inner_slot[s % t->n_inner] < 0) continue;
    if (!continue_state(t, s)) return false;
    if (t->budget && budget_spend(t->budget, 1)) return true;
  }
  *best = chain_dp_best(t, 0);
  return true;
}

/* How many devices of its last server state s uses. */
static int32_t n_used(const chain_dp *t, int32_t s) {
  const server_type *of = &t->servers[t->slots[t->inner_slot[s % t->n_inner]].server_type];
  int32_t n = 0;
  for (int32_t k = 0, used = t->inner_used[s % t->n_inner]; k < of->n_types; used /= of->count[k++] + 1)
    n += used % (of->count[k] + 1);
  return n;
}

int32_t chain_dp_best(const chain_dp *t, int32_t n_devices) {
  int64_t min = SITU_NEVER_NS;
  int32_t best = -1;
  for (int32_t s = 0; s < t->n_states; s++) {
    int64_t value = chain_dp_value_ns(t, s);
    if (value >= min || (n_devices > 0 && n_used(t, s) != n_devices)) continue;
    min = value;
    best = s;
  }
  return best;
}

/* ---- from states to devices ---- */

/* Finds the intervals of the best plan from the end to the beginning, then assigns devices from the beginning on. */
bool chain_dp_expand(const chain_dp *t, int32_t best, int32_t *device_of_element, int32_t *slot_of_element) {
  REQUIRE(best >= 0 && best < t->n_states);
  const chain *c = &t->chain;
  arena *a = t->arena;
  int32_t max = t->problem->n_devices + 1, n = 0, *state = ARENA_NEW(a, int32_t, max),
          *end = ARENA_NEW(a, int32_t, max);
  int32_t *server = ARENA_ZERO(a, int32_t, t->n_server_types), *used = ARENA_NEW(a, int32_t, max);
  if (!state || !end || !server || !used) return false;
  for (int32_t s = best, e = c->n; s >= 0; n++) {
    chain_cell at = t->cells[(int64_t)s * (c->n + 1) + e];
    state[n] = s;
    end[n] = e;
    s = at.state;
    e = at.element;
  }
  for (int32_t i = n - 1, e = 0, outer = 0; i >= 0; i--) {
    int32_t x = t->inner_slot[state[i] % t->n_inner];
    const chain_slot *now = &t->slots[x];
    const server_type *s = &t->servers[now->server_type];
    if (state[i] / t->n_inner != outer) {
      server[now->server_type]++;
      memset(used, 0, (size_t)s->n_types * sizeof *used);
    }
    outer = state[i] / t->n_inner;
    int32_t place = s->place[(int64_t)now->type * s->n_places + used[now->type]];
    used[now->type] += now->n_devices;
    for (; e < end[i]; e++) {
      device_of_element[e] = s->device[(int64_t)(server[now->server_type] - 1) * s->n_places + place];
      slot_of_element[e] = x;
    }
  }
  return true;
}

/* ---- the beginning ---- */

static bool list_slots(chain_dp *t, arena *a) {
  int32_t n = 0;
  t->first_slot = ARENA_NEW(a, int32_t, (int64_t)t->n_server_types + 1);
  for (int32_t k = 0; k < t->n_server_types; k++) n += t->servers[k].n_types;
  t->slots = ARENA_ZERO(a, chain_slot, n);
  if (!t->first_slot || !t->slots) return false;
  for (int32_t k = 0; k < t->n_server_types; k++) {
    const server_type *s = &t->servers[k];
    t->first_slot[k] = t->n_slots;
    for (int32_t i = 0; i < s->n_types; i++) {
      int32_t d = s->device[s->place[(int64_t)i * s->n_places]];
      t->slots[t->n_slots++] =
          (chain_slot){.server_type = k,
                       .type = i,
                       .n_devices = 1,
                       .device = d,
                       .limit_bytes = t->problem->platform->memory_bytes[t->problem->memory_of[d]]};
    }
  }
  t->first_slot[t->n_server_types] = t->n_slots;
  return true;
}

int32_t chain_dp_max_elements(const chain_dp *t) {
  int64_t n = MAX_ELEMENTS;
  while (n > 0 &&
         ((double)n * (double)n / 2 * t->n_states * (t->n_slots + 1) > MAX_WORK || n * t->n_states > MAX_CELLS))
    n = n * 3 / 4;
  return (int32_t)n;
}

bool chain_dp_init(chain_dp *t, const situ_problem *p, server_type *servers, int32_t n_server_types, arena *a,
                   budget *b) {
  REQUIRE(n_server_types >= 1);
  *t = (chain_dp){.problem = p,
                  .arena = a,
                  .budget = b,
                  .latency = p->execution == SITU_EXECUTION_STREAM,
                  .servers = servers,
                  .n_server_types = n_server_types};
  t->staged = !t->latency && p->communication == SITU_COMMUNICATION_HOST_STAGED;
  return list_slots(t, a) && number_states(t, a);
}

bool chain_dp_set_chain(chain_dp *t, const chain *c) {
  arena *a = t->arena;
  t->chain = *c;
  for (int32_t x = 0; x < t->n_slots; x++) {
    int64_t column = c->column_of[t->slots[x].device];
    t->slots[x].time_ns = c->time_ns + column * (c->n + 1);
    t->slots[x].never = c->never + column * (c->n + 1);
    if (t->staged && !stage(t, &t->slots[x])) return false;
  }
  return ARENA_ARRAYS(a, ARRAY(t->cells, (int64_t)t->n_states * (c->n + 1)), ZEROS(t->crossing_ns, t->problem->n_kinds),
                      ARRAY(t->rest_ns, (int64_t)c->n + 1));
}
