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

/* ceil(times * (r - 1) / r * bytes) */
static int64_t ring_bytes(int64_t bytes, int32_t times, int32_t r) {
  __int128 sum = ((__int128)bytes * times * (r - 1) + r - 1) / r;
  return sum > INT64_MAX ? INT64_MAX : (int64_t)sum;
}

replicas_sync replicas_sync_of(const situ_problem *p, int64_t weight_bytes, int32_t r) {
  REQUIRE(weight_bytes >= 0 && r >= 1);
  if (!p->training) return (replicas_sync){0, 0};
  int32_t round = p->zero == 3 ? 3 : p->zero == 2 ? 1 : 0, step = p->zero == 3 ? 0 : 2 - round;
  return (replicas_sync){ring_bytes(weight_bytes, round, r), ring_bytes(weight_bytes, step, r)};
}

int64_t replicas_step(const situ_problem *p, int32_t r) { return max64(r, p->micro_batches); }

int64_t replicas_updates(const situ_problem *p, int32_t r) {
  return p->zero > 0 ? 1 : min64(r, max64(p->micro_batches, 1));
}

int64_t replicas_link_sync_ns(const situ_problem *p, const situ_link *link, int32_t r, int64_t weight_bytes) {
  replicas_sync sync = replicas_sync_of(p, weight_bytes, r);
  int64_t each[2] = {sync.round_bytes, sync.step_bytes}, every[2] = {r, replicas_step(p, r)}, sum = 0;
  for (int k = 0; k < 2; k++) {
    int64_t time_ns = each[k] > 0 ? link_time_ns(link->latency_ns, link->bytes_per_s, each[k]) : 0;
    sum = sat_add(sum, time_ns / every[k] + (time_ns % every[k] > 0));
  }
  return sum;
}

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

/* That of both kinds of rings from device a to device b, for r inputs. */
static int64_t sync_way_ns(const situ_problem *p, int32_t a, int32_t b, int32_t r, replicas_sync sync) {
  __int128 step = replicas_step(p, r), whole = replicas_way_ns(p, a, b, sync.step_bytes);
  return sat_add(replicas_way_ns(p, a, b, sync.round_bytes), (int64_t)((whole * r + step - 1) / step));
}

void replicas_staged_sync(const situ_problem *p, int32_t d, int32_t r, int64_t weight_bytes, int64_t *in_ns,
                          int64_t *out_ns) {
  REQUIRE(d >= 0 && d < p->n_devices && weight_bytes >= 0);
  bool pays = !problem_is_host(p, d);
  replicas_sync sync = replicas_sync_of(p, weight_bytes, r);
  *in_ns = pays ? sync_way_ns(p, p->host, d, r, sync) : 0;
  *out_ns = pays ? sync_way_ns(p, d, p->host, r, sync) : 0;
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
