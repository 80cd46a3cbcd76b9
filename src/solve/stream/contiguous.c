#include "solve/stream/contiguous.h"

#include "base/checked.h"
#include "base/fail.h"
#include "base/sort.h"
#include "chain/chain_dp.h"
#include "solve/stream/sequence.h"

/* ---- Cuts at a price ---- */

bool contiguous_by_price(int32_t *device, const chain *c, branch_chain *path, int64_t price) {
  if (c->n == 0 || branch_chain_run(path, &(chain_multipliers){.time = true, .cut_ns = price}) < 0) return false;
  for (int32_t v = 0; v < c->problem->n_operators; v++) device[v] = path->first[path->at[c->element[v]]];
  return true;
}

/* ---- One segment for each device ---- */

/* The chain with the narrowest cuts only. */
static bool keep_cuts(chain *out, const chain *c, arena *a) {
  int32_t begin[CONTIGUOUS_CUTS + 1] = {0}, n = 1;
  keyed *rows = ARENA_NEW(a, keyed, c->n);
  if (!rows) return false;
  for (int32_t k = 1; k < c->n; k++) {
    const int64_t *crossing = c->crossing_ns + (int64_t)k * c->problem->n_kinds;
    rows[k - 1] = (keyed){0, k};
    for (int32_t x = 0; x < c->problem->n_kinds; x++) rows[k - 1].key = max64(rows[k - 1].key, crossing[x]);
  }
  sort_keyed(rows, c->n - 1);
  while (n < c->n && n <= CONTIGUOUS_CUTS) {
    begin[n] = rows[n - 1].at;
    n++;
  }
  sort32(begin, n);
  return chain_join(out, c, begin, n, a);
}

/* The devices that run most, then the fastest of them, as one server in which each is a type of its own. */
static bool choose_devices(server_type *out, const chain *c, arena *a) {
  int32_t m = c->problem->n_devices, n = 0;
  keyed *rows;
  *out = (server_type){.n_servers = 1};
  if (!ARENA_ARRAYS(a, ARRAY(rows, m), ARRAY(out->device, m), ARRAY(out->type_of, m), ARRAY(out->count, m),
                    ARRAY(out->place, CONTIGUOUS_DEVICES * CONTIGUOUS_DEVICES)))
    return false;
  for (int32_t d = 0; d < m; d++) {
    int64_t at = (int64_t)c->column_of[d] * (c->n + 1) + c->n;
    if (c->column_of[d] < 0 || c->never[at] == c->n) continue;
    rows[n++] = (keyed){sat_add(c->time_ns[at], sat_mul(c->never[at], (int64_t)1 << 40)), d};
  }
  sort_keyed(rows, n);
  out->n_places = out->n_types = n < CONTIGUOUS_DEVICES ? n : CONTIGUOUS_DEVICES;
  for (int32_t k = 0; k < out->n_types; k++) {
    out->device[k] = rows[k].at;
    out->type_of[k] = k;
    out->count[k] = 1;
    out->place[(int64_t)k * out->n_places] = k;
  }
  return true;
}

bool contiguous_by_devices(int32_t **device, int64_t *value_ns, const chain *c, arena *a) {
  const situ_problem *p = c->problem;
  chain_dp t;
  chain few;
  server_type all;
  int32_t best, *device_of, *slot_of;
  for (int32_t k = 0; k < CONTIGUOUS_DEVICES; k++) {
    value_ns[k] = SITU_NEVER_NS;
    if (!(device[k] = ARENA_NEW(a, int32_t, p->n_operators))) return false;
  }
  if (c->n == 0) return true;
  if (!keep_cuts(&few, c, a) || !choose_devices(&all, c, a)) return false;
  if (all.n_types == 0) return true;
  if (!ARENA_ARRAYS(a, ARRAY(device_of, few.n), ARRAY(slot_of, few.n)) || !chain_dp_init(&t, p, &all, 1, a, NULL) ||
      !chain_dp_set_chain(&t, &few))
    return false;
  t.upper_ns = SITU_NEVER_NS;
  if (!chain_dp_run(&t, &best)) return false;
  for (int32_t k = 0; k < all.n_types; k++) {
    best = chain_dp_best(&t, k + 1);
    if (best < 0) continue;
    if (!chain_dp_expand(&t, best, device_of, slot_of)) return false;
    value_ns[k] = chain_dp_value_ns(&t, best);
    for (int32_t v = 0; v < p->n_operators; v++) device[k][v] = device_of[few.element[v]];
  }
  return true;
}

/* ---- The row ---- */

situ_status contiguous_offer(solve_run *run, const unit_list *units) {
  const situ_problem *p = run->problem;
  chain c;
  int32_t *device[CONTIGUOUS_DEVICES], *order = ARENA_NEW(run->arena, int32_t, p->n_operators);
  int64_t value_ns[CONTIGUOUS_DEVICES];
  if (!order || !chain_of_units(&c, p, units, run->arena) || !contiguous_by_devices(device, value_ns, &c, run->arena))
    return fail_no_memory(run->error);
  for (int32_t k = 0; k < CONTIGUOUS_DEVICES; k++) {
    if (value_ns[k] == SITU_NEVER_NS || (k > 0 && solve_done(run)) || !solve_allows(p, device[k])) continue;
    if (!sequence_find(order, run->simulator, p, device[k], run->arena)) return fail_no_memory(run->error);
    solve_offer(run, &(placement){.device = device[k], .order = order});
  }
  return SITU_STATUS_OK;
}

static situ_status contiguous_solve(solve_run *run) { return contiguous_offer(run, &run->problem->units); }

const solver contiguous_solver = {
    .name = "contiguous",
    .title = "one contiguous segment of the network, as a chain, for each device",
    .source = "",
    .models = MODEL_STREAM,
    .solve = contiguous_solve,
};
