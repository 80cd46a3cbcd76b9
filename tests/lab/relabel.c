#include "relabel.h"

#include "base/rng.h"
#include "cost/cost_models.h"
#include "graph/builder.h"
#include "test.h"

/* Builds the operators in a random topological order; origin[number built] is the old number. */
static void build_operators(situ_graph_builder *b, const situ_graph *g, int32_t *number, int32_t *origin, rng *r) {
  int32_t n = g->n_operators, *waiting = malloc(((size_t)n + 1) * sizeof *waiting);
  assert_non_null(waiting);
  for (int32_t v = 0; v < n; v++) waiting[v] = (int32_t)(g->in_start[v + 1] - g->in_start[v]);
  for (int32_t made = 0; made < n; made++) {
    int32_t v = -1, seen = 0;
    for (int32_t u = 0; u < n; u++)
      if (waiting[u] == 0 && rng_below(r, ++seen) == 0) v = u;
    waiting[v] = -1;
    situ_operator op = graph_operator(g, v);
    assert_int_equal(builder_add_operator(b, &op, &number[v], NULL), SITU_STATUS_OK);
    origin[number[v]] = v;
    for (int32_t t = g->out_start[v]; t < g->out_start[v + 1]; t++)
      for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++) waiting[g->use[i]]--;
  }
  free(waiting);
}

lab relabel(const lab *l, const situ_problem_options *options, uint64_t seed) {
  const situ_graph *g = l->graph;
  lab again = {.platform = l->platform};
  rng r = rng_new(seed);
  int32_t n = g->n_operators, classes = l->costs->n_classes;
  int32_t *number = malloc(((size_t)n + 1) * sizeof *number), *origin = malloc(((size_t)n + 1) * sizeof *origin);
  situ_graph_builder *b;
  assert_non_null(number);
  assert_non_null(origin);
  assert_int_equal(situ_graph_builder_new(&b, "again", NULL), SITU_STATUS_OK);
  build_operators(b, g, number, origin, &r);
  for (int32_t t = 0; t < g->n_tensors; t++) {
    int32_t made;
    situ_tensor tensor = graph_tensor(g, t);
    assert_int_equal(builder_add_tensor(b, number[g->producer[t]], &tensor, &made, NULL), SITU_STATUS_OK);
    for (int64_t i = g->use_start[t]; i < g->use_start[t + 1]; i++)
      assert_int_equal(builder_add_use(b, number[g->use[i]], made, NULL), SITU_STATUS_OK);
  }
  assert_int_equal(situ_graph_freeze(&again.graph, b, NULL), SITU_STATUS_OK);
  situ_graph_builder_free(b);
  assert_int_equal(costs_new_with_transfers(&again.costs, again.graph, l->platform, NULL, NULL), SITU_STATUS_OK);
  again.pins = malloc(((size_t)n + 1) * sizeof *again.pins);
  assert_non_null(again.pins);
  for (int32_t v = 0; v < n; v++) {
    int32_t old = origin[again.graph->built_index[v]];
    again.pins[v] = l->pins ? l->pins[old] : -1;
    memcpy(again.costs->time_ns + (int64_t)v * classes, l->costs->time_ns + (int64_t)old * classes,
           (size_t)classes * sizeof(int64_t));
  }
  if (l->costs->group) again.costs->group = ARENA_NEW(again.costs->arena, int32_t, n);
  for (int32_t v = 0; again.costs->group && v < n; v++) number[origin[again.graph->built_index[v]]] = v;
  for (int32_t v = 0; again.costs->group && v < n; v++)
    again.costs->group[v] = number[l->costs->group[origin[again.graph->built_index[v]]]];
  situ_problem_options posed = *options;
  posed.size = sizeof posed;
  posed.pins = again.pins;
  posed.unused = l->unused;
  assert_int_equal(situ_problem_pose(&again.problem, again.graph, l->platform, again.costs, &posed, NULL),
                   SITU_STATUS_OK);
  free(number);
  free(origin);
  return again;
}

void relabel_free(lab *again) {
  again->platform = NULL;
  lab_free(again);
}
