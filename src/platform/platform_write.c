#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/dtype.h"
#include "base/file.h"
#include "platform/platform_sources.h"

static json_value *device_tree(const situ_platform *p, int32_t index, bool sources) {
  char source[PLATFORM_SOURCE_BYTES], server[16];
  const situ_device *d = &p->devices[index];
  json_value *peaks = json_new_object();
  bool ok = peaks, shares = d->shares_memory_with >= 0, limited = !shares && d->memory_bytes != SITU_UNLIMITED_BYTES;
  bool groups = d->members > 1;
  for (int t = 0; ok && t < DTYPE_COUNT; t++)
    if (d->peak_flops[t] > 0.0) ok = json_set(peaks, situ_dtype_name((situ_dtype)t), json_new_number(d->peak_flops[t]));
  snprintf(server, sizeof server, "server%d", (int)d->server);
  json_value *o = JSON_OBJECT(
      {"name", json_new_text(d->name)}, {"class", json_new_text(d->class_name)}, {"host", json_new_bool(d->is_host)},
      {d->separate_address_space ? "shares_capacity_with" : "shares_memory_with",
       shares ? json_new_text(p->devices[d->shares_memory_with].name) : JSON_ABSENT},
      {"memory_bytes", limited ? json_new_int(d->memory_bytes) : JSON_ABSENT},
      {"server", p->n_servers > 1 ? json_new_text(server) : JSON_ABSENT},
      {"memory_bytes_per_s", json_new_number(d->memory_bytes_per_s)}, {"launch_ns", json_new_int(d->launch_ns)},
      {"members", groups ? json_new_int(d->members) : JSON_ABSENT},
      {"sync_latency_ns", groups ? json_new_int(d->sync_latency_ns) : JSON_ABSENT},
      {"sync_bytes_per_s", groups ? json_new_number(d->sync_bytes_per_s) : JSON_ABSENT},
      {"family", d->family ? json_new_text(situ_device_family_name(d->family)) : JSON_ABSENT},
      {"efficiency", d->efficiency > 0.0 ? json_new_number(d->efficiency) : JSON_ABSENT},
      {"source", sources ? json_new_text(platform_device_source(source, p, index)) : JSON_ABSENT},
      {"peak_flops", peaks});
  return json_if(ok, o);
}

static json_value *link_tree(const situ_platform *p, int32_t index, bool shared, bool sources) {
  char source[PLATFORM_SOURCE_BYTES], channel[16];
  const situ_link *l = &p->links[index];
  snprintf(channel, sizeof channel, "c%d", (int)l->channel);
  return JSON_OBJECT({"from", json_new_text(p->devices[l->from_device].name)},
                     {"to", json_new_text(p->devices[l->to_device].name)}, {"bidirectional", json_new_bool(false)},
                     {"latency_ns", json_new_int(l->latency_ns)}, {"bytes_per_s", json_new_number(l->bytes_per_s)},
                     {"channel", shared ? json_new_text(channel) : JSON_ABSENT},
                     {"source", sources ? json_new_text(platform_link_source(source, p, index)) : JSON_ABSENT});
}

json_value *platform_to_json(const situ_platform *p, bool sources) {
  json_value *devices = json_new_array(), *links = json_new_array();
  int32_t *users = calloc((size_t)p->n_channels + 1, sizeof *users);
  bool ok = devices && links && users;
  for (int32_t l = 0; ok && l < p->n_links; l++) users[p->links[l].channel]++;
  for (int32_t d = 0; ok && d < p->n_devices; d++) ok = json_push(devices, device_tree(p, d, sources));
  for (int32_t l = 0; ok && l < p->n_links; l++)
    ok = json_push(links, link_tree(p, l, users[p->links[l].channel] > 1, sources));
  free(users);
  json_value *root = JSON_OBJECT({"situ_platform", json_new_int(1)}, {"name", json_new_text(p->name)},
                                 {"source", sources && p->source ? json_new_text(p->source) : JSON_ABSENT},
                                 {"devices", devices}, {"links", links});
  return json_if(ok, root);
}

situ_status situ_platform_write(const situ_platform *platform, const char *path, situ_error *error) {
  TRY(GIVEN(error, platform, path));
  json_value *root = platform_to_json(platform, true);
  char *text = root ? json_print(root, 2) : NULL;
  size_t n = text ? strlen(text) : 0;
  situ_status status;
  if (!text) {
    status = fail_no_memory(error);
  } else {
    text[n] = '\n'; /* in place of the terminator: the text goes out by its length */
    status = file_write(path, text, n + 1, error);
  }
  free(text);
  json_free(root);
  return status;
}
