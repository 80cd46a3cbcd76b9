#include "graph/graph.h"

void situ_graph_free(situ_graph *graph) {
  if (graph) arena_free(graph->arena);
}

const char *situ_graph_model(const situ_graph *g) { return g->model; }
int32_t situ_graph_n_operators(const situ_graph *g) { return g->n_operators; }
int32_t situ_graph_n_tensors(const situ_graph *g) { return g->n_tensors; }
int64_t situ_graph_n_uses(const situ_graph *g) { return g->n_uses; }
int64_t situ_graph_n_edges(const situ_graph *g) { return g->n_edges; }

situ_operator situ_graph_operator(const situ_graph *g, int32_t v) {
  return (situ_operator){.name = g->name[v],
                         .kind = g->kind_name[g->kind[v]],
                         .layer = g->layer[v] < 0 ? NULL : g->layer_name[g->layer[v]],
                         .phase = (situ_phase)g->phase[v],
                         .dtype = (situ_dtype)g->dtype[v],
                         .weight_bytes = g->weight_bytes[v],
                         .workspace_bytes = g->workspace_bytes[v],
                         .flops = g->flops[v],
                         .moved_bytes = g->moved_bytes[v],
                         .source_id = g->source_id[v],
                         .colocation = g->colocation[v],
                         .inferred = g->inferred[v]};
}

situ_tensor situ_graph_tensor(const situ_graph *g, int32_t t) {
  return (situ_tensor){.name = g->tensor_name[t],
                       .dtype = (situ_dtype)g->tensor_dtype[t],
                       .rank = g->rank[t],
                       .dims = g->dims + g->dims_start[t],
                       .size_bytes = g->size_bytes[t]};
}

int32_t situ_graph_tensor_producer(const situ_graph *g, int32_t t) { return g->producer[t]; }

int32_t situ_graph_outputs(const situ_graph *g, int32_t v, int32_t *first) {
  *first = g->out_start[v];
  return g->out_start[v + 1] - g->out_start[v];
}

int32_t situ_graph_inputs(const situ_graph *g, int32_t v, const int32_t **tensors) {
  *tensors = g->in + g->in_start[v];
  return (int32_t)(g->in_start[v + 1] - g->in_start[v]);
}

int32_t situ_graph_users(const situ_graph *g, int32_t t, const int32_t **operators) {
  *operators = g->use + g->use_start[t];
  return (int32_t)(g->use_start[t + 1] - g->use_start[t]);
}

int32_t situ_graph_find(const situ_graph *g, const char *name) { return (int32_t)string_map_get(g->by_name, name); }
