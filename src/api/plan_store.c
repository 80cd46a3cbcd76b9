/* Plan files: what plan/ says about a plan, joined by where its problem came from. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/instance.h"
#include "base/fail.h"
#include "base/file.h"
#include "plan/plan.h"

static const char *hash_text(char into[24], uint64_t hash) {
  snprintf(into, 24, "%016" PRIx64, hash);
  return into;
}

static json_value *dims_json(const situ_read_options *read) {
  json_value *o = json_new_object();
  bool ok = o != NULL;
  for (int32_t i = 0; ok && i < read->n_dims; i++)
    ok = json_set(o, read->dims[i].name, json_new_whole(read->dims[i].value));
  if (ok) return o;
  json_free(o);
  return NULL;
}

static json_value *costs_json(const situ_instance *i) {
  const situ_cost_options *c = &i->options.cost;
  json_value *o = json_new_object();
  bool ok = o && json_set(o, "source", json_new_text(i->costs->source));
  if (c->model) ok = ok && json_set(o, "model", json_new_text(c->model));
  if (c->efficiency > 0) ok = ok && json_set(o, "efficiency", json_new_number(c->efficiency));
  if (c->table_path) ok = ok && json_set(o, "table", json_new_text(c->table_path));
  if (ok) return o;
  json_free(o);
  return NULL;
}

static bool constraints_json(json_value *o, const situ_instance *i) {
  const situ_problem *p = i->problem;
  bool ok = true;
  if (i->pins) {
    json_value *pins = json_new_object();
    for (int32_t v = 0; ok && v < p->n_operators; v++)
      if (i->pins[v] >= 0) ok = json_set(pins, p->graph->name[v], json_new_text(p->platform->devices[i->pins[v]].name));
    ok = json_set(o, "pins", pins) && ok;
  }
  if (i->unused) {
    json_value *unused = json_new_array();
    for (int32_t d = 0; ok && d < p->n_devices; d++)
      if (i->unused[d]) ok = json_push(unused, json_new_text(p->platform->devices[d].name));
    ok = json_set(o, "unused", unused) && ok;
  }
  return ok;
}

/* The member "instance" of a plan file (docs/formats/plan.md), or NULL without memory. */
static json_value *instance_to_json(const situ_instance *i) {
  const situ_problem *p = i->problem;
  char hash[24];
  json_value *o = json_new_object();
  bool ok = o && json_set(o, "model", json_new_text(i->options.model));
  ok = ok && json_set(o, "model_hash", json_new_text(hash_text(hash, i->model->hash)));
  ok = ok && json_set(o, "reader", json_new_text(i->model->reader));
  ok = ok && json_set(o, "dims", dims_json(&i->options.read));
  ok = ok &&
       json_set(o, "default_dim", json_new_whole(i->options.read.default_dim > 0 ? i->options.read.default_dim : 1));
  if (i->options.read.training) ok = ok && json_set(o, "training", json_new_truth(true));
  const char *named = i->options.platform ? i->options.platform : i->own_platform ? SITU_DEFAULT_PLATFORM : NULL;
  ok = ok && json_set(o, "platform", named ? json_new_text(named) : json_new_null());
  ok = ok && json_set(o, "platform_hash", json_new_text(hash_text(hash, platform_hash(i->platform))));
  ok = ok && json_set(o, "costs", costs_json(i));
  ok = ok && json_set(o, "objective", json_new_text(situ_objective_name(p->objective)));
  ok = ok && json_set(o, "execution", json_new_text(situ_execution_name(p->execution)));
  ok = ok && json_set(o, "contention", json_new_text(situ_contention_name(p->contention)));
  ok = ok && json_set(o, "communication", json_new_text(situ_communication_name(p->communication)));
  ok = ok && json_set(o, "contiguous", json_new_truth(p->contiguous));
  ok = ok && json_set(o, "overlap", json_new_truth(p->overlap));
  ok = ok && json_set(o, "schedule", json_new_text(situ_schedule_name(p->schedule)));
  ok = ok && json_set(o, "replicate", json_new_truth(p->replicate));
  ok = ok && json_set(o, "in_flight", json_new_whole(p->in_flight));
  if (p->n_copies > 1) ok = ok && json_set(o, "copies", json_new_whole(p->n_copies));
  if (p->max_calls < INT32_MAX) ok = ok && json_set(o, "max_calls", json_new_whole(p->max_calls));
  if (p->max_period_ns < SITU_NEVER_NS) ok = ok && json_set(o, "max_period_ns", json_new_whole(p->max_period_ns));
  if (p->max_latency_ns < SITU_NEVER_NS) ok = ok && json_set(o, "max_latency_ns", json_new_whole(p->max_latency_ns));
  ok = ok && constraints_json(o, i);
  if (ok) return o;
  json_free(o);
  return NULL;
}

