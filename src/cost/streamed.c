#include "cost/streamed.h"

#include <math.h>

#include "base/checked.h"
#include "platform/platform.h"
#include "platform/routes.h"

int32_t streamed_to(const situ_platform *p, int32_t host, const bool *unused) {
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool apart = p->memory_of[d] != p->memory_of[host] && !p->devices[d].separate_address_space;
    if (!p->devices[d].is_host && apart && p->devices[d].server == p->devices[host].server && !(unused && unused[d]))
      return d;
  }
  return -1;
}

int64_t streamed_copy_ns(const situ_platform *p, int32_t m, int32_t w, int64_t size_bytes, double share,
                         double max_bytes_per_s) {
  int64_t sum_ns = 0, pair = (int64_t)m * p->n_memories + w;
  for (int32_t i = p->route_start[pair]; size_bytes > 0 && i < p->route_start[pair + 1]; i++) {
    const situ_link *link = &p->links[p->route_link[i]];
    sum_ns =
        sat_add(sum_ns, link_time_ns(link->latency_ns, fmin(link->bytes_per_s * share, max_bytes_per_s), size_bytes));
  }
  return sum_ns;
}

static void stream(situ_costs *c, const situ_graph *g, const situ_platform *p, const int32_t *group, int32_t k,
                   double share) {
  int32_t from = p->memory_of[p->class_device[k]], to = p->memory_of[c->streamed_to[k]];
  int32_t main = p->class_of[c->streamed_to[k]];
  for (int32_t v = 0; v < c->n_operators; v++)
    c->time_ns[(int64_t)v * c->n_classes + k] = c->time_ns[(int64_t)v * c->n_classes + main];
  for (int32_t v = 0; v < c->n_operators; v++) {
    int64_t *time = &c->time_ns[(int64_t)(group ? group[v] : v) * c->n_classes + k];
    bool rests = g->has_idle && g->flops[v] == 0 && g->moved_bytes[v] == 0;
    if (*time == SITU_NEVER_NS || rests) continue;
    int64_t copy_ns = streamed_copy_ns(p, from, to, graph_own_weight_bytes(g, v), share, PAGEABLE_BYTES_PER_S);
    *time = min64(sat_add(*time, copy_ns), SITU_NEVER_NS - 1);
  }
}

bool streamed_apply(situ_costs *c, const situ_graph *g, const situ_platform *p, const int32_t *group,
                    const cost_engine *engine, const bool *unused) {
  if (engine->streamed <= 0) return true;
  c->streamed_to = ARENA_NEW(c->arena, int32_t, c->n_classes);
  if (!c->streamed_to) return false;
  for (int32_t k = 0; k < c->n_classes; k++) {
    int32_t d = p->class_device[k];
    c->streamed_to[k] = p->devices[d].is_host ? streamed_to(p, d, unused) : -1;
  }
  for (int32_t k = 0; k < c->n_classes; k++)
    if (c->streamed_to[k] >= 0) stream(c, g, p, group, k, engine->streamed);
  return true;
}
