/* A problem as the files and the call of the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "attack_trial.h"

static FILE *open_in(const char *folder, const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return fopen(path, "w");
}

void problem_remove(const char *folder) {
  static const char *const names[] = {"graph.json",    "platform.json", "costs.json", "other_costs.json",
                                      "workload.json", "rules.json",    "fix.json",   "cmd.txt",
                                      "problem.txt",   "plan.json",     "out.json",   "err.txt"};
  for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, names[k]);
    unlink(path);
  }
  rmdir(folder);
}

static int32_t n_named(const attack_problem *p) { return p->n / p->copies; }

static bool write_graph(const attack_problem *p, const char *folder) {
  FILE *f = open_in(folder, "graph.json");
  if (!f) return false;
  fputs("{\"situ_graph\": 1, \"name\": \"attack\", \"operators\": [\n", f);
  for (int32_t v = 0; v < n_named(p); v++) {
    const attack_operator *x = &p->op[v];
    fprintf(f, "%s {\"name\": \"o%d\", \"dtype\": \"f32\", ", v ? ",\n" : "", (int)v);
    if (x->constant)
      fputs("\"kind\": \"Constant\", ", f);
    else
      fprintf(f, "\"kind\": \"Kind%d\", \"flops\": 1000, \"moved_bytes\": 100, ", (int)v);
    if (x->colocation >= 0) fprintf(f, "\"colocation\": %d, ", (int)x->colocation);
    fprintf(f, "\"phase\": \"%s\", \"weight_bytes\": %lld, \"workspace_bytes\": %lld}", situ_phase_name(x->phase),
            (long long)x->weight_bytes, (long long)x->workspace_bytes);
  }
  fputs("],\n \"tensors\": [\n", f);
  for (int32_t t = 0, first = 1; t < p->n_tensors; t++) {
    const attack_tensor *x = &p->tensor[t];
    if (x->from >= n_named(p)) continue;
    fprintf(f, "%s {\"name\": \"t%d\", \"from\": \"o%d\", \"to\": [", first ? "" : ",\n", (int)t, (int)x->from);
    for (int32_t v = 0, comma = 0; v < p->n; v++) {
      if (!(x->users >> v & 1)) continue;
      fprintf(f, "%s\"o%d\"", comma++ ? ", " : "", (int)v);
    }
    fprintf(f, "], \"bytes\": %lld, \"dtype\": \"f32\"}", (long long)x->size_bytes);
    first = 0;
  }
  fputs("]}\n", f);
  return fclose(f) == 0;
}

static bool write_platform(const attack_problem *p, const char *folder) {
  FILE *f = open_in(folder, "platform.json");
  if (!f) return false;
  fputs("{\"situ_platform\": 1, \"name\": \"attack\", \"devices\": [\n", f);
  for (int32_t d = 0; d < p->n_devices; d++) {
    const attack_device *x = &p->device[d];
    fprintf(f, "%s {\"name\": \"d%d\", \"class\": \"c%d\", \"host\": %s, ", d ? ",\n" : "", (int)d, (int)x->class_index,
            x->is_host ? "true" : "false");
    fprintf(f, "\"server\": \"s%d\", ", (int)x->server);
    if (x->shares >= 0)
      fprintf(f, "\"shares_%s_with\": \"d%d\", ", x->apart ? "capacity" : "memory", (int)x->shares);
    else if (x->capacity_bytes != SITU_UNLIMITED_BYTES)
      fprintf(f, "\"memory_bytes\": %lld, ", (long long)x->capacity_bytes);
    fputs("\"peak_tflops\": {\"f32\": 1}, \"memory_gb_per_s\": 1}", f);
  }
  fputs("],\n \"links\": [\n", f);
  for (int32_t i = 0; i < p->n_links; i++) {
    const situ_link *x = &p->link[i];
    fprintf(f, "%s {\"from\": \"d%d\", \"to\": \"d%d\", \"latency_ns\": %lld, \"bytes_per_s\": %.17g, ", i ? ",\n" : "",
            (int)x->from_device, (int)x->to_device, (long long)x->latency_ns, x->bytes_per_s);
    if (x->channel >= 0) fprintf(f, "\"channel\": \"channel%d\", ", (int)x->channel);
    fputs("\"bidirectional\": false}", f);
  }
  fputs("]}\n", f);
  return fclose(f) == 0;
}

static bool write_costs(const attack_problem *p, const char *folder, const char *name, bool other) {
  FILE *f = open_in(folder, name);
  char *text = problem_costs_text(p, other, n_named(p));
  bool good = f && text && fputs(text, f) >= 0;
  free(text);
  return f && fclose(f) == 0 && good;
}

/* What the options of problems call keep_together is a rule of the command line. */
static bool write_rules(const attack_problem *p, const char *folder, bool *any) {
  *any = false;
  for (int32_t v = 0; v < n_named(p); v++) *any = *any || p->op[v].together >= 0;
  FILE *f = *any ? open_in(folder, "rules.json") : NULL;
  if (!f) return !*any;
  fputs("{\"situ_rules\": 1, \"keep_together\": [", f);
  for (int32_t key = 0, comma = 0; key < p->n; key++) {
    int32_t members = 0;
    for (int32_t v = 0; v < n_named(p); v++) {
      if (p->op[v].together != key) continue;
      fprintf(f, "%s\"o%d\"", members++ ? ", " : comma++ ? ", [" : "[", (int)v);
    }
    if (members) fputs("]", f);
  }
  fputs("]}\n", f);
  return fclose(f) == 0;
}

