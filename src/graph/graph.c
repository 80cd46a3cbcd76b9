#include "graph/graph.h"

#include <string.h>

#include "base/arguments.h"

void situ_graph_free(situ_graph *graph) {
  if (graph) arena_free(graph->arena);
}

const char *situ_guess_kind_name(situ_guess_kind kind) {
  static const char *const names[] = {"kind",    "shape", "size",      "control", "type",
                                      "packing", "role",  "structure", "work"};
  return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

static bool is_operator(const situ_graph *g, int32_t v) { return g && v >= 0 && v < g->n_operators; }
static bool is_tensor(const situ_graph *g, int32_t t) { return g && t >= 0 && t < g->n_tensors; }

bool situ_graph_get_summary(const situ_graph *g, situ_graph_summary *out) {
  if (!g) return false;
  situ_graph_summary summary = {.model = g->model,
                                .n_operators = g->n_operators,
                                .n_tensors = g->n_tensors,
                                .n_uses = g->n_uses,
                                .n_edges = g->n_edges};
  return GIVE(out, summary);
}

situ_operator graph_operator(const situ_graph *g, int32_t v) {
  return (situ_operator){.size = sizeof(situ_operator),
                         .name = g->name[v],
                         .kind = g->kind_name[g->kind[v]],
                         .layer = g->layer[v] < 0 ? NULL : g->layer_name[g->layer[v]],
                         .phase = (situ_phase)g->phase[v],
                         .dtype = (situ_dtype)g->dtype[v],
                         .weight_bytes = g->weight_bytes[v],
                         .workspace_bytes = g->workspace_bytes[v],
                         .split_ways = g->split_ways[v],
                         .weight_type = g->weight_type[v] < 0 ? NULL : g->weight_type_name[g->weight_type[v]],
                         .flops = g->flops[v],
                         .moved_bytes = g->moved_bytes[v],
                         .source_id = g->source_id[v],
                         .colocation = g->colocation[v],
                         .inferred = g->inferred[v]};
}

situ_tensor graph_tensor(const situ_graph *g, int32_t t) {
  return (situ_tensor){.size = sizeof(situ_tensor),
                       .name = g->tensor_name[t],
                       .dtype = (situ_dtype)g->tensor_dtype[t],
                       .rank = g->rank[t],
                       .dims = g->dims + g->dims_start[t],
                       .size_bytes = g->size_bytes[t]};
}

bool situ_graph_operator(const situ_graph *g, int32_t v, situ_operator *out) {
  if (!is_operator(g, v)) return false;
  situ_operator about = graph_operator(g, v);
  return GIVE(out, about);
}

bool situ_graph_tensor(const situ_graph *g, int32_t t, situ_tensor *out) {
  if (!is_tensor(g, t)) return false;
  situ_tensor about = graph_tensor(g, t);
  return GIVE(out, about);
}

int32_t situ_graph_guess_count(const situ_graph *g) { return g ? g->n_guesses : 0; }

bool situ_graph_guess_at(const situ_graph *g, int32_t index, situ_guess *out) {
  if (index < 0 || index >= situ_graph_guess_count(g)) return false;
  const graph_guess *guess = &g->guesses[index];
  situ_guess about = {.kind = guess->kind,
                      .n_operators = guess->n_operators,
                      .subject = guess->subject,
                      .operators = guess->n_operators == GUESS_OF_ALL ? NULL : guess->operators};
  return GIVE(out, about);
}

const char *situ_graph_operator_name(const situ_graph *g, int32_t v) { return is_operator(g, v) ? g->name[v] : ""; }

int32_t situ_graph_tensor_producer(const situ_graph *g, int32_t t) { return is_tensor(g, t) ? g->producer[t] : -1; }

int32_t situ_graph_outputs(const situ_graph *g, int32_t v, int32_t *first) {
  bool known = is_operator(g, v);
  if (first) *first = known ? g->out_start[v] : 0;
  return known ? g->out_start[v + 1] - g->out_start[v] : 0;
}

/* Row `i` of a CSR family; empty and NULL if there is no such row. */
static int32_t csr_row(const int32_t **row, const int32_t *all, const int64_t *start, int32_t i, bool known) {
  if (row) *row = known ? all + start[i] : NULL;
  return known ? (int32_t)(start[i + 1] - start[i]) : 0;
}

int32_t situ_graph_inputs(const situ_graph *g, int32_t v, const int32_t **tensors) {
  return g ? csr_row(tensors, g->in, g->in_start, v, is_operator(g, v)) : csr_row(tensors, NULL, NULL, 0, false);
}

int32_t situ_graph_users(const situ_graph *g, int32_t t, const int32_t **operators) {
  return g ? csr_row(operators, g->use, g->use_start, t, is_tensor(g, t)) : csr_row(operators, NULL, NULL, 0, false);
}

int32_t situ_graph_find(const situ_graph *g, const char *name) {
  return g && name ? (int32_t)string_map_get(g->by_name, name) : -1;
}

int64_t graph_own_weight_bytes(const situ_graph *g, int32_t v) {
  const char *kind = g->kind_name[g->kind[v]];
  bool keeps = g->streams > 0 && (strstr(kind, "Attention") || strcmp(kind, "StateSpace") == 0);
  return keeps ? 0 : g->weight_bytes[v];
}
