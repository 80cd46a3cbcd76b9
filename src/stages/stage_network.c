#include "stages/stage_network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/sort.h"

static const double NS_PER_S = 1e9, MAX_S = 1e5;
#define MAX_BYTES ((double)STAGE_MAX_BYTES)

typedef struct reading {
  const char *path;
  situ_error *error;
  const json_value *root, *nodes, *edges;
  stage_network *network;
  int64_t *id;      /* [layer] of the file */
  int32_t *n_enter; /* [layer] */
} reading;

static situ_status bad(const reading *r, const char *where, const char *key, const char *expected) {
  return fail_with(r->error, SITU_STATUS_BAD_INPUT, r->path, "%s: \"%s\" must be %s", where, key, expected);
}

static situ_status read_amount(const reading *r, int64_t *out, const json_value *object, const char *key, double unit,
                               double max, const char *where) {
  const json_value *v = json_get(object, key);
  double x = json_number(v, -1);
  if (x >= 0 && x <= max) {
    *out = sat_round(x * unit);
    return SITU_STATUS_OK;
  }
  char expected[64];
  c_locale_print(expected, sizeof expected, "a number from 0 to %g", max);
  return bad(r, where, key, expected);
}

static situ_status read_count(const reading *r, int64_t *out, const json_value *object, const char *key, int64_t max,
                              const char *where) {
  *out = json_int(json_get(object, key), -1);
  if (*out >= 1 && *out <= max) return SITU_STATUS_OK;
  char expected[64];
  snprintf(expected, sizeof expected, "a whole number from 1 to %lld", (long long)max);
  return bad(r, where, key, expected);
}

static situ_status read_machine(const reading *r) {
  stage_machine *m = &r->network->machine;
  double memory = json_number(json_get(r->root, "maxMemoryPerDevice"), -1);
  double rate = json_number(json_get(r->root, "bandwidth"), -1);
  TRY(read_count(r, &m->n_devices, r->root, "maxDevices", STAGE_MAX_DEVICES, "the file"));
  /* mbsInBatch in the files, maxBatchSize in their description */
  const char *inputs = json_get(r->root, "mbsInBatch") ? "mbsInBatch" : "maxBatchSize";
  TRY(read_count(r, &m->n_inputs, r->root, inputs, STAGE_MAX_INPUTS, "the file"));
  if (!(memory >= 1)) return bad(r, "the file", "maxMemoryPerDevice", "a number of bytes, at least 1");
  if (!(rate >= 1)) return bad(r, "the file", "bandwidth", "a number of bytes per second, at least 1");
  m->memory_bytes = memory > MAX_BYTES ? STAGE_MAX_BYTES : (int64_t)floor(memory);
  m->bytes_per_s = rate > MAX_BYTES ? STAGE_MAX_BYTES : sat_round(rate);
  return SITU_STATUS_OK;
}

static const json_value *node_at(const reading *r, int32_t layer) { return json_at(r->nodes, (size_t)layer); }

static int compare_ids(const void *left, const void *right) { return sort_compare64(left, right); }

/* The layer of an id, or -1. by_id: [layer] pairs of id and layer, ascending. */
static int32_t layer_of(const int64_t (*by_id)[2], int32_t n, const json_value *id) {
  int64_t key[2] = {json_int(id, INT64_MIN), 0};
  const int64_t(*found)[2] = bsearch(key, by_id, (size_t)n, sizeof *by_id, compare_ids);
  return found ? (int32_t)(*found)[1] : -1;
}

static situ_status read_edges(reading *r) {
  stage_network *x = r->network;
  int32_t n = x->n_layers;
  int64_t(*by_id)[2] = arena_alloc(x->arena, n, sizeof *by_id);
  if (!by_id ||
      !ARENA_ARRAYS(x->arena, ZEROS(r->n_enter, n + 1), ZEROS(x->edge_start, n + 1), ARRAY(x->from, x->n_edges),
                    ARRAY(x->to, x->n_edges), ARRAY(x->edge_bytes, x->n_edges), ARRAY(x->edge, 2 * x->n_edges)))
    return fail_no_memory(r->error);
  for (int32_t v = 0; v < n; v++) {
    r->id[v] = by_id[v][0] = json_int(json_get(node_at(r, v), "id"), INT64_MIN);
    by_id[v][1] = v;
    if (r->id[v] == INT64_MIN) return bad(r, x->name[v], "id", "a whole number");
  }
  qsort(by_id, (size_t)n, sizeof *by_id, compare_ids);
  for (int32_t v = 1; v < n; v++)
    if (by_id[v][0] == by_id[v - 1][0])
      return fail_with(r->error, SITU_STATUS_BAD_INPUT, r->path, "two nodes have the id %lld", (long long)by_id[v][0]);
  for (int32_t e = 0; e < x->n_edges; e++) {
    const json_value *edge = json_at(r->edges, (size_t)e);
    char where[32];
    snprintf(where, sizeof where, "edge %d", (int)e);
    x->from[e] = layer_of(by_id, n, json_get(edge, "sourceId"));
    x->to[e] = layer_of(by_id, n, json_get(edge, "destId"));
    if (x->from[e] < 0) return bad(r, where, "sourceId", "the id of a node");
    if (x->to[e] < 0 || x->to[e] == x->from[e]) return bad(r, where, "destId", "the id of another node");
    TRY(read_amount(r, &x->edge_bytes[e], edge, "communicationCost", 1, MAX_BYTES, where));
    x->edge_start[x->from[e]]++;
    x->edge_start[x->to[e]]++;
    r->n_enter[x->to[e]]++;
  }
  for (int32_t v = 0, sum = 0; v <= n; v++) {
    int32_t own = v < n ? x->edge_start[v] : 0;
    x->edge_start[v] = sum;
    sum += own;
  }
  int32_t *enter = ARENA_COPY(x->arena, x->edge_start, int32_t, n + 1), *leave = ARENA_NEW(x->arena, int32_t, n + 1);
  if (!enter || !leave) return fail_no_memory(r->error);
  for (int32_t v = 0; v < n; v++) leave[v] = x->edge_start[v] + r->n_enter[v];
  for (int32_t e = 0; e < x->n_edges; e++) {
    x->edge[enter[x->to[e]]++] = e;
    x->edge[leave[x->from[e]]++] = e;
  }
  return SITU_STATUS_OK;
}

