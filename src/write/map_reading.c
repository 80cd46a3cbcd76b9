/* Placements that other tools keep as JSON: device maps, shards of exo, split points of PyTorch. */
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "base/text.h"
#include "write/layer_reading.h"
#include "write/writer.h"

enum { MAX_STAGES = 512 };

static situ_status parse(json_value **out, const char *text, situ_error *error) {
  TRY(json_parse(out, text, strlen(text), "command", error));
  if (json_kind_of(*out) == JSON_OBJECT_KIND) return SITU_STATUS_OK;
  json_free(*out);
  *out = NULL;
  return fail_with(error, SITU_STATUS_BAD_INPUT, "command", "expected a JSON object");
}

/* ---- a device_map: every parameter is where the longest key that begins its name says ---- */

/* What accelerate calls a device: the number of a GPU, "cuda:1", "cpu"; "disk" is none of ours. */
static int32_t map_device(const situ_problem *p, const json_value *value) {
  const char *name = json_text(value, NULL);
  int64_t number = -1;
  if (!name) return layer_reading_gpu(p, json_int(value, -1));
  if (strcmp(name, "cpu") == 0) return layer_reading_host(p);
  const char *colon = strchr(name, ':');
  const char *end = colon ? text_scan_int(colon + 1, 0, &number) : NULL;
  if (colon && end && !*end) return layer_reading_gpu(p, number);
  return strcmp(name, "cuda") == 0 ? layer_reading_gpu(p, 0) : -1;
}

/* The value of the key that covers an operator best; NULL if none does. */
static const json_value *covering(const json_value *map, const char *name, size_t *length) {
  const json_value *found = NULL;
  for (json_member m = {0}; json_next(map, &m);) {
    size_t n = strlen(m.key);
    bool covers = strncmp(m.key, name, n) == 0 && (n == 0 || name[n] == '\0' || name[n] == '.');
    if (!covers || (found && n < *length)) continue;
    found = m.value;
    *length = n;
  }
  return found;
}

/* Operators without weights, whose names no key covers, are where their layer is. */
static situ_status map_devices(int32_t *device, const situ_problem *p, const char *text, situ_error *error) {
  json_value *map = NULL;
  layer_reading r;
  TRY(parse(&map, text, error));
  situ_status status = layer_reading_open(&r, p, "device-map", error);
  for (int32_t v = 0; v < p->n_operators && status == SITU_STATUS_OK; v++) {
    size_t length = 0;
    const json_value *value = covering(map, p->graph->name[v], &length);
    int32_t k = r.l.layers.of[v];
    device[v] = value ? map_device(p, value) : -1;
    if (value && device[v] < 0)
      status = fail_with(error, SITU_STATUS_BAD_INPUT, p->graph->name[v],
                         "is on a device that the platform has not; expected the number of a GPU or \"cpu\"");
    if (k >= 0 && device[v] >= 0 && r.l.device[k] < 0) r.l.device[k] = device[v];
    if (k < 0 && device[v] >= 0) *(r.l.layers.before[v] ? &r.first : &r.head) = device[v];
  }
  for (int32_t v = 0; v < p->n_operators && status == SITU_STATUS_OK; v++) {
    int32_t k = r.l.layers.of[v];
    if (device[v] < 0) device[v] = k >= 0 ? r.l.device[k] : r.l.layers.before[v] ? r.first : r.head;
    if (device[v] < 0)
      status = fail_with(error, SITU_STATUS_BAD_INPUT, p->graph->name[v], "is covered by no key of the device map");
  }
  layer_reading_close(&r);
  json_free(map);
  return status;
}

const plan_reading device_map_reading = {.marks = "{", .devices = map_devices};

/* ---- stages by name ---- */

static situ_status find_stage(int32_t *out, const situ_problem *p, const char *name, situ_error *error) {
  *out = situ_platform_find(p->platform, name ? name : "");
  return *out >= 0 ? SITU_STATUS_OK
                   : fail_with(error, SITU_STATUS_BAD_INPUT, p->platform->name, "has no device %.100s",
                               name ? name : "of this name");
}

