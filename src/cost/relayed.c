#include "cost/relayed.h"

#include "base/checked.h"
#include "base/fail.h"

/* Links by which tensors go from device d to device e through the host of both; false: they do not. */
static bool relay(const situ_platform *p, int32_t d, int32_t e, const situ_link *hop[2]) {
  int64_t pair = (int64_t)p->memory_of[d] * p->n_memories + p->memory_of[e];
  int32_t at = p->route_start[pair];
  if (d == e || p->devices[d].is_host || p->devices[e].is_host || p->devices[d].server != p->devices[e].server)
    return false;
  if (p->route_start[pair + 1] - at != 2) return false;
  for (int32_t k = 0; k < 2; k++) hop[k] = &p->links[p->route_link[at + k]];
  return p->devices[hop[0]->to_device].is_host && p->devices[hop[0]->to_device].server == p->devices[d].server;
}

bool relayed_matter(const cost_engine *engine, const situ_platform *p) {
  const situ_link *hop[2];
  if (engine->sync.relay_ns == 0 || p->n_relayed > 0) return false;
  for (int32_t d = 0; d < p->n_devices; d++)
    for (int32_t e = 0; e < p->n_devices; e++)
      if (relay(p, d, e, hop)) return true;
  return false;
}

situ_status relayed_platform(situ_platform **out, const situ_platform *p, situ_error *error) {
  enum { NEARER_NS = 2 }; /* of two equal routes the rounding must not choose */
  const situ_link *hop[2];
  int64_t n = p->n_links;
  *out = NULL;
  for (int32_t d = 0; d < p->n_devices; d++)
    for (int32_t e = 0; e < p->n_devices; e++) n += relay(p, d, e, hop);
  arena *scratch = arena_new();
  situ_link *links = scratch && n <= SITU_MAX_LINKS ? ARENA_NEW(scratch, situ_link, n) : NULL;
  situ_status status = links ? SITU_STATUS_OK : fail_no_memory(error);
  int32_t at = p->n_links;
  for (int32_t l = 0; links && l < at; l++) links[l] = p->links[l];
  for (int32_t d = 0; links && d < p->n_devices; d++)
    for (int32_t e = 0; e < p->n_devices; e++) {
      if (!relay(p, d, e, hop)) continue;
      int64_t latency_ns = sat_add(hop[0]->latency_ns, hop[1]->latency_ns);
      double one = hop[0]->bytes_per_s, other = hop[1]->bytes_per_s, rate = one * other / (one + other);
      links[at++] = (situ_link){d, e, max64(0, latency_ns - NEARER_NS), rate > 1 ? rate : 1, -1};
    }
  if (status == SITU_STATUS_OK) status = platform_new_like(out, p, p->devices, p->n_devices, links, at, error);
  if (status == SITU_STATUS_OK) (*out)->n_relayed = at - p->n_links;
  arena_free(scratch);
  return status;
}

int64_t relayed_sync_ns(const cost_engine *engine, const situ_platform *p, int32_t link) {
  const situ_device *from = &p->devices[p->links[link].from_device], *to = &p->devices[p->links[link].to_device];
  if (from->server != to->server) return engine->sync.network_ns;
  if (from->is_host || to->is_host) return engine->sync.host_ns;
  return link >= p->n_links - p->n_relayed ? engine->sync.relay_ns : engine->sync.peer_ns;
}
