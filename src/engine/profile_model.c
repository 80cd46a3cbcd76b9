/* Measures the operator times of a model. */
#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "base/checked.h"
#include "engine/cutting.h"
#include "engine/foreign.h"
#include "engine/node_memory.h"
#include "engine/profile.h"
#include "engine/profile_served.h"
#include "read/reader.h"
#include "split/plan_parts.h"

enum { MIN_RUNS = 3 };

/* Runs inputs one by one; whole_ns[i] are the times of those after the warm-up. */
static situ_status run_all(measuring *m, executor *x, const char *phase, int64_t *whole_ns, int32_t *n,
                           situ_error *error) {
  int64_t latency_ns;
  run_times part;
  *n = 0;
  m->total = m->options.warm_up + m->options.items;
  m->phase = phase;
  for (m->done = 0; m->done < m->total; m->done++) {
    TRY(executor_latency(x, &latency_ns, &part, error));
    if (m->done < m->options.warm_up) continue;
    whole_ns[(*n)++] = part.finish_ns - part.start_ns;
    if (*n >= MIN_RUNS && measure_is_late(m)) break;
  }
  return SITU_STATUS_OK;
}

/* A node that the reader folded but the engine runs (because of unknown shapes) runs on the device of its producer or
 * consumer: its time counts to that operator. */
static situ_status move_folded(int64_t *node_ns, const situ_profile *p, const model_file *file, situ_error *error) {
  const situ_graph *g = p->model->graph;
  int32_t *leader = ARENA_NEW(p->arena, int32_t, file->n_nodes);
  if (!leader) return fail_no_memory(error);
  for (int32_t v = 0; v < file->n_nodes; v++) leader[v] = -1;
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t node = model_file_node(file, g->source_id[v]);
    if (!plan_parts_folded(g, v)) leader[node] = node;
  }
  TRY(model_devices_fill(leader, file, error));
  for (int32_t v = 0; v < file->n_nodes; v++) {
    if (leader[v] == v) continue;
    node_ns[leader[v]] = sat_add(node_ns[leader[v]], node_ns[v]);
    node_ns[v] = 0;
  }
  return SITU_STATUS_OK;
}

/* Groups operators by kernel: one without a kernel of its own is in that of its last producer. Such groups are convex:
 * along every edge of the graph kernels are in the order of their first nodes. */
static situ_status find_kernels(situ_profile *p, const bool *seen, const model_parts *parts, situ_error *error) {
  const situ_graph *g = p->model->graph;
  const model_file *f = parts->file;
  int32_t *rank = NULL, *head = NULL, *op = NULL; /* [node]; head: the node whose kernel it is in, -1: none */
  if (!ARENA_ARRAYS(p->arena, ARRAY(rank, f->n_nodes), ARRAY(head, f->n_nodes), ARRAY(op, f->n_nodes),
                    ARRAY(p->kernel, g->n_operators), ARRAY(p->next, g->n_operators)))
    return fail_no_memory(error);
  for (int32_t v = 0; v < f->n_nodes; v++) op[v] = -1;
  for (int32_t v = 0; v < g->n_operators; v++)
    if (!plan_parts_folded(g, v)) op[model_file_node(f, g->source_id[v])] = v;
  for (int32_t i = 0; i < f->n_nodes; i++) {
    int32_t v = parts->order[i];
    rank[v] = i;
    head[v] = seen[v] && op[v] >= 0 ? v : -1;
    for (int32_t k = f->reads.start[v]; k < f->reads.start[v + 1] && head[v] != v; k++) {
      int32_t maker = f->values[f->reads.item[k]].maker, of = maker < 0 ? -1 : head[maker];
      if (of >= 0 && (head[v] < 0 || rank[of] > rank[head[v]])) head[v] = of;
    }
  }
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t node = model_file_node(f, g->source_id[v]);
    p->kernel[v] = op[node] >= 0 && parts->part_of[node] >= 0 && head[node] >= 0 ? op[head[node]] : v;
    p->next[v] = -1;
  }
  for (int32_t v = g->n_operators - 1; v >= 0; v--) {
    int32_t first = p->kernel[v];
    if (first == v) continue;
    p->next[v] = p->next[first];
    p->next[first] = v;
  }
  return SITU_STATUS_OK;
}

