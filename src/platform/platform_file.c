/* Platform files: docs/formats/platform.md and platform.schema.json. */
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "base/dtype.h"
#include "base/fail.h"
#include "base/hash.h"
#include "platform/catalogue.h"
#include "platform/platform_fields.h"
#include "platform/platform_sources.h"

enum { FORMAT_VERSION = 1, PLACE_BYTES = 64, NAME_BYTES = 200 };

typedef struct file_root {
  int64_t version;
  const char *name, *source;
  const json_value *devices, *links;
} file_root;

static const field root_fields[] = {
    {"situ_platform", FIELD_WHOLE, offsetof(file_root, version), 0, FORMAT_VERSION},
    {"name", FIELD_TEXT, offsetof(file_root, name), 0, 0},
    {"source", FIELD_TEXT, offsetof(file_root, source), 0, 0},
    {"devices", FIELD_TREE, offsetof(file_root, devices), 0, 0},
    {"links", FIELD_TREE, offsetof(file_root, links), 0, 0},
};

typedef struct file_device {
  const char *name, *base, *class_name, *shares, *shares_capacity, *server, *source, *family;
  int64_t host, count, slots, memory_bytes, reserve_bytes, launch_ns, members, sync_latency_ns;
  double memory_rate, efficiency, sync_rate;
  const json_value *peaks, *tera_peaks;
} file_device;

static const field device_fields[] = {
    {"name", FIELD_TEXT, offsetof(file_device, name), 0, 0},
    {"base", FIELD_TEXT, offsetof(file_device, base), 0, 0},
    {"class", FIELD_TEXT, offsetof(file_device, class_name), 0, 0},
    {"source", FIELD_TEXT, offsetof(file_device, source), 0, 0},
    {"host", FIELD_BOOL, offsetof(file_device, host), 0, 0},
    {"count", FIELD_WHOLE, offsetof(file_device, count), 0, 1},
    {"concurrent_operators", FIELD_WHOLE, offsetof(file_device, slots), 0, 1},
    {"server", FIELD_TEXT, offsetof(file_device, server), 0, 0},
    {"shares_memory_with", FIELD_TEXT, offsetof(file_device, shares), 0, 0},
    {"shares_capacity_with", FIELD_TEXT, offsetof(file_device, shares_capacity), 0, 0},
    {"memory_bytes", FIELD_WHOLE, offsetof(file_device, memory_bytes), 0, 0},
    {"memory_gb", FIELD_TIMES, offsetof(file_device, memory_bytes), 1e9, 0},
    {"reserve_bytes", FIELD_WHOLE, offsetof(file_device, reserve_bytes), 0, 0},
    {"reserve_gb", FIELD_TIMES, offsetof(file_device, reserve_bytes), 1e9, 0},
    {"memory_bytes_per_s", FIELD_RATE, offsetof(file_device, memory_rate), 1, 0},
    {"memory_gb_per_s", FIELD_RATE, offsetof(file_device, memory_rate), 1e9, 0},
    {"launch_ns", FIELD_WHOLE, offsetof(file_device, launch_ns), 0, 0},
    {"launch_us", FIELD_TIMES, offsetof(file_device, launch_ns), 1e3, 0},
    {"family", FIELD_TEXT, offsetof(file_device, family), 0, 0},
    {"efficiency", FIELD_RATE, offsetof(file_device, efficiency), 1, 0},
    {"members", FIELD_WHOLE, offsetof(file_device, members), 0, 1},
    {"sync_latency_ns", FIELD_WHOLE, offsetof(file_device, sync_latency_ns), 0, 0},
    {"sync_bytes_per_s", FIELD_RATE, offsetof(file_device, sync_rate), 1, 0},
    {"peak_flops", FIELD_TREE, offsetof(file_device, peaks), 0, 0},
    {"peak_tflops", FIELD_TREE, offsetof(file_device, tera_peaks), 0, 0},
};

typedef struct file_link {
  const char *from, *to, *kind, *channel, *source;
  int64_t bidirectional, latency_ns;
  double rate;
} file_link;

