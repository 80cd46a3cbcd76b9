#include "cost/ends.h"

#include "base/checked.h"
#include "base/fail.h"
#include "graph/graph.h"
#include "platform/platform.h"
#include "platform/routes.h"

bool ends_matter(const situ_graph *g, const situ_platform *p) { return g->n_ends > 0 && p->n_servers > 1; }

/* Whether a link leads from one machine to another. */
static bool crosses(const situ_platform *p, const situ_link *link) {
  return p->devices[link->from_device].server != p->devices[link->to_device].server;
}

/* The time of `size_bytes` from memory m to memory w on the links between machines. */
static int64_t network_ns(const situ_platform *p, int32_t m, int32_t w, int64_t size_bytes) {
  int64_t sum_ns = 0, pair = (int64_t)m * p->n_memories + w;
  for (int32_t i = p->route_start[pair]; i < p->route_start[pair + 1]; i++) {
    const situ_link *link = &p->links[p->route_link[i]];
    if (crosses(p, link)) sum_ns = sat_add(sum_ns, link_time_ns(link->latency_ns, link->bytes_per_s, size_bytes));
  }
  return sum_ns;
}

/* Whether devices d and e have the same network distance from the requesting machine: latency and rate, there and back.
 */
static bool equally_far(const situ_platform *p, int32_t d, int32_t e) {
  static const int64_t sizes[] = {0, (int64_t)1 << 30};
  int32_t home = p->memory_of[platform_home(p)], m = p->memory_of[d], w = p->memory_of[e];
  for (int k = 0; k < 2; k++)
    if (network_ns(p, home, m, sizes[k]) != network_ns(p, home, w, sizes[k]) ||
        network_ns(p, m, home, sizes[k]) != network_ns(p, w, home, sizes[k]))
      return false;
  return true;
}

situ_status ends_platform(situ_platform **out, const situ_platform *p, situ_error *error) {
  arena *scratch = arena_new();
  situ_device *devices = scratch ? ARENA_COPY(scratch, p->devices, situ_device, p->n_devices) : NULL;
  int32_t *alike = scratch ? ARENA_NEW(scratch, int32_t, p->n_devices) : NULL;
  *out = NULL;
  for (int32_t d = 0; devices && alike && d < p->n_devices; d++) {
    alike[d] = p->class_device[p->class_of[d]];
    while (p->class_of[alike[d]] != p->class_of[d] || !equally_far(p, d, alike[d])) alike[d]++;
  }
  bool made = devices && alike && platform_split_classes(devices, p, alike, scratch);
  situ_status status =
      made ? platform_new_like(out, p, devices, p->n_devices, p->links, p->n_links, error) : fail_no_memory(error);
  arena_free(scratch);
  return status;
}

bool ends_add(situ_costs *c, const situ_graph *g, const situ_platform *linked, const int32_t *group,
              const cost_engine *engine) {
  int32_t home = linked->memory_of[platform_home(linked)];
  if (!ends_matter(g, linked)) return true;
  c->end_ns = ARENA_ZERO(c->arena, int64_t, (int64_t)c->n_operators * c->n_classes);
  for (int32_t i = 0; c->end_ns && i < g->n_ends; i++)
    for (int32_t k = 0; k < c->n_classes; k++) {
      const graph_end *e = &g->end[i];
      int32_t m = linked->memory_of[linked->class_device[k]];
      int64_t bytes = e->leaves && engine->central ? e->result_bytes : e->token_bytes;
      int64_t at = (int64_t)(group ? group[e->op] : e->op) * c->n_classes + k;
      int64_t one_ns = e->leaves ? network_ns(linked, m, home, bytes) : network_ns(linked, home, m, bytes);
      if (c->time_ns[at] == SITU_NEVER_NS) continue;
      int64_t before_ns = c->time_ns[at];
      c->time_ns[at] = min64(sat_add(before_ns, sat_round(e->often * (double)one_ns)), SITU_NEVER_NS - 1);
      c->end_ns[at] += c->time_ns[at] - before_ns;
    }
  return c->end_ns != NULL;
}
