/* Building a platform: devices are judged and numbered by class, memory and server, links by channel; routes last. */
#include <math.h>
#include <stdio.h>

#include "base/checked.h"
#include "base/contracts.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "base/hash.h"
#include "platform/platform.h"
#include "platform/platform_sources.h"
#include "platform/routes.h"

/* Bounds that keep every sum of link times along a route of SITU_MAX_DEVICES hops inside int64. */
#define MAX_LATENCY_NS INT64_C(1000000000000000)
#define MIN_LINK_RATE 1.0

static situ_status bad_device(situ_error *error, const char *platform, const situ_device *d, const char *text) {
  return fail_with(error, SITU_STATUS_BAD_INPUT, platform, "device \"%.100s\": %s", d->name, text);
}

static bool rate_is_sane(double rate) { return isfinite(rate) && rate > 0.0 && rate <= PLATFORM_MAX_RATE; }

bool device_has_peak(const situ_device *d) {
  return d->peak_flops[SITU_DTYPE_F32] > 0.0 || d->peak_flops[SITU_DTYPE_F16] > 0.0 ||
         d->peak_flops[SITU_DTYPE_BF16] > 0.0 || d->peak_flops[SITU_DTYPE_I8] > 0.0;
}

static situ_status check_device(const char *platform, const situ_device *d, int32_t index, situ_error *error) {
  if (!d->name || !d->name[0])
    return fail_with(error, SITU_STATUS_BAD_INPUT, platform, "device number %d has no name", (int)index);
  if (!rate_is_sane(d->memory_bytes_per_s))
    return bad_device(error, platform, d, "memory_bytes_per_s must be above 0 and at most 1e18");
  for (int t = 0; t < DTYPE_COUNT; t++)
    if (d->peak_flops[t] != 0.0 && !rate_is_sane(d->peak_flops[t]))
      return bad_device(error, platform, d, "a peak must be from 0 (not stated) to 1e18");
  if (!device_has_peak(d)) return bad_device(error, platform, d, "a peak of f32, f16, bf16 or i8 must be stated");
  if ((unsigned)d->family > SITU_FAMILY_CPU_AVX512) return bad_device(error, platform, d, "no such family of devices");
  if (!(d->efficiency >= 0.0 && d->efficiency <= 1.0))
    return bad_device(error, platform, d, "efficiency must be above 0 and at most 1 (0 for the cost model's)");
  if (d->server < 0) return bad_device(error, platform, d, "server must be at least 0");
  if (d->memory_bytes < 0) return bad_device(error, platform, d, "memory_bytes must be at least 0");
  if (d->launch_ns < 0 || d->launch_ns > MAX_LATENCY_NS)
    return bad_device(error, platform, d, "launch_ns must be between 0 and 1e15");
  bool synchronises =
      d->sync_latency_ns >= 0 && d->sync_latency_ns <= MAX_LATENCY_NS && rate_is_sane(d->sync_bytes_per_s);
  if (d->members < 0 || d->members > SITU_MAX_DEVICES || (d->members > 1 && !synchronises))
    return bad_device(error, platform, d,
                      "a group has up to 4096 members, sync_latency_ns of 0 to 1e15 and sync_bytes_per_s above 0");
  if (d->members > 1 && (d->is_host || d->shares_memory_with >= 0))
    return bad_device(error, platform, d, "a group is no host and has a memory of its own");
  if (d->separate_address_space && d->shares_memory_with < 0)
    return bad_device(error, platform, d, "separate_address_space needs shares_memory_with");
  if (d->shares_memory_with < -1 || d->shares_memory_with >= index)
    return bad_device(error, platform, d, "shares_memory_with must be -1 or the number of an earlier device");
  return SITU_STATUS_OK;
}

static bool same_speed(const situ_device *a, const situ_device *b) {
  for (int t = 0; t < DTYPE_COUNT; t++)
    if (a->peak_flops[t] != b->peak_flops[t]) return false;
  return a->memory_bytes_per_s == b->memory_bytes_per_s && a->launch_ns == b->launch_ns && a->family == b->family &&
         a->efficiency == b->efficiency && a->members == b->members && a->sync_latency_ns == b->sync_latency_ns &&
         a->sync_bytes_per_s == b->sync_bytes_per_s;
}

/* Appends memory m, the last so far, to the pool of `member`, and returns the pool. */
static int32_t join_pool(situ_platform *p, int32_t member, int32_t m) {
  int32_t last = member;
  while (p->next_in_pool[last] >= 0) last = p->next_in_pool[last];
  p->next_in_pool[last] = m;
  return member;
}

