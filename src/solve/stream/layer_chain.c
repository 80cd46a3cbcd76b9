#include "solve/stream/layer_chain.h"

#include "base/disjoint.h"
#include "base/fail.h"
#include "graph/layers.h"
#include "solve/stream/contiguous.h"
#include "solve/stream/sequence.h"

/* The units of a problem, with those of each layer joined. *none: there are no layers. False without memory. */
static bool join_layers(unit_list *out, bool *none, const situ_problem *p, arena *a) {
  layer_list l;
  int32_t n = p->n_operators, *into, *first;
  if (!ARENA_ARRAYS(a, ARRAY(into, n), ARRAY(first, n)) || !layers_find(&l, p->graph, a)) return false;
  *none = l.n < 2;
  if (*none) return true;
  disjoint_init(into, n);
  for (int32_t k = 0; k < p->units.n; k++) {
    unit_members u = unit_list_members(&p->units, k);
    for (int32_t i = 1; i < u.n; i++) disjoint_join(into, u.member[0], u.member[i]);
  }
  for (int32_t k = 0; k < l.n; k++) first[k] = -1;
  for (int32_t v = 0; v < n; v++) {
    if (l.of[v] < 0) continue;
    if (first[l.of[v]] < 0) first[l.of[v]] = v;
    disjoint_join(into, first[l.of[v]], v);
  }
  for (int32_t v = 0; v < n; v++) first[v] = disjoint_root(into, v);
  return unit_list_find(out, first, n, n, a);
}

situ_status layer_chain_offer(solve_run *run) {
  const situ_problem *p = run->problem;
  chain c;
  unit_list layers;
  int32_t *device[CONTIGUOUS_DEVICES], *order = ARENA_NEW(run->arena, int32_t, p->n_operators);
  int64_t found_ns[CONTIGUOUS_DEVICES];
  bool none = true;
  if (!order || !join_layers(&layers, &none, p, run->arena)) return fail_no_memory(run->error);
  if (none) return SITU_STATUS_OK;
  if (!chain_of_units(&c, p, &layers, run->arena) || !contiguous_by_devices(device, found_ns, &c, run->arena))
    return fail_no_memory(run->error);
  for (int32_t k = 0; k < CONTIGUOUS_DEVICES && !solve_done(run); k++) {
    if (found_ns[k] == SITU_NEVER_NS || !solve_allows(p, device[k])) continue;
    if (!sequence_find(order, run->simulator, p, device[k], run->arena)) return fail_no_memory(run->error);
    solve_offer(run, &(placement){.device = device[k], .order = order});
  }
  return SITU_STATUS_OK;
}
