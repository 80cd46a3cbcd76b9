/* Workload files: the JSON of Tarnawski et al., "Efficient Algorithms for Device Placement of DNN Graph Operators"
 * (NeurIPS 2020), which carries graph, platform and costs in one. docs/formats/workload.md says how each field is read.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/c_locale.h"
#include "base/checked.h"
#include "base/compare.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/json.h"
#include "cost/cost_models.h"
#include "graph/builder.h"
#include "graph/graph.h"
#include "platform/platform.h"
#include "read/reader.h"

static const double ns_per_unit = 1e6;
static const double max_units = 1e12; /* 31 years of milliseconds */
static const double max_bytes = 4e18;
static const double cost_tolerance = 1e-6; /* of the edges of one producer, as the published evaluator has it */

typedef struct workload_node {
  int64_t id;
  const char *name;
  int64_t host_ns, accelerator_ns, size_bytes;
  int64_t color; /* valid if colored */
  int32_t colocation, tensor;
  double cost; /* of its outgoing edges; below 0 while there is none */
  int64_t cost_ns;
  const json_value *json;
  bool supported, backward, colored;
} workload_node;

typedef struct workload {
  const read_source *source;
  arena *scratch;
  situ_error *error;
  json_value *root;
  int32_t n_hosts, n_accelerators; /* n_hosts 0: represented by a host that runs nothing */
  int64_t accelerator_bytes;
  int32_t n_nodes;
  workload_node *nodes;
  int32_t *by_id; /* node numbers, ascending by id */
  situ_graph_builder *builder;
} workload;

static const char *named(const char *what, int64_t id, char into[64]) {
  snprintf(into, 64, "%s %lld", what, (long long)id);
  return into;
}

static situ_status bad_field(const workload *w, const char *where, const char *key, const char *expected) {
  return fail_with(w->error, SITU_STATUS_BAD_INPUT, w->source->path, "%s: \"%s\" must be %s", where, key, expected);
}

static situ_status read_number(const workload *w, double *out, const json_value *object, const char *key, double max,
                               const char *where) {
  const json_value *v = json_get(object, key);
  json_kind kind = json_kind_of(v);
  *out = json_number(v, -1);
  if ((kind == JSON_INT || kind == JSON_NUMBER) && *out >= 0 && *out <= max) return SITU_STATUS_OK;
  char expected[64];
  c_locale_print(expected, sizeof expected, isinf(max) ? "a number, at least 0" : "a number from 0 to %g", max);
  return bad_field(w, where, key, expected);
}

static situ_status read_time(const workload *w, int64_t *out_ns, const json_value *object, const char *key,
                             const char *where) {
  double units;
  TRY(read_number(w, &units, object, key, max_units, where));
  *out_ns = sat_round(units * ns_per_unit);
  return SITU_STATUS_OK;
}

static situ_status read_whole(const workload *w, int64_t *out, const json_value *object, const char *key,
                              const char *where) {
  const json_value *v = json_get(object, key);
  *out = json_int(v, INT64_MIN);
  if (*out == INT64_MIN || json_int(v, 0) != *out) return bad_field(w, where, key, "a whole number");
  return SITU_STATUS_OK;
}

/* The files hold truth values as true and false, and as 1 and 0. */
static situ_status read_bool(const workload *w, bool *out, const json_value *object, const char *key,
                             const char *where) {
  const json_value *v = json_get(object, key);
  int64_t whole = json_int(v, -1);
  if (json_kind_of(v) != JSON_BOOL && whole != 0 && whole != 1) return bad_field(w, where, key, "true, false, 1 or 0");
  *out = json_bool(v, whole == 1);
  return SITU_STATUS_OK;
}

static situ_status read_machine(workload *w) {
  int64_t hosts, accelerators;
  double bytes;
  const char *where = "the file";
  TRY(read_whole(w, &hosts, w->root, "maxCPUs", where));
  TRY(read_whole(w, &accelerators, w->root, "maxFPGAs", where));
  TRY(read_number(w, &bytes, w->root, "maxSizePerFPGA", HUGE_VAL, where));
  if (hosts < 0 || accelerators < 0 || hosts > SITU_MAX_DEVICES || accelerators > SITU_MAX_DEVICES ||
      hosts + accelerators > SITU_MAX_DEVICES - 1 || hosts + accelerators == 0)
    return fail_with(w->error, SITU_STATUS_BAD_INPUT, w->source->path,
                     "\"maxCPUs\" and \"maxFPGAs\" ask for %lld and %lld devices; expected 1 to %d together",
                     (long long)hosts, (long long)accelerators, SITU_MAX_DEVICES - 1);
  w->n_hosts = (int32_t)hosts;
  w->n_accelerators = (int32_t)accelerators;
  /* A sum of rounded sizes fits exactly when it is at most the floor of the limit. */
  w->accelerator_bytes = bytes > max_bytes ? SITU_UNLIMITED_BYTES : (int64_t)floor(bytes);
  return SITU_STATUS_OK;
}