static bool write_pins(const attack_problem *p, const char *folder, bool *any) {
  *any = false;
  for (int32_t v = 0; v < p->n; v++) *any = *any || p->op[v].pin >= 0;
  FILE *f = *any ? open_in(folder, "fix.json") : NULL;
  if (!f) return !*any;
  fputs("{", f);
  for (int32_t v = 0, comma = 0; v < p->n; v++)
    if (p->op[v].pin >= 0) fprintf(f, "%s\"o%d\": \"d%d\"", comma++ ? ", " : "", (int)v, (int)p->op[v].pin);
  fputs("}\n", f);
  return fclose(f) == 0;
}

static void print_model(FILE *f, const attack_problem *p) {
  if (p->execution == SITU_EXECUTION_STREAM) {
    if (p->contention == SITU_CONTENTION_NONE) fputs(" --contention none", f);
    fprintf(f, " --overlap %s", situ_overlap_name(p->overlap));
  }
  if (p->execution == SITU_EXECUTION_PIPELINE)
    fprintf(f, " --communication %s --schedule %s --%s %d%s%s%s", situ_communication_name(p->communication),
            situ_schedule_name(p->schedule), p->micro_batches > 0 ? "micro-batches" : "in-flight",
            (int)(p->micro_batches > 0 ? p->micro_batches : p->in_flight), p->free ? " --free" : "",
            p->async_copies ? " --async-copies" : "", p->replicate ? " --replicate" : "");
  if (p->zero > 0) fprintf(f, " --zero %d", (int)p->zero);
  if (p->copies > 1) fprintf(f, " --copies %d", (int)p->copies);
  if (p->max_calls > 0) fprintf(f, " --calls %d", (int)p->max_calls);
  if (p->max_period_ns > 0) fprintf(f, " --max-period %.9g", (double)p->max_period_ns / 1e6);
  if (p->max_latency_ns > 0) fprintf(f, " --max-latency %.9g", (double)p->max_latency_ns / 1e6);
  for (int32_t d = 0; d < p->n_devices; d++)
    if (p->device[d].unused && p->n_hosts > 0)
      fprintf(f, " --unused %s%d", d < p->n_hosts ? "cpu" : "acc", (int)(d < p->n_hosts ? d : d - p->n_hosts));
    else if (p->device[d].unused)
      fprintf(f, " --unused d%d", (int)d);
}

static bool write_workload(const attack_problem *p, const char *folder) {
  FILE *f = open_in(folder, "workload.json");
  char *text = workload_text(p);
  bool good = f && text && fputs(text, f) >= 0;
  free(text);
  return f && fclose(f) == 0 && good;
}

static bool write_inputs(const attack_problem *p, const char *folder) {
  if (p->n_hosts > 0) return write_workload(p, folder);
  return write_graph(p, folder) && write_platform(p, folder) && write_costs(p, folder, "costs.json", false) &&
         (p->max_other_ns == 0 || write_costs(p, folder, "other_costs.json", true));
}

bool problem_write(const attack_problem *p, const char *folder, const attack_call *call) {
  bool rules, pins;
  if (!write_inputs(p, folder) || !write_rules(p, folder, &rules) || !write_pins(p, folder, &pins)) return false;
  FILE *f = open_in(folder, "problem.txt");
  if (!f) return false;
  problem_print(f, p);
  if (fclose(f) != 0 || !(f = open_in(folder, "cmd.txt"))) return false;
  fprintf(f, "situ %s ", call->pareto ? "pareto" : "place");
  if (p->n_hosts > 0)
    fputs("workload.json", f);
  else
    fprintf(f, "graph.json --platform platform.json --cost-table costs.json --granularity operator --fusion %s",
            problem_fusion(p));
  if (!call->pareto)
    fprintf(f, " --objective %s --execution %s", situ_objective_name(p->objective), situ_execution_name(p->execution));
  print_model(f, p);
  fprintf(f, " --solver %s --steps %lld --seed %llu --json%s%s", call->solver, (long long)call->steps,
          (unsigned long long)call->seed, rules ? " --rules rules.json" : "", pins ? " --fix fix.json" : "");
  if (!call->pareto) fprintf(f, " --tolerance %g --min-gain %g", call->tolerance, call->min_gain);
  if (call->uncertainty > 0) fprintf(f, " --uncertainty %g%s", call->uncertainty, call->robust ? " --robust" : "");
  if (call->max_parts > 0) fprintf(f, " --max-parts %d", (int)call->max_parts);
  if (call->min_part > 0) fprintf(f, " --min-part %d", (int)call->min_part);
  fputs("\n", f);
  if (p->max_other_ns > 0)
    fprintf(f, "# and by other_costs.json, which the command line cannot name, at most %lld ns\n",
            (long long)p->max_other_ns);
  return fclose(f) == 0;
}

