#include "base/checked.h"
#include "base/contracts.h"
#include "base/fail.h"
#include "base/sort.h"
#include "cost/cost_models.h"
#include "graph/graph.h"
#include "platform/platform.h"
#include "platform/routes.h"

#include <string.h>

/* Sorts the tensors by key. Returns the number of distinct keys. */
static int32_t sort_tensors(keyed *all, const int64_t *key, int32_t n) {
  int32_t n_keys = 0;
  for (int32_t t = 0; t < n; t++) all[t] = (keyed){key[t], t};
  sort_keyed(all, n);
  for (int32_t i = 0; i < n; i++) n_keys += i == 0 || all[i].key != all[i - 1].key;
  return n_keys;
}

/* Fills the kinds of a row in ascending order: a kind of several hops comes after its first hop and its rest. */
static void fill_row(int64_t *row, int64_t key, transfer_hop hop, const route_kinds *kinds, const situ_platform *p) {
  row[0] = 0;
  for (int32_t k = 1; k < kinds->n_kinds; k++) {
    const situ_link *link = &p->links[kinds->first_link[k]];
    int32_t rest = kinds->rest[k];
    row[k] = rest == 0 ? hop(key, link) : sat_add(row[kinds->link_kind[kinds->first_link[k]]], row[rest]);
  }
}

static situ_status make(situ_costs **out, const situ_graph *g, const situ_platform *p, const int64_t *key,
                        transfer_hop hop, arena *scratch, situ_error *error) {
  route_kinds kinds;
  keyed *all = ARENA_NEW(scratch, keyed, g->n_tensors);
  if (!all || !route_kinds_find(&kinds, scratch, p)) return fail_no_memory(error);
  int32_t n_rows = sort_tensors(all, key, g->n_tensors);
  if ((int64_t)n_rows * kinds.n_kinds > COSTS_MAX_CELLS)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, p->name,
                     "tensors of %d sizes on %d kinds of route are too many: expected a product of at most %lld "
                     "(equal links make equal kinds)",
                     (int)n_rows, (int)kinds.n_kinds, (long long)COSTS_MAX_CELLS);
  situ_costs *c =
      costs_new(g->n_operators, g->n_tensors, p->n_classes, p->n_memories, p->n_links, kinds.n_kinds, n_rows);
  if (!c) return fail_no_memory(error);
  c->machine = platform_shape_hash(p);
  memcpy(c->pair_kind, kinds.pair_kind, sizeof(int32_t) * (size_t)p->n_memories * (size_t)p->n_memories);
  memcpy(c->link_kind, kinds.link_kind, sizeof(int32_t) * (size_t)p->n_links);
  if (p->n_links > 0) memcpy(c->link, p->links, sizeof(situ_link) * (size_t)p->n_links);
  int64_t *row = c->transfer_rows - c->n_kinds;
  for (int32_t i = 0; i < g->n_tensors; i++) {
    if (i == 0 || all[i].key != all[i - 1].key) fill_row(row += c->n_kinds, all[i].key, hop, &kinds, p);
    c->transfer_ns[all[i].at] = row;
  }
  costs_find_extremes(c);
  *out = c;
  return SITU_STATUS_OK;
}

situ_status costs_new_with_hops(situ_costs **out, const situ_graph *graph, const situ_platform *platform,
                                const int64_t *key, transfer_hop hop, situ_error *error) {
  REQUIRE(hop && (key || graph->n_tensors == 0));
  *out = NULL;
  arena *scratch = arena_new();
  situ_status status = scratch ? make(out, graph, platform, key, hop, scratch, error) : fail_no_memory(error);
  arena_free(scratch);
  return status;
}

/* Key of tensors that are never sent. */
enum { NOT_SENT = -1 };

static int64_t time_on(int64_t size_bytes, const situ_link *link) {
  if (size_bytes == NOT_SENT) return 0;
  return link_time_ns(link->latency_ns, link->bytes_per_s, size_bytes);
}

situ_status costs_new_with_transfers(situ_costs **out, const situ_graph *graph, const situ_platform *platform,
                                     const bool *known, situ_error *error) {
  arena *scratch = arena_new();
  int64_t *key = scratch ? ARENA_NEW(scratch, int64_t, graph->n_tensors) : NULL;
  for (int32_t t = 0; key && t < graph->n_tensors; t++)
    key[t] = (known && known[graph->producer[t]]) || (graph->has_idle && graph->size_bytes[t] == 0)
                 ? NOT_SENT
                 : graph->size_bytes[t];
  situ_status status = key ? costs_new_with_hops(out, graph, platform, key, time_on, error) : fail_no_memory(error);
  arena_free(scratch);
  return status;
}