/* The name of a node: its own, with the id added where it is taken, or the id alone where it has none. */
static situ_status name_node(workload *w, string_map *names, int32_t index) {
  workload_node *node = &w->nodes[index];
  char id[32];
  snprintf(id, sizeof id, "#%lld", (long long)node->id);
  node->name = arena_string(w->scratch, json_text(json_get(node->json, "name"), id));
  if (node->name && !*node->name) node->name = arena_string(w->scratch, id);
  while (node->name) {
    int64_t there = string_map_put(names, node->name, index);
    if (there == index) return SITU_STATUS_OK;
    size_t n = strlen(node->name) + strlen(id) + 1;
    char *longer = there < 0 ? NULL : ARENA_NEW(w->scratch, char, (int64_t)n);
    if (longer) snprintf(longer, n, "%s%s", node->name, id);
    node->name = longer;
  }
  return fail_no_memory(w->error);
}

static situ_status read_node(workload *w, int32_t index, string_map *names) {
  workload_node *node = &w->nodes[index];
  char where[64];
  node->json = json_at(json_get(w->root, "nodes"), (size_t)index);
  node->cost = -1;
  node->tensor = -1;
  node->colocation = -1;
  TRY(read_whole(w, &node->id, node->json, "id", named("the node at position", index, where)));
  named("node", node->id, where);
  TRY(read_time(w, &node->host_ns, node->json, "cpuLatency", where));
  TRY(read_time(w, &node->accelerator_ns, node->json, "fpgaLatency", where));
  TRY(read_bool(w, &node->supported, node->json, "supportedOnFpga", where));
  TRY(read_bool(w, &node->backward, node->json, "isBackwardNode", where));
  double bytes = 0;
  if (json_get(node->json, "size")) TRY(read_number(w, &bytes, node->json, "size", max_bytes, where));
  node->size_bytes = sat_round(bytes);
  node->colored = json_get(node->json, "colorClass") != NULL;
  if (node->colored) TRY(read_whole(w, &node->color, node->json, "colorClass", where));
  return name_node(w, names, index);
}

/* Sorting node numbers by a key; qsort has no context, so pairs carry theirs. */
typedef struct keyed {
  int64_t key;
  int32_t node;
} keyed;

COMPARATOR(by_key, keyed, UP(key) UP(node))

static situ_status index_ids(workload *w, keyed *pairs) {
  for (int32_t i = 0; i < w->n_nodes; i++) pairs[i] = (keyed){w->nodes[i].id, i};
  qsort(pairs, (size_t)w->n_nodes, sizeof *pairs, by_key);
  for (int32_t i = 0; i < w->n_nodes; i++) {
    if (i > 0 && pairs[i].key == pairs[i - 1].key)
      return fail_with(w->error, SITU_STATUS_BAD_INPUT, w->source->path,
                       "two nodes have the id %lld; ids must be unique", (long long)pairs[i].key);
    w->by_id[i] = pairs[i].node;
  }
  return SITU_STATUS_OK;
}

static void number_colors(workload *w, keyed *pairs) {
  int32_t n = 0, color = -1;
  for (int32_t i = 0; i < w->n_nodes; i++)
    if (w->nodes[i].colored) pairs[n++] = (keyed){w->nodes[i].color, i};
  qsort(pairs, (size_t)n, sizeof *pairs, by_key);
  for (int32_t i = 0; i < n; i++) {
    if (i == 0 || pairs[i].key != pairs[i - 1].key) color++;
    w->nodes[pairs[i].node].colocation = color;
  }
}

static situ_status read_nodes(workload *w) {
  const json_value *list = json_get(w->root, "nodes");
  if (json_kind_of(list) != JSON_ARRAY_KIND || json_size(list) == 0 || json_size(list) > SITU_MAX_OPERATORS)
    return bad_field(w, "the file", "nodes", "a list with at least one node");
  w->n_nodes = (int32_t)json_size(list);
  w->nodes = ARENA_ZERO(w->scratch, workload_node, w->n_nodes);
  w->by_id = ARENA_NEW(w->scratch, int32_t, w->n_nodes);
  keyed *pairs = ARENA_NEW(w->scratch, keyed, w->n_nodes);
  string_map *names = string_map_new(w->scratch, w->n_nodes);
  if (!w->nodes || !w->by_id || !pairs || !names) return fail_no_memory(w->error);
  for (int32_t i = 0; i < w->n_nodes; i++) TRY(read_node(w, i, names));
  TRY(index_ids(w, pairs));
  number_colors(w, pairs);
  return SITU_STATUS_OK;
}