/* The times of kernels as times of operators, scaled so that their sum is that of the whole. */
static situ_status take_times(situ_profile *p, node_times *times, const model_parts *parts, situ_error *error) {
  const situ_graph *g = p->model->graph;
  const model_file *file = parts->file;
  int64_t sum_ns = 0;
  for (int32_t v = 0; v < file->n_nodes; v++) sum_ns = sat_add(sum_ns, times->median_ns[v]);
  double scale = sum_ns > 0 ? (double)p->whole_ns / (double)sum_ns : 1;
  if (!ARENA_ARRAYS(p->arena, ZEROS(p->time_ns, g->n_operators), ZEROS(p->spread, g->n_operators)))
    return fail_no_memory(error);
  p->kernels_ns = times->total_ns;
  for (int32_t v = 0; v < g->n_operators; v++)
    if (model_file_node(file, g->source_id[v]) < 0)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, g->name[v], "is not a node of the file");
  TRY(move_folded(times->median_ns, p, file, error));
  TRY(find_kernels(p, times->seen, parts, error));
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t node = model_file_node(file, g->source_id[v]);
    p->time_ns[v] = sat_round((double)times->median_ns[node] * scale);
    p->spread[v] = times->spread[node];
    p->n_timed += times->seen[node];
  }
  for (int32_t v = 0; v < g->n_operators; v++) { /* the time that move_folded gave an operator without a kernel */
    if (p->kernel[v] == v) continue;
    p->time_ns[p->kernel[v]] = sat_add(p->time_ns[p->kernel[v]], p->time_ns[v]);
    p->time_ns[v] = 0;
  }
  return SITU_STATUS_OK;
}

/* Profiles count whole microseconds: a kernel with 0 took about half of one. */
static void raise_times(node_times *times, int32_t n_nodes) {
  enum { HALF_NS = 500 };
  for (int32_t v = 0; v < n_nodes; v++)
    if (times->seen[v] && times->median_ns[v] < HALF_NS) times->median_ns[v] = HALF_NS;
}

static situ_status measure_file(situ_profile *p, measuring *m, const model_parts *parts, situ_error *error) {
  executor *plain = NULL, *profiled = NULL;
  const char *path;
  int32_t n_first = -1;
  node_times times;
  json_value *events = NULL;
  int64_t *whole_ns = ARENA_NEW(p->arena, int64_t, m->options.items);
  if (!whole_ns) return fail_no_memory(error);
  situ_status status = executor_start(&plain, parts, &m->executor, error);
  m->executor.named = m->executor.profile = true;
  if (status == SITU_STATUS_OK) status = executor_start(&profiled, parts, &m->executor, error);
  if (status == SITU_STATUS_OK) status = run_all(m, profiled, "with a profile", whole_ns, &p->n_runs, error);
  if (status == SITU_STATUS_OK) status = executor_profile(profiled, &path, &n_first, error);
  if (status == SITU_STATUS_OK) status = run_all(m, plain, "without a profile", whole_ns, &p->n_runs, error);
  if (status == SITU_STATUS_OK) status = json_read(&events, path, error);
  if (status == SITU_STATUS_OK)
    status = profile_read(&times, events, parts, n_first < 0 ? m->options.warm_up + 1 : n_first, true, p->arena, error);
  p->whole_ns = median_of(whole_ns, p->n_runs, &p->whole_half_ns);
  if (status == SITU_STATUS_OK) raise_times(&times, parts->file->n_nodes);
  if (status == SITU_STATUS_OK) status = take_times(p, &times, parts, error);
  if (status == SITU_STATUS_OK)
    status = cutting_measure(&p->cut, m, plain, p->model->graph, p->kernel, p->time_ns, error);
  json_free(events);
  executor_stop(plain);
  executor_stop(profiled);
  return status;
}

/* Reads an existing profile: its first run is the warm-up, and only it gives the time of the whole. */
static situ_status read_file(situ_profile *p, const char *path, const model_file *file, const model_parts *parts,
                             situ_error *error) {
  foreign_profile from;
  node_times times;
  situ_status status = foreign_read(&from, path, parts, error);
  if (status == SITU_STATUS_OK)
    status = profile_read(&times, from.events, parts, from.n_first, from.named, p->arena, error);
  json_free(from.events);
  TRY(status);
  p->n_runs = times.n_runs;
  for (int32_t v = 0; v < file->n_nodes; v++) p->whole_ns = sat_add(p->whole_ns, times.median_ns[v]);
  snprintf(p->engine, sizeof p->engine, "%s", from.title);
  return take_times(p, &times, parts, error);
}

