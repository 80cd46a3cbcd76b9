/* A frozen graph keeps its invariants; one broken field is named. */
#include "../../lab/random_graph.h"
#include "../broken.h"
#include "base/dtype.h"
#include "graph/graph.h"

static situ_graph *draw(uint64_t seed) {
  situ_graph *g = NULL;
  graph_random_options o = {.n_operators = 40,
                            .edge_density = 0.15,
                            .seed = seed,
                            .n_colocations = 3,
                            .max_outputs = 3,
                            .training = seed % 2};
  assert_int_equal(graph_random(&g, &o, NULL), SITU_STATUS_OK);
  return g;
}

TEST(frozen_graphs_keep_their_invariants) {
  for (uint64_t seed = 0; seed < 50; seed++) {
    OWN(situ_graph) *g = draw(seed), *twice = NULL;
    assert_null(graph_check(g));
    assert_int_equal(graph_copies(&twice, g, 2, NULL), SITU_STATUS_OK);
    assert_null(graph_check(twice));
  }
}

TEST(a_broken_operator_is_named) {
  OWN(situ_graph) *g = draw(2);
  BREAKS(graph_check(g), g->n_operators, 0, "1 to SITU_MAX_OPERATORS");
  BREAKS(graph_check(g), g->kind[3], g->n_kinds, "has a kind");
  BREAKS(graph_check(g), g->layer[3], -2, "layer");
  BREAKS(graph_check(g), g->weight_bytes[3], -1, "sizes");
  BREAKS(graph_check(g), g->workspace_bytes[3], -1, "sizes");
  BREAKS(graph_check(g), g->flops[3], -1, "work");
  BREAKS(graph_check(g), g->moved_bytes[3], -1, "work");
  BREAKS(graph_check(g), g->phase[3], SITU_PHASE_RECOMPUTE + 1, "phases");
  BREAKS(graph_check(g), g->dtype[3], DTYPE_COUNT, "phases and element types");
  BREAKS(graph_check(g), g->name[3], g->name[4], "name of its own");
  BREAKS(graph_check(g), g->name[3], NULL, "name of its own");
}

TEST(a_broken_colocation_is_named) {
  OWN(situ_graph) *g = draw(2);
  int32_t first = 0, alone = 0;
  assert_true(g->n_colocations >= 2);
  while (g->colocation[first] != 0) first++;
  while (g->colocation[alone] >= 0) alone++;
  BREAKS(graph_check(g), g->colocation[alone], g->n_colocations, "colocation groups exist");
  BREAKS(graph_check(g), g->colocation[first], 1, "in order of their first operator");
  BREAKS(graph_check(g), g->n_colocations, g->n_colocations + 1, "two members or more");
}

TEST(a_broken_tensor_is_named) {
  OWN(situ_graph) *g = draw(2);
  int32_t t = 0;
  while (g->use_start[t + 1] - g->use_start[t] < 2) t++;
  BREAKS(graph_check(g), g->out_start[g->n_operators], g->n_tensors + 1, "out_start");
  BREAKS(graph_check(g), g->producer[t], g->producer[t] + 1, "producer agrees");
  BREAKS(graph_check(g), g->size_bytes[t], -1, "sizes");
  BREAKS(graph_check(g), g->rank[t], g->rank[t] + 7, "as many dims as its rank");
  BREAKS(graph_check(g), g->use_start[t], -1, "use_start");
  BREAKS(graph_check(g), g->use[g->use_start[t]], g->n_operators, "users exist");
  BREAKS(graph_check(g), g->use[g->use_start[t]], g->use[g->use_start[t] + 1], "users of a tensor ascend");
  BREAKS(graph_check(g), g->use[g->use_start[t]], g->producer[t], "topological");
  BREAKS(graph_check(g), g->n_edges, g->n_edges + 1, "n_edges");
}

TEST(a_broken_input_is_named) {
  OWN(situ_graph) *g = draw(2);
  int32_t v = 0;
  while (g->in_start[v + 1] - g->in_start[v] < 2) v++;
  int64_t i = g->in_start[v];
  BREAKS(graph_check(g), g->in_start[v], -1, "in_start");
  BREAKS(graph_check(g), g->in[i], g->n_tensors, "inputs exist");
  BREAKS(graph_check(g), g->in[i], g->in[i + 1], "inputs of an operator ascend");
  int32_t other = -1; /* the next tensor of the same producer, where v does not read it */
  for (v = 0; other < 0 && v < g->n_operators; v++)
    for (i = g->in_start[v]; i < g->in_start[v + 1] && other < 0; i++) {
      bool last = i + 1 == g->in_start[v + 1];
      if (g->in[i] + 1 == g->out_start[g->producer[g->in[i]] + 1]) continue;
      if (last || g->in[i + 1] > g->in[i] + 1) other = g->in[i] + 1;
      if (other >= 0) BREAKS(graph_check(g), g->in[i], other, "among the users of its inputs");
    }
  assert_true(other >= 0);
}

TEST_MAIN
