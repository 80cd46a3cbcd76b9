#include "view/link_prices.h"

#include "base/checked.h"
#include "base/contracts.h"
#include "platform/routes.h"

typedef struct finder {
  const situ_problem *problem;
  bool *used;  /* [memory] some usable device has it */
  bool *taken; /* [kind] of the current type */
} finder;

/* The first link of a channel on a route, or -1. */
static int32_t link_on_route(const situ_problem *p, int32_t from, int32_t to, int32_t channel) {
  const situ_platform *f = p->platform;
  int64_t route = (int64_t)from * p->n_memories + to;
  for (int32_t k = f->route_start[route]; k < f->route_start[route + 1]; k++)
    if (f->links[f->route_link[k]].channel == channel) return f->route_link[k];
  return -1;
}

/* The link of a channel on the route between memory m and another, into m or out of it. */
static int32_t link_between(const situ_problem *p, int32_t m, int32_t other, int32_t channel, bool into) {
  return into ? link_on_route(p, other, m, channel) : link_on_route(p, m, other, channel);
}

/* The minimum time of 1 MiB on a channel that all routes into (out of) memory m use; -1 where some do not. */
static int64_t weigh_channel(const finder *f, int32_t m, int32_t channel, bool into) {
  const situ_problem *p = f->problem;
  int64_t min = SITU_NEVER_NS;
  for (int32_t other = 0; other < p->n_memories; other++) {
    if (other == m || !f->used[other]) continue;
    int32_t link = link_between(p, m, other, channel, into);
    if (link < 0) return -1;
    const situ_link *l = &p->costs->link[link];
    min = min64(min, link_time_ns(l->latency_ns, l->bytes_per_s, 1 << 20));
  }
  return min;
}

/* The slowest channel that all routes into (out of) memory m use, or -1. */
static int32_t find_channel(const finder *f, int32_t m, bool into) {
  const situ_problem *p = f->problem;
  const situ_platform *q = p->platform;
  int32_t other = 0, best = -1;
  int64_t slowest = -1;
  while (other < p->n_memories && (other == m || !f->used[other])) other++;
  if (other == p->n_memories) return -1;
  int64_t route = into ? (int64_t)other * p->n_memories + m : (int64_t)m * p->n_memories + other;
  for (int32_t k = q->route_start[route]; k < q->route_start[route + 1]; k++) {
    int32_t channel = q->links[q->route_link[k]].channel;
    int64_t weight = weigh_channel(f, m, channel, into);
    if (weight <= slowest) continue;
    slowest = weight;
    best = channel;
  }
  return best;
}

static bool find_kinds(finder *f, link_kinds *out, const device_type *type, bool into, arena *a) {
  const situ_problem *p = f->problem;
  out->n = 0;
  out->kind = ARENA_NEW(a, int32_t, p->n_kinds);
  if (!out->kind) return false;
  for (int32_t k = 0; k < p->n_kinds; k++) f->taken[k] = false;
  bool known = true;
  for (int32_t i = 0; i < type->n_devices && known; i++) {
    int32_t m = p->memory_of[type->devices[i]], channel = find_channel(f, m, into);
    for (int32_t d = 0; d < p->n_devices; d++) /* devices that share the memory may hand over tensors within it */
      known &= d == type->devices[i] || p->memory_of[d] != m;
    known &= channel >= 0;
    for (int32_t other = 0; other < p->n_memories && known; other++)
      if (other != m && f->used[other]) f->taken[p->costs->link_kind[link_between(p, m, other, channel, into)]] = true;
  }
  for (int32_t k = 0; k < p->n_kinds && known; k++)
    if (f->taken[k]) out->kind[out->n++] = k;
  return true;
}

bool link_prices_find(link_prices *out, const situ_problem *p, const device_type *types, int32_t n_types, arena *a) {
  REQUIRE(p->communication == SITU_COMMUNICATION_LINK);
  finder f = {.problem = p, .used = ARENA_ZERO(a, bool, p->n_memories), .taken = ARENA_NEW(a, bool, p->n_kinds)};
  *out = (link_prices){p, ARENA_ZERO(a, link_kinds, n_types), ARENA_ZERO(a, link_kinds, n_types)};
  if (!f.used || !f.taken || !out->in || !out->out) return false;
  for (int32_t t = 0; t < n_types; t++)
    for (int32_t i = 0; i < types[t].n_devices; i++) f.used[p->memory_of[types[t].devices[i]]] = true;
  for (int32_t t = 0; t < n_types; t++)
    if (!find_kinds(&f, &out->in[t], &types[t], true, a) || !find_kinds(&f, &out->out[t], &types[t], false, a))
      return false;
  return true;
}

int64_t link_prices_ns(const link_prices *prices, const link_kinds *kinds, int32_t t) {
  const situ_problem *p = prices->problem;
  int64_t min = SITU_NEVER_NS;
  for (int32_t i = 0; i < kinds->n; i++) min = min64(min, p->transfer_ns[t][kinds->kind[i]]);
  return kinds->n > 0 ? min : 0;
}