/* The scratch memory of kernels, for the operator that has the time of the kernel. */
static situ_status take_memory(situ_profile *p, const char *path, const model_file *file, situ_error *error) {
  const situ_graph *g = p->model->graph;
  node_memory found;
  TRY(node_memory_read(&found, path, file, p->arena, error));
  p->n_memory_rows = found.n_rows;
  p->n_memory_named = found.n_named;
  if (!(p->workspace_bytes = ARENA_ZERO(p->arena, int64_t, g->n_operators))) return fail_no_memory(error);
  for (int32_t v = 0; v < g->n_operators; v++) {
    int64_t *head = &p->workspace_bytes[p->kernel[v]];
    *head = max64(*head, found.workspace_bytes[model_file_node(file, g->source_id[v])]);
  }
  return SITU_STATUS_OK;
}

static situ_status profile_into(situ_profile *p, const char *model, const char *from, const measure_options *given,
                                situ_error *error) {
  measuring m;
  model_file *file = NULL;
  model_parts *parts = NULL;
  char version[MEASURE_NAME_BYTES];
  TRY(measure_options_take(&m, given, error));
  if (!from) TRY(engine_find(&m.executor.engine, m.options.engine, NULL, error)); /* before any file is read */
  TRY(situ_model_read(&p->model, model, &m.read, error));
  if (!from && strcmp(p->model->reader, "gguf") == 0) {
    if (given->items == 0) m.options.items = 0; /* it has a default of its own */
    return profile_served(p, model, &m, error);
  }
  TRY(model_format_need(p->model->reader, model, error));
  if (m.read.training)
    return fail_with(error, SITU_STATUS_UNSUPPORTED, model,
                     "is requested as a training step; only forward passes can be profiled");
  if (!from) {
    TRY(measure_begin(&m, given, NULL, model, p->arena, error));
    TRY(read_take_assumed(&m.read, p->model, p->arena, error));
    TRY(measure_version(version, &m, error));
    snprintf(p->engine, sizeof p->engine, "%s %s", m.executor.engine->name, version);
    p->threads = m.options.threads;
    if (!(p->device = arena_string(p->arena, m.options.device ? m.options.device : "CPU")))
      return fail_no_memory(error);
    p->level = m.executor.level;
  }
  situ_status status = model_file_open(&file, model, error);
  if (status == SITU_STATUS_OK && file->made_up && !from && !(p->made_up = arena_string(p->arena, file->made_up)))
    status = fail_no_memory(error);
  if (status == SITU_STATUS_OK) status = plan_parts_find(&parts, file, p->model->graph, NULL, error);
  if (status == SITU_STATUS_OK)
    status = from ? read_file(p, from, file, parts, error) : measure_file(p, &m, parts, error);
  if (status == SITU_STATUS_OK && m.options.memory) status = take_memory(p, m.options.memory, file, error);
  model_parts_free(parts);
  model_file_free(file);
  return status;
}

static situ_status profile_new(situ_profile **out, const char *model, const char *from, const measure_options *options,
                               situ_error *error) {
  situ_profile *p = NOUN_NEW(situ_profile, NULL);
  if (!p) return fail_no_memory(error);
  HAND_OUT(out, p, profile_into(p, model, from, options, error), situ_profile_free);
}

situ_status situ_profile_model(situ_profile **out, const char *model, const situ_profile_options *options,
                               situ_error *error) {
  measure_options own;
  if (out) *out = NULL;
  TRY(GIVEN(error, out, model));
  TRY(measure_take_profile(&own, options, error));
  return profile_new(out, model, NULL, &own, error);
}

situ_status situ_profile_read(situ_profile **out, const char *model, const char *path,
                              const situ_profile_options *options, situ_error *error) {
  measure_options own;
  if (out) *out = NULL;
  TRY(GIVEN(error, out, model, path));
  TRY(measure_take_profile(&own, options, error));
  return profile_new(out, model, path, &own, error);
}

void situ_profile_free(situ_profile *profile) {
  if (!profile) return;
  situ_model_free(profile->model);
  arena_free(profile->arena);
}

int64_t situ_profile_time_ns(const situ_profile *p, int32_t op) {
  return p && op >= 0 && op < p->model->graph->n_operators ? p->time_ns[op] : 0;
}

bool situ_profile_get_summary(const situ_profile *p, situ_profile_summary *out) {
  if (!p) return false;
  situ_profile_summary summary = {.whole_ns = p->whole_ns, .half_ns = p->whole_half_ns};
  return GIVE(out, summary);
}