/* The bytes that a variant adds to each edge of its layer. */
static situ_status read_sync(const reading *r, stage_variant *variant, int32_t v, const json_value *json,
                             const char *where) {
  stage_network *x = r->network;
  int32_t first = x->edge_start[v], n = x->edge_start[v + 1] - first;
  int64_t *bytes = ARENA_ZERO(x->arena, int64_t, n);
  if (!bytes) return fail_no_memory(r->error);
  for (int32_t i = 0; i < n; i++) {
    int32_t e = x->edge[first + i];
    const char *key = i < r->n_enter[v] ? "syncTimeFw" : "syncTimeBw";
    char other[32];
    snprintf(other, sizeof other, "%lld", (long long)r->id[i < r->n_enter[v] ? x->from[e] : x->to[e]]);
    char place[128];
    snprintf(place, sizeof place, "%.80s, %s", where, key);
    TRY(read_amount(r, &bytes[i], json_get(json, key), other, 1, MAX_BYTES, place));
  }
  variant->sync_bytes = bytes;
  return SITU_STATUS_OK;
}

static situ_status read_variant(const reading *r, stage_variant *variant, int32_t v, const json_value *json) {
  char where[128];
  const char *name = json_text(json_get(json, "id"), "");
  snprintf(where, sizeof where, "%.60s, %.40s", r->network->name[v], name);
  *variant = (stage_variant){.name = arena_string(r->network->arena, name)};
  if (!variant->name) return fail_no_memory(r->error);
  variant->recomputes = strcmp(name, "activation recomp") == 0;
  TRY(read_amount(r, &variant->time_ns, json, "timePerSample", NS_PER_S, MAX_S, where));
  TRY(read_amount(r, &variant->weight_bytes, json, "parameterSize", 1, MAX_BYTES, where));
  TRY(read_amount(r, &variant->kept_bytes, json, "memoryUsageA", 1, MAX_BYTES, where));
  TRY(read_amount(r, &variant->fixed_bytes, json, "memoryUsageB", 1, MAX_BYTES, where));
  return read_sync(r, variant, v, json, where);
}

/* The degrees that some layer has, ascending, how many variants there are, and amounts of bytes on their edges. */
static situ_status list_degrees(const reading *r, int64_t *n_variants, int64_t *n_amounts) {
  stage_network *x = r->network;
  bool *seen = ARENA_ZERO(x->arena, bool, STAGE_MAX_DEVICES + 1);
  if (!seen) return fail_no_memory(r->error);
  for (int32_t v = 0; v < x->n_layers; v++) {
    json_member member = {0};
    const json_value *all = json_get(node_at(r, v), "TMPCs");
    if (json_kind_of(all) != JSON_OBJECT_KIND) return bad(r, x->name[v], "TMPCs", "an object");
    while (json_next(all, &member)) {
      char *end; /* read_variants looks each number up as it prints it: no other digits, no sign, no space */
      long degree = strtol(member.key, &end, 10);
      if (*end || *member.key < '1' || *member.key > '9' || degree > STAGE_MAX_DEVICES ||
          json_kind_of(member.value) != JSON_ARRAY_KIND || json_size(member.value) > STAGE_MAX_VARIANTS)
        return bad(r, x->name[v], "TMPCs", "lists of up to 64, by a number of devices");
      x->n_degrees += !seen[degree];
      seen[degree] = true;
      *n_variants += (int64_t)json_size(member.value);
      *n_amounts += (int64_t)json_size(member.value) * (x->edge_start[v + 1] - x->edge_start[v]);
    }
  }
  x->degree = ARENA_NEW(x->arena, int32_t, x->n_degrees);
  if (!x->degree) return fail_no_memory(r->error);
  for (int32_t k = 1, n = 0; k <= STAGE_MAX_DEVICES; k++)
    if (seen[k]) x->degree[n++] = k;
  return SITU_STATUS_OK;
}