static void print_time(FILE *f, int64_t x) {
  if (x == INT64_MAX)
    fputs(" -", f);
  else
    fprintf(f, " %lld", (long long)x);
}

void problem_print(FILE *f, const attack_problem *p) {
  fprintf(f, "%s of %s, %d operators, %d devices, copies %d, in flight %d\n", situ_objective_name(p->objective),
          situ_execution_name(p->execution), (int)p->n, (int)p->n_devices, (int)p->copies, (int)p->in_flight);
  fprintf(f, "contention %s, overlap %s, communication %s, schedule %s%s%s%s\n", situ_contention_name(p->contention),
          situ_overlap_name(p->overlap), situ_communication_name(p->communication), situ_schedule_name(p->schedule),
          p->free ? ", free" : "", p->async_copies ? ", async" : "", p->replicate ? ", replicate" : "");
  fprintf(f, "limits: calls %d, period %lld, latency %lld, other %lld (0: none)\n", (int)p->max_calls,
          (long long)p->max_period_ns, (long long)p->max_latency_ns, (long long)p->max_other_ns);
  for (int32_t d = 0; d < p->n_devices; d++) {
    const attack_device *x = &p->device[d];
    fprintf(f, "d%d: class %d, server %d, %s%s, shares %s of %d, capacity", (int)d, (int)x->class_index, (int)x->server,
            x->is_host ? "host" : "accelerator", x->unused ? ", unused" : "", x->apart ? "capacity" : "memory",
            (int)x->shares);
    print_time(f, x->capacity_bytes);
    fputs("\n", f);
  }
  for (int32_t i = 0; i < p->n_links; i++)
    fprintf(f, "link d%d to d%d: %lld ns, %.17g B/s, channel %d\n", (int)p->link[i].from_device,
            (int)p->link[i].to_device, (long long)p->link[i].latency_ns, p->link[i].bytes_per_s,
            (int)p->link[i].channel);
  if (p->from_class >= 0)
    fprintf(f, "measured from class %d to %d: %lld ns, %.17g B/s\n", (int)p->from_class, (int)p->to_class,
            (long long)p->measured_ns, p->measured_bytes_per_s);
  if (p->part_class >= 0)
    fprintf(f, "parts of class %d: start %lld, dispatch %lld\n", (int)p->part_class, (long long)p->part_start_ns,
            (long long)p->part_dispatch_ns);
  for (int32_t v = 0; v < p->n; v++) {
    const attack_operator *x = &p->op[v];
    if (x->measured_bytes >= 0) fprintf(f, "o%d: workspace %lld by the table\n", (int)v, (long long)x->measured_bytes);
    fprintf(f, "o%d: %s%s, weights %lld, workspace %lld, group %d, kernel %d, together %d, pin %d, times", (int)v,
            situ_phase_name(x->phase), x->constant ? ", constant" : "", (long long)x->weight_bytes,
            (long long)x->workspace_bytes, (int)x->colocation, (int)x->kernel, (int)x->together, (int)x->pin);
    for (int32_t k = 0; k < p->n_devices; k++) print_time(f, x->time_ns[k]);
    fputs(", other", f);
    for (int32_t k = 0; k < p->n_devices; k++) print_time(f, x->other_ns[k]);
    fputs("\n", f);
  }
  if (p->n_hosts > 0) fprintf(f, "a workload file with %d hosts\n", (int)p->n_hosts);
  for (int32_t t = 0; t < p->n_tensors; t++) {
    fprintf(f, "t%d: o%d to", (int)t, (int)p->tensor[t].from);
    for (int32_t v = 0; v < p->n; v++)
      if (p->tensor[t].users >> v & 1) fprintf(f, " o%d", (int)v);
    fprintf(f, ", %lld bytes, %lld ns\n", (long long)p->tensor[t].size_bytes, (long long)p->tensor[t].hop_ns);
  }
}
