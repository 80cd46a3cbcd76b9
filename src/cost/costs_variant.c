/* Costs made of others: of copies of the graph, and of a machine of which something is faster. */
#include <string.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "cost/costs.h"
#include "platform/platform.h"

/* Times by class: column k is column from[k] of c. */
static bool copy_classes(situ_costs *out, const situ_costs *c, const int32_t *from) {
  int64_t n_times = (int64_t)out->n_operators * out->n_classes;
  if (c->part && !(out->part = ARENA_NEW(out->arena, part_cost, out->n_classes))) return false;
  if (c->ruled && !(out->ruled = ARENA_NEW(out->arena, bool, n_times))) return false;
  if (c->measured && !(out->measured = ARENA_NEW(out->arena, bool, n_times))) return false;
  if (c->streamed_to && !(out->streamed_to = ARENA_NEW(out->arena, int32_t, out->n_classes))) return false;
  if (c->end_ns && !(out->end_ns = ARENA_NEW(out->arena, int64_t, n_times))) return false;
  if (c->collective_ns && !(out->collective_ns = ARENA_NEW(out->arena, int64_t, n_times))) return false;
  if (c->one_member_ns && !(out->one_member_ns = ARENA_NEW(out->arena, int64_t, n_times))) return false;
  for (int32_t k = 0; c->streamed_to && k < out->n_classes; k++) out->streamed_to[k] = c->streamed_to[from[k]];
  for (int32_t k = 0; c->part && k < out->n_classes; k++) out->part[k] = c->part[from[k]];
  for (int64_t v = 0; v < out->n_operators; v++)
    for (int32_t k = 0; k < out->n_classes; k++) {
      int64_t to = v * out->n_classes + k, at = v % c->n_operators * c->n_classes + from[k];
      out->time_ns[to] = c->time_ns[at];
      if (c->ruled) out->ruled[to] = c->ruled[at];
      if (c->measured) out->measured[to] = c->measured[at];
      if (c->end_ns) out->end_ns[to] = c->end_ns[at];
      if (c->collective_ns) out->collective_ns[to] = c->collective_ns[at];
      if (c->one_member_ns) out->one_member_ns[to] = c->one_member_ns[at];
    }
  return true;
}

static bool copy_operators(situ_costs *out, const situ_costs *c) {
  if (c->workspace_bytes && !(out->workspace_bytes = ARENA_NEW(out->arena, int64_t, out->n_operators))) return false;
  if (c->group && !(out->group = ARENA_NEW(out->arena, int32_t, out->n_operators))) return false;
  for (int32_t v = 0; v < out->n_operators; v++) {
    int32_t of = v % c->n_operators;
    if (c->workspace_bytes) out->workspace_bytes[v] = c->workspace_bytes[of];
    if (c->group) out->group[v] = c->group[of] + v - of;
  }
  return true;
}

static bool copy_held(situ_costs *out, const situ_costs *c) {
  if (c->held_bytes && !(out->held_bytes = ARENA_NEW(out->arena, int64_t, out->n_tensors))) return false;
  for (int32_t t = 0; c->held_bytes && t < out->n_tensors; t++) out->held_bytes[t] = c->held_bytes[t % c->n_tensors];
  return true;
}

static void copy_transfers(situ_costs *out, const situ_costs *c) {
  memcpy(out->transfer_rows, c->transfer_rows, (size_t)c->n_rows * (size_t)c->n_kinds * sizeof(int64_t));
  for (int32_t t = 0; t < out->n_tensors; t++)
    out->transfer_ns[t] = out->transfer_rows + (int64_t)costs_row(c, t % c->n_tensors) * c->n_kinds;
  costs_find_extremes(out);
  memcpy(out->pair_kind, c->pair_kind, (size_t)c->n_memories * (size_t)c->n_memories * sizeof(int32_t));
  if (c->n_links == 0) return;
  memcpy(out->link_kind, c->link_kind, (size_t)c->n_links * sizeof(int32_t));
  memcpy(out->link, c->link, (size_t)c->n_links * sizeof(situ_link));
}

/* The tables of n copies of the graph, with the columns `from` [n_classes] of classes. NULL without memory. */
static situ_costs *copy_costs(const situ_costs *c, int32_t n, int32_t n_classes, const int32_t *from) {
  situ_costs *out =
      costs_new(c->n_operators * n, c->n_tensors * n, n_classes, c->n_memories, c->n_links, c->n_kinds, c->n_rows);
  if (!out) return NULL;
  out->source = arena_string(out->arena, c->source);
  out->unit_name = arena_string(out->arena, c->unit_name);
  out->unit_ns = c->unit_ns;
  out->fusion = c->fusion;
  out->overlap = n == 1 ? c->overlap : SITU_OVERLAP_DEFAULT; /* copies overlap */
  out->machine = c->machine;
  out->offloads = c->offloads;
  out->reserved_bytes = c->reserved_bytes;
  out->n_kernels = c->n_kernels * n;
  out->moved_bytes = sat_mul(c->moved_bytes, n);
  copy_transfers(out, c);
  if (copy_classes(out, c, from) && copy_operators(out, c) && copy_held(out, c) && out->source &&
      (out->unit_name || !c->unit_name))
    return out;
  situ_costs_free(out);
  return NULL;
}