static situ_status add_operators(workload *w) {
  for (int32_t i = 0; i < w->n_nodes; i++) {
    const workload_node *node = &w->nodes[i];
    const json_value *layer = json_get(node->json, "layerId");
    char layer_name[64];
    snprintf(layer_name, sizeof layer_name, "layer%lld", (long long)json_int(layer, 0));
    situ_operator op = {.name = node->name,
                        .layer = json_kind_of(layer) == JSON_INT ? layer_name : NULL,
                        .phase = node->backward ? SITU_PHASE_BACKWARD : SITU_PHASE_FORWARD,
                        .weight_bytes = node->size_bytes,
                        .source_id = node->id,
                        .colocation = node->colocation,
                        .inferred = true};
    TRY(builder_add_operator(w->builder, &op, NULL, w->error));
  }
  return SITU_STATUS_OK;
}

/* The number of the node of that id, or -1. */
static int32_t find_node(const workload *w, int64_t id) {
  int32_t low = 0, high = w->n_nodes;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (w->nodes[w->by_id[middle]].id < id)
      low = middle + 1;
    else
      high = middle;
  }
  return low < w->n_nodes && w->nodes[w->by_id[low]].id == id ? w->by_id[low] : -1;
}

static situ_status read_end(workload *w, int32_t *node, const json_value *edge, const char *key, const char *where) {
  int64_t id;
  TRY(read_whole(w, &id, edge, key, where));
  *node = find_node(w, id);
  if (*node < 0)
    return fail_with(w->error, SITU_STATUS_BAD_INPUT, w->source->path,
                     "%s: \"%s\" is %lld, which is not the id of a node", where, key, (long long)id);
  return SITU_STATUS_OK;
}

static situ_status read_edge(workload *w, const json_value *edge, int64_t index) {
  char where[64];
  named("the edge at position", index, where);
  int32_t from, to;
  double cost;
  TRY(read_end(w, &from, edge, "sourceId", where));
  TRY(read_end(w, &to, edge, "destId", where));
  TRY(read_number(w, &cost, edge, "cost", max_units, where));
  workload_node *producer = &w->nodes[from];
  if (from == to)
    return fail_with(w->error, SITU_STATUS_BAD_INPUT, w->source->path, "node %lld has an edge to itself",
                     (long long)producer->id);
  if (producer->backward && !w->nodes[to].backward)
    return fail_with(w->error, SITU_STATUS_BAD_INPUT, w->source->path,
                     "there is an edge from the backward node %lld to the forward node %lld; none is allowed",
                     (long long)producer->id, (long long)w->nodes[to].id);
  if (producer->cost >= 0 && fabs(producer->cost - cost) > cost_tolerance)
    return fail_with(w->error, SITU_STATUS_BAD_INPUT, w->source->path,
                     "the edges of node %lld cost %.9g and %.9g; all edges of a node must cost the same",
                     (long long)producer->id, producer->cost, cost);
  if (producer->cost < 0) {
    producer->cost = cost;
    producer->cost_ns = sat_round(cost * ns_per_unit);
    TRY(builder_add_tensor(w->builder, from, &(situ_tensor){.name = producer->name, .rank = -1}, &producer->tensor,
                           w->error));
  }
  return builder_add_use(w->builder, to, producer->tensor, w->error);
}

static situ_status read_edges(workload *w) {
  const json_value *list = json_get(w->root, "edges");
  if (json_kind_of(list) != JSON_ARRAY_KIND) return bad_field(w, "the file", "edges", "a list");
  for (size_t i = 0; i < json_size(list); i++) TRY(read_edge(w, json_at(list, i), (int64_t)i));
  return SITU_STATUS_OK;
}

/* Hosts that share one memory without limit, accelerators with a memory each, and a link both ways between them. The
 * rates are nominal: times come from the file, and every hop of a tensor costs the time that the file states for its
 * producer. */
static situ_status make_platform(const workload *w, situ_platform **out) {
  int32_t n_hosts = w->n_hosts > 0 ? w->n_hosts : 1, n = n_hosts + w->n_accelerators;
  situ_device *devices = ARENA_ZERO(w->scratch, situ_device, n);
  situ_link *links = ARENA_ZERO(w->scratch, situ_link, 2 * (int64_t)w->n_accelerators);
  char(*names)[16] = arena_alloc(w->scratch, n, sizeof *names);
  if (!devices || !links || !names) return fail_no_memory(w->error);
  for (int32_t d = 0; d < n; d++) {
    bool host = d < n_hosts;
    snprintf(names[d], sizeof names[d], host ? "cpu%d" : "acc%d", (int)(host ? d : d - n_hosts));
    devices[d] = (situ_device){.name = names[d],
                               .class_name = host ? "cpu" : "acc",
                               .peak_flops[SITU_DTYPE_F32] = host ? 1e12 : 1e13,
                               .memory_bytes_per_s = host ? 1e11 : 1e12,
                               .memory_bytes = host ? SITU_UNLIMITED_BYTES : w->accelerator_bytes,
                               .shares_memory_with = host && d > 0 ? 0 : -1,
                               .is_host = host};
  }
  for (int32_t k = 0; k < w->n_accelerators; k++) {
    links[2 * k] = (situ_link){.from_device = 0, .to_device = n_hosts + k, .bytes_per_s = 1e10, .channel = -1};
    links[2 * k + 1] = (situ_link){.from_device = n_hosts + k, .to_device = 0, .bytes_per_s = 1e10, .channel = -1};
  }
  return platform_new(out, "workload", devices, n, links, 2 * w->n_accelerators, w->error);
}

