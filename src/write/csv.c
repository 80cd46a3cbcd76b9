/* One row for each operator (RFC 4180), in the order of the plan. */
#include <string.h>

#include "base/fail.h"
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

/* One cell; quotes around it are taken off, and those within are single ones. */
static const char *take_cell(char into[], size_t capacity, const char *at) {
  size_t n = 0;
  bool quoted = *at == '"';
  for (at += quoted; *at && (quoted || !strchr(",\r\n", *at)); at++) {
    if (quoted && *at == '"' && *++at != '"') break;
    if (n + 1 < capacity) into[n++] = *at;
  }
  into[n] = '\0';
  return at + strcspn(at, ",\r\n");
}

static situ_status devices(int32_t *device, const situ_problem *p, const char *text, situ_error *error) {
  char name[1024], where[256];
  for (int32_t v = 0; v < p->n_operators; v++) device[v] = -1;
  const char *at = text + strcspn(text, "\n"); /* behind the heading */
  while (*(at += strspn(at, "\r\n"))) {
    at = take_cell(name, sizeof name, at);
    at = take_cell(where, sizeof where, at + (*at == ','));
    at += strcspn(at, "\n");
    int32_t v = situ_graph_find(p->graph, name), d = 0;
    while (d < p->n_devices && strcmp(p->platform->devices[d].name, where) != 0) d++;
    if (v < 0) return fail_with(error, SITU_STATUS_BAD_INPUT, name, "is no operator of the model");
    if (d == p->n_devices)
      return fail_with(error, SITU_STATUS_BAD_INPUT, name, "is on %s, which %s has not", where, p->platform->name);
    device[v] = d;
  }
  for (int32_t v = 0; v < p->n_operators; v++)
    if (device[v] < 0) return fail_with(error, SITU_STATUS_BAD_INPUT, p->graph->name[v], "has no row in the table");
  return SITU_STATUS_OK;
}

const plan_reading csv_reading = {.marks = "operator,device", .devices = devices};
const writer csv_writer = {.name = "csv",
                           .title = "a table of operators with device and times",
                           .groups = true,
                           .shares = true,
                           .suffix = ".csv",
                           .write = write,
                           .reading = &csv_reading};