/* Fills stages of consecutive layers; returns their number, -1 after a failure. */
typedef int32_t stage_finder(int32_t *stage, int64_t *count, const layer_reading *r, const json_value *root,
                             situ_error *error);

static situ_status stage_devices(int32_t *device, const situ_problem *p, const char *text, stage_finder *find,
                                 const char *format, situ_error *error) {
  json_value *root = NULL;
  layer_reading r;
  int32_t stage[MAX_STAGES], n = 0;
  int64_t count[MAX_STAGES];
  TRY(parse(&root, text, error));
  situ_status status = layer_reading_open(&r, p, format, error);
  if (status == SITU_STATUS_OK && (n = find(stage, count, &r, root, error)) < 0) status = SITU_STATUS_BAD_INPUT;
  if (status == SITU_STATUS_OK) status = layer_reading_stages(&r, stage, count, n, error);
  if (status == SITU_STATUS_OK) status = layer_reading_devices(device, &r, error);
  layer_reading_close(&r);
  json_free(root);
  return status;
}

static int32_t exo_stages(int32_t *stage, int64_t *count, const layer_reading *r, const json_value *root,
                          situ_error *error) {
  const json_value *shards = json_get(root, "shards");
  int64_t next = 0;
  int32_t n = 0;
  for (size_t i = 0; i < json_size(shards) && n < MAX_STAGES; i++, n++) {
    const json_value *shard = json_at(shards, i);
    int64_t start = json_int(json_get(shard, "start_layer"), -1), end = json_int(json_get(shard, "end_layer"), -1);
    if (start != next || end <= start) {
      fail_with(error, SITU_STATUS_BAD_INPUT, "shards", "shard %zu: expected layers from %lld on, half open", i + 1,
                (long long)next);
      return -1;
    }
    count[n] = end - start;
    next = end;
    if (find_stage(&stage[n], r->problem, json_text(json_get(shard, "node"), NULL), error) != SITU_STATUS_OK) return -1;
  }
  return n;
}

static situ_status exo_devices(int32_t *device, const situ_problem *p, const char *text, situ_error *error) {
  return stage_devices(device, p, text, exo_stages, "exo", error);
}
const plan_reading exo_reading = {.marks = "\"shards\"", .devices = exo_devices};

static int32_t pipelining_stages(int32_t *stage, int64_t *count, const layer_reading *r, const json_value *root,
                                 situ_error *error) {
  const json_value *points = json_get(root, "split_points"), *devices = json_get(root, "devices");
  int64_t begin[MAX_STAGES + 1] = {0};
  int32_t n = (int32_t)json_size(devices), at = 1;
  if (json_size(devices) > MAX_STAGES || json_size(devices) == 0) return 0;
  for (json_member m = {0}; json_next(points, &m) && at <= n; at++)
    if ((begin[at] = layer_reading_find(&r->l, m.key)) <= begin[at - 1]) {
      fail_with(error, SITU_STATUS_BAD_INPUT, "split_points", "%.100s is no layer behind the one before", m.key);
      return -1;
    }
  if (at != n) {
    fail_with(error, SITU_STATUS_BAD_INPUT, "split_points", "%d stages have %d split points, not %d", (int)n,
              (int)(at - 1), (int)(n - 1));
    return -1;
  }
  begin[n] = r->l.n;
  for (int32_t s = 0; s < n; s++) {
    count[s] = begin[s + 1] - begin[s];
    if (find_stage(&stage[s], r->problem, json_text(json_at(devices, (size_t)s), NULL), error) != SITU_STATUS_OK)
      return -1;
  }
  return n;
}

static situ_status pipelining_devices(int32_t *device, const situ_problem *p, const char *text, situ_error *error) {
  return stage_devices(device, p, text, pipelining_stages, "torch.distributed.pipelining", error);
}
const plan_reading torch_pipelining_reading = {.marks = "\"split_points\"", .devices = pipelining_devices};
