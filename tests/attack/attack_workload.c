/* Problems in the form of workload files (docs/formats/workload.md): hosts with one memory, accelerators of one class
 * with a memory each, one tensor for each operator, whose hops take what the file says. */
#include <stdio.h>
#include <string.h>

#include "attack_edit.h"

static void normal_machine(attack_problem *p) {
  int64_t capacity = p->device[p->n_devices - 1].capacity_bytes;
  if (p->n_hosts > p->n_devices) p->n_hosts = p->n_devices;
  if (capacity == SITU_UNLIMITED_BYTES) capacity = 1000;
  p->n_links = 0;
  for (int32_t d = 0; d < p->n_devices; d++) {
    bool host = d < p->n_hosts, unused = p->device[d].unused;
    p->device[d] = (attack_device){.class_index = !host, .is_host = host, .unused = unused};
    p->device[d].shares = host && d > 0 ? 0 : -1;
    p->device[d].capacity_bytes = host ? SITU_UNLIMITED_BYTES : capacity;
    if (host) continue;
    p->link[p->n_links++] = (situ_link){0, d, 0, 1e10, -1};
    p->link[p->n_links++] = (situ_link){d, 0, 0, 1e10, -1};
  }
  p->from_class = p->part_class = -1;
}

void workload_normal(attack_problem *p) {
  normal_machine(p);
  for (int32_t v = 0; v < p->n; v++) {
    attack_operator *x = &p->op[v];
    if (x->phase >= SITU_PHASE_UPDATE) x->phase = SITU_PHASE_BACKWARD;
    if (x->time_ns[0] == SITU_NEVER_NS) x->time_ns[0] = 3; /* a file can forbid accelerators alone */
    x->workspace_bytes = 0;
    x->measured_bytes = -1;
    x->constant = false;
    x->kernel = x->together = -1;
  }
  for (int32_t t = p->n_tensors - 1; t >= 0; t--) {
    attack_tensor *x = &p->tensor[t];
    for (int32_t v = 0; v < p->n; v++) /* what a forward operator uses is not made by a backward one */
      if (p->op[x->from].phase == SITU_PHASE_BACKWARD && p->op[v].phase == SITU_PHASE_FORWARD) x->users &= ~(1U << v);
    x->hop_ns += x->size_bytes;
    x->size_bytes = 0;
    if (t + 1 < p->n_tensors && p->tensor[t + 1].from == x->from) {
      x->users |= p->tensor[t + 1].users;
      problem_drop_tensor(p, t + 1);
    }
  }
  for (int32_t t = p->n_tensors - 1; t >= 0; t--)
    if (!p->tensor[t].users) problem_drop_tensor(p, t);
}

static void write_node(FILE *f, const attack_operator *x, int32_t v) {
  bool supported = x->time_ns[1] != SITU_NEVER_NS;
  fprintf(f, "%s  {\"id\": %d, \"name\": \"o%d\", \"cpuLatency\": %.6f, \"fpgaLatency\": %.6f, ", v ? ",\n" : "",
          (int)v, (int)v, (double)x->time_ns[0] / 1e6, supported ? (double)x->time_ns[1] / 1e6 : 0.0);
  if (x->colocation >= 0) fprintf(f, "\"colorClass\": %d, ", (int)x->colocation);
  fprintf(f, "\"supportedOnFpga\": %d, \"isBackwardNode\": %d, \"size\": %lld}", supported,
          x->phase == SITU_PHASE_BACKWARD, (long long)x->weight_bytes);
}

char *workload_text(const attack_problem *p) {
  char *text = NULL;
  size_t size = 0;
  FILE *f = open_memstream(&text, &size);
  if (!f) return NULL;
  int64_t capacity = p->n_devices > p->n_hosts ? p->device[p->n_devices - 1].capacity_bytes : 1;
  fprintf(f, "{\"maxFPGAs\": %d, \"maxCPUs\": %d, \"maxSizePerFPGA\": %lld, \"nodes\": [\n",
          (int)(p->n_devices - p->n_hosts), (int)p->n_hosts, (long long)capacity);
  for (int32_t v = 0; v < p->n; v++) write_node(f, &p->op[v], v);
  fputs("],\n \"edges\": [", f);
  const char *comma = "";
  for (int32_t t = 0; t < p->n_tensors; t++)
    for (int32_t v = 0; v < p->n; v++) {
      if (!(p->tensor[t].users >> v & 1)) continue;
      fprintf(f, "%s{\"sourceId\": %d, \"destId\": %d, \"cost\": %.6f}", comma, (int)p->tensor[t].from, (int)v,
              (double)p->tensor[t].hop_ns / 1e6);
      comma = ", ";
    }
  fputs("]}\n", f);
  return fclose(f) == 0 ? text : NULL;
}
