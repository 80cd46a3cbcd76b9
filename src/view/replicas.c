#include "view/replicas.h"

#include "base/checked.h"
#include "base/contracts.h"
#include "platform/routes.h"
#include "view/equal_devices.h"

/* Whether device d may share a part with others at all: it is usable, nothing is pinned to it, and it does not share
 * its memory. */
static bool may_have(const situ_problem *p, int32_t d) {
  if (!p->replicate || p->unused[d] || equal_devices_share_memory(p, d)) return false;
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->pin[v] == d) return false;
  return true;
}

int64_t replicas_sync_bytes(const situ_problem *p, int64_t weight_bytes, int32_t r) {
  REQUIRE(weight_bytes >= 0 && r >= 1);
  if (!p->training) return 0;
  __int128 bytes = ((__int128)weight_bytes * 2 * (r - 1) + r - 1) / r;
  return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

int64_t replicas_round(const situ_problem *p, int32_t r) { return max64(r, p->micro_batches); }

/* The time to send that many bytes from device a to b; 0 for 0 bytes. O(hops). */
static int64_t replicas_way_ns(const situ_problem *p, int32_t a, int32_t b, int64_t size_bytes) {
  const situ_platform *f = p->platform;
  int64_t route = (int64_t)p->memory_of[a] * p->n_memories + p->memory_of[b], sum = 0;
  for (int32_t k = f->route_start[route]; size_bytes > 0 && k < f->route_start[route + 1]; k++) {
    const situ_link *link = &p->costs->link[f->route_link[k]];
    sum = sat_add(sum, link_time_ns(link->latency_ns, link->bytes_per_s, size_bytes));
  }
  return sum;
}

void replicas_staged_sync(const situ_problem *p, int32_t d, int32_t r, int64_t sync_bytes, int64_t *in_ns,
                          int64_t *out_ns) {
  REQUIRE(d >= 0 && d < p->n_devices && sync_bytes >= 0);
  __int128 round = replicas_round(p, r);
  bool pays = !problem_is_host(p, d);
  *in_ns = pays ? (int64_t)((replicas_way_ns(p, p->host, d, sync_bytes) * (__int128)r + round - 1) / round) : 0;
  *out_ns = pays ? (int64_t)((replicas_way_ns(p, d, p->host, sync_bytes) * (__int128)r + round - 1) / round) : 0;
}

bool replicas_keep_rules(const situ_problem *p, const int32_t *device, const int32_t *replica_of) {
  if (!replica_of) return true;
  for (int32_t d = 0; d < p->n_devices; d++) {
    int32_t leader = replica_of[d];
    if (leader < 0) continue;
    if (leader >= p->n_devices || leader == d || replica_of[leader] >= 0 || !equal_devices_staged(p, leader, d) ||
        !may_have(p, d) || !may_have(p, leader))
      return false;
  }
  for (int32_t v = 0; v < p->n_operators; v++)
    if (replica_of[device[v]] >= 0) return false;
  return true;
}
