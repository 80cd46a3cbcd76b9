#include "base/checked.h"
#include "base/fail.h"
#include "cost/cost_models.h"
#include "graph/graph.h"
#include "platform/platform.h"
#include "platform/routes.h"

#include <string.h>

/* One row of the table: the times of a tensor of that size on each kind of route. Link kinds come before the kinds of
 * several hops, whose columns are sums over theirs. */
static void fill_row(int64_t *row, int64_t size_bytes, const route_kinds *kinds, const situ_platform *p) {
  row[0] = 0;
  for (int32_t k = 1; k < kinds->n_kinds; k++) {
    int32_t first = kinds->kind_start[k], last = kinds->kind_start[k + 1];
    if (last - first == 1) {
      const situ_link *link = &p->links[kinds->kind_link[first]];
      row[k] = link_time_ns(link->latency_ns, link->bytes_per_s, size_bytes);
    } else {
      row[k] = 0;
      for (int32_t i = first; i < last; i++) row[k] = sat_add(row[k], row[kinds->link_kind[kinds->kind_link[i]]]);
    }
  }
}

static situ_status new_costs(situ_costs **out, arena *scratch, const situ_graph *graph, const situ_platform *p,
                             situ_error *error) {
  route_kinds kinds;
  if (!route_kinds_find(&kinds, scratch, p)) return fail_no_memory(error);
  situ_costs *c =
      costs_new(graph->n_operators, graph->n_tensors, p->n_classes, p->n_memories, p->n_links, kinds.n_kinds);
  if (!c)
    return fail_with(error, SITU_STATUS_NO_MEMORY, p->name,
                     "out of memory for the times of %d tensors on %d kinds of route", (int)graph->n_tensors,
                     (int)kinds.n_kinds);
  memcpy(c->pair_kind, kinds.pair_kind, sizeof(int32_t) * (size_t)p->n_memories * (size_t)p->n_memories);
  memcpy(c->link_kind, kinds.link_kind, sizeof(int32_t) * (size_t)p->n_links);
  for (int32_t t = 0; t < graph->n_tensors; t++)
    fill_row(c->transfer_ns + (int64_t)t * c->n_kinds, graph->size_bytes[t], &kinds, p);
  *out = c;
  return SITU_STATUS_OK;
}

situ_status costs_new_with_transfers(situ_costs **out, const situ_graph *graph, const situ_platform *platform,
                                     situ_error *error) {
  *out = NULL;
  arena *scratch = arena_new();
  situ_status status = scratch ? new_costs(out, scratch, graph, platform, error) : fail_no_memory(error);
  arena_free(scratch);
  return status;
}
