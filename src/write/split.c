/* The published form of splits (msr-fiddle/dnn-partitioning): nodes by number under "fpgas" (accelerators) and "cpus"
 * (hosts), loads in the unit of the workload file, else in milliseconds. */
#include "base/fail.h"
#include "write/writer.h"

static void write_entries(text_buffer *out, const situ_plan *plan, bool host, double unit_ns) {
  const situ_problem *p = plan->problem;
  bool first = true;
  for (int32_t d = 0; d < p->n_devices; d++) {
    if (p->platform->devices[d].is_host != host) continue;
    double load = plan->uses ? (double)plan->uses[d].load_ns / unit_ns : -1;
    text_add(out, "%s\n    {\"load\": %.17g, \"nodes\": [", first ? "" : ",", load);
    first = false;
    bool first_node = true;
    for (int32_t v = 0; v < p->n_operators; v++) {
      if (plan->device[v] != d) continue;
      text_add(out, "%s%lld", first_node ? "" : ", ", (long long)p->graph->source_id[v]);
      first_node = false;
    }
    text_add(out, "]}");
  }
}

static situ_status serves(const situ_problem *p, situ_error *error) {
  for (int32_t v = 0; v < p->n_operators; v++)
    if (p->graph->source_id[v] < 0)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, p->graph->name[v],
                       "has no number in its file, but a split names operators by number");
  return SITU_STATUS_OK;
}

static situ_status write(text_buffer *out, const situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  TRY(serves(p, error));
  double unit_ns = p->costs->unit_ns > 0 ? (double)p->costs->unit_ns : 1e6;
  text_add(out, "{\n  \"maxLoad\": %.17g,\n  \"fpgas\": [", (double)plan->value_ns / unit_ns);
  write_entries(out, plan, false, unit_ns);
  text_add(out, "\n  ],\n  \"cpus\": [");
  write_entries(out, plan, true, unit_ns);
  text_add(out, "\n  ]\n}\n");
  return SITU_STATUS_OK;
}

const writer split_writer = {.name = "split",
                             .title = "a split in the published format of workload files",
                             .groups = true,
                             .shares = true,
                             .suffix = ".json",
                             .write = write,
                             .serves = serves};
