/* Prints what the reader makes of a model, a tensor per line: "tensor<TAB>name<TAB>type<TAB>dims", dims as numbers
 * joined by commas, "?" where unknown and "-" for an unknown rank. Then "model" with operators, nested operators,
 * FLOPs, weight bytes, edges, and operators of which something is not known. Notes go to standard error.
 * Usage: dump_shapes model.onnx [dim=value ...] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "read/reader.h"
#include "situ/read.h"

static void print_tensor(const situ_tensor *t) {
  printf("tensor\t%s\t%s\t", t->name ? t->name : "", situ_dtype_name(t->dtype));
  if (t->rank < 0) printf("-");
  for (int32_t d = 0; d < t->rank; d++) {
    if (d) printf(",");
    if (t->dims[d] < 0)
      printf("?");
    else
      printf("%" PRId64, t->dims[d]);
  }
  printf("\n");
}

int main(int argc, char **argv) {
  enum { MAX_DIMS = 64 };
  situ_dim dims[MAX_DIMS];
  situ_read_options options = {.size = sizeof(situ_read_options), .dims = dims, .default_dim = 1};
  if (argc < 2) return 2;
  for (int i = 2; i < argc && options.n_dims < MAX_DIMS; i++) {
    char *equals = strrchr(argv[i], '=');
    if (!equals) return 2;
    *equals = '\0';
    dims[options.n_dims++] = (situ_dim){argv[i], atoll(equals + 1)};
  }
  situ_error error = {0};
  situ_model *model;
  situ_status status = situ_model_read(&model, argv[1], &options, &error);
  if (status != SITU_STATUS_OK) {
    printf("error\t%s\t%s\t%s\n", situ_status_name(status), error.where, error.text);
    return status == SITU_STATUS_BAD_INPUT ? 3 : 1;
  }
  const situ_graph *g = model->graph;
  for (int32_t i = 0; i < g->n_tensors; i++) {
    situ_tensor t = graph_tensor(g, i);
    print_tensor(&t);
  }
  double flops = 0, weights = 0;
  int32_t n_floors = 0;
  for (int32_t i = 0; i < g->n_operators; i++) {
    situ_operator op = graph_operator(g, i);
    flops += (double)op.flops;
    weights += (double)op.weight_bytes;
    n_floors += !op.inferred;
  }
  printf("model\t%d\t%" PRId64 "\t%.0f\t%.0f\t%" PRId64 "\t%d\n", (int)g->n_operators, model->n_nested_operators, flops,
         weights, g->n_edges, (int)n_floors);
  fputs(model->notes, stderr);
  situ_model_free(model);
  return 0;
}