static const field link_fields[] = {
    {"from", FIELD_TEXT, offsetof(file_link, from), 0, 0},
    {"to", FIELD_TEXT, offsetof(file_link, to), 0, 0},
    {"kind", FIELD_TEXT, offsetof(file_link, kind), 0, 0},
    {"channel", FIELD_TEXT, offsetof(file_link, channel), 0, 0},
    {"source", FIELD_TEXT, offsetof(file_link, source), 0, 0},
    {"bidirectional", FIELD_BOOL, offsetof(file_link, bidirectional), 0, 0},
    {"latency_ns", FIELD_WHOLE, offsetof(file_link, latency_ns), 0, 0},
    {"latency_us", FIELD_TIMES, offsetof(file_link, latency_ns), 1e3, 0},
    {"bytes_per_s", FIELD_RATE, offsetof(file_link, rate), 1, 0},
    {"gb_per_s", FIELD_RATE, offsetof(file_link, rate), 1e9, 0},
};

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* The devices of a name in the file: first, first + stride, ... */
typedef struct place {
  int32_t first, count, stride;
} place;

typedef struct loader {
  arena *arena;
  const char *where;
  situ_device *devices; /* SITU_MAX_DEVICES */
  place *places;        /* three names for each device are enough */
  situ_link *links;
  const char **device_source, **link_source; /* [device], [link] NULL: not stated */
  string_map *place_of, *channels, *servers;
  int32_t n_devices, n_places, n_links, link_capacity;
} loader;

static situ_status add_place(loader *f, const char *spot, const char *name, place p, situ_error *error) {
  const char *kept = arena_string(f->arena, name);
  int64_t at = kept ? string_map_put(f->place_of, kept, f->n_places) : -1;
  if (at < 0) return fail_no_memory(error);
  if (at < f->n_places) {
    const place *other = &f->places[at];
    if (other->first == p.first && other->count == 1 && p.count == 1) return SITU_STATUS_OK;
    return fields_fail(error, f->where, spot, "the name \"%.100s\" is used twice", name);
  }
  f->places[f->n_places++] = p;
  return SITU_STATUS_OK;
}

static const place *find_place(const loader *f, const char *name) {
  int64_t at = string_map_get(f->place_of, name);
  return at < 0 ? NULL : &f->places[at];
}

static situ_status read_peaks(situ_device *d, const json_value *peaks, double scale, const char *where,
                              const char *spot, situ_error *error) {
  if (!peaks) return SITU_STATUS_OK;
  if (json_kind_of(peaks) != JSON_OBJECT_KIND)
    return fields_fail(error, where, spot, "peaks must be an object such as {\"f32\": 19.5e12, \"f16\": 312e12}");
  json_member member = {0};
  while (json_next(peaks, &member)) {
    int type = SITU_DTYPE_UNKNOWN + 1;
    while (type < DTYPE_COUNT && strcmp(situ_dtype_name((situ_dtype)type), member.key) != 0) type++;
    if (type == DTYPE_COUNT)
      return fields_fail(error, where, spot, "no element type is called \"%.60s\" (f64, f32, f16, bf16, i8, ...)",
                         member.key);
    double rate = json_number(member.value, -1.0) * scale;
    if (!(rate > 0.0 && rate <= 1e18))
      return fields_fail(error, where, spot, "the peak of %s must be above 0 and at most 1e18 operations per second",
                         member.key);
    d->peak_flops[type] = rate;
  }
  return SITU_STATUS_OK;
}

static situ_status read_family(situ_device *d, const char *family, const char *where, const char *spot,
                               situ_error *error) {
  int at = SITU_FAMILY_NONE + 1;
  if (!family) return SITU_STATUS_OK;
  while (at <= SITU_FAMILY_CPU_AVX512 && strcmp(situ_device_family_name((situ_device_family)at), family) != 0) at++;
  if (at > SITU_FAMILY_CPU_AVX512)
    return fields_fail(error, where, spot,
                       "no family is called \"%.60s\" (cpu, cpu-avx512, cpu-amx, gpu, gpu-intel, npu, ...)", family);
  d->family = (situ_device_family)at;
  return SITU_STATUS_OK;
}

