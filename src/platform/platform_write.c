#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/dtype.h"
#include "base/file.h"
#include "platform/platform_sources.h"

static json_value *device_tree(const situ_platform *p, int32_t index, bool sources) {
  char source[PLATFORM_SOURCE_BYTES];
  const situ_device *d = &p->devices[index];
  json_value *peaks = json_new_object(), *o = json_new_object();
  bool ok = peaks && o;
  for (int t = 0; ok && t < DTYPE_COUNT; t++)
    if (d->peak_flops[t] > 0.0) ok = json_set(peaks, situ_dtype_name((situ_dtype)t), json_new_number(d->peak_flops[t]));
  ok = ok && json_set(o, "name", json_new_text(d->name));
  ok = ok && json_set(o, "class", json_new_text(d->class_name));
  ok = ok && json_set(o, "host", json_new_bool(d->is_host));
  if (ok && d->shares_memory_with >= 0)
    ok = json_set(o, d->separate_address_space ? "shares_capacity_with" : "shares_memory_with",
                  json_new_text(p->devices[d->shares_memory_with].name));
  else if (ok && d->memory_bytes != SITU_UNLIMITED_BYTES)
    ok = json_set(o, "memory_bytes", json_new_int(d->memory_bytes));
  if (ok && p->n_servers > 1) {
    char server[16];
    snprintf(server, sizeof server, "server%d", (int)d->server);
    ok = json_set(o, "server", json_new_text(server));
  }
  ok = ok && json_set(o, "memory_bytes_per_s", json_new_number(d->memory_bytes_per_s));
  ok = ok && json_set(o, "launch_ns", json_new_int(d->launch_ns));
  if (ok && d->members > 1)
    ok = json_set(o, "members", json_new_int(d->members)) &&
         json_set(o, "sync_latency_ns", json_new_int(d->sync_latency_ns)) &&
         json_set(o, "sync_bytes_per_s", json_new_number(d->sync_bytes_per_s));
  if (d->family) ok = ok && json_set(o, "family", json_new_text(situ_device_family_name(d->family)));
  if (d->efficiency > 0.0) ok = ok && json_set(o, "efficiency", json_new_number(d->efficiency));
  if (ok && sources) ok = json_set(o, "source", json_new_text(platform_device_source(source, p, index)));
  if (!ok) {
    json_free(peaks);
    json_free(o);
    return NULL;
  }
  if (json_set(o, "peak_flops", peaks)) return o;
  json_free(o);
  return NULL;
}

static json_value *link_tree(const situ_platform *p, int32_t index, bool shared, bool sources) {
  char source[PLATFORM_SOURCE_BYTES];
  const situ_link *l = &p->links[index];
  json_value *o = json_new_object();
  bool ok = o && json_set(o, "from", json_new_text(p->devices[l->from_device].name)) &&
            json_set(o, "to", json_new_text(p->devices[l->to_device].name)) &&
            json_set(o, "bidirectional", json_new_bool(false)) &&
            json_set(o, "latency_ns", json_new_int(l->latency_ns)) &&
            json_set(o, "bytes_per_s", json_new_number(l->bytes_per_s));
  if (ok && shared) {
    char channel[16];
    snprintf(channel, sizeof channel, "c%d", (int)l->channel);
    ok = json_set(o, "channel", json_new_text(channel));
  }
  if (ok && sources) ok = json_set(o, "source", json_new_text(platform_link_source(source, p, index)));
  if (ok) return o;
  json_free(o);
  return NULL;
}

/* Takes over both arrays of `root` as they grow: a failure leaves everything to the caller's json_free(root). */
static bool fill(json_value *root, json_value *devices, json_value *links, const situ_platform *p, const int32_t *users,
                 bool sources) {
  for (int32_t d = 0; d < p->n_devices; d++)
    if (!json_push(devices, device_tree(p, d, sources))) return false;
  for (int32_t l = 0; l < p->n_links; l++)
    if (!json_push(links, link_tree(p, l, users[p->links[l].channel] > 1, sources))) return false;
  return json_set(root, "situ_platform", json_new_int(1)) && json_set(root, "name", json_new_text(p->name)) &&
         (!sources || !p->source || json_set(root, "source", json_new_text(p->source)));
}

json_value *platform_to_json(const situ_platform *p, bool sources) {
  json_value *root = json_new_object(), *devices = json_new_array(), *links = json_new_array();
  int32_t *users = calloc((size_t)p->n_channels + 1, sizeof *users);
  bool ok = root && devices && links && users;
  for (int32_t l = 0; ok && l < p->n_links; l++) users[p->links[l].channel]++;
  ok = ok && fill(root, devices, links, p, users, sources);
  free(users);
  if (!ok) {
    json_free(devices);
    json_free(links);
  } else {
    ok = json_set(root, "devices", devices);
    if (ok)
      ok = json_set(root, "links", links);
    else
      json_free(links);
  }
  if (ok) return root;
  json_free(root);
  return NULL;
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
