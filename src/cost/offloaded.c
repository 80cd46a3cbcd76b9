#include "cost/offloaded.h"

#include <math.h>

#include "base/checked.h"
#include "cost/efficiency.h"
#include "cost/streamed.h"
#include "platform/platform.h"

enum { MIN_TOKENS = 32 };

static bool is_product(const situ_graph *g, int32_t v) {
  if (fusion_class_of(g->kind_name[g->kind[v]]) != FUSION_MATMUL) return false;
  for (int32_t i = 0; i < g->n_ends; i++)
    if (g->end[i].op == v && g->end[i].leaves) return false; /* the head computes the last token of each stream */
  return graph_own_weight_bytes(g, v) > 0;
}

/* The accelerator that computes for this host; -1: none does. */
static int32_t helper_of(const situ_platform *p, int32_t host, const bool *unused) {
  int32_t home = platform_home(p);
  if (!p->devices[host].is_host || p->devices[host].server != p->devices[home].server) return -1;
  int32_t d = streamed_to(p, host, unused);
  return d >= 0 && p->devices[d].family != SITU_FAMILY_NPU ? d : -1;
}

void offloaded_apply(situ_costs *c, const situ_graph *g, const situ_platform *p, const fusion *work,
                     const cost_engine *engine, const bool *unused) {
  if (engine->offloaded <= 0 || g->step_tokens < MIN_TOKENS) return;
  for (int32_t k = 0; k < c->n_classes; k++) {
    int32_t host = p->class_device[k], to = helper_of(p, host, unused);
    if (to < 0) continue;
    for (int32_t v = 0; v < c->n_operators; v++) {
      int32_t head = work->group ? work->group[v] : v;
      int64_t *time = &c->time_ns[(int64_t)head * c->n_classes + k];
      int64_t at = (int64_t)head * c->n_classes + p->class_of[to], n_members = platform_members(p, to);
      int64_t there_ns = n_members > 1 ? c->each_member_ns[at] : c->time_ns[at];
      if (head != v || !is_product(g, v) || there_ns == SITU_NEVER_NS || *time == SITU_NEVER_NS) continue;
      int64_t bytes = min64(graph_own_weight_bytes(g, v), g->moved_bytes[v]);
      /* A layer on the host is mapped from the file, so its memory is not pinned. */
      double max_rate =
          efficiency_work_of(g->kind_name[g->kind[v]]) == EFFICIENCY_EXPERTS ? HUGE_VAL : PAGEABLE_BYTES_PER_S;
      int64_t copy_ns = streamed_copy_ns(p, p->memory_of[host], p->memory_of[to], bytes, engine->offloaded, max_rate);
      *time = min64(sat_add(there_ns, sat_mul(n_members, copy_ns)), SITU_NEVER_NS - 1);
      c->offloads = true;
    }
  }
}

int64_t offloaded_bytes(const situ_graph *g, const situ_platform *p, const cost_engine *engine, const bool *unused) {
  int64_t all = 0, held = 0, largest = 0;
  int32_t home = platform_home(p);
  if (engine->offloaded <= 0 || g->micro_batch < MIN_TOKENS || helper_of(p, home, unused) < 0) return 0;
  for (int32_t d = 0; d < p->n_devices; d++)
    if (!p->devices[d].is_host && !(unused && unused[d])) held = sat_add(held, p->memory_bytes[p->memory_of[d]]);
  for (int32_t v = 0; v < g->n_operators; v++) {
    all = sat_add(all, g->weight_bytes[v]);
    if (is_product(g, v)) largest = max64(largest, graph_own_weight_bytes(g, v));
  }
  return all > held ? platform_reserve_bytes(p, helper_of(p, home, unused), largest) : 0;
}