situ_costs *costs_copies(const situ_costs *c, int32_t n) {
  REQUIRE(n >= 1);
  arena *a = arena_new();
  int32_t *same = a ? ARENA_NEW(a, int32_t, c->n_classes) : NULL;
  for (int32_t k = 0; same && k < c->n_classes; k++) same[k] = k;
  situ_costs *out = same ? copy_costs(c, n, c->n_classes, same) : NULL;
  arena_free(a);
  return out;
}

static int64_t part_of(int64_t time_ns, double factor) {
  return time_ns == SITU_NEVER_NS ? time_ns : sat_round((double)time_ns / factor);
}

/* Routes are sums of hops, each of which has the kind of its link. */
static bool speed_links(situ_costs *c, const situ_platform *p, int32_t kind, double factor, arena *a) {
  int32_t *hops = ARENA_ZERO(a, int32_t, c->n_kinds); /* [kind] of the kind that gets faster */
  if (!hops) return false;
  for (int32_t pair = 0; pair < p->n_memories * p->n_memories; pair++) {
    int32_t n = 0;
    for (int32_t k = p->route_start[pair]; k < p->route_start[pair + 1]; k++)
      n += c->link_kind[p->route_link[k]] == kind;
    hops[c->pair_kind[pair]] = n;
  }
  hops[kind] = 1;
  for (int32_t r = 0; r < c->n_rows; r++) {
    int64_t *row = c->transfer_rows + (int64_t)r * c->n_kinds, less = row[kind] - part_of(row[kind], factor);
    for (int32_t k = 1; k < c->n_kinds; k++) row[k] = max64(row[k] - hops[k] * less, 0);
  }
  bool network = false;
  for (int32_t l = 0; l < c->n_links; l++) {
    if (c->link_kind[l] != kind) continue;
    network |= p->devices[p->links[l].from_device].server != p->devices[p->links[l].to_device].server;
    c->link[l].latency_ns = part_of(c->link[l].latency_ns, factor);
    c->link[l].bytes_per_s *= factor;
  }
  costs_find_extremes(c);
  for (int64_t i = 0; network && c->end_ns && i < (int64_t)c->n_operators * c->n_classes; i++) {
    int64_t less = c->end_ns[i] - part_of(c->end_ns[i], factor);
    if (c->time_ns[i] != SITU_NEVER_NS) c->time_ns[i] = max64(c->time_ns[i] - less, 0);
    c->end_ns[i] -= less;
  }
  return true;
}

static situ_costs *speed_up(const situ_costs *c, const situ_platform *p, const cost_change *x, arena *a) {
  int32_t *from = ARENA_NEW(a, int32_t, x->platform->n_classes);
  if (!from) return NULL;
  for (int32_t k = 0; k < x->platform->n_classes; k++) from[k] = p->class_of[x->platform->class_device[k]];
  situ_costs *out = copy_costs(c, 1, x->platform->n_classes, from);
  if (out) out->machine = platform_shape_hash(x->platform);
  if (out && x->device >= 0)
    for (int64_t v = 0, k = x->platform->class_of[x->device]; v < out->n_operators; v++) {
      int64_t at = v * out->n_classes + k, apart_ns = out->collective_ns ? out->collective_ns[at] : 0;
      apart_ns = min64(sat_add(apart_ns, out->end_ns ? out->end_ns[at] : 0), out->time_ns[at]);
      if (out->time_ns[at] != SITU_NEVER_NS)
        out->time_ns[at] = apart_ns + part_of(out->time_ns[at] - apart_ns, x->factor);
    }
  if (!out || x->link_kind < 0 || speed_links(out, p, x->link_kind, x->factor, a)) return out;
  situ_costs_free(out);
  return NULL;
}

situ_costs *costs_changed(const situ_costs *c, const situ_platform *platform, const cost_change *change) {
  REQUIRE(change->factor > 0 && change->platform->n_devices == platform->n_devices);
  arena *a = arena_new();
  situ_costs *out = a ? speed_up(c, platform, change, a) : NULL;
  arena_free(a);
  return out;
}
