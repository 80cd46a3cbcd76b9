#include "cost/host_states.h"

#include <math.h>

#include "base/checked.h"
#include "base/fail.h"
#include "base/text.h"
#include "cost/efficiency.h"
#include "platform/platform.h"
#include "platform/routes.h"

static int32_t first_host(const situ_platform *p) {
  int32_t d = 0;
  while (d < p->n_devices && !p->devices[d].is_host) d++;
  return d < p->n_devices ? d : -1;
}

situ_status host_states_platform(situ_platform **out, const situ_platform *p, int64_t bytes, situ_error *error) {
  int32_t host = first_host(p);
  char states[TEXT_UNIT_BYTES], memory[TEXT_UNIT_BYTES];
  *out = NULL;
  if (host < 0 || p->n_servers > 1)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL,
                     "offload_optimizer needs one machine with a host, which holds the states of the optimizer");
  int32_t m = p->memory_of[host];
  bool limited = p->memory_bytes[m] != SITU_UNLIMITED_BYTES;
  if (limited && p->memory_bytes[m] < bytes)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, p->devices[host].name,
                     "has %s of memory; the states of the optimizer take %s", text_size(memory, p->memory_bytes[m]),
                     text_size(states, bytes));
  arena *scratch = arena_new();
  situ_device *devices = scratch ? ARENA_COPY(scratch, p->devices, situ_device, p->n_devices) : NULL;
  for (int32_t d = 0; devices && limited && d < p->n_devices; d++)
    if (p->memory_of[d] == m) devices[d].memory_bytes = p->memory_bytes[m] - bytes;
  situ_status status =
      devices ? platform_new_like(out, p, devices, p->n_devices, p->links, p->n_links, error) : fail_no_memory(error);
  arena_free(scratch);
  return status;
}

/* From memory m to memory w. */
static int64_t route_ns(const situ_platform *p, int32_t m, int32_t w, int64_t size_bytes) {
  int64_t sum_ns = 0, pair = (int64_t)m * p->n_memories + w;
  for (int32_t i = p->route_start[pair]; i < p->route_start[pair + 1]; i++) {
    const situ_link *link = &p->links[p->route_link[i]];
    sum_ns = sat_add(sum_ns, link_time_ns(link->latency_ns, link->bytes_per_s, size_bytes));
  }
  return sum_ns;
}

void host_states_add(situ_costs *c, const situ_graph *g, const situ_platform *linked, const int32_t *group,
                     const cost_engine *engine, double share, const bool *unused, bool in_turn) {
  int32_t host = g->n_offloads > 0 ? first_host(linked) : -1, n_sharing = 0;
  if (host < 0) return;
  const situ_device *h = &linked->devices[host];
  if (!(share > 0.0)) share = efficiency_of(h, engine, EFFICIENCY_OTHER, SITU_DTYPE_F32).memory;
  double bytes_per_s = share * h->memory_bytes_per_s;
  for (int32_t d = 0; d < linked->n_devices; d++) n_sharing += !linked->devices[d].is_host && !(unused && unused[d]);
  if (in_turn) n_sharing = 1;
  for (int32_t i = 0; i < g->n_offloads; i++)
    for (int32_t k = 0; k < c->n_classes; k++) {
      const graph_offload *o = &g->offload[i];
      const situ_device *device = &linked->devices[linked->class_device[k]];
      int64_t at = (int64_t)(group ? group[o->op] : o->op) * c->n_classes + k;
      int32_t m = linked->memory_of[linked->class_device[k]], w = linked->memory_of[host];
      int64_t each = o->weight_bytes / (device->members > 1 ? device->members : 1);
      int64_t own_ns = sat_round(ceil((double)o->moved_bytes * 1e9 / bytes_per_s));
      if (!device->is_host) own_ns = sat_mul(own_ns, n_sharing);
      int64_t step_ns = sat_add(own_ns, sat_add(route_ns(linked, m, w, each), route_ns(linked, w, m, each)));
      int64_t share_ns = step_ns / g->offload_inputs + (step_ns % g->offload_inputs > 0);
      if (c->time_ns[at] == SITU_NEVER_NS) continue;
      c->time_ns[at] = min64(sat_add(c->time_ns[at], share_ns), SITU_NEVER_NS - 1);
    }
}
