#include "platform/platform.h"

#include "base/checked.h"

#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "base/near_name.h"

void situ_platform_free(situ_platform *platform) {
  if (platform) arena_free(platform->arena);
}

static bool is_device(const situ_platform *p, int32_t d) { return p && d >= 0 && d < p->n_devices; }
static bool is_memory(const situ_platform *p, int32_t m) { return p && m >= 0 && m < p->n_memories; }

bool situ_platform_get_summary(const situ_platform *p, situ_platform_summary *out) {
  if (!p) return false;
  situ_platform_summary summary = {.name = p->name,
                                   .n_devices = p->n_devices,
                                   .n_links = p->n_links,
                                   .n_classes = p->n_classes,
                                   .n_memories = p->n_memories};
  return GIVE(out, summary);
}

bool situ_platform_device(const situ_platform *p, int32_t d, situ_device *out) {
  return is_device(p, d) && GIVE(out, p->devices[d]);
}

const char *situ_platform_device_name(const situ_platform *p, int32_t d) {
  return is_device(p, d) ? p->devices[d].name : "";
}

situ_link situ_platform_link(const situ_platform *p, int32_t l) {
  return p && l >= 0 && l < p->n_links ? p->links[l] : (situ_link){.from_device = -1, .to_device = -1, .channel = -1};
}

int32_t situ_platform_memory_of(const situ_platform *p, int32_t d) { return is_device(p, d) ? p->memory_of[d] : -1; }

const char *situ_platform_memory_name(const situ_platform *p, int32_t m) {
  for (int32_t d = 0; is_memory(p, m) && d < p->n_devices; d++)
    if (p->memory_of[d] == m) return p->devices[d].name;
  return "";
}

int64_t situ_platform_memory_bytes(const situ_platform *p, int32_t m) {
  return is_memory(p, m) ? p->memory_bytes[m] : 0;
}

int32_t situ_platform_find(const situ_platform *p, const char *name) {
  for (int32_t d = 0; p && name && d < p->n_devices; d++)
    if (strcmp(p->devices[d].name, name) == 0) return d;
  return -1;
}

int32_t platform_home(const situ_platform *p) {
  for (int32_t d = 0; d < p->n_devices; d++)
    if (p->devices[d].is_host) return d;
  return 0;
}

bool platform_split_classes(situ_device *devices, const situ_platform *p, const int32_t *alike, arena *a) {
  bool *split = ARENA_ZERO(a, bool, p->n_classes);
  if (!split) return false;
  for (int32_t d = 0; d < p->n_devices; d++) split[p->class_of[d]] |= alike[d] != p->class_device[p->class_of[d]];
  for (int32_t d = 0; d < p->n_devices; d++) {
    char name[512];
    if (!split[p->class_of[d]]) continue;
    snprintf(name, sizeof name, "%.250s:%.250s", devices[d].class_name, p->devices[alike[d]].name);
    devices[d].class_name = arena_string(a, name);
    if (!devices[d].class_name) return false;
  }
  return true;
}

const char *platform_near_devices(char *into, size_t capacity, const situ_platform *p, const char *word) {
  const char *names[64];
  int32_t n = 0;
  for (; n < p->n_devices && n < (int32_t)(sizeof names / sizeof *names); n++) names[n] = p->devices[n].name;
  return near_names(into, capacity, word, names, n);
}

const char *situ_device_family_name(situ_device_family family) {
  static const char *const names[] = {"",          "cpu",       "cpu-amx",        "gpu", "gpu-low-power", "gpu-amd",
                                      "gpu-intel", "gpu-apple", "gpu-integrated", "npu", "cpu-avx512"};
  return (unsigned)family < sizeof names / sizeof *names ? names[family] : "";
}

int64_t platform_excess_bytes(const situ_platform *p, const int64_t *held_bytes) {
  int64_t excess = 0;
  for (int32_t m = 0; m < p->n_memories; m++) {
    int64_t sum = 0;
    for (int32_t w = p->heads_pool[m] ? m : -1; w >= 0; w = p->next_in_pool[w]) sum = sat_add(sum, held_bytes[w]);
    if (sum > p->memory_bytes[m]) excess = sat_add(excess, sum - p->memory_bytes[m]);
  }
  return excess;
}