/* Every hop of a tensor takes the time that the file states for its producer. */
static int64_t time_of_hop(int64_t hop_ns, const situ_link *link) { return hop_ns; }

static situ_status make_costs(const workload *w, situ_costs **out, const situ_graph *g, const situ_platform *platform) {
  int64_t *hop_ns = ARENA_NEW(w->scratch, int64_t, g->n_tensors);
  if (!hop_ns) return fail_no_memory(w->error);
  for (int32_t t = 0; t < g->n_tensors; t++) hop_ns[t] = w->nodes[g->built_index[g->producer[t]]].cost_ns;
  TRY(costs_new_with_hops(out, g, platform, hop_ns, time_of_hop, w->error));
  situ_costs *c = *out;
  c->source = arena_string(c->arena, "workload file");
  c->unit_name = arena_string(c->arena, "ms");
  c->unit_ns = (int64_t)ns_per_unit;
  if (!c->source || !c->unit_name || !costs_set_measured(c)) return fail_no_memory(w->error);
  for (int32_t v = 0; v < g->n_operators; v++) {
    const workload_node *node = &w->nodes[g->built_index[v]];
    int64_t *time_ns = c->time_ns + (int64_t)v * c->n_classes;
    for (int32_t k = 0; k < c->n_classes; k++) {
      bool host = platform->devices[platform->class_device[k]].is_host;
      bool runs = host ? w->n_hosts > 0 : node->supported;
      time_ns[k] = !runs ? SITU_NEVER_NS : host ? node->host_ns : node->accelerator_ns;
    }
  }
  return SITU_STATUS_OK;
}

static situ_status read_parts(workload *w, read_result *result) {
  const read_source *s = w->source;
  TRY(json_parse(&w->root, (const char *)s->bytes, s->size_bytes, s->path, w->error));
  if (json_kind_of(w->root) != JSON_OBJECT_KIND)
    return fail_with(w->error, SITU_STATUS_BAD_INPUT, s->path,
                     "is not a workload: expected an object with nodes and edges");
  TRY(read_machine(w));
  TRY(read_nodes(w));
  TRY(situ_graph_builder_new(&w->builder, read_base_name(s->path), w->error));
  TRY(add_operators(w));
  TRY(read_edges(w));
  TRY(situ_graph_freeze(&result->graph, w->builder, w->error));
  TRY(make_platform(w, &result->platform));
  TRY(make_costs(w, &result->costs, result->graph, result->platform));
  if (w->n_hosts == 0) text_add(&result->notes, "the file allows no CPU: cpu0 represents the host and runs nothing\n");
  return SITU_STATUS_OK;
}

static situ_status read_workload(read_result *result, const read_source *source, situ_error *error) {
  workload w = {.source = source, .scratch = arena_new(), .error = error};
  situ_status status = w.scratch ? read_parts(&w, result) : fail_no_memory(error);
  situ_graph_builder_free(w.builder);
  json_free(w.root);
  arena_free(w.scratch);
  return status;
}

/* Whether `word` occurs in the first few bytes. */
static bool shows(const read_source *source, const char *word) {
  size_t n = source->size_bytes < 4096 ? source->size_bytes : 4096, length = strlen(word);
  for (size_t i = 0; i + length <= n; i++)
    if (memcmp(source->bytes + i, word, length) == 0) return true;
  return false;
}

static int recognise_workload(const read_source *source) {
  size_t i = 0;
  while (i < source->size_bytes && i < 4096 && strchr(" \t\r\n", source->bytes[i]) && source->bytes[i]) i++;
  if (i >= source->size_bytes || source->bytes[i] != '{') return -1;
  if (shows(source, "\"fpgaLatency\"") || shows(source, "\"maxFPGAs\"") || shows(source, "\"maxSizePerFPGA\""))
    return 2;
  return shows(source, "\"sourceId\"") ? 1 : shows(source, "\"nodes\"") ? 0 : -1;
}

const reader workload_reader = {.name = "workload",
                                .title = "workload JSON of the device placement benchmarks of NeurIPS 2020",
                                .suffixes = ".json",
                                .recognise = recognise_workload,
                                .read = read_workload};