/* The figures of one entry, before it is repeated: its base with what the entry overrides. */
static situ_status describe(situ_device *d, const loader *f, const file_device *entry, const char *spot,
                            situ_error *error) {
  *d = (situ_device){.memory_bytes = SITU_UNLIMITED_BYTES, .shares_memory_with = -1};
  if (entry->base) {
    const situ_device_kind_info *row = catalogue_find(entry->base);
    if (!row) {
      char hint[CATALOGUE_HINT_BYTES];
      return fields_fail(error, f->where, spot, "no known device is called \"%.60s\"; %s", entry->base,
                         catalogue_nearest_device(hint, entry->base));
    }
    *d = catalogue_device(row);
  }
  bool other_speed = entry->peaks || entry->tera_peaks || entry->memory_rate > 0.0 || entry->launch_ns >= 0 ||
                     entry->family || entry->efficiency > 0.0 || entry->members > 1;
  if (entry->class_name)
    d->class_name = entry->class_name;
  else if (!entry->base || other_speed || entry->slots > 1)
    d->class_name = entry->name;

  if (entry->host >= 0) d->is_host = entry->host == 1;
  if (entry->memory_bytes >= 0) d->memory_bytes = entry->memory_bytes;
  if (entry->memory_rate > 0.0) d->memory_bytes_per_s = entry->memory_rate;
  if (entry->launch_ns >= 0) d->launch_ns = entry->launch_ns;
  if (entry->efficiency > 0.0) d->efficiency = entry->efficiency;
  if (entry->members > SITU_MAX_DEVICES || (entry->members > 1 && entry->slots > 1))
    return fields_fail(error, f->where, spot, "a group has at most %d members, and runs one operator at a time",
                       SITU_MAX_DEVICES);
  if (entry->members > 1) {
    d->members = (int32_t)entry->members;
    d->sync_latency_ns = max64(entry->sync_latency_ns, 0);
    d->sync_bytes_per_s = entry->sync_rate > 0.0 ? entry->sync_rate : 0.0;
    if (entry->memory_bytes < 0 && d->memory_bytes != SITU_UNLIMITED_BYTES)
      d->memory_bytes = sat_mul(d->memory_bytes, entry->members);
  }
  TRY(read_family(d, entry->family, f->where, spot, error));
  TRY(read_peaks(d, entry->peaks, 1.0, f->where, spot, error));
  TRY(read_peaks(d, entry->tera_peaks, 1e12, f->where, spot, error));
  if (entry->peaks && entry->tera_peaks)
    return fields_fail(error, f->where, spot,
                       "\"peak_flops\" and \"peak_tflops\" give the same value in two units; keep only one");
  if (d->memory_bytes_per_s <= 0.0) return fields_fail(error, f->where, spot, "\"memory_bytes_per_s\" is missing");
  if (!device_has_peak(d))
    return fields_fail(error, f->where, spot, "\"peak_flops\" with \"f32\", \"f16\", \"bf16\" or \"i8\" is missing");

  if (entry->shares && entry->shares_capacity)
    return fields_fail(error, f->where, spot,
                       "\"shares_memory_with\" and \"shares_capacity_with\" exclude each other; keep only one");
  const char *shares = entry->shares ? entry->shares : entry->shares_capacity;
  if (shares) {
    const place *owner = find_place(f, shares);
    if (!owner || owner->count != 1)
      return fields_fail(error, f->where, spot, "\"%s\" must name one earlier device, not \"%.100s\"",
                         entry->shares ? "shares_memory_with" : "shares_capacity_with", shares);
    if (entry->memory_bytes >= 0 || entry->reserve_bytes >= 0)
      return fields_fail(error, f->where, spot, "the memory belongs to \"%.100s\"; state its size there", shares);
    d->shares_memory_with = owner->first;
    d->separate_address_space = entry->shares_capacity != NULL;
  }
  if (entry->reserve_bytes > d->memory_bytes)
    return fields_fail(error, f->where, spot, "\"reserve_bytes\" exceeds the memory");
  if (entry->reserve_bytes > 0 && d->memory_bytes != SITU_UNLIMITED_BYTES) d->memory_bytes -= entry->reserve_bytes;
  return SITU_STATUS_OK;
}

