/* server_heft: a chain over servers for one input, where a server spreads its layers over all of its devices
 * (docs/theory/chain.md). First, a list schedule of the whole chain on one server of each type, without
 * memory limits, gives its times. Then the dynamic program of server_dp splits the chain over whole servers, by these
 * times and the sum of their memories. Finally, a list schedule in which each operator stays in its server makes the
 * plan. */
#include "base/checked.h"
#include "base/fail.h"
#include "chain/chain_dp.h"
#include "solve/stream/list.h"
#include "solve/stream/rank.h"

enum { MIN_ELEMENTS = 8 };
/* How full servers may be. What does not fit a list schedule at first may fit when servers keep some room. */
static const double FILLS[] = {1, 0.95, 0.9, 0.8};

typedef struct spreading {
  solve_run *run;
  const situ_problem *problem;
  chain chain;
  server_type *whole; /* each server as one place */
  const server_type *servers;
  int32_t n_types;
  int64_t **time_ns; /* [type] -> sums over the elements before k */
  int32_t **never;
  int64_t *room_bytes; /* [type] of its accelerators, or of its hosts where it has none */
  int32_t *only_server;
  double *rank;
  partial_schedule partial;
} spreading;

/* Whether device of a server is used: its accelerators are, or its hosts if it has none. */
static bool is_used(const spreading *s, const server_type *t, int32_t place) {
  bool accelerators = false;
  for (int32_t i = 0; i < t->n_places; i++) accelerators |= !problem_is_host(s->problem, t->device[i]);
  return !accelerators || !problem_is_host(s->problem, t->device[place]);
}

static bool make_whole(spreading *s, arena *a) {
  if (!ARENA_ARRAYS(a, ZEROS(s->whole, s->n_types), ZEROS(s->room_bytes, s->n_types))) return false;
  for (int32_t k = 0; k < s->n_types; k++) {
    const server_type *t = &s->servers[k];
    server_type *w = &s->whole[k];
    *w = (server_type){.n_servers = t->n_servers,
                       .n_places = 1,
                       .n_types = 1,
                       .device = ARENA_NEW(a, int32_t, t->n_servers),
                       .type_of = ARENA_ZERO(a, int32_t, 1),
                       .count = ARENA_NEW(a, int32_t, 1),
                       .place = ARENA_ZERO(a, int32_t, 1)};
    if (!w->device || !w->type_of || !w->count || !w->place) return false;
    w->count[0] = 1;
    for (int32_t place = t->n_places - 1; place >= 0; place--) {
      if (!is_used(s, t, place)) continue;
      s->room_bytes[k] =
          sat_add(s->room_bytes[k], s->problem->platform->memory_bytes[s->problem->memory_of[t->device[place]]]);
      for (int32_t i = 0; i < t->n_servers; i++) w->device[i] = t->device[(int64_t)i * t->n_places + place];
    }
  }
  return true;
}

/* Whether some device of the server may run v. */
static bool runs_there(const spreading *s, const server_type *t, int32_t v) {
  const situ_platform *f = s->problem->platform;
  int32_t pin = s->problem->pin[v];
  if (pin >= 0 && f->devices[pin].server != f->devices[t->device[0]].server) return false;
  bool runs = false;
  for (int32_t place = 0; place < t->n_places; place++)
    runs |= problem_time_ns(s->problem, v, t->device[place]) != SITU_NEVER_NS;
  return runs;
}

/* A list schedule in which operators stay in their servers. False where the budget or memory ended first. */
static bool schedule(spreading *s, rank_weight weight) {
  arena_mark mark = arena_get_mark(s->run->arena);
  rank_costs costs;
  bool going = rank_costs_find(&costs, s->run->arena, s->problem, weight);
  if (going) rank_upward(s->rank, s->problem, &costs);
  arena_release(s->run->arena, mark);
  partial_clear(&s->partial);
  return going && list_schedule(&s->partial, &(list_policy){.priority = s->rank}, s->run->budget, s->run->arena);
}

/* Measures how long a server of type k takes from element to element. */
static bool time_server(spreading *s, int32_t k) {
  const chain *c = &s->chain;
  const server_type *t = &s->servers[k];
  int32_t server = s->problem->platform->devices[t->device[0]].server;
  int64_t *time = s->time_ns[k] = ARENA_ZERO(s->run->arena, int64_t, (int64_t)c->n + 1);
  int32_t *never = s->never[k] = ARENA_ZERO(s->run->arena, int32_t, (int64_t)c->n + 1);
  if (!time || !never) return false;
  for (int32_t v = 0; v < s->problem->n_operators; v++) {
    bool runs = runs_there(s, t, v);
    never[c->element[v] + 1] |= !runs;
    s->only_server[v] = runs && s->problem->pin[v] < 0 ? server : -1;
  }
  for (int32_t e = 0; e < c->n; e++) never[e + 1] += never[e];
  s->partial.limited = false;
  if (!schedule(s, RANK_MEAN)) return false;
  for (int32_t e = 0; e < c->n; e++) {
    time[e + 1] = time[e];
    for (int32_t i = c->first[e]; i < c->first[e + 1]; i++)
      time[e + 1] = max64(time[e + 1], s->partial.finish_ns[c->order[i]]);
  }
  return true;
}

