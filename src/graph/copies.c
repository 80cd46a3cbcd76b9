/* The same network several times, side by side. */
#include <stdio.h>

#include "base/contracts.h"
#include "base/fail.h"
#include "graph/builder.h"
#include "graph/graph.h"

enum { NAME_BYTES = 1024 };

static situ_status add_operators(situ_graph_builder *b, const situ_graph *g, int32_t copy, situ_error *error) {
  for (int32_t v = 0; v < g->n_operators; v++) {
    char name[NAME_BYTES];
    situ_operator op = graph_operator(g, v);
    if (snprintf(name, sizeof name, "%s@%d", op.name, (int)copy + 1) >= NAME_BYTES)
      return fail_with(error, SITU_STATUS_UNSUPPORTED, op.name, "has a name that is too long to make copies");
    op.name = name;
    if (copy > 0) op.weight_bytes = 0;
    if (op.colocation >= 0) op.colocation += copy * g->n_colocations;
    TRY(builder_add_operator(b, &op, NULL, error));
  }
  return SITU_STATUS_OK;
}

situ_status graph_copies(situ_graph **out, const situ_graph *g, int32_t n, situ_error *error) {
  REQUIRE(n >= 1);
  *out = NULL;
  situ_graph_builder *b = NULL;
  if ((int64_t)g->n_operators * n > SITU_MAX_OPERATORS)
    return fail_with(error, SITU_STATUS_BAD_ARGUMENT, NULL, "%d copies of %d operators are more than %d operators",
                     (int)n, (int)g->n_operators, SITU_MAX_OPERATORS);
  TRY(situ_graph_builder_new(&b, g->model, error));
  situ_status status = SITU_STATUS_OK;
  for (int32_t copy = 0; copy < n && status == SITU_STATUS_OK; copy++) {
    status = add_operators(b, g, copy, error);
    if (status == SITU_STATUS_OK) status = builder_add_tensors_of(b, g, copy * g->n_operators, error);
    if (status == SITU_STATUS_OK) status = builder_add_guesses_of(b, g, NULL, copy * g->n_operators, error);
  }
  if (status == SITU_STATUS_OK) status = situ_graph_freeze(out, b, error);
  if (status == SITU_STATUS_OK) {
    (*out)->made_training = g->made_training;
    (*out)->n_segments = g->n_segments;
    (*out)->n_recomputed = g->n_recomputed;
    (*out)->n_tied = g->n_tied;
  }
  situ_graph_builder_free(b);
  return status;
}