/* Where the figures of an entry come from: what it says, else what it takes from its base. NULL without either. */
static const char *source_of(const loader *f, const file_device *entry) {
  const situ_device_kind_info *row = entry->base ? catalogue_find(entry->base) : NULL;
  char text[PLATFORM_SOURCE_BYTES];
  const struct {
    bool stated;
    const char *what;
  } figures[] = {{entry->memory_bytes >= 0 || entry->reserve_bytes >= 0, "memory"},
                 {entry->memory_rate > 0.0, "bandwidth"},
                 {entry->launch_ns >= 0, "launch"},
                 {entry->peaks || entry->tera_peaks, "peaks"}};
  if (entry->source || !row) return entry->source;
  int n = snprintf(text, sizeof text, "%s of the catalogue (%.300s)", row->name, row->source), first = n;
  for (size_t k = 0; k < sizeof figures / sizeof figures[0]; k++)
    if (figures[k].stated)
      n += snprintf(text + n, sizeof text - (size_t)n, "%s%s", n == first ? "; as stated: " : ", ", figures[k].what);
  return arena_string(f->arena, text);
}

/* A device that runs several operators at once is several devices with one memory and an equal part of the rates. */
static situ_status add_slots(loader *f, const char *spot, const char *name, situ_device model, int32_t slots,
                             const char *source, situ_error *error) {
  int32_t first = f->n_devices;
  for (int t = 0; t < DTYPE_COUNT; t++) model.peak_flops[t] /= slots;
  model.memory_bytes_per_s /= slots;
  TRY(add_place(f, spot, name, (place){first, 1, 1}, error));
  for (int32_t s = 0; s < slots; s++) {
    char slot_name[NAME_BYTES + 16];
    snprintf(slot_name, sizeof slot_name, slots > 1 ? "%s.%d" : "%s", name, (int)s);
    model.name = arena_string(f->arena, slot_name);
    if (!model.name) return fail_no_memory(error);
    if (slots > 1) TRY(add_place(f, spot, model.name, (place){f->n_devices, 1, 1}, error));
    f->device_source[f->n_devices] = source;
    f->devices[f->n_devices++] = model;
    if (model.shares_memory_with < 0 || model.separate_address_space) model.shares_memory_with = first;
    model.separate_address_space = false;
  }
  return SITU_STATUS_OK;
}

static situ_status add_device(loader *f, const json_value *value, size_t index, situ_error *error) {
  char spot[PLACE_BYTES];
  snprintf(spot, sizeof spot, "devices[%zu]", index);
  file_device entry;
  TRY(fields_read(&entry, value, device_fields, COUNT_OF(device_fields), f->where, spot, error));
  if (!entry.name) return fields_fail(error, f->where, spot, "\"name\" is missing");
  if (strlen(entry.name) >= NAME_BYTES) return fields_fail(error, f->where, spot, "the name is too long");
  if (entry.count < 0) entry.count = 1;
  if (entry.slots < 0) entry.slots = 1;
  if (entry.count > SITU_MAX_DEVICES || entry.slots > SITU_MAX_DEVICES ||
      entry.count * entry.slots > SITU_MAX_DEVICES - f->n_devices)
    return fields_fail(error, f->where, spot, "a platform has at most %d devices", SITU_MAX_DEVICES);
  situ_device model;
  TRY(describe(&model, f, &entry, spot, error));
  /* devices without the key are together, in the unnamed server */
  int64_t server = string_map_put(f->servers, entry.server ? entry.server : "", string_map_count(f->servers));
  if (server < 0) return fail_no_memory(error);
  model.server = (int32_t)server;
  int32_t count = (int32_t)entry.count, slots = (int32_t)entry.slots;
  const char *source = source_of(f, &entry);
  if (count == 1) return add_slots(f, spot, entry.name, model, slots, source, error);
  TRY(add_place(f, spot, entry.name, (place){f->n_devices, count, slots}, error));
  for (int32_t i = 0; i < count; i++) {
    char name[NAME_BYTES + 16];
    snprintf(name, sizeof name, "%s%d", entry.name, (int)i);
    TRY(add_slots(f, spot, name, model, slots, source, error));
  }
  return SITU_STATUS_OK;
}

