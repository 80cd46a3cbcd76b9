/* A built platform keeps its invariants; one broken field is named. */
#include "../broken.h"
#include "platform/platform.h"

static situ_platform *read(const char *name) {
  situ_platform *p = NULL;
  assert_int_equal(situ_platform_read(&p, name, NULL), SITU_STATUS_OK);
  return p;
}

TEST(composed_platforms_keep_their_invariants) {
  static const char *const names[] = {"cpu", "cpu+2*v100-16g", "8*h100-80g@nvlink", "2*epyc7742+mi300x-192g+uhd770"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    OWN(situ_platform) *p = read(names[i]);
    assert_null(platform_check(p));
  }
}

TEST(a_broken_device_is_named) {
  OWN(situ_platform) *p = read("2*(cpu+2*t4-16g)");
  BREAKS(platform_check(p), p->n_devices, 0, "1 to SITU_MAX_DEVICES");
  BREAKS(platform_check(p), p->devices[1].name, NULL, "have names");
  BREAKS(platform_check(p), p->devices[1].name, p->devices[0].name, "one name");
  BREAKS(platform_check(p), p->class_of[0], 1, "classes are numbered");
  BREAKS(platform_check(p), p->memory_of[1], p->n_memories, "memories are numbered");
  BREAKS(platform_check(p), p->devices[0].server, 1, "servers are numbered");
  BREAKS(platform_check(p), p->class_device[1], 0, "class_device");
  BREAKS(platform_check(p), p->devices[1].memory_bytes, 1, "size of its memory");
  BREAKS(platform_check(p), p->n_classes, p->n_classes + 1, "has a device");
}

TEST(a_broken_link_is_named) {
  OWN(situ_platform) *p = read("2*(cpu+2*t4-16g)");
  BREAKS(platform_check(p), p->links[0].from_device, -1, "leaves a device");
  BREAKS(platform_check(p), p->links[0].to_device, p->n_devices, "reaches a device");
  BREAKS(platform_check(p), p->link_from[0], p->link_to[0], "memories of its devices");
  BREAKS(platform_check(p), p->links[0].latency_ns, -1, "latency");
  BREAKS(platform_check(p), p->links[0].channel, 1, "channels are numbered");
  BREAKS(platform_check(p), p->n_channels, p->n_channels + 1, "channel has a link");
}

TEST(a_broken_route_is_named) {
  OWN(situ_platform) *p = read("2*(cpu+2*t4-16g)");
  int32_t n = p->n_memories, hop = p->route_start[1], pair = 0; /* the first hop of the route from 0 to 1 */
  BREAKS(platform_check(p), p->route_start[n * n], -1, "route_start");
  BREAKS(platform_check(p), p->route_link[hop], p->n_links, "routes go over links");
  int32_t back = 0;
  while (p->link_from[back] == 0) back++;
  BREAKS(platform_check(p), p->route_link[hop], back, "goes on where it is");
  while (p->route_start[pair + 1] - p->route_start[pair] < 2) pair++; /* a route of two hops loses the second */
  BREAKS(platform_check(p), p->route_start[pair + 1], p->route_start[pair] + 1, "route");
}

TEST_MAIN
