/* One row for each operator (RFC 4180), in the order of the plan. */
#include "write/writer.h"

static situ_status write(text_buffer *out, const situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  (void)error;
  text_add(out, "operator,device,start_ns,finish_ns,call\r\n");
  for (int32_t i = 0; i < p->n_operators; i++) {
    int32_t v = plan->order ? plan->order[i] : i;
    text_add_csv(out, p->graph->name[v]);
    text_add(out, ",");
    text_add_csv(out, p->platform->devices[plan->device[v]].name);
    if (plan->start_ns)
      text_add(out, ",%lld,%lld", (long long)plan->start_ns[v], (long long)plan->finish_ns[v]);
    else
      text_add(out, ",,");
    if (plan->call && plan->call[v] >= 0)
      text_add(out, ",%d\r\n", (int)plan->call[v]);
    else
      text_add(out, ",\r\n");
  }
  return SITU_STATUS_OK;
}

const writer csv_writer = {.name = "csv",
                           .title = "a table of operators with device and times",
                           .groups = true,
                           .shares = true,
                           .suffix = ".csv",
                           .write = write};
