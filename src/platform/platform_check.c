/* The invariants of a frozen platform. */
#include "base/contracts.h"
#include "platform/platform.h"

static const char *check_devices(const situ_platform *p) {
  int32_t n_classes = 0, n_memories = 0, n_servers = 0;
  EXPECT(p->n_devices >= 1 && p->n_devices <= SITU_MAX_DEVICES, "a platform has 1 to SITU_MAX_DEVICES devices");
  for (int32_t d = 0; d < p->n_devices; d++) {
    const situ_device *device = &p->devices[d];
    EXPECT(device->name && device->class_name, "devices have names");
    EXPECT(situ_platform_find(p, device->name) == d, "no two devices have one name");
    EXPECT(p->class_of[d] >= 0 && p->class_of[d] <= n_classes, "classes are numbered by their first device");
    EXPECT(p->memory_of[d] >= 0 && p->memory_of[d] <= n_memories, "memories are numbered by their first device");
    EXPECT(device->server >= 0 && device->server <= n_servers, "servers are numbered by their first device");
    if (p->class_of[d] == n_classes) EXPECT(p->class_device[n_classes++] == d, "class_device is its first device");
    n_memories += p->memory_of[d] == n_memories;
    n_servers += device->server == n_servers;
    EXPECT(device->memory_bytes == p->memory_bytes[p->memory_of[d]], "a device has the size of its memory");
  }
  EXPECT(n_classes == p->n_classes && n_memories == p->n_memories && n_servers == p->n_servers,
         "every class, memory and server has a device");
  EXPECT(contracts_amounts(p->memory_bytes, p->n_memories), "memories have sizes of at least 0");
  return NULL;
}

static const char *check_links(const situ_platform *p) {
  int32_t n_channels = 0;
  EXPECT(p->n_links >= 0 && p->n_links <= SITU_MAX_LINKS, "a platform has 0 to SITU_MAX_LINKS links");
  for (int32_t l = 0; l < p->n_links; l++) {
    const situ_link *link = &p->links[l];
    EXPECT(link->from_device >= 0 && link->from_device < p->n_devices, "a link leaves a device");
    EXPECT(link->to_device >= 0 && link->to_device < p->n_devices, "a link reaches a device");
    EXPECT(p->link_from[l] == p->memory_of[link->from_device] && p->link_to[l] == p->memory_of[link->to_device],
           "a link joins the memories of its devices");
    EXPECT(p->link_from[l] != p->link_to[l], "a link joins two memories");
    EXPECT(link->latency_ns >= 0 && link->bytes_per_s >= 1, "links have a latency and a rate");
    EXPECT(link->channel >= 0 && link->channel <= n_channels, "channels are numbered by their first link");
    n_channels += link->channel == n_channels;
  }
  EXPECT(n_channels == p->n_channels, "every channel has a link");
  return NULL;
}

/* Each route goes from link to link until it is there, and is the route from everywhere that it passes. */
static const char *check_routes(const situ_platform *p) {
  int64_t n = p->n_memories;
  EXPECT(contracts_lists(p->route_start, n * n, p->route_start[n * n]), "route_start lists routes by pair");
  EXPECT(contracts_within(p->route_link, p->route_start[n * n], 0, p->n_links), "routes go over links");
  for (int32_t from = 0; from < n; from++)
    for (int32_t to = 0; to < n; to++) {
      int32_t at = from;
      for (int32_t i = p->route_start[from * n + to]; i < p->route_start[from * n + to + 1]; i++) {
        EXPECT(p->link_from[p->route_link[i]] == at && at != to, "a route goes on where it is");
        at = p->link_to[p->route_link[i]];
      }
      EXPECT(at == to, "a route ends at its memory; from a memory to itself it is empty");
    }
  return NULL;
}

const char *platform_check(const situ_platform *p) {
  EXPECT(p && p->arena && p->name, "a platform has an arena and a name");
  EXPECT_CHECK(check_devices(p));
  EXPECT_CHECK(check_links(p));
  return check_routes(p);
}
