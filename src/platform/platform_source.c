/* Where the figures of a platform come from, for people. */
#include <stdio.h>
#include <string.h>

#include "platform/catalogue.h"
#include "platform/platform.h"

static bool keep(const char ***out, const char *const *text, int32_t n, arena *a) {
  if (!text) return true;
  *out = ARENA_ZERO(a, const char *, n);
  for (int32_t k = 0; *out && k < n; k++)
    if (text[k] && !((*out)[k] = arena_string(a, text[k]))) return false;
  return *out;
}

bool platform_keep_sources(situ_platform *p, const char *const *device, const char *const *link, const char *source) {
  if (source) p->source = arena_string(p->arena, source);
  return (!source || p->source) && keep(&p->device_source, device, p->n_devices, p->arena) &&
         keep(&p->link_source, link, p->n_links, p->arena);
}

static bool same_speed(const situ_device *d, const situ_device *other) {
  return memcmp(d->peak_flops, other->peak_flops, sizeof d->peak_flops) == 0 &&
         d->memory_bytes_per_s == other->memory_bytes_per_s && d->launch_ns == other->launch_ns;
}

const char *platform_device_source(char into[PLATFORM_SOURCE_BYTES], const situ_platform *p, int32_t index) {
  const situ_device *d = &p->devices[index];
  const char *stated = p->device_source ? p->device_source[index] : NULL;
  char name[128]; /* without figures: "epyc7742(128GB,102.4GB/s)" */
  snprintf(name, sizeof name, "%.*s", (int)strcspn(d->class_name, "("), d->class_name);
  const situ_device_kind_info *row = catalogue_find(name);
  situ_device usual = row ? catalogue_device(row) : (situ_device){0}, rates = *d;
  rates.memory_bytes_per_s = usual.memory_bytes_per_s;
  bool size = d->memory_bytes == usual.memory_bytes || d->shares_memory_with >= 0;
  bool speed = row && same_speed(d, &usual);
  if (stated)
    snprintf(into, PLATFORM_SOURCE_BYTES, "%s", stated);
  else if (!row || !same_speed(&rates, &usual))
    snprintf(into, PLATFORM_SOURCE_BYTES, "as stated");
  else if (size && speed)
    snprintf(into, PLATFORM_SOURCE_BYTES, "%s of the catalogue (%.300s)", row->name, row->source);
  else
    snprintf(into, PLATFORM_SOURCE_BYTES, "%s: %s of the catalogue (%.300s); %s: as stated",
             speed  ? "rates and launch"
             : size ? "all but the bandwidth"
                    : "rates of arithmetic and launch",
             row->name, row->source,
             speed  ? "memory"
             : size ? "bandwidth"
                    : "memory and bandwidth");
  return into;
}

const char *platform_link_source(char into[PLATFORM_SOURCE_BYTES], const situ_platform *p, int32_t index) {
  const situ_link *l = &p->links[index];
  const char *stated = p->link_source ? p->link_source[index] : NULL;
  bool home = p->devices[l->to_device].is_host && !p->devices[l->from_device].is_host;
  situ_link_kind_info kind = {.size = sizeof kind};
  snprintf(into, PLATFORM_SOURCE_BYTES, "%s", stated ? stated : "as stated");
  for (int32_t k = 0; !stated && situ_link_kind_at(k, &kind); k++)
    if (kind.bytes_per_s == l->bytes_per_s && (home ? kind.to_host_ns : kind.latency_ns) == l->latency_ns) {
      snprintf(into, PLATFORM_SOURCE_BYTES, "the figures of %s (%.300s)", kind.name, kind.source);
      break;
    }
  return into;
}