static situ_status push_link(loader *f, const char *spot, situ_link link, const char *source, situ_error *error) {
  if (f->n_links >= SITU_MAX_LINKS)
    return fields_fail(error, f->where, spot, "a platform has at most %d links", SITU_MAX_LINKS);
  if (f->n_links == f->link_capacity) {
    int32_t capacity = f->link_capacity ? f->link_capacity * 2 : 64;
    situ_link *links = ARENA_NEW(f->arena, situ_link, capacity);
    const char **sources = ARENA_ZERO(f->arena, const char *, capacity);
    if (!links || !sources) return fail_no_memory(error);
    if (f->n_links > 0) {
      memcpy(links, f->links, (size_t)f->n_links * sizeof *links);
      memcpy(sources, f->link_source, (size_t)f->n_links * sizeof *sources);
    }
    f->links = links;
    f->link_source = sources;
    f->link_capacity = capacity;
  }
  f->link_source[f->n_links] = source;
  f->links[f->n_links++] = link;
  return SITU_STATUS_OK;
}

static situ_status find_end(const loader *f, const char *spot, const char *key, const char *name, const place **out,
                            situ_error *error) {
  if (!name) return fields_fail(error, f->where, spot, "\"%s\" is missing", key);
  *out = find_place(f, name);
  return *out ? SITU_STATUS_OK
              : fields_fail(error, f->where, spot, "\"%s\": no device is called \"%.100s\"", key, name);
}

/* Latency and rate of a link, and its latency from a device to its host; *switched: everything that one device sends
 * leaves through one port. */
static situ_status link_speed(const loader *f, const char *spot, const file_link *entry, situ_link *link,
                              int64_t *to_host_ns, bool *switched, situ_error *error) {
  *switched = false;
  if (entry->kind) {
    const situ_link_kind_info *kind = link_kind_find(entry->kind);
    if (!kind) {
      char hint[CATALOGUE_HINT_BYTES];
      return fields_fail(error, f->where, spot, "no kind of link is called \"%.60s\"; %s", entry->kind,
                         catalogue_nearest_link(hint, entry->kind));
    }
    link->latency_ns = kind->latency_ns;
    *to_host_ns = kind->to_host_ns;
    link->bytes_per_s = kind->bytes_per_s;
    *switched = kind->switched;
  }
  if (entry->latency_ns >= 0 || !entry->kind) link->latency_ns = *to_host_ns = max64(entry->latency_ns, 0);
  if (entry->rate > 0.0) link->bytes_per_s = entry->rate;
  if (link->bytes_per_s <= 0.0) return fields_fail(error, f->where, spot, "\"bytes_per_s\" or \"kind\" is missing");
  return SITU_STATUS_OK;
}

/* Channels by name come first; the ports of switches follow, one for each sender. */
static int32_t port_of(int32_t sender) { return SITU_MAX_LINKS + sender; }

/* Whether a link leads from a device to a host. */
static bool goes_home(const loader *f, const situ_link *link) {
  return f->devices[link->to_device].is_host && !f->devices[link->from_device].is_host;
}

