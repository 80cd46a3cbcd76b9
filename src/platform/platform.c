#include "platform/platform.h"

#include <string.h>

void situ_platform_free(situ_platform *platform) {
  if (platform) arena_free(platform->arena);
}

const char *situ_platform_name(const situ_platform *p) { return p->name; }
int32_t situ_platform_n_devices(const situ_platform *p) { return p->n_devices; }
int32_t situ_platform_n_links(const situ_platform *p) { return p->n_links; }
situ_device situ_platform_device(const situ_platform *p, int32_t d) { return p->devices[d]; }
situ_link situ_platform_link(const situ_platform *p, int32_t l) { return p->links[l]; }

int32_t situ_platform_find(const situ_platform *p, const char *name) {
  for (int32_t d = 0; d < p->n_devices; d++)
    if (strcmp(p->devices[d].name, name) == 0) return d;
  return -1;
}