/* Finds the best split for servers filled to that fraction, and offers a plan for each kind of rank. False without
 * memory or budget. */
static bool offer(spreading *s, chain_dp *t, double fill, int64_t max_peak) {
  const situ_problem *p = s->problem;
  const chain *c = &s->chain;
  int32_t best, *device_of = ARENA_NEW(s->run->arena, int32_t, c->n),
                *slot_of = ARENA_NEW(s->run->arena, int32_t, c->n);
  if (!device_of || !slot_of) return false;
  for (int32_t k = 0; k < s->n_types; k++) {
    chain_slot *x = &t->slots[k]; /* one for each type */
    x->time_ns = s->time_ns[k];
    x->never = s->never[k];
    x->limit_bytes = s->room_bytes[k];
    if (x->limit_bytes == SITU_UNLIMITED_BYTES) continue;
    int64_t spare = sat_mul(s->servers[k].n_places - 1, max_peak); /* every device holds its own */
    x->limit_bytes = max64(0, (int64_t)((double)x->limit_bytes * fill) - spare);
  }
  t->upper_ns = SITU_NEVER_NS; /* times are estimates */
  if (!chain_dp_run(t, &best)) return false;
  if (best < 0) return true;
  if (!chain_dp_expand(t, best, device_of, slot_of)) return false;
  for (int32_t v = 0; v < p->n_operators; v++)
    s->only_server[v] = p->pin[v] >= 0 ? -1 : p->platform->devices[device_of[c->element[v]]].server;
  for (int32_t k = 0; k < N_RANK_WEIGHTS && !solve_done(s->run); k++) {
    if (!schedule(s, (rank_weight)k)) return false;
    list_offer(s->run, &s->partial);
  }
  return true;
}

static bool spread(spreading *s, arena *a) {
  const situ_problem *p = s->problem;
  chain_dp t;
  if (!chain_dp_init(&t, s->problem, s->whole, s->n_types, a, s->run->budget)) return false;
  if (t.n_states == 0 || chain_dp_max_elements(&t) < MIN_ELEMENTS) return true;
  if (!chain_find(&s->chain, p, chain_dp_max_elements(&t), 0, a)) return false;
  if (s->chain.n < 2) return true;
  if (!chain_dp_set_chain(&t, &s->chain)) return false;
  if (!ARENA_ARRAYS(a, ZEROS(s->time_ns, s->n_types), ZEROS(s->never, s->n_types))) return false;
  bool limited = s->partial.limited;
  for (int32_t k = 0; k < s->n_types; k++)
    if (!time_server(s, k)) return false;
  s->partial.limited = limited;
  int64_t max_peak = 0;
  for (int32_t e = 0; e < s->chain.n; e++) max_peak = max64(max_peak, s->chain.peak_bytes[e]);
  for (size_t i = 0; i < (limited ? sizeof FILLS / sizeof FILLS[0] : 1) && !solve_done(s->run); i++)
    if (!offer(s, &t, FILLS[i], max_peak)) return false;
  return true;
}

static situ_status server_heft_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  arena *a = run->arena;
  spreading s = {.run = run, .problem = p};
  server_type *servers;
  if (!ARENA_ARRAYS(a, ARRAY(s.only_server, p->n_operators), ARRAY(s.rank, p->n_operators)) ||
      !server_types_find(&servers, &s.n_types, p, a) || !partial_init(&s.partial, p, a))
    return fail_no_memory(run->error);
  s.servers = servers;
  s.partial.only_server = s.only_server;
  s.partial.spare_hosts = true;
  if (!make_whole(&s, a)) return fail_no_memory(run->error);
  spread(&s, a); /* if time, memory or room ran out, there is nothing more to offer */
  return SITU_STATUS_OK;
}

static bool server_heft_serves(const situ_problem *p) { return p->platform->n_servers > 1; }

const solver server_heft_solver = {
    .name = "server_heft",
    .title = "a chain of layers over servers, with list scheduling within each server",
    .source = "",
    .models = MODEL_STREAM,
    .serves = server_heft_serves,
    .solve = server_heft_solve,
};
