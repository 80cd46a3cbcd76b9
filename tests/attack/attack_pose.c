/* Poses a problem through the public headers alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attack_problem.h"

static void write_times(FILE *f, const int64_t *time_ns) {
  for (int32_t k = 0; k < MAX_DEVICES; k++) {
    if (time_ns[k] == SITU_NEVER_NS)
      fprintf(f, "%s\"c%d\": null", k ? ", " : "", (int)k);
    else
      fprintf(f, "%s\"c%d\": %lld", k ? ", " : "", (int)k, (long long)time_ns[k]);
  }
}

/* The head of the kernel that an operator is in, or -1: a kernel has at least two, its head among them. */
static int32_t head_of(const attack_problem *p, int32_t v) {
  int32_t head = p->op[v].kernel, members = 0;
  for (int32_t w = 0; w < p->n; w++) members += p->op[w].kernel == head;
  return head >= 0 && members > 1 && p->op[head].kernel == head ? head : -1;
}

/* The head with all others of its kernel. */
static void write_kernel(FILE *f, const attack_problem *p, const int64_t *time_ns, int32_t head, int32_t n_named) {
  fprintf(f, "{\"operators\": [\"o%d\"", (int)head);
  for (int32_t v = 0; v < n_named; v++)
    if (v != head && p->op[v].kernel == head) fprintf(f, ", \"o%d\"", (int)v);
  fputs("], \"times\": {", f);
  write_times(f, time_ns);
  fputs("}}", f);
}

const char *problem_fusion(const attack_problem *p) {
  for (int32_t v = 0; v < p->n; v++)
    if (p->op[v].constant) return "generic";
  return "none";
}

char *problem_costs_text(const attack_problem *p, bool other, int32_t n_named) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  if (!f) return NULL;
  fputs("{\"situ_costs\": 1, \"unit\": \"ns\", \"classes\": [\"c0\", \"c1\", \"c2\", \"c3\", \"c4\"], \"operators\": {",
        f);
  const char *comma = "";
  for (int32_t v = 0; v < n_named; v++) {
    if (head_of(p, v) >= 0) continue;
    fprintf(f, "%s\"o%d\": {", comma, (int)v);
    write_times(f, other ? p->op[v].other_ns : p->op[v].time_ns);
    fputs("}", f);
    comma = ", ";
  }
  fputs("}, \"groups\": [", f);
  comma = "";
  for (int32_t v = 0; v < n_named; v++) {
    if (head_of(p, v) != v) continue;
    fputs(comma, f);
    write_kernel(f, p, other ? p->op[v].other_ns : p->op[v].time_ns, v, n_named);
    comma = ", ";
  }
  fputs("]", f);
  if (p->from_class >= 0)
    fprintf(f, ", \"links\": [{\"from\": \"c%d\", \"to\": \"c%d\", \"latency\": %lld, \"bytes_per_s\": %.17g}]",
            (int)p->from_class, (int)p->to_class, (long long)p->measured_ns, p->measured_bytes_per_s);
  if (p->part_class >= 0)
    fprintf(f, ", \"parts\": [{\"class\": \"c%d\", \"start\": %lld, \"dispatch\": %lld}]", (int)p->part_class,
            (long long)p->part_start_ns, (long long)p->part_dispatch_ns);
  fputs(", \"workspace_bytes\": {", f);
  comma = "";
  for (int32_t v = 0; v < n_named; v++) {
    if (p->op[v].measured_bytes < 0) continue;
    fprintf(f, "%s\"o%d\": %lld", comma, (int)v, (long long)p->op[v].measured_bytes);
    comma = ", ";
  }
  fputs("}}\n", f);
  return fclose(f) == 0 ? text : NULL;
}

/* A file that never reaches a disk; -1 where that fails. */
static int file_of(const char *text, char path[64]) {
  int file = memfd_create("attack", 0);
  snprintf(path, 64, "/proc/self/fd/%d", file);
  if (file < 0 || !text || write(file, text, strlen(text)) == (ssize_t)strlen(text)) return file;
  close(file);
  return -1;
}

static situ_status estimate(situ_costs **out, const attack_problem *p, const attack_posed *posed, bool other,
                            situ_error *error) {
  char *text = problem_costs_text(p, other, p->n), path[64];
  int file = text ? file_of(text, path) : -1;
  situ_status status = SITU_STATUS_IO;
  situ_cost_options o = SITU_COST_OPTIONS_INIT;
  o.table_path = path;
  o.fusion = problem_fusion(p);
  free(text);
  if (file < 0) return status;
  status = situ_costs_estimate(out, posed->graph, posed->platform, &o, error);
  close(file);
  return status;
}

