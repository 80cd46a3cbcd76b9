#include <string.h>

#include "base/dtype.h"
#include "base/hash.h"
#include "platform/platform.h"

static uint64_t mix_real(uint64_t h, double value) { return hash_bytes(&value, sizeof value, h); }

static uint64_t mix_device(uint64_t h, const situ_device *device) {
  h = hash_bytes(device->name, strlen(device->name), h);
  h = hash_bytes(device->class_name, strlen(device->class_name), h);
  for (int k = 0; k < DTYPE_COUNT; k++) h = mix_real(h, device->peak_flops[k]);
  h = mix_real(h, device->memory_bytes_per_s);
  return hash_number(hash_number(h, device->memory_bytes), device->launch_ns);
}

static uint64_t mix_member(uint64_t h, const situ_device *device) {
  return mix_real(hash_number(mix_device(h, device), device->family), device->efficiency);
}

uint64_t platform_hash(const situ_platform *f, bool with_servers) {
  int32_t n_links = f->n_links - f->n_relayed; /* the others follow from these */
  uint64_t h = hash_number(hash_number(0, f->n_devices), n_links);
  for (int32_t d = 0; d < f->n_devices; d++) {
    const situ_device *device = &f->devices[d];
    h = mix_device(h, device);
    h = hash_number(hash_number(h, device->shares_memory_with), device->is_host);
    if (device->family || device->efficiency > 0.0) h = mix_real(hash_number(h, device->family), device->efficiency);
    for (int32_t i = 0; f->uneven.device == d && i < device->members; i++)
      h = mix_member(mix_real(h, f->uneven.share[i]), &f->uneven.member[i]);
    if (device->members > 1)
      h = mix_real(hash_number(hash_number(h, device->members), device->sync_latency_ns), device->sync_bytes_per_s);
    if (device->separate_address_space) h = hash_number(h, 1);
    if (with_servers && device->server != 0) h = hash_number(h, device->server);
  }
  for (int32_t l = 0; l < n_links; l++) {
    const situ_link *link = &f->links[l];
    h = hash_number(hash_number(h, link->from_device), link->to_device);
    h = hash_number(mix_real(hash_number(h, link->latency_ns), link->bytes_per_s), link->channel);
  }
  return h;
}

uint64_t platform_shape_hash(const situ_platform *f) {
  uint64_t h = hash_number(hash_number(1, f->n_devices), f->n_links);
  for (int32_t d = 0; d < f->n_devices; d++) {
    const char *name = f->class_name[f->class_of[d]];
    h = hash_number(hash_number(hash_bytes(name, strlen(name), h), f->class_of[d]), f->memory_of[d]);
  }
  for (int32_t l = 0; l < f->n_links; l++)
    h = hash_number(hash_number(h, f->links[l].from_device), f->links[l].to_device);
  return h;
}