/* Copies the devices, numbers memories and classes in order of their first device. */
static situ_status add_devices(situ_platform *p, const situ_device *devices, situ_error *error) {
  string_map *names = string_map_new(p->arena, p->n_devices), *classes = string_map_new(p->arena, 0);
  if (!names || !classes) return fail_no_memory(error);
  for (int32_t d = 0; d < p->n_devices; d++) {
    TRY(check_device(p->name, &devices[d], d, error));
    situ_device *mine = &p->devices[d];
    *mine = devices[d];
    mine->size = sizeof *mine;
    mine->name = arena_string(p->arena, devices[d].name);
    mine->class_name = devices[d].class_name ? arena_string(p->arena, devices[d].class_name) : mine->name;
    if (!mine->name || !mine->class_name) return fail_no_memory(error);
    int64_t first = string_map_put(names, mine->name, d);
    int64_t class = string_map_put(classes, mine->class_name, p->n_classes);
    if (first < 0 || class < 0) return fail_no_memory(error);
    if (first != d) return bad_device(error, p->name, mine, "the name is used twice");

    if (class == p->n_classes) {
      p->class_name[class] = mine->class_name;
      p->class_device[class] = d;
      p->n_classes++;
    } else if (!same_speed(mine, &p->devices[p->class_device[class]])) {
      return fail_with(error, SITU_STATUS_BAD_INPUT, p->name,
                       "devices \"%.100s\" and \"%.100s\" are of one class but differ in peaks, memory bandwidth or "
                       "launch time",
                       p->devices[p->class_device[class]].name, mine->name);
    }
    p->class_of[d] = (int32_t) class;

    if (mine->shares_memory_with >= 0 && !mine->separate_address_space) {
      p->memory_of[d] = p->memory_of[mine->shares_memory_with];
      mine->memory_bytes = p->memory_bytes[p->memory_of[d]];
      continue;
    }
    int32_t m = p->memory_of[d] = p->n_memories++;
    p->heads_pool[m] = !mine->separate_address_space;
    p->next_in_pool[m] = -1;
    if (mine->separate_address_space)
      mine->memory_bytes = p->memory_bytes[join_pool(p, p->memory_of[mine->shares_memory_with], m)];
    p->memory_bytes[m] = mine->memory_bytes;
  }
  return SITU_STATUS_OK;
}

/* Servers get the numbers 0, 1, ... in order of their first device. */
static bool number_servers(situ_platform *p) {
  string_map *servers = string_map_new(p->arena, 0);
  for (int32_t d = 0; servers && d < p->n_devices; d++) {
    char key[16];
    snprintf(key, sizeof key, "%d", (int)p->devices[d].server);
    char *kept = arena_string(p->arena, key);
    int64_t number = kept ? string_map_put(servers, kept, p->n_servers) : -1;
    if (number < 0) return false;
    if (number == p->n_servers) p->n_servers++;
    p->devices[d].server = (int32_t)number;
  }
  return servers != NULL;
}

static situ_status check_link(const situ_platform *p, const situ_link *link, int32_t index, situ_error *error) {
  int32_t n = p->n_devices;
  if (link->from_device < 0 || link->from_device >= n || link->to_device < 0 || link->to_device >= n)
    return fail_with(error, SITU_STATUS_BAD_INPUT, p->name, "link number %d joins a device that does not exist",
                     (int)index);
  const char *from = p->devices[link->from_device].name, *to = p->devices[link->to_device].name;
  const char *wrong = NULL;
  if (p->memory_of[link->from_device] == p->memory_of[link->to_device])
    wrong = "both ends have the same memory";
  else if (link->latency_ns < 0 || link->latency_ns > MAX_LATENCY_NS)
    wrong = "latency_ns must be between 0 and 1e15";
  else if (!rate_is_sane(link->bytes_per_s) || link->bytes_per_s < MIN_LINK_RATE)
    wrong = "bytes_per_s must be between 1 and 1e18";
  else if (link->channel < -1)
    wrong = "channel must be -1 or at least 0";
  if (!wrong) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_INPUT, p->name, "link number %d from \"%.100s\" to \"%.100s\": %s",
                   (int)index, from, to, wrong);
}

/* Copies the links; channels are numbered in order of their first link, each lone link having one of its own. */
static situ_status add_links(situ_platform *p, const situ_link *links, situ_error *error) {
  string_map *channels = string_map_new(p->arena, 0);
  if (!channels) return fail_no_memory(error);
  for (int32_t l = 0; l < p->n_links; l++) {
    TRY(check_link(p, &links[l], l, error));
    p->links[l] = links[l];
    p->link_from[l] = p->memory_of[links[l].from_device];
    p->link_to[l] = p->memory_of[links[l].to_device];
    int64_t channel = p->n_channels;
    if (links[l].channel >= 0) {
      char key[16];
      snprintf(key, sizeof key, "%d", (int)links[l].channel);
      char *kept = arena_string(p->arena, key);
      channel = kept ? string_map_put(channels, kept, p->n_channels) : -1;
      if (channel < 0) return fail_no_memory(error);
    }
    p->links[l].channel = (int32_t)channel;
    if (channel == p->n_channels) p->n_channels++;
  }
  return SITU_STATUS_OK;
}