static situ_status make_graph(attack_posed *out, const attack_problem *p, situ_error *error) {
  situ_graph_builder *b;
  situ_status status = situ_graph_builder_new(&b, "attack", error);
  if (status) return status;
  for (int32_t v = 0; v < p->n; v++) {
    char name[16];
    situ_operator op = SITU_OPERATOR_INIT;
    snprintf(name, sizeof name, "o%d", (int)v);
    op.name = name;
    op.phase = p->op[v].phase;
    op.dtype = SITU_DTYPE_F32;
    op.kind = p->op[v].constant ? "Constant" : NULL;
    op.flops = p->op[v].constant ? 0 : 1000;
    op.moved_bytes = p->op[v].constant ? 0 : 100;
    op.weight_bytes = p->op[v].weight_bytes;
    op.workspace_bytes = p->op[v].workspace_bytes;
    op.colocation = p->op[v].colocation;
    situ_graph_builder_add_operator(b, &op);
  }
  for (int32_t t = 0; t < p->n_tensors; t++) {
    situ_tensor tensor = SITU_TENSOR_INIT;
    tensor.dtype = SITU_DTYPE_F32;
    tensor.size_bytes = p->tensor[t].size_bytes;
    int32_t number = situ_graph_builder_add_tensor(b, p->tensor[t].from, &tensor);
    for (int32_t v = 0; v < p->n; v++)
      if (p->tensor[t].users >> v & 1) situ_graph_builder_add_use(b, v, number);
  }
  status = situ_graph_freeze(&out->graph, b, error);
  situ_graph_builder_free(b);
  return status;
}

static situ_status make_platform(attack_posed *out, const attack_problem *p, situ_error *error) {
  situ_platform_builder *b;
  situ_status status = situ_platform_builder_new(&b, "attack", error);
  if (status) return status;
  for (int32_t d = 0; d < p->n_devices; d++) {
    char name[16], class_name[16];
    situ_device device = SITU_DEVICE_INIT;
    snprintf(name, sizeof name, "d%d", (int)d);
    snprintf(class_name, sizeof class_name, "c%d", (int)p->device[d].class_index);
    device.name = name;
    device.class_name = class_name;
    device.peak_flops[SITU_DTYPE_F32] = 1e12;
    device.memory_bytes_per_s = 1e9;
    device.is_host = p->device[d].is_host;
    device.server = p->device[d].server;
    device.shares_memory_with = p->device[d].shares;
    device.separate_address_space = p->device[d].apart;
    if (device.shares_memory_with < 0) device.memory_bytes = p->device[d].capacity_bytes;
    situ_platform_builder_add_device(b, &device);
  }
  for (int32_t i = 0; i < p->n_links; i++) situ_platform_builder_add_link(b, &p->link[i]);
  status = situ_platform_freeze(&out->platform, b, error);
  situ_platform_builder_free(b);
  return status;
}

static situ_status read_workload(attack_posed *out, const attack_problem *p, situ_error *error) {
  char *text = workload_text(p), path[64];
  int file = text ? file_of(text, path) : -1;
  situ_status status = SITU_STATUS_IO;
  free(text);
  if (file < 0) return status;
  status = situ_model_read(&out->model, path, NULL, error);
  close(file);
  return status;
}

situ_status problem_pose(attack_posed *out, const attack_problem *p, situ_error *error) {
  situ_status status;
  bool unused[MAX_DEVICES];
  int32_t pins[MAX_OPS], together[MAX_OPS];
  *out = (attack_posed){0};
  if (p->n_hosts > 0 && (status = read_workload(out, p, error))) return status;
  if (p->n_hosts == 0 && ((status = make_graph(out, p, error)) || (status = make_platform(out, p, error)) ||
                          (status = estimate(&out->costs, p, out, false, error)) ||
                          (p->max_other_ns > 0 && (status = estimate(&out->other, p, out, true, error)))))
    return status;
  for (int32_t d = 0; d < p->n_devices; d++) unused[d] = p->device[d].unused;
  for (int32_t v = 0; v < p->n; v++) {
    pins[v] = p->op[v].pin;
    together[v] = p->op[v].together;
  }
  situ_problem_options o = SITU_PROBLEM_OPTIONS_INIT;
  o.objective = p->objective;
  o.execution = p->execution;
  o.contention = p->contention;
  o.overlap = p->overlap;
  o.communication = p->communication;
  o.free = p->free;
  o.async_copies = p->async_copies;
  o.schedule = p->schedule;
  o.replicate = p->replicate;
  o.in_flight = p->execution == SITU_EXECUTION_PIPELINE && p->micro_batches == 0 ? p->in_flight : 0;
  o.micro_batches = p->micro_batches;
  o.zero = p->zero;
  o.copies = p->copies > 1 ? p->copies : 0;
  o.max_calls = p->max_calls;
  o.max_period_ns = p->max_period_ns;
  o.max_latency_ns = p->max_latency_ns;
  o.pins = pins;
  o.unused = unused;
  o.keep_together = together;
  o.secondary_costs = out->other;
  o.max_secondary_ns = p->max_other_ns;
  bool owned = p->n_hosts > 0;
  return situ_problem_pose(&out->problem, owned ? situ_model_graph(out->model) : out->graph,
                           owned ? situ_model_platform(out->model) : out->platform,
                           owned ? situ_model_costs(out->model) : out->costs, &o, error);
}

void posed_free(attack_posed *posed) {
  situ_problem_free(posed->problem);
  situ_model_free(posed->model);
  situ_costs_free(posed->other);
  situ_costs_free(posed->costs);
  situ_platform_free(posed->platform);
  situ_graph_free(posed->graph);
  *posed = (attack_posed){0};
}
