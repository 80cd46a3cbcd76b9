/* The cost table of a profile: docs/formats/costs.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/json.h"
#include "engine/measure.h"
#include "engine/profile_class.h"
#include "graph/graph.h"
#include "platform/host_machine.h"
#include "read/reader.h"

/* Adds the kernel of `head` with all its operators. Takes ownership of `times`. */
static bool push_group(json_value *groups, const situ_profile *p, int32_t head, json_value *times) {
  json_value *group = json_new_object(), *names = json_new_array();
  bool ok = json_push(groups, group) && names;
  for (int32_t v = head; ok && v >= 0; v = p->next[v]) ok = json_push(names, json_new_text(p->model->graph->name[v]));
  ok = json_set(group, "operators", names) && ok;
  return json_set(group, "times", times) && ok;
}

/* A list of one object. Takes ownership of it. */
static json_value *list_of(json_value *only, bool ok) {
  json_value *list = json_new_array();
  if (json_push(list, only) && ok) return list;
  json_free(list);
  return NULL;
}

/* The link between devices of the class: the tensor is in shared memory, and reading it counts to the part. */
static json_value *link_list(const situ_profile *p, const char *device_class) {
  static const double SHARED_BYTES_PER_S = 1e12;
  json_value *link = json_new_object();
  bool ok = json_set(link, "from", json_new_text(device_class)) && json_set(link, "to", json_new_text(device_class)) &&
            json_set(link, "latency", json_new_int(p->cut.handover_ns)) &&
            json_set(link, "bytes_per_s", json_new_number(SHARED_BYTES_PER_S));
  return list_of(link, ok);
}

static json_value *part_list(const situ_profile *p, const char *device_class) {
  json_value *part = json_new_object();
  bool ok =
      json_set(part, "class", json_new_text(device_class)) && json_set(part, "start", json_new_int(p->cut.start_ns));
  ok = json_set(part, "dispatch", json_new_int(p->cut.dispatch_ns)) && ok;
  if (p->cut.bytes_per_s > 0) ok = json_set(part, "bytes_per_s", json_new_number(p->cut.bytes_per_s)) && ok;
  return list_of(part, ok);
}

/* What was measured: the machine by its CPU, and the device by the engine's name for it. */
static json_value *measured_list(const situ_profile *p, const char *device_class) {
  char machine[HOST_MACHINE_BYTES];
  json_value *row = json_new_object();
  bool ok = json_set(row, "class", json_new_text(device_class));
  if (host_machine_find(machine, "")) ok = json_set(row, "machine", json_new_text(machine)) && ok;
  ok = json_set(row, "device", json_new_text(p->device)) && ok;
  if (p->threads > 0) ok = json_set(row, "threads", json_new_int(p->threads)) && ok;
  return list_of(row, ok);
}

/* The workspaces that are not 0; NULL without memory. */
static json_value *workspaces(const situ_profile *p) {
  json_value *sizes = json_new_object();
  bool ok = sizes;
  for (int32_t v = 0; ok && v < p->model->graph->n_operators; v++)
    if (p->workspace_bytes[v] > 0) ok = json_set(sizes, p->model->graph->name[v], json_new_int(p->workspace_bytes[v]));
  if (ok) return sizes;
  json_free(sizes);
  return NULL;
}

/* The time of operator v, or those of each kind of step. */
static json_value *time_of(const situ_profile *p, int32_t v) {
  if (!p->step_ns[0] && !p->step_ns[1]) return json_new_int(p->time_ns[v]);
  json_value *steps = json_new_object();
  bool ok = steps;
  for (int k = 1; k >= 0; k--)
    if (p->step_ns[k]) ok = ok && json_set(steps, k ? "prefill" : "decode", json_new_int(p->step_ns[k][v]));
  if (ok) return steps;
  json_free(steps);
  return NULL;
}

static json_value *cost_table(const situ_profile *p, const char *device_class) {
  const situ_graph *g = p->model->graph;
  char source[256];
  int n = snprintf(source, sizeof source, "%s, median of %d runs", p->engine, (int)p->n_runs);
  if (p->threads > 0)
    snprintf(source + n, sizeof source - (size_t)n, ", %d thread%s, level %d", (int)p->threads,
             p->threads == 1 ? "" : "s", (int)p->level);
  json_value *root = json_new_object(), *classes = json_new_array(), *operators = json_new_object();
  bool ok = root && json_set(root, "situ_costs", json_new_int(1)) && json_set(root, "unit", json_new_text("ns")) &&
            json_set(root, "source", json_new_text(source));
  ok = json_push(classes, json_new_text(device_class)) && ok;
  ok = json_set(root, "classes", classes) && ok;
  json_value *groups = json_new_array();
  for (int32_t v = 0; ok && v < g->n_operators; v++) {
    json_value *times = json_new_object();
    ok = json_set(times, device_class, time_of(p, v));
    if (p->kernel[v] != v)
      json_free(times);
    else if (p->next[v] < 0)
      ok = json_set(operators, g->name[v], times) && ok;
    else
      ok = push_group(groups, p, v, times) && ok;
  }
  ok = json_set(root, "groups", groups) && ok;
  ok = json_set(root, "operators", operators) && ok;
  if (p->cut.n_cuts > 0)
    ok = json_set(root, "links", link_list(p, device_class)) && json_set(root, "parts", part_list(p, device_class)) &&
         ok;
  if (p->device) ok = ok && json_set(root, "measured", measured_list(p, device_class));
  if (p->workspace_bytes) ok = ok && json_set(root, "workspace_bytes", workspaces(p));
  if (ok) return root;
  json_free(root);
  return NULL;
}

situ_status situ_profile_write(const situ_profile *profile, const char *device_class, const char *path,
                               situ_error *error) {
  char own[PROFILE_CLASS_BYTES];
  TRY(GIVEN(error, profile, path));
  if (!device_class) {
    bool gpu = strstr(profile->engine, "TensorRT"); /* a profile made elsewhere, which does not say of which */
    TRY(profile_class_find(own, profile->device ? profile->device : gpu ? "TensorRT" : NULL, error));
    device_class = own;
  }
  json_value *root = cost_table(profile, device_class);
  char *text = root ? json_print(root, 1) : NULL;
  json_free(root);
  if (!text) return fail_no_memory(error);
  situ_status status = file_write(path, text, strlen(text), error);
  free(text);
  return status;
}