static situ_status read_variants(const reading *r) {
  stage_network *x = r->network;
  int64_t n_variants = 0, n_amounts = 0, n_lists;
  TRY(list_degrees(r, &n_variants, &n_amounts));
  n_lists = (int64_t)x->n_layers * x->n_degrees;
  if (n_variants > 1 << 20 || n_lists > 1 << 20)
    return fail_with(r->error, SITU_STATUS_UNSUPPORTED, r->path, "more than a million variants of a layer");
  if (n_amounts > 1 << 26)
    return fail_with(r->error, SITU_STATUS_UNSUPPORTED, r->path, "more than 2^26 edges at the variants of its layers");
  if (!ARENA_ARRAYS(x->arena, ARRAY(x->variant_start, n_lists + 1), ARRAY(x->variant, n_variants)))
    return fail_no_memory(r->error);
  int32_t n = 0;
  for (int32_t i = 0; i < n_lists; i++) {
    int32_t v = i / x->n_degrees;
    char degree[16];
    snprintf(degree, sizeof degree, "%d", (int)x->degree[i % x->n_degrees]);
    const json_value *list = json_get(json_get(node_at(r, v), "TMPCs"), degree);
    x->variant_start[i] = n;
    for (size_t k = 0; k < json_size(list); k++) TRY(read_variant(r, &x->variant[n++], v, json_at(list, k)));
  }
  x->variant_start[n_lists] = n;
  return SITU_STATUS_OK;
}

static situ_status order_layers(const reading *r) {
  stage_network *x = r->network;
  int32_t n_done = 0, *order = x->order = ARENA_NEW(x->arena, int32_t, x->n_layers);
  int32_t *n_left = ARENA_COPY(x->arena, r->n_enter, int32_t, x->n_layers + 1);
  if (!order || !n_left) return fail_no_memory(r->error);
  for (int32_t v = 0; v < x->n_layers; v++)
    if (n_left[v] == 0) order[n_done++] = v;
  for (int32_t i = 0; i < n_done; i++)
    for (int32_t k = x->edge_start[order[i]]; k < x->edge_start[order[i] + 1]; k++)
      if (x->from[x->edge[k]] == order[i] && --n_left[x->to[x->edge[k]]] == 0) order[n_done++] = x->to[x->edge[k]];
  if (n_done == x->n_layers) return SITU_STATUS_OK;
  return fail_with(r->error, SITU_STATUS_BAD_INPUT, r->path, "the edges form a cycle");
}

static situ_status read_all(reading *r) {
  stage_network *x = r->network;
  r->nodes = json_get(r->root, "nodes");
  r->edges = json_get(r->root, "edges");
  if (json_kind_of(r->nodes) != JSON_ARRAY_KIND || json_size(r->nodes) < 1 || json_size(r->nodes) > STAGE_MAX_LAYERS)
    return bad(r, "the file", "nodes", "a list of 1 to 4096 layers");
  if (json_kind_of(r->edges) != JSON_ARRAY_KIND || json_size(r->edges) > 1 << 20)
    return bad(r, "the file", "edges", "a list of up to a million");
  x->n_layers = (int32_t)json_size(r->nodes);
  x->n_edges = (int32_t)json_size(r->edges);
  if (!ARENA_ARRAYS(x->arena, ARRAY(x->name, x->n_layers), ARRAY(r->id, x->n_layers))) return fail_no_memory(r->error);
  for (int32_t v = 0; v < x->n_layers; v++) {
    char id[32];
    snprintf(id, sizeof id, "node %lld", (long long)json_int(json_get(node_at(r, v), "id"), -1));
    x->name[v] = arena_string(x->arena, json_text(json_get(node_at(r, v), "name"), id));
    if (!x->name[v]) return fail_no_memory(r->error);
  }
  TRY(read_machine(r));
  TRY(read_edges(r));
  TRY(order_layers(r));
  return read_variants(r);
}

situ_status stage_network_read(stage_network **out, const char *path, situ_error *error) {
  json_value *root;
  *out = NULL;
  TRY(json_read(&root, path, error));
  arena *a = arena_new();
  stage_network *x = a ? ARENA_ZERO(a, stage_network, 1) : NULL;
  situ_status status = x ? SITU_STATUS_OK : fail_no_memory(error);
  if (x) {
    x->arena = a;
    status = read_all(&(reading){.path = path, .error = error, .root = root, .network = x});
  }
  json_free(root);
  if (status == SITU_STATUS_OK)
    *out = x;
  else
    arena_free(a);
  return status;
}

void stage_network_free(stage_network *network) {
  if (network) arena_free(network->arena);
}

int64_t stage_transfer_ns(const stage_machine *m, __int128 bytes) {
  __int128 ns = (bytes * 1000000000 + m->bytes_per_s - 1) / m->bytes_per_s;
  return ns > STAGE_NEVER_NS ? STAGE_NEVER_NS : (int64_t)ns;
}