/* A name with a count means all of its devices: one link for each pair of different ends. */
static situ_status add_link(loader *f, const json_value *value, size_t index, situ_error *error) {
  char spot[PLACE_BYTES];
  snprintf(spot, sizeof spot, "links[%zu]", index);
  file_link entry;
  TRY(fields_read(&entry, value, link_fields, COUNT_OF(link_fields), f->where, spot, error));
  const place *from, *to;
  TRY(find_end(f, spot, "from", entry.from, &from, error));
  TRY(find_end(f, spot, "to", entry.to, &to, error));
  if (from == to && from->count == 1) return fields_fail(error, f->where, spot, "joins a device with itself");
  situ_link link = {.channel = -1};
  bool switched;
  int64_t to_host_ns = 0;
  TRY(link_speed(f, spot, &entry, &link, &to_host_ns, &switched, error));
  int64_t latency_ns = link.latency_ns;
  if (entry.channel) {
    int64_t channel = string_map_put(f->channels, entry.channel, string_map_count(f->channels));
    if (channel < 0) return fail_no_memory(error);
    link.channel = (int32_t)channel;
    switched = false;
  }
  for (int32_t i = 0; i < from->count; i++)
    for (int32_t j = 0; j < to->count; j++) {
      if (from == to && (entry.bidirectional == 0 ? i == j : i >= j)) continue;
      link.from_device = from->first + i * from->stride;
      link.to_device = to->first + j * to->stride;
      if (switched) link.channel = port_of(link.from_device);
      link.latency_ns = goes_home(f, &link) ? to_host_ns : latency_ns;
      TRY(push_link(f, spot, link, entry.source, error));
      if (entry.bidirectional == 0) continue;
      situ_link back = link;
      back.from_device = link.to_device;
      back.to_device = link.from_device;
      if (switched) back.channel = port_of(back.from_device);
      back.latency_ns = goes_home(f, &back) ? to_host_ns : latency_ns;
      TRY(push_link(f, spot, back, entry.source, error));
    }
  return SITU_STATUS_OK;
}

static situ_status load(loader *f, situ_platform **out, const json_value *root, situ_error *error) {
  f->devices = ARENA_NEW(f->arena, situ_device, SITU_MAX_DEVICES);
  f->places = ARENA_NEW(f->arena, place, 3 * SITU_MAX_DEVICES);
  f->device_source = ARENA_NEW(f->arena, const char *, SITU_MAX_DEVICES);
  f->place_of = string_map_new(f->arena, 0);
  f->channels = string_map_new(f->arena, 0);
  f->servers = string_map_new(f->arena, 0);
  if (!f->devices || !f->device_source || !f->places || !f->place_of || !f->channels || !f->servers)
    return fail_no_memory(error);
  file_root top;
  TRY(fields_read(&top, root, root_fields, COUNT_OF(root_fields), f->where, "top level", error));
  if (top.version != FORMAT_VERSION)
    return fields_fail(error, f->where, "top level", "\"situ_platform\" must be %d, the version of the format",
                       FORMAT_VERSION);
  if (json_kind_of(top.devices) != JSON_ARRAY_KIND)
    return fields_fail(error, f->where, "top level", "\"devices\" must be an array");
  if (top.links && json_kind_of(top.links) != JSON_ARRAY_KIND)
    return fields_fail(error, f->where, "top level", "\"links\" must be an array");
  for (size_t i = 0; i < json_size(top.devices); i++) TRY(add_device(f, json_at(top.devices, i), i, error));
  for (size_t i = 0; i < json_size(top.links); i++) TRY(add_link(f, json_at(top.links, i), i, error));
  const char *name = top.name ? top.name : "platform";
  situ_status status = platform_new(out, name, f->devices, f->n_devices, f->links, f->n_links, error);
  if (status != SITU_STATUS_OK && error) snprintf(error->where, sizeof error->where, "%s", f->where);
  if (status != SITU_STATUS_OK || platform_keep_sources(*out, f->device_source, f->link_source, top.source))
    return status;
  situ_platform_free(*out);
  *out = NULL;
  return fail_no_memory(error);
}

situ_status platform_from_json(situ_platform **out, const json_value *root, const char *where, situ_error *error) {
  *out = NULL;
  arena *a = arena_new();
  loader f = {.arena = a, .where = where};
  situ_status status = a ? load(&f, out, root, error) : fail_no_memory(error);
  arena_free(a);
  return status;
}
