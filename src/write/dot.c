/* Graphviz: the operators coloured by device, with the tensors that cross memories dashed. */
#include "base/json.h"
#include "write/writer.h"

static const char *const colours[] = {"#8dd3c7", "#ffffb3", "#bebada", "#fb8072", "#80b1d3", "#fdb462",
                                      "#b3de69", "#fccde5", "#d9d9d9", "#bc80bd", "#ccebc5", "#ffed6f"};
enum { N_COLOURS = sizeof colours / sizeof colours[0] };

static situ_status write(text_buffer *out, const situ_plan *plan, situ_error *error) {
  const situ_problem *p = plan->problem;
  (void)error;
  const situ_graph *g = p->graph;
  text_add(out, "digraph ");
  json_quote(out, g->model);
  text_add(out,
           " {\n  node [shape=box, style=filled, fontname=\"sans-serif\"];\n  subgraph cluster_devices {\n"
           "    label=\"devices\";\n");
  for (int32_t d = 0; d < p->n_devices; d++) {
    text_add(out, "    d%d [fillcolor=\"%s\", label=", (int)d, colours[d % N_COLOURS]);
    json_quote(out, p->platform->devices[d].name);
    text_add(out, "];\n");
  }
  text_add(out, "  }\n");
  for (int32_t v = 0; v < g->n_operators; v++) {
    text_add(out, "  n%d [fillcolor=\"%s\", label=", (int)v, colours[plan->device[v] % N_COLOURS]);
    json_quote(out, g->name[v]);
    text_add(out, ", tooltip=");
    json_quote(out, g->kind_name[g->kind[v]]);
    text_add(out, "];\n");
  }
  for (int32_t v = 0; v < g->n_operators; v++) {
    int32_t last = -1; /* inputs ascend, so those of one producer are neighbours */
    for (int64_t i = g->in_start[v]; i < g->in_start[v + 1]; i++) {
      int32_t u = g->producer[g->in[i]];
      if (u == last) continue;
      last = u;
      bool crosses = p->memory_of[plan->device[u]] != p->memory_of[plan->device[v]];
      text_add(out, "  n%d -> n%d%s;\n", (int)u, (int)v, crosses ? " [style=dashed]" : "");
    }
  }
  text_add(out, "}\n");
  return SITU_STATUS_OK;
}

const writer dot_writer = {.name = "dot",
                           .title = "the graph coloured by device, for Graphviz",
                           .groups = true,
                           .shares = true,
                           .suffix = ".dot",
                           .write = write};