situ_status situ_plan_write(const situ_plan *plan, const situ_instance *instance, const char *path, situ_error *error) {
  json_value *root = plan_to_json(plan, instance->problem);
  char *text = root && json_set(root, "instance", instance_to_json(instance)) ? json_print(root, 1) : NULL;
  json_free(root);
  if (!text) return fail_no_memory(error);
  size_t n = strlen(text);
  text[n] = '\n'; /* in the place of its end: a file is no string */
  situ_status status = file_write(path, text, n + 1, error);
  free(text);
  return status;
}

/* The path as it is when that exists from here, else from the folder of the plan file. */
static const char *nearby(arena *a, const char *path, const char *plan_path) {
  if (!path || path[0] == '/' || strchr(path, ':') || file_exists(path)) return path;
  const char *folder = file_folder(a, plan_path);
  size_t n = folder ? strlen(folder) + strlen(path) + 1 : 0;
  char *joined = n ? arena_alloc(a, (int64_t)n, 1) : NULL;
  if (!joined) return path;
  snprintf(joined, n, "%s%s", folder, path);
  return file_exists(joined) ? joined : path;
}

/* The number whose name `text` is; -1 for none. `first` is the number of the first name. */
static int named(const json_value *v, const char *(*name)(int), int first, int last) {
  const char *text = json_text(v, "");
  for (int i = first; i <= last; i++)
    if (strcmp(text, name(i)) == 0) return i;
  return -1;
}
static const char *objective_name(int i) { return situ_objective_name((situ_objective)i); }
static const char *execution_name(int i) { return situ_execution_name((situ_execution)i); }
static const char *contention_name(int i) { return situ_contention_name((situ_contention)i); }
static const char *schedule_name(int i) { return situ_schedule_name((situ_schedule)i); }
static const char *communication_name(int i) { return situ_communication_name((situ_communication)i); }

static situ_status problem_options(situ_problem_options *o, const json_value *m, const char *path, situ_error *error) {
  int objective = named(json_get(m, "objective"), objective_name, SITU_OBJECTIVE_LATENCY, SITU_OBJECTIVE_THROUGHPUT);
  int execution = named(json_get(m, "execution"), execution_name, 1, 3);
  int contention = json_get(m, "contention") ? named(json_get(m, "contention"), contention_name, 0, 1) : 0;
  int communication = json_get(m, "communication") ? named(json_get(m, "communication"), communication_name, 1, 2) : 0;
  int schedule = json_get(m, "schedule") ? named(json_get(m, "schedule"), schedule_name, 0, 1) : 0;
  if (objective < 0 || execution < 0 || contention < 0 || communication < 0 || schedule < 0)
    return fail_with(error, SITU_STATUS_BAD_INPUT, path,
                     "instance: objective, execution, contention, communication or schedule has a value that is none");
  o->objective = (situ_objective)objective;
  o->execution = (situ_execution)execution;
  o->contention = (situ_contention)contention;
  o->communication = (situ_communication)communication;
  o->free = !json_truth(json_get(m, "contiguous"), true);
  o->schedule = (situ_schedule)schedule;
  o->replicate = json_truth(json_get(m, "replicate"), false);
  o->overlap = json_truth(json_get(m, "overlap"), false);
  int64_t copies = json_whole(json_get(m, "copies"), 1);
  o->copies = copies > 0 && copies < INT32_MAX ? (int32_t)copies : 1;
  int64_t max_calls = json_whole(json_get(m, "max_calls"), 0);
  o->max_calls = max_calls > 0 && max_calls < INT32_MAX ? (int32_t)max_calls : 0;
  o->max_period_ns = json_whole(json_get(m, "max_period_ns"), 0);
  o->max_latency_ns = json_whole(json_get(m, "max_latency_ns"), 0);
  int64_t in_flight = json_whole(json_get(m, "in_flight"), 1);
  o->in_flight = in_flight > 0 && in_flight < INT32_MAX ? (int32_t)in_flight : 1;
  return SITU_STATUS_OK;
}

static situ_status read_dims(situ_read_options *read, arena *a, const json_value *m, situ_error *error) {
  const json_value *given = json_get(m, "dims");
  size_t n = json_kind_of(given) == JSON_OBJECT_KIND ? json_size(given) : 0;
  situ_dim *dims = ARENA_NEW(a, situ_dim, (int64_t)n + 1);
  if (!dims) return fail_no_memory(error);
  json_member at = {0};
  while (n > 0 && (size_t)read->n_dims < n && json_next(given, &at))
    dims[read->n_dims++] = (situ_dim){at.key, json_whole(at.value, 0)};
  read->dims = dims;
  read->default_dim = json_whole(json_get(m, "default_dim"), 1);
  read->training = json_truth(json_get(m, "training"), false);
  return SITU_STATUS_OK;
}

