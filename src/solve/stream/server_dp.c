/* server_dp: the best plan of a chain over servers, in which each device holds one interval of the chain and the
 * devices of a server are consecutive. It is exact among such plans if only the tensors of the operator at a boundary
 * cross it and links are not shared. docs/theory/chain.md has the recursion and the proof.
 *
 * Equal servers, and equal devices within one, are interchangeable: a state counts how many of each type are used, so
 * only orders of types are tried. A step is one state with all its continuations. */
#include "base/checked.h"
#include "base/fail.h"
#include "chain/chain_dp.h"
#include "solve/common/repair.h"

enum {
  MIN_ELEMENTS = 8,
  COARSE = 64,
  PARTS_OF_DEVICE = 64, /* throughput: minimum number of elements for each device */
  MAX_ROUNDS = 6        /* of tightening the limits of memory */
};

/* Offers plans, and while one takes too much memory in simulation, tightens the limits. */
static bool offer(solve_run *run, chain_dp *t) {
  const situ_problem *p = t->problem;
  const chain *c = &t->chain;
  arena *a = run->arena;
  int32_t *device = ARENA_NEW(a, int32_t, p->n_operators), *order = ARENA_COPY(a, c->order, int32_t, p->n_operators);
  int32_t *device_of = ARENA_NEW(a, int32_t, c->n), *slot_of = ARENA_NEW(a, int32_t, c->n);
  if (!device || !order || !device_of || !slot_of) return false;
  for (int32_t x = 0; x < t->n_slots; x++)
    t->slots[x].limit_bytes = p->platform->memory_bytes[p->memory_of[t->slots[x].device]];
  placement where = {.device = device, .order = p->execution == SITU_EXECUTION_STREAM ? order : NULL};
  for (int32_t round = 0; round < MAX_ROUNDS; round++) {
    int32_t best;
    t->upper_ns = run->incumbent->value_ns;
    if (!chain_dp_run(t, &best)) return false;
    if (best < 0) return true;
    if (!chain_dp_expand(t, best, device_of, slot_of)) return false;
    for (int32_t v = 0; v < p->n_operators; v++) device[v] = device_of[c->element[v]];
    simulation found = solve_try(run, &where);
    if (found.excess_bytes == 0) return true;
    bool narrower = false;
    for (int32_t e = 0; e < c->n; e++) {
      int32_t m = p->memory_of[device_of[e]];
      int64_t over = found.peak_bytes[m] - p->platform->memory_bytes[m];
      chain_slot *x = &t->slots[slot_of[e]];
      int64_t limit = p->platform->memory_bytes[m] - max64(over, 0) - (p->platform->memory_bytes[m] - x->limit_bytes);
      if (over <= 0 || (e > 0 && device_of[e] == device_of[e - 1])) continue;
      x->limit_bytes = max64(limit, 0);
      narrower = true;
    }
    if (!narrower) break;
  }
  repair_offer(run, &where);
  return true;
}

/* Solves a coarse chain first, for an early plan. Its value then prunes the fine one. */
static situ_status server_dp_solve(solve_run *run) {
  const situ_problem *p = run->problem;
  server_type *servers;
  int32_t n;
  chain_dp t;
  chain c;
  if (!server_types_find(&servers, &n, p, run->arena) || !chain_dp_init(&t, p, servers, n, run->arena, run->budget))
    return fail_no_memory(run->error);
  int32_t max = t.n_states > 0 ? chain_dp_max_elements(&t) : 0;
  int32_t parts = t.latency ? 0 : PARTS_OF_DEVICE * p->n_devices;
  if (max < MIN_ELEMENTS) return SITU_STATUS_OK;
  for (int32_t now = max < COARSE ? max : COARSE;; now = max) {
    if (!chain_find(&c, p, now, parts, run->arena)) return fail_no_memory(run->error);
    if (c.n < 2) return SITU_STATUS_OK;
    if (!chain_dp_set_chain(&t, &c) || !offer(run, &t)) return fail_no_memory(run->error);
    if (!c.joined || now == max || solve_done(run)) break;
  }
  solve_count(run, "server_dp_elements", c.n);
  return SITU_STATUS_OK;
}

static bool server_dp_serves(const situ_problem *p) { return !p->training; }

const solver server_dp_solver = {
    .name = "server_dp",
    .title = "dynamic programming of a chain of layers over servers, merging equal ones",
    .source = "",
    .models = MODEL_STREAM | MODEL_PIPELINE,
    .serves = server_dp_serves,
    .solve = server_dp_solve,
};