static bool platform_alloc(situ_platform *p, const char *name) {
  int64_t n = p->n_devices, m = p->n_links;
  p->name = arena_string(p->arena, name && name[0] ? name : "platform");
  return p->name && ARENA_ARRAYS(p->arena, ZEROS(p->devices, n), ZEROS(p->class_of, n), ZEROS(p->memory_of, n),
                                 ZEROS(p->class_name, n), ZEROS(p->class_device, n), ZEROS(p->memory_bytes, n),
                                 ARRAY(p->next_in_pool, n), ARRAY(p->heads_pool, n), ZEROS(p->links, m),
                                 ZEROS(p->link_from, m), ZEROS(p->link_to, m));
}

situ_status platform_new(situ_platform **out, const char *name, const situ_device *devices, int32_t n_devices,
                         const situ_link *links, int32_t n_links, situ_error *error) {
  *out = NULL;
  if (n_devices < 1 || n_devices > SITU_MAX_DEVICES)
    return fail_with(error, SITU_STATUS_BAD_INPUT, name, "a platform has 1 to %d devices, not %d", SITU_MAX_DEVICES,
                     (int)n_devices);
  if (n_links < 0 || n_links > SITU_MAX_LINKS)
    return fail_with(error, SITU_STATUS_BAD_INPUT, name, "a platform has 0 to %d links, not %d", SITU_MAX_LINKS,
                     (int)n_links);
  situ_platform *p = NOUN_NEW(situ_platform, NULL);
  if (!p) return fail_no_memory(error);
  p->n_devices = n_devices;
  p->n_links = n_links;
  p->uneven.device = -1;
  situ_status status = platform_alloc(p, name) ? SITU_STATUS_OK : fail_no_memory(error);
  if (status == SITU_STATUS_OK) status = add_devices(p, devices, error);
  if (status == SITU_STATUS_OK && !number_servers(p)) status = fail_no_memory(error);
  if (status == SITU_STATUS_OK) status = add_links(p, links, error);
  if (status == SITU_STATUS_OK) status = routes_find(p, error);
  if (status != SITU_STATUS_OK) {
    situ_platform_free(p);
    return status;
  }
  CONTRACT(platform_check(p));
  *out = p;
  return SITU_STATUS_OK;
}

bool platform_keep_machine(situ_platform *p, const char *machine) {
  p->machine = machine ? arena_string(p->arena, machine) : NULL;
  return p->machine || !machine;
}

int64_t platform_reserve_bytes(const situ_platform *p, int32_t d, int64_t each_bytes) {
  double min = 1;
  if (p->uneven.device != d) return sat_mul(each_bytes, platform_members(p, d));
  for (int32_t i = 0; i < p->devices[d].members; i++) min = fmin(min, p->uneven.share[i]);
  return sat_round(ceil((double)each_bytes / min));
}

bool platform_keep_uneven(situ_platform *p, const uneven_group *group) {
  if (group->device < 0) return true;
  int32_t k = p->devices[group->device].members;
  situ_device *member = ARENA_COPY(p->arena, group->member, situ_device, k);
  p->uneven = (uneven_group){group->device, member, ARENA_COPY(p->arena, group->share, double, k)};
  bool ok = member && p->uneven.share;
  for (int32_t i = 0; ok && i < k; i++) {
    member[i].name = arena_string(p->arena, member[i].name);
    member[i].class_name = arena_string(p->arena, member[i].class_name);
    ok = member[i].name && member[i].class_name;
  }
  return ok;
}

situ_status platform_new_like(situ_platform **out, const situ_platform *like, const situ_device *devices,
                              int32_t n_devices, const situ_link *links, int32_t n_links, situ_error *error) {
  TRY(platform_new(out, like->name, devices, n_devices, links, n_links, error));
  if (n_links == like->n_links) (*out)->n_relayed = like->n_relayed;
  bool kept = platform_keep_machine(*out, like->machine) &&
              (n_devices != like->n_devices || platform_keep_uneven(*out, &like->uneven));
  if (kept) return SITU_STATUS_OK;
  situ_platform_free(*out);
  *out = NULL;
  return fail_no_memory(error);
}