static situ_status read_unused_names(situ_instance_options *o, arena *a, const json_value *m, situ_error *error) {
  const json_value *list = json_get(m, "unused");
  size_t n = json_kind_of(list) == JSON_ARRAY_KIND ? json_size(list) : 0;
  const char **names = ARENA_NEW(a, const char *, (int64_t)n + 1);
  if (!names || n > SITU_MAX_DEVICES) return names ? SITU_STATUS_OK : fail_no_memory(error);
  for (size_t i = 0; i < n; i++) names[o->n_unused++] = json_text(json_at(list, i), "");
  o->unused = names;
  return SITU_STATUS_OK;
}

/* Poses the problem of an open instance again, with the pins of the plan file. */
static situ_status pose_with_pins(situ_instance *i, const json_value *pins, const char *path, situ_error *error) {
  const situ_graph *graph = i->graph;
  int32_t n = situ_graph_n_operators(graph);
  i->pins = ARENA_NEW(i->arena, int32_t, n);
  if (!i->pins) return fail_no_memory(error);
  for (int32_t v = 0; v < n; v++) i->pins[v] = -1;
  json_member at = {0};
  while (json_next(pins, &at)) {
    int32_t v = situ_graph_find(graph, at.key), d = situ_platform_find(i->platform, json_text(at.value, ""));
    if (v < 0 || d < 0)
      return fail_with(error, SITU_STATUS_BAD_INPUT, path, "instance.pins: %s on %s: no such operator or device",
                       at.key, json_text(at.value, "?"));
    i->pins[v] = d;
  }
  situ_problem_free(i->problem);
  i->problem = NULL;
  situ_problem_options posed = i->options.problem;
  posed.pins = i->pins;
  posed.unused = i->unused;
  return situ_problem_pose(&i->problem, graph, i->platform, i->costs, &posed, error);
}

static situ_status same_hash(const json_value *m, const char *key, uint64_t now, const char *what, const char *name,
                             const char *path, situ_error *error) {
  char text[24];
  const char *then = json_text(json_get(m, key), NULL);
  if (!then || strcmp(then, hash_text(text, now)) == 0) return SITU_STATUS_OK;
  return fail_with(error, SITU_STATUS_BAD_INPUT, path, "the %s %s has changed since this plan was made", what, name);
}

static situ_status reopen(situ_instance **out, arena *a, const json_value *m, const char *path, situ_error *error) {
  situ_instance_options o = {0};
  o.model = nearby(a, json_text(json_get(m, "model"), NULL), path);
  if (!o.model)
    return fail_with(error, SITU_STATUS_BAD_INPUT, path, "is no plan of situ: instance.model, a text, was expected");
  o.read.reader = json_text(json_get(m, "reader"), NULL);
  o.platform = nearby(a, json_text(json_get(m, "platform"), NULL), path);
  const json_value *costs = json_get(m, "costs");
  o.cost.model = json_text(json_get(costs, "model"), NULL);
  o.cost.efficiency = json_number(json_get(costs, "efficiency"), 0);
  o.cost.table_path = nearby(a, json_text(json_get(costs, "table"), NULL), path);
  TRY(problem_options(&o.problem, m, path, error));
  TRY(read_dims(&o.read, a, m, error));
  TRY(read_unused_names(&o, a, m, error));
  TRY(situ_instance_open(out, &o, error));
  situ_instance *i = *out;
  TRY(same_hash(m, "model_hash", i->model->hash, "model", o.model, path, error));
  TRY(same_hash(m, "platform_hash", platform_hash(i->platform), "platform", situ_platform_name(i->platform), path,
                error));
  const json_value *pins = json_get(m, "pins");
  return json_kind_of(pins) == JSON_OBJECT_KIND ? pose_with_pins(i, pins, path, error) : SITU_STATUS_OK;
}

/* Opens an instance again from that member. `path` is the plan file, for messages and relative paths. */
static situ_status instance_from_json(situ_instance **out, const json_value *member, const char *path,
                                      situ_error *error) {
  *out = NULL;
  arena *a = arena_new();
  if (!a) return fail_no_memory(error);
  situ_status status = reopen(out, a, member, path, error);
  if (status == SITU_STATUS_BAD_ARGUMENT) /* what a file says is input, not an argument of the caller */
    status = error ? (error->status = SITU_STATUS_BAD_INPUT) : SITU_STATUS_BAD_INPUT;
  if (status != SITU_STATUS_OK) {
    situ_instance_free(*out);
    *out = NULL;
  }
  arena_free(a);
  return status;
}

situ_status situ_plan_read(situ_plan **out, situ_instance **instance, const char *path, situ_error *error) {
  *out = NULL;
  *instance = NULL;
  json_value *root = NULL;
  TRY(json_read(&root, path, error));
  situ_status status = instance_from_json(instance, json_get(root, "instance"), path, error);
  if (status == SITU_STATUS_OK) status = plan_from_json(out, (*instance)->problem, root, path, error);
  json_free(root);
  if (status != SITU_STATUS_OK) {
    situ_instance_free(*instance);
    *instance = NULL;
  }
  return status;
}
