/* The cost table of a profile: docs/formats/costs.md. */
#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "base/fail.h"
#include "base/json.h"
#include "engine/measure.h"
#include "engine/profile_class.h"
#include "graph/graph.h"
#include "platform/host_machine.h"
#include "read/reader.h"

/* Adds the kernel of `head` with all its operators. Takes ownership of `times`. */
static bool push_group(json_value *groups, const situ_profile *p, int32_t head, json_value *times) {
  json_value *names = json_new_array();
  bool ok = names;
  for (int32_t v = head; ok && v >= 0; v = p->next[v]) ok = json_push(names, json_new_text(p->model->graph->name[v]));
  return json_push(groups, JSON_OBJECT({"operators", names}, {"times", times})) && ok;
}

/* The link between devices of the class: the tensor is in shared memory, and reading it counts to the part. */
static json_value *link_list(const situ_profile *p, const char *device_class) {
  static const double SHARED_BYTES_PER_S = 1e12;
  return JSON_ARRAY(JSON_OBJECT({"from", json_new_text(device_class)}, {"to", json_new_text(device_class)},
                                {"latency", json_new_int(p->cut.handover_ns)},
                                {"bytes_per_s", json_new_number(SHARED_BYTES_PER_S)}));
}

static json_value *part_list(const situ_profile *p, const char *device_class) {
  double rate = p->cut.bytes_per_s;
  return JSON_ARRAY(JSON_OBJECT({"class", json_new_text(device_class)}, {"start", json_new_int(p->cut.start_ns)},
                                {"dispatch", json_new_int(p->cut.dispatch_ns)},
                                {"bytes_per_s", rate > 0 ? json_new_number(rate) : JSON_ABSENT}));
}

/* What was measured: the machine by its CPU, and the device by the engine's name for it. */
static json_value *measured_list(const situ_profile *p, const char *device_class) {
  char machine[HOST_MACHINE_BYTES];
  bool known = host_machine_find(machine, "");
  return JSON_ARRAY(JSON_OBJECT(
      {"class", json_new_text(device_class)}, {"machine", known ? json_new_text(machine) : JSON_ABSENT},
      {"device", json_new_text(p->device)}, {"threads", p->threads > 0 ? json_new_int(p->threads) : JSON_ABSENT}));
}

/* The workspaces that are not 0; NULL without memory. */
static json_value *workspaces(const situ_profile *p) {
  json_value *sizes = json_new_object();
  bool ok = sizes;
  for (int32_t v = 0; ok && v < p->model->graph->n_operators; v++)
    if (p->workspace_bytes[v] > 0) ok = json_set(sizes, p->model->graph->name[v], json_new_int(p->workspace_bytes[v]));
  return json_if(ok, sizes);
}

/* The time of operator v, or those of each kind of step. */
static json_value *time_of(const situ_profile *p, int32_t v) {
  if (!p->step_ns[0] && !p->step_ns[1]) return json_new_int(p->time_ns[v]);
  json_value *steps = json_new_object();
  bool ok = steps;
  for (int k = 1; k >= 0; k--)
    if (p->step_ns[k]) ok = ok && json_set(steps, k ? "prefill" : "decode", json_new_int(p->step_ns[k][v]));
  return json_if(ok, steps);
}

static json_value *cost_table(const situ_profile *p, const char *device_class) {
  const situ_graph *g = p->model->graph;
  char source[256];
  int n = snprintf(source, sizeof source, "%s, median of %d runs", p->engine, (int)p->n_runs);
  if (p->threads > 0)
    snprintf(source + n, sizeof source - (size_t)n, ", %d thread%s, level %d", (int)p->threads,
             p->threads == 1 ? "" : "s", (int)p->level);
  json_value *groups = json_new_array(), *operators = json_new_object();
  bool ok = groups && operators;
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
  bool cuts = p->cut.n_cuts > 0;
  json_value *root =
      JSON_OBJECT({"situ_costs", json_new_int(1)}, {"unit", json_new_text("ns")}, {"source", json_new_text(source)},
                  {"classes", JSON_ARRAY(json_new_text(device_class))}, {"groups", groups}, {"operators", operators},
                  {"links", cuts ? link_list(p, device_class) : JSON_ABSENT},
                  {"parts", cuts ? part_list(p, device_class) : JSON_ABSENT},
                  {"measured", p->device ? measured_list(p, device_class) : JSON_ABSENT},
                  {"workspace_bytes", p->workspace_bytes ? workspaces(p) : JSON_ABSENT});
  return json_if(ok, root);
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
  return json_write(path, cost_table(profile, device_class), 1, error);
}
